//! No better for a while.

use std::fmt;

use super::{Judge, best, reports, write_goal};
use crate::error::PrunerError;
use crate::goal::Goal;
use crate::history::Curves;
use crate::options::setters;
use crate::text::real;

/// When the patience pruner speaks.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PatienceOptions {
    /// Which end of a report is good. Default: None, that of the study, or `min` where there is none.
    pub goal: Option<Goal>,
    /// Reports in a row that may pass without getting better; at least 1. Default: 5.
    pub patience: usize,
    /// How much better counts as better, in the units of the report; at least 0. Default: 0, anything does.
    pub min_delta: f64,
    /// Reports before the first verdict. Default: 0.
    pub warmup: usize,
}

impl Default for PatienceOptions {
    fn default() -> Self {
        Self { goal: None, patience: 5, min_delta: 0.0, warmup: 0 }
    }
}

setters!(PatienceOptions {
    with_goal(goal: Goal) => Some(goal),
    with_patience(patience: usize) => patience,
    with_min_delta(min_delta: f64) => min_delta,
    with_warmup(warmup: usize) => warmup,
});

/// Prunes when none of the last `patience` reports is better, by more than `min_delta`, than the best before them.
///
/// The rule of early stopping as Keras has it. Optuna's `PatientPruner` looks at one report more and needs the last
/// ones to be worse: its patience `p` is ours of `p + 1`, but for a curve that stays exactly where it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Patience {
    pub(super) options: PatienceOptions,
}

impl Patience {
    pub(super) fn new(options: PatienceOptions) -> Result<Self, PrunerError> {
        let refused = |option, given, expected| {
            Err(PrunerError::Option { pruner: "patience", option, given, expected })
        };
        if options.patience == 0 {
            return refused("patience", "0".to_owned(), "at least 1");
        }
        if !options.min_delta.is_finite() || options.min_delta < 0.0 {
            return refused("min_delta", real(options.min_delta), "a finite number of at least 0");
        }
        Ok(Self { options })
    }
}

impl Judge for Patience {
    fn judge(&self, mine: &[f64], _others: &Curves) -> Option<String> {
        let PatienceOptions { goal, patience, min_delta, warmup } = self.options;
        let goal = goal.unwrap_or_default();
        if mine.len() <= warmup.max(patience) {
            return None;
        }
        let (before, last) = mine.split_at(mine.len() - patience);
        let (before, last) = (best(goal, before)?, best(goal, last)?);
        let enough = match goal {
            Goal::Min => before - min_delta,
            Goal::Max => before + min_delta,
        };
        (!goal.is_better(last, enough)).then(|| {
            let margin =
                if min_delta > 0.0 { format!(" by more than {}", real(min_delta)) } else { String::new() };
            format!(
                "after {} the last {patience} came to {}, no better{margin} than {} before them",
                reports(mine.len()),
                real(last),
                real(before)
            )
        })
    }
}

impl fmt::Display for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PatienceOptions { goal, patience, min_delta, warmup } = self.options;
        f.write_str("patience(")?;
        write_goal(f, goal)?;
        write!(f, "patience={patience},min_delta={},warmup={warmup})", real(min_delta))
    }
}
