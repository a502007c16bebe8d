//! Ids and edges, acyclic by construction.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

use crate::error::GraphError;

/// The name of a node within its graph.
pub type NodeId = Arc<str>;

/// How many ids an error lists, and how many nodes of a cycle it spells out.
const SHOWN: usize = 8;

/// The distance between neighbours of the kept order, so that a node can be put between two others.
const GAP: i64 = 1 << 32;

/// Nodes by name and the edges between them. What cannot be in a graph is refused as it is added.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    ids: Vec<NodeId>,
    by_id: HashMap<NodeId, usize>,
    predecessors: Vec<Vec<usize>>,
    successors: Vec<Vec<usize>>,
    edges: Vec<(usize, usize)>,
    edge_set: HashSet<(usize, usize)>,
    order: Order,
}

impl Topology {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The ids, in declaration order.
    pub fn ids(&self) -> &[NodeId] {
        &self.ids
    }

    /// Whether a node has that id.
    pub fn contains(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// The position of a node in declaration order.
    pub fn index(&self, id: &str) -> Result<usize, GraphError> {
        self.by_id.get(id).copied().ok_or_else(|| GraphError::UnknownNode {
            id: id.to_owned(),
            known: self.ids.iter().take(SHOWN).map(ToString::to_string).collect(),
        })
    }

    /// The edges by position, in the order they were added.
    pub fn edges(&self) -> &[(usize, usize)] {
        &self.edges
    }

    /// Who sends to the `node`-th node, in edge order.
    pub fn predecessors(&self, node: usize) -> &[usize] {
        &self.predecessors[node]
    }

    /// Whom the `node`-th node sends to, in edge order.
    pub fn successors(&self, node: usize) -> &[usize] {
        &self.successors[node]
    }

    /// The nodes nobody sends to, in declaration order.
    pub fn roots(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(|&node| self.predecessors[node].is_empty())
    }

    /// The nodes that send to nobody, in declaration order.
    pub fn leaves(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(|&node| self.successors[node].is_empty())
    }

    /// An order in which every edge points forward: of the nodes that could come next, always the one that
    /// was declared first.
    pub fn topological_sort(&self) -> Vec<usize> {
        let mut waits_for: Vec<usize> = self.predecessors.iter().map(Vec::len).collect();
        let mut ready: BinaryHeap<Reverse<usize>> = self.roots().map(Reverse).collect();
        let mut order = Vec::with_capacity(self.len());
        while let Some(Reverse(node)) = ready.pop() {
            order.push(node);
            for &next in &self.successors[node] {
                waits_for[next] -= 1;
                if waits_for[next] == 0 {
                    ready.push(Reverse(next));
                }
            }
        }
        order
    }

    /// Adds a node. The id must be new: the caller has looked.
    pub(crate) fn push(&mut self, id: NodeId) -> usize {
        let node = self.ids.len();
        self.by_id.insert(Arc::clone(&id), node);
        self.ids.push(id);
        self.predecessors.push(Vec::new());
        self.successors.push(Vec::new());
        self.order.push_last(node);
        node
    }

    /// Adds an edge.
    ///
    /// # Errors
    /// `RepeatedEdge`, `Cycle`; nothing is changed then.
    pub(crate) fn connect(&mut self, from: usize, to: usize) -> Result<(), GraphError> {
        if self.edge_set.contains(&(from, to)) {
            return Err(GraphError::RepeatedEdge {
                from: self.ids[from].to_string(),
                to: self.ids[to].to_string(),
            });
        }
        if let Err(path) = self.put_in_order(from, to) {
            return Err(GraphError::Cycle {
                from: self.ids[from].to_string(),
                to: self.ids[to].to_string(),
                path: self.spelled(&path),
            });
        }
        self.edge_set.insert((from, to));
        self.edges.push((from, to));
        self.successors[from].push(to);
        self.predecessors[to].push(from);
        Ok(())
    }

    /// Makes `from` come before `to` in the kept order, or answers the way from `to` to `from`.
    ///
    /// The two searches of Bender, Fineman, Gilbert and Tarjan (2015, "A new approach to incremental cycle
    /// detection", section 2), taken in turns and kept within the stretch of the order between the two
    /// nodes: whichever is exhausted first proves that there is no cycle, and only its nodes move. An edge that
    /// agrees with the order, as every edge of an expression does, costs nothing.
    fn put_in_order(&mut self, from: usize, to: usize) -> Result<(), Vec<usize>> {
        if from == to {
            return Err(vec![from]);
        }
        let (upper, lower) = (self.order.rank(from), self.order.rank(to));
        if upper < lower {
            return Ok(());
        }
        let mut ahead = Search::begin(to);
        let mut behind = Search::begin(from);
        loop {
            match ahead.step(&self.successors, from, |node| self.order.rank(node) <= upper) {
                Progress::Found => return Err(ahead.path_to(from)),
                Progress::Exhausted => {
                    self.order.move_after(from, ahead.into_nodes());
                    return Ok(());
                }
                Progress::On => {}
            }
            match behind.step(&self.predecessors, to, |node| self.order.rank(node) >= lower) {
                Progress::Found => {
                    let mut path = behind.path_to(to);
                    path.reverse();
                    return Err(path);
                }
                Progress::Exhausted => {
                    self.order.move_before(to, behind.into_nodes());
                    return Ok(());
                }
                Progress::On => {}
            }
        }
    }

    /// A cycle for a person: `path` and back to where it began.
    fn spelled(&self, path: &[usize]) -> String {
        let name = |&node: &usize| format!("`{}`", self.ids[node]);
        let mut names: Vec<String> = if path.len() > SHOWN {
            let (head, tail) = (&path[..SHOWN / 2], &path[path.len() - SHOWN / 2..]);
            let between = path.len() - head.len() - tail.len();
            let gap = std::iter::once(format!("({between} more)"));
            head.iter().map(name).chain(gap).chain(tail.iter().map(name)).collect()
        } else {
            path.iter().map(name).collect()
        };
        names.extend(path.first().map(name));
        names.join(" -> ")
    }
}

/// A depth-first search that is taken one node at a time.
struct Search {
    waiting: Vec<usize>,
    came_from: HashMap<usize, usize>,
}

enum Progress {
    On,
    Found,
    Exhausted,
}

impl Search {
    fn begin(at: usize) -> Self {
        Self { waiting: vec![at], came_from: HashMap::from([(at, at)]) }
    }

