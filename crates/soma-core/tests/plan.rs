//! Plans: decomposed from the graph, however it was written down.

#![expect(clippy::unwrap_used, reason = "a test stops where it is wrong")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use soma_core::{Expression, Graph, Node, Plan, Value, compile, from_fn};

fn node() -> impl Node + 'static {
    from_fn("Node", |input: &Value, _: &_| Ok(input.clone().into()))
}

fn n(name: &str) -> Expression {
    Expression::from(node()).named(name).unwrap()
}

/// A graph by its edges, `"a-c b-c"`; nodes in the order of `nodes`.
fn graph(nodes: &str, edges: &str) -> Graph {
    let mut graph = Graph::new();
    for id in nodes.split_whitespace() {
        graph.node(id, node()).unwrap();
    }
    for edge in edges.split_whitespace() {
        let (from, to) = edge.split_once('-').unwrap();
        graph.edge(from, to).unwrap();
    }
    graph
}

/// A plan on one line: `(a [b c] d)`, rounds for a sequence, squares for a wave.
fn line(plan: &Plan) -> String {
    let each = |plans: &[Plan]| plans.iter().map(line).collect::<Vec<_>>().join(" ");
    match plan {
        Plan::Empty => "empty".to_owned(),
        Plan::Execute { node, .. } => node.to_string(),
        Plan::Sequence(steps) => format!("({})", each(steps)),
        Plan::Wave(branches) => format!("[{}]", each(branches)),
    }
}

#[test]
fn series_parallel_graphs_come_apart_as_they_were_written() {
    for (nodes, edges, plan) in [
        ("", "", "empty"),
        ("a", "", "a"),
        ("a b", "", "[a b]"),
        ("a b c", "a-b b-c", "(a b c)"),
        ("a b c d", "a-b a-c b-d c-d", "(a [b c] d)"),
        ("a b c c2 d", "a-b a-c c-c2 b-d c2-d", "(a [b (c c2)] d)"),
        ("a b c d", "a-c a-d b-c b-d", "([a b] [c d])"),
        ("a b c d e", "a-b b-c a-d d-e", "(a [(b c) (d e)])"),
        // Skips say nothing new: a residual block, and every pair joined.
        ("a b c", "a-b b-c a-c", "(a b c)"),
        ("a b c d", "a-b a-c a-d b-c b-d c-d", "(a b c d)"),
        ("a b c d e", "a-b a-c b-d c-d a-d d-e", "(a [b c] d e)"),
        // Declared in another order than they run: branches stand in the order they were declared in.
        ("d c b a", "a-b a-c b-d c-d", "(a [c b] d)"),
    ] {
        assert_eq!(line(&graph(nodes, edges).plan()), plan, "{edges}");
    }
}

#[test]
fn graphs_that_are_not_series_parallel_run_layer_by_layer() {
    for (nodes, edges, plan) in [
        ("a b c d", "a-c a-d b-d", "([a b] [c d])"),
        // What is series-parallel around and within the N stays so.
        ("s a b c d t", "s-a s-b a-c a-d b-d c-t d-t", "(s [a b] [c d] t)"),
        ("a a2 b c d d2", "a-a2 a2-c a2-d b-d d-d2", "([(a a2) b] [c (d d2)])"),
        ("a b c d e f g h", "a-c a-d b-d e-g e-h f-h", "[([a b] [c d]) ([e f] [g h])]"),
    ] {
        assert_eq!(line(&graph(nodes, edges).plan()), plan, "{edges}");
    }
}

#[test]
fn an_expression_and_the_same_graph_by_hand_have_the_same_plan() {
    let written = Graph::somatize(n("a") >> (n("b") | (n("c") >> n("c2"))) >> n("d")).unwrap();
    let by_hand = graph("a b c c2 d", "a-b a-c c-c2 b-d c2-d");
    assert_eq!(*written.plan(), *by_hand.plan());
    assert_eq!(written.edges(), by_hand.edges());
    assert_eq!(written.plan().to_string(), by_hand.plan().to_string());
    assert_ne!(*written.plan(), *graph("a b c c2 d", "a-b a-c c-c2 b-d c2-d a-d").plan());
}

