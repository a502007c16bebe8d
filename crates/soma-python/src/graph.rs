//! `Graph`: the native class that `somatize.Graph` derives from.

use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use soma_core::{Graph, GraphError, RunError, RunOptions, Value};

use crate::carried::{carry, uncarry};
use crate::device::device;
use crate::error::{IntoPyError, raise};
use crate::expression::piece;
use crate::host::INTERPRETER;
use crate::node::{PyDriver, PyNode, nearly, object_of, shared};
use crate::plan::PyPlan;

/// How long the end of the interpreter waits for branches that still run after an interrupt.
const PATIENCE: Duration = Duration::from_millis(500);

/// How many ids a `repr` shows.
const SHOWN: usize = 8;

/// A network: nodes, the edges between them, and where they run. Acyclic by construction: what cannot be in
/// a graph is refused when it is added.
///
/// Nodes may be added while another thread runs the graph; a run works on the graph as it was when it began.
#[pyclass(name = "Graph", module = "somatize._somatize", frozen, subclass)]
pub struct PyGraph(RwLock<Graph>);

impl PyGraph {
    // No Python runs while one of these is held.
    fn read(&self) -> RwLockReadGuard<'_, Graph> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Graph> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a graph is pickled as: `(id, node, device)`, edges, and the attributes a user put on it.
type State<'py> =
    (Vec<(String, Py<PyAny>, Option<Py<PyAny>>)>, Vec<(String, String)>, Option<Bound<'py, PyAny>>);

/// A node's name.
fn name(given: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(name) = given.cast::<PyString>() {
        return name.extract();
    }
    let kind = given.get_type().name()?;
    Err(PyTypeError::new_err(format!("a node's name was given as `{kind}`, expected text before the node")))
}

fn texts(ids: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    ids.into_iter().map(|id| id.to_string()).collect()
}

#[pymethods]
impl PyGraph {
    #[new]
    fn new() -> Self {
        Self(RwLock::default())
    }

    /// Adds what an expression describes; answers the ids of its nodes in written order.
    fn extend(&self, py: Python<'_>, expression: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let Some(expression) = piece(expression)? else {
            let kind = expression.get_type().name()?;
            let text = nearly(expression)?.unwrap_or_else(|| {
                format!("a `{kind}` was given, expected a node or an expression of nodes")
            });
            return Err(PyTypeError::new_err(text));
        };
        let ids = self.write().extend(&expression);
        ids.map(texts).map_err(|error| error.into_py_error(py))
    }

    /// Adds a node: `g.node("clean", Clean())`, or `g.node(Clean())` under a name derived from its class.
    ///
    /// Args:
    ///     id: Its name; left out, the class name in snake case, then `_2`, `_3`.
    ///     node: An object with `forward(input, ctx)`.
    ///     device: Where it runs, as in `.on`.
    ///
    /// Returns:
    ///     Its name.
    ///
    /// Raises:
    ///     GraphError: The name is taken or empty.
    ///     DeviceError: `device` is not the name of a device.
    ///     TypeError: It is no node.
    #[pyo3(signature = (id, node=None, /, *, device=None))]
    fn node(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        node: Option<&Bound<'_, PyAny>>,
        device: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let (id, node) = match node {
            Some(node) => (Some(name(id)?), node),
            None => (None, id),
        };
        let node = shared(node)?;
        let device = device.map(self::device).transpose()?;
        let added = self.write().add(id.as_deref(), node, device);
        added.map(|id| id.to_string()).map_err(|error| error.into_py_error(py))
    }

    /// Adds an edge: what `source` says, `target` is given.
    ///
    /// Raises:
    ///     UnknownNodeError: One of them is not there.
    ///     GraphError: The edge is there already, or would close a cycle.
    fn edge(&self, py: Python<'_>, source: &str, target: &str) -> PyResult<()> {
        let added = self.write().edge(source, target);
        added.map_err(|error| error.into_py_error(py))
    }

    /// Places a node after the fact; None takes its placement away. The plan stays as it is.
    ///
    /// Raises:
    ///     UnknownNodeError: It is not there.
    ///     DeviceError: `device` is not the name of a device.
    fn place(&self, py: Python<'_>, id: &str, device: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let device = device.map(self::device).transpose()?;
        let placed = self.write().place(id, device);
        placed.map_err(|error| error.into_py_error(py))
    }

    /// The ids, in declaration order.
    fn nodes(&self) -> Vec<String> {
        texts(self.read().nodes())
    }

    /// The edges as pairs of ids, in the order they were added.
    fn edges(&self) -> Vec<(String, String)> {
        self.read().edges().into_iter().map(|(from, to)| (from.to_string(), to.to_string())).collect()
    }

    /// The nodes nobody sends to, in declaration order.
    fn roots(&self) -> Vec<String> {
        texts(self.read().roots())
    }

    /// The nodes that send to nobody, in declaration order.
    fn leaves(&self) -> Vec<String> {
        texts(self.read().leaves())
    }

    /// Who sends to a node, in edge order.
    ///
    /// Raises:
    ///     UnknownNodeError: It is not there.
    fn predecessors(&self, py: Python<'_>, id: &str) -> PyResult<Vec<String>> {
        let found = self.read().predecessors(id);
        found.map(texts).map_err(|error| error.into_py_error(py))
    }

    /// Whom a node sends to, in edge order.
    ///
    /// Raises:
    ///     UnknownNodeError: It is not there.
    fn successors(&self, py: Python<'_>, id: &str) -> PyResult<Vec<String>> {
        let found = self.read().successors(id);
        found.map(texts).map_err(|error| error.into_py_error(py))
    }

    /// The ids in an order in which every edge points forward, declaration order where that is free.
    fn topological_sort(&self) -> Vec<String> {
        texts(self.read().topological_sort())
    }

    /// The object behind an id.
    ///
    /// Raises:
    ///     UnknownNodeError: It is not there.
    fn implementation(&self, py: Python<'_>, id: &str) -> PyResult<Py<PyAny>> {
        let found = self.read().implementation(id).cloned().map_err(|error| error.into_py_error(py))?;
        Ok(object_of(py, &*found))
    }

    /// The placed nodes and their devices, in declaration order.
    fn devices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let placed = self.read().devices();
        let devices = PyDict::new(py);
        for (id, device) in placed {
            devices.set_item(&*id, device.as_str())?;
        }
        Ok(devices)
    }

