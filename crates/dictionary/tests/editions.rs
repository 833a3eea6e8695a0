//! FIX.5.0, FIX.5.0SP1 and FIX.5.0SP2, which are parts of FIX Latest by its pedigree, against the
//! files of QuickFIX and QuickFIX/J for the same versions. The differences were changed after the
//! version, and the pedigree does not say what they were before.

#[path = "support/published.rs"]
mod published;
mod support;

use std::collections::BTreeMap;

use fixbolt_dictionary::{Dictionary, Difference, Only, fix50, fix50sp1, fix50sp2, fixt11};
use published::{counts, read};

/// Returns the lines of one kind, without the mark and the kind at the beginning.
fn lines(found: &[Difference], kind: &str) -> Vec<String> {
    let line = |one: &Difference| one.to_string().splitn(3, ' ').last().map(str::to_owned);
    found.iter().filter(|one| one.kind() == kind).filter_map(line).collect()
}

/// Returns the number of members that only the other side has, including those of groups, by place.
fn missing(found: &[Difference]) -> BTreeMap<String, usize> {
    let mut missing = BTreeMap::new();
    for difference in found {
        if let Difference::Member { place, only, inside, .. } = difference {
            let only_ours = difference.to_string();
            // FIX.5.0 has the currencies of a TradeCaptureReport in its sides, later versions
            // outside of them too; and the sides of a cross order have OrigClOrdID, as corrected in
            // FIX.4.4 and in the later versions.
            let corrected = only_ours.ends_with("/NoSides(552)/OrigClOrdID(41)");
            assert!(
                *only == Only::Right || only_ours.contains("AE TradeCaptureReport/") || corrected,
                "{only_ours}"
            );
            if *only == Only::Right {
                *missing.entry(place.to_string()).or_default() += 1 + inside.unwrap_or(0);
            }
        }
    }
    missing
}

/// Fields whose codes differ, but not because the other side has none at all (it copies shared code
/// sets to a few fields only).
fn other_codes(found: &[Difference], theirs: &Dictionary) -> Vec<u32> {
    let mut tags = Vec::new();
    for difference in found {
        if let Difference::Codes { field, .. } = difference
            && !theirs.codes(field.tag).is_empty()
        {
            tags.push(field.tag);
        }
    }
    tags
}

/// Fields that only we have must be the transport's: FIX Latest defines them, and neither engine
/// repeats them in its files.
fn assert_fields_of_the_transport(found: &[Difference]) {
    for difference in found {
        if let Difference::Field { field, only: Only::Left } = difference {
            assert!(fixt11().field(field.tag).is_some(), "{difference}");
        }
    }
}

#[test]
fn fix_5_0_sp2_is_what_quickfix_j_has() {
    let Some(theirs) = read("quickfixj/FIX50SP2.xml") else { return };
    let found = fix50sp2().diff(&theirs);
    let expected = [
        ("codes", 114),
        ("field", 20),
        ("member", 2),
        ("message name", 2),
        ("order", 8),
        ("required", 6),
        ("type", 10),
        ("union", 95),
        ("version", 1),
    ];
    assert_eq!(counts(&found), BTreeMap::from(expected));
    assert_fields_of_the_transport(&found);
    assert_eq!(other_codes(&found, &theirs), []);
    // Two messages have another group of orders.
    let affected = ["BZ OrderMassActionReport", "r OrderMassCancelReport"].map(String::from);
    assert_eq!(missing(&found), affected.into_iter().map(|name| (name, 3)).collect());
    assert!(lines(&found, "order").iter().all(|line| line.ends_with("/NoLegs(555): LegOrderQty(685)")));
    assert_eq!(
        lines(&found, "required"),
        [
            "AE TradeCaptureReport/LastQty(32): optional -> required",
            "AE TradeCaptureReport/LastPx(31): optional -> required",
            "AK Confirmation/NoCapacities(862)/OrderCapacityQty(863): optional -> required",
            "AM PositionMaintenanceReport/PosMaintStatus(722): optional -> required",
            "AM PositionMaintenanceReport/NoPositions(702): optional -> required",
            "BM AllocationInstructionAlert/Quantity(53): optional -> required",
        ]
    );
    assert_eq!(
        lines(&found, "type"),
        [
            "LegSettlType(587) type: String -> char",
            "UnderlyingCPProgram(877) type: int -> String",
            "SideLastQty(1009) type: Qty -> int",
            "SettlMethod(1193) type: String -> char",
            "DerivativeInstrumentPartyIDSource(1294) type: char -> String",
            "DerivativeExerciseStyle(1299) type: int -> char",
            "ExecInstValue(1308) type: MultipleCharValue -> char",
            "DerivativeSettlMethod(1317) type: String -> char",
            "ComplexEventStartDate(1492) type: UTCDateOnly -> UTCTimestamp",
            "ComplexEventEndDate(1493) type: UTCDateOnly -> UTCTimestamp",
        ]
    );
}

