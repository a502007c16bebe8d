//! When to stop early: each pruner is a pure verdict on a curve, given the curves of other trials.
//!
//! A pruner stops nothing. It answers a reason in words, or nothing, and the loop decides. The rules that hold for all:
//!
//! - *Warm-up*: after `n` reports, `n <= warmup` means no verdict; the first that can be pruned is report
//!   `warmup + 1`. With `warmup` 0 that is the very first.
//! - *Reports are counted, not their steps*: it makes no difference whether a value comes every epoch or every fifth.
//! - *NaN and infinity*: a report that is not finite is pruned at once, in the warm-up too. Those of others are
//!   passed over: they never decide.

mod diverged;
mod halving;
mod patience;
mod percentile;
mod text;
mod threshold;

use std::fmt;
use std::ops::BitOr;
use std::sync::Arc;

pub use self::diverged::DivergedOptions;
pub use self::halving::{HalvingOptions, HyperbandOptions};
pub use self::patience::PatienceOptions;
pub use self::percentile::{MedianOptions, PercentileOptions};
pub use self::threshold::ThresholdOptions;
use crate::error::PrunerError;
use crate::goal::Goal;
use crate::history::Curves;
use crate::text::real;

/// A judge of curves. `a | b` prunes when either does.
///
/// Its text, `median(warmup=4,startup=6) | diverged(factor=10,warmup=0)`, reads back to the same pruner.
///
/// ```
/// use soma_study::{Curve, Curves, MedianOptions, Pruner};
///
/// let pruner = Pruner::median(MedianOptions::default().with_warmup(1).with_startup(2));
/// let others: Curves =
///     [0.25, 0.5].map(|end| Curve { trial: 0, values: vec![1.0, end].into() }).into_iter().collect();
/// assert_eq!(pruner.verdict(&[0.9, 0.25], &others), None);
/// let why = pruner.verdict(&[0.9, 0.8], &others).expect("0.8 is worse than the median, 0.375");
/// assert_eq!(why, "after 2 reports its best is 0.8, worse than 0.375, the median of 2 trials by then");
/// assert_eq!(pruner.to_string().parse(), Ok(pruner));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Pruner {
    /// Any of these prunes; at least one.
    rules: Arc<[Rule]>,
}

#[derive(Debug, Clone, PartialEq)]
enum Rule {
    Percentile(percentile::Percentile),
    Threshold(threshold::Threshold),
    Patience(patience::Patience),
    Diverged(diverged::Diverged),
    Halving(halving::Halving),
    Hyperband(halving::Hyperband),
}

/// What every rule does.
trait Judge: fmt::Display {
    /// Why to stop. Every value of `mine` is finite, and there is at least one.
    fn judge(&self, mine: &[f64], others: &Curves) -> Option<String>;
}

impl Pruner {
    /// Prunes a trial whose best so far is worse than the median of the others' best by the same report.
    pub fn median(options: MedianOptions) -> Self {
        Self::of(Rule::Percentile(percentile::Percentile::median(options)))
    }

    /// Prunes a trial whose best so far is worse than a percentile of the others' best by the same report.
    ///
    /// # Errors
    /// `Option` when `percentile` is not from 0 to 100.
    pub fn percentile(options: PercentileOptions) -> Result<Self, PrunerError> {
        percentile::Percentile::new(options).map(|rule| Self::of(Rule::Percentile(rule)))
    }

    /// Prunes a trial whose latest report lies outside fixed bounds.
    ///
    /// # Errors
    /// `Option` when there is no bound, one is NaN, or the lower one lies above the upper one.
    pub fn threshold(options: ThresholdOptions) -> Result<Self, PrunerError> {
        threshold::Threshold::new(options).map(|rule| Self::of(Rule::Threshold(rule)))
    }

    /// Prunes a trial that has not got better for some reports.
    ///
    /// # Errors
    /// `Option` when `patience` is 0 or `min_delta` is negative or not finite.
    pub fn patience(options: PatienceOptions) -> Result<Self, PrunerError> {
        patience::Patience::new(options).map(|rule| Self::of(Rule::Patience(rule)))
    }

    /// Prunes a trial that has got much worse than it began.
    ///
    /// # Errors
    /// `Option` when `factor` is negative or not finite.
    pub fn diverged(options: DivergedOptions) -> Result<Self, PrunerError> {
        diverged::Diverged::new(options).map(|rule| Self::of(Rule::Diverged(rule)))
    }

    /// Prunes, at a few numbers of reports, every trial that is not in the best part of those that came so far.
    ///
    /// # Errors
    /// `Option` when `min_steps` is 0 or `factor` is below 2.
    pub fn halving(options: HalvingOptions) -> Result<Self, PrunerError> {
        halving::Halving::new(options).map(|rule| Self::of(Rule::Halving(rule)))
    }

    /// Halving with several first rungs at once, each for a share of the trials.
    ///
    /// # Errors
    /// `Option` when `min_steps` is 0, `max_steps` lies below it or `factor` is below 2.
    pub fn hyperband(options: HyperbandOptions) -> Result<Self, PrunerError> {
        halving::Hyperband::new(options).map(|rule| Self::of(Rule::Hyperband(rule)))
    }

