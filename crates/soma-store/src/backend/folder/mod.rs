//! A store in a folder, on a local disk or one that many machines share.
//!
//! Nothing here needs a link, a symbolic link or a file lock. Errors that a shared file system gives for a file that
//! another machine replaced or removed are tried again by path, or read as "not there".

mod holding;
mod ledger;
mod new_entry;
mod passing;
mod watch;

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{self as sys, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use self::ledger::{Appending, Following};
use self::new_entry::{Placed, WAYS, make_folders, place_new, sync_folder};
use self::passing::{missing_is_none, retried};
use self::watch::{Watching, list, stamp};
use super::{Append, Backend, Follow, Watch};
use crate::error::{Result, StoreError};
use crate::layout;
use crate::name::random_name;

/// A folder held open is looked up by its path again after this long: somebody may have put another in its place.
const HELD_OPEN: Duration = Duration::from_secs(1);
/// What a file server made may be missing from this machine's listings for so long: NFS keeps what it knows of a folder
/// for up to a minute (`acdirmax`), and no other file system we know of for longer.
const REMOTE_LISTING_LAG: Duration = Duration::from_secs(60);

/// Why nothing can be written any more.
const GONE: &str = "the store was moved, removed or unmounted; open it anew";

/// A folder as storage.
#[derive(Debug, Clone)]
pub struct Folder(Arc<Place>);

#[derive(Debug)]
struct Place {
    root: PathBuf,
    is_durable: bool,
    is_read_only: bool,
    // On another machine's disk: an open file may show an old state, and an append may wait in this machine's cache.
    is_remote: bool,
    // Whether a store was found here: then nothing is written once it is gone, for its disk may only be away.
    is_store: AtomicBool,
    // The folder that was last looked into by name: finding a file from there spares the way from the root.
    near: Mutex<Option<Near>>,
}

#[derive(Debug)]
struct Near {
    key: String,
    folder: Arc<File>,
    opened: Instant,
    // Opened after this process claimed something there. Its ledger tells from then on whether the study was moved;
    // before, and once the ledger is closed, nothing does.
    is_vouched: bool,
}

impl Near {
    fn is_for(&self, key: &str) -> bool {
        self.key == key && self.opened.elapsed() < HELD_OPEN
    }
}

impl Folder {
    /// The folder at `root`, which must be there unless it is to be written to. `is_durable`: writes that must survive
    /// a loss of power wait for the disk.
    pub fn new(root: &Path, is_durable: bool, is_read_only: bool) -> Result<Self> {
        if !is_read_only {
            make_folders(root, is_durable).map_err(|e| StoreError::io("make the folder", text(root), e))?;
        }
        // As a full path: the process may change its working folder later.
        let root = fs::canonicalize(root).map_err(|e| match e.kind() {
            ErrorKind::NotFound => StoreError::NotFound { location: text(root) },
            _ => StoreError::io("find", text(root), e),
        })?;
        let is_remote = is_remote(&root);
        let (is_store, near) = (AtomicBool::new(false), Mutex::new(None));
        Ok(Self(Arc::new(Place { root, is_durable, is_read_only, is_remote, is_store, near })))
    }

    /// Its full path, which need not read as text.
    pub(crate) fn root(&self) -> &Path {
        &self.0.root
    }

    fn at(&self, key: &str) -> PathBuf {
        self.0.at(key)
    }
}

impl Place {
    fn at(&self, key: &str) -> PathBuf {
        self.root.join(key)
    }

    fn writable(&self, path: &Path) -> Result<()> {
        if self.is_read_only { Err(StoreError::ReadOnly { path: text(path) }) } else { Ok(()) }
    }

    /// The folder under `key`, held open for a moment. None where it is not there, or where another thread, or one
    /// that did not survive a fork, is looking: then the path serves as well.
    fn near(&self, key: &str) -> Option<Arc<File>> {
        let mut near = self.try_near()?;
        if let Some(held) = near.as_ref().filter(|held| held.is_for(key)) {
            return Some(Arc::clone(&held.folder));
        }
        *near = self.open_near(key, false);
        near.as_ref().map(|held| Arc::clone(&held.folder))
    }

    /// The folder under `key`, if it is held open and may be claimed in.
    fn vouched(&self, key: &str) -> Option<Arc<File>> {
        let near = self.try_near()?;
        near.as_ref().filter(|held| held.is_vouched && held.is_for(key)).map(|held| Arc::clone(&held.folder))
    }

    /// Holds the folder under `key`, in which something was claimed by its path.
    fn vouch(&self, key: &str) {
        if let Some(mut near) = self.try_near() {
            *near = self.open_near(key, true);
        }
    }

    fn open_near(&self, key: &str, is_vouched: bool) -> Option<Near> {
        let folder = Arc::new(open_folder(&self.at(key)).ok()?);
        Some(Near { key: key.to_owned(), folder, opened: Instant::now(), is_vouched })
    }

    /// Never waited for: whoever has it may not have survived a fork.
    fn try_near(&self) -> Option<MutexGuard<'_, Option<Near>>> {
        match self.near.try_lock() {
            Ok(near) => Some(near),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Looks up by its path what was held open: another folder may be there now.
    fn look_anew(&self) {
        if let Some(mut near) = self.try_near() {
            *near = None;
        }
    }

    /// A write barrier for the names in a file's folder.
    fn sync_folder_of(&self, path: &Path) -> io::Result<()> {
        if self.is_durable { sync_folder(path.parent().unwrap_or(&self.root)) } else { Ok(()) }
    }

    /// Refuses to make folders where the store that was opened is no longer: what was written there would be lost to
    /// it when its disk is mounted again.
    fn look_for_store(&self) -> io::Result<()> {
        let is_gone = self.is_store.load(Ordering::Relaxed) && !self.at(layout::FORMAT).try_exists()?;
        if is_gone { Err(io::Error::new(ErrorKind::NotFound, GONE)) } else { Ok(()) }
    }

    /// Opens what must not be there yet, making its folder when that is missing.
    fn open_new(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        // Appending, so that a file that two hold by mistake interleaves and never overwrites.
        options.append(true).create_new(true);
        match retried(|| options.open(path)) {
            Err(e) if e.kind() == ErrorKind::NotFound => {
                self.look_for_store()?;
                make_folders(path.parent().unwrap_or(&self.root), self.is_durable)?;
                retried(|| options.open(path))
            }
            other => other,
        }
    }

    /// A file beside `path` with `bytes` in it, on disk where that is asked for.
    fn write_beside(&self, path: &Path, bytes: &[u8]) -> Result<PathBuf> {
        let beside = path.with_file_name(format!(".{}.part", random_name()?));
        let written = self.open_new(&beside).and_then(|mut file| {
            let written =
                file.write_all(bytes).and_then(|()| if self.is_durable { file.sync_all() } else { Ok(()) });
            written.inspect_err(|_| drop(fs::remove_file(&beside)))
        });
        written.map_err(|e| StoreError::io("write", text(&beside), e))?;
        Ok(beside)
    }
}

/// Opens a file for reading. What is none (a folder, a pipe that would be waited for) is refused.
fn open_file(path: &Path) -> io::Result<File> {
    let file = sys::open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    let file = File::from(file);
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(ErrorKind::InvalidData, "it is a folder, a pipe or a device, expected a file"))
    }
}

