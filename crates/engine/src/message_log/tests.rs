use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use fixbolt_session::{Application, Delivery, Failure, Role, SessionSettings, Turn};

use super::queue::MOST_BYTES;
use super::*;
use crate::testing::TestSession;

struct Venue;

impl Application for Venue {
    fn on_message(&mut self, _: fixbolt_codec::Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        Ok(Delivery::Done)
    }
}

/// A directory for one test, which is removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fixbolt-message-log-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("FIX.4.4-VENUE-TRADER.messages.log")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap_or_default()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A session that has logged on, with its messages in this log.
fn logged_on(log: &Arc<MessageLog>) -> TestSession<Venue> {
    logged_on_as("FIX.4.4:VENUE->TRADER", log)
}

fn logged_on_as(id: &str, log: &Arc<MessageLog>) -> TestSession<Venue> {
    let mut settings = SessionSettings::new(id.parse().unwrap(), Role::Acceptor);
    settings.masked_tags.push(554);
    let mut venue = TestSession::new(settings, Venue).unwrap().observed_by(Arc::clone(log) as _);
    venue.connect();
    venue.receive("35=A|98=0|108=30|553=desk|554=hunter2|");
    venue
}

fn eventually(mut done: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < give_up, "it never happened");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn each_message_is_a_line_with_its_time_and_secrets_are_masked() {
    let scratch = Scratch::new("format");
    let directory = scratch.0.join("new").join("log");
    let log = Arc::new(MessageLog::start(&directory).unwrap());
    let mut venue = logged_on(&log);
    venue.receive("35=1|112=ping|");
    drop((venue, log));
    let text = fs::read_to_string(directory.join("FIX.4.4-VENUE-TRADER.messages.log")).unwrap();
    let lines: Vec<String> = text.lines().map(|line| line.replace('\u{1}', "|")).collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    for line in &lines {
        assert!(line.starts_with("20260105-09:00:00.000 : 8=FIX.4.4|9="), "{line}");
        assert!(line.ends_with('|') && line.contains("|10="), "{line}");
    }
    assert!(lines[0].contains("|35=A|") && lines[0].contains("|553=desk|554=*******|"), "{}", lines[0]);
    assert!(lines[1].contains("|49=VENUE|"), "{}", lines[1]);
    assert!(lines[2].contains("|35=1|") && lines[3].contains("|35=0|"), "{lines:?}");
    #[cfg(unix)]
    for (path, mode) in [(&directory, 0o700), (&directory.join("FIX.4.4-VENUE-TRADER.messages.log"), 0o600)] {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, mode);
    }
    // A second start appends.
    let log = Arc::new(MessageLog::start(&directory).unwrap());
    drop((logged_on(&log), log));
    let text = fs::read_to_string(directory.join("FIX.4.4-VENUE-TRADER.messages.log")).unwrap();
    assert_eq!(text.lines().count(), 6);
}

#[test]
fn a_directory_that_cannot_be_created_stops_the_start() {
    let scratch = Scratch::new("in-a-file");
    fs::write(scratch.0.join("log"), "").unwrap();
    assert!(MessageLog::start(scratch.0.join("log")).is_err());
    assert!(MessageLog::start(scratch.0.join("log").join("below")).is_err());
}

