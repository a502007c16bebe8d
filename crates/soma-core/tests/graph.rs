//! Topology: what a graph answers, and what it refuses when it is added.

#![expect(clippy::unwrap_used, reason = "a test stops where it is wrong")]

use std::sync::Arc;

use soma_core::{Expression, Graph, GraphError, Node, Value, from_fn, snake_case};

fn node(kind: &str) -> impl Node + 'static {
    from_fn(kind, |input: &Value, _: &_| Ok(input.clone().into()))
}

fn n(name: &str) -> Expression {
    Expression::from(node("Node")).named(name).unwrap()
}

fn diamond() -> Graph {
    Graph::somatize(n("s") >> (n("l") | n("r")) >> n("t")).unwrap()
}

#[test]
fn queries_answer_in_declaration_and_edge_order() {
    let graph = diamond();
    let ids = |ids: Vec<Arc<str>>| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(ids(graph.nodes().to_vec()), ["s", "l", "r", "t"]);
    assert_eq!(ids(graph.roots()), ["s"]);
    assert_eq!(ids(graph.leaves()), ["t"]);
    assert_eq!(ids(graph.predecessors("t").unwrap()), ["l", "r"]);
    assert_eq!(ids(graph.successors("s").unwrap()), ["l", "r"]);
    assert_eq!(ids(graph.topological_sort()), ["s", "l", "r", "t"]);
    assert_eq!(graph.implementation("t").unwrap().kind(), "Node");
    assert!(graph.contains("l") && !graph.contains("x"));
    assert_eq!((graph.len(), graph.is_empty(), Graph::new().is_empty()), (4, false, true));
}

#[test]
fn a_refusal_names_what_was_given_and_changes_nothing() {
    let mut graph = diamond();
    let refused = |error: GraphError| (error.to_string(), error.hint().unwrap_or_default());
    for (error, text, hint) in [
        (graph.edge("s", "x").unwrap_err(), "there is no node `x`", "the graph has s, l, r, t"),
        (graph.edge("l", "t").unwrap_err(), "there is an edge `l` -> `t` already", "an edge carries"),
        (
            graph.edge("t", "t").unwrap_err(),
            "the edge `t` -> `t` would close a cycle: `t` -> `t`",
            "a loop around",
        ),
        (graph.node("", node("A")).unwrap_err(), "a node was given an empty name", "derived from the class"),
        (
            graph.node("s", node("A")).unwrap_err(),
            "the name `s` was given twice: to a `Node` and to a `A`",
            "name one of them otherwise",
        ),
        (
            (n("a") >> n("b")).named("both").unwrap_err(),
            "the name `both` was given to a piece of 2 nodes, expected one node",
            "one by one",
        ),
    ] {
        let (said, advice) = refused(error);
        assert_eq!(said, text);
        assert!(advice.contains(hint), "{advice}");
    }
    assert_eq!((graph.len(), graph.edges().len()), (4, 4));
    assert!(refused(Graph::new().edge("a", "b").unwrap_err()).1.contains("add the node first"));
}

#[test]
fn a_long_cycle_is_named_by_its_ends() {
    let mut graph =
        Graph::somatize((1..50).fold(n("n0"), |piece, at| piece >> n(&format!("n{at}")))).unwrap();
    let error = graph.edge("n49", "n0").unwrap_err().to_string();
    assert!(
        error.ends_with(
            "`n0` -> `n1` -> `n2` -> `n3` -> (42 more) -> `n46` -> `n47` -> `n48` -> `n49` -> `n0`"
        ),
        "{error}"
    );
}

#[test]
fn derived_names_skip_those_that_are_taken() {
    let mut graph = Graph::new();
    graph.node("tf_idf_2", node("Other")).unwrap();
    let mut next = || graph.unnamed(node("TfIdf")).unwrap().to_string();
    assert_eq!([next(), next(), next()], ["tf_idf", "tf_idf_3", "tf_idf_4"]);
    assert_eq!(snake_case("TfIdf"), "tf_idf");
}

#[test]
fn the_innermost_device_wins_and_the_last_name() {
    let on = |piece: Expression, device: &str| piece.on(device.parse().unwrap());
    let piece = on(on(n("a"), "cpu") >> on(n("b") | on(n("c"), "meta"), "cuda:0") >> n("d"), "cuda:1");
    let graph = Graph::somatize(piece).unwrap();
    let devices: Vec<String> = graph.devices().iter().map(|(id, device)| format!("{id}@{device}")).collect();
    assert_eq!(devices, ["a@cpu", "b@cuda:0", "c@meta", "d@cuda:1"]);
    let renamed = Graph::somatize(n("first").named("last").unwrap()).unwrap();
    assert_eq!(renamed.nodes(), [Arc::from("last")]);
}

#[test]
fn brackets_do_not_show_in_the_graph() {
    let (one, other) = ((n("a") >> n("b")) >> n("c"), n("a") >> (n("b") >> n("c")));
    let (one, other) = (Graph::somatize(one).unwrap(), Graph::somatize(other).unwrap());
    assert_eq!((one.nodes(), one.edges()), (other.nodes(), other.edges()));
}

#[test]
fn an_expression_survives_its_postfix_form() {
    let piece = n("a") >> (n("b") | n("c").on("meta".parse().unwrap())) >> node("Last");
    let text = format!("{piece:?}");
    assert_eq!(text, "Expression(a >> (b | c@meta) >> Last)");
    let again = Expression::from_tokens(piece.tokens()).unwrap();
    assert_eq!(format!("{again:?}"), text);
    assert!(Expression::from_tokens(piece.tokens().into_iter().skip(1)).is_none());
    assert!(Expression::from_tokens([]).is_none());
}

#[test]
fn a_manifest_is_json_whatever_the_names_are() {
    let mut graph = Graph::new();
    graph.node("a\"\\\n\u{1}é", node("A")).unwrap();
    let manifest = graph.manifest();
    assert!(manifest.contains(r#"{"id": "a\"\\\n\u0001é", "kind": "A", "device": null}"#), "{manifest}");
    assert!(Graph::new().manifest().contains(r#""nodes": [],"#));
}
