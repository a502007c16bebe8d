//! How the engine's threads are entered, left and made to wait: what a binding knows and the core does not.

use std::any::Any;
use std::sync::Arc;

use crate::error::NodeError;
use crate::value::Value;

/// What a host gives one branch, seen by its nodes as [`crate::Ctx::local`].
pub type Local = Arc<dyn Any + Send + Sync>;

/// The world the nodes live in: an interpreter with its lock, its per-thread state and its signals.
///
/// The caller runs branches itself while it waits, so branches that never let go of an interpreter's lock
/// cost no thread switch, and a wave inside a wave cannot starve.
pub trait Host: Send + Sync {
    /// Runs everything a pool thread does, `work`, inside the world. Entering may block for as long as
    /// another thread holds the world; a branch is claimed only afterwards, so nothing waits for it.
    fn enter(&self, work: &mut dyn FnMut()) {
        work();
    }

    /// Runs `block`, in which the caller only waits, with the world let go.
    fn wait(&self, block: &mut (dyn FnMut() + Send)) {
        block();
    }

    /// Whether somebody asked the caller to stop; looked at while it waits.
    fn interrupted(&self) -> Option<NodeError> {
        None
    }

    /// What the calling thread holds as a wave opens, to be held in every branch of it. `parent` is the
    /// local of the branch that opens the wave.
    fn hold(&self, parent: Option<&Local>) -> Result<Arc<dyn Held>, NodeError>;

    /// The first device other than `placed` that `value` says it is on.
    fn strayed(&self, placed: &crate::Device, value: &Value) -> Option<String> {
        let _ = (placed, value);
        None
    }
}

/// What a thread held when it opened a wave.
pub trait Held: Send + Sync {
    /// A branch begins on this thread.
    fn begin(&self, seat: Seat) -> Result<Local, NodeError>;

    /// That branch ended, on the thread it began on: what it left behind on the thread is undone, so that
    /// branches see the same whether they share a thread or not.
    fn end(&self, seat: Seat, local: &Local);
}

/// Which thread runs a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    /// The one that opened the wave.
    Opener,
    /// One of the pool's.
    Helper,
}

/// A world without locks, state or signals: Rust's own.
pub(crate) struct NoHost;

impl Host for NoHost {
    fn hold(&self, _parent: Option<&Local>) -> Result<Arc<dyn Held>, NodeError> {
        Ok(Arc::new(NothingHeld))
    }
}

struct NothingHeld;

impl Held for NothingHeld {
    fn begin(&self, _seat: Seat) -> Result<Local, NodeError> {
        Ok(Arc::new(()))
    }

    fn end(&self, _seat: Seat, _local: &Local) {}
}
