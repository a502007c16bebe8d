//! What the functions of a study refuse or fail at, and what to do about it.

use soma_store::StoreError;

use crate::error::SpaceError;
use crate::goal::Goal;
use crate::state::State;

/// A study could not do what was asked. A refusal changes nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A space or point did not read.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// Nobody has begun a study of this name.
    #[error("there is no study `{study}` in `{location}`")]
    UnknownStudy {
        /// The study asked for.
        study: String,
        /// The store.
        location: String,
        /// A study with a similar name.
        close: Option<String>,
        /// How many studies the store holds.
        n_studies: usize,
    },
    /// Nobody has taken a trial of this number.
    #[error("there is no trial {trial} in study `{study}`")]
    UnknownTrial {
        /// The study.
        study: String,
        /// The trial asked for.
        trial: u64,
    },
    /// The point is of a space with other names or kinds than the study's.
    #[error("the point is not of the space of study `{study}`: {difference}")]
    SpaceDiffers {
        /// The study.
        study: String,
        /// What differs.
        difference: String,
    },
    /// The study has the other goal.
    #[error("study `{study}` was given the goal `{given}`, it was begun with `{known}`")]
    GoalDiffers {
        /// The study.
        study: String,
        /// What was given.
        given: Goal,
        /// What the study was begun with.
        known: Goal,
    },
    /// The study was begun without a goal, and what was asked needs one.
    #[error("study `{study}` has no goal, expected `min` or `max`")]
    NoGoal {
        /// The study.
        study: String,
    },
    /// Somebody else holds this attempt.
    #[error(
        "trial {trial} of study `{study}`, attempt {attempt}, is held by `{holder}` and `{me}` reported to it"
    )]
    HeldByAnother {
        /// The study.
        study: String,
        /// The trial.
        trial: u64,
        /// The attempt.
        attempt: u32,
        /// Who reported.
        me: String,
        /// Who took it.
        holder: String,
    },
    /// Nobody has taken this attempt.
    #[error("trial {trial} of study `{study}`, attempt {attempt}, was never taken and `{me}` reported to it")]
    NotTaken {
        /// The study.
        study: String,
        /// The trial.
        trial: u64,
        /// The attempt.
        attempt: u32,
        /// Who reported.
        me: String,
    },
    /// This attempt has ended.
    #[error("trial {trial} of study `{study}`, attempt {attempt}, is already {state}")]
    AlreadyEnded {
        /// The study.
        study: String,
        /// The trial.
        trial: u64,
        /// The attempt.
        attempt: u32,
        /// How it ended.
        state: State,
    },
    /// A later attempt at this trial was taken.
    #[error(
        "trial {trial} of study `{study}`, attempt {attempt}, was taken over by `{holder}` as attempt {next}"
    )]
    TakenOver {
        /// The study.
        study: String,
        /// The trial.
        trial: u64,
        /// The attempt that was reported to.
        attempt: u32,
        /// Who took the next one; empty where that is not recorded yet.
        holder: String,
        /// The later attempt.
        next: u32,
    },
    /// An attempt was asked for before the one before it.
    #[error(
        "attempt {attempt} of trial {trial} of study `{study}` was asked for, and attempt {missing} was never taken"
    )]
    AttemptSkipped {
        /// The study.
        study: String,
        /// The trial.
        trial: u64,
        /// The attempt asked for.
        attempt: u32,
        /// The first attempt that is missing.
        missing: u32,
    },
    /// The curve is not a continuation of what was reported before.
    #[error(
        "trial {trial} of study `{study}` was given a curve of {given} values that does not continue the {known} reported before"
    )]
    CurveDiffers {
        /// The study.
        study: String,
        /// The trial.
        trial: u64,
        /// How many values were given.
        given: usize,
        /// How many were reported before.
        known: usize,
    },
    /// A trial ended well without anything to rank it by.
    #[error("trial {trial} of study `{study}` was reported done without a score or a single value")]
    NoScore {
        /// The study.
        study: String,
        /// The trial.
        trial: u64,
    },
    /// The study's own document does not read.
    #[error("`{path}` does not read as the document of a study: {what}")]
    Document {
        /// The file.
        path: String,
        /// What is wrong with it.
        what: String,
    },
}

impl StudyError {
    /// The document of a study of which there are records is gone.
    pub(crate) fn no_document(path: String) -> Self {
        Self::Document { path, what: "it is not there".to_owned() }
    }

    /// What to do about it, where there is more to say than the text does.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Store(source) => return source.hint(),
            Self::Space(source) => return source.hint(),
            Self::UnknownStudy { close: Some(close), .. } => return Some(format!("did you mean `{close}`?")),
            Self::UnknownStudy { close: None, n_studies: 0, .. } => {
                "the store holds no study yet: check its path; a study begins with the first `take`"
            }
            Self::UnknownStudy { close: None, .. } => "a study begins with the first `take`",
            Self::UnknownTrial { .. } | Self::Document { .. } => return None,
            Self::NoScore { .. } => "give the curve, or `score`",
            Self::SpaceDiffers { .. } => {
                "bounds and options may change in a study; for other names or kinds begin another one"
            }
            Self::GoalDiffers { .. } => "say the study's goal, or begin another study",
            Self::NoGoal { .. } => "say `goal` when taking or reporting, once is enough",
            Self::HeldByAnother { .. } | Self::NotTaken { .. } => {
                "report only to a trial whose `take` answered true, as the same `me`"
            }
            Self::AlreadyEnded { .. } => {
                "an attempt that has ended stays as it is; to try again take the next attempt"
            }
            Self::TakenOver { .. } => {
                "stop this trial: it was silent for longer than its lease, and somebody else has it now"
            }
            Self::AttemptSkipped { .. } => "take the attempts one after the other",
            Self::CurveDiffers { .. } => "give the whole curve so far each time, not what is new in it",
        };
        Some(hint.to_owned())
    }

    /// Whether it is a refusal of a report or take by somebody who does not hold the trial: nothing was changed, and
    /// the loop can go on with another trial.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::HeldByAnother { .. }
                | Self::NotTaken { .. }
                | Self::AlreadyEnded { .. }
                | Self::TakenOver { .. }
                | Self::AttemptSkipped { .. }
        )
    }
}
