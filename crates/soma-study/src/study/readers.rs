//! What is known of a study: for its loop, and for looking.

use std::collections::BTreeSet;
use std::sync::MutexGuard;
use std::time::Duration;

use soma_store::{Damage, Sealed, Store};

use super::Study;
use super::error::StudyError;
use super::view::View;
use crate::goal::Goal;
use crate::history::{Curves, History, Observation, Trials};
use crate::point::Point;
use crate::record::{self, Id};
use crate::space::Space;
use crate::state::State;
use crate::trial::Trial;

/// A trial whose process ended without saying how it went: `take` with `attempt + 1` has it tried again.
#[derive(Debug, Clone, PartialEq)]
pub struct Abandoned {
    /// The trial's number.
    pub trial: u64,
    /// The last attempt, which fell silent.
    pub attempt: u32,
    /// Where it looked. None where the process ended between claiming the trial and saying so.
    pub point: Option<Point>,
    /// Who took it; empty where that is not recorded.
    pub who: String,
}

/// The trials that ran to the end, in trial order: empty for a study that nobody has begun. Pruned, failed and
/// discarded trials are left out. Costs what is new since the last look.
///
/// # Errors
/// A newer version wrote it; the storage fails.
pub fn finished(store: &Store, study: &str) -> Result<History, StudyError> {
    Ok(Study::of(store, study).read()?.finished())
}

/// The trials under way, in trial order, without scores: empty for a study that nobody has begun. One whose process
/// has been silent for the store's lease is left out.
///
/// # Errors
/// As [`finished`].
pub fn in_flight(store: &Store, study: &str) -> Result<History, StudyError> {
    let study = Study::of(store, study);
    let is_mine = study.is_mine();
    let mut view = study.read()?;
    let silent = view.silent(&study.records, store.options().lease, is_mine)?;
    let running = view.running().filter(|(id, _)| !silent.contains(id));
    let row = |(id, attempt): (Id, &super::view::Attempt)| {
        Some(Observation { trial: id.trial, point: attempt.point.clone()?, score: None })
    };
    Ok(running.filter_map(row).collect())
}

/// What a sampler is to know: the trials that ran to the end with their scores, and then every other one without,
/// under way, pruned, failed or abandoned, so that no point of a finite space is asked for twice. Empty for a study that
/// nobody has begun; discarded trials are left out. An abandoned trial is among them because its point will be tried
/// again under its own number.
///
/// # Errors
/// As [`finished`].
pub fn asked(store: &Store, study: &str) -> Result<History, StudyError> {
    Ok(Study::of(store, study).read()?.asked())
}

/// The curves of the trials that ran to the end, in trial order: empty for a study that nobody has begun.
///
/// # Errors
/// As [`finished`].
pub fn curves(store: &Store, study: &str) -> Result<Curves, StudyError> {
    Ok(Study::of(store, study).read()?.curves())
}

/// The running trials whose process has been silent for `lease` (None: the store's), in trial order: empty for a study
/// that nobody has begun. A trial that was claimed and never recorded is among them.
///
/// Silence is measured by this process's own clock where it has watched for a lease, else by the storage's time
/// against the storage's time; time in which this process was suspended does not count. A lease shorter than three of
/// the signs of life that a ledger promises counts as that long.
///
/// # Errors
/// As [`finished`].
pub fn abandoned(store: &Store, study: &str, lease: Option<Duration>) -> Result<Vec<Abandoned>, StudyError> {
    let study = Study::of(store, study);
    let lease = lease.unwrap_or(store.options().lease);
    let is_mine = study.is_mine();
    let mut view = study.read()?;
    let silent = view.silent(&study.records, lease, is_mine)?;
    let mut found: Vec<Abandoned> = view
        .running()
        // Behind the last number there is none to try it again under.
        .filter(|(id, _)| silent.contains(id) && id.attempt < u32::MAX)
        .map(|(id, attempt)| Abandoned {
            trial: id.trial,
            attempt: id.attempt,
            point: attempt.point.clone(),
            who: attempt.who.as_deref().unwrap_or_default().to_owned(),
        })
        .collect();
    for Id { trial, attempt } in view.unrecorded(&study.records, lease)? {
        // The point is the trial's, whichever attempt looked there.
        let point =
            view.entry(trial).and_then(|entry| entry.attempts.iter().find_map(|one| one.point.clone()));
        found.retain(|one| one.trial != trial);
        found.push(Abandoned { trial, attempt, point, who: String::new() });
    }
    found.sort_by_key(|one| one.trial);
    Ok(found)
}

/// A study for looking: not to be there is an error. What does not read of it hides nothing of the rest.
pub(super) fn existing<'a>(study: &'a Study<'_>) -> Result<MutexGuard<'a, View>, StudyError> {
    let mut view = study.read()?;
    if !view.look_for_documents(&study.records)? {
        let names = study.store.studies()?;
        return Err(StudyError::UnknownStudy {
            study: study.name(),
            location: study.store.location(),
            close: crate::close::close(study.records.name(), names.iter().map(String::as_str)),
            n_studies: names.len(),
        });
    }
    Ok(view)
}

