//! What a scanner finds in the logs of several engines, and that a naive one finds the same however
//! the input is cut.

use proptest::prelude::*;

use super::*;

const HEARTBEAT: &[u8] = b"8=FIX.4.2\x019=5\x0135=0\x0110=161\x01";

/// A piece for comparison; blanks are merged.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Owned {
    Message { prefix: Vec<u8>, bytes: Vec<u8>, separator: Separator },
    Text(Vec<u8>),
    Blank(Vec<u8>),
}

fn add(pieces: &mut Vec<Owned>, piece: Owned) {
    match (pieces.last_mut(), &piece) {
        (Some(Owned::Blank(before)), Owned::Blank(bytes)) => before.extend_from_slice(bytes),
        _ => pieces.push(piece),
    }
}

/// Scans input that arrives in chunks of these lengths, again and again.
fn scan(input: &[u8], chunks: &[usize], limit: usize) -> Vec<Owned> {
    let mut scanner = Scanner::with_limit(limit);
    let (mut at, mut end, mut pieces) = (0, 0, Vec::new());
    let mut chunks = chunks.iter().cycle();
    loop {
        let rest = &input[at..end];
        let ended = end == input.len();
        match scanner.next(rest, ended) {
            Scan::More if ended => {
                assert!(rest.is_empty(), "bytes were not scanned");
                return pieces;
            }
            Scan::More => end += (*chunks.next().unwrap()).clamp(1, input.len() - end),
            Scan::Blank(length) => {
                add(&mut pieces, Owned::Blank(rest[..length].to_vec()));
                at += length;
            }
            Scan::Piece(Piece::Text(bytes)) => {
                add(&mut pieces, Owned::Text(bytes.to_vec()));
                at += bytes.len();
            }
            Scan::Piece(Piece::Message { prefix, bytes, separator }) => {
                assert_eq!(scanner.position().offset, (at + prefix.len()) as u64);
                if input.len() < 100_000 {
                    let lines = input[..at + prefix.len()].iter().filter(|byte| **byte == b'\n').count();
                    assert_eq!(scanner.position().line, lines as u64 + 1);
                }
                at += prefix.len() + bytes.len();
                let (prefix, bytes) = (prefix.to_vec(), bytes.to_vec());
                add(&mut pieces, Owned::Message { prefix, bytes, separator });
            }
        }
    }
}

/// Scans input by the rules alone: all of it at once, one search after another.
fn naive(input: &[u8], limit: usize) -> Vec<Owned> {
    let find = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|window| window == what);
    let (mut at, mut after_message, mut pieces) = (0, false, Vec::new());
    while at < input.len() {
        let rest = &input[at..input.len().min(at + limit)];
        let line_end = find(rest, b"\n");
        let line = &rest[..line_end.unwrap_or(rest.len())];
        let begins = |index: &usize| {
            line[*index..].starts_with(b"8=FIX") && (*index == 0 || !line[index - 1].is_ascii_alphanumeric())
        };
        let piece = match (0..line.len()).find(begins) {
            Some(start) if start > LONGEST_PREFIX => Owned::Text(rest[..start].to_vec()),
            Some(start) => {
                let (length, separator) = naive_message(&rest[start..], &line[start..], limit);
                let (prefix, bytes) = (rest[..start].to_vec(), rest[start..start + length].to_vec());
                Owned::Message { prefix, bytes, separator }
            }
            None => {
                let is_cut = line_end.is_none() && rest.len() == limit;
                let length = line_end.map_or(rest.len() - if is_cut { 4 } else { 0 }, |end| end + 1);
                let is_blank = |byte: &u8| {
                    byte.is_ascii_whitespace() || after_message && b")\"'},;]>|^\x01".contains(byte)
                };
                let bytes = rest[..length].to_vec();
                if bytes.iter().all(is_blank) { Owned::Blank(bytes) } else { Owned::Text(bytes) }
            }
        };
        let length = match &piece {
            Owned::Message { prefix, bytes, .. } => {
                after_message = true;
                prefix.len() + bytes.len()
            }
            Owned::Text(bytes) | Owned::Blank(bytes) => {
                after_message &= bytes.last() != Some(&b'\n');
                bytes.len()
            }
        };
        at += length;
        add(&mut pieces, piece);
    }
    pieces
}

