//! Every combination once.

use std::fmt;

use super::{Ask, check_used_up};
use crate::counting::Counting;
use crate::dimension::Dimension;
use crate::error::{SamplerError, SpaceError};
use crate::history::History;
use crate::point::Point;
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

impl Ask for Grid {
    fn ask(&self, space: &Space, trial: u64, _history: &History) -> Result<Point, SpaceError> {
        let counting = self.counting(space);
        check_used_up(trial, counting.size())?;
        let value = |dimension: &Dimension, k| match dimension.last() {
            Some(_) => dimension.at(k),
            None => dimension.at_unit(self.unit(k)),
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
