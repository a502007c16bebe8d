//! One axis of a space: what values it has, how a draw becomes one, and what is refused.

use std::fmt;
use std::sync::Arc;

use crate::error::SpaceError;
use crate::float;
use crate::lattice::Lattice;
use crate::point::Slot;
use crate::scalar::Scalar;
use crate::text;

/// The values of a dimension.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Domain {
    /// Numbers from `low` to `high`, both included.
    Real {
        /// The lower end; finite, above 0 when `log`.
        low: f64,
        /// The upper end; finite, at least `low`.
        high: f64,
        /// Whether equal ratios, rather than equal differences, are equally likely.
        log: bool,
        /// The distance between two values, counted from `low`; None for every number.
        step: Option<f64>,
    },
    /// Whole numbers from `low` to `high`, both included where a step reaches it.
    Int {
        /// The lower end; above 0 when `log`.
        low: i64,
        /// The upper end; at least `low`.
        high: i64,
        /// Whether equal ratios, rather than equal differences, are equally likely.
        log: bool,
        /// The distance between two values, counted from `low`; at least 1.
        step: i64,
    },
    /// One of some options, in the order they were given.
    Choice {
        /// At least one, each once.
        options: Arc<[Scalar]>,
    },
}

impl Domain {
    /// `real`, `int` or `choice`. Two dimensions of one kind hold values of one type.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Real { .. } => "real",
            Self::Int { .. } => "int",
            Self::Choice { .. } => "choice",
        }
    }

    /// Whether the values are spread over orders of magnitude.
    pub const fn is_log(&self) -> bool {
        matches!(self, Self::Real { log: true, .. } | Self::Int { log: true, .. })
    }
}

/// The text form: `logreal(0.0001,0.1)`.
impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write_domain(f, self)
    }
}

/// When a dimension exists: where another one, before it, has one of some values.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct When {
    /// The index of the dimension that it depends on.
    pub parent: usize,
    /// The values for which it exists, in the order of the parent.
    pub values: Arc<[Scalar]>,
    /// The same, by their place in the parent; ascending.
    pub(crate) ordinals: Arc<[u64]>,
}

/// One named axis of a space.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Dimension {
    /// Its name.
    pub name: Arc<str>,
    /// Its values.
    pub domain: Domain,
    /// When it exists; None for always.
    pub when: Option<When>,
    scale: Scale,
}

/// The domain, ready for drawing.
#[derive(Debug, Clone, PartialEq)]
enum Scale {
    Linear {
        low: f64,
        high: f64,
    },
    Log {
        low: f64,
        high: f64,
        ln_low: f64,
        ln_span: f64,
    },
    Steps(Lattice),
    Int {
        low: i64,
        step: u64,
        last: u64,
    },
    LogInt {
        low: i64,
        high: i64,
        ln_low: f64,
        ln_span: f64,
    },
    Choice {
        last: u64,
    },
    /// A real whose ends are equal.
    Constant {
        value: f64,
    },
}

/// Where the randomness, or the quasi-randomness, of one value comes from.
pub(crate) trait Draw {
    /// A number in [0, 1].
    fn unit(&mut self) -> f64;
    /// A whole number from 0 to `last`, each as often as the others.
    fn index(&mut self, last: u64) -> u64;
}

impl Dimension {
    pub(crate) fn new(name: &str, domain: Domain) -> Result<Self, SpaceError> {
        if name.is_empty() {
            return Err(SpaceError::EmptyName);
        }
        let scale = Scale::new(name, &domain)?;
        Ok(Self { name: name.into(), domain, when: None, scale })
    }

    /// How many values there are, less one; None when they cannot be counted.
    pub(crate) fn last(&self) -> Option<u64> {
        match &self.scale {
            Scale::Linear { .. } | Scale::Log { .. } => None,
            Scale::Steps(lattice) => Some(lattice.last()),
            Scale::Int { last, .. } | Scale::Choice { last } => Some(*last),
            Scale::LogInt { low, high, .. } => Some(high.abs_diff(*low)),
            Scale::Constant { .. } => Some(0),
        }
    }

