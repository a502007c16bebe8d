//! What a node is: one step, asked once per turn.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::error::NodeError;
use crate::host::Local;
use crate::placement::Device;
use crate::value::Value;

/// One step of a network.
///
/// `forward` runs once per run. It may be asked again within that run, with the same input and the next
/// turn, when it answered [`Transition::Await`]. Branches of a wave run at the same time, so a node that
/// stands in the graph twice may be entered twice at once.
pub trait Node: Send + Sync {
    /// The step itself: `input` is what the one predecessor said, a map keyed by who said what when there
    /// are several, the graph's input when there is none.
    fn forward(&self, input: &Value, ctx: &Ctx<'_>) -> Result<Transition, NodeError>;

    /// What kind of node this is: its type's name, from which an id is derived when none is given.
    fn kind(&self) -> &str {
        short_name(std::any::type_name::<Self>())
    }

    /// The node itself, for a binding that wants its own type back.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
}

impl fmt::Debug for dyn Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

/// What a node answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Transition {
    /// It is done, and this is what it says.
    Done(Value),
    /// It asks for these first, and is called again once the driver has answered them.
    Await(Vec<Value>),
}

impl From<Value> for Transition {
    fn from(value: Value) -> Self {
        Self::Done(value)
    }
}

/// What a node is told beside its input. Fields are added without changing any node's signature.
#[derive(Clone, Copy)]
pub struct Ctx<'a> {
    pub(crate) device: Option<&'a Device>,
    pub(crate) turn: u32,
    pub(crate) results: &'a [Value],
    pub(crate) local: Option<&'a Local>,
    pub(crate) kept: Option<&'a OnceLock<Arc<dyn Any + Send + Sync>>>,
}

impl<'a> Ctx<'a> {
    /// Where the node was placed; None when it was not.
    pub fn device(&self) -> Option<&'a Device> {
        self.device
    }

    /// 0 when the node is first asked, one higher after each [`Transition::Await`].
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// What the driver answered to the last requests, in their order; empty at turn 0.
    pub fn results(&self) -> &'a [Value] {
        self.results
    }

    /// What the host gave this branch; None outside a wave.
    pub fn local(&self) -> Option<&'a Local> {
        self.local
    }

    /// A binding's own form of this ctx, made once per step and kept between runs. Only turn 0 is the same
    /// in every run, so later turns make theirs anew.
    pub fn kept<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Kept<'a, T> {
        match self.kept {
            Some(place) if self.turn == 0 => {
                let kept = place.get_or_init(|| Arc::new(make()));
                match kept.downcast_ref() {
                    Some(kept) => Kept::Shared(kept),
                    None => unreachable!("one step belongs to one node, which keeps one type"),
                }
            }
            Some(_) | None => Kept::Own(make()),
        }
    }
}

/// Something kept for a step, or made for this one call.
pub enum Kept<'a, T> {
    /// The step's.
    Shared(&'a T),
    /// This call's.
    Own(T),
}

impl<T> std::ops::Deref for Kept<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Shared(it) => it,
            Self::Own(it) => it,
        }
    }
}

impl fmt::Debug for Ctx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctx")
            .field("device", &self.device)
            .field("turn", &self.turn)
            .field("results", &self.results)
            .finish()
    }
}

/// A node made of a closure; see [`from_fn`].
pub struct FromFn<F> {
    kind: Box<str>,
    forward: F,
}

/// A node of that `kind` that answers what `forward` does.
pub fn from_fn<F>(kind: &str, forward: F) -> FromFn<F>
where
    F: Fn(&Value, &Ctx<'_>) -> Result<Transition, NodeError> + Send + Sync,
{
    FromFn { kind: kind.into(), forward }
}

impl<F> Node for FromFn<F>
where
    F: Fn(&Value, &Ctx<'_>) -> Result<Transition, NodeError> + Send + Sync,
{
    fn forward(&self, input: &Value, ctx: &Ctx<'_>) -> Result<Transition, NodeError> {
        (self.forward)(input, ctx)
    }

    fn kind(&self) -> &str {
        &self.kind
    }
}

/// The last segment of a type's path, without its parameters.
fn short_name(path: &str) -> &str {
    let bare = path.split('<').next().unwrap_or(path);
    bare.rsplit("::").next().unwrap_or(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_the_last_segment_without_parameters() {
        assert_eq!(short_name("a::b::Clean"), "Clean");
        assert_eq!(short_name("a::Wrapped<b::Clean>"), "Wrapped");
    }
}
