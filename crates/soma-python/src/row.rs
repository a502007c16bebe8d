//! The rows of what the readers of a study answer: each reads like a dict and like an object.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use pyo3::{IntoPyObjectExt, intern};
use soma_study::{Abandoned, Goal, Observation, Trial};

use crate::point::PyPoint;

/// A trial as a sampler sees it; reads like a dict and like an object.
///
/// Attributes:
///     trial: The trial's number.
///     point: Where it looked.
///     score: What it is ranked by, always finite; None while it runs.
#[pyclass(name = "Observation", module = "somatize.study", frozen, mapping)]
pub struct PyObservation(pub Observation);

/// One attempt at one trial; reads like a dict and like an object.
///
/// Attributes:
///     trial: The trial's number, from 0.
///     attempt: How many attempts came before this one.
///     state: `RUNNING`, `DONE`, `PRUNED` or `FAILED`.
///     point: Where it looked; None where the record of its taking is damaged or was never written.
///     score: What a trial that ran to the end is ranked by; the last report of a pruned one, never ranked.
///     who: Who took it.
///     goal: `"min"` or `"max"`; None where nobody said.
///     because: Why it was pruned, or failed.
///     took_secs: Seconds from taking it to its last report; None while it runs.
///     reports: Values reported so far. Not among the keys.
///     space_version: Which version of the study's space its point was written with, from 1. Not among the keys.
///     is_discarded: Whether somebody took it out of the study. Not among the keys.
#[pyclass(name = "Trial", module = "somatize.study", frozen, mapping)]
pub struct PyTrial(pub Trial);

/// A trial whose process ended without saying how it went; reads like a dict and like an object.
///
/// Attributes:
///     trial: The trial's number.
///     attempt: The last attempt, which fell silent.
///     point: Where it looked; None where the process ended between claiming the trial and saying so.
///     who: Who took it; empty where that is not recorded.
#[pyclass(name = "Abandoned", module = "somatize.study", frozen, mapping)]
pub struct PyAbandoned(pub Abandoned);

/// The members of a row by name: a mapping of them, and getters.
macro_rules! row {
    ($class:ident, $name:literal, [$($key:ident: $type:ty = $value:expr;)*], { $($more:tt)* }) => {
        impl $class {
            const KEYS: &[&'static str] = &[$(stringify!($key)),*];

            fn find<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
                match key {
                    $(stringify!($key) => self.$key().into_bound_py_any(py).map(Some),)*
                    _ => Ok(None),
                }
            }

            fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                let dict = PyDict::new(py);
                $(dict.set_item(intern!(py, stringify!($key)), self.$key())?;)*
                Ok(dict)
            }
        }

        #[pymethods]
        impl $class {
            $(
                #[getter]
                fn $key(&self) -> $type {
                    let get: fn(&Self) -> $type = $value;
                    get(self)
                }
            )*

            fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                let name: Option<&str> = key.cast::<PyString>().ok().and_then(|key| key.to_str().ok());
                let found = name.map(|name| self.find(key.py(), name)).transpose()?.flatten();
                found.ok_or_else(|| PyKeyError::new_err((key.clone().unbind(),)))
            }

            /// The value of `key`, or `default` where there is no such key.
            #[pyo3(signature = (key, default = None))]
            fn get<'py>(
                &self,
                py: Python<'py>,
                key: &str,
                default: Option<Bound<'py, PyAny>>,
            ) -> PyResult<Option<Bound<'py, PyAny>>> {
                Ok(self.find(py, key)?.or(default))
            }

            /// The names of the members.
            fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.to_dict(py)?.call_method0("keys")
            }

            /// The members.
            fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.to_dict(py)?.call_method0("values")
            }

            /// Pairs of name and member.
            fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.to_dict(py)?.call_method0("items")
            }

            fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                PyTuple::new(py, Self::KEYS)?.call_method0("__iter__")
            }

            fn __len__(&self) -> usize {
                Self::KEYS.len()
            }

            fn __contains__(&self, key: &Bound<'_, PyAny>) -> bool {
                key.extract::<&str>().is_ok_and(|key| Self::KEYS.contains(&key))
            }

            fn __eq__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<bool> {
                match (other.cast::<Self>(), other.cast::<PyDict>()) {
                    (Ok(other), _) => Ok(self.0 == other.get().0),
                    (_, Ok(other)) => self.to_dict(py)?.eq(other),
                    _ => Ok(false),
                }
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let mut members = Vec::new();
                for (key, value) in self.to_dict(py)? {
                    members.push(format!("{key}={}", value.repr()?));
                }
                Ok(format!("{}({})", $name, members.join(", ")))
            }

            $($more)*
        }
    };
}

row!(PyObservation, "Observation", [
    trial: u64 = |row| row.0.trial;
    point: PyPoint = |row| PyPoint(row.0.point.clone());
    score: Option<f64> = |row| row.0.score;
], {});

row!(PyTrial, "Trial", [
    trial: u64 = |row| row.0.trial;
    attempt: u32 = |row| row.0.attempt;
    state: &'static str = |row| row.0.state.as_str();
    point: Option<PyPoint> = |row| row.0.point.clone().map(PyPoint);
    score: Option<f64> = |row| row.0.score;
    who: String = |row| row.0.who.to_string();
    goal: Option<&'static str> = |row| row.0.goal.map(Goal::as_str);
    because: Option<String> = |row| row.0.because.as_deref().map(str::to_owned);
    took_secs: Option<f64> = |row| row.0.took_secs;
], {
    #[getter]
    fn reports(&self) -> usize {
        self.0.reports
    }

    #[getter]
    fn space_version(&self) -> u32 {
        self.0.space_version
    }

    #[getter]
    fn is_discarded(&self) -> bool {
        self.0.is_discarded
    }
});

row!(PyAbandoned, "Abandoned", [
    trial: u64 = |row| row.0.trial;
    attempt: u32 = |row| row.0.attempt;
    point: Option<PyPoint> = |row| row.0.point.clone().map(PyPoint);
    who: String = |row| row.0.who.clone();
], {});

/// Puts the classes into the module, and makes them `collections.abc.Mapping`s.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyObservation>()?;
    module.add_class::<PyTrial>()?;
    module.add_class::<PyAbandoned>()?;
    let mapping = module.py().import("collections.abc")?.getattr("Mapping")?;
    for row in ["Observation", "Trial", "Abandoned"] {
        mapping.call_method1("register", (module.getattr(row)?,))?;
    }
    Ok(())
}
