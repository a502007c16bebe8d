//! Values that cross: options and numbers in, scalars out.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use soma_study::Scalar;

use crate::error::raise;

/// A scalar as the Python value of its type.
pub fn scalar_to_py<'py>(py: Python<'py>, scalar: &Scalar) -> PyResult<Bound<'py, PyAny>> {
    Ok(match scalar {
        Scalar::Null => py.None().into_bound(py),
        Scalar::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Scalar::Int(value) => value.into_pyobject(py)?.into_any(),
        Scalar::Float(value) => PyFloat::new(py, *value).into_any(),
        Scalar::Text(value) => PyString::new(py, value).into_any(),
    })
}

/// A value of a point or an option of a choice, for the dimension `name`. Numbers of other libraries (a numpy
/// scalar) count as the int or float they are.
///
/// # Errors
/// `SpaceError` for any other type, and for an int of more than 64 bits.
pub fn scalar_from_py(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if value.is_none() {
        return Ok(Scalar::Null);
    }
    // A bool is an int to Python: it is looked at first.
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Scalar::Bool(value.is_true()));
    }
    if let Ok(value) = value.cast::<PyString>() {
        return Ok(Scalar::Text(value.to_str()?.to_owned()));
    }
    if value.is_instance_of::<PyInt>() {
        return int_from_py(name, "", value).map(Scalar::Int);
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Scalar::Float(value.extract()?));
    }
    // A scalar of numpy, torch or jax knows which of Python's it is: a bool of theirs is neither an int nor a float.
    if let Ok(own) = value.call_method0(intern!(value.py(), "item"))
        && !own.get_type().is(value.get_type())
    {
        return scalar_from_py(name, &own);
    }
    if value.hasattr(intern!(value.py(), "__index__"))? {
        return int_from_py(name, "", value).map(Scalar::Int);
    }
    if value.hasattr(intern!(value.py(), "__float__"))? {
        return Ok(Scalar::Float(value.extract()?));
    }
    let (text, kind) = (value.repr()?, value.get_type().name()?);
    Err(raise(
        value.py(),
        "SpaceError",
        &format!("`{name}` was given {text}, a {kind}, expected a str, bool, int, float or None"),
        Some("give each one a word, and look the value up in a dict by that word".to_owned()),
    )?)
}

/// A curve: any sequence of numbers, of whatever library.
pub struct Reals(pub Vec<f64>);

impl<'py> FromPyObject<'_, 'py> for Reals {
    type Error = PyErr;

    fn extract(values: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(values) = values.cast::<PyList>() {
            let mut reals = Vec::with_capacity(values.len());
            for (at, value) in values.iter().enumerate() {
                reals.push(real_at(at, &value)?);
            }
            return Ok(Self(reals));
        }
        let is_text = values.is_instance_of::<PyString>() || values.is_instance_of::<PyDict>();
        // What has no length can be walked once, and a curve is given whole each time.
        if is_text || values.len().is_err() {
            return Err(PyTypeError::new_err(format!(
                "a curve was given as {}, expected a list of numbers, one per report",
                shortened(&values)?
            )));
        }
        let reals = values.try_iter()?.enumerate().map(|(at, value)| real_at(at, &value?));
        reals.collect::<PyResult<_>>().map(Self)
    }
}

/// The report at an index of a curve.
fn real_at(at: usize, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract().map_err(|error: PyErr| {
        if !error.is_instance_of::<PyTypeError>(value.py()) {
            return error;
        }
        let given = shortened(value).unwrap_or_default();
        PyTypeError::new_err(format!("report {} of a curve was given as {given}, expected a number", at + 1))
    })
}

/// How Python shows a value, cut where it is long.
pub fn shortened(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = value.repr()?.to_string();
    Ok(if text.chars().count() > 80 { text.chars().take(77).chain("...".chars()).collect() } else { text })
}

/// The number of a trial.
pub struct TrialNumber(pub u64);

impl<'py> FromPyObject<'_, 'py> for TrialNumber {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        value.extract().map(Self).map_err(|error: PyErr| {
            if !error.is_instance_of::<PyOverflowError>(value.py()) {
                return error;
            }
            let given = shortened(&value).unwrap_or_default();
            PyValueError::new_err(format!(
                "`trial` was given {given}, expected a whole number from 0 to 2^64-1"
            ))
        })
    }
}

