//! Keys from standard input, each at once if that is a terminal.

use std::io::{IsTerminal, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Reads keys. On a terminal they are not displayed by it; its settings are restored at the end.
pub(super) struct Keys {
    bytes: Receiver<u8>,
    before: Option<Termios>,
    /// The number that is being typed.
    typed: Option<String>,
}

/// A key, or its absence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Key {
    Is(char),
    /// None was pressed in time.
    None,
    /// There will be no more.
    End,
}

impl Keys {
    /// Begins to read.
    pub(super) fn read() -> Self {
        let stdin = std::io::stdin();
        let before = if stdin.is_terminal() { tcgetattr(&stdin).ok() } else { None };
        if let Some(before) = &before {
            let mut now = before.clone();
            now.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            // If the terminal refuses, keys need Enter after them.
            let _ = tcsetattr(&stdin, OptionalActions::Now, &now);
        }
        let (to, bytes) = channel();
        // It ends with the process: nothing else ends a read from a terminal.
        std::thread::spawn(move || {
            for byte in std::io::stdin().lock().bytes() {
                let Ok(byte) = byte else { return };
                if to.send(byte).is_err() {
                    return;
                }
            }
        });
        Self { bytes, before, typed: None }
    }

    /// Returns whether keys come from a terminal.
    pub(super) const fn is_terminal(&self) -> bool {
        self.before.is_some()
    }

    /// Waits for a key for at most `limit`. Ends of lines are none.
    pub(super) fn next(&self, limit: Duration) -> Key {
        match self.bytes.recv_timeout(limit) {
            Ok(b'\n' | b'\r') | Err(RecvTimeoutError::Timeout) => Key::None,
            Ok(byte) => Key::Is(char::from(byte)),
            Err(RecvTimeoutError::Disconnected) => Key::End,
        }
    }

    /// Asks for a number. `next_number` then returns it.
    pub(super) fn ask(&mut self, question: &str) {
        self.typed = Some(String::new());
        display(question);
    }

    /// Returns whether a number is being typed.
    pub(super) const fn is_asking(&self) -> bool {
        self.typed.is_some()
    }

    /// Waits for a key of the number for at most `limit`. Returns the number, or what was typed
    /// instead of one, once it is complete.
    pub(super) fn next_number(&mut self, limit: Duration) -> Option<Result<u32, String>> {
        let typed = self.typed.as_mut()?;
        match self.bytes.recv_timeout(limit) {
            Err(RecvTimeoutError::Timeout) => return None,
            Ok(byte) if !matches!(byte, b'\n' | b'\r') => {
                let is_terminal = self.before.is_some();
                match byte {
                    // Backspace.
                    0x08 | 0x7f if typed.pop().is_some() && is_terminal => display("\x08 \x08"),
                    0x08 | 0x7f => {}
                    byte if byte.is_ascii_graphic() && typed.len() < 20 => {
                        typed.push(char::from(byte));
                        if is_terminal {
                            display(&char::from(byte).to_string());
                        }
                    }
                    _ => {}
                }
                return None;
            }
            Ok(_) | Err(RecvTimeoutError::Disconnected) => {}
        }
        display("\n");
        let typed = self.typed.take()?;
        Some(typed.parse().ok().filter(|number| *number > 0).ok_or(typed))
    }
}

/// Displays text without ending the line. A reader that has gone away is noticed elsewhere.
fn display(text: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}
