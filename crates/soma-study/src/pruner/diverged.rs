//! Much worse than it began.

use std::fmt;

use super::{Judge, reports, write_goal};
use crate::error::PrunerError;
use crate::goal::Goal;
use crate::history::Curves;
use crate::options::setters;
use crate::text::real;

/// When the divergence pruner speaks.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DivergedOptions {
    /// Which end of a report is good. Default: None, that of the study, or `min` where there is none.
    pub goal: Option<Goal>,
    /// How much worse than the first report is too much, in multiples of that report's size; at least 0.
    /// Default: 10.
    pub factor: f64,
    /// Reports before the first verdict. Default: 0.
    pub warmup: usize,
}

impl Default for DivergedOptions {
    fn default() -> Self {
        Self { goal: None, factor: 10.0, warmup: 0 }
    }
}

setters!(DivergedOptions {
    with_goal(goal: Goal) => Some(goal),
    with_factor(factor: f64) => factor,
    with_warmup(warmup: usize) => warmup,
});

/// Prunes when the latest report is worse than the first by more than `factor` times the first's size: a loss that
/// began at 2 is cut above 22. Needs no other curves, so the first trial of a study is judged like the last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Diverged {
    pub(super) options: DivergedOptions,
}

impl Diverged {
    pub(super) fn new(options: DivergedOptions) -> Result<Self, PrunerError> {
        if !options.factor.is_finite() || options.factor < 0.0 {
            return Err(PrunerError::Option {
                pruner: "diverged",
                option: "factor",
                given: real(options.factor),
                expected: "a finite number of at least 0",
            });
        }
        Ok(Self { options })
    }
}

impl Judge for Diverged {
    fn judge(&self, mine: &[f64], _others: &Curves) -> Option<String> {
        let DivergedOptions { goal, factor, warmup } = self.options;
        let goal = goal.unwrap_or_default();
        let (first, latest) = (*mine.first()?, *mine.last()?);
        if mine.len() <= warmup {
            return None;
        }
        let margin = factor * first.abs();
        let limit = match goal {
            Goal::Min => first + margin,
            Goal::Max => first - margin,
        };
        goal.is_better(limit, latest).then(|| {
            format!(
                "after {} it is at {}, past {}, where it counts as diverged from its first, {}",
                reports(mine.len()),
                real(latest),
                real(limit),
                real(first)
            )
        })
    }
}

impl fmt::Display for Diverged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("diverged(")?;
        write_goal(f, self.options.goal)?;
        write!(f, "factor={},warmup={})", real(self.options.factor), self.options.warmup)
    }
}
