//! What sees new messages before they are sent: it adds fields, changes them, and refuses messages.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{
    Body, BodySink as _, DataKey, EncodeError, EncodeErrorKind, Framed, Index, Key, MsgType, NewBody as _,
    SeqNum, Span, Tag, byte_sum,
};
use fixbolt_conformance::testing::{App, Capture, Side, settings};
use fixbolt_session::{Accepted, Delivery, Outgoing, Role, SendError, SessionEnd, SessionSettings, Turn};

type Hooked<'f> = Result<(), &'f str>;

/// An acceptor that is logged on, whose messages this sees.
fn logged_on(hook: impl Fn(&mut Outgoing<'_, '_>) -> Hooked<'static> + Send + Sync + 'static) -> Side<App> {
    with(|_| (), hook)
}

fn with(
    change: impl FnOnce(&mut SessionSettings),
    hook: impl Fn(&mut Outgoing<'_, '_>) -> Hooked<'static> + Send + Sync + 'static,
) -> Side<App> {
    let mut side = Side::with_app(App::default(), vec![settings("A", Role::Acceptor).with(change)]);
    side.log_on(0, 1, "");
    side.write(0, usize::MAX);
    side.before_send(hook)
}

/// Writes an order.
fn order(turn: &mut Turn<'_>, id: &str) -> Result<Accepted, SendError> {
    let mut draft = turn.session().draft(MsgType::new(b"D"));
    draft.writer().bytes(Key::new(11), id.as_bytes());
    draft.send()
}

/// Writes News with a group of two entries, and a header field.
fn news(turn: &mut Turn<'_>) -> Result<Accepted, SendError> {
    let mut draft = turn.session().draft(MsgType::new(b"B"));
    let writer = draft.writer();
    writer.bytes(Key::new(57), b"DESK").bytes(Key::new(148), b"head").bytes(Key::new(61), b"0");
    let mut lines = writer.group(Key::new(33));
    for line in [b"one", b"two"] {
        writer.entry(&mut lines);
        writer.bytes(Key::new(58), line);
    }
    writer.end_group(lines);
    draft.send()
}

/// Returns the bytes that wait for the socket, a whole message with the right length and sum.
fn written(side: &mut Side<App>) -> String {
    let bytes = side.write(0, usize::MAX);
    let (mut tags, mut spans) = ([0; 64], [Span::default(); 64]);
    Index::new(&mut tags, &mut spans).build(Framed::try_new(&bytes).unwrap()).unwrap();
    String::from_utf8(bytes).unwrap().replace('\x01', "|")
}

#[test]
fn fields_are_added_to_header_and_body_and_changed_within_the_message() {
    let mut side = logged_on(|message| {
        assert_eq!((message.session_id().target_comp_id(), message.msg_type()), ("A", &b"B"[..]));
        assert!(!message.is_of_session_layer());
        assert_eq!((message.get(Tag::new(148)), message.get(Tag::new(1))), (Some(&b"head"[..]), None));
        message.set(Key::new(148), b"a longer headline").set(Key::new(61), b"2").set(Key::new(57), b"D");
        message.set(Key::new(115), b"FIRM").set_field(Key::new(5000), &7_u64);
        message.writer().data(DataKey::new(95, 96), b"a\x01b");
        assert_eq!(message.get(Tag::new(96)), Some(&b"a\x01b"[..]));
        Ok(())
    });
    assert_eq!(side.act(0, news), Ok(Accepted::Numbered(SeqNum(2))));
    let sent = written(&mut side);
    let (header, body) = sent.split_once("|148=").unwrap();
    assert!(header.ends_with("|57=D|115=FIRM"), "{sent}");
    assert!(body.starts_with("a longer headline|61=2|33=2|58=one|58=two|5000=7|95=3|96=a|b|10="), "{sent}");
}

#[test]
fn a_message_that_is_refused_uses_no_number_and_leaves_nothing_of_its_turn() {
    let mut side = logged_on(|message| match message.get(Tag::new(11)) {
        Some(b"no") => Err("not today"),
        _ => Ok(()),
    });
    let refused = side.act(0, |turn| {
        order(turn, "yes")?;
        order(turn, "no")
    });
    assert_eq!(refused, Err(SendError::Application("not today")));
    assert_eq!(side.numbers(0), Some((SeqNum(2), SeqNum(2))));
    // The application may go on.
    let sent = side.act(0, |turn| order(turn, "no").or_else(|_| order(turn, "instead")));
    assert_eq!(sent, Ok(Accepted::Numbered(SeqNum(2))));
    assert!(written(&mut side).contains("|11=instead|"));
}

