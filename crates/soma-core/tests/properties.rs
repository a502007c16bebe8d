//! Any graph: against a plain model.

#![expect(clippy::unwrap_used, reason = "a test stops where it is wrong")]

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;

use proptest::collection::vec;
use proptest::prelude::*;
use soma_core::{Ctx, Graph, GraphError, Node, NodeError, Plan, RunOptions, Source, Transition, Value};

/// Says its own name and what it was given.
struct Said(usize);

impl Node for Said {
    fn forward(&self, input: &Value, _: &Ctx<'_>) -> Result<Transition, NodeError> {
        Ok(Value::from(format!("n{}({input:?})", self.0).as_str()).into())
    }
}

const MOST_NODES: usize = 9;

/// Pairs of positions, most of them not cyclic with each other.
fn pairs() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (1..=MOST_NODES).prop_flat_map(|n_nodes| {
        let forward = (0..n_nodes, 0..n_nodes, 0..20)
            .prop_map(|(a, b, turn)| if turn == 0 || a < b { (a, b) } else { (b, a) });
        (Just(n_nodes), vec(forward, 0..2 * n_nodes))
    })
}

/// The graph, the edges it took, and whether each edge was refused as the model says.
fn built(n_nodes: usize, pairs: &[(usize, usize)]) -> (Graph, Vec<(usize, usize)>) {
    let mut graph = Graph::new();
    for node in 0..n_nodes {
        graph.node(&format!("n{node}"), Said(node)).unwrap();
    }
    let mut taken = Vec::new();
    for &(from, to) in pairs {
        let outcome = graph.edge(&format!("n{from}"), &format!("n{to}"));
        if reaches(&taken, to, from) {
            assert!(matches!(outcome, Err(GraphError::Cycle { .. })));
        } else if taken.contains(&(from, to)) {
            assert!(matches!(outcome, Err(GraphError::RepeatedEdge { .. })));
        } else {
            outcome.unwrap();
            taken.push((from, to));
        }
    }
    (graph, taken)
}

fn reaches(edges: &[(usize, usize)], from: usize, to: usize) -> bool {
    let (mut seen, mut waiting) = (HashSet::from([from]), vec![from]);
    while let Some(node) = waiting.pop() {
        if node == to {
            return true;
        }
        waiting.extend(edges.iter().filter(|(a, b)| *a == node && seen.insert(*b)).map(|(_, b)| *b));
    }
    false
}

/// What runs before what, checked on the plan itself; answers the nodes in it.
fn check(plan: &Plan, before: &HashSet<String>) -> HashSet<String> {
    match plan {
        Plan::Empty => HashSet::new(),
        Plan::Execute { node, from } => {
            let read: Vec<String> = match from {
                Source::Input => Vec::new(),
                Source::Node(one) => vec![one.to_string()],
                Source::Nodes(several) => several.iter().map(ToString::to_string).collect(),
            };
            assert!(read.iter().all(|one| before.contains(one)), "{node} reads {read:?} after {before:?}");
            HashSet::from([node.to_string()])
        }
        Plan::Sequence(steps) => {
            assert!(steps.len() > 1 && !steps.iter().any(|step| matches!(step, Plan::Sequence(_))));
            let mut now = before.clone();
            for step in steps {
                now.extend(check(step, &now));
            }
            &now - before
        }
        Plan::Wave(branches) => {
            assert!(branches.len() > 1 && !branches.iter().any(|branch| matches!(branch, Plan::Wave(_))));
            let mut all = HashSet::new();
            for branch in branches {
                let nodes = check(branch, before);
                assert!(all.is_disjoint(&nodes));
                all.extend(nodes);
            }
            all
        }
    }
}

/// What a plain walk over the edges answers.
fn walked(n_nodes: usize, edges: &[(usize, usize)]) -> Value {
    let mut said: HashMap<usize, Value> = HashMap::new();
    while said.len() < n_nodes {
        for node in 0..n_nodes {
            let from: Vec<usize> =
                edges.iter().filter(|(_, to)| *to == node).map(|(from, _)| *from).collect();
            if said.contains_key(&node) || !from.iter().all(|from| said.contains_key(from)) {
                continue;
            }
            let input = gathered(&from, &said);
            said.insert(node, Value::from(format!("n{node}({input:?})").as_str()));
        }
    }
    let leaves: Vec<usize> =
        (0..n_nodes).filter(|node| !edges.iter().any(|(from, _)| from == node)).collect();
    gathered(&leaves, &said)
}

fn gathered(from: &[usize], said: &HashMap<usize, Value>) -> Value {
    match from {
        [] => Value::Int(1),
        [one] => said[one].clone(),
        several => {
            Value::Map(several.iter().map(|one| (format!("n{one}").into(), said[one].clone())).collect())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_graph_refuses_plans_and_runs_as_the_model((n_nodes, pairs) in pairs()) {
        let (graph, edges) = built(n_nodes, &pairs);
        let order = graph.topology().topological_sort();
        let place = |node: usize| order.iter().position(|&one| one == node);
        prop_assert!(edges.iter().all(|&(from, to)| place(from) < place(to)));
        prop_assert_eq!(check(&graph.plan(), &HashSet::new()).len(), n_nodes);
        let expected = walked(n_nodes, &edges);
        let alone = RunOptions::default().with_workers(NonZeroUsize::MIN);
        for options in [RunOptions::default(), alone] {
            prop_assert_eq!(&graph.forward(Value::Int(1), &options).unwrap(), &expected);
        }
    }

    /// Declared in the order they run or in any other, the same edges give plans of the same shape.
    #[test]
    fn edges_may_be_added_in_any_order((n_nodes, pairs) in pairs(), seed in any::<u64>()) {
        let (graph, mut edges) = built(n_nodes, &pairs);
        let n_edges = edges.len().max(1);
        edges.rotate_left(seed as usize % n_edges);
        if seed.is_multiple_of(2) {
            edges.reverse();
        }
        let (again, taken) = built(n_nodes, &edges);
        prop_assert_eq!(taken.len(), edges.len());
        let shape = |graph: &Graph| {
            let mut lines = Vec::new();
            graph.plan().walk(|depth, plan| lines.push((depth, match plan {
                Plan::Empty => "empty".to_owned(),
                Plan::Execute { node, .. } => node.to_string(),
                Plan::Sequence(_) => "sequence".to_owned(),
                Plan::Wave(_) => "wave".to_owned(),
            })));
            lines
        };
        prop_assert_eq!(shape(&graph), shape(&again));
    }
}
