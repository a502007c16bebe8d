//! The records of one study: its document, its claims and its ledgers. What the records mean is not known here.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::backend::Backend;
use crate::error::{Result, StoreError};
use crate::follow::Follower;
use crate::fork::PerProcess;
use crate::heartbeat::{Heart, Held};
use crate::ledger::{Ledger, Place};
use crate::seal::{self, Sealed};
use crate::store::Options;
use crate::{fork, layout, line, written_once};

/// The records of one study. A clone is the same study; so is every handle that the same store gives for its name.
#[derive(Debug, Clone)]
pub struct StudyRecords(Arc<StudyShared>);

#[derive(Debug)]
pub(crate) struct StudyShared {
    backend: Arc<dyn Backend>,
    options: Options,
    name: String,
    folder: String,
    live: PerProcess<Live>,
}

/// What a process has of a study, and a forked child has anew.
#[derive(Debug)]
struct Live {
    ledger: Mutex<Ledger>,
    heart: Arc<Heart>,
    storage_now: Mutex<Option<(SystemTime, Instant)>>,
    attached: OnceLock<Arc<dyn Attached>>,
}

/// What may be kept with a study: anything that threads can share.
trait Attached: Any + Send + Sync + std::fmt::Debug {
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<T: Any + Send + Sync + std::fmt::Debug> Attached for T {
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl StudyShared {
    pub(crate) fn new(
        backend: Arc<dyn Backend>,
        options: Options,
        name: String,
        folder: String,
    ) -> Arc<Self> {
        let live = PerProcess::new(Live::new(&backend, options, &folder));
        Arc::new(Self { backend, options, name, folder, live })
    }

    fn live(&self) -> &Live {
        self.live.get(|| Live::new(&self.backend, self.options, &self.folder))
    }

    /// A sign of life, unless something else was written within the last `beat`.
    pub(crate) fn beat(&self, beat: Duration) -> Result<()> {
        let mut ledger = lock(&self.live().ledger);
        let is_due = ledger.last_write().is_some_and(|last| last.elapsed() >= beat / 2);
        if is_due { ledger.beat() } else { Ok(()) }
    }
}

impl Live {
    fn new(backend: &Arc<dyn Backend>, options: Options, folder: &str) -> Self {
        let beat = options.beat();
        let opening =
            format!(r#"{{"kind":"open","version":{},"beat_secs":{}}}"#, layout::VERSION, beat.as_secs_f64());
        Self {
            ledger: Mutex::new(Ledger::new(Arc::clone(backend), folder.to_owned(), opening.into_bytes())),
            heart: Heart::new(beat),
            storage_now: Mutex::default(),
            attached: OnceLock::new(),
        }
    }
}

impl Drop for StudyShared {
    fn drop(&mut self) {
        // A child leaves alone what it inherited: the ledger is its parent's.
        if let Some(live) = self.live.get_mut() {
            live.heart.end();
            live.ledger.get_mut().unwrap_or_else(PoisonError::into_inner).close();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic under a lock leaves nothing half done: every write is one call.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StudyRecords {
    pub(crate) fn new(shared: Arc<StudyShared>) -> Self {
        Self(shared)
    }

    /// The study's name, in Unicode's composed form.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Where it lies, in a person's words.
    pub fn path(&self) -> String {
        self.0.backend.path(&self.0.folder)
    }

    /// How its store was opened.
    pub fn options(&self) -> Options {
        self.0.options
    }

    /// What a person would call a ledger of this study.
    pub fn ledger_path(&self, ledger: &str) -> String {
        self.0.backend.path(&layout::ledger(&self.0.folder, ledger))
    }

    /// What a person would call a version of the study's document.
    pub fn document_path(&self, version: u32) -> String {
        self.0.backend.path(&layout::document(&self.0.folder, version))
    }

    /// A version of the study's document, counted from 1, as one JSON object. None when it was not written.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] where it does not read back; the storage fails.
    pub fn document(&self, version: u32) -> Result<Option<Vec<u8>>> {
        let key = layout::document(&self.0.folder, version);
        let Some(mut bytes) = written_once::read(&*self.0.backend, &key)? else { return Ok(None) };
        let whole = bytes.strip_suffix(b"\n").is_some_and(line::is_sound);
        if !whole {
            let what = "its checksum is not that of its content".to_owned();
            return Err(StoreError::Damaged { path: self.0.backend.path(&key), what });
        }
        bytes.pop();
        Ok(Some(bytes))
    }

    /// Writes a version of the study's document, a JSON object on one line whose first member is `"name"`. True for
    /// exactly one of any number of callers; on disk when it returns, where the store is durable.
    ///
    /// # Errors
    /// [`StoreError::BadRecord`] for anything but an object on one line; the storage refuses or fails.
    pub fn write_document(&self, version: u32, body: &[u8]) -> Result<bool> {
        let mut sealed = Vec::new();
        line::seal(&mut sealed, body)?;
        self.0.backend.create(&layout::document(&self.0.folder, version), &sealed)
    }

    /// Claims an attempt at a trial. True for exactly one of any number of callers, on any machines.
    ///
    /// # Errors
    /// The storage refuses or fails.
    pub fn claim(&self, trial: u64, attempt: u32) -> Result<bool> {
        fork::look();
        self.0.backend.mark(&layout::claim(&self.0.folder, trial, attempt))
    }

    /// Whether somebody claimed this attempt.
    ///
    /// # Errors
    /// The storage fails.
    pub fn is_claimed(&self, trial: u64, attempt: u32) -> Result<bool> {
        self.0.backend.exists(&layout::claim(&self.0.folder, trial, attempt))
    }

    /// Every claim, sorted by trial and attempt. Costs a listing of all of them.
    ///
    /// # Errors
    /// The storage fails.
    pub fn claims(&self) -> Result<Vec<(u64, u32)>> {
        let listed = self.0.backend.list(&layout::claims(&self.0.folder))?;
        let mut claims: Vec<_> =
            listed.iter().filter_map(|component| layout::read_claim(component)).collect();
        claims.sort_unstable();
        Ok(claims)
    }

    /// How long what another machine made may be missing from this one's listings: nobody is taken for dead before.
    pub fn listing_lag(&self) -> Duration {
        self.0.backend.listing_lag()
    }

    /// How long ago a claim was made, by the storage's clock. None when it is not there, or where the storage's time
    /// cannot be known.
    ///
    /// # Errors
    /// The storage fails.
    pub fn claim_age(&self, trial: u64, attempt: u32) -> Result<Option<Duration>> {
        let key = layout::claim(&self.0.folder, trial, attempt);
        let (Some(made), Some(now)) = (self.0.backend.modified(&key)?, self.storage_now()?) else {
            return Ok(None);
        };
        Ok(Some(now.duration_since(made).unwrap_or_default()))
    }

    /// What the storage's clock says, asked at most once a second. None where it cannot be known without writing.
    ///
    /// # Errors
    /// The storage fails.
    pub fn storage_now(&self) -> Result<Option<SystemTime>> {
        const GOOD_FOR: Duration = Duration::from_secs(1);
        let mut known = lock(&self.0.live().storage_now);
        if let Some((then, asked)) = known.filter(|(_, asked)| asked.elapsed() < GOOD_FOR) {
            return Ok(Some(then + asked.elapsed()));
        }
        // A moment too early makes a silence too short, never too long.
        *known = self.0.backend.now()?.map(|now| (now, Instant::now()));
        Ok(known.map(|(now, _)| now))
    }

    /// Adds a record, a JSON object on one line whose first member is `"kind"`, to this process's ledger. Every other
    /// reader sees it when this returns; with `barrier` it is also on disk, where the store is durable.
    ///
    /// After an error the record may or may not be there, whole; the next call writes to a ledger that is sound.
    ///
    /// # Errors
    /// The storage refuses or fails, for lack of space for instance: with the path and what was tried.
    pub fn write(&self, body: &[u8], barrier: bool) -> Result<Place> {
        lock(&self.0.live().ledger).write(body, barrier)
    }

    /// Which of this process's ledgers the next record goes to, counted from 1: another one after a write or a barrier
    /// failed. What was said in an earlier one and not followed by a barrier may be lost, and is to be said again
    /// before anything that builds on it is acknowledged.
    pub fn epoch(&self) -> u64 {
        lock(&self.0.live().ledger).epoch()
    }

    /// Whether the ledger this process writes to was taken away, with the study it belongs to or without. Looks when
    /// the last look is longer ago than `within`, and says true once: the next record begins another ledger.
    ///
    /// # Errors
    /// The storage fails.
    pub fn is_taken_away(&self, within: Duration) -> Result<bool> {
        lock(&self.0.live().ledger).is_taken_away(within)
    }

    /// The ledger this process writes to, if it has begun one.
    pub fn own_ledger(&self) -> Option<Arc<str>> {
        lock(&self.0.live().ledger).name().cloned()
    }

    /// Gives signs of life until the answer is dropped: from a thread of its own, whatever the caller does meanwhile.
    pub fn hold(&self) -> Held {
        self.0.live().heart.hold(&self.0)
    }

    /// Time since this study was first looked at in this process, without the stretches in which the process itself
    /// was suspended: what silence is measured on.
    pub fn awake(&self) -> Duration {
        self.0.live().heart.awake(&self.0)
    }

    /// A reader of all ledgers that remembers how far it came.
    pub fn follower(&self) -> Follower {
        fork::look();
        Follower::new(Arc::clone(&self.0.backend), self.0.folder.clone())
    }

    /// What every reader in this process shares, made at the first call and anew in a forked child. One type per
    /// study: a second one is not kept.
    pub fn attached<T: Default + Send + Sync + std::fmt::Debug + 'static>(&self) -> Arc<T> {
        let kept = self.0.live().attached.get_or_init(|| Arc::new(T::default()));
        Arc::clone(kept).as_any().downcast().unwrap_or_default()
    }

    /// Gathers the beginnings of the study's small ledgers (up to 256 KiB each) in one file, a seal: who reads the study
    /// for the first time opens that one and not each of them. None, and nothing is written, where there are fewer than
    /// two or nothing is new since the last seal. Nothing is taken away but older seals, and losing one loses nothing;
    /// anybody may go on writing and reading meanwhile.
    ///
    /// # Errors
    /// The storage refuses or fails.
    pub fn seal(&self) -> Result<Option<Sealed>> {
        seal::write(&*self.0.backend, &self.0.folder)
    }

    /// Says that this process is done with the study for now: trials it still holds count as abandoned at once.
    pub fn close(&self) {
        lock(&self.0.live().ledger).close();
    }
}
