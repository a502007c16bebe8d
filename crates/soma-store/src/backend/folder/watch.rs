//! Looking at a folder again and again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs as sys;

use super::holding::Holding;
use super::passing::{missing_is_none, retried};
use super::{HELD_OPEN, open_folder, text};
use crate::backend::Watch;
use crate::error::{Result, StoreError};

/// No file system stamps its folders more coarsely than this, where its stamps are whole seconds.
const COARSEST_STAMP: Duration = Duration::from_secs(3);
/// And where they are not: the system's clock ticks at least a hundred times a second.
const COARSEST_FINE_STAMP: Duration = Duration::from_millis(50);

pub(super) fn list(path: &Path) -> io::Result<Vec<String>> {
    let Some(entries) = missing_is_none(retried(|| fs::read_dir(path)))? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in entries {
        match missing_is_none(entry)? {
            // A name that is not Unicode is none of ours.
            Some(entry) => found.extend(entry.file_name().into_string().ok()),
            // The folder went away half way.
            None => break,
        }
    }
    Ok(found)
}

/// The entries of a folder that is open already.
#[cfg(target_os = "linux")]
fn list_held(folder: &File) -> io::Result<Vec<String>> {
    const BUFFER_BYTES: usize = 8 << 10;
    sys::seek(folder, sys::SeekFrom::Start(0))?;
    let mut buffer = Vec::with_capacity(BUFFER_BYTES);
    let mut entries = sys::RawDir::new(folder, buffer.spare_capacity_mut());
    let mut found = Vec::new();
    while let Some(entry) = entries.next() {
        match entry?.file_name().to_str() {
            Ok("." | "..") | Err(_) => {}
            Ok(name) => found.push(name.to_owned()),
        }
    }
    Ok(found)
}

#[cfg(not(target_os = "linux"))]
fn list_held(_folder: &File) -> io::Result<Vec<String>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sees that a folder changed by its time stamp, where that can be trusted, and lists it again where it cannot.
#[derive(Debug)]
pub(super) struct Watching {
    path: PathBuf,
    held: Option<Held>,
    seen: Option<Seen>,
    had_entries: bool,
    is_remote: bool,
}

#[derive(Debug)]
struct Held {
    folder: File,
    opened: Instant,
    holding: Option<Holding>,
}

#[derive(Debug)]
struct Seen {
    stamp: Stamp,
    // Since when this stamp has stood, and whether the folder was listed after standing long enough: something may come
    // within the same tick of the file system's clock as the stamp, so until then the folder is listed every time.
    since: Instant,
    is_settled: bool,
}

type Stamp = (u64, i64, i64);

pub(super) fn stamp(folder: &File) -> io::Result<Option<Stamp>> {
    let found = sys::fstat(folder)?;
    #[expect(clippy::useless_conversion, reason = "the fields' types differ between systems")]
    let stamp = (found.st_ino.into(), found.st_mtime.into(), found.st_mtime_nsec as i64);
    Ok((found.st_nlink > 0).then_some(stamp))
}

impl Watching {
    pub(super) fn new(path: PathBuf, is_remote: bool) -> Self {
        Self { path, held: None, seen: None, had_entries: false, is_remote }
    }

    fn look(&mut self) -> io::Result<Option<Vec<String>>> {
        let Some((now, mut held)) = self.open()? else {
            self.seen = None;
            return Ok(std::mem::take(&mut self.had_entries).then(Vec::new));
        };
        let is_known = self.seen.as_ref().is_some_and(|seen| seen.stamp == now && seen.is_settled);
        let listed = if is_known { Ok(None) } else { self.list(now, &held.folder).map(Some) };
        held.holding = held.holding.take().or_else(Holding::new);
        self.held = held.holding.is_some().then_some(held);
        listed
    }

    /// The folder, as it is held open or by its path, and its stamp. None where it is not there.
    fn open(&mut self) -> io::Result<Option<(Stamp, Held)>> {
        // Opening asks the server; an open folder may be answered from this machine's cache.
        let held_open = if self.is_remote { Duration::ZERO } else { HELD_OPEN };
        if let Some(held) = self.held.take().filter(|held| held.opened.elapsed() < held_open)
            && let Ok(Some(now)) = stamp(&held.folder)
        {
            return Ok(Some((now, held)));
        }
        let opened = missing_is_none(retried(|| {
            let folder = open_folder(&self.path)?;
            Ok((stamp(&folder)?, folder))
        }))?;
        let held = |folder| Held { folder, opened: Instant::now(), holding: None };
        Ok(opened.and_then(|(now, folder)| Some((now?, held(folder)))))
    }

    fn list(&mut self, now: Stamp, folder: &File) -> io::Result<Vec<String>> {
        match &mut self.seen {
            Some(seen) if seen.stamp == now => {
                let coarsest = if now.2 == 0 { COARSEST_STAMP } else { COARSEST_FINE_STAMP };
                seen.is_settled = seen.since.elapsed() >= coarsest;
            }
            seen => *seen = Some(Seen { stamp: now, since: Instant::now(), is_settled: false }),
        }
        // Taken away half way, or no such call here.
        let found = list_held(folder).or_else(|_| list(&self.path));
        if found.is_err() {
            self.seen = None;
        }
        let found = found?;
        self.had_entries = !found.is_empty();
        Ok(found)
    }
}

impl Watch for Watching {
    fn changed(&mut self) -> Result<Option<Vec<String>>> {
        self.look().map_err(|e| StoreError::io("list", text(&self.path), e))
    }
}
