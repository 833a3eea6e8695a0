//! What opening, verifying and repairing a damaged journal must and must not do.

use std::path::{Path, PathBuf};

use fixbolt_session::store::{Record, Recovered, Reports, SessionKey, Store, StoreError};

use super::journal::{Files, Journal, SESSION, Truth, holds_records, load, number, store};
use crate::DirectoryStore;
use crate::testing::{opened, outbound};
use crate::tests::turn;
use crate::tools::inspect::{adopt, repair, verify};

/// Opens the journal, repairs it if it halts, and returns everything that is wrong, one line each.
pub(super) fn judge(journal: &Journal) -> Vec<String> {
    let mut case = Case {
        directory: journal.directory(),
        base: journal.base.clone(),
        truth: journal.truth,
        stale: journal.stale,
        reported: false,
        adopted_stale: false,
        generation_known: true,
        end: *journal.turns().last().unwrap(),
        wrong: Vec::new(),
    };
    // If the directory is a copy and the original was left.
    let original = journal.original();
    let before = original.as_deref().map(load);
    case.open();
    if original.as_deref().map(load) != before {
        case.wrong.push("the original, of which this is a copy, was changed".to_owned());
    }
    let directory = case.directory.display().to_string();
    case.wrong.into_iter().map(|line| line.replace(&directory, "DIR")).collect()
}

/// Returns whether `verify` calls the journal whole, and opening it continues exactly.
pub(super) fn is_undamaged(journal: &Journal) -> bool {
    let truth = journal.truth;
    verify(&journal.directory()).unwrap()[0].is_whole()
        && opened(&mut store(&journal.base), SESSION).is_ok_and(|(_, recovered)| {
            (recovered.generation, recovered.next_in, recovered.next_out, recovered.damage)
                == (truth.generation, truth.next_in, truth.next_out, None)
        })
}

/// What an operator does after a session has halted: what the reason says, and then what the next
/// start would say. Returns what was done, and whether a copy was adopted.
fn mend(directory: &Path, reason: &str) -> Result<(Vec<String>, bool), StoreError> {
    let mut done = Vec::new();
    if reason.contains("journal repair") {
        done = repair(directory, None)?.remove(0).done;
    }
    let adopted = adopt(directory, true)?.remove(0).was_copy;
    if adopted {
        done.push("adopted".to_owned());
    }
    Ok((done, adopted))
}

/// Who has changed the files.
#[derive(Clone, Copy)]
enum By {
    Repair,
    /// After a repair, if there was something to repair.
    Adoption,
    Opening,
}

impl std::fmt::Display for By {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Repair => "the repair",
            Self::Adoption => "the adoption",
            Self::Opening => "opening",
        })
    }
}

impl By {
    /// Returns whether it may overwrite this file without keeping a copy.
    fn may_overwrite(self, name: &str) -> bool {
        match self {
            Self::Repair => name == "lock",
            // Every start writes the head.
            Self::Adoption | Self::Opening => name == "lock" || name == "head",
        }
    }
}

struct Case {
    directory: PathBuf,
    base: PathBuf,
    truth: Truth,
    stale: bool,
    /// Whether what is wrong with a journal that opens was reported, or nothing is.
    reported: bool,
    /// Whether an older or foreign journal was adopted: its sequence numbers are the operator's
    /// responsibility.
    adopted_stale: bool,
    /// Whether anything in the directory still says what the last generation was.
    generation_known: bool,
    /// Segment and offset at which the log ended.
    end: (u32, usize),
    wrong: Vec<String>,
}

impl Case {
    fn check(&mut self, right: bool, wrong: impl FnOnce() -> String) {
        if !right {
            self.wrong.push(wrong());
        }
    }

    /// Returns whether `verify` calls the journal whole, and what it says.
    fn whole(&self) -> (bool, String) {
        match verify(&self.directory) {
            Ok(reports) => {
                (reports[0].is_whole(), format!("{:?} {:?}", reports[0].damage, reports[0].torn_tail))
            }
            Err(error) => (false, error.to_string()),
        }
    }