fn naive_message(bytes: &[u8], line: &[u8], limit: usize) -> (usize, Separator) {
    let find = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|window| window == what);
    let trimmed = |length: usize| if bytes[..length].ends_with(b"\r") { length - 1 } else { length };
    let value = line[2..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'.').count();
    let begins_with_tag = |bytes: &[u8]| {
        let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (1..=20).contains(&digits) && bytes.get(digits) == Some(&b'=')
    };
    let separator = Separator::ALL.into_iter().find(|found| {
        let in_text = matches!(found.bytes(), b" | " | b";" | b"\t" | b" " | b"~");
        let after = line[2 + value..].strip_prefix(found.bytes());
        after.is_some_and(|after| !in_text || begins_with_tag(after))
    });
    let Some(separator) = separator.filter(|_| value <= LONGEST_BEGINNING) else {
        return (trimmed(line.len()), Separator::SOH);
    };
    let soh = separator.bytes();
    // The first CheckSum: its index, the end of its digits, and whether a separator follows.
    let check_sum = find(bytes, &[soh, b"10="].concat()).map(|at| {
        let digits = at + soh.len() + 3;
        let end = digits + bytes[digits..].iter().take(20).take_while(|byte| byte.is_ascii_digit()).count();
        (at, end, bytes[end..].starts_with(soh))
    });
    let next = find(&bytes[1..], &[soh, b"8=FIX"].concat()).map(|at| 1 + at + soh.len());
    let later = (line.len()..bytes.len())
        .find(|index| bytes[*index..].starts_with(b"8=FIX") && !bytes[index - 1].is_ascii_alphanumeric());
    let announced = naive_announced(&bytes[2 + value + soh.len()..], soh);
    let announced = announced.map(|(begin, length)| (2 + value + soh.len() + begin, length));
    if separator == Separator::SOH
        && let Some(end) = announced.map(|(begin, length)| begin + length + 7)
        && end <= limit
    {
        let doubtful = end > TRUSTED_LENGTH
            && (later.is_some_and(|later| line.len() < bytes.len() && later + 5 <= end)
                || next.is_some_and(|next| next - 1 + 6 <= end + 1 && next + 5 <= end + 1));
        let ends_line = check_sum.is_some_and(|(_, digits, whole)| {
            let rest = bytes.get(digits + 1..).unwrap_or_default();
            let at_end = matches!(rest, [] | [b'\r'] | [b'\n', ..] | [b'\r', b'\n', ..]);
            whole && digits + 1 < end && at_end
        });
        let trailer = bytes.get(end - 8..end).unwrap_or_default();
        let is_there = trailer.starts_with(b"\x0110=")
            && trailer.ends_with(b"\x01")
            && trailer[4..7].iter().all(u8::is_ascii_digit);
        if !doubtful && !ends_line && is_there {
            return (end, separator);
        }
    }
    if separator != Separator::SOH
        && let Some((begin, length)) = announced
        && length <= TRUSTED_LENGTH
    {
        let (line_ends, is_before_end) = (line.len() < bytes.len(), |at: usize| at < line.len());
        let in_line = soh.len() == 1 && (!line_ends || begin + length <= line.len());
        let is_alone = !check_sum.is_some_and(|(at, ..)| is_before_end(at))
            && !next.is_some_and(|next| is_before_end(next - soh.len()));
        let end = match (in_line, line_ends && is_alone) {
            (true, _) => naive_check_sum(bytes, begin, length, soh),
            (false, true) => naive_check_sum(&bytes[..later.unwrap_or(bytes.len())], begin, length, soh),
            (false, false) => None,
        };
        if let Some(end) = end {
            return (end, separator);
        }
    }
    let stop = next.unwrap_or(bytes.len()).min(line.len());
    let whole_line = if stop == line.len() { trimmed(stop) } else { stop };
    let length = match check_sum.filter(|(at, ..)| *at < stop) {
        None => whole_line,
        Some((_, end, true)) if end + soh.len() <= stop => end + soh.len(),
        Some((_, end, _)) if is_tail(bytes.get(end..stop).unwrap_or_default(), true) => end,
        Some(_) => whole_line,
    };
    (length, separator)
}

