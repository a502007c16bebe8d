//! The functions that a study's loop is made of: take a trial, report to it, read what is known.
//!
//! A study is a loop over numbered trials and functions over a store. `take` claims a trial, `report` writes down where
//! it got to, the others read. Every process that looks at a study keeps what it has read and reads on from there.

mod error;
mod readers;
mod summary;
mod values;
mod view;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use soma_store::{Held, Store, StudyRecords};

pub use error::StudyError;
pub use readers::{
    Abandoned, abandoned, asked, attempts, best, curves, damage, discard, finished, in_flight, new_damage,
    seal, space, trials,
};
pub use summary::{Counts, Summary, Worker, summary};

use crate::goal::Goal;
use crate::point::Point;
use crate::record::{self, Ending, Id};
use crate::state::State;
use view::{Entry, View};

/// Between two looks whether somebody took a running trial over: nobody reports more often than this to a trial that is
/// worth taking over.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long a result waits for somebody who took the trial over in the same instant to say from where on.
const CONTEST: Duration = Duration::from_secs(1);

/// Which attempt at which trial is to be taken, by whom.
#[derive(Debug, Clone, Copy)]
pub struct Take<'a> {
    /// The study; the first take begins it.
    pub study: &'a str,
    /// The trial's number.
    pub trial: u64,
    /// Who takes it: reports are accepted from nobody else.
    pub me: &'a str,
    /// 0 at first; one more than the last attempt to take over what was abandoned or failed.
    pub attempt: u32,
    /// Which end of the score is good. None leaves it as the study has it.
    pub goal: Option<Goal>,
}

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

/// What the threads of a process share of a study.
#[derive(Debug, Default)]
pub(crate) struct Known {
    view: Mutex<View>,
    mine: Mutex<Mine>,
}

/// The attempts this process works on.
#[derive(Debug, Default)]
struct Mine {
    running: FxHashMap<Id, Running>,
    line: Vec<u8>,
    point: String,
}

#[derive(Debug)]
struct Running {
    me: Arc<str>,
    // Values on record, and the last of them.
    said: usize,
    last: f64,
    // The goal it was taken with, which is the study's.
    goal: Option<Goal>,
    // None where another process took it.
    began: Option<Instant>,
    looked: Instant,
    // The record of its taking, and which ledger that and the curve are in.
    take: Box<[u8]>,
    epoch: u64,
    // Its end was written, and the write or its barrier failed.
    is_unsure: bool,
    _held: Held,
}

/// A study's records and what this process knows of them.
pub(crate) struct Study<'a> {
    pub(crate) store: &'a Store,
    pub(crate) records: StudyRecords,
    pub(crate) known: Arc<Known>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Study<'a> {
    pub(crate) fn of(store: &'a Store, name: &str) -> Self {
        let records = store.study(name);
        let known = records.attached();
        Self { store, records, known }
    }

    /// The view, as far as it was read.
    pub(crate) fn view(&self) -> MutexGuard<'_, View> {
        lock(&self.known.view)
    }

    /// The view, read on to the present.
    pub(crate) fn read(&self) -> Result<MutexGuard<'_, View>, StudyError> {
        let mut view = self.view();
        view.read_on(&self.records)?;
        Ok(view)
    }

    fn mine(&self) -> MutexGuard<'_, Mine> {
        lock(&self.known.mine)
    }

    pub(crate) fn is_mine(&self) -> impl Fn(Id) -> bool {
        let running: rustc_hash::FxHashSet<Id> = self.mine().running.keys().copied().collect();
        move |id| running.contains(&id)
    }

    pub(crate) fn name(&self) -> String {
        self.records.name().to_owned()
    }
}