    fn open(&mut self) {
        let before = load(&self.directory);
        let (whole, report) = self.whole();
        let mut store = store(&self.base);
        let reason = match opened(&mut store, SESSION) {
            Ok((key, recovered)) => match recovered.damage.clone() {
                None => {
                    self.reported = self.whole_or_reported(whole, &mut store);
                    // Only a journal of which really nothing is left is a new one.
                    if !before.is_empty() {
                        self.went_on(&before, &report, &recovered);
                    }
                    self.goes_on(&mut store, key, &recovered);
                    return;
                }
                Some(reason) => {
                    store.close(key).unwrap();
                    reason
                }
            },
            Err(error) => error.to_string(),
        };
        drop(store);
        self.check(!whole, || format!("verify calls it whole, but it halts: {reason}"));
        let said = reason.replace(&self.directory.display().to_string(), "");
        let names = ["head", "segment-", "lock", "director"];
        self.check(names.iter().any(|name| said.contains(name)), || {
            format!("the reason names no file: {reason:?}")
        });
        let after = load(&self.directory);
        for name in before.keys().chain(after.keys()).filter(|name| !name.starts_with("lock")) {
            self.check(before.get(name) == after.get(name), || format!("it halts, but {name} was changed"));
        }
        self.repair(&reason, &before);
    }

    /// Checks a start that did not halt.
    fn went_on(&mut self, before: &Files, report: &str, recovered: &Recovered) {
        let truth = self.truth;
        if recovered.generation != truth.generation {
            self.wrong.push(format!(
                "opens with generation {} instead of {}",
                recovered.generation.0, truth.generation.0
            ));
            return;
        }
        self.not_lowered("opens", recovered);
        if !self.stale {
            self.nothing_lost(By::Opening, before);
        }
        if recovered.next_out > truth.next_out {
            let given_up = recovered.given_up.as_ref().is_some_and(|range| {
                *range.start() <= truth.next_out && *range.end() >= recovered.next_out.previous()
            });
            self.check(given_up, || {
                format!("opens with NextNumOut {}, given up: {:?}", recovered.next_out, recovered.given_up)
            });
        }
        let cut = self.was_cut(before);
        let reported = self.reported;
        self.check(reported || cut, || format!("opens, but verify does not call it whole: {report}"));
    }

