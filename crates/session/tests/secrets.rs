//! Secrets are stored and shown masked, in every message and in both directions, and a message that
//! is stored with masked secrets is never sent from the store.

use std::sync::{Arc, LazyLock, Mutex};

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{
    BodySink, BodyWriter, DataKey, Frame, Framer, Index, Key, MsgType, NewBody, Redacted, Secrets, SeqNum,
    Span, byte_sum, is_secret,
};
use fixbolt_conformance::secrets::{SECRET, frames};
use fixbolt_conformance::testing::{App, BEGIN, Capture, Side, kinds, order, settings};
use fixbolt_dictionary::{Action, Check, Policy, Source, Validator, fix44};
use fixbolt_journal::MemoryStore;
use fixbolt_session::runtime::posted;
use fixbolt_session::store::{Intercept, Intercepted, Record, RecordFlags, Store, StoreError};
use fixbolt_session::{
    Delivery, Event, OpenError, Role, SessionDictionary, SessionKey, SessionSettings, WhileLoggedOff,
};

static VALIDATOR: LazyLock<Arc<Validator>> = LazyLock::new(|| Arc::new(Validator::new(fix44())));

/// The messages that a store was given, with `|` for SOH.
#[derive(Clone, Default)]
struct Stored(Arc<Mutex<Vec<(RecordFlags, String)>>>);

impl<S: Store> Intercept<S> for Stored {
    fn append(&mut self, store: &mut S, key: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        let text = String::from_utf8_lossy(record.body).replace('\x01', "|");
        self.0.lock().unwrap().push((record.flags, text));
        store.append(key, record)
    }
}

/// What a session sent, stored and showed.
struct Shown {
    sent: Vec<String>,
    stored: Vec<(RecordFlags, String)>,
    seen: Vec<String>,
}

/// An acceptor that is logged on, its application, and all that it stores and shows.
struct Watched {
    side: Side<App>,
    stored: Stored,
    capture: Arc<Capture>,
}

impl Watched {
    fn logged_on(change: impl FnOnce(&mut SessionSettings)) -> Self {
        let (stored, capture) = (Stored::default(), Arc::new(Capture::default()));
        let store = Box::new(Intercepted::new(MemoryStore::new(), stored.clone()));
        let settings = settings("A", Role::Acceptor).with(change);
        let side = Side::begin(BEGIN, App::default(), store, vec![settings]);
        let mut side = side.observed_by(capture.clone());
        let answer = side.log_on(0, 1, "");
        assert_eq!(kinds(&answer), "A", "{answer:?}");
        let mut watched = Self { side, stored, capture };
        watched.shown(answer);
        watched
    }

    fn shown(&mut self, sent: Vec<String>) -> Shown {
        let stored = core::mem::take(&mut *self.stored.0.lock().unwrap());
        let seen = self.capture.take();
        Shown { sent, stored, seen: seen.into_iter().map(|(_, _, text)| text).collect() }
    }

    fn say(&mut self, fields: &str) -> Shown {
        let sent = self.side.say(0, fields);
        self.shown(sent)
    }

