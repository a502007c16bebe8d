//! A density over a space, from points in it. Its elementary functions are those of `libm`, the same on every machine.

use std::f64::consts::PI;

use super::ABSENT;
use crate::dimension::{Domain, Draw};
use crate::hash::Stream;
use crate::point::{Point, Slot};
use crate::space::Space;

/// Where a point lies: a number in [0, 1] per dimension, the place of an option for a choice, NaN where it has none.
pub(super) fn coordinates(space: &Space, point: &Point) -> Vec<f64> {
    space
        .dimensions()
        .iter()
        .zip(point.slots())
        .map(|(dimension, slot)| match slot {
            Slot::Absent => ABSENT,
            Slot::Option(k) => f64::from(*k),
            Slot::Own(_) => dimension.unit(slot),
        })
        .collect()
}

/// How wide one dimension's kernels are.
enum Width {
    /// A normal density cut off at 0 and 1, with this standard deviation.
    Normal(f64),
    /// The logarithms of the shares of an option: a point's own, and each other one.
    Options { count: u64, log_own: f64, log_other: f64 },
}

/// One kernel per point, a product over the dimensions, and the uniform density as one more.
pub(super) struct Density {
    widths: Vec<Width>,
    /// Kernel by kernel, dimension by dimension.
    centres: Vec<f64>,
    /// The logarithm of each normal's scale, in the same order; 0 for the rest.
    log_scales: Vec<f64>,
    n: usize,
}

impl Density {
    pub(super) fn new(space: &Space, points: &[&Point]) -> Self {
        let dimensions = space.dimensions();
        let n = points.len();
        let kernels = (n + 1) as f64;
        // Scott's rule, over a fifth of the range as Optuna's multivariate sampler has it, and never narrower than an
        // even share of it.
        let scott = 0.2 * libm::pow(kernels, -1.0 / (dimensions.len() as f64 + 4.0));
        let narrowest = 1.0 / kernels.min(100.0);
        let widths: Vec<Width> = dimensions
            .iter()
            .map(|dimension| {
                if let Domain::Choice { options } = &dimension.domain {
                    let count = options.len() as f64;
                    let all = 1.0 + count / kernels;
                    let log_own = libm::log((1.0 + 1.0 / kernels) / all);
                    let log_other = libm::log(1.0 / kernels / all);
                    return Width::Options { count: options.len() as u64, log_own, log_other };
                }
                // Values that can be counted: a kernel reaches at least its neighbours.
                let apart = dimension.last().map_or(0.0, |last| 0.5 / (last as f64 + 1.0));
                Width::Normal(scott.max(narrowest).max(apart))
            })
            .collect();
        let centres: Vec<f64> = points.iter().flat_map(|point| coordinates(space, point)).collect();
        let log_scales = centres
            .iter()
            .zip(widths.iter().cycle())
            .map(|(centre, width)| match width {
                Width::Normal(sd) if !centre.is_nan() => {
                    let inside = normal_below((1.0 - centre) / sd) - normal_below(-centre / sd);
                    -libm::log(sd * (2.0 * PI).sqrt() * inside)
                }
                _ => 0.0,
            })
            .collect();
        Self { widths, centres, log_scales, n }
    }

    /// The logarithm of the density at `at`.
    pub(super) fn log(&self, at: &[f64]) -> f64 {
        let d = self.widths.len();
        let uniform = self.widths.iter().zip(at).map(|(width, x)| log_uniform(width, *x)).sum::<f64>();
        let mut logs = Vec::with_capacity(self.n + 1);
        logs.push(uniform);
        for kernel in 0..self.n {
            let row = kernel * d..(kernel + 1) * d;
            let (centres, log_scales) = (&self.centres[row.clone()], &self.log_scales[row]);
            let mut log = 0.0;
            for i in 0..d {
                let (x, centre) = (at[i], centres[i]);
                if x.is_nan() {
                    continue;
                }
                log += match &self.widths[i] {
                    // A point that does not have the dimension says nothing about it.
                    width if centre.is_nan() => log_uniform(width, x),
                    Width::Normal(sd) => {
                        let z = (x - centre) / sd;
                        log_scales[i] - 0.5 * z * z
                    }
                    Width::Options { log_own, .. } if x.to_bits() == centre.to_bits() => *log_own,
                    Width::Options { log_other, .. } => *log_other,
                };
            }
            logs.push(log);
        }
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most + libm::log(logs.iter().map(|log| libm::exp(log - most)).sum::<f64>() / logs.len() as f64)
    }