    /// The plan: compiled when first needed, and kept until a node or an edge is added.
    fn plan(&self) -> PyPlan {
        PyPlan(self.read().plan())
    }

    /// The topology as JSON: nodes with their class and device, edges. What the nodes contain is not in it.
    /// `soma graph FILE` draws one.
    fn manifest(&self) -> String {
        self.read().manifest()
    }

    /// Runs the graph once: `input` goes to the roots, and what the leaf said comes back.
    ///
    /// Args:
    ///     input: Crosses by reference, and so does everything a node says: the next node is given the
    ///         same object.
    ///     driver: Called with the list of requests when a node answers `Await`, from several branches at once
    ///         when they ask at once; answers one result per request, in order.
    ///     workers: How many threads run branches at most, this one included; 64 unless said. With 1 they
    ///         run one after another: same result, same error.
    ///
    /// Returns:
    ///     What the leaf said; a dict keyed by leaf when there are several; the input of an empty graph.
    ///
    /// Raises:
    ///     NodeError: A node failed; what it raised is the cause, and `except` by the class of the cause
    ///         works too. Of several failures the first in declaration order; the others are in `.also`.
    ///     DriverError: A node asked and there is no driver, or it failed, or it answered another number of results.
    ///     TurnBudgetError: A node was not done after 64 turns.
    ///     PlacementError: The output of a placed node is on another device.
    ///     ValueError: `workers` is below 1.
    #[pyo3(signature = (input=None, *, driver=None, workers=None))]
    fn forward<'py>(
        &self,
        py: Python<'py>,
        input: Option<Bound<'py, PyAny>>,
        driver: Option<Py<PyAny>>,
        workers: Option<isize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut options = RunOptions::default().with_host(INTERPRETER.clone());
        if let Some(driver) = driver {
            options = options.with_driver(PyDriver(driver));
        }
        if let Some(workers) = workers {
            let workers = usize::try_from(workers).ok().and_then(NonZeroUsize::new).ok_or_else(|| {
                PyValueError::new_err(format!("`workers` was given {workers}, expected at least 1"))
            })?;
            options = options.with_workers(workers);
        }
        let ready = self.read().ready();
        match ready.forward(input.map_or(Value::Null, carry), &options) {
            Ok(value) => uncarry(py, &value),
            Err(error) => Err(into_raised(py, error)),
        }
    }

    /// Pickled as nodes, by their own pickling, and edges; so `copy` shares the nodes and `deepcopy` copies them.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, (), State<'py>)> {
        let py = slf.py();
        let (ids, edges) = (slf.get().nodes(), slf.get().edges());
        let devices = slf.get().devices(py)?;
        let nodes = ids.into_iter().map(|id| {
            let object = slf.get().implementation(py, &id)?;
            let device = devices.get_item(&id)?;
            Ok((id, object, device.map(Bound::unbind)))
        });
        let own = slf.getattr_opt(intern!(py, "__dict__"))?;
        Ok((slf.get_type(), (), (nodes.collect::<PyResult<_>>()?, edges, own)))
    }

    fn __setstate__(slf: &Bound<'_, Self>, state: State<'_>) -> PyResult<()> {
        let py = slf.py();
        let (nodes, edges, own) = state;
        let mut graph = Graph::new();
        for (id, object, placed) in nodes {
            let placed = placed.map(|placed| device(placed.bind(py))).transpose()?;
            let added = graph.add(Some(&id), shared(object.bind(py))?, placed);
            added.map_err(|error| error.into_py_error(py))?;
        }
        for (from, to) in edges {
            graph.edge(&from, &to).map_err(|error| error.into_py_error(py))?;
        }
        if let Some(own) = own
            && !own.is_none()
            && let Some(mine) = slf.getattr_opt(intern!(py, "__dict__"))?
        {
            mine.call_method1(intern!(py, "update"), (own,))?;
        }
        let before = std::mem::replace(&mut *slf.get().write(), graph);
        drop(before);
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Ok(graph) = self.0.try_read() else { return Ok(()) };
        // A node that an expression or a run holds as well is not this graph's to give up.
        let Some(n_owners) = graph.n_owners() else { return Ok(()) };
        for node in graph.catalog().iter().filter(|node| Arc::strong_count(node) == n_owners) {
            if let Some(node) = node.as_any().and_then(|node| node.downcast_ref::<PyNode>()) {
                visit.call(node.object())?;
            }
        }
        Ok(())
    }

    fn __clear__(&self) {
        let graph = std::mem::take(&mut *self.write());
        // After the lock: what a node does as it goes may be anything.
        drop(graph);
    }

    fn __len__(&self) -> usize {
        self.read().len()
    }

    fn __contains__(&self, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(id) = id.cast::<PyString>() else { return Ok(false) };
        let id = id.to_cow()?;
        Ok(self.read().contains(&id))
    }

    fn __repr__(&self) -> String {
        let graph = self.read();
        let (n_nodes, n_edges) = (graph.len(), graph.topology().edges().len());
        let mut names = texts(graph.nodes().iter().take(SHOWN));
        if n_nodes > SHOWN {
            names.push("...".to_owned());
        }
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        format!("Graph({n_nodes} node{}, {n_edges} edge{}{names})", plural(n_nodes), plural(n_edges))
    }
}

