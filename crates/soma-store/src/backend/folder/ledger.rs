//! The two ends of an append-only file.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use rustix::buffer::spare_capacity;
use rustix::fs as sys;

use super::holding::Holding;
use super::passing::{missing_is_none, retried};
use super::{HELD_OPEN, Place, is_no_file, open_file, text};
use crate::backend::{Append, Follow, Tail};
use crate::error::{Result, StoreError};

#[derive(Debug)]
pub(super) struct Appending {
    place: Arc<Place>,
    path: PathBuf,
    file: File,
    is_torn: bool,
}

impl Appending {
    pub(super) fn new(place: Arc<Place>, path: PathBuf, file: File) -> Self {
        Self { place, path, file, is_torn: false }
    }

    fn flush(&mut self) -> Result<()> {
        self.file.sync_data().map_err(|e| {
            // What the disk lost of the earlier lines is not known any more, and the system says so once.
            self.is_torn = true;
            StoreError::io("sync", text(&self.path), e)
        })
    }
}

impl Drop for Appending {
    fn drop(&mut self) {
        // From here on nobody notices that the study was moved.
        self.place.look_anew();
    }
}

impl Append for Appending {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let mut left = bytes;
        while !left.is_empty() {
            let failed = match self.file.write(left) {
                Ok(0) => ErrorKind::WriteZero.into(),
                Ok(written) => {
                    left = &left[written..];
                    continue;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => e,
            };
            self.is_torn |= left.len() < bytes.len();
            return Err(StoreError::io("append to", text(&self.path), failed));
        }
        Ok(())
    }

    fn is_torn(&self) -> bool {
        self.is_torn
    }

    fn sync(&mut self) -> Result<()> {
        if !self.place.is_durable {
            return Ok(());
        }
        self.flush()
    }

    fn publish(&mut self) -> Result<()> {
        if self.place.is_remote { self.flush() } else { Ok(()) }
    }

    fn is_there(&self) -> Result<bool> {
        let found = is_under(&self.path, &self.file);
        let is_there = found.map_err(|e| StoreError::io("look at", text(&self.path), e))?;
        if !is_there {
            // Its study was moved or replaced: so was the folder in which claims were made.
            self.place.look_anew();
        }
        Ok(is_there)
    }
}

/// Whether an open file is the one under its path: it may have been removed, moved or replaced since.
fn is_under(path: &Path, file: &File) -> io::Result<bool> {
    let open = sys::fstat(file).map_err(Into::into);
    let named = retried(|| Ok(sys::stat(path)?));
    let (Some(open), Some(named)) = (missing_is_none(open)?, missing_is_none(named)?) else {
        return Ok(false);
    };
    Ok((open.st_dev, open.st_ino) == (named.st_dev, named.st_ino))
}

#[derive(Debug)]
pub(super) struct Following {
    path: PathBuf,
    file: Option<File>,
    holding: Option<Holding>,
    // How far the file reached when it was last read.
    end: u64,
    // When it was last seen to be the file under its path.
    looked: Instant,
    is_remote: bool,
}

impl Following {
    pub(super) fn new(path: PathBuf, is_remote: bool) -> Self {
        Self { path, file: None, holding: None, end: 0, looked: Instant::now(), is_remote }
    }

    fn file(&mut self) -> io::Result<Option<&File>> {
        if self.file.is_none() {
            self.file = missing_is_none(retried(|| open_file(&self.path)))?;
        }
        Ok(self.file.as_ref())
    }

    fn read(&mut self, offset: u64, into: &mut Vec<u8>) -> io::Result<Tail> {
        if self.is_remote {
            // Opening asks the server; an open file may be answered from this machine's cache.
            self.file = None;
        }
        let is_due = self.looked.elapsed() >= HELD_OPEN;
        let Some(file) = self.file()? else { return Ok(Tail::Gone) };
        // One call, at an offset of its own: one open file serves threads and forked children alike.
        let read = rustix::io::pread(file, spare_capacity(into), offset)?;
        // Whatever was read: an unfinished end is read anew at every look.
        let found = if is_due { Some(sys::fstat(file)?) } else { None };
        if let Some(found) = found {
            self.looked = Instant::now();
            // A copy that is brought up to date replaces files, and one that is put back may be shorter.
            if found.st_nlink == 0 || (found.st_size as u64) < self.end {
                (self.file, self.end) = (None, 0);
                return Ok(Tail::Gone);
            }
        }
        if read > 0 {
            self.end = self.end.max(offset + read as u64);
        }
        Ok(Tail::Read(read))
    }
}

impl Follow for Following {
    fn read_on(&mut self, offset: u64, into: &mut Vec<u8>) -> Result<Tail> {
        let read = retried(|| self.read(offset, into).inspect_err(|_| self.file = None));
        self.holding = self.file.as_ref().and_then(|_| self.holding.take().or_else(Holding::new));
        if self.holding.is_none() {
            self.file = None;
        }
        match missing_is_none(read) {
            Ok(read) => Ok(read.unwrap_or(Tail::Gone)),
            Err(e) if is_no_file(&e) => Ok(Tail::NoFile),
            Err(e) => Err(StoreError::io("read", text(&self.path), e)),
        }
    }

    fn modified(&mut self) -> Result<Option<SystemTime>> {
        let found = missing_is_none(retried(|| fs::metadata(&self.path)?.modified()));
        found.map_err(|e| StoreError::io("look at", text(&self.path), e))
    }

    fn rest(&mut self) {
        (self.file, self.holding) = (None, None);
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn a_flush_that_failed_ends_the_ledger_whoever_asked_for_it() {
        let appending = |is_remote| {
            let place = Place {
                root: "/dev".into(),
                is_durable: true,
                is_read_only: false,
                is_remote,
                is_store: AtomicBool::new(false),
                near: Mutex::new(None),
            };
            // What cannot be flushed.
            let device = fs::OpenOptions::new().append(true).open("/dev/null").unwrap();
            Appending::new(Arc::new(place), "/dev/null".into(), device)
        };
        let mut remote = appending(true);
        assert!(remote.publish().is_err() && remote.is_torn());
        let mut durable = appending(false);
        assert!(durable.publish().is_ok() && !durable.is_torn());
        assert!(durable.sync().is_err() && durable.is_torn());
    }
}
