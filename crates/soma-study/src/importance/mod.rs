//! Which dimension mattered: how much of the score each one explains.
//!
//! Every evaluator lists every dimension, from high to low, ties in the order of the space; none of them answers NaN.
//! Scores that are not finite are left out. A dimension that never changed, or a study with too little in it to tell,
//! gets 0.

mod spearman;

pub use self::spearman::spearman;
use crate::dimension::Domain;
use crate::point::Point;
use crate::space::{Alike, Space};

/// Below this many scores every order explains them.
const FEWEST: usize = 3;

/// The values of one dimension as numbers, None where a point does not have it: an option by its place, as `space`
/// lists them.
fn column(space: &Space, index: usize, points: &[&Point]) -> Vec<Option<f64>> {
    let dimension = &space.dimensions()[index];
    let mut alike = Alike::new(space);
    let number = |point: &&Point| {
        // A point read with an older version of the space has its own order.
        let is_alike = alike.holds(point.space());
        let value = if is_alike { point.value(index) } else { point.get(&dimension.name) };
        match (&dimension.domain, value?) {
            (Domain::Choice { .. }, _) if is_alike => point.option(index).map(|place| place as f64),
            (Domain::Choice { options }, value) => {
                options.iter().position(|one| one == value).map(|place| place as f64)
            }
            (_, value) => value.as_f64(),
        }
    };
    points.iter().map(number).collect()
}

/// Names with their shares, from high to low.
fn ranked(space: &Space, share: impl Fn(usize) -> f64) -> Vec<(String, f64)> {
    let mut shares: Vec<(String, f64)> =
        space.dimensions().iter().enumerate().map(|(i, one)| (one.name.to_string(), share(i))).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}
