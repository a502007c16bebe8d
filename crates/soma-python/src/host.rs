//! The interpreter as the world the engine's threads enter: its lock, its per-thread state, its signals.

use std::sync::{Arc, LazyLock};

use pyo3::intern;
use pyo3::prelude::*;
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
                    None => {
                        py.import(intern!(py, "contextvars"))?.call_method0(intern!(py, "copy_context"))?
                    }
                };
                let modes = if torch_is_loaded(py)? {
                    let modes = py.import(intern!(py, "somatize._modes"))?;
                    Some(modes.call_method0(intern!(py, "read"))?.unbind())
                } else {
                    None
                };
                Ok(Arc::new(Threads { context: context.unbind(), modes }))
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

/// What the caller's thread held as a wave opened.
struct Threads {
    context: Py<PyAny>,
    modes: Option<Py<PyAny>>,
}

impl Held for Threads {
    fn begin(&self, seat: Seat) -> Result<Local, NodeError> {
        Python::attach(|py| {
            let begin = || -> PyResult<Local> {
                let context = self.context.bind(py).call_method0(intern!(py, "copy"))?.unbind();
                let entered = match (&self.modes, seat) {
                    (Some(modes), Seat::Helper) => {
                        let module = py.import(intern!(py, "somatize._modes"))?;
                        Some(module.call_method1(intern!(py, "enter"), (modes,))?.unbind())
                    }
                    (Some(_), Seat::Opener) | (None, Seat::Helper | Seat::Opener) => None,
                };
                Ok(Arc::new(Branch { context, entered }))
            };
            begin().map_err(|error| raised(py, error))
        })
    }

    fn end(&self, seat: Seat, local: &Local) {
        Python::attach(|py| {
            let end = || -> PyResult<()> {
                let module = || py.import(intern!(py, "somatize._modes"));
                match (seat, &self.modes, Branch::of(Some(local)).and_then(|branch| branch.entered.as_ref()))
                {
                    (Seat::Helper, Some(_), Some(entered)) => {
                        module()?.call_method1(intern!(py, "leave"), (entered,)).map(drop)
                    }
                    (Seat::Opener, Some(modes), _) => {
                        module()?.call_method1(intern!(py, "restore"), (modes,)).map(drop)
                    }
                    (Seat::Helper, Some(_) | None, _) | (Seat::Opener, None, _) => Ok(()),
                }
            };
            if let Err(error) = end() {
                error.write_unraisable(py, None);
            }
        });
    }
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
pub fn torch_is_loaded(py: Python<'_>) -> PyResult<bool> {
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
    modules.cast::<PyDict>()?.contains(intern!(py, "torch"))
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
            let said = value.getattr_opt(intern!(py, "device")).ok().flatten()?.to_string();
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
