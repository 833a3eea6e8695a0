//! What `tables/corrections.txt` adds to the shipped tables, and what the files of QuickFIX and
//! QuickFIX/J for the same versions accept and the shipped versions refuse: each with its reason.
//!
//! `tests/editions.rs` has every difference of the versions over FIXT.1.1.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use fixbolt_codec::{Frame, Framer, Index, Span};
use fixbolt_dictionary::sample::framed;
use fixbolt_dictionary::{
    Dictionary, Difference, Member, Only, Policy, Source, UnionType, Validator, Version, fixt11, shipped,
};

/// Returns the reasons for which the standard policy rejects a message of `version`, with the tags.
fn rejected(version: Version, fields: &str) -> Vec<(u16, String)> {
    let whole = match version.is_application() {
        true => shipped(version).over(fixt11()).expect("they fit"),
        false => shipped(version).clone(),
    };
    let validator = Validator::new(&whole);
    let bytes = framed(version.begin_string(), fields.replace('|', "\x01").as_bytes());
    let Frame::Message(framed) = Framer::new(1 << 16).next(&bytes) else { panic!("the frame is right") };
    let (mut tags, mut spans) = (vec![0; bytes.len()], vec![Span::default(); bytes.len()]);
    let mut index = Index::new(&mut tags, &mut spans);
    let message = index.build(framed).expect("the fields are right");
    let mut scratch = validator.scratch();
    let found = validator.all(&message, &Policy::standard(), &mut scratch);
    found.iter().map(|one| (one.reason.value(), one.tag.to_string())).collect()
}

const HEADER: &str = "34=2|49=S|52=20240229-12:00:00|56=T|";

#[test]
fn an_indication_of_interest_has_a_quantity_or_its_code_in_every_version() {
    for version in [Version::Fix40, Version::Fix41, Version::Fix42] {
        let ioi = |quantity: &str| {
            let body = format!("35=6|{HEADER}23=1|28=N|55=IBM|54=1|27={quantity}|");
            rejected(version, &body)
        };
        for quantity in ["1000", "12.5", "S", "L"] {
            assert_eq!(ioi(quantity), [], "{version} {quantity}");
        }
        assert_eq!(ioi("X"), [(5, "27".into())], "{version}");
    }
    let union = |version| shipped(version).field(27).and_then(|field| field.union);
    for version in Version::ALL.into_iter().filter(|version| *version != Version::Fixt11) {
        assert_eq!(union(version), Some(UnionType::Qty), "{version}");
    }
}

#[test]
fn reserved_ranges_are_accepted_from_their_beginning() {
    let report = |more: &str| {
        let body = format!("35=8|{HEADER}37=1|17=2|150=F|39=2|55=IBM|54=1|32=1|31=1|151=0|14=1|6=1|{more}");
        rejected(Version::Fix44, &body)
    };
    let party = |kind: &str| format!("453=1|448=A|447=D|452=1|802=1|523=x|803={kind}|");
    assert_eq!(report(&party("4000")), []);
    assert_eq!(report(&party("12345")), []);
    assert_eq!(report(&party("3999")), [(5, "803".into())]);
    assert_eq!(report("48=x|22=100|"), []);
    assert_eq!(report("48=x|22=99|"), [(5, "22".into())]);
    assert_eq!(report("847=1000|"), []);
    assert_eq!(report("847=999|"), [(5, "847".into())]);
    for version in Version::ALL.into_iter().filter(|version| *version != Version::Fixt11) {
        let union = shipped(version).field(22).and_then(|field| field.union);
        assert_eq!(union, Some(UnionType::Reserved100Plus), "{version}");
    }
}

