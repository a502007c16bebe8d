//! A study at a glance.

use std::collections::BTreeMap;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};
use soma_store::{Damage, LedgerId, Store};

use super::Study;
use super::error::StudyError;
use super::readers::{best_of, existing};
use crate::goal::Goal;
use crate::space::Space;
use crate::state::State;
use crate::trial::Trial;

/// How many trials stand where; each trial counts once, by its result or else its last attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Under way, with signs of life.
    pub running: usize,
    /// Ran to the end.
    pub done: usize,
    /// Stopped early.
    pub pruned: usize,
    /// Ended without a score.
    pub failed: usize,
    /// Silent for a lease.
    pub abandoned: usize,
    /// Taken out of the study.
    pub discarded: usize,
}

/// Somebody who took trials of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The name it took them under.
    pub who: String,
    /// Trials it has under way.
    pub running: usize,
    /// Trials it took, in all.
    pub taken: usize,
    /// How long it has given no sign of life, as far as can be known.
    pub silent: Duration,
}

/// A study at a glance.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Its name.
    pub study: String,
    /// Which end of the score is good. None where nobody said.
    pub goal: Option<Goal>,
    /// The newest version of its space; empty where its document does not read.
    pub space: Space,
    /// How many versions of its space there are.
    pub space_versions: usize,
    /// Where its trials stand.
    pub counts: Counts,
    /// Its best trial. None without a goal or a finished trial.
    pub best: Option<Trial>,
    /// Who works or worked on it, by name.
    pub workers: Vec<Worker>,
    /// How long ago anybody wrote anything, as far as can be known. None where nobody took a trial.
    pub last_activity: Option<Duration>,
    /// Ledger files.
    pub ledgers: usize,
    /// Their size.
    pub size_bytes: u64,
    /// What is damaged, as far as reading came upon it.
    pub damage: Vec<Damage>,
}

/// A study at a glance. Reads what is new since the last look.
///
/// # Errors
/// [`StudyError::UnknownStudy`]; a newer version wrote it; the storage fails.
pub fn summary(store: &Store, study: &str) -> Result<Summary, StudyError> {
    let study = Study::of(store, study);
    let is_mine = study.is_mine();
    let mut view = existing(&study)?;
    let silent = view.silent(&study.records, store.options().lease, is_mine)?;
    let mut counts = Counts::default();
    // Taken and under way, by ledger and name: a study has many trials and few of those.
    let mut spoken: FxHashMap<LedgerId, BTreeMap<String, (usize, usize)>> = FxHashMap::default();
    let running: FxHashSet<(u64, u32)> = view.running().map(|(id, _)| (id.trial, id.attempt)).collect();
    for (trial, entry) in view.entries() {
        let Some(last) = entry.attempts.last() else { continue };
        let id = crate::record::Id { trial, attempt: last.attempt };
        let count = match (entry.done(), last.state) {
            _ if entry.is_discarded => &mut counts.discarded,
            (Some(_), _) => &mut counts.done,
            (None, State::Running) if silent.contains(&id) => &mut counts.abandoned,
            (None, State::Running) => &mut counts.running,
            (None, State::Pruned) => &mut counts.pruned,
            (None, State::Failed | State::Done) => &mut counts.failed,
        };
        *count += 1;
        for one in &entry.attempts {
            let by_name = spoken.entry(one.ledger).or_default();
            let who = one.who.as_deref().unwrap_or_default();
            if !by_name.contains_key(who) {
                by_name.insert(who.to_owned(), (0, 0));
            }
            if let Some((taken, under_way)) = by_name.get_mut(who) {
                *taken += 1;
                *under_way += usize::from(running.contains(&(trial, one.attempt)));
            }
        }
    }
    let mut workers: BTreeMap<String, Worker> = BTreeMap::new();
    for (ledger, by_name) in spoken {
        let silent = view.silence(&study.records, ledger)?;
        for (who, (taken, under_way)) in by_name {
            let worker = workers.entry(who.clone()).or_insert(Worker {
                who,
                running: 0,
                taken: 0,
                silent: Duration::MAX,
            });
            worker.taken += taken;
            worker.running += under_way;
            worker.silent = worker.silent.min(silent);
        }
    }
    let goal = view.goal();
    let best = goal.and_then(|goal| best_of(&view.rows(&silent), goal).cloned());
    let (ledgers, size_bytes) = view.size();
    let documents = view.known_documents();
    let space = documents.last().map(|newest| newest.space.clone()).unwrap_or_default();
    Ok(Summary {
        study: study.name(),
        goal,
        space,
        space_versions: documents.len(),
        counts,
        best,
        last_activity: workers.values().map(|worker| worker.silent).min(),
        workers: workers.into_values().collect(),
        ledgers,
        size_bytes,
        damage: view.all_damage(&study.records, store.options().lease)?,
    })
}
