//! The one mapping from the crates' errors to Python's exceptions. The classes live in
//! `somatize/errors.py`, are imported here once, and nothing else chooses one.

use std::fmt::Display;
use std::io;

use pyo3::exceptions::PyOSError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule, PyString};
use soma_store::StoreError;
use soma_study::{PrunerError, SamplerError, SpaceError, StudyError};

use crate::convert::{close_name, listed, shortened};

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

/// A result of a crate, with its error as the Python exception.
pub trait OrRaise<T> {
    /// The value, or the exception to raise.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: IntoPyError> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| error.into_py_error(py))
    }
}

impl IntoPyError for SpaceError {
    fn class(&self) -> &'static str {
        match self {
            Self::UsedUp { .. } => "UsedUpError",
            _ => "SpaceError",
        }
    }

    fn hint(&self) -> Option<String> {
        self.hint()
    }
}

impl IntoPyError for SamplerError {
    fn class(&self) -> &'static str {
        "SamplerError"
    }

    fn hint(&self) -> Option<String> {
        self.hint()
    }
}

impl IntoPyError for PrunerError {
    fn class(&self) -> &'static str {
        "PrunerError"
    }

    fn hint(&self) -> Option<String> {
        self.hint()
    }
}

impl IntoPyError for StoreError {
    fn class(&self) -> &'static str {
        match self {
            Self::NotFound { .. } | Self::NotAStore { .. } => "StoreNotFoundError",
            Self::BlobNotFound { .. } => "BlobNotFoundError",
            Self::BlobDamaged { .. } | Self::Damaged { .. } => "CorruptError",
            Self::BadDigest { .. } => "DigestError",
            _ => "StoreError",
        }
    }

    fn hint(&self) -> Option<String> {
        self.hint()
    }

    fn into_py_error(self, py: Python<'_>) -> PyErr {
        let raised = match &self {
            Self::Io { action, path, source } => os_error(py, action, path, source, self.hint()),
            _ => raise(py, self.class(), &self.to_string(), self.hint()),
        };
        raised.unwrap_or_else(|broken| broken)
    }
}

impl IntoPyError for StudyError {
    fn class(&self) -> &'static str {
        match self {
            Self::Store(source) => source.class(),
            Self::Space(source) => source.class(),
            Self::UnknownStudy { .. } => "StudyNotFoundError",
            Self::UnknownTrial { .. } => "TrialNotFoundError",
            Self::SpaceDiffers { .. } => "SpaceMismatchError",
            Self::GoalDiffers { .. } | Self::NoGoal { .. } => "GoalError",
            Self::CurveDiffers { .. } | Self::NoScore { .. } => "ReportError",
            _ if self.is_refusal() => "OwnershipError",
            _ => "StudyError",
        }
    }

    fn hint(&self) -> Option<String> {
        self.hint()
    }

    fn into_py_error(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Store(source) => source.into_py_error(py),
            _ => raise(py, self.class(), &self.to_string(), self.hint()).unwrap_or_else(|broken| broken),
        }
    }
}

/// What the operating system said stays the `OSError` it is: Python chooses the class by the number.
fn os_error(
    py: Python<'_>,
    action: &str,
    path: &str,
    source: &io::Error,
    hint: Option<String>,
) -> PyResult<PyErr> {
    let os_error = py.get_type::<PyOSError>();
    let raised = match source.raw_os_error() {
        Some(number) => {
            let words: String = py.import("os")?.call_method1("strerror", (number,))?.extract()?;
            os_error.call1((number, format!("could not {action}: {words}"), path))?
        }
        None => os_error.call1((format!("could not {action} `{path}`: {source}"),))?,
    };
    // Printed on a line of its own, where Python has notes (3.11 and later).
    if let Some(hint) = &hint
        && raised.hasattr("add_note")?
    {
        raised.call_method1("add_note", (format!("hint: {hint}"),))?;
    }
    raised.setattr(intern!(py, "hint"), hint)?;
    Ok(PyErr::from_value(raised))
}

/// A `DimensionNotFoundError`: `given` is none of `names`, and `of` is what has those. Its `args` hold what was given,
/// as those of every `KeyError` do.
///
/// # Errors
/// As [`class`].
pub fn no_dimension(given: &Bound<'_, PyAny>, of: &str, names: &[&str]) -> PyResult<PyErr> {
    let py = given.py();
    let (shown, hint) = match given.cast::<PyString>() {
        Ok(name) => (name.to_string(), close_name(py, name.to_str()?, names)?),
        Err(_) => (shortened(given)?, None),
    };
    let expected = match names.len() {
        0 => "expected nothing, as it has no dimensions".to_owned(),
        1 => format!("expected {}", listed(names.iter().copied())),
        _ => format!("expected one of {}", listed(names.iter().copied())),
    };
    key_error(given, &format!("{of} has no `{shown}`, {expected}"), hint)
}

/// A `DimensionNotFoundError`: the dimension `given` is not in this point, as its condition does not hold.
///
/// # Errors
/// As [`class`].
pub fn no_value(given: &Bound<'_, PyAny>, condition: &str) -> PyResult<PyErr> {
    let text = format!("the point has no `{}`, expected it only where {condition}", given.str()?);
    let hint = format!("`point.get({})` is None there", given.repr()?);
    key_error(given, &text, Some(hint))
}

fn key_error(given: &Bound<'_, PyAny>, text: &str, hint: Option<String>) -> PyResult<PyErr> {
    let error = raise(given.py(), "DimensionNotFoundError", text, hint)?;
    error.value(given.py()).setattr(intern!(given.py(), "args"), (given,))?;
    Ok(error)
}

/// A class of `somatize/errors.py`.
///
/// # Errors
/// The package itself is broken: `somatize.errors` cannot be imported or has no such class.
pub fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let classes = CLASSES.get_or_try_init(py, || py.import("somatize.errors").map(Bound::unbind))?;
    classes.bind(py).getattr(name)
}

/// `class(text, hint=hint)`, with `class` the name of one in `somatize/errors.py`.
///
/// # Errors
/// As [`class`].
pub fn raise(py: Python<'_>, name: &str, text: &str, hint: Option<String>) -> PyResult<PyErr> {
    let options = PyDict::new(py);
    options.set_item(intern!(py, "hint"), hint)?;
    Ok(PyErr::from_value(class(py, name)?.call((text,), Some(&options))?))
}
