//! The two ends of an append-only file.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use rustix::buffer::spare_capacity;
use rustix::fs as sys;
use rustix::io::Errno;

use super::passing::{missing_is_none, retried};
use super::{Place, is_no_file, open_file, text};
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
        self.file.sync_data().map_err(|e| {
            // What the disk lost of the earlier lines is not known any more.
            self.is_torn = true;
            StoreError::io("sync", text(&self.path), e)
        })
    }

    fn publish(&mut self) -> Result<()> {
        if !self.place.is_remote {
            return Ok(());
        }
        self.file.sync_data().map_err(|e| StoreError::io("sync", text(&self.path), e))
    }

    fn is_there(&self) -> Result<bool> {
        let found = sys::fstat(&self.file).map(|found| found.st_nlink > 0);
        match found {
            Err(Errno::STALE) => Ok(false),
            found => found.map_err(|e| StoreError::io("look at", text(&self.path), e)),
        }
    }
}

#[derive(Debug)]
pub(super) struct Following {
    path: PathBuf,
    file: Option<File>,
    is_remote: bool,
}

impl Following {
    pub(super) fn new(path: PathBuf, is_remote: bool) -> Self {
        Self { path, file: None, is_remote }
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
        let Some(file) = self.file()? else { return Ok(Tail::Gone) };
        // One call, at an offset of its own: one open file serves threads and forked children alike.
        Ok(Tail::Read(rustix::io::pread(file, spare_capacity(into), offset)?))
    }
}

impl Follow for Following {
    fn read_on(&mut self, offset: u64, into: &mut Vec<u8>) -> Result<Tail> {
        let read = retried(|| self.read(offset, into).inspect_err(|_| self.file = None));
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
        self.file = None;
    }
}
