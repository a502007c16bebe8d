//! A store: blobs, names and studies over one backend.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::backend::{Backend, Folder, Memory};
use crate::digest::Digest;
use crate::error::{Result, StoreError};
use crate::fork::PerProcess;
use crate::study::{StudyRecords, StudyShared};
use crate::{fork, layout, line, written_once};

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Options {
    /// Wait for the disk where something must survive a loss of power: once per finished trial, blob and name. On by
    /// default; without it a write survives the death of the process and not that of the machine.
    pub durable: bool,
    /// Read only: nothing is created or changed, and a store that is not there is an error. Off by default.
    pub read_only: bool,
    /// How long a process that works on a trial may stay silent before its trial counts as abandoned; 2 minutes by
    /// default. A living process gives a sign of life at least eight times as often, whatever Python does meanwhile.
    pub lease: Duration,
}

impl Options {
    /// The lease when nobody says one.
    pub const DEFAULT_LEASE: Duration = Duration::from_secs(120);
    /// Signs of life per lease.
    const BEATS_PER_LEASE: u32 = 8;
    /// Signs of life come at least this often, so that a reader with a shorter lease than the writer's sees them too.
    const SLOWEST_BEAT: Duration = Duration::from_secs(1);
    /// And at most this often.
    const FASTEST_BEAT: Duration = Duration::from_millis(10);

    /// Sets `durable`.
    #[must_use]
    pub const fn with_durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }

    /// Sets `read_only`.
    #[must_use]
    pub const fn with_read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Sets `lease`.
    #[must_use]
    pub const fn with_lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Between two signs of life of a process that has nothing else to write.
    pub(crate) fn beat(&self) -> Duration {
        (self.lease / Self::BEATS_PER_LEASE).clamp(Self::FASTEST_BEAT, Self::SLOWEST_BEAT)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { durable: true, read_only: false, lease: Self::DEFAULT_LEASE }
    }
}

/// Bytes by content, names for them, and studies.
///
/// A clone is the same store. Every method may be called from any thread, from a forked child, and by any number of
/// processes and machines at once. Two stores that one process opens on one folder with the same options share what
/// they have read.
///
/// ```
/// use soma_store::Store;
///
/// let store = Store::open("memory://")?;
/// let digest = store.put(b"weights")?;
/// store.bind("best", &digest, &Default::default())?;
/// assert_eq!(store.get(&store.resolve("best")?.unwrap().digest)?, b"weights");
/// # Ok::<(), soma_store::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Store(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    backend: Arc<dyn Backend>,
    options: Options,
    studies: PerProcess<Studies>,
}

/// The studies that somebody in this process looks at: by the name as it was given, and by component, as a name has more
/// than one form.
type Studies = Mutex<[FxHashMap<String, Arc<StudyShared>>; 2]>;
/// The stores on folders that this process has open.
type Opened = Mutex<Vec<(PathBuf, Options, Weak<Shared>)>>;

static OPENED: std::sync::LazyLock<PerProcess<Opened>> =
    std::sync::LazyLock::new(|| PerProcess::new(Mutex::default()));

/// A name and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The name as it was given.
    pub name: String,
    /// The bytes it stands for.
    pub digest: Digest,
    /// What was said about them.
    pub metadata: BTreeMap<String, String>,
}

/// A binding as it lies in storage.
#[derive(Serialize, Deserialize)]
struct BindingFile {
    name: String,
    digest: String,
    #[serde(default)]
    metadata: BTreeMap<String, String>,
}

impl Store {
    /// Opens the store at `location`, a folder (made when it is not there) or `memory://` (a new one every time).
    ///
    /// # Errors
    /// The folder cannot be made or read, was written by a newer version, or the location is of another kind.
    pub fn open(location: &str) -> Result<Self> {
        Self::open_with(location, Options::default())
    }

    /// Opens a store for reading: nothing is created, and a read-only mount will do.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] and [`StoreError::NotAStore`] where there is nothing to read; as [`Store::open`].
    pub fn read_only(location: &str) -> Result<Self> {
        Self::open_with(location, Options::default().with_read_only(true))
    }

