//! Spaces, histories and curves.

use soma_study::{
    Curve, Curves, History, Observation, RandomOptions, RealOptions, Sampler, Scalar, Space, SpaceError,
};

/// Trials of a long study.
pub const TRIALS: u64 = 10_000;
/// Curves that a pruner compares with.
pub const CURVES: u64 = 100;
/// Reports of each.
pub const REPORTS: usize = 50;

/// The space of the notebook: a logarithmic real, an int and a choice.
///
/// # Errors
/// None that can be met.
pub fn notebook() -> Result<Space, SpaceError> {
    "Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))".parse()
}

/// Ten reals.
///
/// # Errors
/// None that can be met.
pub fn ten_reals() -> Result<Space, SpaceError> {
    (0..10).try_fold(Space::new(), |space, i| space.real(&format!("x{i}"), 0.0, 1.0, RealOptions::default()))
}

/// `n` finished trials at random points; a score falls with the first dimension, and has ties.
///
/// # Errors
/// None that can be met.
pub fn finished(space: &Space, n: u64) -> Result<History, SpaceError> {
    let sampler = Sampler::random_with(RandomOptions::default().with_seed(1).with_repeats(true));
    let row = |trial| {
        let point = sampler.ask(space, trial, &History::new())?;
        let first = point.value(0).and_then(Scalar::as_f64).unwrap_or_default();
        let score = Some((first * 1000.0).round() / 1000.0 + (trial * 7919 % 101) as f64 / 500.0);
        Ok(Observation { trial, point, score })
    };
    (0..n).map(row).collect()
}

/// `n` curves that fall from about 1, each to an end of its own.
pub fn curves(n: u64, reports: usize) -> Curves {
    let curve = |trial: u64| {
        let end = (trial * 7919 % 1009) as f64 / 1009.0;
        (0..reports).map(|i| end + (1.0 - end) / (i + 1) as f64).collect()
    };
    (0..n).map(|trial| Curve { trial, values: curve(trial) }).collect()
}