/// Opens a folder. What is none (a pipe that would be waited for) is refused as "not a folder".
fn open_folder(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(sys::open(path, flags, Mode::empty())?.into())
}

/// Whether [`open_file`] refused.
fn is_no_file(e: &io::Error) -> bool {
    e.kind() == ErrorKind::InvalidData || e.raw_os_error() == Some(Errno::NXIO.raw_os_error())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(target_os = "linux")]
fn is_remote(root: &Path) -> bool {
    // The numbers of statfs(2): nfs, smb, cifs, smb2, fuse, 9p, afs, ceph, lustre, gpfs, ocfs2, beegfs, coda.
    const SHARED: [i64; 13] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x6573_5546,
        0x0102_1997,
        0x5346_414f,
        0x00c3_6400,
        0x0bd0_0bd0,
        0x4750_4653,
        0x7461_636f,
        0x1983_0326,
        0x7375_7245,
    ];
    #[expect(clippy::unnecessary_cast, reason = "the field's type differs between machines")]
    sys::statfs(root).is_ok_and(|found| SHARED.contains(&(found.f_type as i64)))
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_root: &Path) -> bool {
    // Not known: the careful way, which costs a little.
    true
}

impl Backend for Folder {
    fn location(&self) -> String {
        text(&self.0.root)
    }

    fn path(&self, key: &str) -> String {
        text(&self.at(key))
    }

    fn read(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let path = self.at(key);
        let read = retried(|| {
            let mut bytes = Vec::new();
            open_file(&path)?.read_to_end(&mut bytes).map(|_| bytes)
        });
        match missing_is_none(read) {
            Err(e) if is_no_file(&e) => Err(StoreError::Damaged { path: text(&path), what: e.to_string() }),
            Ok(Some(found)) if key == layout::FORMAT => {
                self.0.is_store.store(true, Ordering::Relaxed);
                Ok(Some(found))
            }
            read => read.map_err(|e| StoreError::io("read", text(&path), e)),
        }
    }