/// Claims an attempt at a trial. True for exactly one of any number of callers, on any machines; false where somebody
/// has it, or the trial has its result.
///
/// The first take begins the study: it writes the point's space and the goal down, once. A point of a space with other
/// bounds or options adds a version. From here on this process gives signs of life for the trial, from a thread of its
/// own, until it has ended. Nothing waits for the disk.
///
/// ```
/// use soma_store::Store;
/// use soma_study::{Report, Space, State, Take, finished, report, take};
///
/// let store = Store::open("memory://")?;
/// let point = Space::new().choice("opt", ["adam", "sgd"])?.parse_point("opt=sgd")?;
/// let how = Take { study: "widths", trial: 0, me: "this machine", attempt: 0, goal: None };
/// assert!(take(&store, &point, &how)?);
/// assert!(!take(&store, &point, &how)?);
/// report(&store, &point, &[0.5, 0.25], &Report::of(&how).with_state(State::Done))?;
/// assert_eq!(finished(&store, "widths")?[0].score, Some(0.25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// Never: memory takes every character.
///
/// # Errors
/// [`StudyError::SpaceDiffers`], [`StudyError::GoalDiffers`] and [`StudyError::AttemptSkipped`]; the store refuses or
/// fails. After a failure of the store the trial may count as taken, by nobody, until a lease has passed.
pub fn take(store: &Store, point: &Point, how: &Take<'_>) -> Result<bool, StudyError> {
    let study = Study::of(store, how.study);
    let id = Id { trial: how.trial, attempt: how.attempt };
    let mut mine = study.mine();
    let version = {
        let mut view = study.view();
        if study.records.is_taken_away(Duration::ZERO)? {
            view.forget();
        }
        if !view.is_begun() || how.attempt > 0 {
            view.read_on(&study.records)?;
        }
        let version = version_of(&study, &mut view, point, how.goal)?;
        if is_taken(&study, &view, id)? {
            return Ok(false);
        }
        if how.attempt > 0 {
            view.fence(id.trial)?;
        }
        version
    };
    if !study.records.claim(id.trial, id.attempt)? {
        return Ok(false);
    }
    let mut view = study.view();
    let mut after = Vec::new();
    if how.attempt > 0 {
        // Whoever had it before sees our claim from now on, or has said what it had to say before.
        view.read_on(&study.records)?;
        if view.entry(id.trial).is_some_and(|entry| entry.done().is_some()) {
            return Ok(false);
        }
        after = view.fence(id.trial)?;
    }
    let Mine { running, line, point: text } = &mut *mine;
    text.clear();
    std::fmt::Write::write_fmt(text, format_args!("{point}")).expect("memory takes every character");
    line.clear();
    record::write_take(line, id, how.me, version, text, &after);
    drop(view);
    study.records.write(line, false)?;
    let now = Instant::now();
    let began = Running {
        me: how.me.into(),
        said: 0,
        last: f64::NAN,
        goal: how.goal,
        began: Some(now),
        looked: now,
        take: line.as_slice().into(),
        epoch: study.records.epoch(),
        is_unsure: false,
        _held: study.records.hold(),
    };
    running.insert(id, began);
    Ok(true)
}

/// Whether an attempt cannot be had, as far as is known.
fn is_taken(study: &Study<'_>, view: &View, id: Id) -> Result<bool, StudyError> {
    let entry = view.entry(id.trial);
    // A claim may be lost with the power where its record is not.
    if entry
        .is_some_and(|entry| entry.done().is_some() || entry.is_discarded || entry.get(id.attempt).is_some())
    {
        return Ok(true);
    }
    let Some(before) = id.attempt.checked_sub(1) else { return Ok(false) };
    if entry.is_none_or(|entry| entry.get(before).is_none()) && !study.records.is_claimed(id.trial, before)? {
        let missing =
            (0..id.attempt).find(|one| entry.is_none_or(|entry| entry.get(*one).is_none())).unwrap_or(before);
        return Err(StudyError::AttemptSkipped {
            study: study.name(),
            trial: id.trial,
            attempt: id.attempt,
            missing,
        });
    }
    Ok(false)
}

