//! Which dimension mattered: how much of the score each one explains.
//!
//! Every evaluator lists every dimension, from high to low, ties in the order of the space; none of them answers NaN.
//! Scores that are not finite are left out. A dimension that never changed, or a study with too little in it to tell,
//! gets 0.

mod ped_anova;
mod spearman;

use std::fmt;
use std::str::FromStr;

pub use self::ped_anova::{PedAnovaOptions, ped_anova};
pub use self::spearman::spearman;
use crate::dimension::Domain;
use crate::error::SpaceError;
use crate::goal::Goal;
use crate::point::Point;
use crate::scalar::Scalar;
use crate::space::{Alike, Space};

/// How importance is worked out, by its name: what a command or a call is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Evaluator {
    /// [`spearman`]: how well the score follows each dimension in rank; the default.
    #[default]
    Spearman,
    /// [`ped_anova`] with its defaults: how far the best tenth is from the rest.
    PedAnova,
}

impl Evaluator {
    /// Every evaluator.
    pub const ALL: [Self; 2] = [Self::Spearman, Self::PedAnova];

    /// `spearman` or `ped_anova`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spearman => "spearman",
            Self::PedAnova => "ped_anova",
        }
    }

    /// The importance of every dimension, from high to low. Spearman does not look at the goal.
    pub fn evaluate<'a>(
        self,
        space: &Space,
        rows: impl IntoIterator<Item = (&'a Point, f64)>,
        goal: Goal,
    ) -> Vec<(String, f64)> {
        match self {
            Self::Spearman => spearman(space, rows),
            Self::PedAnova => ped_anova(space, rows, PedAnovaOptions::default().with_goal(goal)),
        }
    }
}

impl fmt::Display for Evaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Evaluator {
    type Err = SpaceError;

    fn from_str(text: &str) -> Result<Self, SpaceError> {
        Self::ALL
            .into_iter()
            .find(|one| one.as_str() == text)
            .ok_or_else(|| SpaceError::UnknownEvaluator { given: text.to_owned() })
    }
}

/// Below this many scores every order explains them.
const FEWEST: usize = 3;

/// The values of each dimension as numbers, NaN where a point does not have it: an option by its place, as `space` lists
/// them.
fn columns(space: &Space, points: &[&Point]) -> Vec<Vec<f64>> {
    let dimensions = space.dimensions();
    let mut columns = vec![Vec::with_capacity(points.len()); dimensions.len()];
    let mut alike = Alike::new(space);
    // Point by point, as each lies in a place of its own.
    for point in points {
        let is_alike = alike.holds(point.space());
        for (i, (dimension, column)) in dimensions.iter().zip(&mut columns).enumerate() {
            let number = if is_alike {
                point.option(i).map(|place| place as f64).or_else(|| point.value(i)?.as_f64())
            } else {
                // A point read with an older version of the space has its own order.
                point.get(&dimension.name).and_then(|value| place_of(&dimension.domain, value))
            };
            column.push(number.unwrap_or(f64::NAN));
        }
    }
    columns
}

fn place_of(domain: &Domain, value: &Scalar) -> Option<f64> {
    match domain {
        Domain::Choice { options } => options.iter().position(|one| one == value).map(|place| place as f64),
        Domain::Real { .. } | Domain::Int { .. } => value.as_f64(),
    }
}

/// Names with their shares, from high to low.
fn ranked(space: &Space, share: impl Fn(usize) -> f64) -> Vec<(String, f64)> {
    let mut shares: Vec<(String, f64)> =
        space.dimensions().iter().enumerate().map(|(i, one)| (one.name.to_string(), share(i))).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}