/// A whole number for the dimension `name`; `what` names the bound it is (`low `), or is empty.
///
/// # Errors
/// `SpaceError` for what is no whole number or has more than 64 bits.
pub fn int_from_py(name: &str, what: &str, value: &Bound<'_, PyAny>) -> PyResult<i64> {
    match value.extract() {
        Ok(value) => Ok(value),
        Err(_) => Err(raise(
            value.py(),
            "SpaceError",
            &format!("`{name}` was given {what}{}, expected a whole number of 64 bits", value.repr()?),
            value.is_instance_of::<PyFloat>().then(|| {
                format!("round it, or declare numbers with a fraction: `.real(\"{name}\", low, high)`")
            }),
        )?),
    }
}

/// A number for the dimension `name`; `what` names the bound it is (`low `), or is empty.
///
/// # Errors
/// `SpaceError` for what is no number.
pub fn real_from_py(name: &str, what: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    match value.extract() {
        Ok(value) => Ok(value),
        Err(_) => Err(raise(
            value.py(),
            "SpaceError",
            &format!("`{name}` was given {what}{}, expected a number", value.repr()?),
            None,
        )?),
    }
}

/// The options of a choice. A single str is refused, as it would be taken apart into its letters.
///
/// # Errors
/// `SpaceError` for an option of another type, and for what is no list.
pub fn options_from_py(name: &str, options: &Bound<'_, PyAny>) -> PyResult<Vec<Scalar>> {
    let several = options.try_iter();
    if options.is_instance_of::<PyString>() || several.is_err() {
        let given = shortened(options)?;
        let text = format!("`{name}` was given {given}, expected a list of options");
        let hint = Some(format!("put what it may be in a list, with brackets: `[{given}, ...]`"));
        return Err(raise(options.py(), "SpaceError", &text, hint)?);
    }
    several?.map(|option| scalar_from_py(name, &option?)).collect()
}

/// `when=("opt", "sgd")` or `when=("opt", ["sgd", "adam"])`.
///
/// # Errors
/// `TypeError` for anything but a pair whose first member is a str.
pub fn when_from_py(name: &str, when: &Bound<'_, PyAny>) -> PyResult<(String, Vec<Scalar>)> {
    let Ok((parent, value)) = when.extract::<(String, Bound<'_, PyAny>)>() else {
        return Err(PyTypeError::new_err(format!(
            "`when` of `{name}` was given {}, expected a pair: the name of a dimension, and its value or values",
            when.repr()?
        )));
    };
    let is_several = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    let values =
        if is_several { options_from_py(name, &value)? } else { vec![scalar_from_py(name, &value)?] };
    Ok((parent, values))
}

/// The name most like `given`, as a hint; None when none is like it.
pub fn close_name<'py>(
    py: Python<'py>,
    given: &str,
    names: impl IntoPyObject<'py>,
) -> PyResult<Option<String>> {
    let close = py.import("difflib")?.call_method1("get_close_matches", (given, names, 1))?;
    Ok(close.extract::<Vec<String>>()?.pop().map(|close| format!("did you mean `{close}`?")))
}

/// At most twelve names in backticks; the rest is counted.
pub fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<String> = names.take(SHOWN).map(|name| format!("`{name}`")).collect();
    shown.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

/// A text `name(option=value,...)`, as samplers and rules print themselves, as a name and keyword arguments.
pub fn call_from_text<'py>(py: Python<'py>, text: &str) -> PyResult<(String, Bound<'py, PyDict>)> {
    let (name, options) = text.trim_end_matches(')').split_once('(').unwrap_or((text, ""));
    let arguments = PyDict::new(py);
    for (option, value) in options.split(',').filter_map(|one| one.split_once('=')) {
        match (value.parse::<u64>(), value.parse::<f64>(), value.parse::<bool>()) {
            (Ok(number), ..) => arguments.set_item(option, number)?,
            (_, Ok(number), _) => arguments.set_item(option, number)?,
            (.., Ok(truth)) => arguments.set_item(option, truth)?,
            _ => arguments.set_item(option, value)?,
        }
    }
    Ok((name.to_owned(), arguments))
}

/// `Class.name(option=value, ...)`.
pub fn call_in_words(class: &str, name: &str, arguments: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut words = Vec::new();
    for (option, value) in arguments {
        words.push(format!("{option}={}", value.repr()?));
    }
    Ok(format!("{class}.{name}({})", words.join(", ")))
}
