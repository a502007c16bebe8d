//! What stands behind a flag: states, goals, forms, trials, lengths of time.

use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use soma_study::importance::Evaluator;

/// The states of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum State {
    /// Taken, and not ended.
    Running,
    /// Ran to its end.
    Done,
    /// Stopped early by a pruner.
    Pruned,
    /// Ended by an error or by a score that is no number.
    Failed,
}

/// The goals of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Goal {
    /// The smallest score is the best
    Min,
    /// The largest score is the best
    Max,
}

impl From<Goal> for soma_study::Goal {
    fn from(goal: Goal) -> Self {
        match goal {
            Goal::Min => Self::Min,
            Goal::Max => Self::Max,
        }
    }
}

/// The evaluators that there are, by their names.
pub fn evaluator() -> impl clap::builder::TypedValueParser<Value = Evaluator> {
    let names = PossibleValuesParser::new(Evaluator::ALL.map(Evaluator::as_str));
    names.try_map(|name| Evaluator::from_str(&name))
}

/// A trial as it is typed: its number, and one of its attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The number of the trial.
    pub trial: u64,
    /// The attempt, where one was named.
    pub attempt: Option<u32>,
}

impl FromStr for Attempt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || "expected the number of a trial, as in `17`, or of an attempt, as in `17.1`".to_owned();
        let (trial, attempt) = match text.split_once('.') {
            None => (text, None),
            Some((trial, attempt)) => (trial, Some(attempt.parse().map_err(|_| expected())?)),
        };
        Ok(Self { trial: trial.parse().map_err(|_| expected())?, attempt })
    }
}

/// A length of time that can be waited for.
pub fn seconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|secs: &f64| (0.001..1e9).contains(secs))
        .ok_or_else(|| "expected a number of seconds, 0.001 or more".to_owned())
}

/// The forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Comma-separated, with a header (RFC 4180)
    Csv,
    /// One JSON object per line
    Jsonl,
    /// An Arrow IPC file, as polars, pandas and `duckdb` read it
    Arrow,
}

/// The forms of a drawn graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Drawing {
    /// For Markdown and notebooks
    Mermaid,
    /// One node a line, in the order they run
    Text,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_a_number_and_maybe_an_attempt() {
        assert_eq!("17".parse(), Ok(Attempt { trial: 17, attempt: None }));
        assert_eq!("17.1".parse(), Ok(Attempt { trial: 17, attempt: Some(1) }));
        for wrong in ["", "x", "17.", ".1", "-1", "1.2.3"] {
            assert!(wrong.parse::<Attempt>().is_err(), "{wrong}");
        }
    }
}
