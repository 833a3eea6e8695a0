//! The six configurations of the page, and what stands for their settings here.

use fixbolt::Waiting;
use fixbolt_dictionary::{Action, Check, Policy};

use crate::loopback::layout::Layout;
use crate::results::Table;

/// A configuration of the page.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Configuration {
    /// Its name.
    pub name: &'static str,
    pub(super) is_prepared: bool,
    pub(super) is_pinned: bool,
    /// Whether its threads spin.
    pub(super) spins: bool,
    /// Whether a pool of threads serves all sessions; otherwise a session has threads of its own.
    is_pooled: bool,
    /// How many shared workers each side's engine has.
    pub(super) workers: usize,
    /// Whether only the cheap checks are on.
    pub(super) is_lean: bool,
    /// Whether the kernel was bypassed.
    pub(super) bypasses: bool,
    pub(super) published: Published,
}

/// Published round trips, in microseconds: 10,000 of them at 1,000 a second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Published {
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) average: f64,
    pub(super) p50: f64,
    pub(super) p95: f64,
    pub(super) p99: f64,
}

const fn published([min, max, average]: [f64; 3], [p50, p95, p99]: [f64; 3]) -> Published {
    Published { min, max, average, p50, p95, p99 }
}

const DEFAULT: Configuration = Configuration {
    name: "Default",
    is_prepared: false,
    is_pinned: false,
    spins: false,
    is_pooled: true,
    workers: 1,
    is_lean: false,
    bypasses: false,
    published: published([47.1, 190.7, 51.6], [49.8, 59.9, 67.1]),
};
const AGGRESSIVE: Configuration = Configuration {
    name: "Aggressive",
    is_pooled: false,
    published: published([46.1, 218.0, 51.1], [48.8, 59.0, 90.4]),
    ..DEFAULT
};
const BALANCED: Configuration = Configuration {
    name: "Balanced",
    is_pinned: true,
    is_lean: true,
    published: published([27.3, 217.5, 31.5], [29.9, 38.9, 45.8]),
    ..AGGRESSIVE
};

/// The configurations, in the order of the page.
pub const CONFIGURATIONS: [Configuration; 6] = [
    DEFAULT,
    AGGRESSIVE,
    BALANCED,
    Configuration {
        name: "Optimized.hard.spin",
        is_prepared: true,
        is_pinned: false,
        spins: true,
        published: published([19.0, 223.7, 21.6], [21.0, 24.0, 25.3]),
        ..BALANCED
    },
    Configuration {
        name: "Balanced.onload",
        bypasses: true,
        published: published([11.3, 199.5, 13.2], [11.8, 18.6, 24.6]),
        ..BALANCED
    },
    Configuration {
        name: "Optimized.hard",
        is_prepared: true,
        spins: true,
        bypasses: true,
        published: published([8.3, 13.2, 8.7], [8.5, 9.3, 10.4]),
        ..BALANCED
    },
];

/// QuickFIX C++ 1.14.3 without and with validation, on the same machines.
pub(super) const QUICKFIX: [Published; 2] = [
    published([155.0, 371.5, 158.9], [157.6, 165.0, 177.4]),
    published([157.0, 377.8, 161.8], [159.5, 167.1, 183.5]),
];

/// Where the published figures come from.
pub(super) const ELSEWHERE: &str = "other machines (two hosts, 10 GbE), FIX Antenna C++ 2.19";