    /// Returns whether `verify` calls the journal whole, or the store reports soon that something
    /// of the past is lost.
    fn whole_or_reported(&self, whole: bool, store: &mut DirectoryStore) -> bool {
        let lost = verify(&self.directory).is_ok_and(|reports| !reports[0].lost_history.is_empty());
        let begin = std::time::Instant::now();
        while lost && begin.elapsed() < std::time::Duration::from_secs(10) {
            if store.take_warning().is_some() {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        whole
    }

    /// Returns whether the start has removed a torn tail, which `verify` reports.
    fn was_cut(&self, before: &Files) -> bool {
        load(&self.directory).keys().any(|name| name.starts_with("cut-") && !before.contains_key(name))
    }

    fn not_lowered(&mut self, what: &str, recovered: &Recovered) {
        let truth = self.truth;
        self.check(self.adopted_stale || recovered.next_out >= truth.next_out, || {
            format!("{what} with NextNumOut {} below {}", recovered.next_out, truth.next_out)
        });
        let other = recovered.generation != truth.generation;
        self.check(other || recovered.next_in <= truth.next_in, || {
            format!("{what} with NextNumIn {} above {}", recovered.next_in, truth.next_in)
        });
    }

    /// The session continues, and its next death loses nothing.
    fn goes_on(&mut self, store: &mut DirectoryStore, key: SessionKey, recovered: &Recovered) {
        let next = recovered.next_out;
        turn(store, key, &[Record { next_in: recovered.next_in, ..outbound(next.0, b"next") }]);
        store.crash();
        let again = opened(store, SESSION).map(|(_, again)| (again.generation, again.next_out, again.damage));
        self.check(again == Ok((recovered.generation, next.next(), None)), || {
            format!("does not continue after {next}: {again:?}")
        });
        store.crash();
    }

    fn repair(&mut self, reason: &str, before: &Files) {
        let repaired = match mend(&self.directory, reason) {
            Ok(repaired) => repaired,
            Err(error) => {
                self.wrong.push(format!("no repair: {error}; halted: {reason}"));
                return;
            }
        };
        let (done, adopted) = repaired;
        self.check(!done.is_empty(), || format!("the repair does nothing; halted: {reason}"));
        self.adopted_stale = adopted && self.stale;
        let head_is_lost = done.iter().any(|line| line.contains("head is made anew"));
        // The archive only says what the generations before the last one were.
        let is_live =
            |(name, bytes): (&String, &Vec<u8>)| name.starts_with("segment-") && holds_records(bytes);
        let records_are_lost = verify(&self.directory).is_ok_and(|reports| reports[0].records.total() == 0)
            || !load(&self.directory).iter().any(is_live)
            || self.stale;
        self.generation_known = !(self.adopted_stale || (head_is_lost && records_are_lost));
        self.nothing_lost(if adopted { By::Adoption } else { By::Repair }, before);
        match repair(&self.directory, None) {
            Ok(again) => {
                let done = &again[0].done;
                // What is lost of the past is covered only if there was a reason for a repair.
                let first = !reason.contains("journal repair");
                self.check(first || done.is_empty(), || {
                    format!("a second repair finds more to do: {done:?}")
                });
            }
            Err(error) => self.wrong.push(format!("no second repair: {error}")),
        }
        let (whole, report) = self.whole();
        let mut store = store(&self.base);
        match opened(&mut store, SESSION) {
            Ok((key, Recovered { damage: Some(reason), .. })) => {
                store.close(key).unwrap();
                self.wrong.push(format!("halts after the repair: {reason}"));
            }
            Err(error) => self.wrong.push(format!("halts after the repair: {error}")),
            Ok((key, recovered)) => {
                let truth = self.truth;
                let cut = self.was_cut(before);
                self.check(whole || cut, || {
                    format!("verify does not call it whole after the repair: {report}")
                });
                self.check(!self.generation_known || recovered.generation >= truth.generation, || {
                    format!("opens after the repair with generation {}", recovered.generation.0)
                });
                self.not_lowered("opens after the repair", &recovered);
                self.goes_on(&mut store, key, &recovered);
                if !self.stale {
                    self.nothing_lost(By::Opening, before);
                }
            }
        }
    }

    /// Checks that every byte of the files of `before` still exists: in its place, in a file that
    /// was moved, or in a kept copy.
    fn nothing_lost(&mut self, by: By, before: &Files) {
        let after = load(&self.directory);
        let kept: Vec<&Vec<u8>> =
            after.iter().filter(|(name, bytes)| before.get(*name) != Some(bytes)).map(|(_, b)| b).collect();
        let mut names = Vec::new();
        for (name, bytes) in before {
            if by.may_overwrite(name) || after.values().any(|same| same == bytes) {
                continue;
            }
            let bytes = match number(name) {
                Some(n) => self.without_strays(n, bytes),
                None => bytes,
            };
            if after.values().all(|in_place| lost(bytes, in_place, &kept) > 0) {
                names.push(name.as_str());
            }
        }
        self.check(names.is_empty(), || format!("{by} loses bytes of {}", names.join(", ")));
    }

    /// Returns the part of a segment that must be kept: nothing if it holds no records, and not the
    /// zeros after the end of the log. A few flipped bits make no difference to this.
    fn without_strays<'b>(&self, number: u32, bytes: &'b [u8]) -> &'b [u8] {
        let few_from = |at: usize| bytes.iter().skip(at).filter(|b| **b != 0).count() < 8;
        let (last, end) = self.end;
        if few_from(512) && (number > last || bytes.iter().skip(512).all(|b| *b == 0)) {
            &[]
        } else if number == last && few_from(end) {
            &bytes[..end.min(bytes.len())]
        } else {
            bytes
        }
    }
}

/// Returns the number of bytes that are neither at the same offset of `in_place` nor in one of the
/// files of `kept`, which may begin anywhere in it. Zeros are not missed.
fn lost(bytes: &[u8], in_place: &[u8], kept: &[&Vec<u8>]) -> usize {
    let mut found: Vec<bool> =
        bytes.iter().enumerate().map(|(n, b)| *b == 0 || in_place.get(n) == Some(b)).collect();
    for kept in kept.iter().filter(|kept| !kept.is_empty()) {
        for from in (0..bytes.len()).step_by(8) {
            let rest = &bytes[from..];
            // A kept tail may have more than the part that must be kept.
            let to = if rest.len() >= 32 { kept.len().min(rest.len()) } else { kept.len() };
            if rest.starts_with(&kept[..to]) {
                found[from..from + to].fill(true);
            }
        }
    }
    found.iter().filter(|found| !**found).count()
}

#[test]
fn lost_bytes_are_noticed_and_moved_ones_are_not() {
    let bytes = b"01234567abcdefgh\0\0\0\0\0\0\0\0ABCDEFGH";
    let covered = b"01234567xxxxxxxx\0\0\0\0yyyyABCDEFGH";
    assert_eq!(lost(bytes, covered, &[]), 8);
    assert_eq!(lost(bytes, covered, &[&b"abcdefgh".to_vec()]), 0);
    assert_eq!(lost(bytes, covered, &[&b"abcdefgX".to_vec()]), 8);
    assert_eq!(lost(bytes, b"", &[&bytes.to_vec()]), 0);
    assert_eq!(lost(bytes, &bytes[..16], &[]), 8);
}
