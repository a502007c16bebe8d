//! From a graph to steps in a row and steps at the same time.
//!
//! A part whose pieces no edge joins is a wave of those pieces. A connected part falls apart where
//! everything before a point precedes everything after it, and becomes the sequence of what lies between
//! such points. For a series-parallel graph (Valdes, Tarjan and Lawler 1982, "The recognition of series
//! parallel digraphs") these two steps go all the way down to single nodes. A part in which neither
//! applies (the N: a -> c, a -> d, b -> d) runs the chains at its beginning as a wave, then the rest.
//!
//! How a cut is found: in any topological order the part before a cut comes first. `before` precedes
//! `after` entirely when every last node of `before` has an edge to every first node of `after` (nothing can
//! lie between the two, so the relation is an edge), so one pass that counts those edges finds every cut.
//! A pass is linear in the part's nodes and edges; nesting costs one pass per level. No recursion.

use crate::topology::Topology;

/// What the decomposition made of a part; children by position in [`Shape::parts`].
pub(crate) enum Part {
    Node(usize),
    Sequence(Vec<usize>),
    Wave(Vec<usize>),
}

/// The decomposition: children stand after their parents, the whole graph is the first.
pub(crate) struct Shape {
    pub(crate) parts: Vec<Part>,
}

/// The decomposition of a graph with at least one node.
pub(crate) fn decompose(topology: &Topology) -> Shape {
    let n_nodes = topology.len();
    let mut work = Decomposer {
        topology,
        member_of: vec![0; n_nodes],
        waits_for: vec![0; n_nodes],
        is_last: vec![false; n_nodes],
        is_first: vec![false; n_nodes],
        component: vec![usize::MAX; n_nodes],
        parts: vec![Part::Sequence(Vec::new())],
        tasks: Vec::new(),
    };
    work.tasks.push((0, topology.topological_sort()));
    while let Some((part, nodes)) = work.tasks.pop() {
        work.take(part, nodes);
    }
    Shape { parts: work.parts }
}

struct Decomposer<'a> {
    topology: &'a Topology,
    /// Which part a node is in now.
    member_of: Vec<usize>,
    /// Scratch of the pass for cuts, clean between passes.
    waits_for: Vec<usize>,
    is_last: Vec<bool>,
    is_first: Vec<bool>,
    /// Scratch of the pass for components; `MAX` between passes.
    component: Vec<usize>,
    parts: Vec<Part>,
    /// Parts still to be decomposed, their nodes in topological order.
    tasks: Vec<(usize, Vec<usize>)>,
}

impl Decomposer<'_> {
    fn take(&mut self, part: usize, nodes: Vec<usize>) {
        if let [node] = nodes[..] {
            self.parts[part] = Part::Node(node);
            return;
        }
        let pieces = self.components(part, &nodes);
        if pieces.len() > 1 {
            let children = self.divide(pieces);
            self.parts[part] = Part::Wave(children);
            return;
        }
        let mut pieces = self.between_cuts(part, nodes);
        if pieces.len() == 1 {
            let whole = pieces.pop().unwrap_or_default();
            pieces = self.chains_first(part, &whole);
        }
        let children = self.divide(pieces);
        self.parts[part] = Part::Sequence(children);
    }

    /// Makes each piece a part of its own.
    fn divide(&mut self, pieces: Vec<Vec<usize>>) -> Vec<usize> {
        let mut children = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let child = self.parts.len();
            for &node in &piece {
                self.member_of[node] = child;
            }
            self.parts.push(Part::Sequence(Vec::new()));
            self.tasks.push((child, piece));
            children.push(child);
        }
        children
    }

    /// The pieces of a part that no edge joins, by their first declared node.
    fn components(&mut self, part: usize, nodes: &[usize]) -> Vec<Vec<usize>> {
        let mut n_components = 0;
        let mut waiting = Vec::new();
        // In declaration order, so that the components come out in it.
        let mut declared = nodes.to_vec();
        declared.sort_unstable();
        for start in declared {
            if self.component[start] != usize::MAX {
                continue;
            }
            self.component[start] = n_components;
            waiting.push(start);
            while let Some(node) = waiting.pop() {
                let ahead = self.topology.successors(node).iter();
                for &next in ahead.chain(self.topology.predecessors(node)) {
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
    fn between_cuts(&mut self, part: usize, nodes: Vec<usize>) -> Vec<Vec<usize>> {
        let topology = self.topology;
        let (mut n_last, mut n_first, mut n_joined) = (0_usize, 0_usize, 0_usize);
        for &node in &nodes {
            let inside =
                topology.predecessors(node).iter().filter(|&&from| self.member_of[from] == part).count();
            self.waits_for[node] = inside;
            self.is_first[node] = inside == 0;
            n_first += usize::from(inside == 0);
        }
        let mut pieces = Vec::new();
        let mut piece = Vec::new();
        for &node in &nodes {
            // `node` goes over from the nodes after to the nodes before.
            self.is_first[node] = false;
            n_first -= 1;
            for &from in topology.predecessors(node) {
                if self.member_of[from] == part && self.is_last[from] {
                    n_joined -= 1;
                    self.is_last[from] = false;
                    n_last -= 1;
                    n_joined -= topology.successors(from).iter().filter(|&&to| self.is_first[to]).count();
                }
            }
            self.is_last[node] = true;
            n_last += 1;
            for &to in topology.successors(node) {
                if self.member_of[to] == part {
                    self.waits_for[to] -= 1;
                    if self.waits_for[to] == 0 {
                        self.is_first[to] = true;
                        n_first += 1;
                        n_joined +=
                            topology.predecessors(to).iter().filter(|&&from| self.is_last[from]).count();
                    }
                }
            }
            piece.push(node);
            if n_joined == n_last * n_first {
                pieces.push(std::mem::take(&mut piece));
            }
        }
        for &node in &nodes {
            self.is_last[node] = false;
        }
        pieces
    }

    /// The chains a part begins with, and the rest: both in topological order.
    fn chains_first(&self, part: usize, nodes: &[usize]) -> Vec<Vec<usize>> {
        let inside = |&&node: &&usize| self.member_of[node] == part;
        let alone = |from: &[usize]| from.iter().filter(inside).count() == 1;
        let mut is_early = std::collections::HashSet::new();
        for &node in nodes {
            let mut before = self.topology.predecessors(node).iter().filter(inside);
            let early = match (before.next(), before.next()) {
                (None, _) => true,
                (Some(from), None) => is_early.contains(from) && alone(self.topology.successors(*from)),
                (Some(_), Some(_)) => false,
            };
            if early {
                is_early.insert(node);
            }
        }
        let (early, late) = nodes.iter().partition(|node| is_early.contains(node));
        vec![early, late]
    }
}
