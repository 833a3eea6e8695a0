//! The layouts of messages: for the next message of the same layout only the values are checked.
//!
//! Whether the structure of a message is valid, and what is wrong with it, depends on its type, its
//! tags in order, the values of its count fields and the policy, and on nothing else if no field
//! identifies another one. So a message that shares all of these with one that was walked needs no
//! walk: what was wrong with the structure of that one is wrong with this one, too.

use fixbolt_codec::{Message, Place};

use super::findings::{Finding, Findings};
use super::look::LastDate;
use super::plan::Plan;
use super::policy::{Check, Policy};
use super::steps::Steps;

/// Number of layouts kept, over all message types.
const LAYOUTS: usize = 8;
/// A message in whose structure more is wrong is walked every time.
const FINDINGS: usize = 8;
/// After this many consecutive messages of unknown layouts only every sixteenth is learned: a
/// counterparty whose messages are all different must not cost more than the walk.
const PATIENCE: u8 = 16;

/// The layouts that a scratch has learned; allocated once.
#[derive(Clone)]
pub(crate) struct Learned {
    layouts: Box<[Layout; LAYOUTS]>,
    /// For each layout the number of its body, 0 for none.
    bodies: [u64; LAYOUTS],
    /// The checks of the values of the message that is walked.
    pub(crate) steps: Box<Steps>,
    /// The layout that was known last.
    last: usize,
    /// The layout to be replaced next, unless it was used since.
    hand: usize,
    /// Number of messages since one was known.
    unknown: u8,
    pub(crate) dates: LastDate,
}

#[derive(Clone)]
pub(crate) struct Layout {
    policy: Policy,
    /// Whether it was used since the last search for a layout to replace.
    used: bool,
    tags: Vec<u32>,
    places: Vec<Place>,
    pub(crate) steps: Box<Steps>,
    /// Whether a value of its last message was not seen to be right at a glance.
    pub(crate) closer_looks: bool,
    /// What is wrong with its structure.
    pub(crate) findings: Vec<Finding>,
}

/// A layout, until the next one is learned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayoutId(usize);

impl Learned {
    pub(crate) fn new() -> Learned {
        let layout = || Layout {
            policy: Policy::ignoring(),
            used: false,
            tags: Vec::with_capacity(Steps::FIELDS),
            places: Vec::with_capacity(Steps::FIELDS),
            steps: Box::new(Steps::new()),
            closer_looks: false,
            findings: Vec::with_capacity(FINDINGS),
        };
        Learned {
            layouts: Box::new(std::array::from_fn(|_| layout())),
            bodies: [0; LAYOUTS],
            steps: Box::new(Steps::new()),
            last: 0,
            hand: 0,
            unknown: 0,
            dates: LastDate::new(),
        }
    }

    pub(crate) fn forget(&mut self) {
        self.bodies = [0; LAYOUTS];
        self.unknown = 0;
    }

    /// Returns the message's layout if it is known.
    #[inline]
    pub(crate) fn known(&mut self, plan: &Plan, message: &Message<'_>, policy: &Policy) -> Option<LayoutId> {
        let at = self.find_known(plan, message, policy)?;
        Some(self.note_use(at))
    }

    /// Notes that a layout was that of a message.
    #[inline]
    fn note_use(&mut self, at: usize) -> LayoutId {
        (self.last, self.unknown) = (at, 0);
        self.layouts[at].used = true;
        LayoutId(at)
    }

    /// Returns a layout, and the last date.
    #[inline]
    pub(crate) fn layout(&mut self, layout: LayoutId) -> (&mut Layout, &mut LastDate) {
        (&mut self.layouts[layout.0], &mut self.dates)
    }

    /// Returns whether [`Learned::known`] would return a layout, without a trace of the question.
    pub(crate) fn knows(&self, plan: &Plan, message: &Message<'_>, policy: &Policy) -> bool {
        self.find_known(plan, message, policy).is_some()
    }

    #[inline]
    fn find_known(&self, plan: &Plan, message: &Message<'_>, policy: &Policy) -> Option<usize> {
        if message.fault().is_some() {
            return None;
        }
        let fits = |layout: &Layout| layout.policy == *policy && layout.steps.counts_alike(message, policy);
        self.find(plan, message, fits)
    }

    /// Returns a layout whose fields have the same places as those of the message, if one is known.
    pub(crate) fn same_structure(&mut self, plan: &Plan, message: &Message<'_>) -> Option<LayoutId> {
        let policy = Policy::ignoring();
        let at = self.find(plan, message, |layout| layout.steps.counts_alike(message, &policy))?;
        Some(self.note_use(at))
    }

    /// Returns the places of the fields of a message with this layout.
    #[inline]
    pub(crate) fn places(&self, layout: LayoutId) -> &[Place] {
        &self.layouts[layout.0].places
    }

    #[inline]
    fn find(&self, plan: &Plan, message: &Message<'_>, fits: impl Fn(&Layout) -> bool) -> Option<usize> {
        let body = plan.body(message.msg_type())?;
        let number = plan.number_of(body);
        // The last one first, then all of the same body.
        let (mut at, mut rest) = (self.last, 0..LAYOUTS);
        loop {
            let layout = &self.layouts[at];
            if self.bodies[at] == number && layout.tags == message.tags() && fits(layout) {
                return Some(at);
            }
            at = rest.find(|at| self.bodies[*at] == number)?;
        }
    }

    /// Keeps the layout of the message that was walked, with its places and what was found wrong,
    /// if its structure depends on its tags and counts alone, and if it is worth it. Returns where
    /// the places are then.
    pub(crate) fn learn(
        &mut self,
        plan: &Plan,
        message: &Message<'_>,
        policy: &Policy,
        places: &mut Vec<Place>,
        findings: &Findings,
    ) -> Option<LayoutId> {
        self.unknown = if self.unknown == 2 * PATIENCE { PATIENCE + 1 } else { self.unknown + 1 };
        if self.unknown > PATIENCE && self.unknown != 2 * PATIENCE {
            return None;
        }
        let depends_on_more =
            |finding: &Finding| matches!(finding.check, Check::DataLength | Check::DataBeforeLength);
        if message.fault().is_some()
            || message.len() > Steps::FIELDS
            || findings.structure.len() > FINDINGS
            || findings.structure.iter().any(depends_on_more)
            || !self.steps.keep_counts(plan, message)
        {
            return None;
        }
        let body = plan.body(message.msg_type())?;
        let at = self.next_to_replace();
        self.bodies[at] = plan.number_of(body);
        let layout = &mut self.layouts[at];
        layout.tags.clear();
        layout.tags.extend_from_slice(message.tags());
        layout.findings.clear();
        layout.findings.extend_from_slice(&findings.structure);
        (layout.policy, layout.closer_looks) = (*policy, false);
        std::mem::swap(&mut layout.places, places);
        std::mem::swap(&mut layout.steps, &mut self.steps);
        self.last = at;
        Some(LayoutId(at))
    }

    /// Returns a layout that was not used for long.
    fn next_to_replace(&mut self) -> usize {
        loop {
            let at = self.hand;
            self.hand = (at + 1) % self.layouts.len();
            if !std::mem::take(&mut self.layouts[at].used) {
                return at;
            }
        }
    }
}
