//! From a graph to steps in a row and steps at the same time.
//!
//! What is series-parallel is contracted first ([`mod@crate::reduce`]); for a series-parallel graph nothing else
//! is left to do. What remains is taken apart: pieces that no edge joins are a wave of those pieces, and a
//! connected piece falls apart where everything before a point precedes everything after it. A piece in
//! which neither applies (the N: a -> c, a -> d, b -> d) runs layer by layer, each node as early as it can.
//!
//! How a point is found: in any topological order the nodes before it come first. All of them precede all
//! the others when every last node before has an edge to every first node after (nothing can lie between the
//! two, so the relation is an edge); one pass that counts those edges finds every point. No recursion.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::reduce::{Dag, reduce};
use crate::topology::Topology;

/// A piece of a plan, over positions.
pub(crate) enum Part {
    /// One node, by its position in the graph.
    Node(usize),
    /// Parts one after another.
    Sequence(VecDeque<usize>),
    /// Parts side by side.
    Wave(Vec<usize>),
}

/// All parts of a decomposition; a part names others by their position here.
pub(crate) struct Parts {
    parts: Vec<Part>,
    /// The first declared node of each.
    firsts: Vec<usize>,
}

impl Parts {
    pub(crate) fn get(&self, at: usize) -> &Part {
        &self.parts[at]
    }

    pub(crate) fn first(&self, at: usize) -> usize {
        self.firsts[at]
    }

    pub(crate) fn set_first(&mut self, at: usize, first: usize) {
        self.firsts[at] = first;
    }

    pub(crate) fn add(&mut self, part: Part, first: usize) -> usize {
        self.parts.push(part);
        self.firsts.push(first);
        self.parts.len() - 1
    }

    pub(crate) fn put(&mut self, at: usize, part: Part) -> usize {
        self.parts[at] = part;
        at
    }

    /// Takes the steps out of a sequence.
    pub(crate) fn take_row(&mut self, at: usize) -> Option<VecDeque<usize>> {
        match &mut self.parts[at] {
            Part::Sequence(row) => Some(std::mem::take(row)),
            Part::Node(_) | Part::Wave(_) => None,
        }
    }

    /// Takes the branches out of a wave.
    pub(crate) fn take_wave(&mut self, at: usize) -> Option<Vec<usize>> {
        match &mut self.parts[at] {
            Part::Wave(wave) => Some(std::mem::take(wave)),
            Part::Node(_) | Part::Sequence(_) => None,
        }
    }
}

/// The decomposition of a graph with at least one node, and the part that is the whole.
pub(crate) fn decompose(topology: &Topology) -> (Parts, usize) {
    let n_nodes = topology.len();
    let mut parts = Parts { parts: (0..n_nodes).map(Part::Node).collect(), firsts: (0..n_nodes).collect() };
    let reduced = reduce(topology, &mut parts);
    if let [whole] = reduced.stands_for[..] {
        return (parts, whole);
    }
    let n_left = reduced.stands_for.len();
    let whole = parts.add(Part::Wave(Vec::new()), 0);
    let mut work = Decomposer {
        dag: &reduced.dag,
        stands_for: &reduced.stands_for,
        member_of: vec![whole; n_left],
        waits_for: vec![0; n_left],
        is_last: vec![false; n_left],
        is_first: vec![false; n_left],
        component: vec![usize::MAX; n_left],
        parts,
        tasks: vec![(whole, reduced.dag.sorted())],
    };
    while let Some((part, nodes)) = work.tasks.pop() {
        work.take(part, &nodes);
    }
    (work.parts, whole)
}

impl Dag {
    /// A topological order; of the nodes that could come next, always the first.
    fn sorted(&self) -> Vec<usize> {
        let mut waits_for: Vec<usize> = self.predecessors.iter().map(Vec::len).collect();
        let roots = (0..waits_for.len()).filter(|&node| waits_for[node] == 0);
        let mut ready: BinaryHeap<Reverse<usize>> = roots.map(Reverse).collect();
        let mut order = Vec::with_capacity(waits_for.len());
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
}

struct Decomposer<'a> {
    dag: &'a Dag,
    /// The part a node of the dag stands for.
    stands_for: &'a [usize],
    /// Which part a node is in now.
    member_of: Vec<usize>,
    /// Scratch of the pass for cuts, clean between passes.
    waits_for: Vec<usize>,
    is_last: Vec<bool>,
    is_first: Vec<bool>,
    /// Scratch of the pass for components; `MAX` between passes.
    component: Vec<usize>,
    parts: Parts,
    /// Parts still to be taken apart, their nodes in topological order.
    tasks: Vec<(usize, Vec<usize>)>,
}

