//! Worse than most others were by now.

use std::fmt;

use super::{Judge, best, counted, reports, write_goal};
use crate::error::PrunerError;
use crate::goal::Goal;
use crate::history::Curves;
use crate::options::setters;
use crate::text::real;

/// When the median pruner speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MedianOptions {
    /// Which end of a report is good. Default: None, that of the study, or `min` where there is none.
    pub goal: Option<Goal>,
    /// Reports before the first verdict. Default: 0.
    pub warmup: usize,
    /// Other curves that must reach as far before there is a verdict; at least 1. Default: 5.
    pub startup: usize,
}

impl Default for MedianOptions {
    fn default() -> Self {
        Self { goal: None, warmup: 0, startup: 5 }
    }
}

setters!(MedianOptions {
    with_goal(goal: Goal) => Some(goal),
    with_warmup(warmup: usize) => warmup,
    with_startup(startup: usize) => startup,
});

/// When the percentile pruner speaks.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PercentileOptions {
    /// Which end of a report is good. Default: None, that of the study, or `min` where there is none.
    pub goal: Option<Goal>,
    /// The share of the others, in percent from 0 to 100, that a trial must keep up with: with 25 only the best
    /// quarter goes on. Default: 50, the median.
    pub percentile: f64,
    /// Reports before the first verdict. Default: 0.
    pub warmup: usize,
    /// Other curves that must reach as far before there is a verdict; at least 1. Default: 5.
    pub startup: usize,
}

impl Default for PercentileOptions {
    fn default() -> Self {
        Self { goal: None, percentile: 50.0, warmup: 0, startup: 5 }
    }
}

setters!(PercentileOptions {
    with_goal(goal: Goal) => Some(goal),
    with_percentile(percentile: f64) => percentile,
    with_warmup(warmup: usize) => warmup,
    with_startup(startup: usize) => startup,
});

/// The median stopping rule, for any percentile.
///
/// Source: D. Golovin et al. (2017), Google Vizier, KDD, section 3.2.1. Ours compares best with best, where Vizier
/// compares with the running averages of the others, and Optuna with their values at the same step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Percentile {
    pub(super) options: PercentileOptions,
    /// How it was asked for.
    is_median: bool,
}

impl Percentile {
    pub(super) fn new(options: PercentileOptions) -> Result<Self, PrunerError> {
        if !(0.0..=100.0).contains(&options.percentile) {
            return Err(PrunerError::Option {
                pruner: "percentile",
                option: "percentile",
                given: real(options.percentile),
                expected: "0 to 100",
            });
        }
        Ok(Self { options, is_median: false })
    }

    pub(super) fn median(options: MedianOptions) -> Self {
        let MedianOptions { goal, warmup, startup } = options;
        Self { options: PercentileOptions { goal, percentile: 50.0, warmup, startup }, is_median: true }
    }
}

impl Judge for Percentile {
    fn judge(&self, mine: &[f64], others: &Curves) -> Option<String> {
        let PercentileOptions { goal, percentile, warmup, startup } = self.options;
        let goal = goal.unwrap_or_default();
        let n = mine.len();
        if n <= warmup {
            return None;
        }
        let mut peers: Vec<f64> =
            others.iter().filter_map(|curve| best(goal, curve.values.get(..n)?)).collect();
        if peers.len() < startup.max(1) {
            return None;
        }
        // Counted from the good end.
        let share = match goal {
            Goal::Min => percentile,
            Goal::Max => 100.0 - percentile,
        };
        let limit = quantile(&mut peers, share / 100.0);
        let own = best(goal, mine)?;
        goal.is_better(limit, own).then(|| {
            let what =
                if self.is_median { "the median".into() } else { format!("percentile {}", real(percentile)) };
            format!(
                "after {} its best is {}, worse than {}, {what} of {} by then",
                reports(n),
                real(own),
                real(limit),
                counted(peers.len(), "trial")
            )
        })
    }
}

/// The quantile of at least one number, linear between order statistics (Hyndman and Fan's type 7, numpy's default);
/// reorders them.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    let place = share * (values.len() - 1) as f64;
    let below = (place.floor() as usize).min(values.len() - 1);
    let part = place - below as f64;
    let (_, low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let low = *low;
    let Some(high) = above.iter().copied().min_by(f64::total_cmp) else { return low };
    // From the nearer end, as numpy does, so that the last digit is the same.
    if part < 0.5 { low + (high - low) * part } else { high - (high - low) * (1.0 - part) }
}

impl fmt::Display for Percentile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PercentileOptions { goal, percentile, warmup, startup } = self.options;
        f.write_str(if self.is_median { "median(" } else { "percentile(" })?;
        write_goal(f, goal)?;
        if !self.is_median {
            write!(f, "percentile={},", real(percentile))?;
        }
        write!(f, "warmup={warmup},startup={startup})")
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the very float is meant")]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_lies_between_its_neighbours() {
        assert_eq!(quantile(&mut [3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile(&mut [4.0, 1.0, 2.0, 3.0], 0.5), 2.5);
        assert_eq!(quantile(&mut [1.0, 2.0], 0.25), 1.25);
        assert_eq!(quantile(&mut [5.0], 0.75), 5.0);
        assert_eq!(quantile(&mut [2.0, 1.0], 0.0), 1.0);
        assert_eq!(quantile(&mut [2.0, 1.0], 1.0), 2.0);
    }
}