impl IntoPyError for GraphError {
    fn class(&self) -> &'static str {
        match self {
            Self::UnknownNode { .. } => "UnknownNodeError",
            Self::Device { .. } => "DeviceError",
            _ => "GraphError",
        }
    }

    fn hint(&self) -> Option<String> {
        self.hint()
    }
}

/// What Python raised, if that is what a node or a driver failed with.
fn root(error: Box<dyn std::error::Error + Send + Sync>) -> PyErr {
    match error.downcast::<PyErr>() {
        Ok(raised) => *raised,
        Err(other) => PyRuntimeError::new_err(other.to_string()),
    }
}

/// A run's error as Python's: named, with its cause, the other failures attached.
fn into_raised(py: Python<'_>, error: RunError) -> PyErr {
    run_error(py, error).unwrap_or_else(|broken| broken)
}

fn run_error(py: Python<'_>, error: RunError) -> PyResult<PyErr> {
    let (text, hint, node) = (error.to_string(), error.hint(), error.node().map(ToOwned::to_owned));
    let (class, cause) = match error {
        RunError::Interrupted(asked) => return Ok(root(asked)),
        RunError::Several { first, also } => {
            let raised = run_error(py, *first)?;
            let also: Vec<Py<PyAny>> = also
                .into_iter()
                .map(|error| Ok(run_error(py, error)?.into_value(py).into_any()))
                .collect::<PyResult<_>>()?;
            raised.value(py).call_method1("_keep", (also,))?;
            return Ok(raised);
        }
        RunError::Node { source, .. } => ("NodeError", Some(root(source))),
        RunError::Driver { source, .. } => ("DriverError", Some(root(source))),
        RunError::NoDriver { .. } | RunError::DriverCount { .. } => ("DriverError", None),
        RunError::TurnBudget { .. } => ("TurnBudgetError", None),
        RunError::Placement { .. } => ("PlacementError", None),
        _ => ("RunError", None),
    };
    let raised = match (class, &cause) {
        ("NodeError", Some(cause)) => {
            let errors = py.import("somatize.errors")?;
            let raised = errors.call_method1("node_error", (text, cause.value(py)))?;
            PyErr::from_value(raised)
        }
        _ => raise(py, class, &text, hint)?,
    };
    if let Some(cause) = cause {
        raised.set_cause(py, Some(cause));
    }
    raised.value(py).setattr("node", node)?;
    Ok(raised)
}

/// Lets the pool's threads rest before the interpreter ends under them.
#[pyfunction]
fn rest(py: Python<'_>) {
    py.detach(|| soma_core::close(PATIENCE));
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyGraph>()?;
    let py = module.py();
    let rest = wrap_pyfunction!(rest, module)?;
    py.import("atexit")?.call_method1("register", (rest,))?;
    Ok(())
}
