//! A name has one meaning, whatever is imported together: the prelude, the typed messages of a
//! version, and the public modules.

use std::collections::{BTreeMap, BTreeSet};

use fixbolt::codec::Version;
use fixbolt::dictionary::model::DataType;
use fixbolt::dictionary::shipped;

/// The public items of a crate. `.ci/public-api` compares them with the code.
const ENGINE: &str = include_str!("../public-api.txt");
const CODEC: &str = include_str!("../../codec/public-api.txt");

/// Returns the module and the name of each item of the crate called `krate`, functions excepted.
fn exported<'a>(api: &'a str, krate: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let kinds = ["pub use ", "pub struct ", "pub enum ", "pub trait ", "pub const "];
    let krate = krate.to_owned();
    api.lines().filter_map(move |line| {
        let item = line.split_once("] ").map_or(line, |(_, item)| item);
        let path = kinds.iter().find_map(|kind| item.strip_prefix(kind))?;
        let end = path.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(path.len());
        let (module, name) = path[..end].trim_end_matches(':').rsplit_once("::")?;
        let is_module = module.split("::").all(|part| part.starts_with(|c: char| c.is_ascii_lowercase()));
        (is_module && module.split("::").next() == Some(krate.as_str())).then_some((module, name))
    })
}

/// Returns the names that a glob import of a version's typed messages or of its codes brings.
fn generated(version: Version) -> BTreeSet<String> {
    let dictionary = shipped(version);
    let messages = dictionary.messages().iter().map(|message| message.name.clone());
    // A Boolean is a `bool`, whatever names a dictionary has for its values.
    let fields = dictionary.fields().iter().filter(|field| field.kind != DataType::Boolean);
    let sets = fields.filter_map(|field| field.codes).map(|codes| dictionary.code_set(codes));
    let codes = sets.map(|set| set.name.replace("CodeSet", ""));
    let own = ["AnyMessage", "Handler", "Header", "HeaderWriter", "Trailer"].map(String::from);
    messages.chain(codes).chain(own).collect()
}

#[test]
fn a_name_of_the_prelude_is_no_name_of_a_version() {
    let prelude: BTreeSet<&str> = exported(ENGINE, "fixbolt")
        .filter(|(module, _)| *module == "fixbolt::prelude")
        .map(|(_, name)| name)
        .collect();
    assert!(prelude.contains("Application") && prelude.contains("Engine"), "{prelude:?}");
    for version in Version::ALL {
        let both: Vec<String> =
            generated(version).into_iter().filter(|name| prelude.contains(name.as_str())).collect();
        assert!(both.is_empty(), "{version}: {both:?}");
    }
}

#[test]
fn a_public_type_has_its_name_alone() {
    // The prelude has items of other modules, and a log its own ReadError.
    let others = ["fixbolt::prelude", "fixbolt::log"];
    let own = exported(ENGINE, "fixbolt").filter(|(module, _)| !others.contains(module));
    let mut places: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (module, name) in own.chain(exported(CODEC, "fixbolt_codec")) {
        places.entry(name).or_default().insert(module);
    }
    let generated: BTreeSet<String> = Version::ALL.into_iter().flat_map(generated).collect();
    for (name, modules) in &places {
        assert_eq!(modules.len(), 1, "{name} is in {modules:?}");
        // MsgType and Scope of the codec are a message's type and a part of it, those of a version
        // codes of MsgType (35) and Scope (546). The prelude has neither.
        let is_codec = modules.contains("fixbolt_codec");
        assert!(is_codec || !generated.contains(*name), "{name} of {modules:?} is also a version's");
    }
}

/// An application of the prelude alone.
mod alone {
    use fixbolt::prelude::*;

    struct Idle;

    impl Application for Idle {
        fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
            Ok(Delivery::Done)
        }

        fn on_logon(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
            Ok(LogonDecision::Accept)
        }

        fn on_sending_logon(&mut self, _: &mut BodyWriter<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
            Ok(())
        }

