//! `Space` and its dimensions.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use soma_study::{Dimension, Domain, IntOptions, RealOptions, Scalar, Space, SpaceError};

use crate::convert::{int_from_py, options_from_py, real_from_py, scalar_to_py, when_from_py};
use crate::error::{OrRaise, no_dimension};
use crate::point::PyPoint;

/// What is searched: named dimensions, some of them conditional on others. Immutable; each call answers a new
/// space.
///
/// Its text, `str(space)`, reads back as `Space(text)` and loses nothing.
///
/// Args:
///     text: A space as it prints itself. Default: the empty one.
///
/// Raises:
///     SpaceError: The text does not read.
///
/// Example:
///     >>> from somatize.study import Space
///     >>> Space().real("lr", 1e-4, 1e-1, log=True).int("width", 8, 64).choice("opt", ["adam", "sgd"])
///     Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))
#[pyclass(name = "Space", module = "somatize.study", frozen, mapping)]
pub struct PySpace(pub Space);

#[pymethods]
impl PySpace {
    #[new]
    #[pyo3(signature = (text = "Space()"))]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        text.parse().map(Self).or_raise(py)
    }

    /// This space and one more dimension of numbers, from `low` to `high`, both included.
    ///
    /// Args:
    ///     name: Not empty, and not in the space yet.
    ///     low: The lower end; above 0 with `log`.
    ///     high: The upper end; equal to `low` for a constant.
    ///     log: Equal ratios, rather than equal differences, are equally likely.
    ///     step: The distance between two values, counted from `low`; None is every number. Not with `log`.
    ///     when: `("opt", "sgd")` or `("opt", ["sgd", "adam"])`: exists only in points where that earlier choice or
    ///         int has one of these values. None is always.
    ///
    /// Raises:
    ///     SpaceError: A bound, the step, the name or the condition cannot be; names the dimension.
    #[pyo3(signature = (name, low, high, *, log = false, step = None, when = None))]
    fn real(
        &self,
        name: &str,
        low: &Bound<'_, PyAny>,
        high: &Bound<'_, PyAny>,
        log: bool,
        step: Option<&Bound<'_, PyAny>>,
        when: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut options = RealOptions::default().with_log(log);
        if let Some(step) = step {
            options = options.with_step(real_from_py(name, "step ", step)?);
        }
        let (from, to) = (real_from_py(name, "low ", low)?, real_from_py(name, "high ", high)?);
        finish(low.py(), self.0.real(name, from, to, options), name, when)
    }

    /// This space and one more dimension of whole numbers, from `low` to `high`, both included.
    ///
    /// Args:
    ///     name: Not empty, and not in the space yet.
    ///     low: The lower end; above 0 with `log`.
    ///     high: The upper end; equal to `low` for a constant.
    ///     log: Equal ratios, rather than equal differences, are equally likely.
    ///     step: The distance between two values, counted from `low`, at least 1. Only 1 with `log`.
    ///     when: As for `real`.
    ///
    /// Raises:
    ///     SpaceError: A bound, the step, the name or the condition cannot be; names the dimension.
    #[pyo3(
        signature = (name, low, high, *, log = false, step = None, when = None),
        text_signature = "($self, name, low, high, *, log=False, step=1, when=None)"
    )]
    fn int(
        &self,
        name: &str,
        low: &Bound<'_, PyAny>,
        high: &Bound<'_, PyAny>,
        log: bool,
        step: Option<&Bound<'_, PyAny>>,
        when: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut options = IntOptions::default().with_log(log);
        if let Some(step) = step {
            options = options.with_step(int_from_py(name, "step ", step)?);
        }
        let (from, to) = (int_from_py(name, "low ", low)?, int_from_py(name, "high ", high)?);
        finish(low.py(), self.0.int(name, from, to, options), name, when)
    }

    /// This space and one more choice. Options keep their type and their order.
    ///
    /// Args:
    ///     name: Not empty, and not in the space yet.
    ///     options: At least one, each once: str, bool, int, float or None.
    ///     when: As for `real`.
    ///
    /// Raises:
    ///     SpaceError: No option, one twice, one of another type; or the name or the condition cannot be.
    #[pyo3(signature = (name, options, *, when = None))]
    fn choice(
        &self,
        name: &str,
        options: &Bound<'_, PyAny>,
        when: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        finish(options.py(), self.0.choice(name, options_from_py(name, options)?), name, when)
    }

    /// A point of this space, from its text or from a mapping of names to values: `Point(space, values)`.
    ///
    /// Raises:
    ///     SpaceError: A value is missing, too many, out of bounds or of another type; or the text does not read.
    fn point(&self, values: &Bound<'_, PyAny>) -> PyResult<PyPoint> {
        PyPoint::build(&self.0, values)
    }

    /// The dimensions, in the order they were declared.
    #[getter]
    fn dimensions(&self) -> Vec<PyDimension> {
        (0..self.0.dimensions().len()).map(|index| PyDimension { space: self.0.clone(), index }).collect()
    }

    /// How many points there are; None when there is no end of them.
    #[getter]
    fn size(&self) -> Option<u64> {
        self.0.size()
    }

    fn __len__(&self) -> usize {
        self.0.dimensions().len()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.0.index_of(name).is_some()
    }

    fn __getitem__(&self, name: &Bound<'_, PyAny>) -> PyResult<PyDimension> {
        let index = name.cast::<PyString>().ok().and_then(|name| self.0.index_of(name.to_str().ok()?));
        if let Some(index) = index {
            return Ok(PyDimension { space: self.0.clone(), index });
        }
        let names: Vec<&str> = self.0.dimensions().iter().map(|one| &*one.name).collect();
        Err(no_dimension(name, "the space", &names)?)
    }

    /// The names, in the order they were declared.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let names = PyList::new(py, self.0.dimensions().iter().map(|one| &*one.name))?;
        names.call_method0("__iter__")
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.to_string().hash(&mut hasher);
        hasher.finish()
    }

    fn __getnewargs__(&self) -> (String,) {
        (self.0.to_string(),)
    }
}

