//! How Python objects cross the graph: by reference, inside an opaque value.

use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyList, PyString};
use soma_core::{NodeError, Value};

use crate::answer::PyOpaque;

/// A Python object on its way from a node to the next.
pub struct Carried(Py<PyAny>);

/// The object as a value: None is null, everything else crosses by reference. `Opaque(x)` is `x`.
pub fn carry(object: Bound<'_, PyAny>) -> Value {
    let mut object = object;
    while let Ok(opaque) = object.cast_exact::<PyOpaque>() {
        let inner = opaque.get().inner(object.py());
        object = inner;
    }
    if object.is_none() { Value::Null } else { Value::opaque(Carried(object.unbind())) }
}

/// The value as an object: the very one that was carried.
pub fn uncarry<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Opaque(_) => match value.downcast_ref::<Carried>() {
            Some(carried) => carried.0.bind(py).clone(),
            None => return Err(PyTypeError::new_err("a Rust node answered something Python cannot hold")),
        },
        Value::Map(map) => {
            let dict = PyDict::new(py);
            for (key, value) in map.iter() {
                dict.set_item(PyString::intern(py, key), uncarry(py, value)?)?;
            }
            dict.into_any()
        }
        Value::Null => py.None().into_bound(py),
        Value::Bool(it) => it.into_pyobject(py)?.to_owned().into_any(),
        Value::Int(it) => it.into_pyobject(py)?.into_any(),
        Value::Float(it) => PyFloat::new(py, *it).into_any(),
        Value::Text(it) => PyString::new(py, it).into_any(),
        Value::Bytes(it) => PyBytes::new(py, it).into_any(),
        Value::List(items) => {
            let list = PyList::empty(py);
            for item in items.iter() {
                list.append(uncarry(py, item)?)?;
            }
            list.into_any()
        }
    })
}

/// What Python raised, for the engine: what is no `Exception` (Ctrl-C, an exit) is a wish to stop.
pub fn raised(py: Python<'_>, error: PyErr) -> NodeError {
    if error.is_instance_of::<PyException>(py) { NodeError::new(error) } else { NodeError::interrupt(error) }
}