#[cfg(unix)]
#[test]
fn a_thread_that_cannot_write_delays_no_session_and_what_it_misses_is_counted() {
    const MOST: usize = 8;
    let scratch = Scratch::new("stuck");
    // Opening a pipe waits for its reader.
    let made = std::process::Command::new("mkfifo").arg(scratch.file()).status().unwrap();
    assert!(made.success());
    let log = Arc::new(MessageLog::start_with(&scratch.0, MOST).unwrap());
    let mut venue = logged_on(&log);
    // The thread has one line of the two, or both, and waits.
    eventually(|| log.queue.held() > 0);
    let held = log.queue.held();
    for n in 0..100 {
        assert_eq!(venue.receive(&format!("35=1|112={n}|")).len(), 1, "the session goes on");
    }
    assert_eq!(log.dropped(), (202 - held - MOST) as u64);
    let reader = std::thread::spawn({
        let file = scratch.file();
        move || fs::read_to_string(file).unwrap()
    });
    drop((venue, log));
    let text = reader.join().unwrap();
    assert_eq!(text.lines().count(), held + MOST);
    assert!(text.ends_with("|\n".replace('|', "\u{1}").as_str()) && text.contains("112=3\u{1}"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_delays_no_session_and_the_log_goes_on_once_there_is_room() {
    let scratch = Scratch::new("full");
    std::os::unix::fs::symlink("/dev/full", scratch.file()).unwrap();
    let log = Arc::new(MessageLog::start(&scratch.0).unwrap());
    let mut venue = logged_on(&log);
    eventually(|| log.dropped() == 2);
    fs::remove_file(scratch.file()).unwrap();
    // The file is tried again a second after it failed.
    eventually(|| {
        assert_eq!(venue.receive("35=1|112=again|").len(), 1);
        scratch.text().contains("112=again")
    });
    let sent = log.dropped();
    assert!(sent > 2, "{sent}");
    drop((venue, log));
    assert!(scratch.text().lines().all(|line| line.starts_with("20260105-09:00:00.000 : 8=FIX.4.4")));
}

#[test]
fn a_directory_that_goes_away_delays_no_session() {
    let scratch = Scratch::new("gone");
    let log = Arc::new(MessageLog::start(&scratch.0).unwrap());
    fs::remove_dir_all(&scratch.0).unwrap();
    let mut venue = logged_on(&log);
    eventually(|| log.dropped() == 2);
    assert_eq!(venue.receive("35=1|112=still here|").len(), 1);
}

#[test]
fn what_is_no_message_is_one_line_too() {
    let scratch = Scratch::new("garbled");
    let log = Arc::new(MessageLog::start(&scratch.0).unwrap());
    let mut venue = logged_on(&log);
    venue.receive_bytes(b"8=FIX.4.4\x019=9\x01two\r\nlines\x0110=000\x018=FIX.4.4\x01");
    drop((venue, log));
    let text = scratch.text();
    assert!(text.lines().count() == 3 && text.contains("two\\r\\nlines"), "{text:?}");
}

#[test]
fn a_counterparty_writes_no_line_of_its_own() {
    let scratch = Scratch::new("forged");
    let log = Arc::new(MessageLog::start(&scratch.0).unwrap());
    let mut venue = logged_on(&log);
    let forged = "20260105-09:00:00.000 : 8=FIX.4.4";
    assert_eq!(venue.receive(&format!("35=1|112=a\n{forged}\r|")).len(), 1);
    drop((venue, log));
    let text = scratch.text();
    assert_eq!(text.lines().count(), 4, "{text:?}");
    assert_eq!(text.matches(&format!("112=a\\n{forged}\\r\u{1}")).count(), 2, "{text:?}");
}

#[test]
fn a_line_that_a_killed_process_has_left_unfinished_is_ended_first() {
    let scratch = Scratch::new("torn");
    fs::write(scratch.file(), "20260105-08:59:59.999 : 8=FIX.4.4\u{1}9=").unwrap();
    let log = Arc::new(MessageLog::start(&scratch.0).unwrap());
    drop((logged_on(&log), log));
    let text = scratch.text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines.len() == 3
            && lines[0].ends_with("9=")
            && lines[1].contains("|35=A|".replace('|', "\u{1}").as_str()),
        "{lines:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_file_that_was_renamed_or_removed_is_begun_anew() {
    let scratch = Scratch::new("rotated");
    let log = Arc::new(MessageLog::start(&scratch.0).unwrap());
    let mut venue = logged_on(&log);
    eventually(|| scratch.text().lines().count() == 2);
    let older = scratch.0.join("older");
    fs::rename(scratch.file(), &older).unwrap();
    eventually(|| {
        venue.receive("35=1|112=renamed|");
        scratch.text().contains("112=renamed")
    });
    fs::remove_file(scratch.file()).unwrap();
    eventually(|| {
        venue.receive("35=1|112=removed|");
        scratch.text().contains("112=removed")
    });
    assert!(fs::read_to_string(older).unwrap().contains("35=A"));
    assert_eq!(log.dropped(), 0);
}

#[cfg(unix)]
#[test]
fn a_disk_that_hangs_does_not_keep_the_log_from_ending() {
    let scratch = Scratch::new("hangs");
    let made = std::process::Command::new("mkfifo").arg(scratch.file()).status().unwrap();
    assert!(made.success());
    let log = Arc::new(MessageLog::start(&scratch.0).unwrap());
    let queue = Arc::clone(&log.queue);
    let venue = logged_on(&log);
    eventually(|| queue.held() > 0);
    assert_eq!(queue.unwritten(), 2);
    drop((venue, log));
    assert_eq!(queue.unwritten(), 2);
    // The thread can end.
    assert_eq!(fs::read_to_string(scratch.file()).unwrap().lines().count(), 2);
}

#[test]
fn the_memory_of_a_line_is_used_again_whether_it_was_written_dropped_or_long() {
    let queue = Queue::new(2);
    let line = |length: usize| {
        let mut bytes = queue.memory(length).unwrap();
        assert!((100..=10_000).contains(&bytes.capacity()), "{}", bytes.capacity());
        bytes.resize(length, b'x');
        queue.add(Line { file: 0, utc: 0, bytes });
    };
    for length in [100, 100_000, 100] {
        line(length);
        line(length);
        // There is none for a third line; it is dropped.
        assert_eq!(queue.memory(length), None);
        while let Some(Line { bytes, .. }) = queue.next() {
            queue.free(bytes);
        }
    }
    assert_eq!(queue.dropped(), 3);
}

#[test]
fn a_line_that_would_be_too_many_bytes_is_dropped_and_a_shorter_one_is_not() {
    let queue = Queue::new(8);
    for length in [30 << 20, 2 << 20, 0] {
        let mut bytes = queue.memory(length).unwrap();
        bytes.resize(length, b'x');
        queue.add(Line { file: 0, utc: 0, bytes });
        assert_eq!(queue.memory((2 << 20) + 1), None);
    }
    assert_eq!(queue.memory(1), None);
    assert_eq!((queue.dropped(), queue.unwritten()), (4, 3));
    assert_eq!(queue.next().unwrap().bytes.len(), 30 << 20);
    assert!(queue.memory(30 << 20).is_some());
}

#[test]
fn the_thread_does_not_sleep_while_a_line_is_on_its_way_or_the_log_ends() {
    let queue = Queue::new(2);
    let bytes = queue.memory(10).unwrap();
    assert!(!queue.sleep() && !queue.is_asleep());
    queue.add(Line { file: 0, utc: 0, bytes: [&bytes[..], &[b'x'; 10]].concat() });
    assert!(!queue.sleep());
    queue.next().unwrap();
    queue.end();
    assert!(!queue.sleep());
}

#[test]
fn a_line_that_is_dropped_while_the_thread_sleeps_wakes_it_to_say_so() {
    let queue = Arc::new(Queue::new(2));
    let sleeper = std::thread::spawn({
        let queue = Arc::clone(&queue);
        move || {
            queue.is_emptied_here();
            queue.sleep()
        }
    });
    eventually(|| queue.is_asleep());
    assert_eq!(queue.memory(MOST_BYTES + 1), None);
    assert!(sleeper.join().unwrap());
}

#[test]
fn the_thread_sleeps_while_nothing_is_logged_and_the_next_line_wakes_it() {
    let scratch = Scratch::new("sleeps");
    let log = Arc::new(MessageLog::start(&scratch.0).unwrap());
    let mut venue = logged_on(&log);
    for id in ["first", "second"] {
        eventually(|| log.queue.is_asleep());
        venue.receive(&format!("35=1|112={id}|"));
        eventually(|| scratch.text().contains(&format!("112={id}")));
    }
    assert_eq!(log.dropped(), 0);
}

#[test]
fn a_log_of_before_has_no_part_in_the_next_one_of_the_same_session() {
    for name in ["before", "next"] {
        let scratch = Scratch::new(name);
        let log = Arc::new(MessageLog::start(&scratch.0).unwrap());
        // The next log has another file first.
        log.queue.file(name);
        drop((logged_on(&log), log));
        assert_eq!(scratch.text().lines().count(), 2);
    }
}

#[test]
fn sessions_of_several_engines_on_one_thread_that_share_a_log_have_a_file_each() {
    let scratch = Scratch::new("shared");
    let log = Arc::new(MessageLog::start(&scratch.0).unwrap());
    // Each is the first session of its worker.
    let mut first = logged_on(&log);
    let mut other = logged_on_as("FIX.4.4:VENUE->OTHER", &log);
    for id in ["a", "b"] {
        first.receive(&format!("35=1|112=first {id}|"));
        other.receive(&format!("35=1|112=other {id}|"));
    }
    drop((first, other, log));
    for (file, own) in
        [(scratch.file(), "first"), (scratch.0.join("FIX.4.4-VENUE-OTHER.messages.log"), "other")]
    {
        let text = fs::read_to_string(file).unwrap();
        assert_eq!(text.lines().count(), 6, "{text:?}");
        assert_eq!(text.matches(own).count(), 4, "{text:?}");
    }
}

#[test]
fn a_thread_knows_the_files_of_each_log_that_its_sessions_are_in_and_of_no_log_that_has_ended() {
    let (scratch, beside) = (Scratch::new("one"), Scratch::new("two"));
    let logs = [&scratch, &beside].map(|scratch| Arc::new(MessageLog::start(&scratch.0).unwrap()));
    let known = || KNOWN.with_borrow(|logs| logs.iter().map(|known| known.files.len()).collect::<Vec<_>>());
    for _ in 0..3 {
        drop(logs.each_ref().map(logged_on));
        assert_eq!(known(), [1, 1]);
    }
    drop(logs);
    let log = Arc::new(MessageLog::start(&scratch.0).unwrap());
    drop((logged_on(&log), log));
    assert_eq!(known(), [1]);
    assert_eq!([scratch, beside].map(|scratch| scratch.text().lines().count()), [8, 6]);
}
