//! The front page (README.md) is read in the repository, in the package and on docs.rs. Its links
//! must work in all three, it is short enough to be read whole, and its programs do what it says of
//! them.

use std::path::Path;

#[test]
fn each_link_of_the_front_page_resolves_in_the_package_and_in_the_documentation() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(package.join("README.md")).unwrap();
    let documentation = std::fs::read_to_string(package.join("src/lib.rs")).unwrap();
    assert!(!page.contains("]("), "write links as `[text][label]` and define the label at the end");
    let (_, links) = page.trim_end().rsplit_once("\n\n").unwrap();
    for line in links.lines() {
        let (label, path) = line.split_once("]: ").expect("the last paragraph defines the links");
        let path = path.strip_prefix("crates/engine/").unwrap_or(path);
        assert!(package.join(path).exists(), "{path} is not part of the package");
        let there = format!("//! {label}]: https://docs.rs/crate/fixbolt/latest/source/{path}\n");
        assert!(documentation.contains(&there), "src/lib.rs lacks: {there}");
    }
}

#[test]
fn the_front_page_has_at_most_1800_words_in_lines_of_at_most_130_characters() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    for line in page.lines() {
        assert!(line.chars().count() <= 130, "{line}");
    }
    // The definitions of the links are not shown.
    let (shown, _) = page.trim_end().rsplit_once("\n\n").unwrap();
    let words = shown.split_whitespace().count();
    assert!(words <= 1800, "{words} words");
}

#[cfg(feature = "fix44")]
mod programs {
    use std::sync::mpsc;

    use fixbolt::session::{Role, SessionSettings};
    use fixbolt::testing::{Pair, TestSession};

    #[allow(dead_code, clippy::pedantic)]
    mod acceptor {
        include!("front_page/acceptor.rs");

        pub(super) fn venue() -> impl Application {
            Venue
        }
    }

    #[allow(dead_code, clippy::pedantic)]
    mod initiator {
        include!("front_page/initiator.rs");

        pub(super) fn trader(reports_to: std::sync::mpsc::Sender<String>) -> impl Application {
            Trader(reports_to)
        }
    }

    fn settings(id: &str, role: Role) -> SessionSettings {
        SessionSettings::new(id.parse().unwrap(), role)
    }

    #[test]
    fn the_programs_of_the_front_page_are_the_ones_that_are_tested() {
        let page = include_str!("../README.md");
        let programs = page.split("```rust,no_run\n").skip(1);
        let programs: Vec<&str> = programs.map(|rest| rest.split("```").next().unwrap()).collect();
        assert_eq!(
            programs,
            [include_str!("front_page/acceptor.rs"), include_str!("front_page/initiator.rs")]
        );
    }

    #[test]
    fn its_acceptor_fills_every_limit_order_in_full_and_answers_what_it_cannot_read() {
        let mut venue =
            TestSession::new(settings("FIX.4.4:VENUE->TRADER", Role::Acceptor), acceptor::venue()).unwrap();
        venue.log_on();
        for (quantity, price) in [("57", "298.075"), ("1", "0.5"), ("1000000", "12")] {
            let order = format!("35=D|11=a|55=IBM|54=2|60=20260105-09:00:00|40=2|38={quantity}|44={price}|");
            let reports = venue.receive(&order);
            assert_eq!((reports.len(), reports[0].msg_type()), (1, "8"));
            let fields = [11, 55, 54, 150, 39, 151, 14, 6].map(|tag| reports[0].get(tag).unwrap());
            assert_eq!(fields, ["a", "IBM", "2", "F", "2", "0", quantity, price]);
        }
        let mut answer = |message: &str| {
            let answers = venue.receive(message);
            assert_eq!(answers.len(), 1, "{message}");
            [answers[0].msg_type(), answers[0].get(371).unwrap_or("-"), answers[0].get(58).unwrap()]
                .map(str::to_owned)
        };
        let another_type = answer("35=F|41=a|11=b|55=IBM|54=2|60=20260105-09:00:00|");
        assert_eq!(another_type[0], "j");
        let without_a_price = answer("35=D|11=a|55=IBM|54=2|60=20260105-09:00:00|40=1|38=57|");
        assert_eq!(without_a_price, ["j", "-", "Conditionally required field missing (44)"]);
        let unreadable = answer("35=D|11=a|55=IBM|54=2|60=20260105-09:00:00|40=2|38=57|44=cheap|");
        assert_eq!(unreadable[..2], ["3", "44"]);
    }

    #[test]
    fn its_initiator_sends_one_order_and_prints_the_report_of_its_acceptor() {
        let (reports_to, reports) = mpsc::channel();
        let trader = settings("FIX.4.4:TRADER->VENUE", Role::Initiator);
        let venue = settings("FIX.4.4:VENUE->TRADER", Role::Acceptor);
        let applications = (initiator::trader(reports_to), acceptor::venue());
        let mut pair = Pair::new((trader, applications.0), (venue, applications.1)).unwrap();
        pair.connect();
        assert_eq!(reports.try_iter().collect::<Vec<_>>(), ["Filled at 298.075"]);
    }
}
