//! Any sequence of calls on a graph: refused or done, never a panic, and what was built runs.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use soma_core::{Graph, RunOptions, Value, from_fn};

#[derive(Arbitrary, Debug)]
enum Call {
    Node { id: String },
    Unnamed { kind: String },
    Edge { from: u8, to: u8 },
    EdgeByName { from: String, to: String },
    Place { node: u8, device: String },
    Forward,
}

fuzz_target!(|calls: Vec<Call>| {
    let mut graph = Graph::new();
    for call in calls {
        let name = |at: u8| graph.nodes().get(usize::from(at)).map(ToString::to_string).unwrap_or_default();
        let same = |kind: &str| from_fn(kind, |input: &Value, _: &_| Ok(input.clone().into()));
        // A refusal is an answer; what it must not do is change the graph.
        let before = (graph.len(), graph.edges().len());
        let refused = match call {
            Call::Node { id } => graph.node(&id, same("Node")).is_err(),
            Call::Unnamed { kind } => graph.unnamed(same(&kind)).is_err(),
            Call::Edge { from, to } => {
                let (from, to) = (name(from), name(to));
                graph.edge(&from, &to).is_err()
            }
            Call::EdgeByName { from, to } => graph.edge(&from, &to).is_err(),
            Call::Place { node, device } => {
                let node = name(node);
                device.parse().map_or(true, |device| graph.place(&node, Some(device)).is_err())
            }
            Call::Forward => graph.forward(Value::Int(1), &RunOptions::default()).is_err(),
        };
        assert!(!refused || before == (graph.len(), graph.edges().len()));
    }
    assert_eq!(graph.plan().nodes().len(), graph.len());
    assert_eq!(graph.topological_sort().len(), graph.len());
    assert!(graph.forward(Value::Int(1), &RunOptions::default()).is_ok());
});
