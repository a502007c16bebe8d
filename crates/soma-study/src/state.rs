//! The state of a trial's attempt.

use std::fmt;
use std::str::FromStr;

use crate::error::SpaceError;

/// Where an attempt stands. The words are those of text, JSON and Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum State {
    /// Taken, and not ended.
    #[default]
    Running,
    /// Ran to the end; its score is ranked.
    Done,
    /// Stopped early because a pruner said so; its score is never ranked with a finished one.
    Pruned,
    /// Ended without a usable score: an exception, an interruption, a score that is not finite.
    Failed,
}

impl State {
    /// Every state, in the order a trial passes them.
    pub const ALL: [Self; 4] = [Self::Running, Self::Done, Self::Pruned, Self::Failed];

    /// `running`, `done`, `pruned` or `failed`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Pruned => "pruned",
            Self::Failed => "failed",
        }
    }

    /// Whether the attempt has ended: nothing can be reported to it any more.
    pub const fn is_finished(self) -> bool {
        !matches!(self, Self::Running)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for State {
    type Err = SpaceError;

    fn from_str(text: &str) -> Result<Self, SpaceError> {
        Self::ALL
            .into_iter()
            .find(|one| one.as_str() == text)
            .ok_or_else(|| SpaceError::UnknownState { given: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_reads_back_from_its_word() {
        for state in State::ALL {
            assert_eq!(state.as_str().parse::<State>().unwrap(), state);
            assert_eq!(state.is_finished(), state != State::Running);
        }
        assert!("DONE".parse::<State>().is_err());
    }
}
