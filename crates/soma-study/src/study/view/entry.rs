//! Trials and their attempts, as far as they are known.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use soma_store::LedgerId;

use crate::point::Point;
use crate::state::State;
use crate::study::values::Values;

/// Trials by number.
#[derive(Debug, Default)]
pub(super) struct Entries {
    places: FxHashMap<u64, usize>,
    pub(super) all: Vec<(u64, Entry)>,
    // Records of one trial mostly follow one another.
    last: usize,
}

impl Entries {
    pub(super) fn get(&self, trial: u64) -> Option<&Entry> {
        self.places.get(&trial).map(|place| &self.all[*place].1)
    }

    pub(super) fn entry(&mut self, trial: u64) -> &mut Entry {
        if self.all.get(self.last).is_none_or(|(last, _)| *last != trial) {
            self.last = *self.places.entry(trial).or_insert_with(|| {
                self.all.push((trial, Entry::default()));
                self.all.len() - 1
            });
        }
        &mut self.all[self.last].1
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.all.iter().map(|(trial, entry)| (*trial, entry))
    }
}

/// One trial.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    pub(crate) attempts: Vec<Attempt>,
    pub(super) fences: Vec<Fence>,
    // Ledgers that spoke of it before the one each attempt names.
    pub(super) ledgers: Vec<LedgerId>,
    pub(crate) is_discarded: bool,
}

/// What a take of a later attempt says: behind these places nothing counts for the attempts before it.
#[derive(Debug)]
pub(super) struct Fence {
    pub(super) attempt: u32,
    pub(super) after: Vec<(String, u64)>,
}

/// One attempt.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "the number of an attempt is called so everywhere")]
pub(crate) struct Attempt {
    pub(crate) attempt: u32,
    pub(crate) who: Option<Arc<str>>,
    pub(crate) space_version: u32,
    pub(crate) point: Option<Point>,
    pub(crate) curve: Values,
    pub(crate) state: State,
    pub(crate) score: Option<f64>,
    pub(super) because: Option<Arc<str>>,
    pub(super) took_secs: Option<f64>,
    // Where it was last spoken of, and where its end stands.
    pub(crate) ledger: LedgerId,
    pub(super) offset: u64,
}

impl Entry {
    /// The attempt whose result is the trial's for ever: the first that is done.
    pub(crate) fn done(&self) -> Option<&Attempt> {
        self.attempts.iter().find(|one| one.state == State::Done)
    }

    pub(crate) fn get(&self, attempt: u32) -> Option<&Attempt> {
        self.attempts.binary_search_by_key(&attempt, |one| one.attempt).ok().map(|at| &self.attempts[at])
    }

    /// The attempt after `attempt`, if somebody has it on record.
    pub(crate) fn after(&self, attempt: u32) -> Option<&Attempt> {
        self.attempts.iter().find(|one| one.attempt > attempt && one.who.is_some())
    }
}

impl Attempt {
    pub(super) fn new(attempt: u32, ledger: LedgerId) -> Self {
        Self {
            attempt,
            who: None,
            space_version: 0,
            point: None,
            curve: Values::new(),
            state: State::Running,
            score: None,
            because: None,
            took_secs: None,
            ledger,
            offset: 0,
        }
    }

    /// Forgets how it ended: that was said behind a fence.
    pub(super) fn reopen(&mut self) {
        (self.state, self.score, self.because, self.took_secs) = (State::Running, None, None, None);
    }
}

impl Fence {
    /// Whether what stands at this place says nothing about `attempt`.
    pub(super) fn voids(&self, attempt: u32, ledger: &str, offset: u64) -> bool {
        attempt < self.attempt
            && self.after.iter().find(|(name, _)| name == ledger).is_none_or(|(_, end)| offset >= *end)
    }
}