    /// Writes a message of the application.
    fn write(&mut self, msg_type: &[u8], write: impl Fn(&mut BodyWriter<'_>)) -> Shown {
        let side = &mut self.side;
        let written = side.act(0, |turn| {
            let mut draft = turn.session().draft(MsgType::new(msg_type));
            write(draft.writer());
            draft.send()
        });
        written.unwrap();
        let sent = side.take(0);
        self.shown(sent)
    }
}

/// Returns the only message that was stored, which was shown in the same form and has the right
/// CheckSum.
fn only(shown: &Shown) -> (bool, &str) {
    let ([(flags, stored)], [seen]) = (&shown.stored[..], &shown.seen[..]) else {
        panic!("{:?} {:?}", shown.stored, shown.seen)
    };
    assert_eq!(stored, seen);
    let bytes = stored.replace('|', "\x01").into_bytes();
    let (before, sum) = bytes.split_at(bytes.len() - 7);
    assert_eq!(sum, format!("10={:03}\x01", byte_sum(before)).as_bytes(), "{stored}");
    (flags.contains(RecordFlags::MASKED), stored)
}

fn user_request(body: &mut BodyWriter<'_>) {
    body.bytes(Key::new(923), b"u1").field(Key::new(924), &3u32).bytes(Key::new(553), b"me");
    body.bytes(Key::new(554), b"swordfish").bytes(Key::new(925), b"opensesame");
}

fn an_order(body: &mut BodyWriter<'_>) {
    body.bytes(Key::new(11), b"a");
}

const USER_REQUEST: &str = "923=u1|924=3|553=me|554=swordfish|925=opensesame|";
const MASKED_REQUEST: &str = "923=u1|924=3|553=me|554=*********|925=**********|";

#[test]
fn the_passwords_of_a_user_request_are_masked_where_it_is_stored_and_shown_and_sent_as_written() {
    let mut watched = Watched::logged_on(|_| {});
    let received = watched.say(&format!("35=BE|34=2|{USER_REQUEST}"));
    let (masked, stored) = only(&received);
    assert!(masked && stored.contains(MASKED_REQUEST), "{stored}");
    let written = watched.write(b"BE", user_request);
    let (masked, stored) = only(&written);
    assert!(masked && stored.contains(MASKED_REQUEST), "{stored}");
    assert!(written.sent[0].contains(USER_REQUEST), "{:?}", written.sent);
}

#[test]
fn an_encrypted_password_is_masked_by_its_length() {
    let mut watched = Watched::logged_on(|_| {});
    let received = watched.say("35=BE|34=2|923=u1|924=3|1401=6|1402=a|554=|1403=2|1404=|b|58=x|");
    let (masked, stored) = only(&received);
    assert!(masked && stored.contains("|1401=6|1402=******|1403=2|1404=**|58=x|"), "{stored}");
    let written = watched.write(b"BE", |body| {
        body.bytes(Key::new(923), b"u1").data(DataKey::new(1401, 1402), b"a\x01b");
    });
    let (masked, stored) = only(&written);
    assert!(masked && stored.contains("|1401=3|1402=***|10="), "{stored}");
}

#[test]
fn a_secret_in_an_entry_of_a_group_is_masked() {
    let mut watched = Watched::logged_on(|_| {});
    let received = watched.say("35=U1|34=2|9001=2|9002=a|554=one|9002=b|554=two|58=x|");
    assert!(only(&received).1.contains("|9002=a|554=***|9002=b|554=***|58=x|"));
    let written = watched.write(b"U1", |body| {
        let mut users = body.group(Key::new(9001));
        for (name, password) in [("a", &b"one"[..]), ("b", b"")] {
            body.entry(&mut users);
            body.bytes(Key::new(9002), name.as_bytes());
            let mut more = body.group(Key::new(9003));
            if !password.is_empty() {
                body.entry(&mut more);
                body.bytes(Key::new(554), password);
            }
            body.end_group(more);
        }
        body.end_group(users);
        body.bytes(Key::new(58), b"x");
    });
    let (masked, stored) = only(&written);
    assert!(masked && stored.contains("|9001=2|9002=a|9003=1|554=***|9002=b|58=x|"), "{stored}");
}

#[test]
fn a_secret_in_a_body_that_is_copied_is_masked() {
    let mut memory = [0; 256];
    let mut request = BodyWriter::new(MsgType::new(b"BE"), &mut memory);
    user_request(&mut request);
    let body = request.finish().unwrap();
    let mut watched = Watched::logged_on(|_| {});
    let copied = watched.write(b"BE", |writer| {
        writer.raw().body(&body);
    });
    assert!(only(&copied).1.contains(MASKED_REQUEST));
    let fields = watched.write(b"U1", |writer| {
        writer.raw().field(Key::new(58), b"x").field(Key::new(20000), b"y\x01554=z");
    });
    assert!(only(&fields).1.contains("|58=x|20000=y|554=*|"));
}

#[test]
fn a_posted_body_is_searched_for_secrets_unless_it_is_known_to_have_none() {
    let mut memory = [0; 256];
    let mut body = BodyWriter::new(MsgType::new(b"BE"), &mut memory);
    user_request(&mut body);
    let body = body.finish().unwrap();
    let header = [(Key::new(115), &b"HIDDEN"[..])];
    for (may_have_secrets, header, masked) in
        [(true, &header[..0], true), (false, &header[..0], false), (false, &header[..], true)]
    {
        let mut watched = Watched::logged_on(|settings| settings.masked_tags = vec![554, 925, 115]);
        let side = &mut watched.side;
        let written = side.act(0, |turn| {
            let handle = turn.session().posted_as(posted(1), may_have_secrets).with_header(header);
            let mut draft = handle.draft(body.msg_type);
            draft.writer().raw().body(&body);
            draft.send()
        });
        let sent = side.take(0);
        let shown = watched.shown(sent);
        written.unwrap();
        let is_masked = shown.stored[0].0.contains(RecordFlags::MASKED);
        assert_eq!(is_masked, masked, "{may_have_secrets}, {} fields: {:?}", header.len(), shown.stored);
    }
}

/// The last bytes of a message that waits are no CheckSum, whose place bounds a secret elsewhere.
#[test]
fn a_secret_at_the_end_of_a_message_that_waits_is_masked_whatever_its_bytes_are() {
    for secret in
        [&b"plain"[..], b"a\x01b", b"a\x01bcdefghijklm", b"a\x01bcdefghij\x0158=m", b"a\x01b=c\x0158=defgh"]
    {
        let mut watched = Watched::logged_on(|settings| {
            settings.throttle.max_outbound_rate = Some("1/60000".parse().unwrap())
        });
        watched.write(b"D", an_order);
        let waiting = watched.write(b"BE", |body| {
            body.bytes(Key::new(923), b"u1").data(DataKey::new(1401, 1402), secret);
        });
        let [(flags, stored)] = &waiting.stored[..] else { panic!("{:?}", waiting.stored) };
        let masked = format!("35=BE|923=u1|1401={}|1402={}|", secret.len(), "*".repeat(secret.len()));
        assert_eq!((flags.contains(RecordFlags::MASKED), stored), (true, &masked));
    }
    // Other data is not searched, where it is the last one either.
    let mut watched =
        Watched::logged_on(|settings| settings.throttle.max_outbound_rate = Some("1/60000".parse().unwrap()));
    watched.write(b"D", an_order);
    let waiting = watched.write(b"B", |body| {
        body.bytes(Key::new(554), b"x").data(DataKey::new(95, 96), b"a\x01554=b");
    });
    assert_eq!(waiting.stored[0].1, "35=B|554=*|95=7|96=a|554=b|");
}

#[test]
fn text_that_looks_like_a_secret_inside_a_data_field_is_none() {
    let mut watched = Watched::logged_on(|_| {});
    let received = watched.say("35=B|34=2|42=20260105-09:00:00|95=9|96=a|554=bcd|58=x|");
    let (masked, stored) = only(&received);
    assert!(!masked && stored.contains("|96=a|554=bcd|58=x|"), "{stored}");
    // 42 and 554 have the same bit in what the writer remembers.
    let news = |body: &mut BodyWriter<'_>| {
        body.bytes(Key::new(42), b"20260105-09:00:00");
        body.data(DataKey::new(95, 96), b"a\x01554=bcd").bytes(Key::new(58), b"x");
    };
    let written = watched.write(b"B", news);
    let (masked, stored) = only(&written);
    assert!(!masked && stored.contains("|95=9|96=a|554=bcd|58=x|"), "{stored}");
    let again = watched.say("35=2|34=3|7=2|16=2|");
    assert!(again.sent[0].contains("|95=9|96=a|554=bcd|58=x|"), "{:?}", again.sent);
    // A secret beside it is masked.
    let both = watched.write(b"B", |body| {
        body.data(DataKey::new(95, 96), b"a\x01554=bcd").bytes(Key::new(554), b"efg");
    });
    assert!(only(&both).1.contains("|95=9|96=a|554=bcd|554=***|"));
}

