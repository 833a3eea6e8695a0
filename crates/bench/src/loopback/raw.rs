//! The floor: the bytes of an order and its report over TCP, without an engine.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::thread::JoinHandle;

use fixbolt::Waiting as EngineWaiting;
use fixbolt_workloads::harness::{Clock as _, Control, Monotonic, Piece, Recorder, Task};
use mio::{Events, Interest, Poll, Token};

use super::layout::{self, Layout};

/// What is said beside a floor that is slower than what stands on it.
pub(super) const SLOWER: &str = "raw TCP is slower than Fixbolt in a row here: where threads sleep between messages, most of a round trip is waking them. Those of raw TCP have nothing else to do and sleep sooner, and a core that has slept for longer may take longer to wake. Rows in which nobody sleeps (spinning) compare the work.";

/// How the threads of a raw connection wait for bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RawWaiting {
    /// They read again and again.
    Spin,
    /// They wait for an event, then read.
    Epoll,
    /// They wait in the read.
    Blocking,
}

impl RawWaiting {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Spin => "spinning",
            Self::Epoll => "epoll",
            Self::Blocking => "blocking",
        }
    }

    /// Returns how raw threads wait in the way of an engine's workers.
    pub(super) const fn of(layout: Layout) -> Self {
        match layout.waiting {
            EngineWaiting::Spinning => Self::Spin,
            _ => Self::Epoll,
        }
    }
}

/// A socket and how to wait for it.
struct Socket {
    stream: mio::net::TcpStream,
    waiting: RawWaiting,
    events: Option<(Poll, Events)>,
    /// Whether the socket had nothing left after the last read.
    is_empty: bool,
    buffer: Vec<u8>,
    /// Where the bytes are that were received and not yet returned.
    begin: usize,
    end: usize,
}

