//! `Plan`: the compiled order of a graph, to be looked at.

use std::sync::Arc;

use pyo3::prelude::*;
use soma_core::{Plan, Source};

/// The compiled order of a graph: what runs after what, and what at the same time.
///
/// Prints one step a line, indented below what it belongs to. Two plans are equal when they have the same
/// steps over the same names.
#[pyclass(name = "Plan", module = "somatize", frozen, eq)]
#[derive(PartialEq)]
pub struct PyPlan(pub Arc<Plan>);

/// Depth, kind, node, and where the node's input comes from.
type Row = (usize, &'static str, Option<String>, Option<Vec<String>>);

#[pymethods]
impl PyPlan {
    /// `"empty"`, `"execute"`, `"sequence"` or `"wave"`.
    #[getter]
    fn kind(&self) -> &'static str {
        match *self.0 {
            Plan::Empty => "empty",
            Plan::Execute { .. } => "execute",
            Plan::Sequence(_) => "sequence",
            Plan::Wave(_) => "wave",
        }
    }

    /// The ids, in the order a single worker runs them.
    fn nodes(&self) -> Vec<String> {
        self.0.nodes().into_iter().map(ToString::to_string).collect()
    }

    /// One row per step, parents first: its depth, its kind, its node and where that node's input comes
    /// from (None for a sequence or a wave, an empty list for the graph's input).
    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        self.0.walk(|depth, plan| {
            rows.push(match plan {
                Plan::Empty => (depth, "empty", None, None),
                Plan::Execute { node, from } => {
                    let from = match from {
                        Source::Input => Vec::new(),
                        Source::Node(from) => vec![from.to_string()],
                        Source::Nodes(from) => from.iter().map(ToString::to_string).collect(),
                    };
                    (depth, "execute", Some(node.to_string()), Some(from))
                }
                Plan::Sequence(_) => (depth, "sequence", None, None),
                Plan::Wave(_) => (depth, "wave", None, None),
            });
        });
        rows
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    fn __len__(&self) -> usize {
        self.0.nodes().len()
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPlan>()
}