#[test]
fn what_a_field_accepts_beside_its_codes_belongs_to_the_codes() {
    for version in Version::ALL {
        let mut unions: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
        for field in shipped(version).fields() {
            if let Some(codes) = field.codes {
                let name = shipped(version).code_sets()[codes.index()].name.as_str();
                unions.entry(name).or_default().insert(field.union.map(UnionType::name));
            }
        }
        unions.retain(|_, unions| unions.len() > 1);
        // FIX Latest notes a range of numbers at one of the 21 fields that name the source of a
        // party's identification, all of which are of one character.
        let expected: &[&str] = match version {
            Version::FixLatest => &["PartyIDSourceCodeSet"],
            _ => &[],
        };
        assert_eq!(unions.keys().copied().collect::<Vec<_>>(), expected, "{version}");
    }
}

#[test]
fn the_order_that_is_replaced_or_affected_is_named_in_its_group() {
    // CrossOrderCancelReplaceRequest
    let sides = "35=t|34=2|49=S|52=20240229-12:00:00|56=T|37=1|548=2|551=1|549=1|550=0|\
                 552=2|54=1|41=o1|11=r1|38=100|54=2|41=o2|11=r2|38=100|\
                 55=IBM|60=20240229-12:00:00|40=2|44=10|";
    assert_eq!(rejected(Version::Fix44, sides), []);
    assert_eq!(rejected(Version::Fix44, &sides.replace("41=o1|", "")), [], "it is optional");
    // OrderMassCancelReport
    let affected = format!("35=r|{HEADER}37=1|1369=1|11=c|530=7|531=7|533=2|534=2|41=o1|535=1|41=o2|535=2|");
    for version in [Version::Fix44, Version::Fix50, Version::Fix50Sp1, Version::Fix50Sp2] {
        let fields = match version {
            Version::Fix44 | Version::Fix50 => affected.replace("1369=1|", ""),
            _ => affected.clone(),
        };
        assert_eq!(rejected(version, &fields), [], "{version}");
    }
}

/// The files of both engines, by version.
const FILES: [(Version, &str); 8] = [
    (Version::Fix40, "FIX40"),
    (Version::Fix41, "FIX41"),
    (Version::Fix42, "FIX42"),
    (Version::Fix43, "FIX43"),
    (Version::Fix44, "FIX44"),
    (Version::Fix50, "FIX50"),
    (Version::Fix50Sp1, "FIX50SP1"),
    (Version::Fix50Sp2, "FIX50SP2"),
];

/// Calls `look` with each version, the file's name, ours and theirs. Their FIX50SP2.xml of QuickFIX
/// is a later FIX Latest.
fn for_each_file(mut look: impl FnMut(Version, &str, &Dictionary, &Dictionary)) {
    for (version, file) in FILES {
        for engine in ["quickfix", "quickfixj"] {
            if (engine, version) == ("quickfix", Version::Fix50Sp2) {
                continue;
            }
            let name = format!("{engine}/{file}.xml");
            match support::shared(&format!("dictionaries/{name}")) {
                Some(text) => {
                    let theirs = Source::text(&text).load().unwrap_or_else(|error| panic!("{name}: {error}"));
                    look(version, &name, shipped(version), &theirs.dictionary);
                }
                None => support::absent(1),
            }
        }
    }
}

/// Returns the groups with OrigClOrdID, as MsgType and count tags.
fn with_orig_cl_ord_id(dictionary: &Dictionary) -> BTreeSet<String> {
    fn look(dictionary: &Dictionary, members: &[Member], path: &str, found: &mut BTreeSet<String>) {
        for member in dictionary.expand(members) {
            if member.tag == 41 && path.contains('/') {
                found.insert(path.to_owned());
            }
            if let Some(group) = member.group {
                let inside = format!("{path}/{}", member.tag);
                look(dictionary, &dictionary.groups()[group.index()].members, &inside, found);
            }
        }
    }
    let mut found = BTreeSet::new();
    for message in dictionary.messages() {
        look(dictionary, &message.members, &message.msg_type, &mut found);
    }
    found
}

#[test]
fn no_group_lacks_the_orig_cl_ord_id_that_an_engine_has_there() {
    for_each_file(|version, file, ours, theirs| {
        let (ours, theirs) = (with_orig_cl_ord_id(ours), with_orig_cl_ord_id(theirs));
        let missing: Vec<&String> = theirs.difference(&ours).collect();
        assert_eq!(missing, Vec::<&String>::new(), "{version} {file}");
    });
}

