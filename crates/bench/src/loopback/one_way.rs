//! The floor of a stream: as many bytes over raw TCP, from one thread to another.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use fixbolt_codec::SeqNum;
use fixbolt_workloads::clock::process_time;
use fixbolt_workloads::harness::{Clock as _, Monotonic};
use mio::{Events, Interest, Poll, Token};

use super::exchange::raw_at;
use super::jlbh::Jlbh;

/// Connections over which as many bytes flow.
pub(super) struct OneWay {
    writers: Vec<TcpStream>,
    poll: Poll,
    events: Events,
    readers: Vec<mio::net::TcpStream>,
    /// Messages one after the other: at most 64 KiB, and at most a connection's share.
    chunk: Vec<u8>,
    size: usize,
    buffer: Vec<u8>,
}

impl OneWay {
    /// Connects this many sessions, each of which has `share` messages in a slice: all as long as
    /// order `number` of a session.
    pub(super) fn connect(sessions: usize, share: u64, number: u64) -> Result<Self, String> {
        // The first MsgSeqNum is the Logon's.
        let (message, _) = raw_at(&Jlbh::varying(), SeqNum(number + 2), (number, number))?;
        let connected = || -> io::Result<Self> {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let poll = Poll::new()?;
            let (mut writers, mut readers) = (Vec::new(), Vec::new());
            for n in 0..sessions {
                let writer = TcpStream::connect(listener.local_addr()?)?;
                writer.set_nodelay(true)?;
                let reader = listener.accept()?.0;
                reader.set_nonblocking(true)?;
                let mut reader = mio::net::TcpStream::from_std(reader);
                poll.registry().register(&mut reader, Token(n), Interest::READABLE)?;
                writers.push(writer);
                readers.push(reader);
            }
            let most = (64 << 10) / message.len();
            let chunk = message.repeat(usize::try_from(share).map_or(most, |share| share.min(most)));
            let (events, buffer) = (Events::with_capacity(1024), vec![0; 64 << 10]);
            Ok(Self { writers, poll, events, readers, chunk, size: message.len(), buffer })
        };
        connected().map_err(|error| format!("raw TCP: {error}"))
    }

    /// Writes and reads this many messages; returns the nanoseconds and the process's CPU time that
    /// this took.
    pub(super) fn slice(&mut self, messages: u64) -> Result<(u64, Duration), String> {
        let Self { writers, poll, events, readers, chunk, size, buffer } = self;
        let bytes = messages * *size as u64;
        let cpu = process_time();
        let elapsed = std::thread::scope(|scope| -> io::Result<u64> {
            // Returns when it began: the time that a thread takes to start is not the bytes'.
            let writing = scope.spawn(|| -> io::Result<u64> {
                let (begin, mut left) = (Monotonic.now(), bytes);
                for mut writer in writers.iter().cycle() {
                    let len = left.min(chunk.len() as u64);
                    if len == 0 {
                        break;
                    }
                    writer.write_all(&chunk[..len as usize])?;
                    left -= len;
                }
                Ok(begin)
            });
            let mut read = 0;
            while read < bytes {
                poll.poll(events, None)?;
                for event in events.iter() {
                    let reader = &mut readers[event.token().0];
                    loop {
                        match reader.read(buffer) {
                            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                            Ok(len) => read += len as u64,
                            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                            Err(error) => return Err(error),
                        }
                    }
                }
            }
            let end = Monotonic.now();
            let begin = writing.join().map_err(|_| io::Error::other("the writing thread has died"))??;
            Ok(end.saturating_sub(begin))
        })
        .map_err(|error| format!("raw TCP: {error}"))?;
        Ok((elapsed, process_time().saturating_sub(cpu)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_connections_carry_as_many_messages_as_sessions_and_as_long_ones() {
        let raw = OneWay::connect(100, 50, 25).unwrap();
        assert_eq!(raw.chunk.len(), 50 * raw.size);
        let order = raw.chunk[..raw.size].escape_ascii().to_string();
        assert!(order.contains("\\x0134=27\\x01") && order.contains("\\x0111=25\\x01"), "{order}");
        assert!(OneWay::connect(1, 50_000, 25_000).unwrap().chunk.len() <= 64 << 10);
    }
}
