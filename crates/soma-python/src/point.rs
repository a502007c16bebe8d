//! `Point`: one value per dimension, read like a mapping.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use soma_study::{Point, Space};

use crate::convert::{scalar_from_py, scalar_to_py, shortened};
use crate::error::{OrRaise, no_dimension, no_value};
use crate::given::Arg;
use crate::space::PySpace;

/// One value per dimension of a space. Reads like a mapping, in the order of the space; a conditional dimension
/// that does not exist in it is left out. Immutable, and a key of dicts and sets.
///
/// Its text, `str(point)`, reads back as `Point(space, text)` and loses nothing.
///
/// Args:
///     space: The space that it is a point of.
///     values: Its text, or a mapping of names to values in any order. An int is taken for a real; nothing else
///         changes its type.
///
/// Raises:
///     SpaceError: A value is missing, too many, out of bounds or of another type; or the text does not read.
///
/// Example:
///     >>> from somatize.study import Point, Space
///     >>> point = Point(Space().int("width", 8, 64).choice("opt", ["adam", "sgd"]), "width=44,opt=sgd")
///     >>> point["width"], dict(point)
///     (44, {'width': 44, 'opt': 'sgd'})
#[pyclass(name = "Point", module = "somatize.study", frozen, mapping)]
pub struct PyPoint(pub Point);

impl PyPoint {
    /// A point from its text or from a mapping.
    pub fn build(space: &Space, values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = values.py();
        if let Ok(text) = values.cast::<PyString>() {
            return space.parse_point(text.to_str()?).map(Self).or_raise(py);
        }
        let mut pairs = Vec::new();
        let Ok(values) = values.cast::<PyMapping>() else {
            let text = format!(
                "a point was given as {}, expected a dict of names to values, or its text",
                shortened(values)?
            );
            return Err(PyTypeError::new_err(text));
        };
        for item in values.items()? {
            let (name, value): (String, Bound<'_, PyAny>) = item.extract()?;
            let value = scalar_from_py(&name, &value)?;
            pairs.push((name, value));
        }
        Point::from_values(space, pairs).map(Self).or_raise(py)
    }

    /// Why the point has no value of this name: a `KeyError`.
    fn missing(&self, name: &Bound<'_, PyAny>) -> PyResult<PyErr> {
        let space = self.space();
        let known = name.extract().ok().and_then(|name: String| space.0.index_of(&name));
        let Some(when) = known.and_then(|index| space.0.dimensions()[index].when.as_ref()) else {
            let names: Vec<&str> = self.0.iter().map(|(name, _)| name).collect();
            return no_dimension(name, "the point", &names);
        };
        let values = when.values.iter().map(|value| Ok(scalar_to_py(name.py(), value)?.repr()?.to_string()));
        let condition = format!(
            "{}={}",
            space.0.dimensions()[when.parent].name,
            values.collect::<PyResult<Vec<_>>>()?.join(" or ")
        );
        no_value(name, &condition)
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, value) in self.0.iter() {
            dict.set_item(name, scalar_to_py(py, value)?)?;
        }
        Ok(dict)
    }
}

#[pymethods]
impl PyPoint {
    #[new]
    fn new(space: Arg<'_, PySpace>, values: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::build(&space.get().0, values)
    }

    /// The space that this is a point of.
    #[getter]
    fn space(&self) -> PySpace {
        PySpace(self.0.space().clone())
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let value = name.cast::<PyString>().ok().and_then(|name| self.0.get(name.to_str().ok()?));
        match value {
            Some(value) => scalar_to_py(py, value),
            None => Err(self.missing(name)?),
        }
    }

    /// The value of `name`, or `default` where the point has none.
    #[pyo3(signature = (name, default = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.0.get(name) {
            Some(value) => scalar_to_py(py, value).map(Some),
            None => Ok(default),
        }
    }

    /// The names, in the order of the space.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.call_method0("keys")
    }

    /// The values, in the order of the space.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.call_method0("values")
    }

    /// Pairs of name and value, in the order of the space.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.call_method0("items")
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.call_method0("__iter__")
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        let name = name.cast::<PyString>().ok();
        name.is_some_and(|name| name.to_str().is_ok_and(|name| self.0.get(name).is_some()))
    }

    /// Equal to a point with the same values, and to any mapping with the same items.
    fn __eq__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<bool> {
        if let Ok(other) = other.cast::<Self>() {
            return Ok(self.0 == other.get().0);
        }
        match other.cast::<PyDict>() {
            Ok(other) => self.to_dict(py)?.eq(other),
            Err(_) => Ok(false),
        }
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for pair in self.0.iter() {
            pair.hash(&mut hasher);
        }
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    fn __getnewargs__(&self) -> (PySpace, String) {
        (self.space(), self.0.to_string())
    }
}

/// Puts the class into the module, and makes it a `collections.abc.Mapping`.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPoint>()?;
    let mapping = module.py().import("collections.abc")?.getattr("Mapping")?;
    mapping.call_method1("register", (module.getattr("Point")?,))?;
    Ok(())
}
