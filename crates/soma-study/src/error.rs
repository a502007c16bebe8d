//! What spaces, points, samplers and pruners refuse, and what to do about it.

use crate::text::Excerpt;

/// A space, a point, or one of their words was not right.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// A goal other than the two there are.
    #[error("`goal` was given `{given}`, expected `min` or `max`")]
    UnknownGoal {
        /// What was given.
        given: String,
    },
    /// A state other than the four there are.
    #[error("a state was given as `{given}`, expected `running`, `done`, `pruned` or `failed`")]
    UnknownState {
        /// What was given.
        given: String,
    },
    /// An evaluator of importance that there is not.
    #[error("an evaluator was given as `{given}`, expected `spearman` or `ped_anova`")]
    UnknownEvaluator {
        /// What was given.
        given: String,
    },
    /// A dimension without a name.
    #[error("a dimension was given an empty name, expected at least one character")]
    EmptyName,
    /// Two dimensions of one name.
    #[error("`{name}` was given twice, expected each dimension once")]
    RepeatedName {
        /// The name.
        name: String,
    },
    /// A bound is NaN or infinite.
    #[error("`{name}` was given {bound} {given}, expected a finite number")]
    NotFinite {
        /// The dimension.
        name: String,
        /// `low`, `high`, `step` or `option`.
        bound: &'static str,
        /// What was given.
        given: f64,
    },
    /// The lower end lies above the upper one.
    #[error("`{name}` was given low {low} and high {high}, expected low at most high")]
    EmptyRange {
        /// The dimension.
        name: String,
        /// The lower end, as text.
        low: String,
        /// The upper end, as text.
        high: String,
    },
    /// A logarithmic range that reaches zero or below.
    #[error("`{name}` is logarithmic and was given low {low}, expected above 0")]
    LogRange {
        /// The dimension.
        name: String,
        /// The lower end, as text.
        low: String,
    },
    /// A logarithmic range with a step: equal steps are not equal on a logarithmic axis.
    #[error("`{name}` was given a step and `log`, expected one of the two")]
    LogWithStep {
        /// The dimension.
        name: String,
    },
    /// A step that is not above zero, or so small beside the ends that floats do not tell its multiples apart.
    #[error("`{name}` was given step {step}, expected {expected}")]
    BadStep {
        /// The dimension.
        name: String,
        /// The step, as text.
        step: String,
        /// What it can be.
        expected: &'static str,
    },
    /// A choice of nothing.
    #[error("`{name}` was given no options, expected at least one")]
    EmptyChoice {
        /// The dimension.
        name: String,
    },
    /// One option twice.
    #[error("`{name}` was given the option {option} twice, expected each option once")]
    RepeatedOption {
        /// The dimension.
        name: String,
        /// The option, as text.
        option: String,
    },
    /// A condition on a dimension that does not stand before it.
    #[error("`{name}` is conditional on `{parent}`, which is not a dimension before it")]
    UnknownParent {
        /// The conditional dimension.
        name: String,
        /// The dimension it depends on.
        parent: String,
        /// A dimension with a similar name.
        close: Option<String>,
    },
    /// A condition on a real dimension, which would hold for single values only.
    #[error("`{name}` is conditional on `{parent}`, which is real, expected a choice or an int")]
    RealParent {
        /// The conditional dimension.
        name: String,
        /// The dimension it depends on.
        parent: String,
    },
    /// A condition that no point can meet.
    #[error("`{name}` is conditional on `{parent}` being {given}, expected {expected}")]
    ConditionNeverHolds {
        /// The conditional dimension.
        name: String,
        /// The dimension it depends on.
        parent: String,
        /// The value, as text; empty when no value was given.
        given: String,
        /// What the parent can be.
        expected: String,
    },
    /// A condition where there is nothing to be conditional.
    #[error("a condition was given to an empty space, expected a dimension before it")]
    NothingToCondition,
    /// A name that the space does not have.
    #[error("the point names `{given}`, which is not in the space, expected {expected}")]
    UnknownDimension {
        /// What was given.
        given: String,
        /// The names there are.
        expected: String,
        /// A dimension with a similar name.
        close: Option<String>,
    },
    /// A dimension that the point should have and has not.
    #[error("the point has no `{name}`, expected a value for it")]
    MissingDimension {
        /// The dimension.
        name: String,
    },
    /// A value for a conditional dimension where its condition does not hold.
    #[error("the point has `{name}`, expected it only when {condition}")]
    NotActive {
        /// The dimension.
        name: String,
        /// The condition, as text.
        condition: String,
    },
    /// One dimension twice in a point.
    #[error("the point has `{name}` twice, expected it once")]
    RepeatedValue {
        /// The dimension.
        name: String,
    },
    /// An option that the choice does not have.
    #[error("`{name}` was given {given}, expected one of {expected}")]
    UnknownOption {
        /// The dimension.
        name: String,
        /// What was given, as text.
        given: String,
        /// The options, as text.
        expected: String,
    },
    /// A value outside its bounds.
    #[error("`{name}` was given {given}, expected {low} to {high}")]
    OutOfRange {
        /// The dimension.
        name: String,
        /// What was given, as text.
        given: String,
        /// The lower end, as text.
        low: String,
        /// The upper end, as text.
        high: String,
    },
    /// A value between two steps.
    #[error("`{name}` was given {given}, expected {low} plus a whole number of steps of {step}")]
    OffStep {
        /// The dimension.
        name: String,
        /// What was given, as text.
        given: String,
        /// The lower end, as text.
        low: String,
        /// The step, as text.
        step: String,
    },
    /// A value of another kind.
    #[error("`{name}` was given {given}, expected {expected}")]
    WrongKind {
        /// The dimension.
        name: String,
        /// What was given, as text.
        given: String,
        /// `a number`, `a whole number`.
        expected: &'static str,
    },
    /// Text that does not read as a space or a point.
    #[error("{what} does not read: expected {expected}, found {found} at character {}\n{excerpt}", excerpt.character())]
    Text {
        /// `the space`, `the point`, `the sampler` or `the pruner`.
        what: &'static str,
        /// What could stand there.
        expected: String,
        /// What does.
        found: String,
        /// The text around the place, with the place marked.
        excerpt: Excerpt,
    },
    /// Every point that the sampler can give has been given.
    #[error("trial {trial} was asked of a space of {size} points, expected a trial below {size}")]
    UsedUp {
        /// The trial that was asked for.
        trial: u64,
        /// How many points there are.
        size: u64,
    },
    /// More dimensions than the sampler has numbers for.
    #[error("`{sampler}` was given {given} dimensions, expected at most {most}")]
    TooManyDimensions {
        /// The sampler.
        sampler: &'static str,
        /// How many the space has.
        given: usize,
        /// How many it can serve.
        most: usize,
    },
}