impl Configuration {
    /// Returns the configuration with this name, in any case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        CONFIGURATIONS.into_iter().find(|it| it.name.eq_ignore_ascii_case(name))
    }

    /// Gives the thread pool this many workers, if the configuration has one. Otherwise a session
    /// has threads of its own, and here a worker.
    #[must_use]
    pub const fn with_workers(self, workers: usize) -> Self {
        if self.is_pooled { Self { workers, ..self } } else { self }
    }

    /// Returns whether it has a thread pool.
    #[must_use]
    pub const fn is_pooled(&self) -> bool {
        self.is_pooled
    }

    /// Returns its name as that of a row, with the number of its workers if there are several.
    pub(super) fn row(&self) -> String {
        match self.workers {
            1 => self.name.to_owned(),
            workers => format!("{} {workers} workers", self.name),
        }
    }

    /// Returns how the workers wait and where they run.
    pub(super) fn layout(&self, cores: &[usize]) -> Layout {
        let layout = Layout::new(if self.spins { Waiting::Spinning } else { Waiting::Blocking });
        if self.is_pinned { layout.pinned(cores) } else { layout }
    }

    /// Returns the checks that are made, of our choice: the page has lost which.
    pub(super) fn policy(&self) -> Policy {
        if !self.is_lean {
            return Policy::standard();
        }
        let costly = PARAMETERS.iter().filter(|parameter| parameter.is_costly);
        let checks = costly.flat_map(|parameter| parameter.checks);
        checks.fold(Policy::standard(), |policy, check| policy.with(*check, Action::Ignore))
    }

    fn threads(&self) -> &'static str {
        if self.is_pooled {
            "Thread Pool (10 Threads)"
        } else if *self == AGGRESSIVE {
            // The page marks a note at its first word only.
            "Aggressive Mode ²"
        } else {
            "Aggressive Mode"
        }
    }
}

/// A parameter of validation on the page.
struct Parameter {
    name: &'static str,
    /// The checks that stand for it.
    checks: &'static [Check],
    /// Whether it is off from Balanced on.
    is_costly: bool,
    /// Whether it turns its checks off.
    is_inverse: bool,
}

const fn parameter(name: &'static str, checks: &'static [Check], is_costly: bool) -> Parameter {
    Parameter { name, checks, is_costly, is_inverse: false }
}

const PARAMETERS: [Parameter; 8] = [
    Parameter {
        name: "IgnoreUnknownFields",
        checks: &[Check::UnknownTag, Check::UserDefinedTag],
        is_costly: true,
        is_inverse: true,
    },
    parameter(
        "ProhibitUnknownTags",
        &[Check::UnknownTag, Check::UserDefinedTag, Check::TagNotInMessage],
        true,
    ),
    parameter("CheckDuplicateTags", &[Check::DuplicateTag], true),
    parameter("MessageMustBeValidated", &[Check::MsgType, Check::RequiredField], false),
    parameter(
        "VerifyRepeatingGroupBounds",
        &[Check::GroupCount, Check::GroupDelimiter, Check::GroupOrder],
        true,
    ),
    parameter("Validation.CheckRequiredGroupFields", &[Check::RequiredInGroup], true),
    parameter("Validation.VerifyTagsValues", &[Check::DataType, Check::EnumValue], true),
    parameter("Validation.ProhibitTagsWithoutValue", &[Check::EmptyValue], false),
];

