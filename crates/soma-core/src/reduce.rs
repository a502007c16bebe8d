//! Contracts what is series-parallel until one node is left, or a core that is not.
//!
//! Three local steps, each of which takes a node or an edge away (after Valdes, Tarjan and Lawler 1982, "The
//! recognition of series parallel digraphs", section 4; theirs work on the line digraph's root, ours on the
//! graph itself, so that a graph that is not series-parallel is contracted as far as it goes):
//!
//! - *row*: a node whose only successor has no other predecessor becomes one with it;
//! - *twins*: two nodes with the same predecessors and the same successors become one, side by side;
//! - *skip*: an edge around a node with one predecessor or one successor says nothing that the way through
//!   the node does not, and goes.
//!
//! A node is looked at again only when something next to it changed, and a step costs the edges it takes
//! away, so the whole is near linear. Twins are found by hashing their neighbours, and compared before they
//! are joined.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::decompose::{Part, Parts};
use crate::topology::Topology;

/// A directed acyclic graph over positions; edges without their order.
pub(crate) struct Dag {
    pub(crate) predecessors: Vec<Vec<usize>>,
    pub(crate) successors: Vec<Vec<usize>>,
}

/// What is left, in the order of the first declared node of each, and the part each one stands for.
pub(crate) struct Reduced {
    pub(crate) dag: Dag,
    pub(crate) stands_for: Vec<usize>,
}

/// Contracts the graph; the parts it makes go to `parts`, whose first entries are the nodes.
pub(crate) fn reduce(topology: &Topology, parts: &mut Parts) -> Reduced {
    let n_nodes = topology.len();
    let set = |nodes: &[usize]| nodes.iter().copied().collect::<FxHashSet<usize>>();
    let mut work = Reducer {
        behind: (0..n_nodes).map(|node| set(topology.predecessors(node))).collect(),
        ahead: (0..n_nodes).map(|node| set(topology.successors(node))).collect(),
        print: Vec::with_capacity(n_nodes),
        twins: FxHashMap::default(),
        waiting: (0..n_nodes).collect(),
        is_waiting: vec![true; n_nodes],
        stands_for: (0..n_nodes).map(Some).collect(),
        parts,
    };
    for node in 0..n_nodes {
        let sum = |nodes: &[usize]| nodes.iter().fold(0, |sum: u64, &one| sum.wrapping_add(key(one)));
        work.print.push((sum(topology.predecessors(node)), sum(topology.successors(node))));
    }
    while let Some(node) = work.waiting.pop_front() {
        work.is_waiting[node] = false;
        work.look(node);
    }
    work.rest()
}