    fn of(rule: Rule) -> Self {
        Self { rules: Arc::new([rule]) }
    }

    /// Why the trial whose whole curve so far is `mine` should stop; None to go on.
    ///
    /// `others` are the curves to compare with, as far as they go: mostly those of the trials that ran to the end.
    pub fn verdict(&self, mine: &[f64], others: &Curves) -> Option<String> {
        if let Some(at) = mine.iter().position(|value| !value.is_finite()) {
            return Some(format!("report {} is {}, not a finite number", at + 1, real(mine[at])));
        }
        if mine.is_empty() {
            return None;
        }
        self.rules.iter().find_map(|rule| rule.judge().judge(mine, others))
    }

    /// The same pruner, with `goal` for every rule that was not given one.
    #[must_use]
    pub fn toward(&self, goal: Goal) -> Self {
        let rules = self.rules.iter().map(|rule| rule.clone().toward(goal)).collect();
        Self { rules }
    }
}

impl Rule {
    fn judge(&self) -> &dyn Judge {
        match self {
            Self::Percentile(rule) => rule,
            Self::Threshold(rule) => rule,
            Self::Patience(rule) => rule,
            Self::Diverged(rule) => rule,
            Self::Halving(rule) => rule,
            Self::Hyperband(rule) => rule,
        }
    }

    fn toward(mut self, goal: Goal) -> Self {
        let unsaid = match &mut self {
            Self::Percentile(rule) => &mut rule.options.goal,
            Self::Patience(rule) => &mut rule.options.goal,
            Self::Diverged(rule) => &mut rule.options.goal,
            Self::Halving(rule) => &mut rule.options.goal,
            Self::Hyperband(rule) => &mut rule.options.goal,
            // Bounds are bounds, whichever end is the good one.
            Self::Threshold(_) => return self,
        };
        unsaid.get_or_insert(goal);
        self
    }
}

/// Prunes when either does; the first to say so is heard.
impl BitOr for Pruner {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self { rules: self.rules.iter().chain(&*other.rules).cloned().collect() }
    }
}

/// The text form: `median(goal=min,warmup=4,startup=6) | threshold(upper=2,warmup=0)`.
impl fmt::Display for Pruner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, rule) in self.rules.iter().enumerate() {
            if i > 0 {
                f.write_str(" | ")?;
            }
            rule.judge().fmt(f)?;
        }
        Ok(())
    }
}

/// Writes the goal, where one was said.
fn write_goal(f: &mut fmt::Formatter<'_>, goal: Option<Goal>) -> fmt::Result {
    goal.map_or(Ok(()), |goal| write!(f, "goal={goal},"))
}

/// `1 report`, `3 reports`.
fn reports(n: usize) -> String {
    counted(n, "report")
}

fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// The best finite value; None when there is none.
fn best(goal: Goal, curve: &[f64]) -> Option<f64> {
    // A comparison with NaN is false, so that NaNs lose, and infinity loses at the bad end.
    let extreme = match goal {
        Goal::Min => extreme(curve, f64::INFINITY, |value, best| value < best),
        Goal::Max => extreme(curve, f64::NEG_INFINITY, |value, best| value > best),
    };
    if extreme.is_finite() {
        return Some(extreme);
    }
    // Infinity at the good end, or nothing finite at all.
    curve.iter().copied().filter(|value| value.is_finite()).reduce(|best, one| goal.better_of(best, one))
}

/// The value that is before all others, `worst` when there is none.
fn extreme(curve: &[f64], worst: f64, is_before: impl Fn(f64, f64) -> bool) -> f64 {
    let pick = |a: f64, b: f64| if is_before(a, b) { a } else { b };
    // Eight at a time, in registers side by side: one running best would wait for itself at every step. Plain indices
    // become vector instructions without link-time passes too.
    let mut lanes = [worst; 8];
    let (groups, rest) = curve.as_chunks::<8>();
    for group in groups {
        for i in 0..8 {
            lanes[i] = pick(group[i], lanes[i]);
        }
    }
    for half in [4, 2, 1] {
        for i in 0..half {
            lanes[i] = pick(lanes[i], lanes[i + half]);
        }
    }
    rest.iter().fold(lanes[0], |best, value| pick(*value, best))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_value_is_finite_wherever_it_stands() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        for n in 1..30 {
            for at in 0..n {
                for other in [nan, inf, -inf, 7.0] {
                    let mut curve = vec![other; n];
                    curve[at] = 5.0;
                    assert_eq!(best(Goal::Min, &curve), Some(5.0), "{curve:?}");
                    let most = if other.is_finite() && n > 1 { 7.0 } else { 5.0 };
                    assert_eq!(best(Goal::Max, &curve), Some(most), "{curve:?}");
                }
            }
            assert_eq!(best(Goal::Min, &vec![nan; n]), None);
            assert_eq!(best(Goal::Max, &vec![-inf; n]), None);
        }
        assert_eq!(best(Goal::Min, &[]), None);
    }
}
