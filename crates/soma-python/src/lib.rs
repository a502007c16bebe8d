//! Module `somatize._somatize`: the native half of the Python package. It converts, enters the crates
//! and wraps what comes back; a decision that is not about Python belongs in the crate it concerns.

#![expect(
    clippy::doc_markdown,
    clippy::doc_link_with_quotes,
    reason = "a class's documentation is its Python docstring, in Google's style"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "arguments arrive as owned values, converted from Python's"
)]

mod answer;
mod carried;
mod convert;
mod defaults;
mod device;
mod enter;
mod error;
mod expression;
mod given;
mod graph;
mod history;
mod host;
mod node;
mod plan;
mod point;
mod print;
mod pruner;
mod row;
mod sampler;
mod space;
mod store;
mod study;

use pyo3::prelude::*;

/// The native half of somatize.
#[pymodule]
fn _somatize(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    store::register(module)?;
    space::register(module)?;
    point::register(module)?;
    history::register(module)?;
    row::register(module)?;
    sampler::register(module)?;
    pruner::register(module)?;
    study::register(module)?;
    defaults::register(module)?;
    answer::register(module)?;
    expression::register(module)?;
    plan::register(module)?;
    graph::register(module)?;
    Ok(())
}
