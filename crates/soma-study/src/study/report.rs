//! Writing down where a trial got to.

use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use soma_store::Store;

use super::error::StudyError;
use super::refusal::{held_by_another, not_taken, refusal, refusal_of, settle_contest, taken_over};
use super::take::{Take, version_of};
use super::{Mine, Running, Study};
use crate::goal::Goal;
use crate::point::Point;
use crate::record::{self, Ending, Id};
use crate::state::State;

/// Between two looks whether somebody took a running trial over: nobody reports more often than this to a trial that is
/// worth taking over.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What is reported, to which attempt at which trial, by whom.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The study.
    pub study: &'a str,
    /// The trial's number.
    pub trial: u64,
    /// Who took it.
    pub me: &'a str,
    /// The attempt that was taken.
    pub attempt: u32,
    /// Where the trial stands now.
    pub state: State,
    /// What it is ranked by. None takes the last value of the curve.
    pub score: Option<f64>,
    /// Why it was pruned, or failed.
    pub because: Option<&'a str>,
    /// Which end of the score is good. None leaves it as the study has it.
    pub goal: Option<Goal>,
}

impl<'a> Report<'a> {
    /// A report to a running trial that was taken like this.
    pub const fn of(take: &Take<'a>) -> Self {
        let Take { study, trial, me, attempt, goal } = *take;
        Self { study, trial, me, attempt, state: State::Running, score: None, because: None, goal }
    }

    /// Sets `state`.
    #[must_use]
    pub const fn with_state(mut self, state: State) -> Self {
        self.state = state;
        self
    }

    /// Sets `score`.
    #[must_use]
    pub const fn with_score(mut self, score: f64) -> Self {
        self.score = Some(score);
        self
    }

    /// Sets `because`.
    #[must_use]
    pub const fn with_because(mut self, because: &'a str) -> Self {
        self.because = Some(because);
        self
    }
}

/// Writes down where a trial got to: what is new in `said`, which is the whole curve so far, and how it ended if it
/// did. A report of an ended trial is on disk when this returns, where the store is durable; every report is visible
/// to others.
///
/// A trial that is done with a score that is not finite is written down as failed, with the reason.
///
/// # Errors
/// A refusal, after which nothing has changed: [`StudyError::HeldByAnother`], [`StudyError::NotTaken`],
/// [`StudyError::AlreadyEnded`] and [`StudyError::TakenOver`]; [`StudyError::CurveDiffers`],
/// [`StudyError::NoScore`] and [`StudyError::GoalDiffers`]. The store refuses or fails: then reporting the same again
/// is right.
pub fn report(store: &Store, point: &Point, said: &[f64], how: &Report<'_>) -> Result<(), StudyError> {
    let study = Study::of(store, how.study);
    let id = Id { trial: how.trial, attempt: how.attempt };
    let mut mine = study.mine();
    let is_known = mine.running.contains_key(&id);
    let written = write(&study, &mut mine, point, said, how);
    // What this call took up is not held after a refusal; where the store failed the same is reported again.
    if !is_known && written.as_ref().is_err_and(|error| !matches!(error, StudyError::Store(_))) {
        mine.running.remove(&id);
    }
    // Others of this process go on while this one waits for somebody else.
    drop(mine);
    written?;
    if how.state.is_finished() && is_contested(&study, id)? {
        return settle_contest(&study, how);
    }
    Ok(())
}

fn write(
    study: &Study<'_>,
    mine: &mut Mine,
    point: &Point,
    said: &[f64],
    how: &Report<'_>,
) -> Result<(), StudyError> {
    let id = Id { trial: how.trial, attempt: how.attempt };
    let Mine { running, line, .. } = mine;
    let own = held(study, running, how)?;
    let is_end = how.state.is_finished();
    if is_end && study.records.is_taken_away(LOOK_EVERY)? {
        study.view().forget();
        running.clear();
        return Err(not_taken(study, how));
    }
    if how.goal.is_some() && how.goal != own.goal {
        version_of(study, &mut study.view(), point, how.goal)?;
        own.goal = how.goal;
    }
    if let Some(refused) = own.look(study, how)? {
        running.remove(&id);
        return Err(refused);
    }
    // Asked before anything is written: a ledger that breaks off from here on is noticed by the next report.
    let epoch = study.records.epoch();
    let from = own.continued(study, said, epoch, how)?;
    line.clear();
    if is_end {
        own.write_end(study, line, said, from, how)?;
        running.remove(&id);
    } else if from < said.len() {
        record::write_report(line, id, from, &said[from..]);
        study.records.write(line, false)?;
        (own.said, own.last, own.epoch) = (said.len(), said[said.len() - 1], epoch);
    }
    Ok(())
}

/// Whether somebody claimed the next attempt.
fn is_contested(study: &Study<'_>, id: Id) -> Result<bool, StudyError> {
    let next = id.attempt.checked_add(1);
    Ok(next.map_or(Ok(false), |next| study.records.is_claimed(id.trial, next))?)
}