    /// Whether values that can be counted are not equally likely.
    pub(crate) fn is_uneven(&self) -> bool {
        matches!(self.scale, Scale::LogInt { .. }) && self.last() != Some(0)
    }

    /// How likely a value is; 1 for an absent one and where values cannot be counted.
    pub(crate) fn likelihood(&self, slot: &Slot) -> f64 {
        match (&self.scale, slot) {
            (_, Slot::Absent) => 1.0,
            (Scale::LogInt { ln_span, .. }, Slot::Own(Scalar::Int(value))) => {
                (float::ln(*value as f64 + 0.5) - float::ln(*value as f64 - 0.5)) / ln_span
            }
            _ => self.last().map_or(1.0, |last| 1.0 / (last as f64 + 1.0)),
        }
    }

    /// The value with ordinal `k`, counted from the lower end or the first option; only where values can be counted.
    pub(crate) fn at(&self, k: u64) -> Slot {
        match &self.scale {
            Scale::Steps(lattice) => Slot::Own(Scalar::Float(lattice.at(k))),
            // Wrapping, as the step times the ordinal may not fit where the sum does.
            Scale::Int { low, step, .. } => {
                Slot::Own(Scalar::Int(low.wrapping_add(step.wrapping_mul(k) as i64)))
            }
            Scale::LogInt { low, .. } => Slot::Own(Scalar::Int(low.wrapping_add(k as i64))),
            Scale::Choice { .. } => Slot::Option(k as u32),
            Scale::Linear { low, .. } | Scale::Log { low, .. } | Scale::Constant { value: low } => {
                Slot::Own(Scalar::Float(*low))
            }
        }
    }

    /// The ordinal of a value that this dimension holds; None where values cannot be counted.
    pub(crate) fn ordinal(&self, slot: &Slot) -> Option<u64> {
        match (&self.scale, slot) {
            (Scale::Choice { .. }, Slot::Option(k)) => Some(u64::from(*k)),
            (Scale::Steps(lattice), Slot::Own(Scalar::Float(value))) => Some(lattice.nearest(*value)),
            (Scale::Int { low, step, .. }, Slot::Own(Scalar::Int(value))) => {
                Some(value.abs_diff(*low) / step)
            }
            (Scale::LogInt { low, .. }, Slot::Own(Scalar::Int(value))) => Some(value.abs_diff(*low)),
            (Scale::Constant { .. }, Slot::Own(_)) => Some(0),
            _ => None,
        }
    }

    /// Draws a value.
    pub(crate) fn draw(&self, from: &mut impl Draw) -> Slot {
        match &self.scale {
            Scale::Steps(_) | Scale::Int { .. } | Scale::Choice { .. } => {
                self.at(from.index(self.last().expect("values on a step can be counted")))
            }
            Scale::Linear { .. } | Scale::Log { .. } | Scale::LogInt { .. } | Scale::Constant { .. } => {
                self.at_unit(from.unit())
            }
        }
    }

    /// The value at `unit` of the way from the lower to the upper end, on the axis's own scale; of equal parts for
    /// values that can be counted.
    pub(crate) fn at_unit(&self, unit: f64) -> Slot {
        match &self.scale {
            // Not left to rounding: the upper end is the upper end.
            Scale::Linear { high, .. } | Scale::Log { high, .. } if unit >= 1.0 => {
                Slot::Own(Scalar::Float(*high))
            }
            Scale::Linear { low, high } => {
                let span = high - low;
                // Ends further apart than the largest float: weighted, so that nothing overflows.
                let value =
                    if span.is_finite() { low + unit * span } else { low * (1.0 - unit) + high * unit };
                Slot::Own(Scalar::Float(value.clamp(*low, *high)))
            }
            Scale::Log { low, high, ln_low, ln_span } => {
                Slot::Own(Scalar::Float(float::exp(ln_low + unit * ln_span).clamp(*low, *high)))
            }
            Scale::LogInt { low, high, ln_low, ln_span } => {
                let value = float::exp(ln_low + unit * ln_span).round() as i64;
                Slot::Own(Scalar::Int(value.clamp(*low, *high)))
            }
            Scale::Steps(_) | Scale::Int { .. } | Scale::Choice { .. } => {
                let last = self.last().expect("values on a step can be counted");
                self.at(((unit * (last as f64 + 1.0)) as u64).min(last))
            }
            Scale::Constant { value } => Slot::Own(Scalar::Float(*value)),
        }
    }