    /// Opens a store in a way of one's own.
    ///
    /// # Errors
    /// As [`Store::open`] and [`Store::read_only`].
    pub fn open_with(location: &str, options: Options) -> Result<Self> {
        fork::look();
        if location == "memory://" {
            return Self::over(Arc::new(Memory::new()), options);
        }
        if let Some((scheme, _)) = location.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) {
            let (location, scheme) = (location.to_owned(), scheme.to_owned());
            return Err(StoreError::NoBackend { location, scheme });
        }
        if location.is_empty() {
            return Err(StoreError::NotFound { location: String::new() });
        }
        let folder = Folder::new(Path::new(location), options.durable, options.read_only)?;
        let store = Self::shared(folder, options);
        store.check_format()?;
        Ok(store)
    }

    /// The store that this process has open on this folder in this way, or a new one.
    fn shared(folder: Folder, options: Options) -> Self {
        let known = folder.root().to_owned();
        let opened = OPENED.get(Mutex::default);
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.retain(|(_, _, shared)| shared.strong_count() > 0);
        let same = opened.iter().find(|(at, with, _)| *at == known && *with == options);
        if let Some(shared) = same.and_then(|(_, _, shared)| shared.upgrade()) {
            return Self(shared);
        }
        let store = Self::new(Arc::new(folder), options);
        opened.push((known, options, Arc::downgrade(&store.0)));
        store
    }

    /// Opens a store over a backend of one's own.
    ///
    /// # Errors
    /// As [`Store::open`] and [`Store::read_only`].
    pub fn over(backend: Arc<dyn Backend>, options: Options) -> Result<Self> {
        let store = Self::new(backend, options);
        store.check_format()?;
        Ok(store)
    }

    fn new(backend: Arc<dyn Backend>, options: Options) -> Self {
        Self(Arc::new(Shared { backend, options, studies: PerProcess::new(Mutex::default()) }))
    }

    /// Reads what the store says it is, or says it where nothing is said yet.
    fn check_format(&self) -> Result<()> {
        let backend = &self.0.backend;
        let found = match backend.read(layout::FORMAT)? {
            None if self.0.options.read_only => {
                return Err(StoreError::NotAStore { location: backend.location() });
            }
            None => {
                backend.create(layout::FORMAT, layout::FORMAT_TEXT.as_bytes())?;
                backend.read(layout::FORMAT)?.unwrap_or_default()
            }
            Some(found) => found,
        };
        let found = if is_begun_format(&found) { self.finish_format()? } else { found };
        if found == layout::FORMAT_TEXT.as_bytes() {
            return Ok(());
        }
        let path = backend.path(layout::FORMAT);
        let text = String::from_utf8_lossy(&found);
        match text.trim().strip_prefix("soma store, version ").and_then(|version| version.parse().ok()) {
            Some(version) if version > layout::VERSION => {
                Err(StoreError::NewerVersion { path, found: version, known: layout::VERSION })
            }
            _ => {
                let what =
                    format!("it says `{}`", text.trim().chars().take(40).collect::<String>().escape_debug());
                Err(StoreError::Damaged { path, what })
            }
        }
    }

    /// What the store says it is, where somebody is saying it or was killed half way: on file systems without a rename
    /// that refuses to replace it is written in place. What it will be is known, so it is finished; an empty file may
    /// be anybody's.
    fn finish_format(&self) -> Result<Vec<u8>> {
        let backend = &self.0.backend;
        let found = written_once::wait(&**backend, layout::FORMAT, |found| !is_begun_format(found))?;
        let is_left = found.as_ref().is_some_and(|found| !found.is_empty() && is_begun_format(found));
        if self.0.options.read_only || !is_left {
            return Ok(found.unwrap_or_default());
        }
        backend.replace(layout::FORMAT, layout::FORMAT_TEXT.as_bytes())?;
        Ok(backend.read(layout::FORMAT)?.unwrap_or_default())
    }

    /// Where it is.
    pub fn location(&self) -> String {
        self.0.backend.location()
    }

    /// How it was opened.
    pub fn options(&self) -> Options {
        self.0.options
    }

    pub(crate) fn backend(&self) -> &Arc<dyn Backend> {
        &self.0.backend
    }

    /// Keeps `bytes` and answers their digest. Keeping the same bytes twice keeps one blob; a damaged one is replaced.
    /// On disk when it returns, where the store is durable.
    ///
    /// # Errors
    /// The storage refuses or fails.
    pub fn put(&self, bytes: &[u8]) -> Result<Digest> {
        let digest = Digest::of(bytes);
        let key = layout::blob(&digest);
        let backend = &self.0.backend;
        if backend.create(&key, bytes)? {
            return Ok(digest);
        }
        if backend.read(&key)?.is_none_or(|found| Digest::of(&found) != digest) {
            backend.replace(&key, bytes)?;
        }
        Ok(digest)
    }

    /// The bytes with this digest, checked.
    ///
    /// # Errors
    /// [`StoreError::BlobNotFound`]; [`StoreError::BlobDamaged`] where the bytes are other ones; the storage fails.
    pub fn get(&self, digest: &Digest) -> Result<Vec<u8>> {
        let key = layout::blob(digest);
        let backend = &self.0.backend;
        let Some(bytes) = backend.read(&key)? else {
            return Err(StoreError::BlobNotFound { digest: digest.to_string(), location: self.location() });
        };
        let found = Digest::of(&bytes);
        if found != *digest {
            let (digest, found) = (digest.to_string(), found.to_string());
            return Err(StoreError::BlobDamaged {
                digest,
                found,
                path: backend.path(&key),
                size: bytes.len(),
            });
        }
        Ok(bytes)
    }

    /// Whether there is a blob with this digest; its bytes are not read.
    ///
    /// # Errors
    /// The storage fails.
    pub fn contains(&self, digest: &Digest) -> Result<bool> {
        self.0.backend.exists(&layout::blob(digest))
    }

    /// Lets `name` stand for `digest`, whatever it stood for. Readers see the old or the new binding, whole. On disk
    /// when it returns, where the store is durable.
    ///
    /// # Errors
    /// [`StoreError::BlobNotFound`] where nothing was put under the digest; the storage refuses or fails.
    pub fn bind(&self, name: &str, digest: &Digest, metadata: &BTreeMap<String, String>) -> Result<()> {
        let file = self.binding_file(name, digest, metadata)?;
        self.0.backend.replace(&layout::name(name), &file)
    }

    /// Lets `name` stand for `digest` if it stands for nothing yet. True for exactly one of any number of callers.
    ///
    /// # Errors
    /// As [`Store::bind`].
    pub fn claim(&self, name: &str, digest: &Digest, metadata: &BTreeMap<String, String>) -> Result<bool> {
        let file = self.binding_file(name, digest, metadata)?;
        self.0.backend.create(&layout::name(name), &file)
    }

    fn binding_file(
        &self,
        name: &str,
        digest: &Digest,
        metadata: &BTreeMap<String, String>,
    ) -> Result<Vec<u8>> {
        if !self.contains(digest)? {
            return Err(StoreError::BlobNotFound { digest: digest.to_string(), location: self.location() });
        }
        let file = BindingFile {
            name: layout::canonical(name),
            digest: digest.to_string(),
            metadata: metadata.clone(),
        };
        let body = serde_json::to_vec(&file).expect("text and maps of text are JSON");
        let mut sealed = Vec::new();
        line::seal(&mut sealed, &body)?;
        Ok(sealed)
    }

    /// What a name stands for. None when nobody bound it.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] where its file does not read back; the storage fails.
    pub fn resolve(&self, name: &str) -> Result<Option<Binding>> {
        self.read_binding(&layout::name(name))
    }

    pub(crate) fn read_binding(&self, key: &str) -> Result<Option<Binding>> {
        let Some(bytes) = written_once::read(&*self.0.backend, key)? else { return Ok(None) };
        let damaged =
            |what: &str| StoreError::Damaged { path: self.0.backend.path(key), what: what.to_owned() };
        let whole = bytes.strip_suffix(b"\n").filter(|whole| line::is_sound(whole));
        let whole = whole.ok_or_else(|| damaged("its checksum is not that of its content"))?;
        let file: BindingFile = serde_json::from_slice(whole).map_err(|e| damaged(&e.to_string()))?;
        Ok(Some(Binding { name: file.name, digest: file.digest.parse()?, metadata: file.metadata }))
    }

    /// The names that start with `prefix`, sorted. A name whose file is damaged is left out; `verify` tells.
    ///
    /// # Errors
    /// The storage fails.
    pub fn names(&self, prefix: &str) -> Result<Vec<String>> {
        let prefix = layout::canonical(prefix);
        let mut names = Vec::new();
        for component in self.0.backend.list(layout::NAMES)? {
            if layout::is_unfinished(&component) {
                continue;
            }
            if layout::is_plain_component(&component) {
                names.push(component);
                continue;
            }
            match self.read_binding(&format!("{}/{component}", layout::NAMES)) {
                Ok(binding) => names.extend(binding.map(|binding| binding.name)),
                Err(StoreError::Damaged { .. }) => {}
                Err(e) => return Err(e),
            }
        }
        names.retain(|name| name.starts_with(&prefix));
        names.sort();
        Ok(names)
    }

    /// The names of the studies that somebody has begun, sorted. Where the document that holds the name is damaged or
    /// gone and there are ledgers, what the folder is called: the name itself, or what is left of it.
    ///
    /// # Errors
    /// The storage fails.
    pub fn studies(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for component in self.0.backend.list(layout::STUDIES)? {
            if layout::is_unfinished(&component) {
                continue;
            }
            let folder = layout::study(&component);
            // Why one does not read is said by whoever reads it.
            let document = written_once::read(&*self.0.backend, &layout::document(&folder, 1));
            if matches!(document, Ok(None)) && self.0.backend.list(&layout::ledgers(&folder))?.is_empty() {
                continue;
            }
            let name = document.ok().flatten().and_then(|document| name_in(&document));
            names.push(name.unwrap_or(component));
        }
        names.sort();
        Ok(names)
    }

    /// The records of a study, begun or not. Costs nothing and reads nothing.
    pub fn study(&self, name: &str) -> StudyRecords {
        let studies = self.0.studies.get(Mutex::default);
        let mut studies = studies.lock().unwrap_or_else(PoisonError::into_inner);
        let [by_name, by_component] = &mut *studies;
        if let Some(shared) = by_name.get(name) {
            return StudyRecords::new(Arc::clone(shared));
        }
        let component = layout::component(name);
        let shared = by_component.get(&component).cloned().unwrap_or_else(|| {
            let name = layout::canonical(name);
            let folder = layout::study(&component);
            let shared = StudyShared::new(Arc::clone(&self.0.backend), self.0.options, name, folder);
            by_component.insert(component, Arc::clone(&shared));
            shared
        });
        by_name.insert(name.to_owned(), Arc::clone(&shared));
        StudyRecords::new(shared)
    }
}

/// The part of a study's document that this crate knows.
#[derive(Deserialize)]
struct Named {
    name: String,
}

/// The name of the study whose document this is.
pub(crate) fn name_in(document: &[u8]) -> Option<String> {
    serde_json::from_slice::<Named>(document).ok().map(|document| document.name)
}

/// Whether a `format` file is the beginning of what it is to be.
fn is_begun_format(found: &[u8]) -> bool {
    found.len() < layout::FORMAT_TEXT.len() && layout::FORMAT_TEXT.as_bytes().starts_with(found)
}

fn is_scheme(text: &str) -> bool {
    text.len() > 1 && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}
