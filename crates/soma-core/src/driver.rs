//! Who answers what nodes ask for.

use crate::error::NodeError;
use crate::host::Local;
use crate::value::Value;

/// Answers the requests of an [`crate::Transition::Await`].
///
/// Branches of a wave ask at the same time, so a driver may be entered by several threads at once.
pub trait Driver: Send + Sync {
    /// One result per request, in order. `local` is the asking branch's, None outside a wave.
    fn answer(&self, requests: &[Value], local: Option<&Local>) -> Result<Vec<Value>, NodeError>;
}

/// A driver made of a closure.
pub fn driver_fn<F>(answer: F) -> impl Driver
where
    F: Fn(&[Value]) -> Result<Vec<Value>, NodeError> + Send + Sync,
{
    FromFn(answer)
}

struct FromFn<F>(F);

impl<F> Driver for FromFn<F>
where
    F: Fn(&[Value]) -> Result<Vec<Value>, NodeError> + Send + Sync,
{
    fn answer(&self, requests: &[Value], _local: Option<&Local>) -> Result<Vec<Value>, NodeError> {
        (self.0)(requests)
    }
}
