//! Arguments of the package's own classes, refused in words where they are something else.

use std::ops::Deref;

use pyo3::PyClass;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use soma_study::Goal;

use crate::convert::shortened;
use crate::error::OrRaise;
use crate::point::PyPoint;
use crate::space::PySpace;
use crate::store::PyStore;

/// A class that functions are given objects of.
pub trait Given: PyClass {
    /// How to come by one, in Python, where `text` was given in its place.
    fn made(text: Option<&str>) -> String;
}

impl Given for PyStore {
    fn made(text: Option<&str>) -> String {
        format!("open one with `Store({})`", text.unwrap_or("\"/path\""))
    }
}

impl Given for PySpace {
    fn made(_: Option<&str>) -> String {
        "make one with `Space().real(\"lr\", 1e-4, 1e-1)`".to_owned()
    }
}

impl Given for PyPoint {
    fn made(_: Option<&str>) -> String {
        "make one with `space.point({...})`, or ask one of a sampler, `sampler.ask(space, trial)`".to_owned()
    }
}

/// An argument of the class `T`.
pub struct Arg<'py, T>(Bound<'py, T>);

impl<'py, T> Deref for Arg<'py, T> {
    type Target = Bound<'py, T>;

    fn deref(&self) -> &Bound<'py, T> {
        &self.0
    }
}

impl<'py, T: Given> FromPyObject<'_, 'py> for Arg<'py, T> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(given) = given.cast::<T>() {
            return Ok(Self(given.to_owned()));
        }
        let text = if given.is_instance_of::<PyString>() || given.hasattr("__fspath__")? {
            Some(given.str()?.repr()?.to_string())
        } else {
            None
        };
        let made = T::made(text.as_deref());
        Err(PyTypeError::new_err(format!("{} was given, expected a {}: {made}", named(&given)?, T::NAME)))
    }
}

/// What was given, in few words: a text as it stands, anything else by its class.
pub fn named(given: &Bound<'_, PyAny>) -> PyResult<String> {
    if given.is_instance_of::<PyString>() || given.is_none() {
        return shortened(given);
    }
    if let Ok(class) = given.cast::<PyType>() {
        return Ok(format!("the class `{}`", class.name()?));
    }
    Ok(format!("a `{}`", given.get_type().name()?))
}

/// The argument `goal`: `"min"` or `"max"`.
pub struct Toward(pub Goal);

impl<'py> FromPyObject<'_, 'py> for Toward {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = given.cast::<PyString>() {
            return text.to_str()?.parse().map(Self).or_raise(given.py());
        }
        Err(PyTypeError::new_err(format!(
            "`goal` was given {}, expected \"min\" or \"max\", as a study has one score",
            shortened(&given)?
        )))
    }
}
