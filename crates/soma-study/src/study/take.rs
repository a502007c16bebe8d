//! Claiming a trial.

use std::fmt::Write;
use std::time::{Duration, Instant};

use soma_store::Store;

use super::error::StudyError;
use super::view::{Document, View};
use super::{Mine, Running, Study};
use crate::goal::Goal;
use crate::point::Point;
use crate::record::{self, Id, Taking};
use crate::space::Space;

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
    if study.records.is_taken_away(Duration::ZERO)? {
        // What other threads had under way there went with it, and does not come back.
        study.view().forget();
        mine.running.clear();
    }
    let Some(version) = prepare(&study, point, how)? else { return Ok(false) };
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
    write!(text, "{point}").expect("memory takes every character");
    line.clear();
    let origin = point.origin();
    record::write_take(line, &Taking { id, me: how.me, space_version: version, point: text, origin }, &after);
    drop(view);
    study.records.write(line, false)?;
    running.insert(id, Running::begun(&study, how, line));
    Ok(true)
}

impl Running {
    /// An attempt whose taking was written right now.
    fn begun(study: &Study<'_>, how: &Take<'_>, line: &[u8]) -> Self {
        let now = Instant::now();
        Self {
            me: how.me.into(),
            said: 0,
            last: f64::NAN,
            goal: how.goal,
            began: Some(now),
            looked: now,
            take: line.into(),
            epoch: study.records.epoch(),
            is_unsure: false,
            _held: study.records.hold(),
        }
    }
}

/// Looks whether an attempt can be had; answers which version of the study's document its point is of. None where it
/// cannot.
fn prepare(study: &Study<'_>, point: &Point, how: &Take<'_>) -> Result<Option<u32>, StudyError> {
    let mut view = study.view();
    if !view.is_begun() || how.attempt > 0 {
        view.read_on(&study.records)?;
    }
    let version = version_of(study, &mut view, point, how.goal)?;
    if is_taken(study, &view, Id { trial: how.trial, attempt: how.attempt })? {
        return Ok(None);
    }
    if how.attempt > 0 {
        // Refused here, before anything is claimed, where it would be afterwards.
        view.fence(how.trial)?;
    }
    Ok(Some(version))
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
pub(super) fn version_of(
    study: &Study<'_>,
    view: &mut View,
    point: &Point,
    goal: Option<Goal>,
) -> Result<u32, StudyError> {
    loop {
        let fits = |document: &Document| {
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

fn document(name: &str, version: u32, space: &Space, goal: Option<Goal>) -> Vec<u8> {
    let goal = goal.map_or("null".to_owned(), |goal| format!("\"{goal}\""));
    let (name, space) = (serde_json::Value::from(name), serde_json::Value::from(space.to_string()));
    format!(r#"{{"name":{name},"format":1,"space_version":{version},"space":{space},"goal":{goal}}}"#)
        .into_bytes()
}
