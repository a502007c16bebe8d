//! A plan made ready to run: names are positions, nodes and devices are at hand.

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::catalog::Catalog;
use crate::node::Node;
use crate::placement::{Device, Placement};
use crate::plan::{Plan, Source};
use crate::topology::{NodeId, Topology};

/// What a thread does next.
pub(crate) enum Op {
    /// Runs a step, by its node's position.
    Execute(usize),
    /// Opens a wave, by its position in [`Program::waves`].
    Wave(usize),
}

/// The branches of a wave as stretches of [`Program::ops`], and where it goes on afterwards.
pub(crate) struct Branches {
    pub(crate) spans: Vec<Range<usize>>,
    pub(crate) next: usize,
}

/// One node, ready to run.
pub(crate) struct Step {
    pub(crate) id: NodeId,
    pub(crate) node: Arc<dyn Node>,
    pub(crate) device: Option<Device>,
    pub(crate) from: Feed,
    /// A binding's own form of the step's ctx, kept between runs.
    pub(crate) kept: OnceLock<Arc<dyn Any + Send + Sync>>,
}

/// Where a value comes from, by slot.
pub(crate) enum Feed {
    /// One value as it is.
    One(usize),
    /// A map of several.
    Many(Box<[(NodeId, usize)]>),
}

/// What runs when a graph runs. Slot `i` holds what the `i`-th node said, the last slot the run's input.
pub(crate) struct Program {
    pub(crate) ops: Vec<Op>,
    pub(crate) waves: Vec<Branches>,
    pub(crate) steps: Vec<Step>,
    pub(crate) output: Feed,
    /// How often each slot is read.
    pub(crate) readers: Vec<u32>,
}

impl Program {
    /// Everything comes from the plan; the topology only tells names from positions.
    pub(crate) fn new(plan: &Plan, topology: &Topology, catalog: &Catalog, placement: &Placement) -> Self {
        let input = topology.len();
        let at = |node: &NodeId| topology.index(node).expect("a plan names the nodes of its graph");
        let many = |nodes: &[NodeId]| nodes.iter().map(|node| (Arc::clone(node), at(node))).collect();
        let mut feeds: Vec<Feed> = (0..topology.len()).map(|_| Feed::One(input)).collect();
        let (ops, waves) = lower(plan, |node, from| {
            let node = at(node);
            feeds[node] = match from {
                Source::Input => Feed::One(input),
                Source::Node(from) => Feed::One(at(from)),
                Source::Nodes(from) => Feed::Many(many(from)),
            };
            node
        });
        let steps = catalog.iter().zip(feeds).enumerate().map(|(at, (node, from))| Step {
            id: Arc::clone(&topology.ids()[at]),
            node: Arc::clone(node),
            device: placement.get(at).cloned(),
            from,
            kept: OnceLock::new(),
        });
        let steps: Vec<Step> = steps.collect();
        let leaves: Vec<NodeId> = topology.leaves().map(|node| Arc::clone(&topology.ids()[node])).collect();
        let output = match &leaves[..] {
            [] => Feed::One(input),
            [one] => Feed::One(at(one)),
            several => Feed::Many(many(several)),
        };
        let mut readers = vec![0; input + 1];
        for feed in steps.iter().map(|step| &step.from).chain([&output]) {
            match feed {
                Feed::One(slot) => readers[*slot] += 1,
                Feed::Many(slots) => slots.iter().for_each(|(_, slot)| readers[*slot] += 1),
            }
        }
        Self { ops, waves, steps, output, readers }
    }
}

/// What is still to be written down.
enum Todo<'a> {
    Plan(&'a Plan),
    BeginBranch(usize),
    EndBranch(usize),
    EndWave(usize),
}

/// Writes a plan down in a row; `place` takes a step and answers its node's position.
fn lower(plan: &Plan, mut place: impl FnMut(&NodeId, &Source) -> usize) -> (Vec<Op>, Vec<Branches>) {
    let (mut ops, mut waves): (Vec<Op>, Vec<Branches>) = (Vec::new(), Vec::new());
    let mut todo = vec![Todo::Plan(plan)];
    while let Some(next) = todo.pop() {
        match next {
            Todo::Plan(Plan::Empty) => {}
            Todo::Plan(Plan::Execute { node, from }) => ops.push(Op::Execute(place(node, from))),
            Todo::Plan(Plan::Sequence(steps)) => todo.extend(steps.iter().rev().map(Todo::Plan)),
            Todo::Plan(Plan::Wave(branches)) => {
                let wave = waves.len();
                ops.push(Op::Wave(wave));
                waves.push(Branches { spans: Vec::with_capacity(branches.len()), next: 0 });
                todo.push(Todo::EndWave(wave));
                for branch in branches.iter().rev() {
                    todo.extend([Todo::EndBranch(wave), Todo::Plan(branch), Todo::BeginBranch(wave)]);
                }
            }
            Todo::BeginBranch(wave) => waves[wave].spans.push(ops.len()..ops.len()),
            Todo::EndBranch(wave) => {
                if let Some(span) = waves[wave].spans.last_mut() {
                    span.end = ops.len();
                }
            }
            Todo::EndWave(wave) => waves[wave].next = ops.len(),
        }
    }
    (ops, waves)
}
