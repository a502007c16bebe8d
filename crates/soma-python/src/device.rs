//! Names of devices, checked where they are typed.

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use soma_core::{Device, GraphError};

use crate::error::IntoPyError;
use crate::host::loaded_modules;

/// The kinds of devices torch knows (torch 2.4 to 2.15, `c10/core/Device.cpp`). Asked only while torch is not
/// loaded; afterwards torch itself decides, and a backend that renamed `privateuseone` is known by its name.
const KINDS: [&str; 20] = [
    "cpu",
    "cuda",
    "ipu",
    "xpu",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "ve",
    "fpga",
    "maia",
    "xla",
    "lazy",
    "vulkan",
    "mps",
    "meta",
    "hpu",
    "mtia",
    "privateuseone",
];

/// A device by name, or a `torch.device`.
///
/// # Errors
/// `DeviceError`: torch would not accept the name. `TypeError`: it is neither text nor a `torch.device`.
pub fn device(given: &Bound<'_, PyAny>) -> PyResult<Device> {
    let py = given.py();
    let torch_device = torch_device(py)?;
    let is_torch = match &torch_device {
        Some(class) => given.is_instance(class)?,
        None => false,
    };
    if !is_torch && !given.is_instance_of::<PyString>() {
        let kind = given.get_type().name()?;
        let text =
            format!("a device was given as `{kind}`, expected a name such as `cuda:0` or a `torch.device`");
        return Err(PyTypeError::new_err(text));
    }
    let name = given.str()?.to_string();
    let parsed: Device = name.parse().map_err(|error: GraphError| error.into_py_error(py))?;
    let refused = match torch_device {
        Some(class) => class.call1((&name,)).err().map(|error| first_line(&error.value(py).to_string())),
        None if KINDS.contains(&parsed.kind()) => None,
        None => Some(format!("expected one of {}", KINDS.join(", "))),
    };
    match refused {
        None => Ok(parsed),
        Some(reason) => Err(GraphError::Device { given: name, reason }.into_py_error(py)),
    }
}

/// `torch.device`, when torch has been imported.
fn torch_device(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    match loaded_modules(py)?.get_item(intern!(py, "torch"))? {
        Some(torch) => torch.getattr_opt(intern!(py, "device")),
        None => Ok(None),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