        fn on_resend_request(&mut self, _: ResendRange, _: &mut Turn<'_>) -> Result<ResendAnswer, Failure> {
            Ok(ResendAnswer::AsUsual)
        }

        fn on_resend(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Resend, Failure> {
            Ok(Resend::Send)
        }

        fn on_resume(&mut self, _: &mut Resume<'_>) -> Result<(), Failure> {
            Ok(())
        }

        fn on_event(&mut self, _: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
            Ok(())
        }

        fn on_refused(&mut self, _: &RefusedConnection) {}
    }

    #[test]
    fn the_prelude_has_the_types_of_all_callbacks_and_of_what_sees_messages_before_they_are_sent() {
        let add_desk = |message: &mut Outgoing<'_, '_>| {
            message.set(Key::new(50), b"DESK");
            Ok(())
        };
        let settings = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse().unwrap(), Role::Acceptor);
        let builder = Engine::builder().accept("127.0.0.1:0".parse().unwrap(), settings);
        let engine = builder.before_send(add_desk).start(Idle).unwrap();
        engine.stop().unwrap();
        // Every callback of the trait is above.
        let application = include_str!("../../session/src/api/application.rs");
        let (_, declared) = application.split_once("pub trait Application").unwrap();
        for line in declared.lines().filter(|line| line.starts_with("    fn on_")) {
            let name = line.split('(').next().unwrap();
            assert!(include_str!("names.rs").contains(&format!("{name}(&mut self, _")), "{name}");
        }
    }
}

/// Everything that a program may import at once.
mod together {
    use fixbolt::messages::fix44::fields::*;
    use fixbolt::messages::fix44::*;
    use fixbolt::prelude::*;
    use fixbolt::testing::TestSession;

    struct Venue;

    impl Handler<Turn<'_>> for Venue {
        type Answer = Result<Delivery, Failure>;

        fn on_new_order_single(&mut self, order: NewOrderSingle<'_>, turn: &mut Turn<'_>) -> Self::Answer {
            if order.side()? == Side::BUY {
                return Err(BusinessReject::new(BusinessRejectCode::UNKNOWN_SECURITY).into());
            }
            let order_id: &[u8] = order.cl_ord_id()?;
            let required = order_cancel_reject::Required {
                order_id,
                cl_ord_id: order_id,
                orig_cl_ord_id: order_id,
                ord_status: OrdStatus::REJECTED,
                cxl_rej_response_to: CxlRejResponseTo::ORDER_CANCEL_REQUEST,
            };
            OrderCancelReject::send(turn.session(), required, |_| {})?;
            Ok(Delivery::Done)
        }

        fn on_other(&mut self, message: Message<'_>, _: &mut Turn<'_>) -> Self::Answer {
            assert_eq!(MsgType::from_value(message.msg_type()), MsgType::ORDER_CANCEL_REQUEST);
            let reason = SessionRejectReason::INVALID_MSG_TYPE.value().try_into()?;
            Err(SessionReject::new(SessionRejectCode::from_value(reason)).into())
        }
    }

    impl Application for Venue {
        fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
            dispatch(message, self, turn)?
        }
    }

    #[test]
    fn prelude_messages_and_codes_are_imported_whole() {
        let settings = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse().unwrap(), Role::Acceptor);
        let mut venue = TestSession::new(settings, Venue).unwrap();
        venue.log_on();
        let time = "60=20260105-09:00:00";
        for (message, msg_type, reason) in [
            (format!("35=D|11=a|54=1|{time}|40=1|"), "j", (380, Some("2"))),
            (format!("35=D|11=a|54=2|{time}|40=1|"), "9", (434, Some("1"))),
            (format!("35=F|41=a|11=b|54=1|{time}|"), "3", (373, Some("11"))),
        ] {
            let sent = venue.receive(&message);
            assert_eq!((sent[0].msg_type(), sent[0].get(reason.0)), (msg_type, reason.1), "{message}");
        }
    }
}
