//! A backend that fails on purpose: for tests of what is built on one.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::backend::{Append, Backend, Follow, Memory, Tail, Watch};
use crate::error::{Result, StoreError};

/// What goes wrong at the call that was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The disk is full: nothing of the bytes is written.
    Full,
    /// The disk fills up half way: a part of the bytes is written.
    Short,
    /// The device fails: of the bytes all are written, and the call says it failed.
    Broken,
}

/// Storage in memory that fails at a chosen call, lists late where told so, and loses on [`Faulty::lose_power`] what no write barrier kept.
///
/// Clones are the same storage.
#[derive(Debug, Clone, Default)]
pub struct Faulty(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    memory: Memory,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Calls that change something, so far.
    calls: u64,
    faults: BTreeMap<u64, Fault>,
    /// How long a new entry holds a half of its bytes before it holds all of them.
    half_way: Duration,
    /// Keys whose bytes the device does not give.
    unreadable: BTreeSet<String>,
    /// How old a listing may be, and those that were given, by folder.
    lag: Duration,
    listings: BTreeMap<String, (Instant, Vec<String>)>,
    /// Keys whose content, or whose being there, is not on disk: and the bytes that are.
    unsynced: BTreeMap<String, Option<usize>>,
}

impl Faulty {
    /// Nothing stored, nothing planned.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many calls that change something there were.
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// Lets the call with this number fail, counted from 0 like [`Faulty::calls`].
    pub fn fail_at(&self, call: u64, fault: Fault) {
        self.state().faults.insert(call, fault);
    }

    /// Lets following every entry that is in `folder` now fail, or all entries be readable again.
    ///
    /// # Panics
    /// Never: memory does not fail.
    pub fn set_readable(&self, folder: &str, is_readable: bool) {
        let listed = self.0.memory.list(folder).expect("memory does not fail");
        let keys = listed.iter().map(|entry| format!("{folder}/{entry}"));
        self.state().unreadable = if is_readable { BTreeSet::new() } else { keys.collect() };
    }

    /// Lets every listing be up to `lag` old, as a client of a file server does that keeps what it knows of a folder.
    pub fn lag_listings(&self, lag: Duration) {
        let mut state = self.state();
        state.lag = lag;
        state.listings.clear();
    }

    /// Lets every new entry hold a half of its bytes for so long, as on a file system with neither a rename that refuses
    /// to replace nor links, where it is written in place.
    pub fn create_slowly(&self, half_way: Duration) {
        self.state().half_way = half_way;
    }

    /// The machine loses power: of every entry whose last bytes no barrier kept, `keep` of the unsynced ones remain
    /// (a number from 0 to 1), and an entry whose creation no barrier kept is gone where `keep` is 0.
    ///
    /// # Panics
    /// Never: memory does not fail.
    pub fn lose_power(&self, keep: f64) {
        let unsynced = std::mem::take(&mut self.state().unsynced);
        for (key, synced) in unsynced {
            let Ok(Some(bytes)) = self.0.memory.read(&key) else { continue };
            let synced_bytes = synced.unwrap_or(0);
            let kept = synced_bytes + ((bytes.len() - synced_bytes) as f64 * keep) as usize;
            let done = if synced.is_none() && keep == 0.0 {
                self.0.memory.remove(&key).map(drop)
            } else {
                self.0.memory.replace(&key, &bytes[..kept])
            };
            done.expect("memory does not fail");
        }
    }

    fn fault(&self) -> Option<Fault> {
        let mut state = self.state();
        let call = state.calls;
        state.calls += 1;
        state.faults.remove(&call)
    }

    fn checked(&self, action: &'static str, key: &str) -> Result<()> {
        self.fault().map_or(Ok(()), |fault| Err(failure(action, key, fault)))
    }
}

fn failure(action: &'static str, key: &str, fault: Fault) -> StoreError {
    let kind = match fault {
        Fault::Full | Fault::Short => io::ErrorKind::StorageFull,
        Fault::Broken => io::ErrorKind::Other,
    };
    StoreError::io(action, key, kind)
}

impl Backend for Faulty {
    fn location(&self) -> String {
        "faulty://".to_owned()
    }

    fn path(&self, key: &str) -> String {
        format!("faulty://{key}")
    }

    fn read(&self, key: &str) -> Result<Option<Vec<u8>>> {
        self.0.memory.read(key)
    }

    fn exists(&self, key: &str) -> Result<bool> {
        self.0.memory.exists(key)
    }

    fn mark(&self, key: &str) -> Result<bool> {
        self.checked("create", key)?;
        let is_new = self.0.memory.mark(key)?;
        if is_new {
            self.state().unsynced.insert(key.to_owned(), None);
        }
        Ok(is_new)
    }

