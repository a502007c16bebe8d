//! How far the good trials are from the rest, dimension by dimension.

use super::{FEWEST, columns, ranked};
use crate::dimension::{Dimension, Domain};
use crate::goal::Goal;
use crate::point::Point;
use crate::space::Space;

/// Which trials are compared with which.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PedAnovaOptions {
    /// Which end of a score is good. Default: `min`.
    pub goal: Goal,
    /// The best share of the trials, in (0, 1]: what is explained is being among them. Default: 0.1.
    pub target: f64,
    /// The best share of the trials that they are compared with, in (0, 1]: below 1, what rules the ranking is what
    /// matters among the better ones, and not one bad corner of the space. Default: 1.
    pub region: f64,
}

impl Default for PedAnovaOptions {
    fn default() -> Self {
        Self { goal: Goal::Min, target: 0.1, region: 1.0 }
    }
}

impl PedAnovaOptions {
    /// Sets `goal`.
    #[must_use]
    pub const fn with_goal(mut self, goal: Goal) -> Self {
        self.goal = goal;
        self
    }

    /// Sets `target`; a share outside (0, 1] is taken to the nearer end.
    #[must_use]
    pub const fn with_target(mut self, target: f64) -> Self {
        self.target = target;
        self
    }

    /// Sets `region`; a share outside (0, 1] is taken to the nearer end.
    #[must_use]
    pub const fn with_region(mut self, region: f64) -> Self {
        self.region = region;
        self
    }
}

/// The most bins of a dimension's density.
const MOST_BINS: usize = 50;

/// The Pearson divergence of the good trials' density from the others', per dimension, as shares that sum to 1 (or are
/// all 0).
///
/// It sees influence of any shape, in time linear in the number of trials, but no interaction: two dimensions that
/// matter only together get nothing. A conditional dimension is judged by the trials that have it. Equal scores are on
/// the same side of a limit, so the order of the trials makes no difference.
///
/// Source: S. Watanabe, A. Bansal, F. Hutter (2023), PED-ANOVA: efficiently quantifying hyperparameter importance in
/// arbitrary subspaces, IJCAI, equation 6. The densities are kernel estimates on 50 bins of the dimension's own scale
/// with D. W. Scott's bandwidth, one uniform observation added, as in Optuna; ours gives an int of up to 50 values a
/// bin for each.
pub fn ped_anova<'a>(
    space: &Space,
    rows: impl IntoIterator<Item = (&'a Point, f64)>,
    options: PedAnovaOptions,
) -> Vec<(String, f64)> {
    let (points, losses): (Vec<&Point>, Vec<f64>) = rows
        .into_iter()
        .filter(|(_, score)| score.is_finite())
        .map(|(point, score)| (point, options.goal.as_loss(score)))
        .unzip();
    if losses.len() < FEWEST {
        return ranked(space, |_| 0.0);
    }
    let mut sorted = losses.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let limit = |share: f64| {
        let n = (share.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
        sorted[n.clamp(1, sorted.len()) - 1]
    };
    let (good, all) = (limit(options.target), limit(options.region.max(options.target)));
    let divergences: Vec<f64> = columns(space, &points)
        .into_iter()
        .zip(space.dimensions())
        .map(|(column, dimension)| {
            let bins = Bins::new(dimension);
            let (mut theirs, mut its) = (vec![0.0; bins.n], vec![0.0; bins.n]);
            for (value, loss) in column.into_iter().zip(&losses) {
                if value.is_nan() || *loss > all {
                    continue;
                }
                let bin = bins.of(value);
                theirs[bin] += 1.0;
                its[bin] += if *loss <= good { 1.0 } else { 0.0 };
            }
            bins.divergence(&theirs, &its)
        })
        .collect();
    let sum: f64 = divergences.iter().sum();
    ranked(space, |i| if sum > 0.0 { divergences[i] / sum } else { 0.0 })
}

/// Equal parts of a dimension, on its own scale.
struct Bins {
    n: usize,
    low: f64,
    span: f64,
    is_log: bool,
    /// Whether neighbours are alike.
    is_ordered: bool,
}

impl Bins {
    fn new(dimension: &Dimension) -> Self {
        let n = dimension.last().map_or(MOST_BINS, |last| (last as usize).saturating_add(1));
        let (low, high, is_ordered) = match &dimension.domain {
            Domain::Real { low, high, .. } => (*low, *high, true),
            Domain::Int { low, high, .. } => (*low as f64 - 0.5, *high as f64 + 0.5, true),
            Domain::Choice { options } => (-0.5, options.len() as f64 - 0.5, false),
        };
        let is_log = dimension.domain.is_log();
        let (low, high) = if is_log { (libm::log(low), libm::log(high)) } else { (low, high) };
        // Every option has a bin, however many.
        let n = if is_ordered { n.min(MOST_BINS) } else { n };
        Self { n, low, span: high / 2.0 - low / 2.0, is_log, is_ordered }
    }

    fn of(&self, value: f64) -> usize {
        let value = if self.is_log { libm::log(value) } else { value };
        // Halved, so that the whole of the floats fits; a constant is all in one.
        let place = (value / 2.0 - self.low / 2.0) / self.span;
        ((place * self.n as f64) as usize).min(self.n - 1)
    }

    /// The mean over the others' density of the squared deviation of the two's ratio from 1.
    fn divergence(&self, theirs: &[f64], its: &[f64]) -> f64 {
        let (theirs, its) = (self.density(theirs), self.density(its));
        theirs.iter().zip(&its).map(|(their, own)| their * (own / their - 1.0).powi(2)).sum()
    }

    /// The share of each bin, smoothed where neighbours are alike; never 0.
    fn density(&self, counts: &[f64]) -> Vec<f64> {
        let seen: f64 = counts.iter().sum();
        let even = 1.0 / self.n as f64;
        if !self.is_ordered || seen <= 0.0 {
            return counts.iter().map(|count| (count + even) / (seen + 1.0)).collect();
        }
        let width = bandwidth(counts, seen);
        let kernel: Vec<f64> = (0..self.n).map(|i| libm::exp(-0.5 * (i as f64 / width).powi(2))).collect();
        let mut shares = vec![even / (seen + 1.0); self.n];
        for (centre, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            let inside: f64 = (0..self.n).map(|bin| kernel[bin.abs_diff(centre)]).sum();
            for (bin, share) in shares.iter_mut().enumerate() {
                *share += count * kernel[bin.abs_diff(centre)] / inside / (seen + 1.0);
            }
        }
        shares
    }
}

/// Scott's bandwidth of binned observations, in bins; at least what keeps nine tenths of a kernel in its bin.
fn bandwidth(counts: &[f64], seen: f64) -> f64 {
    let mean = counts.iter().enumerate().map(|(i, count)| i as f64 * count).sum::<f64>() / seen;
    let square = counts.iter().enumerate().map(|(i, count)| (i as f64 - mean).powi(2) * count).sum::<f64>();
    let sd = (square / (seen - 1.0).max(1.0)).sqrt();
    let quantile = |share: f64| {
        let mut below = 0.0;
        counts.iter().position(|count| {
            below += count;
            below >= share * seen
        })
    };
    let spread = match (quantile(0.25), quantile(0.75)) {
        (Some(low), Some(high)) => (high - low) as f64 / 1.34,
        _ => sd,
    };
    (1.059 * spread.min(sd) * libm::pow(seen, -0.2)).max(0.5 / 1.64)
}
