//! `soma graph`: a graph drawn from its manifest, which is all that is needed of it.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::args::{self, Drawing};
use crate::escape;
use crate::failure::Failure;
use crate::output::{Output, Tone, Words};
use crate::table::{Cells, Column, Table};

/// What a manifest says it is.
const FORMAT: &str = "somatize graph";
/// The newest version that is read here; see `docs/formats.md`.
const VERSION: u32 = 1;

/// What a manifest of any version begins with.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

/// A graph's topology as `Graph.manifest()` writes it.
#[derive(Deserialize)]
struct Manifest {
    nodes: Vec<Node>,
    edges: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    #[serde(default)]
    kind: String,
    device: Option<String>,
}

/// The `--json` shape.
#[derive(Serialize)]
struct Drawn<'a> {
    /// In an order in which they can run.
    nodes: Vec<DrawnNode<'a>>,
    edges: &'a [(String, String)],
}

#[derive(Serialize)]
struct DrawnNode<'a> {
    id: &'a str,
    kind: &'a str,
    device: Option<&'a str>,
    from: Vec<&'a str>,
}

/// A manifest that holds together.
struct Topology {
    manifest: Manifest,
    /// Per node the nodes before it, in edge order.
    before: Vec<Vec<usize>>,
    /// The edges, by place.
    edges: Vec<(usize, usize)>,
    /// The nodes in an order in which they can run.
    order: Vec<usize>,
}

pub fn run(arguments: &args::Graph, output: &mut Output, words: &Words) -> Result<(), Failure> {
    let is_stdin = arguments.manifest.as_os_str() == "-";
    let name = if is_stdin { "stdin".into() } else { arguments.manifest.to_string_lossy() };
    let text = read(&arguments.manifest, is_stdin).map_err(|error| Failure::file("read", &name, &error))?;
    let graph = Topology::parse(&text, &escape::name(&name))?;
    if arguments.json {
        return output.json("graph", &graph.drawn());
    }
    match arguments.format {
        Drawing::Mermaid => output.write_all(graph.mermaid().as_bytes())?,
        Drawing::Text => graph.table().write(output, words)?,
    }
    Ok(())
}

fn read(manifest: &Path, is_stdin: bool) -> io::Result<Vec<u8>> {
    if !is_stdin {
        return std::fs::read(manifest);
    }
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text)?;
    Ok(text)
}

impl Topology {
    fn parse(text: &[u8], file: &str) -> Result<Self, Failure> {
        let hint = "a manifest is what `Graph.manifest()` answers in Python, written to a file";
        let no_manifest =
            |error| Failure::hinted(format!("`{file}` is no manifest of a graph: {error}"), hint);
        let head: Head = serde_json::from_slice(text).map_err(no_manifest)?;
        if head.format != FORMAT {
            let given = escape::name(&head.format);
            return Err(Failure::hinted(format!("`{file}` is a `{given}`, expected a `{FORMAT}`"), hint));
        }
        if head.version > VERSION {
            return Err(Failure::hinted(
                format!("`{file}` has version {}, expected {VERSION} or less", head.version),
                "install a newer soma",
            ));
        }
        let manifest: Manifest = serde_json::from_slice(text).map_err(no_manifest)?;
        let damaged = |what: String| Failure::told(format!("`{file}` is no graph: {what}"));
        let mut places = HashMap::with_capacity(manifest.nodes.len());
        for (at, node) in manifest.nodes.iter().enumerate() {
            if places.insert(node.id.as_str(), at).is_some() {
                return Err(damaged(format!("it has two nodes `{}`", escape::name(&node.id))));
            }
        }
        let place = |id: &String| {
            let missing =
                || damaged(format!("an edge names `{}`, which is not among its nodes", escape::name(id)));
            places.get(id.as_str()).copied().ok_or_else(missing)
        };
        let mut before = vec![Vec::new(); manifest.nodes.len()];
        let mut edges = Vec::with_capacity(manifest.edges.len());
        for (from, to) in &manifest.edges {
            let (from, to) = (place(from)?, place(to)?);
            before[to].push(from);
            edges.push((from, to));
        }
        let order = order(manifest.nodes.len(), &edges);
        if order.len() < manifest.nodes.len() {
            return Err(damaged("its edges close a cycle".to_owned()));
        }
        Ok(Self { manifest, before, edges, order })
    }

