//! Which end of a score is the good one.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::error::SpaceError;

/// Whether a study looks for the smallest or the largest score.
///
/// ```
/// use soma_study::Goal;
///
/// let goal: Goal = "max".parse()?;
/// assert!(goal.is_better(0.9, 0.8));
/// assert!("maximise".parse::<Goal>().is_err());
/// # Ok::<(), soma_study::SpaceError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Goal {
    /// The smallest score is the best; the default, as a loss is.
    #[default]
    Min,
    /// The largest score is the best.
    Max,
}

impl Goal {
    /// The word in text, JSON and Python: `min` or `max`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// Whether `a` is strictly better than `b`. A NaN is better than nothing, and nothing is better than it here:
    /// sort with [`Goal::compare`] where NaNs may stand.
    pub fn is_better(self, a: f64, b: f64) -> bool {
        match self {
            Self::Min => a < b,
            Self::Max => a > b,
        }
    }

    /// Orders scores from best to worst; NaN comes last whatever the goal.
    pub fn compare(self, a: f64, b: f64) -> Ordering {
        let ordered = match self {
            Self::Min => a.partial_cmp(&b),
            Self::Max => b.partial_cmp(&a),
        };
        ordered.unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
    }

    /// The score turned so that smaller is better.
    pub fn as_loss(self, score: f64) -> f64 {
        match self {
            Self::Min => score,
            Self::Max => -score,
        }
    }

    /// The better of the two; a NaN loses against anything.
    pub fn better_of(self, a: f64, b: f64) -> f64 {
        // `f64::min` and `f64::max` answer the other operand where one is NaN.
        match self {
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }

    /// The best value of a curve; NaNs are passed over. None when nothing else is there.
    pub fn best_of(self, curve: &[f64]) -> Option<f64> {
        let best = curve.iter().copied().fold(f64::NAN, |best, one| self.better_of(best, one));
        (!best.is_nan()).then_some(best)
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Goal {
    type Err = SpaceError;

    fn from_str(text: &str) -> Result<Self, SpaceError> {
        match text {
            "min" => Ok(Self::Min),
            "max" => Ok(Self::Max),
            _ => Err(SpaceError::UnknownGoal { given: text.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_min_or_max_and_nothing_else() {
        assert_eq!("min".parse::<Goal>().unwrap(), Goal::Min);
        assert_eq!("max".parse::<Goal>().unwrap(), Goal::Max);
        for other in ["minimize", "MIN", "", "m"] {
            let error = other.parse::<Goal>().unwrap_err();
            assert!(error.to_string().contains("expected `min` or `max`"), "{error}");
        }
    }

    #[test]
    fn nan_is_last_in_either_direction() {
        for goal in [Goal::Min, Goal::Max] {
            let mut scores = [f64::NAN, 1.0, f64::NAN, -1.0];
            scores.sort_by(|a, b| goal.compare(*a, *b));
            assert!(scores[2].is_nan() && scores[3].is_nan());
            assert!(goal.is_better(scores[0], scores[1]));
            assert_eq!(goal.best_of(&[f64::NAN, 3.0]), Some(3.0));
            assert_eq!(goal.best_of(&[f64::NAN]), None);
        }
    }
}
