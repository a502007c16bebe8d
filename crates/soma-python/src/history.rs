//! What the readers of a study answer: sequences of rows, backed by the study's own snapshots.

use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyMapping, PySlice, PyString, PyTuple};
use pyo3::{IntoPyObjectExt, intern};
use soma_study::{
    Abandoned, Curve, Curves, Goal, History, Observation, Point, Rows, Space, State, Trial, Trials,
};

use crate::point::PyPoint;

/// Rows that a printed sequence shows before it says how many more there are.
const SHOWN_ROWS: usize = 20;
/// Values of a curve that its row shows.
const SHOWN_REPORTS: usize = 8;

/// A row that becomes a Python object of its own.
trait ToPy {
    fn to_py<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
}

impl ToPy for Observation {
    fn to_py<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(py, PyObservation(self.clone()))?.into_any())
    }
}

impl ToPy for Curve {
    fn to_py<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.values.iter())?.into_any())
    }
}

impl ToPy for Trial {
    fn to_py<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(py, PyTrial(self.clone()))?.into_any())
    }
}

/// `rows[index]` and `rows[from:to:step]`; a slice is a sequence of the same class, made by `wrap`.
fn item<'py, T: ToPy + Clone>(
    rows: &Rows<T>,
    index: &Bound<'py, PyAny>,
    wrap: impl FnOnce(Rows<T>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let len = rows.len() as isize;
    if let Ok(slice) = index.cast::<PySlice>() {
        let range = slice.indices(len)?;
        let chosen = (0..range.slicelength as isize).map(|i| (range.start + i * range.step) as usize);
        return wrap(chosen.map(|i| rows[i].clone()).collect());
    }
    let place: isize = index.extract()?;
    let from_start = if place < 0 { place + len } else { place };
    match usize::try_from(from_start).ok().and_then(|place| rows.get(place)) {
        Some(row) => row.to_py(index.py()),
        None => Err(PyIndexError::new_err(format!("row {place} of {len}"))),
    }
}

/// What a sampler is given: a history as it is, nothing, or any iterable of `(point, score)`, of rows of
/// `finished` and `trials`, or of mappings with the keys `point` and `score`.
pub fn history_from_py(space: &Space, history: Option<&Bound<'_, PyAny>>) -> PyResult<History> {
    let Some(history) = history else { return Ok(History::new()) };
    if let Ok(history) = history.cast::<PyHistory>() {
        return Ok(history.get().0.clone());
    }
    let mut rows = Vec::new();
    for (row, trial) in history.try_iter()?.zip(0..) {
        rows.push(observation_from_py(space, trial, &row?)?);
    }
    Ok(rows.into_iter().collect())
}

fn observation_from_py(space: &Space, trial: u64, row: &Bound<'_, PyAny>) -> PyResult<Observation> {
    if let Ok(row) = row.cast::<PyObservation>() {
        return Ok(row.get().0.clone());
    }
    let (point, score): (Bound<'_, PyAny>, Option<f64>) = match row.cast::<PyMapping>() {
        Ok(row) => (row.get_item("point")?, row.get_item("score")?.extract()?),
        Err(_) => row.extract()?,
    };
    let point = match point.cast::<PyPoint>() {
        Ok(point) => point.get().0.clone(),
        Err(_) => PyPoint::build(space, &point)?.0,
    };
    Ok(Observation { trial, point, score })
}

/// What a pruner is given: curves as they are, or any iterable of sequences of floats.
pub fn curves_from_py(curves: Option<&Bound<'_, PyAny>>) -> PyResult<Curves> {
    let Some(curves) = curves else { return Ok(Curves::new()) };
    if let Ok(curves) = curves.cast::<PyCurves>() {
        return Ok(curves.get().0.clone());
    }
    let mut rows = Vec::new();
    for (values, trial) in curves.try_iter()?.zip(0..) {
        rows.push(Curve { trial, values: values?.extract::<Vec<f64>>()?.into() });
    }
    Ok(rows.into_iter().collect())
}

