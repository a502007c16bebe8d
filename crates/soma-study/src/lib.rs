//! Studies: what is searched, how points are chosen, when a run is stopped, and which dimension mattered.
//!
//! The pure half takes numbers in and gives a decision out: a [`Space`] and its [`Point`]s, samplers that are
//! functions of the trial number, pruners that are verdicts on a curve, importance.

#[cfg(feature = "arrow")]
mod arrow;
mod call;
mod close;
pub mod conformance;
mod counting;
mod dimension;
mod error;
mod float;
mod goal;
mod hash;
mod history;
pub mod importance;
mod lattice;
mod options;
mod point;
mod pruner;
mod record;
mod sampler;
mod scalar;
mod space;
mod state;
mod study;
mod text;
mod trial;

pub use dimension::{Dimension, Domain, When};
pub use error::{PrunerError, SamplerError, SpaceError};
pub use goal::Goal;
pub use history::{Curve, Curves, History, Observation, Rows, Trials};
pub use point::Point;
pub use pruner::{
    DivergedOptions, HalvingOptions, HyperbandOptions, MedianOptions, PatienceOptions, PercentileOptions,
    Pruner, ThresholdOptions,
};
pub use sampler::{RandomOptions, Sampler, SobolOptions, TpeOptions};
pub use scalar::Scalar;
pub use space::{IntOptions, RealOptions, Space};
pub use state::State;
pub use study::{
    Abandoned, Counts, Misfit, Report, StudyError, Summary, Take, Worker, abandoned, asked, attempts, best,
    curves, damage, discard, finished, in_flight, misfits, new_damage, report, seal, space, summary, take,
    trials,
};
pub use text::Excerpt;
pub use trial::Trial;
