//! The one mapping from the crates' errors to Python's exceptions. The classes live in
//! `somatize/errors.py`, are imported here once, and nothing else chooses one.

use std::fmt::Display;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule};

static CLASSES: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// An error of a crate that becomes a Python exception.
pub trait IntoPyError: Display {
    /// The name of its class in `somatize/errors.py`; a match ends in the parent class.
    fn class(&self) -> &'static str;

    /// What to do about it, printed on a line of its own and kept as `.hint`.
    fn hint(&self) -> Option<String>;

    /// The exception. The default builds `class(text, hint=hint)`.
    fn into_py_error(self, py: Python<'_>) -> PyErr
    where
        Self: Sized,
    {
        let raised = raise(py, self.class(), &self.to_string(), self.hint());
        raised.unwrap_or_else(|broken| broken)
    }
}

/// `class(text, hint=hint)`, with `class` the name of one in `somatize/errors.py`.
///
/// # Errors
/// The package itself is broken: `somatize.errors` cannot be imported or has no such class.
pub fn raise(py: Python<'_>, class: &str, text: &str, hint: Option<String>) -> PyResult<PyErr> {
    let classes = CLASSES.get_or_try_init(py, || py.import("somatize.errors").map(Bound::unbind))?;
    let options = PyDict::new(py);
    options.set_item(intern!(py, "hint"), hint)?;
    let raised = classes.bind(py).getattr(class)?.call((text,), Some(&options))?;
    Ok(PyErr::from_value(raised))
}