#[test]
fn fix_5_0_sp1_is_what_quickfix_j_has_except_for_what_fix_5_0_sp2_moved() {
    let Some(theirs) = read("quickfixj/FIX50SP1.xml") else { return };
    let found = fix50sp1().diff(&theirs);
    let expected = [
        ("codes", 103),
        ("field", 21),
        ("field name", 9),
        ("member", 26),
        ("message name", 2),
        ("order", 8),
        ("required", 11),
        ("type", 10),
        ("union", 83),
        ("version", 1),
    ];
    assert_eq!(counts(&found), BTreeMap::from(expected));
    assert_fields_of_the_transport(&found);
    // HaltReason(327) became a number.
    assert_eq!(other_codes(&found, &theirs), [327]);
    // FIX.5.0SP2 moved the order's details of a trade report into its sides' component;
    // ApplReportType(1426) bears its date.
    let expected = [
        ("AE TradeCaptureReport", 7),
        ("AE TradeCaptureReport/NoSides(552)", 2),
        ("AR TradeCaptureReportAck", 1),
        ("AR TradeCaptureReportAck/NoSides(552)", 12),
        ("BS TradingSessionListUpdateReport", 1),
        ("BY ApplicationMessageReport", 1),
        ("BZ OrderMassActionReport", 3),
        ("r OrderMassCancelReport", 3),
    ];
    assert_eq!(missing(&found), expected.map(|(place, count)| (place.to_string(), count)).into());
    let stricter = lines(&found, "required");
    assert_eq!(stricter.iter().filter(|line| line.ends_with(": optional -> required")).count(), 10);
    assert!(stricter.contains(&"BB CollateralInquiry/CollInquiryID(909): required -> optional".to_string()));
}

#[test]
fn fix_5_0_is_what_quickfix_has_except_for_what_its_service_packs_moved() {
    let Some(theirs) = read("quickfix/FIX50.xml") else { return };
    let found = fix50().diff(&theirs);
    let expected = [
        ("codes", 76),
        ("field", 1),
        ("field name", 11),
        ("member", 227),
        ("message name", 2),
        ("order", 132),
        ("required", 25),
        ("type", 5),
        ("union", 64),
    ];
    assert_eq!(counts(&found), BTreeMap::from(expected));
    assert_eq!(lines(&found, "field"), ["NoUsernames(809)"]);
    assert_eq!(other_codes(&found, &theirs), [102, 103, 167, 277, 327, 529, 574, 829, 1094, 1115, 1128]);
    // What FIX.5.0SP1 replaced: the instrument or the underlying of five messages became groups,
    // parties of legs and rules of trading went into components.
    let expected = [
        ("8 ExecutionReport/NoLegs(555)", 7),
        ("AA DerivativeSecurityList/NoRelatedSym(146)", 3),
        ("AB NewOrderMultileg/NoLegs(555)/NoLegAllocs(670)", 1),
        ("AC MultilegOrderCancelReplace/NoLegs(555)/NoLegAllocs(670)", 1),
        ("AE TradeCaptureReport", 7),
        ("AE TradeCaptureReport/NoSides(552)", 4),
        ("AR TradeCaptureReportAck", 1),
        ("AR TradeCaptureReportAck/NoSides(552)", 14),
        ("BK SecurityListUpdateReport/NoRelatedSym(146)", 74),
        ("BL AdjustedPositionReport", 67),
        ("BP SecurityDefinitionUpdateReport", 74),
        ("d SecurityDefinition", 5),
        ("m ListStrikePrice", 79),
        ("y SecurityList/NoRelatedSym(146)", 2),
    ];
    assert_eq!(missing(&found), expected.map(|(place, count)| (place.to_string(), count)).into());
    // PutOrCall, UnderlyingPutOrCall and LegOrderQty have another position.
    let moved = ["PutOrCall(201)", "UnderlyingPutOrCall(315)", "LegOrderQty(685)"];
    let others = lines(&found, "order");
    let others: Vec<&String> =
        others.iter().filter(|line| !moved.iter().any(|one| line.ends_with(one))).collect();
    assert_eq!(
        others,
        [
            "y SecurityList/NoRelatedSym(146): PutOrCall(201) RoundLot(561) MinTradeVol(562) ExpirationCycle(827)"
        ]
    );
}