fn finish(
    py: Python<'_>,
    space: Result<Space, SpaceError>,
    name: &str,
    when: Option<&Bound<'_, PyAny>>,
) -> PyResult<PySpace> {
    let space = space.or_raise(py)?;
    let Some(when) = when else { return Ok(PySpace(space)) };
    let (parent, values) = when_from_py(name, when)?;
    space.when(&parent, values).map(PySpace).or_raise(py)
}

/// One axis of a space, as `space.dimensions` and `space[name]` give it.
///
/// Attributes:
///     name: Its name.
///     kind: `"real"`, `"int"` or `"choice"`.
///     low: The lower end; None for a choice.
///     high: The upper end; None for a choice.
///     log: Whether equal ratios are equally likely.
///     step: The distance between two values; None for a choice and for a real of every number.
///     options: The options in their order; None for numbers.
///     when: `(name, values)` of the dimension it depends on; None for always.
#[pyclass(name = "Dimension", module = "somatize.study", frozen)]
pub struct PyDimension {
    space: Space,
    index: usize,
}

impl PyDimension {
    fn inner(&self) -> &Dimension {
        &self.space.dimensions()[self.index]
    }
}

#[pymethods]
impl PyDimension {
    #[getter]
    fn name(&self) -> &str {
        &self.inner().name
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.inner().domain.kind()
    }

    #[getter]
    fn low<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let low = match &self.inner().domain {
            Domain::Real { low, .. } => Scalar::Float(*low),
            Domain::Int { low, .. } => Scalar::Int(*low),
            _ => return Ok(None),
        };
        scalar_to_py(py, &low).map(Some)
    }

    #[getter]
    fn high<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let high = match &self.inner().domain {
            Domain::Real { high, .. } => Scalar::Float(*high),
            Domain::Int { high, .. } => Scalar::Int(*high),
            _ => return Ok(None),
        };
        scalar_to_py(py, &high).map(Some)
    }

    #[getter]
    fn log(&self) -> bool {
        self.inner().domain.is_log()
    }

    #[getter]
    fn step<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let step = match &self.inner().domain {
            Domain::Real { step: Some(step), .. } => Scalar::Float(*step),
            Domain::Int { step, .. } => Scalar::Int(*step),
            _ => return Ok(None),
        };
        scalar_to_py(py, &step).map(Some)
    }

    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Domain::Choice { options } = &self.inner().domain else { return Ok(None) };
        scalars(py, options).map(Some)
    }

    #[getter]
    fn when<'py>(&self, py: Python<'py>) -> PyResult<Option<(&str, Bound<'py, PyTuple>)>> {
        let Some(when) = &self.inner().when else { return Ok(None) };
        Ok(Some((&self.space.dimensions()[when.parent].name, scalars(py, &when.values)?)))
    }

    fn __repr__(&self) -> String {
        format!("Dimension({}={})", self.inner().name, self.inner().domain)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.inner() == other.get().inner())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.__repr__().hash(&mut hasher);
        hasher.finish()
    }
}

fn scalars<'py>(py: Python<'py>, values: &[Scalar]) -> PyResult<Bound<'py, PyTuple>> {
    let values = values.iter().map(|value| scalar_to_py(py, value)).collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, values)
}

/// Puts the classes of this file into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PySpace>()?;
    module.add_class::<PyDimension>()
}