    /// Where a value lies: the inverse of [`Self::at_unit`], the middle of its part for values that can be counted.
    pub(crate) fn unit(&self, slot: &Slot) -> f64 {
        match (&self.scale, slot) {
            (Scale::Linear { low, high }, Slot::Own(Scalar::Float(value))) => {
                // Halved, so that the whole of the floats fits.
                ((value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)).clamp(0.0, 1.0)
            }
            (Scale::Log { ln_low, ln_span, .. }, Slot::Own(Scalar::Float(value))) => {
                ((float::ln(*value) - ln_low) / ln_span).clamp(0.0, 1.0)
            }
            (Scale::LogInt { ln_low, ln_span, .. }, Slot::Own(Scalar::Int(value))) => {
                ((float::ln(*value as f64) - ln_low) / ln_span).clamp(0.0, 1.0)
            }
            _ => match (self.ordinal(slot), self.last()) {
                (Some(k), Some(last)) => (k as f64 + 0.5) / (last as f64 + 1.0),
                _ => 0.5,
            },
        }
    }

    /// The value, if this dimension can hold it.
    pub(crate) fn check(&self, value: Scalar) -> Result<Slot, SpaceError> {
        match &self.domain {
            Domain::Real { low, high, .. } => {
                let given = value.as_f64().ok_or_else(|| self.wrong_kind(&value, "a number"))?;
                self.check_real(given, *low, *high)
            }
            Domain::Int { low, high, step, .. } => match value {
                Scalar::Int(given) => self.check_int(given, *low, *high, *step),
                other => Err(self.wrong_kind(&other, "a whole number")),
            },
            Domain::Choice { options } => match options.iter().position(|one| *one == value) {
                Some(k) => Ok(Slot::Option(k as u32)),
                None => Err(self.unknown_option(&value)),
            },
        }
    }

    pub(crate) fn check_real(&self, given: f64, low: f64, high: f64) -> Result<Slot, SpaceError> {
        // Written so that NaN is outside.
        if !(given >= low && given <= high) {
            return Err(SpaceError::OutOfRange {
                name: self.name.to_string(),
                given: text::real(given),
                low: text::real(low),
                high: text::real(high),
            });
        }
        let Scale::Steps(lattice) = &self.scale else { return Ok(Slot::Own(Scalar::Float(given))) };
        match lattice.snap(given) {
            Some(value) => Ok(Slot::Own(Scalar::Float(value))),
            None => Err(SpaceError::OffStep {
                name: self.name.to_string(),
                given: text::real(given),
                low: text::real(low),
                step: text::real(lattice.step()),
            }),
        }
    }

    pub(crate) fn check_int(&self, given: i64, low: i64, high: i64, step: i64) -> Result<Slot, SpaceError> {
        if given < low || given > high {
            return Err(SpaceError::OutOfRange {
                name: self.name.to_string(),
                given: given.to_string(),
                low: low.to_string(),
                high: high.to_string(),
            });
        }
        if !given.abs_diff(low).is_multiple_of(step.unsigned_abs()) {
            return Err(SpaceError::OffStep {
                name: self.name.to_string(),
                given: given.to_string(),
                low: low.to_string(),
                step: step.to_string(),
            });
        }
        Ok(Slot::Own(Scalar::Int(given)))
    }

    fn wrong_kind(&self, given: &Scalar, expected: &'static str) -> SpaceError {
        SpaceError::WrongKind { name: self.name.to_string(), given: given.to_string(), expected }
    }

