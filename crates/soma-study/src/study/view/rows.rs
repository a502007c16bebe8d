//! Every attempt as a row for people.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::View;
use super::entry::{Attempt, Entry};
use crate::goal::Goal;
use crate::history::{Growing, Trials};
use crate::record::Id;
use crate::state::State;
use crate::trial::Trial;

/// Every attempt as a row; made when first asked for, kept up to date from then on.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) growing: Growing<Trial>,
    pub(super) changed: Option<FxHashSet<Id>>,
    pub(super) silent: BTreeSet<Id>,
    pub(super) goal: Option<Goal>,
}

impl Rows {
    pub(super) fn touch(&mut self, id: Id) {
        if let Some(changed) = &mut self.changed {
            changed.insert(id);
        }
    }
}

impl View {
    /// Every attempt; those in `silent` as failed.
    pub(crate) fn rows(&mut self, silent: &BTreeSet<Id>) -> Trials {
        let goal = self.goal();
        if self.rows.goal != goal || self.rows.changed.is_none() {
            self.rows = Rows { goal, changed: Some(FxHashSet::default()), ..Rows::default() };
            for (trial, entry) in self.trials.iter() {
                entry.attempts.iter().for_each(|one| self.rows.touch(Id { trial, attempt: one.attempt }));
            }
        }
        let differing: Vec<Id> = silent.symmetric_difference(&self.rows.silent).copied().collect();
        for id in differing {
            self.rows.touch(id);
        }
        self.rows.silent.clone_from(silent);
        // In order, so that a first reading appends instead of inserting.
        let mut changed: Vec<Id> = self.rows.changed.iter_mut().flat_map(std::mem::take).collect();
        changed.sort_unstable();
        for id in changed {
            let Some(entry) = self.trials.get(id.trial) else { continue };
            let Some(attempt) = entry.get(id.attempt) else { continue };
            self.rows.growing.set(row(id, entry, attempt, goal, silent.contains(&id)));
        }
        self.rows.growing.snapshot()
    }
}

fn row(id: Id, entry: &Entry, attempt: &Attempt, goal: Option<Goal>, is_silent: bool) -> Trial {
    let (mut state, mut because) = (attempt.state, attempt.because.clone());
    if state == State::Running {
        if let Some(next) = entry.after(id.attempt) {
            let who = next.who.as_deref().unwrap_or_default();
            state = State::Failed;
            because = Some(format!("abandoned: taken over by `{who}` as attempt {}", next.attempt).into());
        } else if is_silent {
            state = State::Failed;
            because = Some("abandoned: no sign of life for a lease".into());
        }
    }
    Trial {
        trial: id.trial,
        attempt: id.attempt,
        state,
        point: attempt.point.clone(),
        score: attempt.score,
        who: attempt.who.clone().unwrap_or_default(),
        goal,
        because,
        took_secs: attempt.took_secs,
        reports: attempt.curve.len(),
        space_version: attempt.space_version,
        is_discarded: entry.is_discarded,
    }
}
