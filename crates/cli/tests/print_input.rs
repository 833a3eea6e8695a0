//! What `fixbolt print` says of files that it cannot read, and of input that is no log.

mod command;

use command::{directory, fixbolt, message, run, run_with_input};

const ORDER: &str = "35=D|49=DLD_TEX|56=TEX_DLD|34=499650|52=20121227-11:20:43|11=ord509647-500000|21=1|55=BHP|54=1|60=20121227-11:20:14|38=57.00|40=2|44=298.075|59=4|";

fn order() -> String {
    message("FIX.4.2", ORDER)
}

#[test]
fn a_file_that_cannot_be_read_is_one_line_and_status_2() {
    let ended = run(&["print", "nowhere/messages.log"]);
    assert_eq!(ended.status, 2);
    assert_eq!(ended.err, "fixbolt: cannot read nowhere/messages.log: No such file or directory\n");
    let ended = run_with_input(&["print", "--dictionary", "nowhere.xml", "-"], b"");
    assert_eq!(
        (ended.status, ended.err.as_str()),
        (2, "fixbolt: cannot read nowhere.xml: No such file or directory\n")
    );
    assert_eq!(run(&["print", "--oneline", "-o", "json", "-"]).status, 2);
}

#[test]
fn a_compressed_log_and_one_in_utf_16_are_told_with_the_command_that_shows_them() {
    let folder = directory("print-compressed");
    for (name, bytes, form, command) in [
        ("x.log.gz", &b"\x1f\x8b\x08\0\0\0\0\0"[..], "compressed with gzip", "zcat"),
        ("x.log.bz2", b"BZh91AY&SY\n", "compressed with bzip2", "bzcat"),
        ("x.log.xz", b"\xfd7zXZ\0\0\x04", "compressed with xz", "xzcat"),
        ("x.log.zst", b"\x28\xb5\x2f\xfd\x04\0\x41", "compressed with zstd", "zstdcat"),
        ("x.log", b"\xff\xfe8\0=\0F\0\n\0", "in UTF-16", "iconv -f UTF-16 -t UTF-8"),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        let path = path.to_str().unwrap();
        for arguments in [&["print", path][..], &["print", "-o", "json", path]] {
            let ended = run(arguments);
            let told = format!("fixbolt: {path} is {form}: `{command} {path} | fixbolt print`\n");
            assert_eq!((ended.status, ended.out.as_str(), ended.err), (2, "", told));
        }
        let ended = run_with_input(&["print"], bytes);
        let told = format!("fixbolt: standard input is {form}: `{command} | fixbolt print`\n");
        assert_eq!((ended.status, ended.err), (2, told));
    }
    // What comes before it is shown.
    let log = folder.join("good.log");
    std::fs::write(&log, order()).unwrap();
    let ended =
        run(&["print", "--oneline", log.to_str().unwrap(), folder.join("x.log.gz").to_str().unwrap()]);
    assert_eq!((ended.status, ended.out.lines().count()), (2, 1), "{}", ended.err);
}

#[test]
fn without_a_file_a_pipe_is_read_and_a_terminal_gets_the_usage() {
    let ended = run_with_input(&["print", "--oneline"], order().as_bytes());
    assert_eq!((ended.status, ended.out.lines().count()), (0, 1));

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
    let terminal = std::fs::File::open(name).unwrap();
    let output = fixbolt().arg("print").stdin(terminal).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.starts_with("fixbolt: no file is named, and standard input is a terminal\n\nUsage: fixbolt print [OPTIONS] [FILE]...\n"), "{err}");
}

#[test]
fn hostile_input_is_reported_and_ends() {
    let good = order();
    for (input, messages) in [
        (format!("{}\n{good}", "x".repeat(20_000_000)), 1),
        ("8=FIX".repeat(100_000), 1),
        ("8=FIX.4.2\u{1}9=99999999\u{1}35=0\u{1}\n".repeat(1_000) + &good, 1_001),
        (format!("{}\r\n\0\0{good}\r\n", good.replace('\u{1}', "|")), 2),
        (good.replace("11=ord", "11=\u{0}ord").replace("55=BHP", "55=\u{fc}\u{301}"), 1),
        (format!("8=FIX.4.2\u{1}{}", "\u{1}".repeat(100_000)), 1),
        (format!("8=FIX.4.2\u{1}{}10=000\u{1}", "1=1\u{1}".repeat(20_000)), 1),
        ("8=FIX.4.2;9=60000;\n".repeat(1_000), 1_000),
        ("8=FIX.4.2[SOH]9=60000[SOH]".repeat(1_000) + "\n" + &"x\n".repeat(10), 1_000),
        (format!("8=FIX.4.2 9=60000 1={}\n{good}", "1 ".repeat(100_000)), 2),
    ] {
        let begin: String = input.chars().take(20).collect();
        let ended = run_with_input(&["print", "--oneline"], input.as_bytes());
        assert!(ended.status <= 1, "{begin}: {}", ended.err);
        assert_eq!(ended.out.lines().count(), messages, "{begin}");
    }
    let mut invalid = b"IN \xff\xfe ".to_vec();
    invalid.extend_from_slice(
        &message("FIX.4.4", "35=0|49=A|56=B|34=2|52=20261121-09:00:00|112=x|").into_bytes(),
    );
    let at = invalid.iter().position(|byte| *byte == b'x').unwrap();
    invalid[at] = 0xff;
    let ended = run_with_input(&["print", "-o", "json"], &invalid);
    assert!(ended.out.contains(r#""prefix":"IN \\xff\\xfe ","direction":"received""#), "{}", ended.out);
    assert!(ended.out.contains(r#""name":"TestReqID","value":"\\xff""#), "{}", ended.out);
}