/// Returns where the body begins, and its length.
fn naive_announced(field: &[u8], soh: &[u8]) -> Option<(usize, usize)> {
    let value = field.strip_prefix(b"9=")?;
    let digits = value.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
    let length: usize = std::str::from_utf8(&value[..digits]).ok()?.parse().ok()?;
    value[digits..].starts_with(soh).then_some((2 + digits + soh.len(), length))
}

/// Returns the end of the CheckSum after a body, in which each separator counts as one byte.
fn naive_check_sum(bytes: &[u8], begin: usize, length: usize, soh: &[u8]) -> Option<usize> {
    let (mut last, mut at) = (begin.checked_sub(1)?, begin);
    for _ in 0..length {
        last = at;
        at += if bytes.get(at..)?.starts_with(soh) { soh.len() } else { 1 };
    }
    let digits = bytes.get(last..)?.strip_prefix(soh)?.strip_prefix(b"10=")?;
    let count = digits.iter().take(20).take_while(|byte| byte.is_ascii_digit()).count();
    let end = last + soh.len() + 3 + count;
    match bytes.get(end) {
        _ if bytes[end..].starts_with(soh) => Some(end + soh.len()),
        None if count > 0 => Some(end),
        Some(byte) if count > 0 && is_tail(&[*byte], true) => Some(end),
        _ => None,
    }
}

/// Returns the prefix of each message, with the message as it was sent, and `other` for text.
fn found(input: &[u8]) -> Vec<(String, String)> {
    let pieces = scan(input, &[input.len().max(1)], LIMIT);
    let pieces = pieces.into_iter().filter_map(|piece| match piece {
        Owned::Message { prefix, bytes, separator } => {
            let mut message = Vec::new();
            separator.replace(&bytes, &mut message);
            let message = String::from_utf8_lossy(&message).replace('\u{1}', "|");
            Some((format!("m:{}", String::from_utf8_lossy(&prefix)), message))
        }
        Owned::Text(bytes) => Some(("other".to_owned(), String::from_utf8_lossy(&bytes).into_owned())),
        Owned::Blank(_) => None,
    });
    pieces.collect()
}

#[test]
fn a_message_is_found_in_every_engines_log() {
    let soh = String::from_utf8(HEARTBEAT.to_vec()).unwrap();
    let bars = soh.replace('\u{1}', "|");
    for (line, prefix) in [
        (soh.clone(), ""),
        (format!("20261121-09:00:00.123456789 : {soh}\n"), "20261121-09:00:00.123456789 : "),
        (format!("2026/11/21 19:22:36.180819 {soh}\r\n"), "2026/11/21 19:22:36.180819 "),
        (
            format!("<20261121-19:21:44, FIX.4.4:EXEC->BANZAI, incoming> ({bars})\n"),
            "<20261121-19:21:44, FIX.4.4:EXEC->BANZAI, incoming> (",
        ),
        (format!("{{\"raw\": \"{}\"}}\n", soh.replace('\u{1}', "\\u0001")), "{\"raw\": \""),
        (soh.replace('\u{1}', "^A"), ""),
        (soh.replace('\u{1}', "<SOH>"), ""),
        (soh.replace('\u{1}', "[SOH]"), ""),
        (soh.replace('\u{1}', "\\001"), ""),
        (soh.replace('\u{1}', "\u{2401}"), ""),
        (format!("09:00;IN;{}\n", soh.replace('\u{1}', ";")), "09:00;IN;"),
        (format!("09:00\t{}\n", soh.replace('\u{1}', "\t")), "09:00\t"),
        (format!("09:00 8= {}\n", soh.replace('\u{1}', " ")), "09:00 8= "),
        (soh.replace('\u{1}', " | "), ""),
        (soh.replace('\u{1}', " ").trim_end().to_owned(), ""),
        (soh.replace('\u{1}', "~"), ""),
        (bars.trim_end_matches('|').to_owned(), ""),
        (format!("IN \0\u{1}\u{fffd} {bars}\r\n"), "IN \0\u{1}\u{fffd} "),
    ] {
        let expected = (format!("m:{prefix}"), "8=FIX.4.2|9=5|35=0|10=161|".to_owned());
        assert_eq!(found(line.as_bytes()), [expected], "{line}");
    }
}