/// The row at an index as a Python object; None past the end.
type RowAt = Box<dyn Fn(Python<'_>, usize) -> PyResult<Option<Py<PyAny>>> + Send + Sync>;

/// An iterator over any of the sequences.
#[pyclass(frozen)]
struct RowIterator {
    next: AtomicUsize,
    row: RowAt,
}

#[pymethods]
impl RowIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        (self.row)(py, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

/// What every sequence does; `$more` are the methods that only this one has.
macro_rules! sequence {
    ($(#[$doc:meta])* $class:ident, $name:literal, $rows:ty, { $($more:tt)* }) => {
        $(#[$doc])*
        #[pyclass(name = $name, module = "somatize.study", frozen, sequence)]
        pub struct $class(pub $rows);

        #[pymethods]
        impl $class {
            fn __len__(&self) -> usize {
                self.0.len()
            }

            fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                item(&self.0, index, |rows| Ok(Bound::new(index.py(), Self(rows))?.into_any()))
            }

            fn __iter__(&self) -> RowIterator {
                let rows = self.0.clone();
                RowIterator {
                    next: AtomicUsize::new(0),
                    row: Box::new(move |py, index| {
                        rows.get(index).map(|row| row.to_py(py).map(Bound::unbind)).transpose()
                    }),
                }
            }

            /// These rows, then those of another sequence of the same kind.
            fn __add__(&self, other: &Bound<'_, Self>) -> Self {
                Self(self.0.concat(&other.get().0))
            }

            fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
                other.cast::<Self>().is_ok_and(|other| self.0 == other.get().0)
            }

            fn __repr__(&self) -> String {
                as_text($name, &self.0)
            }

            fn _repr_html_(&self) -> String {
                as_html($name, &self.0)
            }

            /// The rows as a stream of Arrow record batches, which data frames read without a copy of their own:
            /// `polars.DataFrame(rows)`. The schema is the rows' own; a requested one is not followed, as the
            /// protocol allows.
            #[pyo3(signature = (requested_schema = None))]
            fn __arrow_c_stream__<'py>(
                &self,
                py: Python<'py>,
                requested_schema: Option<Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyCapsule>> {
                drop(requested_schema);
                let rows = self.0.clone();
                stream(py, py.detach(move || rows.to_arrow()))
            }

            $($more)*
        }
    };
}

sequence!(
    /// The trials that ran to the end (`finished`), or those under way (`in_flight`), in trial order: what a
    /// sampler is given. A row has `trial`, `point` and `score`.
    ///
    /// A snapshot, backed by the study's own records: taking it, joining two with `+`, and handing it to
    /// `Sampler.ask` convert nothing. `polars.DataFrame(rows)` reads it as Arrow.
    PyHistory, "History", History, {}
);

sequence!(
    /// The curves of the trials that ran to the end, in trial order: what a pruner is given. A row is a list of
    /// floats, one per report.
    ///
    /// A snapshot, backed by the study's own records: handing it to `Pruner.verdict` converts nothing.
    PyCurves, "Curves", Curves, {
        /// The number of each curve's trial, in the same order.
        #[getter]
        fn trials(&self) -> Vec<u64> {
            self.0.iter().map(|curve| curve.trial).collect()
        }
    }
);

sequence!(
    /// Every attempt of every trial, in order of trial and attempt. A row is a `Trial`.
    ///
    /// A snapshot, backed by the study's own records. `polars.DataFrame(rows)` reads it as Arrow.
    PyTrials, "Trials", Trials, {
        /// How many trials stand where, by state; each counts once, by its result or else its last attempt.
        fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
            let counted = PyDict::new(py);
            for (state, n) in counts(&self.0) {
                counted.set_item(state.as_str(), n)?;
            }
            Ok(counted)
        }
    }
);

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

/// A row in print.
trait Printed {
    const HEADS: &[&'static str];

    fn cells(&self) -> Vec<String>;

    /// What is said of all of them, after their number.
    fn summary(_rows: &Rows<Self>) -> String
    where
        Self: Sized,
    {
        String::new()
    }
}

impl Printed for Observation {
    const HEADS: &[&'static str] = &["trial", "score", "point"];

    fn cells(&self) -> Vec<String> {
        vec![self.trial.to_string(), self.score.map(short).unwrap_or_default(), self.point.to_string()]
    }
}

impl Printed for Curve {
    const HEADS: &[&'static str] = &["trial", "reports", "curve"];

    fn cells(&self) -> Vec<String> {
        let shown: Vec<String> = self.values.iter().take(SHOWN_REPORTS).map(|value| short(*value)).collect();
        let more = if self.values.len() > SHOWN_REPORTS { " ..." } else { "" };
        vec![self.trial.to_string(), self.values.len().to_string(), shown.join(" ") + more]
    }
}

impl Printed for Trial {
    const HEADS: &[&'static str] = &["trial", "attempt", "state", "score", "point", "because"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.trial.to_string(),
            self.attempt.to_string(),
            self.state.to_string(),
            self.score.map(short).unwrap_or_default(),
            self.point.as_ref().map(Point::to_string).unwrap_or_default(),
            self.because.as_deref().unwrap_or_default().to_owned(),
        ]
    }

    fn summary(rows: &Rows<Self>) -> String {
        let counted = counts(rows);
        let said = counted.iter().filter(|(_, n)| *n > 0).map(|(state, n)| format!("{n} {state}"));
        said.collect::<Vec<_>>().join(", ")
    }
}

/// How many trials stand where, each by its result or else its last attempt.
fn counts(rows: &Trials) -> [(State, usize); State::ALL.len()] {
    let mut counted = State::ALL.map(|state| (state, 0));
    let mut add = |state| {
        for (one, n) in &mut counted {
            *n += usize::from(*one == state);
        }
    };
    let mut last: Option<&Trial> = None;
    for row in rows {
        match last {
            // The first attempt that is done has the say.
            Some(before) if before.trial == row.trial && before.state == State::Done => continue,
            Some(before) if before.trial != row.trial => add(before.state),
            _ => {}
        }
        last = Some(row);
    }
    if let Some(last) = last {
        add(last.state);
    }
    counted
}

/// Six digits, as a person reads a score.
fn short(value: f64) -> String {
    let is_plain = value == 0.0 || (1e-4..1e6).contains(&value.abs());
    if !is_plain && value.is_finite() {
        return format!("{value:.5e}");
    }
    let before = value.abs().log10().floor().max(0.0);
    let after = if before.is_finite() { 5.0 - before } else { 0.0 };
    let text = format!("{value:.*}", after as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn headline<T: Printed>(name: &str, rows: &Rows<T>) -> String {
    let (n, summary) = (rows.len(), T::summary(rows));
    let ending = if summary.is_empty() { String::new() } else { format!(": {summary}") };
    format!("{name}, {n} row{}{ending}", if n == 1 { "" } else { "s" })
}

fn as_text<T: Printed>(name: &str, rows: &Rows<T>) -> String {
    let mut text = headline(name, rows);
    if rows.is_empty() {
        return text;
    }
    let mut lines = vec![T::HEADS.iter().map(ToString::to_string).collect::<Vec<_>>()];
    lines.extend(rows.iter().take(SHOWN_ROWS).map(Printed::cells));
    let widths: Vec<usize> = (0..T::HEADS.len())
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    for line in &lines {
        let padded: Vec<String> =
            line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push('\n');
        text.push_str(padded.join("  ").trim_end());
    }
    if rows.len() > SHOWN_ROWS {
        text.extend(["\n... and ", &(rows.len() - SHOWN_ROWS).to_string(), " more"]);
    }
    text
}

fn as_html<T: Printed>(name: &str, rows: &Rows<T>) -> String {
    let line = |tag: &str, cells: &[String]| {
        let cells = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell)));
        format!("<tr>{}</tr>", cells.collect::<String>())
    };
    let head = line("th", &T::HEADS.iter().map(ToString::to_string).collect::<Vec<_>>());
    let body: String = rows.iter().take(SHOWN_ROWS).map(|row| line("td", &row.cells())).collect();
    let hidden = rows.len().saturating_sub(SHOWN_ROWS);
    let more = if hidden > 0 { format!("<p>... and {hidden} more</p>") } else { String::new() };
    let headline = escaped(&headline(name, rows));
    format!("<p>{headline}</p><table><thead>{head}</thead><tbody>{body}</tbody></table>{more}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// One record batch as the capsule that the Arrow C stream protocol asks for.
fn stream(py: Python<'_>, batch: RecordBatch) -> PyResult<Bound<'_, PyCapsule>> {
    let schema = batch.schema();
    let reader = RecordBatchIterator::new([Ok(batch)], schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
}

/// Puts the classes of this file into the module, and makes the rows `collections.abc.Mapping`s.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyHistory>()?;
    module.add_class::<PyCurves>()?;
    module.add_class::<PyTrials>()?;
    module.add_class::<PyObservation>()?;
    module.add_class::<PyTrial>()?;
    module.add_class::<PyAbandoned>()?;
    let mapping = module.py().import("collections.abc")?.getattr("Mapping")?;
    for row in ["Observation", "Trial", "Abandoned"] {
        mapping.call_method1("register", (module.getattr(row)?,))?;
    }
    Ok(())
}
