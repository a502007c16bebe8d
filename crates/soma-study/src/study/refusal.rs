//! Why a report is refused: somebody else holds the trial, nobody does, it has ended or it was taken over.

use std::time::{Duration, Instant};

use super::Study;
use super::error::StudyError;
use super::report::{LOOK_EVERY, Report};
use super::view::Entry;

/// How long a result waits for somebody who took the trial over in the same instant to say from where on.
const CONTEST: Duration = Duration::from_secs(1);

/// Why nothing can be reported to an attempt any more, as far as is on record.
pub(super) fn refusal(study: &Study<'_>, how: &Report<'_>) -> Result<Option<StudyError>, StudyError> {
    let view = study.read()?;
    Ok(refusal_of(study, how, view.entry(how.trial)))
}

/// [`refusal`], from what is known of the trial.
pub(super) fn refusal_of(study: &Study<'_>, how: &Report<'_>, entry: Option<&Entry>) -> Option<StudyError> {
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

/// The refusal for a trial of somebody else's.
pub(super) fn held_by_another(study: &Study<'_>, how: &Report<'_>, holder: &str) -> StudyError {
    StudyError::HeldByAnother {
        study: study.name(),
        trial: how.trial,
        attempt: how.attempt,
        me: how.me.to_owned(),
        holder: holder.to_owned(),
    }
}

/// The refusal for a trial whose next attempt is claimed.
pub(super) fn taken_over(study: &Study<'_>, how: &Report<'_>) -> Result<StudyError, StudyError> {
    let view = study.read()?;
    let next = view.entry(how.trial).and_then(|entry| entry.after(how.attempt));
    Ok(StudyError::TakenOver {
        study: study.name(),
        trial: how.trial,
        attempt: how.attempt,
        holder: next.and_then(|next| next.who.as_deref()).unwrap_or_default().to_owned(),
        next: next.map_or(how.attempt.saturating_add(1), |next| next.attempt),
    })
}

/// Somebody claimed the next attempt around the time this one's end was written: their record says whether the end came
/// before. Where they do not say so in time, the end counts as refused.
pub(super) fn settle_contest(study: &Study<'_>, how: &Report<'_>) -> Result<(), StudyError> {
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

/// The refusal for an attempt that is nobody's.
pub(super) fn not_taken(study: &Study<'_>, how: &Report<'_>) -> StudyError {
    StudyError::NotTaken {
        study: study.name(),
        trial: how.trial,
        attempt: how.attempt,
        me: how.me.to_owned(),
    }
}