/// Every attempt, in order of trial and attempt. One that was taken over, or whose process has been silent for the
/// store's lease, stands as failed.
///
/// # Errors
/// [`StudyError::UnknownStudy`]; as [`finished`].
pub fn trials(store: &Store, study: &str) -> Result<Trials, StudyError> {
    let study = Study::of(store, study);
    let is_mine = study.is_mine();
    let mut view = existing(&study)?;
    let silent: BTreeSet<Id> = view.silent(&study.records, store.options().lease, is_mine)?;
    Ok(view.rows(&silent))
}

/// The finished trial with the best score; of equal ones the first. None while none has finished.
///
/// # Errors
/// [`StudyError::UnknownStudy`]; [`StudyError::NoGoal`] where neither the study nor `goal` says which end is good;
/// [`StudyError::GoalDiffers`]; as [`finished`].
pub fn best(store: &Store, study: &str, goal: Option<Goal>) -> Result<Option<Trial>, StudyError> {
    let study = Study::of(store, study);
    let mut view = existing(&study)?;
    let known = view.goal();
    if let (Some(given), Some(known)) = (goal, known.filter(|known| goal.is_some_and(|goal| goal != *known)))
    {
        return Err(StudyError::GoalDiffers { study: study.name(), given, known });
    }
    let Some(goal) = goal.or(known) else { return Err(StudyError::NoGoal { study: study.name() }) };
    let rows = view.rows(&BTreeSet::new());
    Ok(best_of(&rows, goal).cloned())
}

/// The best of the trials that ran to the end.
pub(crate) fn best_of(rows: &Trials, goal: Goal) -> Option<&Trial> {
    let ranked = rows.iter().filter(|row| row.state == State::Done && !row.is_discarded);
    let mut best: Option<&Trial> = None;
    for row in ranked {
        let Some(score) = row.score else { continue };
        // Of one trial the first attempt that is done has the say.
        if best.is_some_and(|best| best.trial == row.trial) {
            continue;
        }
        if best.and_then(|best| best.score).is_none_or(|best| goal.is_better(score, best)) {
            best = Some(row);
        }
    }
    best
}

/// The curve of every attempt at a trial, whatever became of it, by attempt.
///
/// # Errors
/// [`StudyError::UnknownStudy`] and [`StudyError::UnknownTrial`]; as [`finished`].
pub fn attempts(store: &Store, study: &str, trial: u64) -> Result<Vec<(u32, Vec<f64>)>, StudyError> {
    let study = Study::of(store, study);
    let view = existing(&study)?;
    let Some(entry) = view.entry(trial) else {
        return Err(StudyError::UnknownTrial { study: study.name(), trial });
    };
    Ok(entry.attempts.iter().map(|one| (one.attempt, one.curve.to_vec())).collect())
}

/// The newest space of a study and its goal.
///
/// # Errors
/// [`StudyError::UnknownStudy`]; [`StudyError::Document`] where its document is gone, and why where it does not read;
/// as [`finished`].
pub fn space(store: &Store, study: &str) -> Result<(Space, Option<Goal>), StudyError> {
    let study = Study::of(store, study);
    let mut view = existing(&study)?;
    let newest = view.known_documents().last().map(|newest| newest.space.clone());
    if let Some(space) = newest {
        return Ok((space, view.goal()));
    }
    view.documents(&study.records)?;
    Err(StudyError::no_document(study.records.document_path(1)))
}

/// Takes a trial out of the study, for instance one whose score was a mistake: it stays on record and in [`trials`],
/// and is left out of everything else. Its number is not given again. On disk when this returns, where the store is
/// durable.
///
/// # Errors
/// [`StudyError::UnknownStudy`] and [`StudyError::UnknownTrial`]; the store refuses or fails.
pub fn discard(store: &Store, study: &str, trial: u64, because: Option<&str>) -> Result<(), StudyError> {
    let study = Study::of(store, study);
    {
        let view = existing(&study)?;
        match view.entry(trial) {
            None => return Err(StudyError::UnknownTrial { study: study.name(), trial }),
            Some(entry) if entry.is_discarded => return Ok(()),
            Some(_) => {}
        }
    }
    let mut line = Vec::new();
    record::write_discard(&mut line, trial, because);
    study.records.write(&line, true)?;
    Ok(())
}

/// What is damaged in a study's files, as far as reading it came upon it; `Store::verify` looks at everything. Nothing
/// damaged stops a reader. An unfinished last record is damage once its process is gone or silent for the store's lease.
///
/// # Errors
/// As [`finished`].
pub fn damage(store: &Store, study: &str) -> Result<Vec<Damage>, StudyError> {
    let study = Study::of(store, study);
    let mut view = study.read()?;
    view.look_for_documents(&study.records)?;
    view.all_damage(&study.records, store.options().lease)
}

/// Gathers the study's small ledgers in one file, so that whoever reads it for the first time opens that one: worth it
/// where hundreds of short processes worked on it, above all on a file server. None where nothing would be gained.
///
/// # Errors
/// [`StudyError::UnknownStudy`]; the store refuses or fails.
pub fn seal(store: &Store, study: &str) -> Result<Option<Sealed>, StudyError> {
    let study = Study::of(store, study);
    drop(existing(&study)?);
    Ok(study.records.seal()?)
}

/// Damage that was found since the last call in this process: what a caller is to be warned of. Reads nothing.
pub fn new_damage(store: &Store, study: &str) -> Vec<Damage> {
    Study::of(store, study).view().new_damage()
}
