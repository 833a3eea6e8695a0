//! `fixbolt dictionary compile`: from a specification to a table, and what is wrong with a source.

mod command;

use std::path::PathBuf;

use command::{directory, run};

const SMALL: &str = "<fix type='FIX' major='4' minor='4'><header><field name='BeginString' required='Y'/></header>
<messages><message name='Heartbeat' msgtype='0' msgcat='admin'><field name='TestReqID' required='N'/></message></messages>
<trailer><field name='CheckSum' required='Y'/></trailer>
<fields><field number='8' name='BeginString' type='STRING'/><field number='10' name='CheckSum' type='STRING'/><field number='112' name='TestReqID' type='STRING'/></fields></fix>";

#[test]
fn a_table_is_written_where_it_is_asked_for_and_can_be_read_again() {
    let folder = directory("dictionary");
    let (source, table, again) =
        (folder.join("small.xml"), folder.join("small.txt"), folder.join("again.txt"));
    std::fs::write(&source, SMALL).unwrap();
    let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let ended = run(&["dictionary", "compile", &text(&source), "-o", &text(&table)]);
    assert_eq!((ended.status, ended.out.as_str()), (0, ""), "{}", ended.err);
    let made = std::fs::read_to_string(&table).unwrap();
    assert!(made.contains("version FIX.4.4") && made.contains("source small.xml sha256:"), "{made}");
    let ended = run(&["dictionary", "compile", &text(&source)]);
    assert_eq!((ended.status, ended.out), (0, made.clone()));
    // A table is a source, too.
    assert_eq!(run(&["dictionary", "compile", &text(&table), "-o", &text(&again)]).status, 0);
}

#[test]
fn a_wrong_source_is_told_with_its_line_and_nothing_is_written() {
    let folder = directory("dictionary-wrong");
    let (source, table) = (folder.join("wrong.xml"), folder.join("table.txt"));
    std::fs::write(&source, SMALL.replace("field name='TestReqID'", "field name='Nothing'")).unwrap();
    let ended = run(&["dictionary", "compile", source.to_str().unwrap(), "-o", table.to_str().unwrap()]);
    assert_eq!(ended.status, 1);
    assert!(ended.err.contains("wrong.xml: line 2: ") && ended.err.contains("Nothing"), "{}", ended.err);
    assert!(!table.exists());
    std::fs::write(&source, b"\xff\xfe").unwrap();
    let ended = run(&["dictionary", "compile", source.to_str().unwrap()]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("byte 0 is not UTF-8"), "{}", ended.err);
}

#[test]
fn the_shipped_tables_are_made_by_this_command() {
    let shared = std::env::var_os("FIXBOLT_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let tables = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../dictionary/tables");
    for (source, table) in [("OrchestraFIX42.xml", "FIX.4.2.txt"), ("OrchestraFIX44.xml", "FIX.4.4.txt")] {
        let source = shared.join("dictionaries/orchestra").join(source);
        if !source.exists() {
            eprintln!("shared folder absent: 1 check skipped");
            continue;
        }
        let ended = run(&["dictionary", "compile", source.to_str().unwrap()]);
        assert_eq!(ended.status, 0, "{}", ended.err);
        assert!(ended.out == std::fs::read_to_string(tables.join(table)).unwrap(), "{table} differs");
    }
}
