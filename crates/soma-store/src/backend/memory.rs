//! A store in the memory of one process: for tests, and for a study that nobody needs tomorrow.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::{Append, Backend, Follow, Tail, Watch};
use crate::error::Result;

/// Storage in memory, shared by its clones and gone with the last of them.
///
/// A forked child has a copy of its own, as of any memory.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<Mutex<Entries>>);

type Bytes = Arc<Mutex<Entry>>;

#[derive(Debug, Default)]
struct Entries {
    by_key: BTreeMap<String, Bytes>,
    // Goes up whenever a key comes or goes.
    changes: u64,
}

#[derive(Debug)]
struct Entry {
    bytes: Vec<u8>,
    modified: SystemTime,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code runs under these locks that could leave them half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory {
    /// Nothing stored yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn find(&self, key: &str) -> Option<Bytes> {
        lock(&self.0).by_key.get(key).cloned()
    }

    fn insert_new(&self, key: &str, bytes: &[u8]) -> Option<Bytes> {
        let mut entries = lock(&self.0);
        if entries.by_key.contains_key(key) {
            return None;
        }
        let entry = Arc::new(Mutex::new(Entry { bytes: bytes.to_vec(), modified: SystemTime::now() }));
        entries.by_key.insert(key.to_owned(), Arc::clone(&entry));
        entries.changes += 1;
        Some(entry)
    }
}

impl Backend for Memory {
    fn location(&self) -> String {
        "memory://".to_owned()
    }

    fn path(&self, key: &str) -> String {
        format!("memory://{key}")
    }

    fn read(&self, key: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.find(key).map(|entry| lock(&entry).bytes.clone()))
    }

    fn exists(&self, key: &str) -> Result<bool> {
        Ok(self.find(key).is_some())
    }

    fn mark(&self, key: &str) -> Result<bool> {
        self.create(key, b"")
    }

    fn create(&self, key: &str, bytes: &[u8]) -> Result<bool> {
        Ok(self.insert_new(key, bytes).is_some())
    }

    fn replace(&self, key: &str, bytes: &[u8]) -> Result<()> {
        let mut entries = lock(&self.0);
        let entry = Entry { bytes: bytes.to_vec(), modified: SystemTime::now() };
        if entries.by_key.insert(key.to_owned(), Arc::new(Mutex::new(entry))).is_none() {
            entries.changes += 1;
        }
        Ok(())
    }

    fn remove(&self, key: &str) -> Result<bool> {
        let mut entries = lock(&self.0);
        let was_there = entries.by_key.remove(key).is_some();
        entries.changes += u64::from(was_there);
        Ok(was_there)
    }

    fn list(&self, folder: &str) -> Result<Vec<String>> {
        let prefix = format!("{folder}/");
        let entries = lock(&self.0);
        let mut found: Vec<String> = entries
            .by_key
            .range(prefix.clone()..)
            .map_while(|(key, _)| key.strip_prefix(&prefix))
            .map(|rest| rest.split('/').next().unwrap_or(rest).to_owned())
            .collect();
        found.dedup();
        Ok(found)
    }

    fn watch(&self, folder: &str) -> Box<dyn Watch> {
        Box::new(Watching { memory: self.clone(), folder: folder.to_owned(), seen: None })
    }

    fn append(&self, key: &str) -> Result<Option<Box<dyn Append>>> {
        let entry = self.insert_new(key, b"");
        let memory = self.clone();
        Ok(entry.map(|entry| Box::new(Appending { memory, key: key.to_owned(), entry }) as Box<dyn Append>))
    }

    fn follow(&self, key: &str) -> Box<dyn Follow> {
        Box::new(Following { memory: self.clone(), key: key.to_owned() })
    }

    fn modified(&self, key: &str) -> Result<Option<SystemTime>> {
        Ok(self.find(key).map(|entry| lock(&entry).modified))
    }

    fn now(&self) -> Result<Option<SystemTime>> {
        Ok(Some(SystemTime::now()))
    }
}

#[derive(Debug)]
struct Watching {
    memory: Memory,
    folder: String,
    seen: Option<u64>,
}

impl Watch for Watching {
    fn changed(&mut self) -> Result<Option<Vec<String>>> {
        let changes = lock(&self.memory.0).changes;
        if self.seen == Some(changes) {
            return Ok(None);
        }
        self.seen = Some(changes);
        self.memory.list(&self.folder).map(Some)
    }
}

#[derive(Debug)]
struct Appending {
    memory: Memory,
    key: String,
    entry: Bytes,
}

impl Append for Appending {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let mut entry = lock(&self.entry);
        entry.bytes.extend_from_slice(bytes);
        entry.modified = SystemTime::now();
        Ok(())
    }

    fn is_torn(&self) -> bool {
        false
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn publish(&mut self) -> Result<()> {
        Ok(())
    }

    fn is_there(&self) -> Result<bool> {
        Ok(self.memory.find(&self.key).is_some_and(|entry| Arc::ptr_eq(&entry, &self.entry)))
    }
}

#[derive(Debug)]
struct Following {
    memory: Memory,
    key: String,
}

impl Follow for Following {
    fn read_on(&mut self, offset: u64, into: &mut Vec<u8>) -> Result<Tail> {
        let Some(entry) = self.memory.find(&self.key) else { return Ok(Tail::Gone) };
        let entry = lock(&entry);
        let rest = usize::try_from(offset).ok().and_then(|offset| entry.bytes.get(offset..));
        let Some(rest) = rest else { return Ok(Tail::Gone) };
        let part = &rest[..rest.len().min(into.capacity() - into.len())];
        into.extend_from_slice(part);
        Ok(Tail::Read(part.len()))
    }

    fn modified(&mut self) -> Result<Option<SystemTime>> {
        self.memory.modified(&self.key)
    }

    fn rest(&mut self) {}
}
