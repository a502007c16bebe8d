//! `soma graph`.

use std::io::Write as _;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::process::{command, json, outcome, soma};

pub const DIAMOND: &str = r#"{"format": "somatize graph", "version": 1,
    "nodes": [{"id": "source", "kind": "Source", "device": null}, {"id": "left", "kind": "Left", "device": null},
              {"id": "right", "kind": "Right", "device": "cuda:0"}, {"id": "join", "kind": "Join", "device": null}],
    "edges": [["source", "left"], ["source", "right"], ["left", "join"], ["right", "join"]]}"#;

fn manifest(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("graph.json"), text).unwrap();
    folder
}

#[test]
fn a_manifest_is_drawn_as_mermaid() {
    let folder = manifest(DIAMOND);
    assert_snapshot!(soma(folder.path(), ["graph", "graph.json"]), @r#"
    exit 0
    --- stdout
    flowchart TD
        n0["source<br/>Source"]
        n1["left<br/>Left"]
        n2["right<br/>Right on cuda:0"]
        n3["join<br/>Join"]
        n0 --> n1
        n0 --> n2
        n1 --> n3
        n2 --> n3
    "#);
}

#[test]
fn a_manifest_is_drawn_as_text() {
    let folder = manifest(DIAMOND);
    assert_snapshot!(soma(folder.path(), ["graph", "graph.json", "--format", "text"]), @r"
    exit 0
    --- stdout
    NODE    KIND    DEVICE  FROM
    source  Source
    left    Left            source
    right   Right   cuda:0  source
    join    Join            left, right
    ");
}

#[test]
fn a_manifest_comes_through_stdin() {
    let folder = manifest("");
    let mut child = command(folder.path())
        .args(["graph", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(DIAMOND.as_bytes()).unwrap();
    assert_snapshot!(outcome(&child.wait_with_output().unwrap()), @r#"
    exit 0
    --- stdout
    {"version":1,"verb":"graph","nodes":[{"id":"source","kind":"Source","device":null,"from":[]},{"id":"left","kind":"Left","device":null,"from":["source"]},{"id":"right","kind":"Right","device":"cuda:0","from":["source"]},{"id":"join","kind":"Join","device":null,"from":["left","right"]}],"edges":[["source","left"],["source","right"],["left","join"],["right","join"]]}
    "#);
}

#[test]
fn an_empty_graph_is_a_graph() {
    let folder = manifest(r#"{"format": "somatize graph", "version": 1, "nodes": [], "edges": []}"#);
    assert_snapshot!(soma(folder.path(), ["graph", "graph.json"]), @r"
    exit 0
    --- stdout
    flowchart TD
    ");
    assert_eq!(json(folder.path(), ["graph", "graph.json", "--json"])["nodes"], serde_json::json!([]));
}

#[test]
fn names_with_quotes_and_line_ends_stay_on_their_line() {
    let folder = manifest(
        r#"{"format": "somatize graph", "version": 1, "nodes": [{"id": "a\"]\nb", "kind": "<b>", "device": null}], "edges": []}"#,
    );
    assert_snapshot!(soma(folder.path(), ["graph", "graph.json"]), @r#"
    exit 0
    --- stdout
    flowchart TD
        n0["a#34;]#92;nb<br/>#60;b#62;"]
    "#);
}

#[test]
fn what_is_no_manifest_is_refused_with_what_one_is() {
    for (text, said) in [
        ("{}", "no manifest"),
        ("not json", "no manifest"),
        (r#"{"format": "other", "version": 1, "nodes": [], "edges": []}"#, "is a `other`"),
        (r#"{"format": "somatize graph", "version": 9, "nodes": [], "edges": []}"#, "version 9"),
        (
            r#"{"format": "somatize graph", "version": 1, "nodes": [], "edges": [["a", "b"]]}"#,
            "an edge names `a`",
        ),
        (
            r#"{"format": "somatize graph", "version": 1, "nodes": [{"id": "a"}, {"id": "a"}], "edges": []}"#,
            "two nodes `a`",
        ),
        (
            r#"{"format": "somatize graph", "version": 1, "nodes": [{"id": "a"}], "edges": [["a", "a"]]}"#,
            "cycle",
        ),
    ] {
        let folder = manifest(text);
        let outcome = soma(folder.path(), ["graph", "graph.json"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{text}");
        assert!(outcome.stderr.contains(said), "{said} in {outcome}");
    }
    let folder = manifest("");
    assert_snapshot!(soma(folder.path(), ["graph", "-"]), @r"
    exit 1
    --- stderr
    error: `stdin` is no manifest of a graph: EOF while parsing a value at line 1 column 0
    hint: a manifest is what `Graph.manifest()` answers in Python, written to a file
    ");
    assert_snapshot!(soma(folder.path(), ["graph", "absent.json"]), @r"
    exit 1
    --- stderr
    error: could not read `absent.json`: no such file or directory
    ");
}
