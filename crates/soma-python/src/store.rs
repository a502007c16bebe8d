//! `Store`: bytes by content, names, and the studies over them.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyString};
use soma_store::{Binding, Digest, Options, Store};
use soma_study::StudyError;

use crate::convert::{close_name, listed};
use crate::enter::{brief, long};
use crate::error::{OrRaise, raise};
use crate::given::named;

/// A study read less than this ago has at most so much to read that a fleet writes in this time: reading is hundreds
/// of times faster than writing.
const FRESH: Duration = Duration::from_secs(2);

/// A folder, which may lie on a shared file system, or memory: bytes by content, names for them, and studies.
///
/// Every method may be called from any thread, from a forked child, and by any number of processes and machines at
/// once. Stores that one process opens on one folder share what they have read of it.
///
/// Args:
///     where: A folder, made where there is none (`read_only=True` looks and makes nothing), or `"memory://"`, a new
///         store every time.
///     durable: Wait for the disk where something must survive a loss of power: once per finished trial, blob and
///         name. Without it a write survives the death of the process, and not that of the machine.
///     read_only: Nothing is created or changed, and a store that is not there is an error.
///     lease: Seconds that a process working on a trial may stay silent before its trial counts as abandoned, above
///         0; None is two minutes. A living process gives signs of life by itself, whatever Python is busy with.
///
/// Raises:
///     StoreNotFoundError: `read_only`, and there is no store.
///     StoreError: Written by a newer version, or a kind of storage that this build does not reach.
///     OSError: The folder cannot be made or read.
///
/// Example:
///     >>> from somatize import Store
///     >>> store = Store("memory://")
///     >>> store.bind("greeting", store.put(b"hello"))
///     >>> store.get(store.resolve("greeting"))
///     b'hello'
#[pyclass(name = "Store", module = "somatize", frozen)]
pub struct PyStore(pub Store, Looks);

/// When each study was last read through this object.
#[derive(Default)]
struct Looks(Mutex<HashMap<String, Instant>>);