#[test]
fn adjacent_messages_are_told_apart() {
    let three = [HEARTBEAT, HEARTBEAT, b"\n", HEARTBEAT].concat();
    assert_eq!(found(&three).len(), 3);
    let bars = "8=FIX.4.2|9=5|35=0|10=161|8=FIX.4.2|9=5|35=0|10=161|\n";
    assert_eq!(found(bars.as_bytes()).len(), 2);
    // The first one has no CheckSum.
    let cut = "8=FIX.4.2|9=5|35=0|8=FIX.4.2|9=5|35=0|10=161|\n";
    assert_eq!(found(cut.as_bytes())[0].1, "8=FIX.4.2|9=5|35=0|");
    assert_eq!(found(&b"8=FIX".repeat(3)).len(), 1);
}

#[test]
fn a_value_may_contain_a_newline_or_a_bar_or_a_message() {
    let raw = b"8=FIX.4.2\x019=18\x0135=0\x0158=two\nlines\x0110=019\x01";
    assert_eq!(found(raw), [("m:".to_owned(), "8=FIX.4.2|9=18|35=0|58=two\nlines|10=019|".to_owned())]);
    assert_eq!(found(b"8=FIX.4.2^A9=5^A35=0^A96=a^Ab^A10=1^A")[0].1, "8=FIX.4.2|9=5|35=0|96=a|b|10=1|");
    assert_eq!(found(b"8=FIX.4.2^9=5^35=0^58=a^b^10=1^")[0].1, "8=FIX.4.2|9=5|35=0|58=a^b|10=1|");
    let inside = [b"35=0\x0195=26\x0196=", HEARTBEAT, b"\x01"].concat();
    let around =
        [format!("8=FIX.4.2\u{1}9={}\u{1}", inside.len()).as_bytes(), &inside, b"10=000\x01"].concat();
    assert_eq!(found(&[&around, HEARTBEAT].concat()).len(), 2);
}

/// Returns a whole message of these fields.
fn message(body: &str) -> String {
    let begin = format!("8=FIX.4.2\u{1}9={}\u{1}{body}", body.len());
    format!("{begin}10={:03}\u{1}", fixbolt_codec::byte_sum(begin.as_bytes()))
}

#[test]
fn a_value_may_contain_what_separates_the_fields_or_end_the_line() {
    for text in
        ["a; b~ c\td | e ^ 5", "two\nlines\n\n", "; 5~\n~", "a 10=1 ;10=2;\t10=3\t~10=4~ |10=5|^10=6^"]
    {
        let sent = message(&format!("35=0\u{1}58={text}\u{1}"));
        for separator in Separator::ALL {
            let spelling = std::str::from_utf8(separator.bytes()).unwrap();
            // BodyLength shows where the message ends, but not which of these begin a field.
            let is_ambiguous = spelling.len() == 1 && text.contains(&format!("{spelling}10="));
            if text.contains("10=") && !is_ambiguous {
                continue;
            }
            let log = sent.replace('\u{1}', spelling);
            let bare = if separator == Separator::SOH { &*log } else { log.strip_suffix(spelling).unwrap() };
            for log in [log.clone(), format!("{log}{log}"), format!("x {bare}\n")] {
                let found = found(log.as_bytes());
                let messages = log.matches("8=FIX").count();
                assert_eq!(found.len(), messages, "{separator:?} {log:?} {found:?}");
                if !is_ambiguous {
                    let expected = sent.replace('\u{1}', "|");
                    assert!(found.iter().all(|(_, found)| *found == expected), "{separator:?} {found:?}");
                }
            }
        }
    }
}