    fn drawn(&self) -> Drawn<'_> {
        let id = |at: usize| self.manifest.nodes[at].id.as_str();
        let nodes = self.order.iter().map(|&at| {
            let node = &self.manifest.nodes[at];
            let from = self.before[at].iter().map(|&from| id(from)).collect();
            DrawnNode { id: &node.id, kind: &node.kind, device: node.device.as_deref(), from }
        });
        Drawn { nodes: nodes.collect(), edges: &self.manifest.edges }
    }

    /// A flowchart; nodes are numbered, since Mermaid takes few characters in an id and any in a label.
    fn mermaid(&self) -> String {
        let mut text = String::from("flowchart TD\n");
        for (at, node) in self.manifest.nodes.iter().enumerate() {
            let _ = write!(text, "    n{at}[\"{}", label(&node.id));
            let kind = Some(node.kind.as_str()).filter(|kind| !kind.is_empty());
            let below: Vec<String> = kind.into_iter().chain(node.device.as_deref()).map(label).collect();
            if !below.is_empty() {
                let _ = write!(text, "<br/>{}", below.join(" on "));
            }
            text.push_str("\"]\n");
        }
        for (from, to) in &self.edges {
            let _ = writeln!(text, "    n{from} --> n{to}");
        }
        text
    }

    fn table(&self) -> Table {
        let columns = [("NODE", 0), ("KIND", 2), ("DEVICE", 3), ("FROM", 1)];
        let mut table = Table::new(columns.map(|(title, rank)| Column::new(title, Cells::Words, rank)));
        for node in self.drawn().nodes {
            let from: Vec<_> = node.from.iter().map(|id| escape::name(id)).collect();
            table
                .cell(Tone::Strong, &escape::name(node.id))
                .cell(Tone::Plain, &escape::name(node.kind))
                .cell(Tone::Live, &escape::name(node.device.unwrap_or_default()))
                .cell(Tone::Quiet, &from.join(", "));
        }
        table
    }
}

/// An order in which the nodes can run, the declared one where there is a choice; short where there is a cycle.
fn order(n_nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut missing = vec![0_usize; n_nodes];
    let mut after = vec![Vec::new(); n_nodes];
    for &(from, to) in edges {
        missing[to] += 1;
        after[from].push(to);
    }
    let mut ready: BTreeSet<usize> = (0..n_nodes).filter(|at| missing[*at] == 0).collect();
    let mut order = Vec::with_capacity(n_nodes);
    while let Some(at) = ready.pop_first() {
        order.push(at);
        for &to in &after[at] {
            missing[to] -= 1;
            if missing[to] == 0 {
                ready.insert(to);
            }
        }
    }
    order
}

/// Text inside a Mermaid label: what Mermaid or HTML would read goes in as an entity code.
fn label(text: &str) -> String {
    let mut label = String::with_capacity(text.len());
    for c in escape::name(text).chars() {
        match c {
            '"' | '#' | '&' | '<' | '>' | '`' | ';' | '\\' => {
                let _ = write!(label, "#{};", u32::from(c));
            }
            c => label.push(c),
        }
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_runs_and_keeps_to_the_declared_one() {
        assert_eq!(order(4, &[(0, 2), (1, 2), (2, 3)]), [0, 1, 2, 3]);
        assert_eq!(order(3, &[(2, 0), (0, 1)]), [2, 0, 1]);
        assert_eq!(order(2, &[(0, 1), (1, 0)]), [] as [usize; 0]);
    }

    #[test]
    fn a_label_holds_anything() {
        assert_eq!(label("a\"b<br>"), "a#34;b#60;br#62;");
        assert_eq!(label("a\nb"), "a#92;nb");
    }
}
