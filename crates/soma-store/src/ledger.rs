//! The writing end of a study: one append-only file per process, begun when there is something to say.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::backend::{Append, Backend};
use crate::error::Result;
use crate::name::random_name;
use crate::{layout, line};

/// Where a record was written: which ledger, and at which byte it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The ledger's name.
    pub ledger: Arc<str>,
    /// Bytes before the record.
    pub offset: u64,
}

/// The ledger of this process in one study. A ledger in which a write broke off is never written again: the next
/// record begins another.
#[derive(Debug)]
pub(crate) struct Ledger {
    backend: Arc<dyn Backend>,
    study: String,
    opening: Vec<u8>,
    open: Option<Open>,
    begun: u64,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct Open {
    name: Arc<str>,
    end: Box<dyn Append>,
    bytes: u64,
    last_write: Instant,
    looked: Instant,
    // Whether some caller was told that a record of this ledger is written.
    is_acknowledged: bool,
}

impl Ledger {
    /// `opening`: the first record of every file.
    pub(crate) fn new(backend: Arc<dyn Backend>, study: String, opening: Vec<u8>) -> Self {
        Self { backend, study, opening, open: None, begun: 0, buffer: Vec::new() }
    }

    /// Adds a record; with `barrier` it is on disk when this returns, where the backend is durable.
    pub(crate) fn write(&mut self, body: &[u8], barrier: bool) -> Result<Place> {
        self.buffer.clear();
        if self.open.as_ref().is_some_and(|open| open.end.is_torn()) {
            self.abandon();
        }
        if self.open.is_none() {
            self.open = Some(self.begin()?);
            self.begun += 1;
        }
        let is_new = self.open.as_ref().is_some_and(|open| open.bytes == 0);
        if is_new {
            line::seal(&mut self.buffer, &self.opening)?;
        }
        let before = self.buffer.len() as u64;
        line::seal(&mut self.buffer, body)?;
        let open = self.open.as_mut().expect("it was opened right above");
        open.end.append(&self.buffer)?;
        let offset = open.bytes + before;
        open.bytes += self.buffer.len() as u64;
        open.last_write = Instant::now();
        if barrier {
            open.end.sync()?;
        }
        open.is_acknowledged = true;
        Ok(Place { ledger: Arc::clone(&open.name), offset })
    }

    /// Whether somebody took the file away, and may have begun the study anew: what is written there would be lost, so
    /// the next record begins another file. Looks again when the last look was longer ago than `within`.
    pub(crate) fn is_taken_away(&mut self, within: Duration) -> Result<bool> {
        let Some(open) = self.open.as_mut().filter(|open| open.looked.elapsed() >= within) else {
            return Ok(false);
        };
        let is_gone = !open.end.is_there()?;
        open.looked = Instant::now();
        if is_gone {
            self.open = None;
        }
        Ok(is_gone)
    }

    fn begin(&self) -> Result<Open> {
        loop {
            let name = random_name()?;
            if let Some(end) = self.backend.append(&layout::ledger(&self.study, &name))? {
                let now = Instant::now();
                let (last_write, looked) = (now, now);
                return Ok(Open {
                    name: name.into(),
                    end,
                    bytes: 0,
                    last_write,
                    looked,
                    is_acknowledged: false,
                });
            }
        }
    }

    fn abandon(&mut self) {
        let Some(open) = self.open.take().filter(|open| !open.is_acknowledged) else { return };
        // A full disk should not fill up with beginnings. What cannot be removed is a torn file like any other.
        drop(self.backend.remove(&layout::ledger(&self.study, &open.name)));
    }

    /// Which of this process's files the next record goes to, counted from 1. What was said in an earlier one, and not
    /// followed by a barrier there, may be lost.
    pub(crate) fn epoch(&self) -> u64 {
        let is_over = self.open.as_ref().is_none_or(|open| open.end.is_torn());
        self.begun + u64::from(is_over)
    }

    /// When this process last wrote. None before it did.
    pub(crate) fn last_write(&self) -> Option<Instant> {
        self.open.as_ref().map(|open| open.last_write)
    }

    /// The name of the ledger in use, if there is one.
    pub(crate) fn name(&self) -> Option<&Arc<str>> {
        self.open.as_ref().map(|open| &open.name)
    }

    /// Adds a sign of life and shows it to other machines; does nothing where the ledger is torn or gone.
    pub(crate) fn beat(&mut self) -> Result<()> {
        let Some(open) = self.open.as_mut().filter(|open| !open.end.is_torn()) else { return Ok(()) };
        if !open.end.is_there()? {
            return Ok(());
        }
        self.buffer.clear();
        line::seal(&mut self.buffer, br#"{"kind":"alive"}"#)?;
        open.end.append(&self.buffer)?;
        open.bytes += self.buffer.len() as u64;
        open.last_write = Instant::now();
        open.end.publish()
    }

    /// Says that nothing more will come, if anything came at all.
    pub(crate) fn close(&mut self) {
        let Some(mut open) = self.open.take().filter(|open| open.bytes > 0 && !open.end.is_torn()) else {
            return;
        };
        self.buffer.clear();
        // A sign that could not be left costs readers a look at a silent file, and no more.
        // It is said wherever the file is now: nobody waits for this process in a study that was moved.
        if line::seal(&mut self.buffer, br#"{"kind":"close"}"#).is_ok() {
            drop(open.end.append(&self.buffer).and_then(|()| open.end.publish()));
        }
    }
}