/// A number of a node's own, to add up into the fingerprint of a set (splitmix64's output function).
fn key(node: usize) -> u64 {
    let mut bits = (node as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

struct Reducer<'a> {
    behind: Vec<FxHashSet<usize>>,
    ahead: Vec<FxHashSet<usize>>,
    /// Fingerprints of what is behind and ahead of each node.
    print: Vec<(u64, u64)>,
    /// Who was last seen with these fingerprints.
    twins: FxHashMap<(u64, u64), usize>,
    waiting: VecDeque<usize>,
    is_waiting: Vec<bool>,
    /// The part a node has become; None once it is part of another.
    stands_for: Vec<Option<usize>>,
    parts: &'a mut Parts,
}

impl Reducer<'_> {
    fn look(&mut self, node: usize) {
        let Some(mut part) = self.stands_for[node] else { return };
        let mut node = node;
        while let Some((first, second)) = self.row(node) {
            (node, part) = self.join_row(first, second);
        }
        self.drop_skips(node);
        let print = self.print[node];
        match self.twins.get(&print).copied() {
            Some(other) if other != node && self.are_twins(node, other) => {
                let beside = self.take(node, other);
                self.stands_for[other] = Some(self.parts.beside(beside, part));
                self.wait(other);
            }
            Some(_) | None => {
                self.twins.insert(print, node);
            }
        }
    }

    /// The two nodes of a row that `node` is in.
    fn row(&self, node: usize) -> Option<(usize, usize)> {
        if let Some(next) = only(&self.ahead[node])
            && self.behind[next].len() == 1
        {
            return Some((node, next));
        }
        let before = only(&self.behind[node])?;
        (self.ahead[before].len() == 1).then_some((before, node))
    }

    /// Makes one of two in a row: the one with more neighbours on its outer side stays.
    fn join_row(&mut self, first: usize, second: usize) -> (usize, usize) {
        self.disconnect(first, second);
        let stays = if self.behind[first].len() < self.ahead[second].len() {
            for from in std::mem::take(&mut self.behind[first]) {
                self.ahead[from].remove(&first);
                self.print[from].1 = self.print[from].1.wrapping_sub(key(first));
                self.connect(from, second);
                self.wait(from);
            }
            second
        } else {
            for to in std::mem::take(&mut self.ahead[second]) {
                self.behind[to].remove(&second);
                self.print[to].0 = self.print[to].0.wrapping_sub(key(second));
                self.connect(first, to);
                self.wait(to);
            }
            first
        };
        let row = match (self.stands_for[first].take(), self.stands_for[second].take()) {
            (Some(one), Some(two)) => self.parts.then(one, two),
            (Some(part), None) | (None, Some(part)) => part,
            (None, None) => unreachable!("what is in the graph stands for something"),
        };
        self.stands_for[stays] = Some(row);
        (stays, row)
    }

    fn drop_skips(&mut self, node: usize) {
        let mut skips = Vec::new();
        if let Some(from) = only(&self.behind[node]) {
            skips.extend(common(&self.ahead[from], &self.ahead[node]).map(|to| (from, to)));
        }
        if let Some(to) = only(&self.ahead[node]) {
            skips.extend(common(&self.behind[to], &self.behind[node]).map(|from| (from, to)));
        }
        for (from, to) in skips {
            if self.ahead[from].contains(&to) {
                self.disconnect(from, to);
                self.wait(from);
                self.wait(to);
            }
        }
    }

    fn are_twins(&self, one: usize, other: usize) -> bool {
        self.stands_for[other].is_some()
            && self.print[one] == self.print[other]
            && self.behind[one] == self.behind[other]
            && self.ahead[one] == self.ahead[other]
    }

    /// Takes `node` out of the graph; answers what its twin stands for.
    fn take(&mut self, node: usize, twin: usize) -> usize {
        for from in std::mem::take(&mut self.behind[node]) {
            self.ahead[from].remove(&node);
            self.print[from].1 = self.print[from].1.wrapping_sub(key(node));
            self.wait(from);
        }
        for to in std::mem::take(&mut self.ahead[node]) {
            self.behind[to].remove(&node);
            self.print[to].0 = self.print[to].0.wrapping_sub(key(node));
            self.wait(to);
        }
        self.stands_for[node] = None;
        self.stands_for[twin].expect("a twin is in the graph")
    }

    fn connect(&mut self, from: usize, to: usize) {
        self.ahead[from].insert(to);
        self.behind[to].insert(from);
        self.print[from].1 = self.print[from].1.wrapping_add(key(to));
        self.print[to].0 = self.print[to].0.wrapping_add(key(from));
    }

    fn disconnect(&mut self, from: usize, to: usize) {
        self.ahead[from].remove(&to);
        self.behind[to].remove(&from);
        self.print[from].1 = self.print[from].1.wrapping_sub(key(to));
        self.print[to].0 = self.print[to].0.wrapping_sub(key(from));
    }

    fn wait(&mut self, node: usize) {
        if !std::mem::replace(&mut self.is_waiting[node], true) {
            self.waiting.push_back(node);
        }
    }

    fn rest(self) -> Reduced {
        let mut left: Vec<(usize, usize, usize)> = Vec::new();
        for (node, part) in self.stands_for.iter().enumerate() {
            left.extend(part.map(|part| (self.parts.first(part), node, part)));
        }
        left.sort_unstable();
        let mut position = vec![usize::MAX; self.stands_for.len()];
        for (at, (_, node, _)) in left.iter().enumerate() {
            position[*node] = at;
        }
        let renamed = |sets: &[FxHashSet<usize>]| {
            let rename = |set: &FxHashSet<usize>| {
                let mut nodes: Vec<usize> = set.iter().map(|&node| position[node]).collect();
                nodes.sort_unstable();
                nodes
            };
            left.iter().map(|(_, node, _)| rename(&sets[*node])).collect()
        };
        Reduced {
            dag: Dag { predecessors: renamed(&self.behind), successors: renamed(&self.ahead) },
            stands_for: left.iter().map(|(_, _, part)| *part).collect(),
        }
    }
}

/// The element of a set of one.
fn only(set: &FxHashSet<usize>) -> Option<usize> {
    if set.len() == 1 { set.iter().next().copied() } else { None }
}

/// What two sets share, in the time of the smaller.
fn common<'a>(one: &'a FxHashSet<usize>, other: &'a FxHashSet<usize>) -> impl Iterator<Item = usize> + 'a {
    let (small, large) = if one.len() < other.len() { (one, other) } else { (other, one) };
    small.iter().copied().filter(|node| large.contains(node))
}

impl Parts {
    /// `one`, then `other`.
    fn then(&mut self, one: usize, other: usize) -> usize {
        let first = self.first(one).min(self.first(other));
        let at = match (self.take_row(one), self.take_row(other)) {
            (Some(mut row), Some(mut next)) => {
                if row.len() >= next.len() {
                    row.append(&mut next);
                    self.put(one, Part::Sequence(row))
                } else {
                    while let Some(last) = row.pop_back() {
                        next.push_front(last);
                    }
                    self.put(other, Part::Sequence(next))
                }
            }
            (Some(mut row), None) => {
                row.push_back(other);
                self.put(one, Part::Sequence(row))
            }
            (None, Some(mut next)) => {
                next.push_front(one);
                self.put(other, Part::Sequence(next))
            }
            (None, None) => self.add(Part::Sequence([one, other].into()), first),
        };
        self.set_first(at, first);
        at
    }

    /// `one` and `other` side by side.
    fn beside(&mut self, one: usize, other: usize) -> usize {
        let first = self.first(one).min(self.first(other));
        let at = match (self.take_wave(one), self.take_wave(other)) {
            (Some(mut wave), Some(mut more)) => {
                if wave.len() < more.len() {
                    std::mem::swap(&mut wave, &mut more);
                }
                wave.append(&mut more);
                self.put(one, Part::Wave(wave))
            }
            (Some(mut wave), None) => {
                wave.push(other);
                self.put(one, Part::Wave(wave))
            }
            (None, Some(mut wave)) => {
                wave.push(one);
                self.put(other, Part::Wave(wave))
            }
            (None, None) => self.add(Part::Wave(vec![one, other]), first),
        };
        self.set_first(at, first);
        at
    }
}