#[test]
fn the_plan_is_kept_until_the_topology_changes() {
    let mut graph = graph("a b", "a-b");
    let plan = graph.plan();
    graph.place("a", Some("meta".parse().unwrap())).unwrap();
    assert!(Arc::ptr_eq(&plan, &graph.plan()));
    assert!(graph.edge("b", "a").is_err());
    assert!(Arc::ptr_eq(&plan, &graph.plan()));
    graph.node("c", node()).unwrap();
    assert!(!Arc::ptr_eq(&plan, &graph.plan()));
}

#[test]
fn every_step_says_where_its_input_comes_from() {
    let plan = graph("b a c", "a-c b-c").plan();
    assert_eq!(plan.to_string(), "sequence\n  wave\n    b <- input\n    a <- input\n  c <- a, b");
}

/// How long it takes to build and compile; the plan.
fn timed(make: impl FnOnce() -> Graph) -> (Duration, Arc<Plan>) {
    let since = Instant::now();
    let plan = make().plan();
    (since.elapsed(), plan)
}

/// Far above what a linear build takes even unoptimised, far below what a quadratic one would.
const PATIENCE: Duration = Duration::from_secs(8);

#[test]
fn long_and_wide_and_deep_graphs_are_built_and_compiled_without_recursion() {
    type Make = fn() -> Graph;
    let makes: [(&str, Make); 6] = [
        ("chain", || {
            Graph::somatize((1..10_000).fold(node().into(), |piece: Expression, _| piece >> node())).unwrap()
        }),
        ("chain written from its end", || {
            let mut graph = Graph::new();
            for at in (0..10_000).rev() {
                graph.node(&at.to_string(), node()).unwrap();
                if at < 9_999 {
                    graph.edge(&at.to_string(), &(at + 1).to_string()).unwrap();
                }
            }
            graph
        }),
        ("fan", || {
            let fan = (1..1_000).fold(node().into(), |piece: Expression, _| piece | node());
            Graph::somatize(Expression::from(node()) >> fan >> node()).unwrap()
        }),
        ("nest", || {
            let mut piece = Expression::from(node());
            for _ in 0..3_000 {
                piece = Expression::from(node()) >> (Expression::from(node()) | piece) >> node();
            }
            Graph::somatize(piece).unwrap()
        }),
        ("diamonds", || {
            let two = || Expression::from(node()) | node();
            Graph::somatize((0..3_000).fold(node().into(), |piece: Expression, _| piece >> two() >> node()))
                .unwrap()
        }),
        ("ladder", || {
            let mut graph = Graph::new();
            for at in 0..3_000 {
                graph.node(&format!("a{at}"), node()).unwrap();
                graph.node(&format!("b{at}"), node()).unwrap();
                graph.edge(&format!("a{at}"), &format!("b{at}")).unwrap();
                if at > 0 {
                    graph.edge(&format!("a{}", at - 1), &format!("a{at}")).unwrap();
                    graph.edge(&format!("b{}", at - 1), &format!("b{at}")).unwrap();
                }
            }
            graph
        }),
    ];
    // A small stack: what recursed would not fit.
    let all = move || {
        for (name, make) in makes {
            let (took, plan) = timed(make);
            assert!(took < PATIENCE, "{name}: {took:?}");
            assert_eq!(*plan, *plan);
            assert!(plan.to_string().len() > plan.nodes().len());
        }
    };
    std::thread::Builder::new().stack_size(128 * 1024).spawn(all).unwrap().join().unwrap();
}

#[test]
fn compile_is_a_function_of_the_topology() {
    let graph = graph("a b c d", "a-c a-d b-d");
    assert_eq!(compile(graph.topology()), *graph.plan());
}
