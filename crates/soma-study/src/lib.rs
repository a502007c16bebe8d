//! Studies: what is searched, how points are chosen, when a run is stopped, and which dimension mattered.
//!
//! The pure half takes numbers in and gives a decision out: a [`Space`] and its [`Point`]s, samplers that are
//! functions of the trial number, pruners that are verdicts on a curve, importance.

mod close;
mod dimension;
mod error;
mod goal;
mod lattice;
mod point;
mod scalar;
mod space;
mod state;
mod text;

pub use dimension::{Dimension, Domain, When};
pub use error::{PrunerError, SamplerError, SpaceError};
pub use goal::Goal;
pub use point::Point;
pub use scalar::Scalar;
pub use space::{IntOptions, RealOptions, Space};
pub use state::State;
pub use text::Excerpt;