/// The attempt that is reported to, if it is this worker's.
fn held<'a>(
    study: &Study<'_>,
    running: &'a mut FxHashMap<Id, Running>,
    how: &Report<'_>,
) -> Result<&'a mut Running, StudyError> {
    match running.entry(Id { trial: how.trial, attempt: how.attempt }) {
        Entry::Occupied(own) if *own.get().me == *how.me => Ok(own.into_mut()),
        Entry::Occupied(own) => Err(held_by_another(study, how, &own.get().me)),
        Entry::Vacant(place) => Ok(place.insert(adopt(study, how)?)),
    }
}

impl Running {
    /// Why it cannot be reported to any more, looked up now and then, and before its end: somebody else of the same name
    /// may have ended it, or anybody taken it over.
    fn look(&mut self, study: &Study<'_>, how: &Report<'_>) -> Result<Option<StudyError>, StudyError> {
        let is_due = self.looked.elapsed() >= LOOK_EVERY;
        if !is_due && !how.state.is_finished() {
            return Ok(None);
        }
        // Its end was written, and the write may have failed: to say it again is right.
        let is_own =
            |refused: &StudyError| self.is_unsure && matches!(refused, StudyError::AlreadyEnded { .. });
        let mut refused = refusal(study, how)?.filter(|refused| !is_own(refused));
        if refused.is_none() && is_due && is_contested(study, Id { trial: how.trial, attempt: how.attempt })?
        {
            refused = Some(taken_over(study, how)?);
        }
        self.looked = Instant::now();
        Ok(refused)
    }

    /// From where on the curve is to be written; one that does not continue what was said is refused. An end may leave
    /// the curve out.
    fn continued(
        &self,
        study: &Study<'_>,
        said: &[f64],
        epoch: u64,
        how: &Report<'_>,
    ) -> Result<usize, StudyError> {
        let is_left_out = how.state.is_finished() && said.is_empty();
        let continues = said.len() >= self.said
            && self.said.checked_sub(1).is_none_or(|last| same(said[last], self.last));
        if !continues && !is_left_out {
            return Err(StudyError::CurveDiffers {
                study: study.name(),
                trial: how.trial,
                given: said.len(),
                known: self.said,
            });
        }
        if self.epoch == epoch {
            return Ok(self.said.min(said.len()));
        }
        // What a failed disk may have lost is said again.
        if !self.take.is_empty() {
            study.records.write(&self.take, false)?;
        }
        Ok(0)
    }

    fn write_end(
        &mut self,
        study: &Study<'_>,
        line: &mut Vec<u8>,
        said: &[f64],
        from: usize,
        how: &Report<'_>,
    ) -> Result<(), StudyError> {
        let last = said.last().copied().or((self.said > 0).then_some(self.last));
        let (state, score, because) = ending(study, how, last)?;
        let took_secs = self.began.map(|began| began.elapsed().as_secs_f64());
        let end = Ending { state, score, because: because.as_deref(), took_secs };
        let id = Id { trial: how.trial, attempt: how.attempt };
        record::write_end(line, id, if said.is_empty() { self.said } else { from }, &said[from..], &end);
        self.is_unsure = true;
        study.records.write(line, true)?;
        Ok(())
    }
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// State, score and reason as they are written down.
fn ending(
    study: &Study<'_>,
    how: &Report<'_>,
    last: Option<f64>,
) -> Result<(State, Option<f64>, Option<String>), StudyError> {
    let score = how.score.or(last);
    let because = how.because.map(str::to_owned);
    match (how.state, score) {
        (State::Done, None) => Err(StudyError::NoScore { study: study.name(), trial: how.trial }),
        (State::Done, Some(score)) if !score.is_finite() => {
            let why = if score.is_nan() { "the score is NaN" } else { "the score is infinite" };
            let because = because.map_or(why.to_owned(), |because| format!("{why}: {because}"));
            Ok((State::Failed, None, Some(because)))
        }
        (state, score) => Ok((state, score.filter(|score| score.is_finite()), because)),
    }
}

/// A trial that this process did not take, or has ended: found in the record, if it is this worker's to report to.
fn adopt(study: &Study<'_>, how: &Report<'_>) -> Result<Running, StudyError> {
    let view = study.read()?;
    let entry = view.entry(how.trial);
    let found = entry.and_then(|entry| entry.get(how.attempt));
    let Some((found, holder)) = found.and_then(|found| Some((found, found.who.as_ref()?))) else {
        return Err(not_taken(study, how));
    };
    if **holder != *how.me {
        return Err(held_by_another(study, how, holder));
    }
    if let Some(refused) = refusal_of(study, how, entry) {
        return Err(refused);
    }
    let now = Instant::now();
    // Looked at long ago: somebody may have taken it over meanwhile.
    let looked = now.checked_sub(LOOK_EVERY).unwrap_or(now);
    Ok(Running {
        me: Arc::clone(holder),
        said: found.curve.len(),
        last: found.curve.last().copied().unwrap_or(f64::NAN),
        goal: None,
        began: None,
        looked,
        take: Box::default(),
        epoch: study.records.epoch(),
        is_unsure: false,
        _held: study.records.hold(),
    })
}
