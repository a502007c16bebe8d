//! Every combination once.

use std::fmt;

use super::{Ask, check_used_up};
use crate::counting::Counting;
use crate::dimension::Dimension;
use crate::error::{SamplerError, SpaceError};
use crate::history::History;
use crate::point::{Point, Slot};
use crate::scalar::Scalar;
use crate::space::Space;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grid {
    points_per_real: u32,
}

impl Grid {
    pub(super) fn new(points_per_real: u32) -> Result<Self, SamplerError> {
        if points_per_real == 0 {
            return Err(SamplerError::Option {
                sampler: "grid",
                option: "points_per_real",
                given: "0".to_owned(),
                expected: "at least 1",
            });
        }
        Ok(Self { points_per_real })
    }

    fn counting(&self, space: &Space) -> Counting {
        let last = u64::from(self.points_per_real - 1);
        Counting::new(space.dimensions(), |dimension| Some(dimension.last().unwrap_or(last)))
    }

    /// The k-th of the points of a real.
    fn unit(&self, k: u64) -> f64 {
        match self.points_per_real - 1 {
            0 => 0.5,
            last => k as f64 / f64::from(last),
        }
    }
}

/// The decimal of 15 digits where it is within rounding of a value between the ends: the middle of 0.01 and 1 on a
/// logarithmic axis is 0.1, and not 0.10000000000000002.
fn tidy(dimension: &Dimension, slot: Slot) -> Slot {
    let Slot::Own(Scalar::Float(value)) = slot else { return slot };
    let short: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    let is_near = (short - value).abs() <= 4.0 * f64::EPSILON * value.abs();
    if is_near { dimension.check(Scalar::Float(short)).unwrap_or(slot) } else { slot }
}

impl Ask for Grid {
    fn ask(&self, space: &Space, trial: u64, _history: &History) -> Result<Point, SpaceError> {
        let counting = self.counting(space);
        check_used_up(trial, counting.size())?;
        let value = |dimension: &Dimension, k| {
            if dimension.last().is_some() {
                return dimension.at(k);
            }
            let unit = self.unit(k);
            let slot = dimension.at_unit(unit);
            if unit > 0.0 && unit < 1.0 { tidy(dimension, slot) } else { slot }
        };
        Ok(space.point_at_by(&counting, trial, value))
    }

    fn size(&self, space: &Space) -> Option<u64> {
        self.counting(space).size()
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "grid(points_per_real={})", self.points_per_real)
    }
}
