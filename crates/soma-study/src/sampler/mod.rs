//! Where to look next: each sampler is a pure function of the space, the trial number and the history.
//!
//! Nothing is remembered between two calls, so a machine that takes trial 7 works out its point without the first six
//! and without asking anybody. `grid`, `random`, `halton` and `sobol` do not look at the history at all; the samplers
//! that do give the same point for the same history, on every machine.

mod grid;
mod halton;
mod random;
mod sobol;
mod text;
mod tpe;

use std::fmt;
use std::sync::Arc;

pub use self::random::RandomOptions;
pub use self::sobol::SobolOptions;
pub use self::tpe::TpeOptions;
use crate::error::{SamplerError, SpaceError};
use crate::goal::Goal;
use crate::history::History;
use crate::point::{Origin, Point};
use crate::space::Space;

/// A way of choosing points.
///
/// Its text, `sobol(seed=0)`, reads back to the same sampler, so that a record can say which one gave its points.
///
/// ```
/// use soma_study::{History, RealOptions, Sampler, Space};
///
/// let space = Space::new().real("x", 0.0, 1.0, RealOptions::default())?;
/// let sampler = Sampler::sobol(0);
/// assert_eq!(sampler.ask(&space, 3, &History::new())?, sampler.ask(&space, 3, &History::new())?);
/// assert_eq!(sampler.to_string().parse::<Sampler>()?, sampler);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sampler {
    kind: Kind,
    // Goes with every point that is asked for.
    text: Arc<str>,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Grid(grid::Grid),
    Random(random::Random),
    Halton(halton::Halton),
    Sobol(sobol::Sobol),
    Tpe(tpe::Tpe),
}

/// What every sampler does.
trait Ask {
    /// The point of a trial.
    fn ask(&self, space: &Space, trial: u64, history: &History) -> Result<Point, SpaceError>;

    /// How many trials it has points for; None without end.
    fn size(&self, space: &Space) -> Option<u64>;
}

impl Sampler {
    /// Every combination once: all values of a dimension whose values can be counted, and `points_per_real` values of
    /// each other one, evenly spaced on its own scale with both ends (the middle when it is 1). The last dimension
    /// turns fastest. A conditional dimension is spread out only where it exists.
    ///
    /// # Errors
    /// `Option` when `points_per_real` is 0.
    pub fn grid(points_per_real: u32) -> Result<Self, SamplerError> {
        grid::Grid::new(points_per_real).map(|grid| Self::of(Kind::Grid(grid)))
    }

    /// Independent draws, which on a space whose points can be counted never repeat: see [`RandomOptions`].
    pub fn random(seed: u64) -> Self {
        Self::random_with(RandomOptions::default().with_seed(seed))
    }

    /// [`Sampler::random`] with its options.
    pub fn random_with(options: RandomOptions) -> Self {
        Self::of(Kind::Random(random::Random::new(options)))
    }

    /// The scrambled Halton sequence: even over the space for every number of trials, to 1,024 dimensions.
    pub fn halton(seed: u64) -> Self {
        Self::of(Kind::Halton(halton::Halton::new(seed)))
    }

    /// The shifted Sobol' sequence: even over the space for every number of trials, best for powers of two, to 1,111
    /// dimensions.
    pub fn sobol(seed: u64) -> Self {
        Self::sobol_with(SobolOptions::default().with_seed(seed))
    }

    /// [`Sampler::sobol`] with its options.
    pub fn sobol_with(options: SobolOptions) -> Self {
        Self::of(Kind::Sobol(sobol::Sobol::new(options)))
    }

    /// The tree-structured Parzen estimator: draws near the trials that did well. Give it every trial, as
    /// [`asked`](crate::asked) answers them: no point of a finite space that the history holds is asked again. Up to
    /// eight workers that ask at one moment keep apart on a space of at most 1,024 points; on a larger one they may meet.
    ///
    /// # Errors
    /// `Option` when `candidates` is 0.
    pub fn tpe(options: TpeOptions) -> Result<Self, SamplerError> {
        tpe::Tpe::new(options).map(|tpe| Self::of(Kind::Tpe(tpe)))
    }

    /// The same sampler, with `goal` where it was not given one and needs one.
    #[must_use]
    pub fn toward(&self, goal: Goal) -> Self {
        let mut kind = self.kind.clone();
        if let Kind::Tpe(tpe) = &mut kind {
            tpe.options.goal.get_or_insert(goal);
        }
        Self::of(kind)
    }

    /// The point of `trial`: a pure function of the arguments.
    ///
    /// # Errors
    /// `UsedUp` when the sampler visits each point of a space once and has none left for this trial;
    /// `TooManyDimensions`.
    pub fn ask(&self, space: &Space, trial: u64, history: &History) -> Result<Point, SpaceError> {
        let point = self.kind.as_ask().ask(space, trial, history)?;
        Ok(point.with_origin(Origin { sampler: Arc::clone(&self.text), trial }))
    }

    /// How many trials the sampler has points for in this space; None without end.
    pub fn size(&self, space: &Space) -> Option<u64> {
        self.kind.as_ask().size(space)
    }

    /// Whether the point of a trial follows from its number alone, so that a record can be checked against it.
    pub fn is_independent(&self) -> bool {
        match &self.kind {
            Kind::Grid(_) | Kind::Random(_) | Kind::Halton(_) | Kind::Sobol(_) => true,
            Kind::Tpe(_) => false,
        }
    }

    fn of(kind: Kind) -> Self {
        let text = kind.to_string().into();
        Self { kind, text }
    }
}

impl Kind {
    fn as_ask(&self) -> &dyn Ask {
        match self {
            Self::Grid(grid) => grid,
            Self::Random(random) => random,
            Self::Halton(halton) => halton,
            Self::Sobol(sobol) => sobol,
            Self::Tpe(tpe) => tpe,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grid(grid) => grid.fmt(f),
            Self::Random(random) => random.fmt(f),
            Self::Halton(halton) => halton.fmt(f),
            Self::Sobol(sobol) => sobol.fmt(f),
            Self::Tpe(tpe) => tpe.fmt(f),
        }
    }
}

impl fmt::Display for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Refuses a trial past the last one.
fn check_used_up(trial: u64, size: Option<u64>) -> Result<(), SpaceError> {
    match size {
        Some(size) if trial >= size => Err(SpaceError::UsedUp { trial, size }),
        _ => Ok(()),
    }
}

/// Refuses a space with more dimensions than there are numbers for.
fn check_dimensions(sampler: &'static str, space: &Space, most: usize) -> Result<(), SpaceError> {
    let given = space.dimensions().len();
    if given > most { Err(SpaceError::TooManyDimensions { sampler, given, most }) } else { Ok(()) }
}