    fn exists(&self, key: &str) -> Result<bool> {
        if let Some((folder, name)) = key.rsplit_once('/')
            && let Some(near) = self.0.near(folder)
        {
            match sys::accessat(&*near, name, sys::Access::EXISTS, AtFlags::empty()) {
                Ok(()) => return Ok(true),
                // Not in this folder, which is still the one: else the path has the say.
                Err(Errno::NOENT) if matches!(stamp(&near), Ok(Some(_))) => return Ok(false),
                Err(_) => {}
            }
        }
        let path = self.at(key);
        let found = missing_is_none(retried(|| sys::access(&path, sys::Access::EXISTS).map_err(Into::into)));
        found.map(|found| found.is_some()).map_err(|e| StoreError::io("look for", text(&path), e))
    }

    fn mark(&self, key: &str) -> Result<bool> {
        let path = self.at(key);
        self.0.writable(&path)?;
        let (folder, name) = key.rsplit_once('/').unwrap_or_default();
        if let Some(near) = self.0.vouched(folder) {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            match sys::openat(&*near, name, flags, Mode::from_raw_mode(0o666)) {
                Ok(_) => return Ok(true),
                Err(Errno::EXIST) => return Ok(false),
                // The folder may have been taken away: the path says whether it is there.
                Err(_) => {}
            }
        }
        match self.0.open_new(&path) {
            Ok(_) => {
                self.0.vouch(folder);
                Ok(true)
            }
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(StoreError::io("create", text(&path), e)),
        }
    }

    fn create(&self, key: &str, bytes: &[u8]) -> Result<bool> {
        let path = self.at(key);
        self.0.writable(&path)?;
        if self.exists(key)? {
            return Ok(false);
        }
        let beside = self.0.write_beside(&path, bytes)?;
        let placed = place_new(&WAYS, &beside, &path, bytes, self.0.is_durable);
        if !matches!(placed, Ok(Placed::Moved)) {
            drop(fs::remove_file(&beside));
        }
        match placed.map_err(|e| StoreError::io("create", text(&path), e))? {
            Placed::Taken => Ok(false),
            Placed::Moved | Placed::Copied => {
                self.0
                    .sync_folder_of(&path)
                    .map_err(|e| StoreError::io("sync the folder of", text(&path), e))?;
                Ok(true)
            }
        }
    }

    fn replace(&self, key: &str, bytes: &[u8]) -> Result<()> {
        let path = self.at(key);
        self.0.writable(&path)?;
        let beside = self.0.write_beside(&path, bytes)?;
        let moved = fs::rename(&beside, &path).inspect_err(|_| drop(fs::remove_file(&beside)));
        moved
            .and_then(|()| self.0.sync_folder_of(&path))
            .map_err(|e| StoreError::io("replace", text(&path), e))
    }

    fn remove(&self, key: &str) -> Result<bool> {
        let path = self.at(key);
        self.0.writable(&path)?;
        let removed = missing_is_none(retried(|| fs::remove_file(&path)));
        removed.map(|removed| removed.is_some()).map_err(|e| StoreError::io("remove", text(&path), e))
    }

    fn list(&self, folder: &str) -> Result<Vec<String>> {
        let path = self.at(folder);
        list(&path).map_err(|e| StoreError::io("list", text(&path), e))
    }

    fn watch(&self, folder: &str) -> Box<dyn Watch> {
        Box::new(Watching::new(self.at(folder), self.0.is_remote))
    }

    fn append(&self, key: &str) -> Result<Option<Box<dyn Append>>> {
        let path = self.at(key);
        self.0.writable(&path)?;
        match self.0.open_new(&path).and_then(|file| self.0.sync_folder_of(&path).map(|()| file)) {
            Ok(file) => Ok(Some(Box::new(Appending::new(Arc::clone(&self.0), path, file)))),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(None),
            Err(e) => Err(StoreError::io("create", text(&path), e)),
        }
    }

    fn follow(&self, key: &str) -> Box<dyn Follow> {
        Box::new(Following::new(self.at(key), self.0.is_remote))
    }

    fn modified(&self, key: &str) -> Result<Option<SystemTime>> {
        let path = self.at(key);
        let found = missing_is_none(retried(|| fs::metadata(&path)?.modified()));
        found.map_err(|e| StoreError::io("look at", text(&path), e))
    }

    fn listing_lag(&self) -> Duration {
        if self.0.is_remote { REMOTE_LISTING_LAG } else { Duration::ZERO }
    }

    fn now(&self) -> Result<Option<SystemTime>> {
        // A local disk is stamped by this machine's clock; what a server's clock says takes a write to know.
        let unasked = (!self.0.is_remote).then(SystemTime::now);
        if self.0.is_read_only {
            return Ok(unasked);
        }
        let path = self.at(&format!(".{}.part", random_name()?));
        let stamped = self.0.open_new(&path).and_then(|mut file| {
            // Some servers stamp a write and not a creation.
            let stamp = file.write_all(b"\n").and_then(|()| file.metadata()?.modified());
            fs::remove_file(&path).and(stamp)
        });
        // Who reads a full disk is not to be told so.
        Ok(stamped.ok().or(unasked))
    }
}