#[pymethods]
impl PyStore {
    #[new]
    #[pyo3(signature = (r#where, *, durable = true, read_only = false, lease = None))]
    fn new(
        py: Python<'_>,
        r#where: &Bound<'_, PyAny>,
        durable: bool,
        read_only: bool,
        lease: Option<f64>,
    ) -> PyResult<Self> {
        let mut options = Options::default().with_durable(durable).with_read_only(read_only);
        if let Some(lease) = lease {
            options = options.with_lease(lease_from_secs(lease)?);
        }
        let place = text_of(r#where)?;
        long(py, move || Store::open_with(&place, options)).map(|store| Self(store, Looks::default()))
    }

    /// Where it is.
    #[getter]
    fn location(&self) -> String {
        self.0.location()
    }

    /// Whether it waits for the disk.
    #[getter]
    fn durable(&self) -> bool {
        self.0.options().durable
    }

    /// Whether it was opened for reading.
    #[getter]
    fn read_only(&self) -> bool {
        self.0.options().read_only
    }

    /// Seconds of silence after which a trial counts as abandoned.
    #[getter]
    fn lease(&self) -> f64 {
        self.0.options().lease.as_secs_f64()
    }

    /// Keep bytes, and answer their digest: 64 hexadecimal digits, as `sha256sum` prints them.
    ///
    /// Keeping the same bytes twice keeps one blob. On disk when it returns, where the store is durable.
    ///
    /// Raises:
    ///     OSError: The storage refuses or fails.
    fn put(&self, py: Python<'_>, data: PyBackedBytes) -> PyResult<String> {
        let store = self.0.clone();
        long(py, move || store.put(&data)).map(|digest| digest.to_string())
    }

    /// The bytes with this digest, checked against it.
    ///
    /// Raises:
    ///     BlobNotFoundError: Nothing was put under it.
    ///     CorruptError: The bytes there are other ones.
    ///     DigestError: It is not 64 hexadecimal digits.
    ///     OSError: The storage fails.
    fn get<'py>(&self, py: Python<'py>, digest: &str) -> PyResult<Bound<'py, PyBytes>> {
        let (store, digest) = (self.0.clone(), digest_of(py, digest)?);
        Ok(PyBytes::new(py, &long(py, move || store.get(&digest))?))
    }

    /// Whether there are bytes with this digest; they are not read.
    ///
    /// Raises:
    ///     DigestError: It is not 64 hexadecimal digits.
    ///     OSError: The storage fails.
    fn contains(&self, py: Python<'_>, digest: &str) -> PyResult<bool> {
        let digest = digest_of(py, digest)?;
        brief(py, || self.0.contains(&digest))
    }

    /// Let a name stand for a digest, whatever it stood for. Readers see the old or the new one, whole.
    ///
    /// Args:
    ///     name: Anything: slashes, spaces, any language; it is never taken for a path.
    ///     digest: As `put` answers it.
    ///     metadata: Words to keep beside it; None is none.
    ///
    /// Raises:
    ///     BlobNotFoundError: Nothing was put under the digest.
    ///     DigestError: It is not 64 hexadecimal digits.
    ///     OSError: The storage refuses or fails.
    #[pyo3(signature = (name, digest, metadata = None))]
    fn bind(
        &self,
        py: Python<'_>,
        name: &str,
        digest: &str,
        metadata: Option<BTreeMap<String, String>>,
    ) -> PyResult<()> {
        let digest = digest_of(py, digest)?;
        brief(py, || self.0.bind(name, &digest, &metadata.unwrap_or_default()))
    }

    /// Let a name stand for a digest if it stands for nothing yet: True for exactly one of any number of callers,
    /// in any number of processes.
    ///
    /// Args:
    ///     name: As for `bind`.
    ///     digest: As `put` answers it.
    ///     metadata: Words to keep beside it; None is none.
    ///
    /// Raises:
    ///     BlobNotFoundError: Nothing was put under the digest.
    ///     DigestError: It is not 64 hexadecimal digits.
    ///     OSError: The storage refuses or fails.
    #[pyo3(signature = (name, digest, metadata = None))]
    fn claim(
        &self,
        py: Python<'_>,
        name: &str,
        digest: &str,
        metadata: Option<BTreeMap<String, String>>,
    ) -> PyResult<bool> {
        let digest = digest_of(py, digest)?;
        brief(py, || self.0.claim(name, &digest, &metadata.unwrap_or_default()))
    }

    /// The digest that a name stands for.
    ///
    /// Raises:
    ///     NameNotFoundError: Nobody bound it; the hint names a close one, or those there are.
    ///     CorruptError: Its file does not read back.
    ///     OSError: The storage fails.
    fn resolve(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        Ok(self.binding(py, name)?.digest.to_string())
    }

    /// The words kept beside a name.
    ///
    /// Raises:
    ///     NameNotFoundError: Nobody bound it; the hint names a close one.
    ///     CorruptError: Its file does not read back.
    ///     OSError: The storage fails.
    fn metadata(&self, py: Python<'_>, name: &str) -> PyResult<BTreeMap<String, String>> {
        Ok(self.binding(py, name)?.metadata)
    }

    /// The names that start with `prefix`, sorted.
    ///
    /// Raises:
    ///     OSError: The storage fails.
    #[pyo3(signature = (prefix = ""))]
    fn names(&self, py: Python<'_>, prefix: &str) -> PyResult<Vec<String>> {
        let (store, prefix) = (self.0.clone(), prefix.to_owned());
        long(py, move || store.names(&prefix))
    }

    /// The names of the studies that somebody has begun, sorted.
    ///
    /// Raises:
    ///     OSError: The storage fails.
    fn studies(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let store = self.0.clone();
        long(py, move || store.studies())
    }

    /// Look at every byte, and tell of every place that does not read (file, byte, what is wrong, size), and of every
    /// recorded point that is another one than the sampler it names gives for its trial. Empty when all is well.
    /// Writes nothing, and may be called while others write.
    ///
    /// Raises:
    ///     OSError: The storage fails.
    fn verify(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let store = self.0.clone();
        let (found, misfits) =
            long(py, move || Ok::<_, StudyError>((store.verify()?, soma_study::misfits(&store)?)))?;
        let damage = found.damage.iter().map(ToString::to_string);
        Ok(damage.chain(misfits.iter().map(ToString::to_string)).collect())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let options = self.options(py)?;
        let mut text = format!("Store({}", PyString::new(py, &self.0.location()).repr()?);
        for (name, value) in options {
            text.extend([", ", &name.extract::<String>()?, "=", value.repr()?.to_str()?]);
        }
        Ok(text + ")")
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((String,), Bound<'py, PyDict>)> {
        let place = self.0.location();
        if place.starts_with("memory://") {
            let hint = Some("use a folder, which other processes can open".to_owned());
            return Err(raise(
                py,
                "StoreError",
                "a `memory://` store lives in one process and does not pickle",
                hint,
            )?);
        }
        Ok(((place,), self.options(py)?))
    }
}