impl SpaceError {
    /// What to do about it, where there is more to say than the text does.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::UnknownParent { close: Some(close), .. }
            | Self::UnknownDimension { close: Some(close), .. } => {
                return Some(format!("did you mean `{close}`?"));
            }
            Self::UnknownGoal { .. } => "say `min` for a loss and `max` for an accuracy",
            Self::LogRange { .. } => "start the range above 0, or leave `log` out",
            Self::LogWithStep { .. } => "leave out `step`, or list the values as a choice",
            Self::EmptyRange { .. } => "swap the two, or give the same number twice for a constant",
            Self::UnknownParent { .. } => "declare the dimension it depends on first",
            Self::RealParent { .. } => "make the parent a choice of the values that matter",
            Self::UnknownOption { .. } => {
                "add the option to the choice, or read the record with the space it was written with"
            }
            Self::OutOfRange { .. } => {
                "widen the range, or read the record with the space it was written with"
            }
            Self::Text { found, .. } if found.starts_with("a quote that") => "close the quote",
            Self::Text { what: "the sampler", .. } => "write it as it prints itself: `sobol(seed=0)`",
            Self::Text { what: "the pruner", .. } => {
                "write it as it prints itself: `median(warmup=4) | diverged(factor=10)`"
            }
            Self::Text { .. } => {
                "quote a name or option that could be read as something else: \"64\", \"a,b\", \"true\""
            }
            Self::UsedUp { .. } => "the study has seen every point: stop, or widen the space",
            Self::TooManyDimensions { .. } => "use the random sampler, which has no such bound",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// A sampler was built with options it cannot work with, or its text does not read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SamplerError {
    /// A number outside what the sampler takes.
    #[error("`{sampler}` was given `{option}` {given}, expected {expected}")]
    Option {
        /// The sampler.
        sampler: &'static str,
        /// The option's name.
        option: &'static str,
        /// What was given, as text.
        given: String,
        /// What it takes.
        expected: &'static str,
    },
    /// Text that names no sampler.
    #[error("`{given}` is not a sampler, expected one of {expected}")]
    Unknown {
        /// What was given.
        given: String,
        /// The names there are.
        expected: String,
        /// A sampler with a similar name.
        close: Option<String>,
    },
    /// Text that names an option the sampler does not have.
    #[error("`{sampler}` has no option `{given}`, expected one of {expected}")]
    UnknownOption {
        /// The sampler.
        sampler: String,
        /// What was given.
        given: String,
        /// The options there are.
        expected: String,
    },
    /// Text that is not `name(option=value,...)`.
    #[error(transparent)]
    Text(#[from] SpaceError),
}

impl SamplerError {
    /// What to do about it, where there is more to say than the text does.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { close: Some(close), .. } => Some(format!("did you mean `{close}`?")),
            Self::Text(source) => source.hint(),
            _ => None,
        }
    }
}

/// A pruner was built with options it cannot work with, or its text does not read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PrunerError {
    /// A number outside what the pruner takes.
    #[error("`{pruner}` was given `{option}` {given}, expected {expected}")]
    Option {
        /// The pruner.
        pruner: &'static str,
        /// The option's name.
        option: &'static str,
        /// What was given, as text.
        given: String,
        /// What it takes.
        expected: &'static str,
    },
    /// Text that names no pruner.
    #[error("`{given}` is not a pruner, expected one of {expected}")]
    Unknown {
        /// What was given.
        given: String,
        /// The names there are.
        expected: String,
        /// A pruner with a similar name.
        close: Option<String>,
    },
    /// Text that names an option the pruner does not have.
    #[error("`{pruner}` has no option `{given}`, expected one of {expected}")]
    UnknownOption {
        /// The pruner.
        pruner: String,
        /// What was given.
        given: String,
        /// The options there are.
        expected: String,
    },
    /// Text that is not `name(option=value,...)`, once or with ` | ` between.
    #[error(transparent)]
    Text(#[from] SpaceError),
}

impl PrunerError {
    /// What to do about it, where there is more to say than the text does.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { close: Some(close), .. } => Some(format!("did you mean `{close}`?")),
            Self::Text(source) => source.hint(),
            _ => None,
        }
    }
}