#[test]
fn codes_that_an_engine_has_and_we_refuse_are_known() {
    for_each_file(|version, file, ours, theirs| {
        let mut refused = Vec::new();
        for difference in ours.diff(theirs) {
            let Difference::Codes { field, right, .. } = difference else { continue };
            let Some(own) = ours.field(field.tag) else { continue };
            if own.codes.is_some() && own.union.is_none() && !right.is_empty() {
                let values: Vec<&str> = right.iter().map(|code| code.value.as_str()).collect();
                refused.push(format!("{} {}", field.tag, values.join(" ")));
            }
        }
        let expected: &[&str] = match file {
            // Their 166 has ISO as if it were a code; it stands for any country, as with us.
            "quickfixj/FIX41.xml" => &["166 ISO"],
            // 326=11 is of a version that is not public.
            "quickfixj/FIX42.xml" => &["166 ISO", "326 11"],
            // Values of later versions: 18=T of FIX.4.4's errata, 167=DP.
            "quickfixj/FIX43.xml" => &["18 T", "167 DP", "326 11"],
            // Codes of earlier versions, of which `CodeRules::WithFormer` accepts those of 39 and
            // 150; 160=0 of FIX.4.3; a wildcard in 167; values that FIX.4.4's errata and FIX.5.0
            // added to 18, 233 and 495; and other spellings in 235 and 347.
            "quickfixj/FIX44.xml" => &[
                "18 T",
                "39 5",
                "40 5 A B C F H",
                "71 3 4 5",
                "150 1 2",
                "160 0",
                "167 ?",
                "233 SMM CPR CPY CPP ABS MPR PSA PPC MHP HEP",
                "235 VALUE1_32",
                "323 3 4",
                "326 11",
                "347 SHIFT_JIS",
                "495 999",
            ],
            // A wildcard in 167; values of 574 and 1094 that FIX Latest renumbered or removed.
            "quickfix/FIX50.xml" => &["167 WLD", "574 60 61 62 63 64 65", "1094 6"],
            // Besides, values of its own in 276 and 277, and an ApplVerID that came later.
            "quickfixj/FIX50.xml" => &[
                "150 1 2",
                "167 WLD",
                "276 1000 1001 1002 1003",
                "277 1000 1001 1002",
                "574 60 61 62 63 64 65",
                "1094 6",
                "1128 9",
            ],
            _ => &[],
        };
        assert_eq!(refused, expected, "{version} {file}");
    });
}

#[test]
fn members_that_an_engine_has_and_a_version_before_5_0_does_not_are_known() {
    for_each_file(|version, file, ours, theirs| {
        if version >= Version::Fix50 {
            return;
        }
        let mut missing: BTreeMap<String, usize> = BTreeMap::new();
        for difference in ours.diff(theirs) {
            if let Difference::Member { place, only: Only::Right, .. } = difference {
                *missing.entry(place.to_string()).or_default() += 1;
            }
        }
        let expected: &[(&str, usize)] = match file {
            // FIX.4.4 has it.
            "quickfixj/FIX43.xml" => &[("o RegistrationInstructions/NoDistribInsts(510)", 1)],
            // QuickFIX/J has what follows NoRelatedSym of a QuoteRequestReject outside of the
            // group, and fields of FIX.4.4's first edition in the groups of allocations.
            "quickfixj/FIX44.xml" => &[
                ("AG QuoteRequestReject", 23),
                ("AS AllocationReport/NoAllocs(78)", 1),
                ("J AllocationInstruction/NoAllocs(78)", 3),
            ],
            _ => &[],
        };
        let missing: Vec<(&str, usize)> = missing.iter().map(|(place, count)| (&**place, *count)).collect();
        assert_eq!(missing, expected, "{version} {file}");
    });
}