impl PyStore {
    /// Whether a study was read so recently that what is new in it is read in no time worth watching; counts this as
    /// the next look.
    pub fn is_fresh(&self, study: &str) -> bool {
        let mut looks = self.1.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if let Some(last) = looks.get_mut(study) {
            return now.duration_since(std::mem::replace(last, now)) < FRESH;
        }
        looks.insert(study.to_owned(), now);
        false
    }

    fn binding(&self, py: Python<'_>, name: &str) -> PyResult<Binding> {
        if let Some(binding) = brief(py, || self.0.resolve(name))? {
            return Ok(binding);
        }
        let store = self.0.clone();
        let names = long(py, move || store.names(""))?;
        let text = format!("there is no name `{name}` in the store `{}`", self.0.location());
        let hint = close_name(py, name, &names)?.unwrap_or_else(|| {
            if names.is_empty() {
                return "it has no names: `store.bind`, or `somatize.torch.keep`, gives one".to_owned();
            }
            format!("it has {}; `store.names()` lists them all", listed(names.iter().map(String::as_str)))
        });
        Err(raise(py, "NameNotFoundError", &text, Some(hint))?)
    }

    /// The options that are not the default, as keyword arguments.
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (given, default) = (self.0.options(), Options::default());
        let options = PyDict::new(py);
        if given.durable != default.durable {
            options.set_item("durable", given.durable)?;
        }
        if given.read_only != default.read_only {
            options.set_item("read_only", given.read_only)?;
        }
        if given.lease != default.lease {
            options.set_item("lease", given.lease.as_secs_f64())?;
        }
        Ok(options)
    }
}

/// Seconds as a lease.
///
/// # Errors
/// `ValueError` for what is not above zero, or is more than a duration can be.
pub fn lease_from_secs(secs: f64) -> PyResult<Duration> {
    match Duration::try_from_secs_f64(secs) {
        Ok(lease) if !lease.is_zero() => Ok(lease),
        _ => Err(PyValueError::new_err(format!("`lease` was given {secs}, expected seconds above 0"))),
    }
}

fn text_of(place: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = place.py();
    let Ok(place) = place.extract::<PathBuf>() else {
        let given = named(place)?;
        let text = format!("`where` was given {given}, expected the path of a folder, or \"memory://\"");
        return Err(PyTypeError::new_err(text));
    };
    place.into_os_string().into_string().map_err(|place| {
        let text = format!("`{}` was given, expected a path that reads as text", place.display());
        raise(py, "StoreError", &text, None).unwrap_or_else(|broken| broken)
    })
}

fn digest_of(py: Python<'_>, text: &str) -> PyResult<Digest> {
    text.parse::<Digest>().or_raise(py)
}

/// Puts the class into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyStore>()
}