impl Decomposer<'_> {
    fn take(&mut self, part: usize, nodes: &[usize]) {
        let pieces = self.components(part, nodes);
        if pieces.len() > 1 {
            let children = self.divide(pieces);
            self.parts.put(part, Part::Wave(children));
            return;
        }
        let mut pieces = self.between_cuts(part, nodes);
        if pieces.len() == 1 {
            pieces = self.layers(part, nodes);
        }
        let children = self.divide(pieces);
        self.parts.put(part, Part::Sequence(children.into()));
    }

    /// Makes each piece a part of its own.
    fn divide(&mut self, pieces: Vec<Vec<usize>>) -> Vec<usize> {
        let mut children = Vec::with_capacity(pieces.len());
        for piece in pieces {
            if let [node] = piece[..] {
                // Out of whatever it was in: no pass may meet it as a member again.
                self.member_of[node] = usize::MAX;
                children.push(self.stands_for[node]);
                continue;
            }
            let first = piece.iter().map(|&node| self.parts.first(self.stands_for[node])).min();
            let child = self.parts.add(Part::Wave(Vec::new()), first.unwrap_or_default());
            for &node in &piece {
                self.member_of[node] = child;
            }
            self.tasks.push((child, piece));
            children.push(child);
        }
        children
    }

    /// The pieces of a part that no edge joins.
    fn components(&mut self, part: usize, nodes: &[usize]) -> Vec<Vec<usize>> {
        let mut n_components = 0;
        let mut waiting = Vec::new();
        for &start in nodes {
            if self.component[start] != usize::MAX {
                continue;
            }
            self.component[start] = n_components;
            waiting.push(start);
            while let Some(node) = waiting.pop() {
                for &next in self.dag.successors[node].iter().chain(&self.dag.predecessors[node]) {
                    if self.member_of[next] == part && self.component[next] == usize::MAX {
                        self.component[next] = n_components;
                        waiting.push(next);
                    }
                }
            }
            n_components += 1;
        }
        let mut pieces = vec![Vec::new(); n_components];
        for &node in nodes {
            pieces[self.component[node]].push(node);
            self.component[node] = usize::MAX;
        }
        pieces
    }

    /// The stretches of a connected part between its cuts; the part itself where it has none.
    fn between_cuts(&mut self, part: usize, nodes: &[usize]) -> Vec<Vec<usize>> {
        let dag = self.dag;
        let (mut n_last, mut n_first, mut n_joined) = (0_usize, 0_usize, 0_usize);
        for &node in nodes {
            let inside = dag.predecessors[node].iter().filter(|&&from| self.member_of[from] == part).count();
            self.waits_for[node] = inside;
            self.is_first[node] = inside == 0;
            n_first += usize::from(inside == 0);
        }
        let mut pieces = Vec::new();
        let mut piece = Vec::new();
        for &node in nodes {
            // `node` goes over from the nodes after to the nodes before.
            self.is_first[node] = false;
            n_first -= 1;
            for &from in &dag.predecessors[node] {
                if self.is_last[from] {
                    self.is_last[from] = false;
                    n_last -= 1;
                    // Its edges to `node` and to the other first nodes are no longer between last and first.
                    n_joined -= 1 + dag.successors[from].iter().filter(|&&to| self.is_first[to]).count();
                }
            }
            self.is_last[node] = true;
            n_last += 1;
            for &to in &dag.successors[node] {
                if self.member_of[to] == part {
                    self.waits_for[to] -= 1;
                    if self.waits_for[to] == 0 {
                        self.is_first[to] = true;
                        n_first += 1;
                        n_joined += dag.predecessors[to].iter().filter(|&&from| self.is_last[from]).count();
                    }
                }
            }
            piece.push(node);
            if n_joined == n_last * n_first {
                pieces.push(std::mem::take(&mut piece));
            }
        }
        for &node in nodes {
            self.is_last[node] = false;
        }
        pieces
    }

    /// The nodes by how many stand before them on the longest way to them.
    fn layers(&mut self, part: usize, nodes: &[usize]) -> Vec<Vec<usize>> {
        let mut layers: Vec<Vec<usize>> = Vec::new();
        for &node in nodes {
            let inside = self.dag.predecessors[node].iter().filter(|&&from| self.member_of[from] == part);
            let depth = inside.map(|&from| self.waits_for[from] + 1).max().unwrap_or(0);
            // The scratch of the other pass: here the depth.
            self.waits_for[node] = depth;
            if layers.len() <= depth {
                layers.resize_with(depth + 1, Vec::new);
            }
            layers[depth].push(node);
        }
        layers
    }
}