#[test]
fn what_cannot_be_set_makes_the_sending_fail() {
    use EncodeErrorKind::{DataLength, Duplicate, Empty, SessionField, Soh};
    for (tag, value, kind) in [
        (34, "9", SessionField),
        (58, "three", Duplicate),
        (148, "", Empty),
        (148, "a\x01b", Soh),
        (1, "a\x01b", Soh),
        (96, "a", DataLength),
        (95, "1", DataLength),
    ] {
        let mut side = logged_on(move |message| {
            message.set(Key::new(tag), value.as_bytes());
            Ok(())
        });
        let error = EncodeError::new(Tag::new(tag), kind);
        assert_eq!(side.act(0, news), Err(SendError::Encode(error)), "{tag}={value}");
        assert_eq!(side.numbers(0), Some((SeqNum(2), SeqNum(2))));
    }
}

#[test]
fn a_message_that_is_too_large_afterwards_is_refused() {
    let mut side = logged_on(|message| {
        message.set(Key::new(148), &[b'x'; 100_000]);
        Ok(())
    });
    let refused = side.act(0, news);
    assert!(matches!(refused, Err(SendError::TooLarge { .. } | SendError::BackPressure)), "{refused:?}");
}

#[test]
fn messages_are_seen_once_also_if_they_wait_or_are_sent_again() {
    let count = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&count);
    let throttled = |s: &mut SessionSettings| s.throttle.max_outbound_rate = Some("1/1000".parse().unwrap());
    let mut side = with(throttled, move |message| {
        if message.msg_type() == b"D" {
            let n = seen.fetch_add(1, Ordering::Relaxed) + 1;
            message.set_field(Key::new(5000), &n);
        }
        Ok(())
    });
    side.act(0, |turn| order(turn, "a")).unwrap();
    assert!(written(&mut side).contains("|11=a|5000=1|"));
    let waits = side.act(0, |turn| order(turn, "b"));
    assert!(matches!(waits, Ok(Accepted::Waits(_))), "{waits:?}");
    assert_eq!(count.load(Ordering::Relaxed), 2);
    side.pass(Duration::from_secs(2));
    side.wake(0, &[]);
    assert!(written(&mut side).contains("|11=b|5000=2|"));
    let again = side.say(0, "35=2|34=2|7=2|16=0|").join("");
    assert!(again.contains("5000=1|") && again.contains("5000=2|"), "{again}");
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

#[test]
fn the_session_layers_messages_are_seen_and_what_they_have_is_not_changed() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&seen);
    let mut side = logged_on(move |message| {
        all.lock().unwrap().push(String::from_utf8_lossy(message.msg_type()).into_owned());
        assert!(message.is_of_session_layer());
        message.set(Key::new(5000), b"x");
        if message.get(Tag::new(112)) == Some(b"change") {
            message.set(Key::new(112), b"changed");
        }
        Ok(())
    });
    side.tell(0, "35=1|34=2|112=ping|");
    assert!(written(&mut side).contains("|112=ping|5000=x|"));
    side.tell(0, "35=1|34=3|112=change|");
    let error = EncodeError::new(Tag::new(112), EncodeErrorKind::Duplicate);
    let end = side.disconnect(0);
    assert_eq!(end, Some(SessionEnd::Unanswerable(Box::new(SendError::Encode(error)))));
    assert_eq!(*seen.lock().unwrap(), ["0", "0"]);
}

#[test]
fn a_message_of_the_session_layer_that_is_refused_ends_the_connection_and_so_does_a_panic() {
    for panics in [false, true] {
        let mut side = logged_on(move |message| {
            assert!(!panics || !message.is_of_session_layer(), "a mistake");
            Err("no")
        });
        side.tell(0, "35=1|34=2|112=ping|");
        let end = side.disconnect(0);
        let Some(SessionEnd::Unanswerable(why)) = &end else { panic!("{end:?}") };
        let SendError::Application(why) = **why else { panic!("{end:?}") };
        assert_eq!(why == "no", !panics, "{why}");
    }
}

#[test]
fn a_secret_that_is_added_is_masked() {
    let capture = Arc::new(Capture::default());
    let masked = |s: &mut SessionSettings| s.masked_tags.push(5000);
    let mut side = with(masked, |message| {
        message.set(Key::new(5000), b"secret");
        Ok(())
    })
    .observed_by(capture.clone());
    side.act(0, |turn| order(turn, "a")).unwrap();
    let shown = capture.take();
    assert!(shown.iter().all(|(_, _, text)| text.contains("5000=******")), "{shown:?}");
    assert!(written(&mut side).contains("5000=secret"));
}

