//! TLS between a socket and a session: bytes in, bytes out, one read and one write a call.
//!
//! A handshake reads whole records before anything is computed: [`TlsStream::fill`] reads,
//! [`TlsStream::step`] computes, and needs no socket, so another thread may call it.
//!
//! Every buffer is bounded: what was read and not decrypted by [`INCOMING`], what was decrypted and
//! what is encrypted by the library's limits (16 KiB, and [`OUTGOING`]).

use std::io::{self, Read, Write};

use rustls::{AlertDescription, Connection as Tls, Error, HandshakeKind};

use fixbolt_session::TlsFailure;

use super::certificate::of_peer;
use super::explain::explain;
use super::peer::PeerCertificate;

/// The most bytes that one read takes from a socket: a full record.
const INCOMING: usize = 17 * 1024;
/// How much is encrypted at most before the socket takes it, in bytes.
const OUTGOING: usize = 64 * 1024;
/// The first byte of a FIX message, `8=`, which begins no record of TLS.
const BEGIN_STRING: u8 = b'8';
/// The length of a record's header, and the kinds of records.
const HEADER: usize = 5;
const RECORDS: core::ops::RangeInclusive<u8> = 20..=23;
const HANDSHAKE: u8 = 22;
/// The first byte of a handshake's record after its header: a ClientHello.
const CLIENT_HELLO: u8 = 1;
/// The kind of a record that has an alert.
const ALERT: u8 = 21;

/// The TLS side of a connection.
#[derive(Debug)]
pub(crate) struct TlsStream {
    tls: Tls,
    /// Bytes from the socket that the library has not taken.
    incoming: Box<[u8]>,
    start: usize,
    end: usize,
    /// Whether anything was received.
    began: bool,
    /// Whether the socket has ended.
    ended: bool,
    /// Whether the counterparty has said goodbye in place of its part of the handshake.
    left: bool,
    progress: Progress,
    failure: Option<TlsFailure>,
}

/// What the steps of an acceptor's handshake have cost so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progress {
    /// No step was computed.
    Begins,
    /// Some were, at next to no cost: a part of a hello, or one that was answered with the request
    /// for another one (HelloRetryRequest). Whoever connects may have as many.
    Hears,
    /// The last one has answered with our signature.
    Signs,
    /// An earlier one has.
    HasSigned,
}

/// The outcome of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Decrypted {
    /// The number of bytes.
    pub(crate) count: usize,
    /// Whether there may be more without another event of the socket.
    pub(crate) more: bool,
    /// Whether nothing will follow.
    pub(crate) end: bool,
}

impl TlsStream {
    pub(super) fn new(mut tls: Tls) -> Self {
        tls.set_buffer_limit(Some(OUTGOING));
        let incoming = vec![0; INCOMING].into_boxed_slice();
        Self {
            tls,
            incoming,
            start: 0,
            end: 0,
            began: false,
            ended: false,
            left: false,
            progress: Progress::Begins,
            failure: None,
        }
    }

