//! Not among the best at a rung.

use std::fmt;

use super::{Judge, counted, write_goal};
use crate::error::PrunerError;
use crate::goal::Goal;
use crate::hash::hash;
use crate::history::Curves;
use crate::options::setters;
use crate::text::real;

/// When the halving pruner speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HalvingOptions {
    /// Which end of a report is good. Default: None, that of the study, or `min` where there is none.
    pub goal: Option<Goal>,
    /// Reports at the first rung; at least 1. Default: 1.
    pub min_steps: usize,
    /// One trial in this many goes on, and the next rung is this many times further; at least 2. Default: 4.
    pub factor: usize,
}

impl Default for HalvingOptions {
    fn default() -> Self {
        Self { goal: None, min_steps: 1, factor: 4 }
    }
}

setters!(HalvingOptions {
    with_goal(goal: Goal) => Some(goal),
    with_min_steps(min_steps: usize) => min_steps,
    with_factor(factor: usize) => factor,
});

/// When the hyperband pruner speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HyperbandOptions {
    /// Which end of a report is good. Default: None, that of the study, or `min` where there is none.
    pub goal: Option<Goal>,
    /// Reports at the first rung of the first bracket; at least 1. Default: 1.
    pub min_steps: usize,
    /// Reports of a trial that runs to the end; at least `min_steps`. Default: 81.
    pub max_steps: usize,
    /// One trial in this many goes on, and the next rung is this many times further; at least 2. Default: 3.
    pub factor: usize,
}

impl Default for HyperbandOptions {
    fn default() -> Self {
        Self { goal: None, min_steps: 1, max_steps: 81, factor: 3 }
    }
}

setters!(HyperbandOptions {
    with_goal(goal: Goal) => Some(goal),
    with_min_steps(min_steps: usize) => min_steps,
    with_max_steps(max_steps: usize) => max_steps,
    with_factor(factor: usize) => factor,
});

/// Asynchronous successive halving in its stopping form: at each rung, `min_steps` times a power of `factor`, a trial
/// goes on when its report there is among the best `1 / factor` of those that have been at this rung, itself
/// included; while there are fewer than `factor`, only the best goes on. There is no verdict between rungs.
///
/// Source: L. Li et al. (2020), A system for massively parallel hyperparameter tuning, MLSys, whose trials pause at a
/// rung; ours, like Optuna's, stop for good, so that nobody need keep a trial waiting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Halving {
    pub(super) options: HalvingOptions,
}

impl Halving {
    pub(super) fn new(options: HalvingOptions) -> Result<Self, PrunerError> {
        check("halving", options.min_steps, options.factor)?;
        Ok(Self { options })
    }
}

fn check(pruner: &'static str, min_steps: usize, factor: usize) -> Result<(), PrunerError> {
    for (option, given, least, expected) in
        [("min_steps", min_steps, 1, "at least 1"), ("factor", factor, 2, "at least 2")]
    {
        if given < least {
            return Err(PrunerError::Option { pruner, option, given: given.to_string(), expected });
        }
    }
    Ok(())
}

/// Whether `n` reports are a rung.
fn is_rung(n: usize, min_steps: usize, factor: usize) -> bool {
    let mut rung = min_steps;
    while rung < n {
        rung = rung.saturating_mul(factor);
    }
    rung == n
}

/// Why a trial with the report `own` at a rung stops; `peers` are the reports of the others there.
fn judge_rung(
    goal: Goal,
    factor: usize,
    n: usize,
    own: f64,
    peers: impl Iterator<Item = f64>,
) -> Option<String> {
    let (mut all, mut better) = (1, 0);
    for peer in peers.filter(|peer| peer.is_finite()) {
        all += 1;
        better += usize::from(goal.is_better(peer, own));
    }
    let keep = (all / factor).max(1);
    (better >= keep).then(|| {
        let trials = counted(all, "trial");
        format!(
            "at {} {} is place {} of {trials}, and {keep} of them go on",
            super::reports(n),
            real(own),
            better + 1
        )
    })
}

impl Judge for Halving {
    fn judge(&self, mine: &[f64], others: &Curves) -> Option<String> {
        let HalvingOptions { goal, min_steps, factor } = self.options;
        let n = mine.len();
        if !is_rung(n, min_steps, factor) {
            return None;
        }
        let peers = others.iter().filter_map(|curve| curve.values.get(n - 1).copied());
        judge_rung(goal.unwrap_or_default(), factor, n, *mine.last()?, peers)
    }
}

impl fmt::Display for Halving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("halving(")?;
        write_goal(f, self.options.goal)?;
        write!(f, "min_steps={},factor={})", self.options.min_steps, self.options.factor)
    }
}

/// Several halvings side by side, the k-th beginning at `min_steps * factor^k`, each for a share of the trials.
///
/// Source: L. Li et al. (2018), Hyperband, JMLR 18(185); shares of the trials as in Optuna's `HyperbandPruner`, which
/// draws a trial's bracket from its number. A curve does not know its number, so ours draws it from the bits of the
/// first report: whoever sees the curve, in any process and in any order, finds the same bracket.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hyperband {
    pub(super) options: HyperbandOptions,
    /// Where the share of each bracket ends, out of the last.
    ends: Vec<u64>,
}

impl Hyperband {
    pub(super) fn new(options: HyperbandOptions) -> Result<Self, PrunerError> {
        let HyperbandOptions { min_steps, max_steps, factor, .. } = options;
        check("hyperband", min_steps, factor)?;
        if max_steps < min_steps {
            return Err(PrunerError::Option {
                pruner: "hyperband",
                option: "max_steps",
                given: max_steps.to_string(),
                expected: "at least `min_steps`",
            });
        }
        let firsts = std::iter::successors(Some(min_steps), |rung| rung.checked_mul(factor));
        let brackets = firsts.take_while(|rung| *rung <= max_steps).count() as u64;
        let mut end = 0;
        // Li's number of trials in bracket s, ceil(brackets * factor^s / (s + 1)), the earliest to stop first.
        let ends = (0..brackets)
            .rev()
            .map(|s| {
                let trials =
                    (factor as u64).saturating_pow(s as u32).saturating_mul(brackets).div_ceil(s + 1);
                end += trials;
                end
            })
            .collect();
        Ok(Self { options, ends })
    }

    /// The bracket of a curve with at least one report.
    fn bracket(&self, curve: &[f64]) -> Option<usize> {
        let all = *self.ends.last()?;
        let drawn = hash(0, curve.first()?.to_bits(), 0) % all;
        Some(self.ends.partition_point(|end| *end <= drawn))
    }
}

impl Judge for Hyperband {
    fn judge(&self, mine: &[f64], others: &Curves) -> Option<String> {
        let HyperbandOptions { goal, min_steps, factor, .. } = self.options;
        let n = mine.len();
        let bracket = self.bracket(mine)?;
        let first = min_steps.saturating_mul(factor.saturating_pow(bracket as u32));
        if !is_rung(n, first, factor) {
            return None;
        }
        let peers = others
            .iter()
            .filter(|curve| self.bracket(&curve.values) == Some(bracket))
            .filter_map(|curve| curve.values.get(n - 1).copied());
        let why = judge_rung(goal.unwrap_or_default(), factor, n, *mine.last()?, peers)?;
        Some(format!("in bracket {} of {}, {why}", bracket + 1, self.ends.len()))
    }
}

impl fmt::Display for Hyperband {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HyperbandOptions { goal, min_steps, max_steps, factor } = self.options;
        f.write_str("hyperband(")?;
        write_goal(f, goal)?;
        write!(f, "min_steps={min_steps},max_steps={max_steps},factor={factor})")
    }
}