#[test]
fn a_line_that_is_cut_off_takes_no_other_lines_with_it() {
    let whole = message("35=0\u{1}58=text\u{1}");
    for separator in Separator::ALL.into_iter().skip(1) {
        let whole = whole.replace('\u{1}', std::str::from_utf8(separator.bytes()).unwrap());
        for end in 10..whole.len() - 10 {
            let log = format!("IN {}\nIN {whole}\nmore\n", &whole.get(..end).unwrap_or("8=FIX.4.2"));
            let found = found(log.as_bytes());
            let kinds: Vec<_> = found.iter().map(|(kind, _)| kind.as_str()).collect();
            assert_eq!(kinds, ["m:IN ", "m:IN ", "other"], "{log}");
            assert!(found[1].1.ends_with("|58=text|10=064|"), "{log} {found:?}");
        }
    }
}

#[test]
fn bytes_that_are_not_a_message_are_reported_and_nothing_is_lost() {
    let pieces = found(b"hello\n\n8=FIX.4.2\x019=99\x0135=0\nmore 108=FIX\n8=FIX");
    let kinds: Vec<&str> = pieces.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["other", "m:", "other", "m:"]);
    assert_eq!(pieces[1].1, "8=FIX.4.2|9=99|35=0|");
}

#[test]
fn a_message_is_whole_before_its_line_is() {
    // Log lines are written at once; the next one may come much later.
    for whole in [
        &b"09:00:00 : 8=FIX.4.2\x019=5\x0135=0\x0110=161\x01"[..],
        b"8=FIX.4.2|9=5|35=0|10=161|",
        b"8=FIX.4.2|9=5|35=0|10=161\n",
        b"8=FIX.4.2\x019=5\x0135=0\n",
        // BodyLength is too large, by little and by much.
        b"8=FIX.4.2\x019=6\x0135=0\x0110=161\x01\n",
        b"8=FIX.4.2\x019=999999\x0135=0\x0110=161\x01\n",
    ] {
        let mut scanner = Scanner::new();
        let scan = scanner.next(whole, false);
        let waits = whole.starts_with(b"8=FIX.4.2\x019=5\x0135=0\n");
        assert_eq!(matches!(scan, Scan::Piece(Piece::Message { .. })), !waits, "{scan:?}");
    }
}

#[test]
fn a_huge_body_length_does_not_hold_back_the_messages_that_follow() {
    let cut = b"8=FIX.4.2\x019=9999999\x0135=0\n";
    let mut scanner = Scanner::new();
    assert_eq!(scanner.next(cut, false), Scan::More);
    let both = [&cut[..], b"x ", HEARTBEAT].concat();
    let Scan::Piece(Piece::Message { bytes, .. }) = scanner.next(&both, false) else { panic!() };
    assert_eq!(bytes, &cut[..cut.len() - 1]);
}

#[test]
fn a_long_line_is_cut_and_the_next_message_is_found() {
    let long = [vec![b'x'; 3 * LIMIT], b" ".to_vec(), HEARTBEAT.to_vec()].concat();
    let pieces = scan(&long, &[1 << 20], LIMIT);
    assert!(
        pieces.iter().all(|piece| matches!(piece, Owned::Text(text) if text.len() <= LIMIT))
            || matches!(pieces.last(), Some(Owned::Message { .. }))
    );
    assert!(
        matches!(pieces.last(), Some(Owned::Message { bytes, .. }) if bytes == HEARTBEAT),
        "{}",
        pieces.len()
    );
}

/// If a search began again with every chunk, this would read two hundred gigabytes.
#[test]
fn a_long_line_in_small_chunks_is_searched_once() {
    for part in [
        "8=FIX",
        "8=FIX.4.2|10=",
        " 8=FIX.4.2\u{1}9=99999999\u{1}",
        "x",
        "108=FIX ",
        "8=FIX.4.2|1=^A8=FIX.4.2^A1=|",
        "8=FIX.4.2;9=60000;\n",
        "8=FIX.4.2 | 9=60000 | 1= | \n 8=FIX.4.2[SOH]9=60000[SOH]",
        "8=FIX.4.2[SOH]9=9[SOH]10=1\n\n",
        " ; 8=FIX.4.2 1= \u{2401}~8=FIX.4.2~1=\t\\001",
    ] {
        let line = part.repeat((1 << 22) / part.len());
        let pieces = scan(line.as_bytes(), &[64], LIMIT);
        let length: usize = pieces
            .iter()
            .map(|piece| match piece {
                Owned::Message { prefix, bytes, .. } => prefix.len() + bytes.len(),
                Owned::Text(bytes) | Owned::Blank(bytes) => bytes.len(),
            })
            .sum();
        assert_eq!(length, line.len(), "{part}");
    }
}

