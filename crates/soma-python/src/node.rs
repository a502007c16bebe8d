//! A Python object as a node of the graph.

use std::any::Any;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyType};
use soma_core::{Ctx, Driver, Local, Node, NodeError, Transition, Value};

use crate::answer::{PyAwait, PyCtx, PyDone};
use crate::carried::{carry, raised, uncarry};
use crate::host::{Branch, loaded_modules};

/// A Python object that has a `forward(input, ctx)`.
pub struct PyNode {
    object: Py<PyAny>,
    kind: String,
    /// Whether it is a `torch.nn.Module` ready to be called: then it is called as torch's users call one, and
    /// its hooks run.
    is_module: bool,
}

impl PyNode {
    /// # Errors
    /// `TypeError`: it is a class, or has no `forward` of its own.
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let class = object.get_type();
        if let Ok(given) = object.cast::<PyType>() {
            return Err(PyTypeError::new_err(class_given(given)?));
        }
        let kind = class.name()?.to_string();
        let forward = class.getattr_opt(intern!(py, "forward"))?;
        let unwritten = node_class(py)?.getattr(intern!(py, "forward"))?;
        if !forward.is_some_and(|forward| forward.is_callable() && !forward.is(&unwritten))
            && !has_own_forward(object)?
        {
            let text = format!("`{kind}` has no `forward(self, input, ctx)`, expected a node");
            return Err(PyTypeError::new_err(text));
        }
        Ok(Self { object: object.clone().unbind(), kind, is_module: is_module(object)? })
    }

    pub fn object(&self) -> &Py<PyAny> {
        &self.object
    }

    fn call<'py>(&self, py: Python<'py>, input: &Value, ctx: &Ctx<'_>) -> PyResult<Bound<'py, PyAny>> {
        let object = self.object.bind(py);
        let kept;
        let told = if ctx.device().is_none() && ctx.turn() == 0 {
            PyCtx::plain(py)?
        } else {
            kept = ctx.kept(|| PyCtx::of(py, ctx));
            kept.as_ref().map_err(|error| error.clone_ref(py))?
        };
        let arguments = (uncarry(py, input)?, told);
        match Branch::of(ctx.local()) {
            None if self.is_module => object.call1(arguments),
            None => object.call_method1(intern!(py, "forward"), arguments),
            Some(branch) if self.is_module => branch.run(py, object, arguments.0, told.bind(py)),
            Some(branch) => {
                let forward = object.getattr(intern!(py, "forward"))?;
                branch.run(py, &forward, arguments.0, told.bind(py))
            }
        }
    }
}

impl Node for PyNode {
    fn forward(&self, input: &Value, ctx: &Ctx<'_>) -> Result<Transition, NodeError> {
        Python::attach(|py| match self.call(py, input, ctx) {
            Ok(answer) => Ok(transition(answer)),
            Err(error) => Err(raised(py, error)),
        })
    }

    fn kind(&self) -> &str {
        &self.kind
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

fn transition(answer: Bound<'_, PyAny>) -> Transition {
    if let Ok(asks) = answer.cast_exact::<PyAwait>() {
        return Transition::Await(asks.get().inner(answer.py()).iter().map(carry).collect());
    }
    if let Ok(done) = answer.cast_exact::<PyDone>() {
        return Transition::Done(carry(done.get().inner(answer.py())));
    }
    Transition::Done(carry(answer))
}

/// `somatize.node.Node`.
pub fn node_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        PyResult::Ok(py.import(intern!(py, "somatize.node"))?.getattr(intern!(py, "Node"))?.unbind())
    })?;
    Ok(class.bind(py))
}

/// What a user is told who gave something that is close to a node, and is none; None for anything else.
pub fn nearly(object: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let py = object.py();
    if let Ok(class) = object.cast::<PyType>() {
        let is_node = class.is_subclass(node_class(py)?)?;
        return Ok(if is_node { Some(class_given(class)?) } else { None });
    }
    if !is_module(object)? {
        return Ok(None);
    }
    let kind = object.get_type().name()?;
    Ok(Some(format!(
        "a `{kind}` was given, expected a node: `somatize.torch.module({kind}(...))` makes it one"
    )))
}

fn class_given(class: &Bound<'_, PyType>) -> PyResult<String> {
    let name = class.name()?;
    Ok(format!("the class `{name}` was given as a node, expected an object such as `{name}()`"))
}

/// Whether a `forward` was put on the object itself rather than on its class.
fn has_own_forward(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    let Some(own) = object.getattr_opt(intern!(py, "__dict__"))? else { return Ok(false) };
    Ok(own.get_item(intern!(py, "forward")).is_ok_and(|forward| forward.is_callable()))
}

/// Whether it is a `torch.nn.Module` whose own `__init__` has run. Does not import torch.
fn is_module(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    let Some(nn) = loaded_modules(py)?.get_item(intern!(py, "torch.nn"))? else { return Ok(false) };
    let Some(class) = nn.getattr_opt(intern!(py, "Module"))? else { return Ok(false) };
    if !object.is_instance(&class)? {
        return Ok(false);
    }
    object.getattr(intern!(py, "__dict__"))?.contains(intern!(py, "_forward_hooks"))
}

/// A Python callable that answers what nodes ask for.
pub struct PyDriver(pub Py<PyAny>);

impl Driver for PyDriver {
    fn answer(&self, requests: &[Value], local: Option<&Local>) -> Result<Vec<Value>, NodeError> {
        Python::attach(|py| {
            let ask = || {
                let requests: Vec<Bound<'_, PyAny>> =
                    requests.iter().map(|request| uncarry(py, request)).collect::<PyResult<_>>()?;
                let requests = PyList::new(py, requests)?;
                let answer = match Branch::of(local) {
                    None => self.0.bind(py).call1((requests,))?,
                    Some(branch) => branch.run1(py, self.0.bind(py), requests.as_any())?,
                };
                // Whatever can be iterated is a sequence of results; a text or a single object is one mistake.
                answer.try_iter()?.map(|result| result.map(carry)).collect::<PyResult<Vec<Value>>>()
            };
            ask().map_err(|error| raised(py, error))
        })
    }
}

/// The object behind a node; None for one that is not Python's.
pub fn object_of(py: Python<'_>, node: &dyn Node) -> Py<PyAny> {
    let node = node.as_any().and_then(|node| node.downcast_ref::<PyNode>());
    node.map_or_else(|| py.None(), |node| node.object.clone_ref(py))
}

/// The object as a node.
pub fn shared(object: &Bound<'_, PyAny>) -> PyResult<Arc<dyn Node>> {
    Ok(Arc::new(PyNode::new(object)?))
}