#[test]
fn a_data_field_of_the_dialect_is_not_searched_for_secrets_and_may_be_one() {
    let table = fix44().to_table().replacen(
        "\ncomponent ",
        "\nfield 20001 TokenLength Length\nfield 20002 Token data length=20001\ncomponent ",
        1,
    );
    let line = table.lines().find(|line| line.starts_with("message B ")).unwrap();
    let table = table.replace(line, &format!("{line} 20001 20002"));
    let dictionary = Source::text(&table).load().unwrap_or_else(|error| panic!("{error}")).dictionary;
    let own = SessionDictionary::Own(Arc::new(Validator::new(&dictionary)));
    for (tags, masked) in
        [(vec![554], "|20001=10|20002=a|554=bcde|"), (vec![20002], "|20001=10|20002=**********|")]
    {
        let mut watched = Watched::logged_on(|s| (s.dictionary, s.masked_tags) = (own.clone(), tags.clone()));
        let received = watched.say("35=B|34=2|148=h|33=1|58=x|20001=10|20002=a|554=bcde|");
        assert!(received.stored[0].1.contains(masked), "{:?}", received.stored);
        let written = watched.write(b"B", |body| {
            body.bytes(Key::new(148), b"h").data(DataKey::of_dialect(20001, 20002), b"a\x01554=bcde");
        });
        assert!(written.stored[0].1.contains(masked), "{:?}", written.stored);
    }
}

