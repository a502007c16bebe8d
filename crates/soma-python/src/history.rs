//! What the readers of a study answer: sequences of rows, backed by the study's own snapshots.

use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyMapping, PySlice};
use soma_study::{Curve, Curves, History, Observation, Rows, Space, Trial, Trials};

use crate::convert::Reals;
use crate::point::PyPoint;
use crate::print::{as_html, as_text, counts};
use crate::row::{PyObservation, PyTrial};

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
        rows.push(Curve { trial, values: values?.extract::<Reals>()?.0.into() });
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
            /// No rows.
            #[new]
            fn new() -> Self {
                Self(Rows::new())
            }

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

/// One record batch as the capsule that the Arrow C stream protocol asks for.
fn stream(py: Python<'_>, batch: RecordBatch) -> PyResult<Bound<'_, PyCapsule>> {
    let schema = batch.schema();
    let reader = RecordBatchIterator::new([Ok(batch)], schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
}

/// Puts the classes into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyHistory>()?;
    module.add_class::<PyCurves>()?;
    module.add_class::<PyTrials>()
}