/// Returns the page's table of settings, with a line of ours below each of its lines. The pools
/// have so many workers.
pub(super) fn settings(cores: &[usize], workers: usize, with_everything: bool) -> Table {
    let names = CONFIGURATIONS.iter().map(|it| it.name);
    let mut table = Table::new(
        format!("Test configurations; published: {ELSEWHERE}"),
        ["Properties", ""].into_iter().chain(names),
    );
    let yes = |is: bool| if is { "Yes" } else { "No" };
    let mut add = |property: &str,
                   theirs: &dyn Fn(&Configuration) -> String,
                   ours: &dyn Fn(&Configuration) -> String| {
        let line = |name: &str, whose: &str, of: &dyn Fn(&Configuration) -> String| {
            [name.to_owned(), whose.to_owned()]
                .into_iter()
                .chain(CONFIGURATIONS.iter().map(of))
                .collect::<Vec<_>>()
        };
        let lines = [line(property, "published", theirs), line("", "here", ours)];
        for line in lines {
            table.row(line);
        }
    };
    add("Prepared messages ¹", &|it| yes(it.is_prepared).to_owned(), &|it| yes(it.is_prepared).to_owned());
    add("Affinity", &|it| yes(it.is_pinned).to_owned(), &|it| match it.layout(cores) {
        Layout { venue: Some(venue), trader: Some(trader), .. } => {
            format!("workers on cores {venue}, {trader}")
        }
        _ if it.is_pinned => "No: one core".to_owned(),
        _ => "No".to_owned(),
    });
    add("Thread Pool or Aggressive Mode", &|it| it.threads().to_owned(), &|it| {
        let waiting = it.layout(cores).name();
        match it.with_workers(workers).workers {
            1 => format!("a worker, {waiting}"),
            workers => format!("{workers} workers, {waiting}"),
        }
    });
    for parameter in &PARAMETERS {
        let lost = |_: &Configuration| "lost".to_owned();
        let name = if parameter.is_inverse {
            format!("Message validation parameters: {}", parameter.name)
        } else {
            parameter.name.to_owned()
        };
        add(&name, &lost, &|it| {
            let is_on = !(parameter.is_costly && it.is_lean);
            yes(is_on != parameter.is_inverse).to_owned()
        });
    }
    // The page marks a note at its first word only.
    let storage = |it: &Configuration| if *it == DEFAULT { "PersistentMM ³" } else { "PersistentMM" };
    add("Storage type", &|it| storage(it).to_owned(), &|_| "journal, mapped".to_owned());
    add("Solarflare OpenOnload ⁴", &|it| yes(it.bypasses).to_owned(), &|it| {
        if it.bypasses { "No: run without" } else { "No" }.to_owned()
    });
    let also = if with_everything {
        " Every row that leaves some out is also measured with everything on."
    } else {
        ""
    };
    table
        .note(format!("The page has lost which validation parameters each configuration sets: these are our choice, all on in Default and Aggressive, the costly ones off from Balanced on.{also}"))
        .note("¹ Published: the storage of messages is allocated once and used again. Here: constant parts and their sums once, holes filled in (a template of the test's own: the codec has none yet). The order goes to the session's queue as it is; the report is copied into the session's draft, where its sum is computed again.")
        .note("² Published: two threads for each session, one that sends and one that receives. Here: a session belongs to one worker that receives, answers and sends, and a thread of the test puts orders into the session's queue. --workers gives the pool more workers, which have no session. With one, Default and Aggressive have the same threads, and Balanced.onload those of Balanced.")
        .note("³ Published: a file on the disk. Here: the session's journal, a mapped file on the disk.")
        .note("⁴ Published: Solarflare's network stack, which bypasses the kernel. Here: there is none, so its configurations run without.");
    table
}