    pub(crate) fn unknown_option(&self, given: &Scalar) -> SpaceError {
        SpaceError::UnknownOption {
            name: self.name.to_string(),
            given: given.to_string(),
            expected: self.expected(),
        }
    }

    /// What the dimension can be, for messages.
    pub(crate) fn expected(&self) -> String {
        match &self.domain {
            Domain::Choice { options } => {
                options.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            }
            other => other.to_string(),
        }
    }
}

impl Scale {
    fn new(name: &str, domain: &Domain) -> Result<Self, SpaceError> {
        match domain {
            Domain::Real { low, high, log, step } => Self::real(name, *low, *high, *log, *step),
            Domain::Int { low, high, log, step } => Self::int(name, *low, *high, *log, *step),
            Domain::Choice { options } => Self::choice(name, options),
        }
    }

    fn real(name: &str, low: f64, high: f64, log: bool, step: Option<f64>) -> Result<Self, SpaceError> {
        for (bound, given) in [("low", low), ("high", high), ("step", step.unwrap_or(1.0))] {
            if !given.is_finite() {
                return Err(SpaceError::NotFinite { name: name.to_owned(), bound, given });
            }
        }
        if low > high {
            return Err(SpaceError::EmptyRange {
                name: name.to_owned(),
                low: text::real(low),
                high: text::real(high),
            });
        }
        if log && low <= 0.0 {
            return Err(SpaceError::LogRange { name: name.to_owned(), low: text::real(low) });
        }
        match step {
            Some(_) if log => Err(SpaceError::LogWithStep { name: name.to_owned() }),
            Some(step) => Lattice::new(low, high, step).map(Self::Steps).ok_or_else(|| {
                let expected = "above 0, and at least 2^-40 of the larger end";
                SpaceError::BadStep { name: name.to_owned(), step: text::real(step), expected }
            }),
            // A logarithm and its exponential do not always meet again.
            None if low >= high => Ok(Self::Constant { value: low }),
            None if log => {
                let ln_low = float::ln(low);
                Ok(Self::Log { low, high, ln_low, ln_span: float::ln(high) - ln_low })
            }
            None => Ok(Self::Linear { low, high }),
        }
    }

    fn int(name: &str, low: i64, high: i64, log: bool, step: i64) -> Result<Self, SpaceError> {
        if low > high {
            return Err(SpaceError::EmptyRange {
                name: name.to_owned(),
                low: low.to_string(),
                high: high.to_string(),
            });
        }
        if step < 1 {
            return Err(SpaceError::BadStep {
                name: name.to_owned(),
                step: step.to_string(),
                expected: "at least 1",
            });
        }
        if !log {
            let step = step.unsigned_abs();
            return Ok(Self::Int { low, step, last: high.abs_diff(low) / step });
        }
        if low < 1 {
            return Err(SpaceError::LogRange { name: name.to_owned(), low: low.to_string() });
        }
        if step != 1 {
            return Err(SpaceError::LogWithStep { name: name.to_owned() });
        }
        // Half a unit on either side, so that the ends are as wide as their neighbours.
        let ln_low = float::ln(low as f64 - 0.5);
        Ok(Self::LogInt { low, high, ln_low, ln_span: float::ln(high as f64 + 0.5) - ln_low })
    }

    fn choice(name: &str, options: &[Scalar]) -> Result<Self, SpaceError> {
        let Some(last) = options.len().checked_sub(1) else {
            return Err(SpaceError::EmptyChoice { name: name.to_owned() });
        };
        let mut seen = rustc_hash::FxHashSet::default();
        for option in options {
            if let Scalar::Float(given) = option
                && !given.is_finite()
            {
                return Err(SpaceError::NotFinite {
                    name: name.to_owned(),
                    bound: "the option",
                    given: *given,
                });
            }
            if !seen.insert(option) {
                return Err(SpaceError::RepeatedOption { name: name.to_owned(), option: option.to_string() });
            }
        }
        Ok(Self::Choice { last: last as u64 })
    }
}