fn text(pieces: &[Owned]) -> String {
    let text = |piece: &Owned| match piece {
        Owned::Message { prefix, bytes, .. } => {
            format!("<{}>[{}]", prefix.escape_ascii(), bytes.escape_ascii())
        }
        Owned::Text(bytes) => format!("text {}", bytes.escape_ascii()),
        Owned::Blank(bytes) => format!("blank {}", bytes.escape_ascii()),
    };
    pieces.iter().map(text).collect::<Vec<_>>().join("; ")
}

fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let spelled = |separator: usize, text: &str| {
        let spelling = String::from_utf8(Separator::ALL[separator].bytes().to_vec()).unwrap();
        text.replace('|', &spelling).into_bytes()
    };
    let message = (0..Separator::ALL.len(), 0..18usize).prop_map(move |(separator, kind)| {
        let text = match kind {
            0 => "8=FIX.4.2|9=5|35=0|10=161|",
            1 => "8=FIX.4.2|9=5|35=0|10=161",
            2 => "8=FIX.4.2|9=5|35=0",
            3 => "8=FIX.4.2|9=18|35=0|58=two\nlines|10=019|",
            4 => "8=FIX.4.2|9=60|35=0|10=161|",
            5 => "8=FIX.4.2|9=31|35=0|96=8=FIX.4.2|9=5|10=1|x|10=000|",
            6 => "8=FIX.4.2|9=99999999999|35=0|10=161|",
            7 => "8=FIX.4.2|9=70000|35=0|10=161|",
            8 => "8=FIX.4.2|35=0|10=|10=12x|",
            9 => "8=FIX.4.2|9=",
            10 => "8=FIXT.1.1|9=4|35=|10=1234567890123456789012|",
            11 => "8=FIX.4.2|9=18|35=0|58=two\nlines|10=019",
            12 => "8=FIX.4.2|9=18|35=0|58=two\nlines|10=9|",
            13 => "8=FIX.4.2|9=23|35=0|58=a; b~c\t1=|10=1 d|10=000|",
            14 => "8=FIX.4.2|9=19|35=0|58=8=FIX\nlines|10=019|",
            15 => "8=FIX.4.2|9=27|35=0|58=x\n",
            16 => "8=FIX.4.2|9=0|10=000|",
            _ => "8=FIX.4.2|9=1|x|10=000|",
        };
        spelled(separator, text)
    });
    let text = prop::sample::select(vec![
        "\n",
        "\r\n",
        " ",
        ")",
        "|",
        "^",
        "\u{1}",
        "\\u0001",
        "8=FIX",
        "8=FI",
        "X",
        "10=",
        "10=1",
        "9=",
        "=",
        "0",
        "20261121-09:00:00 : ",
        "text",
        "\0",
        "\u{fc}",
        "\"}\n",
        "\u{1}10=000\u{1}",
        "8=FIXaaaaaaaaaaaaaaaaaaaa",
        "8=FIX.4.2 is",
        "8=FIX.4.2;000000000000000000001",
        "; 58=a",
    ]);
    prop_oneof![
        4 => message,
        4 => text.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
        1 => Just(vec![b'a'; 70]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn the_pieces_are_those_of_a_naive_scanner_however_the_input_is_cut(
        fragments in prop::collection::vec(fragment(), 0..12),
        chunks in prop::collection::vec(1..40usize, 1..5),
        small in 24..200usize,
    ) {
        let input = fragments.concat();
        for limit in [LIMIT, small] {
            let expected = naive(&input, limit);
            let input_text = input.escape_ascii().to_string();
            for chunks in [&[input.len().max(1)][..], &chunks] {
                let scanned = scan(&input, chunks, limit);
                prop_assert!(scanned == expected, "{input_text}\n{chunks:?} {limit}\n{}\n{}", text(&scanned), text(&expected));
            }
        }
    }
}
