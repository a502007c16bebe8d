//! What can go wrong: while a graph is declared ([`GraphError`]) and while it runs ([`RunError`]).

use std::error::Error;
use std::fmt;

use crate::executor::MAX_TURNS;

/// A node, an edge, a name or a device was refused. The graph is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// No node has that id.
    #[error("there is no node `{id}`")]
    UnknownNode {
        /// The id that was given.
        id: String,
        /// A few ids the graph has.
        known: Vec<String>,
    },
    /// A node has that id already.
    #[error("the name `{id}` was given twice: to a `{first}` and to a `{second}`")]
    RepeatedNode {
        /// The id.
        id: String,
        /// The kind of the node that has it.
        first: String,
        /// The kind of the node that was refused.
        second: String,
    },
    /// The two nodes are joined already.
    #[error("there is an edge `{from}` -> `{to}` already")]
    RepeatedEdge {
        /// Its beginning.
        from: String,
        /// Its end.
        to: String,
    },
    /// A graph has no cycles.
    #[error("the edge `{from}` -> `{to}` would close a cycle: {path}")]
    Cycle {
        /// Its beginning.
        from: String,
        /// Its end.
        to: String,
        /// The cycle, node by node.
        path: String,
    },
    /// A name has at least one character.
    #[error("a node was given an empty name")]
    EmptyName,
    /// A piece of several nodes was given one name.
    #[error("the name `{name}` was given to a piece of {n_nodes} nodes, expected one node")]
    NamedPiece {
        /// The name.
        name: String,
        /// How many nodes the piece has.
        n_nodes: usize,
    },
    /// The text is not the name of a device.
    #[error("`{given}` is not the name of a device: {reason}")]
    Device {
        /// What was given.
        given: String,
        /// Why it is none.
        reason: String,
    },
}

impl GraphError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownNode { known, .. } if known.is_empty() => Some("add the node first".to_owned()),
            Self::UnknownNode { known, .. } => Some(format!("the graph has {}", known.join(", "))),
            Self::RepeatedNode { .. } => Some("name one of them otherwise, with `.named`".to_owned()),
            Self::RepeatedEdge { .. } => Some("an edge carries everything its beginning says".to_owned()),
            Self::Cycle { .. } => {
                Some("what goes round and round is a loop around `forward`, outside the graph".to_owned())
            }
            Self::EmptyName => Some("leave the name out to have one derived from the class".to_owned()),
            Self::NamedPiece { .. } => Some("name the nodes one by one".to_owned()),
            Self::Device { .. } => Some("such as `cpu`, `cuda:0` or `meta`".to_owned()),
        }
    }
}

/// What a node, a driver or a host failed with: any error, kept as it was.
pub struct NodeError {
    cause: Box<dyn Error + Send + Sync>,
    interrupt: bool,
}

impl NodeError {
    /// A failure: the other branches still end, and the run's error names the node.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: cause.into(), interrupt: false }
    }

    /// A wish to stop rather than a failure (Ctrl-C, an exit): nothing more is begun and it is passed on
    /// as it is.
    pub fn interrupt(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: cause.into(), interrupt: true }
    }

    /// Whether it is a wish to stop.
    pub fn is_interrupt(&self) -> bool {
        self.interrupt
    }

    /// The error itself.
    pub fn into_cause(self) -> Box<dyn Error + Send + Sync> {
        self.cause
    }

    /// The error itself, looked at.
    pub fn cause(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.cause
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for NodeError {
    fn from(cause: E) -> Self {
        Self::new(cause)
    }
}

impl fmt::Debug for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

/// A run ended without an answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A node failed.
    #[error("node `{node}` failed")]
    Node {
        /// Its id.
        node: String,
        /// What it failed with.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// A node asked for something and the run has no driver.
    #[error("node `{node}` asked for {n_requests} results, and the run has no driver to answer")]
    NoDriver {
        /// Its id.
        node: String,
        /// How many requests it made.
        n_requests: usize,
    },
    /// The driver failed.
    #[error("the driver failed to answer node `{node}`")]
    Driver {
        /// Who asked.
        node: String,
        /// What the driver failed with.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The driver answered another number of results than it was asked for.
    #[error("the driver answered {given} results to node `{node}`, expected {expected}")]
    DriverCount {
        /// Who asked.
        node: String,
        /// How many results came.
        given: usize,
        /// How many requests were made.
        expected: usize,
    },
    /// A node went on asking.
    #[error("node `{node}` was not done after {MAX_TURNS} turns")]
    TurnBudget {
        /// Its id.
        node: String,
    },
    /// A placed node's output is somewhere else.
    #[error("node `{node}` was placed on `{placed}` and its output is on `{said}`")]
    Placement {
        /// Its id.
        node: String,
        /// Where it was placed.
        placed: String,
        /// Where its output says it is.
        said: String,
    },
    /// Several branches of a wave failed.
    #[error("{first}")]
    Several {
        /// The first in declaration order; the run's error.
        #[source]
        first: Box<RunError>,
        /// The others, in declaration order.
        also: Vec<RunError>,
    },
    /// Somebody asked to stop.
    #[error("the run was interrupted")]
    Interrupted(#[source] Box<dyn Error + Send + Sync>),
    /// The run was interrupted elsewhere, and this branch was not begun or not finished.
    #[error("the run was interrupted in another branch")]
    Cancelled,
}

impl RunError {
    /// The node the error is about; None for an interrupt.
    pub fn node(&self) -> Option<&str> {
        match self {
            Self::Node { node, .. }
            | Self::NoDriver { node, .. }
            | Self::Driver { node, .. }
            | Self::DriverCount { node, .. }
            | Self::TurnBudget { node }
            | Self::Placement { node, .. } => Some(node),
            Self::Several { first, .. } => first.node(),
            Self::Interrupted(_) | Self::Cancelled => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoDriver { .. } => Some("pass the run a driver".to_owned()),
            Self::DriverCount { .. } => Some("a driver answers one result per request, in order".to_owned()),
            Self::TurnBudget { .. } => {
                Some("a longer conversation is a loop around `forward`, outside the graph".to_owned())
            }
            Self::Placement { placed, .. } => {
                Some(format!("the node itself moves what it computes to `ctx.device`, here `{placed}`"))
            }
            Self::Several { first, .. } => first.hint(),
            Self::Node { .. } | Self::Driver { .. } | Self::Interrupted(_) | Self::Cancelled => None,
        }
    }

    /// Whether it is a wish to stop rather than a failure.
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Interrupted(_) | Self::Cancelled => true,
            Self::Node { .. }
            | Self::NoDriver { .. }
            | Self::Driver { .. }
            | Self::DriverCount { .. }
            | Self::TurnBudget { .. }
            | Self::Placement { .. }
            | Self::Several { .. } => false,
        }
    }

    /// One error of several failures in declaration order; None of none.
    pub(crate) fn of(failures: Vec<Self>) -> Option<Self> {
        let mut flat = Vec::with_capacity(failures.len());
        let mut cancelled = false;
        for failure in failures {
            match failure {
                Self::Interrupted(_) => return Some(failure),
                Self::Cancelled => cancelled = true,
                Self::Several { first, also } => {
                    flat.push(*first);
                    flat.extend(also);
                }
                one => flat.push(one),
            }
        }
        if cancelled {
            return Some(Self::Cancelled);
        }
        let mut flat = flat.into_iter();
        let first = flat.next()?;
        let also: Vec<Self> = flat.collect();
        if also.is_empty() { Some(first) } else { Some(Self::Several { first: Box::new(first), also }) }
    }
}
