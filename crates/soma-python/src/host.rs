//! The interpreter as the world the engine's threads enter: its lock, its per-thread state, its signals.

use std::sync::{Arc, LazyLock};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};
use soma_core::{Device, Held, Host, Local, NodeError, Seat, Value};

use crate::carried::{raised, uncarry};

/// The one interpreter of this process.
pub struct Interpreter;

/// Shared by every run, so that a pool thread that entered for one may go on with another.
pub static INTERPRETER: LazyLock<Arc<Interpreter>> = LazyLock::new(|| Arc::new(Interpreter));

impl Host for Interpreter {
    fn enter(&self, work: &mut dyn FnMut()) {
        Python::attach(|_| work());
    }

    fn wait(&self, block: &mut (dyn FnMut() + Send)) {
        Python::attach(|py| py.detach(block));
    }

    fn interrupted(&self) -> Option<NodeError> {
        Python::attach(|py| py.check_signals().err().map(NodeError::interrupt))
    }

    fn hold(&self, parent: Option<&Local>) -> Result<Arc<dyn Held>, NodeError> {
        Python::attach(|py| {
            let hold = || -> PyResult<Arc<dyn Held>> {
                let context = match Branch::of(parent) {
                    Some(branch) => branch.context.bind(py).call_method0(intern!(py, "copy"))?,
                    None => copy_context(py)?.call0()?,
                };
                let modes = if torch_is_loaded(py)? { Some(Modes::get(py)?) } else { None };
                let held = modes.map(|modes| modes.read.call0(py)).transpose()?;
                Ok(Arc::new(Threads { context: context.unbind(), held }))
            };
            hold().map_err(|error| raised(py, error))
        })
    }

    fn strayed(&self, placed: &Device, value: &Value) -> Option<String> {
        Python::attach(|py| {
            let value = uncarry(py, value).ok()?;
            strayed(placed, value)
        })
    }
}

/// What the caller's thread held as a wave opened: its context variables and, once torch is loaded, torch's modes.
struct Threads {
    context: Py<PyAny>,
    held: Option<Py<PyAny>>,
}

impl Threads {
    fn try_begin(&self, py: Python<'_>, seat: Seat) -> PyResult<Local> {
        let context = self.context.bind(py).call_method0(intern!(py, "copy"))?.unbind();
        let entered = match (&self.held, seat) {
            (Some(held), Seat::Helper) => Some(Modes::get(py)?.enter.call1(py, (held,))?),
            (Some(_), Seat::Opener) | (None, Seat::Helper | Seat::Opener) => None,
        };
        Ok(Arc::new(Branch { context, entered }))
    }

    fn try_end(&self, py: Python<'_>, seat: Seat, local: &Local) -> PyResult<()> {
        let entered = Branch::of(Some(local)).and_then(|branch| branch.entered.as_ref());
        match (seat, &self.held, entered) {
            (Seat::Helper, Some(_), Some(entered)) => Modes::get(py)?.leave.call1(py, (entered,)).map(drop),
            (Seat::Opener, Some(held), _) => Modes::get(py)?.restore.call1(py, (held,)).map(drop),
            (Seat::Helper, Some(_) | None, _) | (Seat::Opener, None, _) => Ok(()),
        }
    }
}

impl Held for Threads {
    fn begin(&self, seat: Seat) -> Result<Local, NodeError> {
        Python::attach(|py| self.try_begin(py, seat).map_err(|error| raised(py, error)))
    }

    fn end(&self, seat: Seat, local: &Local) {
        Python::attach(|py| {
            if let Err(error) = self.try_end(py, seat, local) {
                error.write_unraisable(py, None);
            }
        });
    }
}

/// The functions of `somatize._modes`, found once.
struct Modes {
    read: Py<PyAny>,
    enter: Py<PyAny>,
    leave: Py<PyAny>,
    restore: Py<PyAny>,
}

impl Modes {
    fn get(py: Python<'_>) -> PyResult<&Self> {
        static MODES: PyOnceLock<Modes> = PyOnceLock::new();
        MODES.get_or_try_init(py, || {
            let module = py.import("somatize._modes")?;
            let function = |name: &str| PyResult::Ok(module.getattr(name)?.unbind());
            Ok(Self {
                read: function("read")?,
                enter: function("enter")?,
                leave: function("leave")?,
                restore: function("restore")?,
            })
        })
    }
}

fn copy_context(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static COPY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let copy = COPY
        .get_or_try_init(py, || PyResult::Ok(py.import("contextvars")?.getattr("copy_context")?.unbind()))?;
    Ok(copy.bind(py))
}

/// What a branch has to itself: the caller's context variables as they were when the wave opened.
pub struct Branch {
    context: Py<PyAny>,
    entered: Option<Py<PyAny>>,
}

impl Branch {
    pub fn of(local: Option<&Local>) -> Option<&Self> {
        local.and_then(|local| local.downcast_ref())
    }

    /// `call(first, second)` with the branch's context variables.
    pub fn run<'py>(
        &self,
        py: Python<'py>,
        call: &Bound<'py, PyAny>,
        first: Bound<'py, PyAny>,
        second: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.context.bind(py).call_method1(intern!(py, "run"), (call, first, second))
    }

    /// `call(argument)` with the branch's context variables.
    pub fn run1<'py>(
        &self,
        py: Python<'py>,
        call: &Bound<'py, PyAny>,
        argument: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.context.bind(py).call_method1(intern!(py, "run"), (call, argument))
    }
}

/// Whether torch has been imported; importing it is the user's decision.
fn torch_is_loaded(py: Python<'_>) -> PyResult<bool> {
    loaded_modules(py)?.contains(intern!(py, "torch"))
}

/// `sys.modules`.
pub fn loaded_modules(py: Python<'_>) -> PyResult<&Bound<'_, PyDict>> {
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let modules = MODULES.get_or_try_init(py, || {
        PyResult::Ok(py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?.unbind())
    })?;
    Ok(modules.bind(py))
}

/// The first device other than `placed` that anything in `value` says it is on: `value.device`, and what
/// lists, tuples and dicts hold.
fn strayed(placed: &Device, value: Bound<'_, PyAny>) -> Option<String> {
    let mut seen = std::collections::HashSet::new();
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        let py = value.py();
        let held: Vec<Bound<'_, PyAny>> = if let Ok(list) = value.cast::<PyList>() {
            list.iter().collect()
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            tuple.iter().collect()
        } else if let Ok(dict) = value.cast::<PyDict>() {
            dict.values().iter().collect()
        } else {
            let Ok(Some(said)) = value.getattr_opt(intern!(py, "device")) else { continue };
            let said = said.to_string();
            match said.parse::<Device>() {
                Ok(device) if !placed.covers(&device) => return Some(said),
                Ok(_) | Err(_) => continue,
            }
        };
        if seen.insert(value.as_ptr() as usize) {
            waiting.extend(held.into_iter().rev());
        }
    }
    None
}