    /// Draws a point: a kernel, then a value of it for every dimension that exists.
    pub(super) fn draw(&self, space: &Space, stream: &mut Stream) -> Point {
        let kernel = stream.index(self.n as u64) as usize;
        let d = self.widths.len();
        space.fill(|i, dimension| {
            let centre =
                self.centres.get(kernel * d + i).copied().filter(|_| kernel < self.n).unwrap_or(ABSENT);
            if centre.is_nan() {
                return dimension.draw(stream);
            }
            match &self.widths[i] {
                Width::Normal(sd) => dimension.at_unit(draw_normal(stream, centre, *sd)),
                Width::Options { log_own, log_other, .. } => {
                    // What is left over goes to any option alike, its own included.
                    let (own, other) = (libm::exp(*log_own), libm::exp(*log_other));
                    if stream.unit() < own - other {
                        Slot::Option(centre as u32)
                    } else {
                        dimension.draw(stream)
                    }
                }
            }
        })
    }
}

/// The logarithm of the uniform density; 0 where there is no coordinate.
fn log_uniform(width: &Width, x: f64) -> f64 {
    match width {
        Width::Options { count, .. } if !x.is_nan() => -libm::log(*count as f64),
        _ => 0.0,
    }
}

/// A normal draw between 0 and 1, by drawing until it is.
fn draw_normal(stream: &mut Stream, mean: f64, sd: f64) -> f64 {
    // The mean lies inside and the deviation is at most 1, so that each draw is inside with a chance above one third.
    for _ in 0..1000 {
        // Box and Muller (1958). The first is kept off 0.
        let radius = (-2.0 * libm::log((1.0 - stream.unit()).max(f64::MIN_POSITIVE))).sqrt();
        let x = mean + sd * radius * libm::cos(2.0 * PI * stream.unit());
        if (0.0..=1.0).contains(&x) {
            return x;
        }
    }
    mean
}

/// The standard normal distribution function, to 1e-7.
///
/// Source: M. Abramowitz, I. A. Stegun (1964), Handbook of mathematical functions, 26.2.17.
fn normal_below(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let series = t
        * (0.319_381_530
            + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let above = libm::exp(-0.5 * x * x) / (2.0 * PI).sqrt() * series;
    if x >= 0.0 { 1.0 - above } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::RealOptions;

    #[test]
    fn the_normal_distribution_is_that_of_the_tables() {
        for (x, below) in [(0.0, 0.5), (1.0, 0.841_344_746), (-1.96, 0.024_997_895), (3.0, 0.998_650_102)] {
            assert!((normal_below(x) - below).abs() < 1e-7, "{x}");
        }
    }

    #[test]
    fn a_density_sums_to_one() {
        let space =
            Space::new().real("x", 0.0, 1.0, RealOptions::default()).unwrap().choice("c", [1, 2, 3]).unwrap();
        let points = ["x=0.02,c=1", "x=0.5,c=3", "x=0.97,c=1"].map(|text| space.parse_point(text).unwrap());
        let density = Density::new(&space, &points.iter().collect::<Vec<_>>());
        let steps = 2000;
        let mut sum = 0.0;
        for k in 0..3 {
            for i in 0..steps {
                let x = (f64::from(i) + 0.5) / f64::from(steps);
                sum += density.log(&[x, f64::from(k)]).exp() / f64::from(steps);
            }
        }
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
    }
}