    /// Looks at the neighbours of one more node.
    fn step(&mut self, neighbours: &[Vec<usize>], sought: usize, within: impl Fn(usize) -> bool) -> Progress {
        let Some(node) = self.waiting.pop() else { return Progress::Exhausted };
        for &next in &neighbours[node] {
            if within(next) && !self.came_from.contains_key(&next) {
                self.came_from.insert(next, node);
                if next == sought {
                    return Progress::Found;
                }
                self.waiting.push(next);
            }
        }
        if self.waiting.is_empty() { Progress::Exhausted } else { Progress::On }
    }

    /// The way from where the search began to `end`.
    fn path_to(&self, end: usize) -> Vec<usize> {
        let mut path = vec![end];
        let mut at = end;
        while self.came_from[&at] != at {
            at = self.came_from[&at];
            path.push(at);
        }
        path.reverse();
        path
    }

    fn into_nodes(self) -> Vec<usize> {
        self.came_from.into_keys().collect()
    }
}

/// One topological order, kept as edges come: each node's rank, and the node at each rank.
#[derive(Clone, Debug, Default)]
struct Order {
    ranks: Vec<i64>,
    at: BTreeMap<i64, usize>,
}

impl Order {
    fn rank(&self, node: usize) -> i64 {
        self.ranks[node]
    }

    fn push_last(&mut self, node: usize) {
        let rank = self.at.last_key_value().map_or(0, |(last, _)| last + GAP);
        self.ranks.push(rank);
        self.at.insert(rank, node);
    }

    /// Moves `nodes` to directly after `pivot`, in the order they have among themselves.
    fn move_after(&mut self, pivot: usize, nodes: Vec<usize>) {
        let nodes = self.take_out(nodes);
        let low = self.ranks[pivot];
        let high = self.at.range(low + 1..).next().map(|(rank, _)| *rank);
        self.put_between(Some(low), high, &nodes);
    }

    /// Moves `nodes` to directly before `pivot`, in the order they have among themselves.
    fn move_before(&mut self, pivot: usize, nodes: Vec<usize>) {
        let nodes = self.take_out(nodes);
        let high = self.ranks[pivot];
        let low = self.at.range(..high).next_back().map(|(rank, _)| *rank);
        self.put_between(low, Some(high), &nodes);
    }

    fn take_out(&mut self, mut nodes: Vec<usize>) -> Vec<usize> {
        nodes.sort_unstable_by_key(|&node| self.ranks[node]);
        for &node in &nodes {
            self.at.remove(&self.ranks[node]);
        }
        nodes
    }

    fn put_between(&mut self, low: Option<i64>, high: Option<i64>, nodes: &[usize]) {
        let places = nodes.len() as i64 + 1;
        let (low, high) = match (low, high) {
            (Some(low), Some(high)) => (low, high),
            (Some(low), None) => (low, low.saturating_add(GAP.saturating_mul(places))),
            (None, Some(high)) => (high.saturating_sub(GAP.saturating_mul(places)), high),
            (None, None) => (0, GAP.saturating_mul(places)),
        };
        let width = high.saturating_sub(low) / places;
        if width == 0 {
            return self.spread(low, nodes);
        }
        for (place, &node) in nodes.iter().enumerate() {
            let rank = low + width * (place as i64 + 1);
            self.ranks[node] = rank;
            self.at.insert(rank, node);
        }
    }

    /// There is no room: everything is ranked anew, with `nodes` directly after the one at `low`.
    fn spread(&mut self, low: i64, nodes: &[usize]) {
        let before: Vec<usize> = self.at.range(..=low).map(|(_, node)| *node).collect();
        let after: Vec<usize> = self.at.range(low + 1..).map(|(_, node)| *node).collect();
        self.at.clear();
        for (place, &node) in before.iter().chain(nodes).chain(&after).enumerate() {
            let rank = place as i64 * GAP;
            self.ranks[node] = rank;
            self.at.insert(rank, node);
        }
    }
}