    /// Reads once from the socket, during a handshake. Returns whether there may be more without
    /// another event of the socket.
    pub(crate) fn fill(&mut self, socket: &mut impl Read, is_last: bool) -> bool {
        // What is left of the last step.
        self.incoming.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let free = &mut self.incoming[self.end..];
        if free.is_empty() {
            return true;
        }
        let room = free.len();
        loop {
            match socket.read(free) {
                Ok(0) => self.note_end(),
                Ok(bytes) => {
                    self.end += bytes;
                    self.note_begin();
                    return is_last || bytes == room;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => self.note_end(),
            }
            return false;
        }
    }

    /// Returns whether enough was read for a step of the handshake.
    pub(crate) fn has_step(&self) -> bool {
        self.failure.is_none() && self.tls.is_handshaking() && self.next_record().is_some()
    }

    /// Returns whether the first step has what a client begins with: a whole ClientHello, in one
    /// record.
    pub(crate) fn has_hello(&self) -> bool {
        let Some(length) = self.next_record().filter(|_| self.progress == Progress::Begins) else {
            return false;
        };
        match &self.incoming[self.start..self.start + length] {
            [HANDSHAKE, _, _, _, _, CLIENT_HELLO, high, middle, low, hello @ ..] => {
                u32::from_be_bytes([0, *high, *middle, *low]) as usize <= hello.len()
            }
            _ => false,
        }
    }

    /// Returns whether an acceptor has answered with its signature, which costs more than all else.
    pub(crate) const fn has_signed(&self) -> bool {
        matches!(self.progress, Progress::Signs | Progress::HasSigned)
    }

    /// Returns whether it has done so in the last step.
    pub(crate) const fn has_just_signed(&self) -> bool {
        matches!(self.progress, Progress::Signs)
    }

    /// Computes what there is to answer to the records that were read, until the handshake is done.
    /// This may take milliseconds, for a signature.
    pub(crate) fn step(&mut self) {
        while self.failure.is_none()
            && self.tls.is_handshaking()
            && let Some(length) = self.next_record()
        {
            let record = &self.incoming[self.start..self.start + length];
            // close_notify, which the library ignores, because it is not authenticated. Neither is
            // the end of the connection, which it announces.
            if matches!(record, [ALERT, _, _, 0, 2, _, 0]) {
                self.left = true;
                self.failure = Some(explain(&Error::AlertReceived(AlertDescription::CloseNotify)));
            }
            let until = self.start + length;
            while self.start < until && self.failure.is_none() {
                let before = self.start;
                self.decrypt_until(until);
                if self.start == before && self.failure.is_none() {
                    self.failure =
                        Some(TlsFailure::Protocol { reason: "the handshake does not go on".to_owned() });
                }
            }
        }
        self.progress = match (self.has_signed(), self.is_answered()) {
            (true, _) => Progress::HasSigned,
            (false, true) => Progress::Signs,
            (false, false) => Progress::Hears,
        };
    }

    /// Returns whether a hello was answered, with more than the request for another one.
    fn is_answered(&self) -> bool {
        match self.tls.handshake_kind() {
            None => false,
            // It is known with the request, and the group with the answer to the second hello.
            Some(HandshakeKind::FullWithHelloRetryRequest) => {
                self.tls.negotiated_key_exchange_group().is_some()
            }
            Some(_) => true,
        }
    }

    /// Returns the length of the record that was read and is next in a handshake: once it is
    /// complete, or can be none.
    fn next_record(&self) -> Option<usize> {
        let bytes = &self.incoming[self.start..self.end];
        let [kind, major, _, high, low, ..] = bytes else { return None };
        let length = HEADER + usize::from(u16::from_be_bytes([*high, *low]));
        if !RECORDS.contains(kind) || *major != 3 || length > self.incoming.len() {
            // The library says what is wrong.
            return Some(bytes.len());
        }
        (length <= bytes.len()).then_some(length)
    }

    /// Reads once from the socket, unless what was read before fills `into`. Decrypted bytes come
    /// before the end, or the failure, that follows them. `is_last` says that the socket's end may
    /// follow the bytes that it has.
    pub(crate) fn receive(&mut self, socket: &mut impl Read, into: &mut [u8], is_last: bool) -> Decrypted {
        let (mut count, mut has_read, mut more) = (0, false, true);
        loop {
            count += self.take_decrypted(&mut into[count..]);
            if count == into.len() {
                return Decrypted { count, more: true, end: false };
            }
            if self.decrypt() {
                continue;
            }
            if self.ended || self.failure.is_some() {
                return Decrypted { count, more: count > 0, end: count == 0 };
            }
            if has_read || !more {
                return Decrypted { count, more, end: false };
            }
            has_read = true;
            match socket.read(&mut self.incoming) {
                Ok(0) => self.note_end(),
                Ok(bytes) => {
                    self.note_begin();
                    (self.start, self.end) = (0, bytes);
                    more = is_last || bytes == self.incoming.len();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => has_read = false,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => more = false,
                Err(_) => self.note_end(),
            }
        }
    }

    /// Takes what the library has decrypted.
    fn take_decrypted(&mut self, into: &mut [u8]) -> usize {
        // Without bytes there is an error: not now, or that the counterparty has said goodbye.
        self.tls.reader().read(into).unwrap_or(0)
    }

    /// Lets the library have some of the bytes that were read. Returns whether there were any.
    fn decrypt(&mut self) -> bool {
        if self.start == self.end || self.failure.is_some() {
            return false;
        }
        self.decrypt_until(self.end);
        true
    }

    /// Lets the library have some of the bytes that were read, up to this place.
    fn decrypt_until(&mut self, until: usize) {
        let mut bytes = &self.incoming[self.start..until];
        let before = bytes.len();
        let read = self.tls.read_tls(&mut bytes);
        self.start += before - bytes.len();
        let processed = self.tls.process_new_packets();
        match (read, processed) {
            (_, Err(error)) => self.failure = Some(explain(&error)),
            (Err(error), _) => self.failure = Some(TlsFailure::Protocol { reason: error.to_string() }),
            // The counterparty has said goodbye, and what follows is nothing.
            (Ok(_), Ok(state)) if state.peer_has_closed() => {
                self.note_end();
                self.start = self.end;
            }
            (Ok(_), Ok(_)) => {}
        }
    }

    fn note_begin(&mut self) {
        if !core::mem::replace(&mut self.began, true) && self.incoming.first() == Some(&BEGIN_STRING) {
            self.failure = Some(TlsFailure::PlainFix);
        }
    }

    fn note_end(&mut self) {
        self.ended = true;
        if self.tls.is_handshaking() && self.failure.is_none() {
            self.failure =
                Some(if self.began { TlsFailure::ClosedDuringHandshake } else { TlsFailure::ClosedAtBegin });
        }
    }

    /// Encrypts some bytes, and writes once. Returns how many were encrypted, and whether the
    /// socket may accept more.
    ///
    /// # Errors
    /// The socket's.
    pub(crate) fn send(&mut self, socket: &mut impl Write, bytes: &[u8]) -> io::Result<(usize, bool)> {
        if !self.flush(socket)? {
            return Ok((0, false));
        }
        let count = self.tls.writer().write(bytes)?;
        Ok((count, self.flush(socket)?))
    }

    /// Writes what is encrypted. Returns whether the socket has taken all of it.
    ///
    /// # Errors
    /// The socket's.
    pub(crate) fn flush(&mut self, socket: &mut impl Write) -> io::Result<bool> {
        while self.tls.wants_write() {
            match self.tls.write_tls(socket) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => return Ok(false),
                    _ => return Err(error),
                },
            }
        }
        Ok(true)
    }

    /// Returns whether something encrypted waits until the socket takes it.
    pub(crate) fn has_unsent(&self) -> bool {
        self.tls.wants_write()
    }

    /// Says goodbye, as far as the socket takes it: the counterparty knows then that nothing was
    /// cut off.
    pub(crate) fn say_goodbye(&mut self, socket: &mut impl Write) {
        if !self.tls.is_handshaking() && self.failure.is_none() {
            self.tls.send_close_notify();
        }
        // The connection ends in any case.
        let _ = self.flush(socket);
    }

    /// Returns whether the handshake is not done yet.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    /// Returns whether the counterparty has said goodbye in place of its part of the handshake.
    pub(crate) const fn peer_has_left(&self) -> bool {
        self.left
    }

    /// Returns why the connection was given up, if it was.
    pub(crate) fn failure(&self) -> Option<&TlsFailure> {
        self.failure.as_ref()
    }

    /// Returns the certificate of the counterparty, which was verified.
    pub(crate) fn peer(&self) -> Option<PeerCertificate> {
        if self.tls.is_handshaking() {
            return None;
        }
        of_peer(self.tls.peer_certificates()?.first()?)
    }
}
