//! Outside fixed bounds.

use std::fmt;

use super::{Judge, reports};
use crate::error::PrunerError;
use crate::history::Curves;
use crate::options::setters;
use crate::text::real;

/// When the threshold pruner speaks. At least one bound must be given.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct ThresholdOptions {
    /// A report below this is pruned. Default: None, no bound.
    pub lower: Option<f64>,
    /// A report above this is pruned. Default: None, no bound.
    pub upper: Option<f64>,
    /// Reports before the first verdict. Default: 0.
    pub warmup: usize,
}

setters!(ThresholdOptions {
    with_lower(lower: f64) => Some(lower),
    with_upper(upper: f64) => Some(upper),
    with_warmup(warmup: usize) => warmup,
});

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Threshold {
    options: ThresholdOptions,
}

impl Threshold {
    pub(super) fn new(options: ThresholdOptions) -> Result<Self, PrunerError> {
        let refused = |option, given: Option<f64>, expected| {
            Err(PrunerError::Option {
                pruner: "threshold",
                option,
                given: given.map_or_else(|| "nothing".to_owned(), real),
                expected,
            })
        };
        match (options.lower, options.upper) {
            (None, None) => refused("upper", None, "a number, here or for `lower`"),
            (Some(lower), _) if lower.is_nan() => refused("lower", Some(lower), "a number"),
            (_, Some(upper)) if upper.is_nan() => refused("upper", Some(upper), "a number"),
            (Some(lower), Some(upper)) if lower > upper => {
                refused("lower", Some(lower), "at most the upper bound")
            }
            _ => Ok(Self { options }),
        }
    }
}

impl Judge for Threshold {
    fn judge(&self, mine: &[f64], _others: &Curves) -> Option<String> {
        let ThresholdOptions { lower, upper, warmup } = self.options;
        let latest = *mine.last()?;
        if mine.len() <= warmup {
            return None;
        }
        let said = |side, bound| {
            let reports = reports(mine.len());
            Some(format!("after {reports} it is at {}, {side} the threshold {}", real(latest), real(bound)))
        };
        match (lower, upper) {
            (Some(lower), _) if latest < lower => said("below", lower),
            (_, Some(upper)) if latest > upper => said("above", upper),
            _ => None,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("threshold(")?;
        for (name, bound) in [("lower", self.options.lower), ("upper", self.options.upper)] {
            if let Some(bound) = bound {
                write!(f, "{name}={},", real(bound))?;
            }
        }
        write!(f, "warmup={})", self.options.warmup)
    }
}
