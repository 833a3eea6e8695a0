//! A Logon that is signed instead of having a password: the trader adds the signature when the
//! Logon is sent, and the venue checks it before it looks at anything else.
//!
//! What is signed depends on the venue. Here it is MsgSeqNum (34), SenderCompID (49), SendingTime
//! (52), TargetCompID (56) and Username (553), separated by line feeds, with HMAC-SHA256. The
//! signature is in RawData (96), in base64 for URLs. The key is never sent.
//!
//! ```sh
//! cargo run -p fixbolt --example signed_logon
//! ```

use fixbolt::codec::{BodyWriter, DataKey, Key, Message, Precision, UtcTimestamp};
use fixbolt::session::{
    Application, Delivery, Failure, LogonDecision, Phase, Role, Secret, SessionSettings, Turn,
};
use fixbolt::testing::Pair;

const RAW_DATA: DataKey = DataKey::new(95, 96);
const USERNAME: Key = Key::new(553);

/// Signs its Logons.
struct Trader {
    access_key: String,
    secret: Secret,
}

impl Application for Trader {
    fn on_sending_logon(&mut self, logon: &mut BodyWriter<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        let id = turn.session_id();
        // SendingTime of what is written now is the time of the turn.
        let time = UtcTimestamp::from_unix_nanos(turn.now().utc.0, Precision::Millis);
        let [seq, time] = [turn.next_out().to_string(), time.to_string()];
        let fields = [&seq, id.sender_comp_id(), &time, id.target_comp_id(), &self.access_key];
        let signature = sign(&self.secret, &fields.map(str::as_bytes));
        logon.data(RAW_DATA, signature.as_bytes()).bytes(USERNAME, self.access_key.as_bytes());
        Ok(())
    }

    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        Ok(Delivery::UNSUPPORTED)
    }
}

/// Checks the signatures of Logons.
struct Venue {
    secret: Secret,
}

impl Application for Venue {
    fn on_logon(&mut self, logon: Message<'_>, _: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        let get = |tag: u32| logon.get(tag).unwrap_or_default();
        let expected = sign(&self.secret, &[34, 49, 52, 56, 553].map(get));
        Ok(match is_equal(expected.as_bytes(), get(96)) {
            true => LogonDecision::Accept,
            false => LogonDecision::RefuseSilently,
        })
    }

    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        Ok(Delivery::UNSUPPORTED)
    }
}

/// Returns the signature of these values.
fn sign(secret: &Secret, values: &[&[u8]]) -> String {
    base64_url(&hmac_sha256::HMAC::mac(values.join(&b'\n'), secret.expose()))
}

/// Compares all bytes, so that the time it takes does not tell how many are right.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// Returns bytes in base64 for URLs, without padding (RFC 4648, section 5).
fn base64_url(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, n| bits << 8 | usize::from(chunk.get(n).copied().unwrap_or(0)));
        for n in 0..=chunk.len() {
            text.push(char::from(DIGITS[bits >> (18 - 6 * n) & 63]));
        }
    }
    text
}

/// Logs a trader on with this secret, twice in succession. Returns whether the venue, which may
/// know another one, has accepted both Logons.
fn log_on(secret: &str, change: impl Fn(&mut SessionSettings)) -> Result<bool, Box<dyn std::error::Error>> {
    let settings =
        |id: &str, role| Ok::<_, Box<dyn std::error::Error>>(SessionSettings::new(id.parse()?, role));
    let mut trader = settings("FIX.4.4:TRADER->VENUE", Role::Initiator)?;
    change(&mut trader);
    let venue = settings("FIX.4.4:VENUE->TRADER", Role::Acceptor)?;
    let signs = Trader { access_key: "K-1".to_owned(), secret: secret.into() };
    let mut pair = Pair::new((trader, signs), (venue, Venue { secret: "correct horse".into() }))?;
    let mut all = true;
    for _ in 0..2 {
        pair.connect();
        all &= pair.initiator.phase() == Phase::LoggedOn;
        pair.disconnect();
    }
    Ok(all)
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    assert_eq!(base64_url(b"\xff\xef\xfe~"), "_-_-fg");
    assert!(log_on("correct horse", |_| {})?);
    assert!(log_on("correct horse", |trader| trader.reset.reset_on_logon = true)?);
    assert!(!log_on("battery", |_| {})?);
    println!("the venue has accepted the Logons that were signed with its secret, and no other");
    Ok(())
}