#[test]
fn raw_data_is_masked_in_a_logon_and_kept_elsewhere() {
    let mut watched = Watched::logged_on(|_| {});
    watched.side.disconnect(0);
    watched.side.connect(0);
    watched.side.app.sending_logon = Box::new(|logon, _| {
        logon.data(DataKey::new(95, 96), b"o\x01k");
        Ok(())
    });
    let shown = watched.say("35=A|34=2|98=0|108=30|95=3|96=a|b|554=c|");
    let [(_, received), (_, sent)] = &shown.stored[..] else { panic!("{:?}", shown.stored) };
    assert!(received.contains("|95=3|96=***|554=*|10="), "{received}");
    assert!(sent.contains("|95=3|96=***|10="), "{sent}");
    assert!(shown.sent[0].contains("|95=3|96=o|k|10="), "{:?}", shown.sent);
    assert_eq!(shown.seen, [received.clone(), sent.clone()]);
    let news = watched.say("35=B|34=3|95=3|96=a|b|");
    assert_eq!((only(&news).0, only(&news).1.contains("|96=a|b|10=")), (false, true));
}

#[test]
fn a_password_under_a_broken_tag_and_one_with_a_delimiter_are_masked() {
    let mut watched = Watched::logged_on(|_| {});
    let shown = watched.say("35=BE|34=2|0554=sword|");
    assert!(shown.stored[0].1.contains("|0554=*****|"), "{:?}", shown.stored);
    let shown = watched.say("35=BE|34=3|554=sword|fish|");
    assert!(shown.stored[0].1.contains("|554=*****|****|"), "{:?}", shown.stored);
    for (_, stored) in &shown.stored {
        assert!(!stored.contains("fish"), "{stored}");
    }
}

#[test]
fn a_reject_names_the_field_of_a_password_and_repeats_no_part_of_it() {
    let own = SessionDictionary::Own(Arc::new(Validator::new(fix44())));
    for dictionary in [SessionDictionary::None, own] {
        let mut watched = Watched::logged_on(|s| s.dictionary = dictionary.clone());
        for (seq, rest) in [(2, "qwz"), (3, "qw=z"), (4, "=qwz"), (5, "qwz|x=y")] {
            let shown = watched.say(&format!("35=BE|34={seq}|923=u|924=1|553=me|554=sword|{rest}|"));
            assert!(
                shown.sent[0].contains("|35=3|") && shown.sent[0].contains("|371=554|"),
                "{:?}",
                shown.sent
            );
            let all =
                format!("{:?}{:?}{:?}{:?}", shown.sent, shown.stored, shown.seen, watched.side.app.events);
            for part in ["sword", "qw", "wz", "x=y"] {
                assert!(!all.contains(part), "{part} {all}");
            }
        }
        // After another field it is a broken tag.
        let shown = watched.say("35=BE|34=6|923=u|924=1|553=me|fi=sh|");
        assert!(shown.sent[0].contains("|371=fi|"), "{:?}", shown.sent);
    }
}

#[test]
fn the_tags_that_are_masked_are_a_setting_and_by_default_those_that_debug_hides() {
    let mut watched = Watched::logged_on(|s| s.masked_tags = vec![58]);
    let shown = watched.say("35=B|34=2|58=x|554=clear|");
    let (masked, stored) = only(&shown);
    assert!(masked && stored.contains("|58=*|554=clear|"), "{stored}");
    let mut watched = Watched::logged_on(|s| s.masked_tags = Vec::new());
    let shown = watched.write(b"BE", user_request);
    assert!(only(&shown).1.contains(USER_REQUEST));
    let default = settings("A", Role::Acceptor).masked_tags;
    for tag in 1..100_000 {
        assert_eq!(default.contains(&tag), is_secret(tag, None), "{tag}");
    }
    for tag in [8, 9, 10, 34, 35, 49, 52, 56] {
        let settings = settings("A", Role::Acceptor).with(|s| s.masked_tags = vec![554, tag]);
        let opened = Side::new(vec![]).open(settings);
        assert!(matches!(opened, Err(OpenError::Setting(wrong)) if wrong.key() == "MaskedTags"));
    }
}

