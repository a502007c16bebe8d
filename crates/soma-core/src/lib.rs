//! The graph: a network of nodes, declared once and run many times, a `forward` at a time.
//!
//! A [`Graph`] is nodes, edges and devices; it is acyclic by construction. [`compile`] turns it into a
//! [`Plan`], which is kept until the graph changes, and [`Graph::forward`] walks that plan: steps that do
//! not depend on each other run at the same time, on threads that live between runs.
//!
//! No file, no network and no Python here. A binding brings its own nodes ([`Node`]) and tells the engine
//! how its threads are entered ([`Host`]).
//!
//! ```
//! use soma_core::{Graph, RunOptions, Value, from_fn};
//!
//! let double = from_fn("Double", |input, _| match input {
//!     Value::Int(n) => Ok(Value::Int(2 * n).into()),
//!     other => Err(format!("`Double` was given {}, expected an int", other.kind()).into()),
//! });
//! let next = from_fn("Next", |input, _| match input {
//!     Value::Int(n) => Ok(Value::Int(n + 1).into()),
//!     other => Err(format!("`Next` was given {}, expected an int", other.kind()).into()),
//! });
//! let graph = Graph::somatize(double >> next)?;
//! assert_eq!(graph.forward(Value::Int(20), &RunOptions::default())?, Value::Int(41));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod catalog;
mod decompose;
mod driver;
mod error;
mod executor;
mod expression;
mod graph;
mod host;
mod manifest;
mod node;
mod placement;
mod plan;
mod pool;
mod program;
mod reduce;
mod topology;
mod value;
mod wave;

pub use catalog::{Catalog, snake_case};
pub use driver::{Driver, driver_fn};
pub use error::{GraphError, NodeError, RunError};
pub use executor::{DEFAULT_WORKERS, MAX_TURNS, RunOptions};
pub use expression::{Expression, Token};
pub use graph::{Graph, Ready};
pub use host::{Held, Host, Local, Seat};
pub use node::{Ctx, FromFn, Kept, Node, Transition, from_fn};
pub use placement::{Device, Placement};
pub use plan::{Plan, Source, compile};
pub use pool::close;
pub use topology::{NodeId, Topology};
pub use value::{Map, Value};
