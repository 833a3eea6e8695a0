//! The differences between the published dictionaries, as spec/dictionaries.md section 3 lists
//! them. Figures there that turned out to be wrong are corrected here, with the reason.

#[path = "support/published.rs"]
mod published;
mod support;

use std::collections::BTreeMap;

use fixbolt_dictionary::{DataType, Dictionary, Difference, Only, fix42, fix44};
use published::{counts, read};

/// Returns the lines of one kind.
fn lines(differences: &[Difference], kind: &str) -> Vec<String> {
    differences.iter().filter(|one| one.kind() == kind).map(ToString::to_string).collect()
}

#[test]
fn fix_4_4_of_orchestra_and_of_quickfix_differ_as_known() {
    let Some(quickfix) = read("quickfix/FIX44.xml") else { return };
    let found = fix44().diff(&quickfix);
    // The specification's 14 required flags are groups in a component of their own, required there
    // and optional inside: read as the standard means it, they agree. The specification does not
    // mention the union types, which QuickFIX cannot express, and OrigClOrdID is a correction.
    let expected = [("codes", 30), ("field name", 1), ("member", 5), ("type", 2), ("union", 21)];
    assert_eq!(counts(&found), BTreeMap::from(expected));
    assert_eq!(lines(&found, "field name"), ["~ field 327 name: HaltReason -> HaltReasonChar"]);
    assert_eq!(
        lines(&found, "type"),
        [
            "~ field MassCancelRejectReason(532) type: int -> String",
            "~ field LegAllocAcctIDSource(674) type: int -> String"
        ]
    );
    assert_eq!(
        lines(&found, "member"),
        [
            "- member s NewOrderCross/NoSides(552)/OrigClOrdID(41)",
            "- member s NewOrderCross/NoSides(552)/OrigOrdModTime(586)",
            "- member t CrossOrderCancelReplaceRequest/NoSides(552)/OrigClOrdID(41)",
            "- member t CrossOrderCancelReplaceRequest/NoSides(552)/OrigOrdModTime(586)",
            "- member AE TradeCaptureReport/NoSides(552)/ClearingFeeIndicator(635)"
        ]
    );
    let mut no_codes = Vec::new();
    let mut some_codes = Vec::new();
    for difference in &found {
        let Difference::Codes { field, right, .. } = difference else { continue };
        assert!(right.is_empty(), "{difference}");
        if quickfix.codes(field.tag).is_empty() { &mut no_codes } else { &mut some_codes }.push(field.tag);
    }
    assert_eq!(
        no_codes,
        [
            221, 305, 368, 372, 456, 459, 487, 525, 538, 564, 587, 603, 606, 661, 674, 677, 758, 759, 761,
            776, 783, 784, 786, 805, 807, 888, 950, 951, 954
        ]
    );
    assert_eq!(some_codes, [103]);
}

#[test]
fn fix_4_4_of_orchestra_and_of_quickfix_j_differ_as_known() {
    let Some(quickfixj) = read("quickfixj/FIX44.xml") else { return };
    let found = fix44().diff(&quickfixj);
    // The specification counts 74 fields with other codes: 24 of them are Booleans whose Y and N
    // only one side lists. Of its 54 required flags 5 are groups in a component of their own, as
    // with QuickFIX. OrigClOrdID in the sides of CrossOrderCancelReplaceRequest, a correction, is
    // required there.
    let expected = [
        ("codes", 50),
        ("field", 4),
        ("field name", 1),
        ("member", 52),
        ("message", 1),
        ("message name", 4),
        ("repeating", 1),
        ("required", 50),
        ("type", 6),
        ("union", 22),
    ];
    assert_eq!(counts(&found), BTreeMap::from(expected));
    let booleans = fix44().fields().iter().filter(|field| field.kind == DataType::Boolean);
    let listed = |dictionary: &Dictionary, tag: u32| !dictionary.codes(tag).is_empty();
    assert_eq!(
        booleans.filter(|field| listed(fix44(), field.tag) != listed(&quickfixj, field.tag)).count(),
        24
    );
    assert_eq!(
        lines(&found, "field"),
        [
            "+ field WaveNo(105)",
            "+ field QuantityType(465)",
            "+ field LegOrderQty(685)",
            "+ field AsgnReqID(831)"
        ]
    );
    assert_eq!(lines(&found, "message"), ["- message n XMLnonFIX"]);
    let names: Vec<String> = lines(&found, "message name")
        .iter()
        .filter_map(|line| line.split(' ').nth(2).map(str::to_owned))
        .collect();
    assert_eq!(names, ["6", "AC", "BC", "BD"]);
    assert_eq!(lines(&found, "field name"), ["~ field 33 name: NoLinesOfText -> LinesOfText"]);
    let required = lines(&found, "required");
    let of = |end: &str| {
        required.iter().filter(|line| line.ends_with(&format!("{end}: optional -> required"))).count()
    };
    assert_eq!(
        (of("/Symbol(55)"), of("/NoAllocs(78)"), of("/PosAmtType(707)"), of("/PosAmt(708)")),
        (33, 2, 4, 4)
    );
    // A block that is inside the group for one and after it for the other: 30 fields.
    let moved = |sign: Only, inside_group: bool| -> usize {
        let size = |difference: &Difference| match difference {
            Difference::Member { place, only, inside, .. }
                if *only == sign
                    && place.to_string().starts_with("AG ")
                    && place.groups.is_empty() != inside_group =>
            {
                1 + inside.unwrap_or(0)
            }
            _ => 0,
        };
        found.iter().map(size).sum()
    };
    assert_eq!((moved(Only::Left, true), moved(Only::Right, false)), (30, 30));
}