/// The version of the study's document that a point is of, written where there is none yet.
fn version_of(
    study: &Study<'_>,
    view: &mut View,
    point: &Point,
    goal: Option<Goal>,
) -> Result<u32, StudyError> {
    loop {
        let fits = |document: &view::Document| {
            document.space == *point.space() && (goal.is_none() || document.goal == goal)
        };
        // The newest first: that is the one a running loop uses.
        if let Some(at) = view.known_documents().iter().rposition(fits) {
            return Ok(at as u32 + 1);
        }
        let known = view.documents(&study.records)?;
        if known.iter().any(fits) {
            continue;
        }
        if let Some(difference) = known.first().and_then(|first| first.space.difference(point.space())) {
            return Err(StudyError::SpaceDiffers { study: study.name(), difference });
        }
        let said = known.iter().rev().find_map(|document| document.goal);
        if let (Some(given), Some(known)) =
            (goal, said.filter(|known| goal.is_some_and(|goal| goal != *known)))
        {
            return Err(StudyError::GoalDiffers { study: study.name(), given, known });
        }
        let version = known.len() as u32 + 1;
        let body = document(study.records.name(), version, point.space(), goal.or(said));
        // Whoever writes it: it is read back next time round.
        study.records.write_document(version, &body)?;
    }
}