impl Socket {
    fn new(stream: TcpStream, waiting: RawWaiting) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(waiting != RawWaiting::Blocking)?;
        let mut stream = mio::net::TcpStream::from_std(stream);
        let events = if waiting == RawWaiting::Epoll {
            let poll = Poll::new()?;
            poll.registry().register(&mut stream, Token(0), Interest::READABLE)?;
            Some((poll, Events::with_capacity(8)))
        } else {
            None
        };
        Ok(Self { stream, waiting, events, is_empty: false, buffer: vec![0; 64 << 10], begin: 0, end: 0 })
    }

    /// Reads `into` full; returns `false` at the end of the connection.
    fn read(&mut self, into: &mut [u8]) -> io::Result<bool> {
        while self.end - self.begin < into.len() {
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
            if self.is_empty
                && let Some((poll, events)) = &mut self.events
            {
                poll.poll(events, None)?;
            }
            let free = &mut self.buffer[self.end..];
            let room = free.len();
            match self.stream.read(free) {
                Ok(0) => return Ok(false),
                Ok(read) => {
                    self.end += read;
                    // A short read means that nothing is left; an event follows what comes later.
                    self.is_empty = read < room;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.is_empty = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        into.copy_from_slice(&self.buffer[self.begin..self.begin + into.len()]);
        self.begin += into.len();
        Ok(true)
    }

    /// Writes all of `bytes`: few enough for the system's buffer, or blocking.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error)
                    if self.waiting != RawWaiting::Blocking && error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Orders out, reports back: an order's bytes are written, another thread answers each with a
/// report's bytes, which are compared.
pub(super) struct Raw {
    client: Socket,
    /// Keeps the connection open while another thread reads from it.
    end: TcpStream,
    server: Option<JoinHandle<io::Result<()>>>,
    reader: Option<JoinHandle<Result<(), String>>>,
    /// Whether a thread of its own reads the reports, as in an open loop.
    reads_apart: bool,
    /// The core of that thread.
    reader_core: Option<usize>,
    order: Vec<u8>,
    report: Vec<u8>,
    received: Vec<u8>,
    recorder: Option<Recorder>,
    /// Whether everything ends, and how it is told to this measurement.
    ends: Option<(Control, Control)>,
}

impl Raw {
    /// Connects two threads that exchange these bytes: the one that calls this and another. With
    /// `reads_apart`, a third one reads the reports.
    pub(super) fn new(
        (order, report): (Vec<u8>, Vec<u8>),
        waiting: RawWaiting,
        core: Option<usize>,
        reads_apart: bool,
    ) -> Result<Self, String> {
        let connected = || -> io::Result<Self> {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let client = TcpStream::connect(listener.local_addr()?)?;
            let server = listener.accept()?.0;
            let (answer, order_len) = (report.clone(), order.len());
            let server = std::thread::Builder::new().name("raw-server".to_owned()).spawn(move || {
                if let Some(core) = core {
                    layout::run_on(&[core]).map_err(io::Error::other)?;
                }
                let mut socket = Socket::new(server, waiting)?;
                let mut received = vec![0; order_len];
                while socket.read(&mut received)? {
                    socket.write(&answer)?;
                }
                Ok(())
            })?;
            let end = client.try_clone()?;
            Ok(Self {
                client: Socket::new(client, waiting)?,
                end,
                server: Some(server),
                reader: None,
                reads_apart,
                reader_core: None,
                received: vec![0; report.len()],
                order: order.clone(),
                report: report.clone(),
                recorder: None,
                ends: None,
            })
        };
        connected().map_err(|error| format!("raw TCP: {error}"))
    }
}

impl Raw {
    /// Pins the thread that reads the reports to a core.
    pub(super) fn reading_on(self, core: Option<usize>) -> Self {
        Self { reader_core: core, ..self }
    }

    /// Has `all`, which has a progress of its own, end this measurement as well.
    pub(super) fn ending_with(self, all: &Control, this: &Control) -> Self {
        Self { ends: Some((all.clone(), this.clone())), ..self }
    }
}

fn broken(error: io::Error) -> String {
    format!("raw TCP: {error}")
}

const WRONG: &str = "raw TCP: the report's bytes are not those that were sent";

impl Task for Raw {
    fn init(&mut self, recorder: &Recorder) -> Result<(), String> {
        self.recorder = Some(recorder.clone());
        if !self.reads_apart {
            return Ok(());
        }
        let stream = self.end.try_clone().map_err(broken)?;
        let mut socket = Socket::new(stream, self.client.waiting).map_err(broken)?;
        let (report, recorder, core) = (self.report.clone(), recorder.clone(), self.reader_core);
        let read = move || {
            if let Some(core) = core {
                layout::run_on(&[core])?;
            }
            let mut received = vec![0; report.len()];
            // TCP keeps the order.
            for number in 0.. {
                if !socket.read(&mut received).map_err(broken)? {
                    break;
                }
                recorder.finish(number, Monotonic.now());
                if received != report {
                    return Err(WRONG.to_owned());
                }
            }
            Ok(())
        };
        let reader = std::thread::Builder::new().name("raw-reader".to_owned()).spawn(read).map_err(broken)?;
        self.reader = Some(reader);
        Ok(())
    }

    fn run(&mut self, piece: Piece) -> Result<(), String> {
        self.client.write(&self.order).map_err(broken)?;
        if self.reads_apart {
            return Ok(());
        }
        if !self.client.read(&mut self.received).map_err(broken)? || self.received != self.report {
            return Err(WRONG.to_owned());
        }
        if let Some(recorder) = &self.recorder {
            recorder.finish(piece.number, Monotonic.now());
        }
        if let Some((all, this)) = &self.ends
            && all.is_stopped()
        {
            this.stop();
        }
        Ok(())
    }

    fn complete(&mut self) -> Result<(), String> {
        // Both threads see the end of the connection.
        self.end.shutdown(Shutdown::Both).map_err(broken)?;
        let read = self.reader.take().map_or(Ok(Ok(())), JoinHandle::join);
        let answered = self.server.take().map_or(Ok(Ok(())), JoinHandle::join);
        let died = || "raw TCP: a thread has died".to_owned();
        match answered.map_err(|_| died())? {
            // Whoever shuts down first is not told of in time.
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => return Err(broken(error)),
            _ => {}
        }
        read.map_err(|_| died())?
    }
}