#[test]
fn answers_of_a_callback_are_seen_and_a_rehearsal_is_not() {
    let count = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&count);
    let mut side = logged_on(move |_| {
        seen.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    assert!(side.warm_up(0));
    assert_eq!(count.load(Ordering::Relaxed), 0);
    side.app.message = Box::new(|_, turn| Ok(order(turn, "x").map(|_| Delivery::Done)?));
    side.say(0, "35=D|34=2|11=a|");
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[test]
fn a_body_that_does_not_fit_is_refused_for_that_and_is_not_seen() {
    let mut side = logged_on(|message| message.get(Tag::new(11)).map(drop).ok_or("nothing in it"));
    let body = [&b"11=big\x0158="[..], &[b'x'; 1_000_000], b"\x01"].concat();
    let refused = side.act(0, |turn| {
        let mut draft = turn.session().draft(MsgType::new(b"D"));
        let msg_type = MsgType::new(b"D");
        draft.writer().raw().body(&Body { msg_type, bytes: &body, sum: byte_sum(&body) });
        draft.send()
    });
    assert!(matches!(refused, Err(SendError::TooLarge { .. } | SendError::BackPressure)), "{refused:?}");
}

#[test]
fn what_a_full_message_of_the_session_layer_has_is_not_replaced_by_sending_it_in_brief() {
    let mut side = logged_on(|message| {
        message.set(Key::new(58), b"desk");
        Ok(())
    });
    // A Reject, which has a Text.
    side.tell(0, "35=D|34=2|=x|");
    let error = EncodeError::new(Tag::new(58), EncodeErrorKind::Duplicate);
    let end = side.disconnect(0);
    assert_eq!(end, Some(SessionEnd::Unanswerable(Box::new(SendError::Encode(error)))));
}

#[test]
fn a_field_of_a_body_that_was_copied_is_not_written_a_second_time() {
    let mut side = logged_on(|message| {
        message.writer().bytes(Key::new(11), b"again");
        Ok(())
    });
    let refused = side.act(0, |turn| {
        let mut draft = turn.session().draft(MsgType::new(b"D"));
        let (msg_type, bytes) = (MsgType::new(b"D"), b"11=a\x01");
        draft.writer().raw().body(&Body { msg_type, bytes, sum: byte_sum(bytes) });
        draft.send()
    });
    let error = EncodeError::new(Tag::new(11), EncodeErrorKind::Duplicate);
    assert_eq!(refused, Err(SendError::Encode(error)));
}

#[test]
fn nothing_is_set_within_data_of_a_dialect_that_no_dictionary_has() {
    let mut side = logged_on(|message| {
        message.set(Key::new(58), b"longer");
        Ok(())
    });
    side.act(0, |turn| {
        let mut draft = turn.session().draft(MsgType::new(b"B"));
        draft.writer().data(DataKey::of_dialect(20_001, 20_002), b"a\x0158=b").bytes(Key::new(148), b"h");
        draft.send()
    })
    .unwrap();
    let bytes = String::from_utf8(side.write(0, usize::MAX)).unwrap().replace('\x01', "|");
    assert!(bytes.contains("|20001=6|20002=a|58=b|148=h|58=longer|10="), "{bytes}");
}

#[test]
fn what_the_session_says_of_itself_is_not_added() {
    // LastMsgSeqNumProcessed, if the session sends it.
    let mut side = with(
        |s| s.resend.enable_last_msg_seq_num_processed = true,
        |message| {
            message.set(Key::new(369), b"5");
            Ok(())
        },
    );
    let error = EncodeError::new(Tag::new(369), EncodeErrorKind::SessionField);
    assert_eq!(side.act(0, |turn| order(turn, "a")), Err(SendError::Encode(error)));
    // ResetSeqNumFlag of a Logon, with which nothing would be reset here.
    for by_writer in [false, true] {
        let settings = settings("A", Role::Initiator);
        let mut side = Side::with_app(App::default(), vec![settings]).before_send(
            move |message: &mut Outgoing<'_, '_>| {
                if by_writer {
                    message.writer().bytes(Key::new(141), b"Y");
                } else {
                    message.set(Key::new(141), b"Y");
                }
                Ok(())
            },
        );
        side.connect(0);
        let end = side.disconnect(0);
        let error = EncodeError::new(Tag::new(141), EncodeErrorKind::SessionField);
        assert_eq!(end, Some(SessionEnd::Unanswerable(Box::new(SendError::Encode(error)))));
    }
}