    fn create(&self, key: &str, bytes: &[u8]) -> Result<bool> {
        self.checked("create", key)?;
        let half_way = self.state().half_way;
        if half_way.is_zero() {
            return self.0.memory.create(key, bytes);
        }
        let is_new = self.0.memory.create(key, &bytes[..bytes.len() / 2])?;
        if is_new {
            std::thread::sleep(half_way);
            self.0.memory.replace(key, bytes)?;
        }
        Ok(is_new)
    }

    fn replace(&self, key: &str, bytes: &[u8]) -> Result<()> {
        self.checked("replace", key)?;
        self.0.memory.replace(key, bytes)
    }

    fn remove(&self, key: &str) -> Result<bool> {
        self.checked("remove", key)?;
        self.0.memory.remove(key)
    }

    fn list(&self, folder: &str) -> Result<Vec<String>> {
        let mut state = self.state();
        if let Some((_, listed)) = state.listings.get(folder).filter(|(then, _)| then.elapsed() < state.lag) {
            return Ok(listed.clone());
        }
        let listed = self.0.memory.list(folder)?;
        state.listings.insert(folder.to_owned(), (Instant::now(), listed.clone()));
        Ok(listed)
    }

    fn listing_lag(&self) -> Duration {
        self.state().lag
    }

    fn watch(&self, folder: &str) -> Box<dyn Watch> {
        Box::new(Watching { storage: self.clone(), folder: folder.to_owned(), listed: Vec::new() })
    }

    fn append(&self, key: &str) -> Result<Option<Box<dyn Append>>> {
        self.checked("create", key)?;
        let end = self.0.memory.append(key)?;
        // A new file is in its folder, on disk, before it is used.
        Ok(end.map(|end| {
            let (storage, key) = (self.clone(), key.to_owned());
            Box::new(Appending { storage, key, end, bytes: 0, synced: 0, is_torn: false }) as Box<dyn Append>
        }))
    }

    fn follow(&self, key: &str) -> Box<dyn Follow> {
        Box::new(Following { storage: self.clone(), key: key.to_owned(), end: self.0.memory.follow(key) })
    }

    fn modified(&self, key: &str) -> Result<Option<SystemTime>> {
        self.0.memory.modified(key)
    }

    fn now(&self) -> Result<Option<SystemTime>> {
        self.0.memory.now()
    }
}

#[derive(Debug)]
struct Watching {
    storage: Faulty,
    folder: String,
    listed: Vec<String>,
}

impl Watch for Watching {
    fn changed(&mut self) -> Result<Option<Vec<String>>> {
        let listed = self.storage.list(&self.folder)?;
        let is_new = listed != self.listed;
        self.listed.clone_from(&listed);
        Ok(is_new.then_some(listed))
    }
}

#[derive(Debug)]
struct Following {
    storage: Faulty,
    key: String,
    end: Box<dyn Follow>,
}

impl Follow for Following {
    fn read_on(&mut self, offset: u64, into: &mut Vec<u8>) -> Result<Tail> {
        if self.storage.state().unreadable.contains(&self.key) {
            return Err(failure("read", &self.key, Fault::Broken));
        }
        self.end.read_on(offset, into)
    }

    fn modified(&mut self) -> Result<Option<SystemTime>> {
        self.end.modified()
    }

    fn rest(&mut self) {
        self.end.rest();
    }
}

#[derive(Debug)]
struct Appending {
    storage: Faulty,
    key: String,
    end: Box<dyn Append>,
    bytes: usize,
    synced: usize,
    is_torn: bool,
}

impl Append for Appending {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let fault = self.storage.fault();
        let written = match fault {
            None | Some(Fault::Broken) => bytes,
            Some(Fault::Short) => &bytes[..bytes.len() / 2],
            Some(Fault::Full) => &[],
        };
        self.end.append(written)?;
        self.bytes += written.len();
        self.storage.state().unsynced.insert(self.key.clone(), Some(self.synced));
        fault.map_or(Ok(()), |fault| {
            self.is_torn |= fault != Fault::Full;
            Err(failure("append to", &self.key, fault))
        })
    }

    fn is_torn(&self) -> bool {
        self.is_torn
    }

    fn sync(&mut self) -> Result<()> {
        self.storage.checked("sync", &self.key).inspect_err(|_| self.is_torn = true)?;
        self.synced = self.bytes;
        self.storage.state().unsynced.remove(&self.key);
        Ok(())
    }

    fn publish(&mut self) -> Result<()> {
        Ok(())
    }

    fn is_there(&self) -> Result<bool> {
        self.end.is_there()
    }
}
