//! A graph's topology as JSON.

use std::fmt::Write;

use crate::graph::Graph;

/// The version of the manifest's form; see `docs/formats.md`.
const VERSION: u32 = 1;

impl Graph {
    /// The topology as JSON: nodes with their kind and device, edges, in declaration order. What the
    /// nodes contain is not in it.
    pub fn manifest(&self) -> String {
        let nodes = self.nodes().iter().enumerate().map(|(at, id)| {
            let kind = self.catalog().get(at).map_or("", |node| node.kind());
            let device = match self.device(id) {
                Ok(Some(device)) => json_text(device.as_str()),
                Ok(None) | Err(_) => "null".to_owned(),
            };
            format!(r#"    {{"id": {}, "kind": {}, "device": {device}}}"#, json_text(id), json_text(kind))
        });
        let nodes: Vec<String> = nodes.collect();
        let edges = self.edges().into_iter();
        let edges: Vec<String> =
            edges.map(|(from, to)| format!("    [{}, {}]", json_text(&from), json_text(&to))).collect();
        format!(
            "{{\n  \"format\": \"somatize graph\",\n  \"version\": {VERSION},\n  \"nodes\": [{}],\n  \"edges\": [{}]\n}}\n",
            block(&nodes),
            block(&edges)
        )
    }
}

fn block(lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!("\n{}\n  ", lines.join(",\n")) }
}

/// A JSON string, RFC 8259 section 7.
fn json_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if (control as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", control as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
