//! The compiled order of a graph.

use std::cmp::Reverse;
use std::fmt;
use std::sync::Arc;

use crate::decompose::{Part, decompose};
use crate::topology::{NodeId, Topology};

/// What runs after what, and what at the same time. It names everything a run needs, so that running
/// never looks at the graph again.
///
/// There is no other kind of step; whoever matches on a plan names all four, so that a fifth is decided
/// upon everywhere. Dropping, comparing and printing do not recurse.
#[derive(Default)]
pub enum Plan {
    /// Nothing: the graph answers its input.
    #[default]
    Empty,
    /// One node runs.
    Execute {
        /// Which one.
        node: NodeId,
        /// Where its input comes from.
        from: Source,
    },
    /// One after another.
    Sequence(Vec<Plan>),
    /// Branches that do not depend on each other, in declaration order.
    Wave(Vec<Plan>),
}

/// Where a step's input comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The input of the run.
    Input,
    /// What one node said.
    Node(NodeId),
    /// What several said: a map keyed by their names, in edge order.
    Nodes(Vec<NodeId>),
}

/// The plan of a graph: decomposed from its nodes and edges alone, however it was written down.
pub fn compile(topology: &Topology) -> Plan {
    if topology.is_empty() {
        return Plan::Empty;
    }
    let name = |node: usize| Arc::clone(&topology.ids()[node]);
    let execute = |node: usize| Plan::Execute {
        node: name(node),
        from: match topology.predecessors(node) {
            [] => Source::Input,
            [one] => Source::Node(name(*one)),
            several => Source::Nodes(several.iter().map(|&from| name(from)).collect()),
        },
    };
    let (parts, whole) = decompose(topology);
    let mut built: Vec<Plan> = Vec::new();
    let mut todo = vec![Todo::Open(whole)];
    while let Some(next) = todo.pop() {
        match next {
            Todo::Open(part) => match parts.get(part) {
                Part::Node(node) => built.push(execute(*node)),
                Part::Sequence(children) => {
                    todo.push(Todo::Close(part, children.len()));
                    todo.extend(children.iter().rev().map(|&child| Todo::Open(child)));
                }
                Part::Wave(children) => {
                    todo.push(Todo::Close(part, children.len()));
                    let mut children = children.clone();
                    children.sort_unstable_by_key(|&child| Reverse(parts.first(child)));
                    todo.extend(children.into_iter().map(Todo::Open));
                }
            },
            Todo::Close(part, n_children) => {
                let children = built.split_off(built.len() - n_children);
                let is_wave = matches!(parts.get(part), Part::Wave(_));
                built.push(if is_wave {
                    Plan::Wave(spliced(children, true))
                } else {
                    Plan::Sequence(spliced(children, false))
                });
            }
        }
    }
    built.pop().unwrap_or_default()
}

enum Todo {
    Open(usize),
    /// The last so many plans are the children of that part.
    Close(usize, usize),
}

/// The children, those of the same kind as their parent replaced by their own.
fn spliced(children: Vec<Plan>, in_wave: bool) -> Vec<Plan> {
    let mut flat = Vec::with_capacity(children.len());
    for mut child in children {
        match (&mut child, in_wave) {
            (Plan::Wave(inner), true) | (Plan::Sequence(inner), false) => flat.append(inner),
            (Plan::Empty | Plan::Execute { .. } | Plan::Sequence(_) | Plan::Wave(_), _) => flat.push(child),
        }
    }
    flat
}

impl Plan {
    /// The steps of a sequence or the branches of a wave.
    pub fn children(&self) -> &[Plan] {
        match self {
            Self::Empty | Self::Execute { .. } => &[],
            Self::Sequence(children) | Self::Wave(children) => children,
        }
    }

    /// The nodes, in the order a single worker runs them.
    pub fn nodes(&self) -> Vec<&NodeId> {
        let mut nodes = Vec::new();
        self.walk(|_, plan| {
            if let Self::Execute { node, .. } = plan {
                nodes.push(node);
            }
        });
        nodes
    }

    /// Visits every step before its children, with its depth.
    pub fn walk<'a>(&'a self, mut visit: impl FnMut(usize, &'a Plan)) {
        let mut waiting = vec![(0, self)];
        while let Some((depth, plan)) = waiting.pop() {
            visit(depth, plan);
            waiting.extend(plan.children().iter().rev().map(|child| (depth + 1, child)));
        }
    }

    /// Whether two steps agree, their children aside.
    fn same_step(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Empty, Self::Empty) => true,
            (Self::Execute { node, from }, Self::Execute { node: its, from: there }) => {
                node == its && from == there
            }
            (Self::Sequence(mine), Self::Sequence(its)) | (Self::Wave(mine), Self::Wave(its)) => {
                mine.len() == its.len()
            }
            (Self::Empty | Self::Execute { .. } | Self::Sequence(_) | Self::Wave(_), _) => false,
        }
    }
}

impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        let mut waiting = vec![(self, other)];
        while let Some((mine, its)) = waiting.pop() {
            if !mine.same_step(its) {
                return false;
            }
            waiting.extend(mine.children().iter().zip(its.children()));
        }
        true
    }
}

impl Eq for Plan {}

impl Drop for Plan {
    fn drop(&mut self) {
        let mut waiting = self.take_children();
        while let Some(mut plan) = waiting.pop() {
            waiting.append(&mut plan.take_children());
        }
    }
}

impl Plan {
    fn take_children(&mut self) -> Vec<Plan> {
        match self {
            Self::Empty | Self::Execute { .. } => Vec::new(),
            Self::Sequence(children) | Self::Wave(children) => std::mem::take(children),
        }
    }
}

/// One step a line, indented below what it belongs to: `join <- left, right`.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        self.walk(|depth, plan| {
            let text = match plan {
                Self::Empty => "empty".to_owned(),
                Self::Execute { node, from } => format!("{node} <- {from}"),
                Self::Sequence(_) => "sequence".to_owned(),
                Self::Wave(_) => "wave".to_owned(),
            };
            // Nobody reads a line that begins beyond a page; a deep plan must not print its depth squared.
            lines.push(format!("{:width$}{text}", "", width = 2 * depth.min(MAX_INDENT)));
        });
        f.write_str(&lines.join("\n"))
    }
}

/// The deepest indentation that is printed, in steps.
const MAX_INDENT: usize = 40;

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input => f.write_str("input"),
            Self::Node(node) => f.write_str(node),
            Self::Nodes(nodes) => f.write_str(&nodes.join(", ")),
        }
    }
}
