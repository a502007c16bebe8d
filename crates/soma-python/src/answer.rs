//! What a node is told and what it answers: `Ctx`, `Done`, `Await`, `Opaque`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple, PyType};
use soma_core::Ctx;

use crate::carried::uncarry;

/// Says that a value crosses as it is. It is unwrapped for the next node and at the end of the run, and may
/// be given wherever a bare value may.
///
/// Inside one process every value crosses by reference anyway; `Opaque(x)` says that it is meant.
#[pyclass(name = "Opaque", module = "somatize", frozen)]
pub struct PyOpaque {
    value: Py<PyAny>,
}

impl PyOpaque {
    pub fn inner<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.value.bind(py).clone()
    }
}

#[pymethods]
impl PyOpaque {
    #[new]
    fn new(value: Py<PyAny>) -> Self {
        Self { value }
    }

    /// What crosses.
    #[getter]
    fn value(&self, py: Python<'_>) -> Py<PyAny> {
        self.value.clone_ref(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Opaque({})", self.value.bind(py).repr()?))
    }

    fn __reduce__(&self, py: Python<'_>) -> (Py<PyType>, (Py<PyAny>,)) {
        (py.get_type::<Self>().unbind(), (self.value.clone_ref(py),))
    }

    #[classmethod]
    fn __class_getitem__(class: &Bound<'_, PyType>, _item: &Bound<'_, PyAny>) -> Py<PyType> {
        class.clone().unbind()
    }
}

/// A node's answer: it is done, and this is what it says. A plain return value means the same.
#[pyclass(name = "Done", module = "somatize", frozen)]
pub struct PyDone {
    value: Py<PyAny>,
}

impl PyDone {
    pub fn inner<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.value.bind(py).clone()
    }
}

#[pymethods]
impl PyDone {
    #[new]
    #[pyo3(signature = (value=None))]
    fn new(py: Python<'_>, value: Option<Py<PyAny>>) -> Self {
        Self { value: value.unwrap_or_else(|| py.None()) }
    }

    /// What the node says.
    #[getter]
    fn value(&self, py: Python<'_>) -> Py<PyAny> {
        self.value.clone_ref(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Done({})", self.value.bind(py).repr()?))
    }

    fn __reduce__(&self, py: Python<'_>) -> (Py<PyType>, (Py<PyAny>,)) {
        (py.get_type::<Self>().unbind(), (self.value.clone_ref(py),))
    }
}

/// A node's answer: it asks for these first. The run's driver answers one result per request, in order,
/// and the node is called again with `ctx.turn` one higher and `ctx.results` set.
///
/// Raises:
///     TypeError: `requests` is one text, or not iterable.
#[pyclass(name = "Await", module = "somatize", frozen)]
pub struct PyAwait {
    requests: Py<PyTuple>,
}

impl PyAwait {
    pub fn inner<'py>(&self, py: Python<'py>) -> &Bound<'py, PyTuple> {
        self.requests.bind(py)
    }
}

#[pymethods]
impl PyAwait {
    #[new]
    fn new(requests: &Bound<'_, PyAny>) -> PyResult<Self> {
        if requests.is_instance_of::<PyString>() || requests.is_instance_of::<PyBytes>() {
            let kind = requests.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "`Await` was given a `{kind}`, expected a list of requests"
            )));
        }
        let each: Vec<Bound<'_, PyAny>> = requests.try_iter()?.collect::<PyResult<_>>()?;
        Ok(Self { requests: PyTuple::new(requests.py(), each)?.unbind() })
    }

    /// What is asked for, in order.
    #[getter]
    fn requests<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.requests.bind(py).to_list()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Await({})", self.requests(py).repr()?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Py<PyType>, (Bound<'py, PyList>,)) {
        (py.get_type::<Self>().unbind(), (self.requests(py),))
    }
}

/// What a node is told beside its input. More may be told one day; no node's signature changes then.
#[pyclass(name = "Ctx", module = "somatize", frozen)]
pub struct PyCtx {
    device: Option<Py<PyString>>,
    turn: u32,
    results: Option<Py<PyTuple>>,
}

impl PyCtx {
    /// The one of every node that is not placed, when it is first asked.
    pub fn plain(py: Python<'_>) -> PyResult<&Py<Self>> {
        static PLAIN: PyOnceLock<Py<PyCtx>> = PyOnceLock::new();
        PLAIN.get_or_try_init(py, || Py::new(py, Self { device: None, turn: 0, results: None }))
    }

    pub fn of(py: Python<'_>, ctx: &Ctx<'_>) -> PyResult<Py<Self>> {
        let results = if ctx.results().is_empty() {
            None
        } else {
            let results: Vec<Bound<'_, PyAny>> =
                ctx.results().iter().map(|value| uncarry(py, value)).collect::<PyResult<_>>()?;
            Some(PyTuple::new(py, results)?.unbind())
        };
        let device = ctx.device().map(|device| PyString::intern(py, device.as_str()).unbind());
        Py::new(py, Self { device, turn: ctx.turn(), results })
    }
}

/// The arguments of `Ctx`.
type Told<'py> = (Option<Py<PyString>>, u32, Bound<'py, PyList>);

#[pymethods]
impl PyCtx {
    /// Made by hand only to call a node's `forward` without a graph.
    #[new]
    #[pyo3(signature = (device=None, turn=0, results=None))]
    fn new(device: Option<Py<PyString>>, turn: u32, results: Option<&Bound<'_, PyList>>) -> Self {
        Self { device, turn, results: results.map(|results| results.to_tuple().unbind()) }
    }

    /// Where the node was placed, as it was written; None when it was not.
    #[getter]
    fn device(&self, py: Python<'_>) -> Option<Py<PyString>> {
        self.device.as_ref().map(|device| device.clone_ref(py))
    }

    /// 0 when the node is first asked within a run, one higher after each `Await`.
    #[getter]
    fn turn(&self) -> u32 {
        self.turn
    }

    /// What the driver answered to the last `Await`, in the order of its requests; empty at turn 0.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.results.as_ref().map_or_else(|| PyList::empty(py), |results| results.bind(py).to_list())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let device = match &self.device {
            Some(device) => device.bind(py).repr()?.to_string(),
            None => "None".to_owned(),
        };
        Ok(format!("Ctx(device={device}, turn={}, results={})", self.turn, self.results(py).repr()?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Py<PyType>, Told<'py>) {
        (py.get_type::<Self>().unbind(), (self.device(py), self.turn, self.results(py)))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyOpaque>()?;
    module.add_class::<PyDone>()?;
    module.add_class::<PyAwait>()?;
    module.add_class::<PyCtx>()
}