/// Says what a configuration that pins its workers shares, if there are too few cores: the thread
/// that puts orders needs one that no worker has. `all` are the cores that the process may use.
pub(super) fn too_few_cores(layout: Layout, all: &[usize]) -> Option<String> {
    let cores = all.len();
    let is_pinned = layout.venue.is_some() || layout.trader.is_some();
    if !is_pinned {
        return Some(format!(
            "too few cores: this process has {cores}, so that no worker is pinned, and all threads share what there is"
        ));
    }
    layout.free(all).is_empty().then(|| {
        format!(
            "too few cores: this process has {cores}, and a worker is pinned to each, so that the thread that puts orders takes one of them from its worker"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the page's table, without spaces, ends of lines and the numbers of its notes.
    const PAGE: &str = "PropertiesDefaultAggressiveBalancedOptimized.hard.spinBalanced.onloadOptimized.hard\
        PreparedmessagesNoNoNoYesNoYes\
        AffinityNoNoYesNoYesYes\
        ThreadPoolorAggressiveModeThreadPool(10Threads)AggressiveModeAggressiveModeAggressiveModeAggressiveModeAggressiveMode\
        MessagevalidationparametersIgnoreUnknownFieldsProhibitUnknownTagsCheckDuplicateTagsMessageMustBeValidated\
        VerifyRepeatingGroupBoundsValidation.CheckRequiredGroupFieldsValidation.VerifyTagsValues\
        Validation.ProhibitTagsWithoutValue\
        StoragetypePersistentMMPersistentMMPersistentMMPersistentMMPersistentMMPersistentMM\
        SolarflareOpenOnloadNoNoNoNoYesYes";

    /// The marks of the page's notes, here and there.
    const NOTES: [(char, &str); 4] = [('¹', "messages1"), ('²', "Mode2"), ('³', "MM3"), ('⁴', "Onload4")];

    /// Returns the text without spaces and without the marks of notes.
    fn without_spaces(text: &str) -> String {
        text.chars().filter(|c| !c.is_whitespace() && NOTES.iter().all(|(mark, _)| mark != c)).collect()
    }

    #[test]
    fn the_notes_of_the_page_are_below_the_table_and_marked_where_it_marks_them() {
        let table = settings(&[], 1, true);
        let cells: Vec<&String> = table.rows.iter().flatten().collect();
        for (mark, _) in NOTES {
            assert_eq!(cells.iter().filter(|cell| cell.ends_with(mark)).count(), 1, "{mark}");
            assert_eq!(table.notes.iter().filter(|note| note.starts_with(mark)).count(), 1, "{mark}");
        }
        let Some(page) = crate::published::page("fix-antenna.txt") else { return };
        let page = without_spaces(&page);
        let notes =
            ["1Preparedmessages-", "2AggressiveMode-", "3PersistentMMstoragetype=", "4SolarflareOpenOnload-"];
        for text in NOTES.iter().map(|(_, marked)| *marked).chain(notes) {
            assert!(page.contains(text), "{text}");
        }
    }

    #[test]
    fn the_settings_are_those_of_the_page_line_by_line() {
        if let Some(page) = crate::published::page("fix-antenna.txt") {
            let (_, page) = page.split_once("Test configurations").unwrap();
            let (table, _) = page.split_once("1 Prepared messages").unwrap();
            let table = NOTES.iter().fold(without_spaces(table), |table, (_, marked)| {
                table.replace(marked, &marked[..marked.len() - 1])
            });
            assert_eq!(table, PAGE, "the committed lines are those of the page");
        }
        let table = settings(&[], 1, true);
        let cells = |row: &Vec<String>| -> String {
            row.iter().filter(|cell| !["published", "lost"].contains(&cell.as_str())).cloned().collect()
        };
        let theirs = table.rows.iter().filter(|row| row[1] == "published").map(cells);
        let ours: String = std::iter::once(table.columns.concat()).chain(theirs).collect();
        assert_eq!(without_spaces(&ours).replace("parameters:", "parameters"), PAGE);
        assert_eq!(table.rows.iter().filter(|row| row[1] == "here").count() * 2, table.rows.len());
    }

    #[test]
    fn the_costly_checks_are_off_from_balanced_on() {
        let makes =
            |name: &str, check| Configuration::named(name).unwrap().policy().action(check) == Action::Reject;
        assert!(makes("aggressive", Check::EnumValue) && !makes("BALANCED", Check::EnumValue));
        assert!(makes("Optimized.hard", Check::RequiredField));
        assert!(Configuration::named("optimized").is_none());
    }

    #[test]
    fn the_thread_that_puts_orders_has_a_core_of_its_own_or_it_is_said_that_there_are_too_few() {
        let layout = |cores: &[usize]| Configuration::named("Balanced").unwrap().layout(cores);
        assert_eq!(too_few_cores(layout(&[2, 1]), &[0, 1, 2]), None);
        let note = too_few_cores(layout(&[1, 0]), &[0, 1]).unwrap();
        assert!(
            note.starts_with("too few cores: this process has 2, and a worker is pinned to each"),
            "{note}"
        );
        let note = too_few_cores(layout(&[0]), &[0]).unwrap();
        assert!(note.starts_with("too few cores: this process has 1, so that no worker is pinned"), "{note}");
    }

    #[test]
    fn only_configurations_with_affinity_are_pinned_and_only_the_hard_ones_spin() {
        let words = CONFIGURATIONS.map(|it| it.layout(&[3, 2]).words());
        let (free, pinned) = ("epoll, not pinned", "epoll, on cores 3 and 2");
        let spin = ["spinning, not pinned", "spinning, on cores 3 and 2"];
        assert_eq!(words, [free, free, pinned, spin[0], pinned, spin[1]]);
    }
}