// R-RESEND-5
#[test]
fn a_masked_message_is_gap_filled_when_it_is_requested_and_the_application_hears_its_number() {
    let mut watched = Watched::logged_on(|_| {});
    let asked = Arc::new(Mutex::new(0));
    let count = Arc::clone(&asked);
    watched.side.app.resend = Box::new(move |_, _| {
        *count.lock().unwrap() += 1;
        Ok(fixbolt_session::Resend::Send)
    });
    watched.write(b"D", an_order);
    watched.write(b"BE", user_request);
    watched.write(b"D", an_order);
    let again = watched.say("35=2|34=2|7=1|16=0|");
    assert_eq!(kinds(&again.sent), "4D4D");
    assert!(again.sent[2].contains("|34=3|") && again.sent[2].contains("|36=4|"), "{:?}", again.sent);
    assert!(!again.sent.concat().contains('*'), "{:?}", again.sent);
    assert_eq!(*asked.lock().unwrap(), 2, "there is nothing to ask about the message that cannot be sent");
    let event = "FIX.4.4:US->A: messages that do not reach the counterparty: 3: their secrets are masked in the store";
    assert!(watched.side.app.events.iter().any(|told| told == event), "{:?}", watched.side.app.events);
}

#[test]
fn a_masked_message_that_waits_for_a_replay_or_a_logon_is_gap_filled_and_the_application_hears_it() {
    let mut watched = Watched::logged_on(|s| s.resend.while_logged_off = WhileLoggedOff::Keep);
    watched.write(b"D", an_order);
    // Written while the replay is under way.
    watched.side.app.resend = Box::new(|_, turn| {
        let mut draft = turn.session().draft(MsgType::new(b"BE"));
        user_request(draft.writer());
        draft.send()?;
        order(turn, "b")?;
        Ok(fixbolt_session::Resend::Send)
    });
    let sent = watched.say("35=2|34=2|7=2|16=2|").sent;
    assert_eq!(kinds(&sent), "D4D", "{sent:?}");
    assert!(
        sent[1].contains("|34=3|") && sent[1].contains("|36=4|") && !sent[1].contains("|43=Y|"),
        "{sent:?}"
    );
    watched.side.disconnect(0);
    watched.write(b"BE", user_request);
    watched.side.connect(0);
    watched.say("35=A|34=3|98=0|108=30|");
    watched.side.app.resend = Box::new(|_, _| Ok(fixbolt_session::Resend::Send));
    let sent = watched.say("35=2|34=4|7=5|16=0|").sent;
    assert_eq!(kinds(&sent), "4", "{sent:?}");
    for seq in [3, 5] {
        let event = format!("reach the counterparty: {seq}: their secrets are masked in the store");
        assert!(
            watched.side.app.events.iter().any(|told| told.ends_with(&event)),
            "{:?}",
            watched.side.app.events
        );
    }
}

#[test]
fn an_application_reads_its_store_with_secrets_masked() {
    let mut watched = Watched::logged_on(|_| {});
    watched.say(&format!("35=BE|34=2|{USER_REQUEST}"));
    watched.write(b"BE", user_request);
    let read = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&read);
    watched.side.app.resume = Box::new(move |resume| {
        resume.messages(|stored| {
            kept.lock().unwrap().push_str(&stored.message.bytes().escape_ascii().to_string());
            Ok(())
        })
    });
    watched.side.show_store(0);
    let read = read.lock().unwrap();
    assert_eq!(read.matches("554=*********").count(), 2, "{read}");
    assert!(!read.contains("swordfish"), "{read}");
}