fn document(name: &str, version: u32, space: &crate::space::Space, goal: Option<Goal>) -> Vec<u8> {
    let goal = goal.map_or("null".to_owned(), |goal| format!("\"{goal}\""));
    let (name, space) = (serde_json::Value::from(name), serde_json::Value::from(space.to_string()));
    format!(r#"{{"name":{name},"format":1,"space_version":{version},"space":{space},"goal":{goal}}}"#)
        .into_bytes()
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
    let Mine { running, line, .. } = &mut *mine;
    let own = match running.entry(id) {
        std::collections::hash_map::Entry::Occupied(own) if *own.get().me == *how.me => own.into_mut(),
        std::collections::hash_map::Entry::Occupied(own) => {
            return Err(held_by_another(&study, how, &own.get().me));
        }
        std::collections::hash_map::Entry::Vacant(place) => place.insert(adopt(&study, how)?),
    };
    let is_end = how.state.is_finished();
    if is_end && study.records.is_taken_away(LOOK_EVERY)? {
        study.view().forget();
        running.clear();
        let (study, me) = (study.name(), how.me.to_owned());
        return Err(StudyError::NotTaken { study, trial: how.trial, attempt: how.attempt, me });
    }
    if how.goal.is_some() && how.goal != own.goal {
        version_of(&study, &mut study.view(), point, how.goal)?;
        own.goal = how.goal;
    }
    let is_due = own.looked.elapsed() >= LOOK_EVERY;
    if is_due || is_end {
        // Somebody else of the same name may have ended it, or anybody taken it over.
        let is_own =
            |refused: &StudyError| own.is_unsure && matches!(refused, StudyError::AlreadyEnded { .. });
        let mut refused = refusal(&study, how)?.filter(|refused| !is_own(refused));
        if refused.is_none() && is_due && study.records.is_claimed(id.trial, id.attempt + 1)? {
            refused = Some(taken_over(&study, how)?);
        }
        own.looked = Instant::now();
        if let Some(refused) = refused {
            running.remove(&id);
            return Err(refused);
        }
    }
    let is_restart = is_end && said.is_empty();
    let continues =
        said.len() >= own.said && own.said.checked_sub(1).is_none_or(|last| same(said[last], own.last));
    if !continues && !is_restart {
        return Err(StudyError::CurveDiffers {
            study: study.name(),
            trial: id.trial,
            given: said.len(),
            known: own.said,
        });
    }
    let epoch = study.records.epoch();
    let mut from = own.said.min(said.len());
    if own.epoch != epoch {
        // What a failed disk may have lost is said again.
        if !own.take.is_empty() {
            study.records.write(&own.take, false)?;
        }
        from = 0;
    }
    let new = &said[from..];
    line.clear();
    if !is_end {
        if new.is_empty() {
            return Ok(());
        }
        record::write_report(line, id, from, new);
        study.records.write(line, false)?;
        (own.said, own.last, own.epoch) = (said.len(), said[said.len() - 1], epoch);
        return Ok(());
    }
    let last = said.last().copied().or((own.said > 0).then_some(own.last));
    let (state, ranked_by, because) = ending(&study, how, last)?;
    let from = if is_restart { own.said } else { from };
    let took_secs = own.began.map(|began| began.elapsed().as_secs_f64());
    record::write_end(
        line,
        id,
        from,
        new,
        &Ending { state, score: ranked_by, because: because.as_deref(), took_secs },
    );
    own.is_unsure = true;
    study.records.write(line, true)?;
    running.remove(&id);
    if study.records.is_claimed(id.trial, id.attempt + 1)? {
        return settle_contest(&study, how);
    }
    Ok(())
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
    let (study_name, trial, attempt, me) = (study.name(), how.trial, how.attempt, how.me.to_owned());
    let entry = view.entry(trial);
    let Some(found) = entry.and_then(|entry| entry.get(attempt)) else {
        return Err(StudyError::NotTaken { study: study_name, trial, attempt, me });
    };
    let Some(holder) = &found.who else {
        return Err(StudyError::NotTaken { study: study_name, trial, attempt, me });
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

/// Why nothing can be reported to an attempt any more, as far as is on record.
fn refusal(study: &Study<'_>, how: &Report<'_>) -> Result<Option<StudyError>, StudyError> {
    let view = study.read()?;
    Ok(refusal_of(study, how, view.entry(how.trial)))
}

fn refusal_of(study: &Study<'_>, how: &Report<'_>, entry: Option<&Entry>) -> Option<StudyError> {
    let (study, trial, attempt) = (study.name(), how.trial, how.attempt);
    let entry = entry?;
    let state = entry.get(attempt).map(|one| one.state).filter(|state| state.is_finished());
    if let Some(state) = state {
        return Some(StudyError::AlreadyEnded { study, trial, attempt, state });
    }
    let next = entry.after(attempt)?;
    let holder = next.who.as_deref().unwrap_or_default().to_owned();
    Some(StudyError::TakenOver { study, trial, attempt, holder, next: next.attempt })
}

fn held_by_another(study: &Study<'_>, how: &Report<'_>, holder: &str) -> StudyError {
    StudyError::HeldByAnother {
        study: study.name(),
        trial: how.trial,
        attempt: how.attempt,
        me: how.me.to_owned(),
        holder: holder.to_owned(),
    }
}

/// The refusal for a trial whose next attempt is claimed.
fn taken_over(study: &Study<'_>, how: &Report<'_>) -> Result<StudyError, StudyError> {
    let view = study.read()?;
    let next = view.entry(how.trial).and_then(|entry| entry.after(how.attempt));
    Ok(StudyError::TakenOver {
        study: study.name(),
        trial: how.trial,
        attempt: how.attempt,
        holder: next.and_then(|next| next.who.as_deref()).unwrap_or_default().to_owned(),
        next: next.map_or(how.attempt + 1, |next| next.attempt),
    })
}

/// Somebody claimed the next attempt around the time this one's end was written: their record says whether the end came
/// before. Where they do not say so in time, the end counts as refused.
fn settle_contest(study: &Study<'_>, how: &Report<'_>) -> Result<(), StudyError> {
    let begun = Instant::now();
    loop {
        {
            let view = study.read()?;
            if let Some(entry) = view.entry(how.trial).filter(|entry| entry.after(how.attempt).is_some()) {
                let counts = entry.get(how.attempt).is_some_and(|one| one.state.is_finished());
                drop(view);
                return if counts { Ok(()) } else { Err(taken_over(study, how)?) };
            }
        }
        if begun.elapsed() >= CONTEST {
            return Err(taken_over(study, how)?);
        }
        std::thread::sleep(LOOK_EVERY / 10);
    }
}

impl<'a> Take<'a> {
    /// The first attempt at a trial.
    pub const fn new(study: &'a str, trial: u64, me: &'a str) -> Self {
        Self { study, trial, me, attempt: 0, goal: None }
    }

    /// Sets `attempt`.
    #[must_use]
    pub const fn with_attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }

    /// Sets `goal`.
    #[must_use]
    pub const fn with_goal(mut self, goal: Goal) -> Self {
        self.goal = Some(goal);
        self
    }
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
