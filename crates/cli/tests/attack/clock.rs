//! A clock that is set back between two runs.
//!
//! The test cannot set the clock. It changes the times in the journal instead, as docs/journal.md
//! describes it, so that what was sent was sent later than now.

use crate::message::{self, with_trailer};
use crate::peer::Peer;
use crate::server::Setup;

const HEADER: usize = 80;

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[..4].try_into().expect("there are four"))
}

/// Continues a CRC32C.
fn crc32c(before: u32, bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!before, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 })
    })
}

/// Sets SendingTime in every outbound record of a segment. Returns how many there were.
fn set_sending_time(segment: &mut [u8], time: &str) -> u32 {
    let salt = number(&segment[56..]);
    let (mut at, mut changed) = (512, 0);
    while segment[at..].starts_with(b"FXR") {
        let length = number(&segment[at + 4..]) as usize;
        let (header, rest) = segment[at..].split_at_mut(HEADER);
        let body = &mut rest[..length];
        let checksum =
            |header: &[u8], body: &[u8]| crc32c(crc32c(crc32c(salt, body), &header[..8]), &header[12..]);
        assert_eq!(checksum(header, body), number(&header[8..]), "the format is as documented");
        if header[12] == 2 {
            let place = body.windows(4).position(|bytes| bytes == b"\x0152=").expect("it has the time") + 4;
            body[place..place + time.len()].copy_from_slice(time.as_bytes());
            let whole = with_trailer(body[..length - 7].to_vec());
            body.copy_from_slice(&whole);
            let sum = checksum(header, body);
            header[8..12].copy_from_slice(&sum.to_le_bytes());
            changed += 1;
        }
        at += (HEADER + length).next_multiple_of(8);
    }
    changed
}

#[test]
fn what_is_sent_again_after_the_clock_went_back_is_not_older_than_its_original() {
    let server = Setup::new().start();
    let mut good = Peer::connect(&server.address, "GOOD");
    assert_eq!(good.log_on("98=0|108=30").map(|answer| answer.kind()).as_deref(), Some("A"));
    for order in 0..3 {
        good.round_trip(&format!("o{order}"));
    }
    let next = good.next;
    drop(good);
    let (_, setup) = server.stop();
    let path = setup.journal().join("FIX.4.4-VENUE-GOOD/segment-000001");
    let mut segment = std::fs::read(&path).expect("it can be read");
    let later = message::time(60);
    assert!(set_sending_time(&mut segment, &later) >= 4, "a Logon and three reports");
    std::fs::write(&path, segment).expect("it can be written");

    let server = setup.start();
    let mut good = Peer::connect(&server.address, "GOOD");
    good.next = next;
    assert_eq!(good.log_on("98=0|108=30").map(|answer| answer.kind()).as_deref(), Some("A"));
    good.send("35=2|7=1|16=0").expect("the connection is open");
    for _ in 0..3 {
        let report = good.next_of("8").expect("a report comes").expect("the connection is open");
        let (original, sent) =
            (report.get("122").expect("it is a copy"), report.get("52").expect("required"));
        assert_eq!(report.get("43").as_deref(), Some("Y"), "{report:?}");
        assert_eq!(original, later, "{report:?}");
        assert!(sent >= original, "{report:?}");
    }
}