#[test]
fn an_event_about_garbled_bytes_shows_no_secret_and_no_rest_of_one() {
    let mut watched = Watched::logged_on(|s| s.masked_tags.push(9999));
    let debug = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&debug);
    watched.side.app.event = Box::new(move |event, _| {
        if let Event::Garbled { .. } = event {
            kept.lock().unwrap().push_str(&format!("{event:?}\n"));
        }
        Ok(())
    });
    let mut garbled = b"554=sword".to_vec();
    garbled.resize(70_000, b'f');
    garbled.extend_from_slice(b"ish\x019999=token\x01");
    let mut at = 0;
    while at < garbled.len() {
        let end = (at + 4096).min(garbled.len());
        let side = &mut watched.side;
        at += side.receive(0, &garbled[at..end]).max(1);
    }
    watched.say("35=0|34=2|");
    let debug = debug.lock().unwrap();
    assert!(debug.contains("Continued"), "{debug}");
    for secret in ["sword", "fff", "ish", "token"] {
        assert!(!debug.contains(secret), "{secret}");
    }
}

#[test]
fn no_part_of_a_secret_is_stored_shown_or_told_of_whatever_is_wrong_with_its_frame() {
    for (n, frame) in frames(0x5EC_4E75, 2_000, "A", &Side::new(vec![]).time()).iter().enumerate() {
        let about = |what: &str, shown: &str| {
            assert!(!shown.contains(SECRET), "{what}: {shown}\n of {}: {}", n, frame.escape_ascii());
        };
        about("Redacted", &Redacted(frame).to_string());
        // In one piece, and in two.
        for cut in [frame.len(), n % frame.len()] {
            let (mut framer, mut at, mut end) = (Framer::new(10_000), 0, cut);
            loop {
                let found = framer.next(&frame[at..end]);
                about("Debug", &format!("{found:?}"));
                match found {
                    Frame::Message(framed) => {
                        let (mut tags, mut spans) = ([0; 512], [Span::default(); 512]);
                        match Index::new(&mut tags, &mut spans).build(framed) {
                            Ok(message) => {
                                about("Message", &format!("{message:?}"));
                                // A field may be a part of the secret before it, which alone it
                                // cannot show.
                                let bytes = message.bytes();
                                let hidden: Vec<_> = Secrets::STANDARD.in_message(bytes).collect();
                                for position in 0..message.len() {
                                    let end = message.span(position).end();
                                    let start = end - message.field_bytes(position).len();
                                    if !hidden.iter().any(|range| range.contains(&start)) {
                                        about("Field", &format!("{:?}", message.field(position)));
                                    }
                                }
                            }
                            Err(error) => about("error", &format!("{error} {error:?}")),
                        }
                        at += framed.bytes().len();
                    }
                    Frame::Garbled { bytes, .. } => at += bytes.len(),
                    Frame::Incomplete { .. } if end < frame.len() => end = frame.len(),
                    Frame::Incomplete { .. } => break,
                }
            }
        }
        let dictionary = match n % 2 {
            0 => SessionDictionary::None,
            _ => SessionDictionary::Own(VALIDATOR.clone()),
        };
        let mut watched = Watched::logged_on(|s| {
            s.dictionary = dictionary;
            s.validation.reject_garbled_message = n % 3 == 0;
            if n % 5 == 0 {
                s.validation.incoming = Policy::ignoring();
            } else if n % 5 == 1 {
                s.validation.incoming = Policy::tolerant().with(Check::DataLength, Action::Warn);
            }
        });
        let told = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&told);
        watched.side.app.event = Box::new(move |event, _| {
            kept.lock().unwrap().push_str(&format!("{event} {event:?}\n"));
            Ok(())
        });
        let side = &mut watched.side;
        let mut at = 0;
        for end in [n % frame.len(), frame.len()] {
            at += side.receive(0, &frame[at..end]);
        }
        let sent = side.take(0);
        let shown = watched.shown(sent);
        about("sent", &shown.sent.concat());
        about("stored", &shown.stored.iter().map(|(_, text)| text.as_str()).collect::<String>());
        about("the wire", &shown.seen.concat());
        about("events", &told.lock().unwrap());
    }
}

#[test]
fn a_callback_that_is_offered_a_secret_gets_it_as_it_was_sent() {
    let mut watched = Watched::logged_on(|_| {});
    watched.side.app.message = Box::new(|bytes, _| {
        assert!(bytes.windows(13).any(|part| part == b"554=swordfish"));
        Ok(Delivery::Done)
    });
    watched.say(&format!("35=BE|34=2|{USER_REQUEST}"));
    assert_eq!(watched.side.numbers(0), Some((SeqNum(3), SeqNum(2))));
}