#[test]
fn fix_4_2_of_orchestra_and_of_the_others_differ_as_known() {
    let (Some(quickfix), Some(quickfixj)) = (read("quickfix/FIX42.xml"), read("quickfixj/FIX42.xml")) else {
        return;
    };
    let found = fix42().diff(&quickfix);
    let expected =
        [("codes", 1), ("field name", 2), ("message name", 3), ("required", 1), ("type", 14), ("union", 2)];
    assert_eq!(counts(&found), BTreeMap::from(expected));
    assert!(lines(&found, "type").iter().all(|line| line.ends_with(": int -> Length")));
    assert_eq!(
        lines(&found, "required"),
        ["~ member i MassQuote/NoQuoteSets(296)/NoQuoteEntries(295)/QuoteEntryID(299): optional -> required"]
    );
    let required = lines(&fix42().diff(&quickfixj), "required");
    for group in ["NoOrders(73)", "NoAllocs(78)"] {
        assert!(
            required.contains(&format!("~ member J Allocation/{group}: optional -> required")),
            "{required:?}"
        );
    }
}

#[test]
fn fix_latest_is_older_than_what_quickfix_calls_5_0_sp2() {
    let (Some(latest), Some(quickfix)) =
        (read("orchestra/OrchestraFIXLatest_1.5.4.xml"), read("quickfix/FIX50SP2.xml"))
    else {
        return;
    };
    let found = latest.diff(&quickfix);
    let kinds = counts(&found);
    // The specification's 48 required flags are 3: the others are groups in a component of their
    // own. Of the 80 newer fields 68 are in its range of 2897 to 2964, and 12 are 43112 to 43123.
    for (kind, count) in [("field", 80), ("message", 8), ("codes", 1238), ("required", 3)] {
        assert_eq!(kinds.get(kind), Some(&count), "{kind}");
    }
    assert_eq!((kinds.get("order"), kinds.get("delimiter")), (None, None));
    let mut newer = Vec::new();
    for difference in &found {
        match difference {
            Difference::Field { field, only } => {
                assert_eq!(*only, Only::Right, "{difference}");
                newer.push(field.tag);
            }
            Difference::Message { only, .. } => assert_eq!(*only, Only::Left, "{difference}"),
            _ => {}
        }
    }
    assert_eq!(newer, (2897..=2964).chain(43112..=43123).collect::<Vec<u32>>());
}

#[test]
fn fixt_of_orchestra_has_more_than_that_of_quickfix() {
    let (Some(orchestra), Some(quickfix)) = (read("orchestra/FIXTSession.xml"), read("quickfix/FIXT11.xml"))
    else {
        return;
    };
    let found = orchestra.diff(&quickfix);
    assert_eq!(
        lines(&found, "member"),
        [
            "- member 4 SequenceReset/ApplLevelRecoveryIndicator(1744)",
            "- member 5 Logout/NextExpectedMsgSeqNum(789)",
            "- member A Logon/NoMsgTypes(384) (group of 6)",
            "- member A Logon/FIXEngineName(1600)",
            "- member A Logon/FIXEngineVersion(1601)",
            "- member A Logon/FIXEngineVendor(1602)",
            "- member A Logon/ApplicationSystemName(1603)",
            "- member A Logon/ApplicationSystemVersion(1604)",
            "- member A Logon/ApplicationSystemVendor(1605)",
            "- member n XMLnonFIX/NoAttachments(2104) (group of 10)"
        ]
    );
    // The specification also says that the values 9 and 10 are missing from 373, but QuickFIX lists
    // them there.
    let codes: Vec<u32> = found
        .iter()
        .filter_map(|difference| match difference {
            Difference::Codes { field, .. } => Some(field.tag),
            _ => None,
        })
        .collect();
    assert_eq!(codes, [35, 372, 1128, 1130, 1137, 1409]);
    assert!(lines(&found, "field").iter().all(|line| line.starts_with('-')));
}
