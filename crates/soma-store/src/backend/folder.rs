//! A store in a folder, on a local disk or one that many machines share.
//!
//! Nothing here needs a link, a symbolic link or a file lock. Errors that a shared file system gives for a file that
//! another machine replaced or removed are tried again by path, or read as "not there".

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant, SystemTime};

use rustix::buffer::spare_capacity;
use rustix::fs::{self as sys, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::{Append, Backend, Follow, Tail, Watch};
use crate::error::{Result, StoreError};
use crate::name::random_name;

/// Tries of something that another machine's replacing or removing may disturb.
const TRIES: usize = 4;
/// No file system stamps its folders more coarsely than this, where its stamps are whole seconds.
const COARSEST_STAMP: Duration = Duration::from_secs(3);
/// And where they are not: the system's clock ticks at least a hundred times a second.
const COARSEST_FINE_STAMP: Duration = Duration::from_millis(50);
/// A folder held open is looked up by its path again after this long: somebody may have put another in its place.
const HELD_OPEN: Duration = Duration::from_secs(1);

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
    // The folder that was last looked into by name: finding a file from there spares the way from the root.
    near: Mutex<Option<Near>>,
}

#[derive(Debug)]
struct Near {
    key: String,
    folder: Arc<File>,
    opened: Instant,
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
        Ok(Self(Arc::new(Place { root, is_durable, is_read_only, is_remote, near: Mutex::new(None) })))
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
        let mut near = match self.near.try_lock() {
            Ok(near) => near,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        if let Some(held) = near.as_ref().filter(|held| held.key == key && held.opened.elapsed() < HELD_OPEN)
        {
            return Some(Arc::clone(&held.folder));
        }
        *near = None;
        let folder = Arc::new(File::open(self.at(key)).ok()?);
        *near = Some(Near { key: key.to_owned(), folder: Arc::clone(&folder), opened: Instant::now() });
        Some(folder)
    }

    /// A write barrier for the names in a file's folder.
    fn sync_folder_of(&self, path: &Path) -> io::Result<()> {
        if self.is_durable { sync_folder(path.parent().unwrap_or(&self.root)) } else { Ok(()) }
    }

    /// Opens what must not be there yet, making its folder when that is missing.
    fn open_new(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        // Appending, so that a file that two hold by mistake interleaves and never overwrites.
        options.append(true).create_new(true);
        match retried(|| options.open(path)) {
            Err(e) if e.kind() == ErrorKind::NotFound => {
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

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Tries again what a shared file system's stale handle, or a signal, broke off.
fn retried<T>(mut once: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut tries = 1;
    loop {
        match once() {
            Err(e) if tries < TRIES && is_passing(&e) => tries += 1,
            other => return other,
        }
    }
}

fn is_passing(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::StaleNetworkFileHandle | ErrorKind::Interrupted)
}

fn missing_is_none<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        // A file where a folder should be means that nothing is under it. A handle that stays stale is of a file that
        // another machine removed.
        Err(e)
            if matches!(
                e.kind(),
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::StaleNetworkFileHandle
            ) =>
        {
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

/// Makes a folder and those above it, each on disk in the one above where that is asked for.
fn make_folders(path: &Path, is_durable: bool) -> io::Result<()> {
    match fs::create_dir(path) {
        Ok(()) => {}
        Err(e) if e.kind() == ErrorKind::AlreadyExists && path.is_dir() => return Ok(()),
        Err(e) if e.kind() == ErrorKind::NotFound => {
            let above = path.parent().filter(|above| !above.as_os_str().is_empty()).ok_or(e)?;
            make_folders(above, is_durable)?;
            match fs::create_dir(path) {
                Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(e),
                _ => {}
            }
        }
        // A read-only mount or folder says so even of a folder that is there.
        Err(e) => return if path.is_dir() { Ok(()) } else { Err(e) },
    }
    match path.parent().filter(|above| is_durable && !above.as_os_str().is_empty()) {
        Some(above) => sync_folder(above),
        None => Ok(()),
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match retried(|| File::open(path)?.sync_all()) {
        // Some file systems have no such barrier for folders, and order names by themselves.
        Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        other => other,
    }
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
        missing_is_none(retried(|| fs::read(&path))).map_err(|e| StoreError::io("read", text(&path), e))
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
        if let Some((folder, name)) = key.rsplit_once('/') {
            let near = self.0.near(folder);
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            match near.map(|near| sys::openat(&*near, name, flags, Mode::from_raw_mode(0o666))) {
                Some(Ok(_)) => return Ok(true),
                Some(Err(Errno::EXIST)) => return Ok(false),
                // The folder may have been taken away: the path says whether it is there.
                Some(Err(_)) | None => {}
            }
        }
        match self.0.open_new(&path) {
            Ok(_) => Ok(true),
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
        let is_remote = self.0.is_remote;
        Box::new(Watching { path: self.at(folder), held: None, had_entries: false, is_remote })
    }

    fn append(&self, key: &str) -> Result<Option<Box<dyn Append>>> {
        let path = self.at(key);
        self.0.writable(&path)?;
        match self.0.open_new(&path).and_then(|file| self.0.sync_folder_of(&path).map(|()| file)) {
            Ok(file) => {
                Ok(Some(Box::new(Appending { place: Arc::clone(&self.0), path, file, is_torn: false })))
            }
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(None),
            Err(e) => Err(StoreError::io("create", text(&path), e)),
        }
    }

    fn follow(&self, key: &str) -> Box<dyn Follow> {
        Box::new(Following { path: self.at(key), file: None, is_remote: self.0.is_remote })
    }

    fn modified(&self, key: &str) -> Result<Option<SystemTime>> {
        let path = self.at(key);
        let found = missing_is_none(retried(|| fs::metadata(&path)?.modified()));
        found.map_err(|e| StoreError::io("look at", text(&path), e))
    }

    fn now(&self) -> Result<Option<SystemTime>> {
        if self.0.is_read_only {
            // A local disk is stamped by this machine's clock; what a server's clock says takes a write to know.
            return Ok((!self.0.is_remote).then(SystemTime::now));
        }
        let path = self.at(&format!(".{}.part", random_name()?));
        let stamped = self.0.open_new(&path).and_then(|mut file| {
            // Some servers stamp a write and not a creation.
            let stamp = file.write_all(b"\n").and_then(|()| file.metadata()?.modified());
            fs::remove_file(&path).and(stamp)
        });
        stamped.map(Some).map_err(|e| StoreError::io("ask the time through", text(&path), e))
    }
}

enum Placed {
    Moved,
    Copied,
    Taken,
}

/// A way of giving a finished file its name, unless another has it.
type Way = fn(beside: &Path, path: &Path, bytes: &[u8], is_durable: bool) -> io::Result<Placed>;

/// By a rename that refuses to replace, else by a hard link, else, where the file system denies both, by an exclusive
/// create that is written in place.
const WAYS: [Way; 3] = [
    |beside, path, _, _| rename_new(beside, path).map(|()| Placed::Moved),
    |beside, path, _, _| fs::hard_link(beside, path).map(|()| Placed::Copied),
    |_, path, bytes, is_durable| {
        let mut file = OpenOptions::new().append(true).create_new(true).open(path)?;
        file.write_all(bytes)?;
        if is_durable {
            file.sync_all()?;
        }
        Ok(Placed::Copied)
    },
];

/// Tries one way after the other, as long as they are denied.
fn place_new(ways: &[Way], beside: &Path, path: &Path, bytes: &[u8], is_durable: bool) -> io::Result<Placed> {
    let mut denied = ErrorKind::Unsupported.into();
    for way in ways {
        match way(beside, path, bytes, is_durable) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => return Ok(Placed::Taken),
            Err(e) if is_denied(&e) => denied = e,
            other => return other,
        }
    }
    Err(denied)
}

#[cfg(target_os = "linux")]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    Ok(sys::renameat_with(sys::CWD, from, sys::CWD, to, sys::RenameFlags::NOREPLACE)?)
}

#[cfg(not(target_os = "linux"))]
fn rename_new(_from: &Path, _to: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Whether the file system, or a rule of the system, has no such operation.
fn is_denied(e: &io::Error) -> bool {
    let denied = [
        Errno::PERM,
        Errno::ACCESS,
        Errno::NOSYS,
        Errno::INVAL,
        Errno::OPNOTSUPP,
        Errno::NOTSUP,
        Errno::MLINK,
    ];
    e.kind() == ErrorKind::Unsupported
        || denied.iter().any(|one| e.raw_os_error() == Some(one.raw_os_error()))
}

fn list(path: &Path) -> io::Result<Vec<String>> {
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
    Err(ErrorKind::Unsupported.into())
}

/// Sees that a folder changed by its time stamp, where that can be trusted, and lists it again where it cannot.
#[derive(Debug)]
struct Watching {
    path: PathBuf,
    held: Option<Held>,
    had_entries: bool,
    is_remote: bool,
}

#[derive(Debug)]
struct Held {
    folder: File,
    opened: Instant,
    stamp: Stamp,
    // Since when this stamp has stood, and whether the folder was listed after standing long enough: something may come
    // within the same tick of the file system's clock as the stamp, so until then the folder is listed every time.
    since: Instant,
    is_settled: bool,
}

type Stamp = (u64, i64, i64);

fn stamp(folder: &File) -> io::Result<Option<Stamp>> {
    let found = sys::fstat(folder)?;
    #[expect(clippy::useless_conversion, reason = "the fields' types differ between systems")]
    let stamp = (found.st_ino.into(), found.st_mtime.into(), found.st_mtime_nsec as i64);
    Ok((found.st_nlink > 0).then_some(stamp))
}

impl Watching {
    fn look(&mut self) -> io::Result<Option<Vec<String>>> {
        // Opening asks the server; an open folder may be answered from this machine's cache.
        let held_open = if self.is_remote { Duration::ZERO } else { HELD_OPEN };
        if let Some(held) = self.held.as_mut().filter(|held| held.opened.elapsed() < held_open)
            && let Ok(Some(now)) = stamp(&held.folder)
        {
            return if now == held.stamp && held.is_settled { Ok(None) } else { self.list(now) };
        }
        let before = self.held.take();
        let opened = missing_is_none(retried(|| {
            let folder = File::open(&self.path)?;
            Ok((stamp(&folder)?, folder))
        }))?;
        let Some((Some(now), folder)) = opened else {
            return Ok(std::mem::take(&mut self.had_entries).then(Vec::new));
        };
        let opened = Instant::now();
        match before {
            Some(before) if before.stamp == now => {
                let is_settled = before.is_settled;
                self.held = Some(Held { folder, opened, ..before });
                if is_settled { Ok(None) } else { self.list(now) }
            }
            _ => {
                self.held = Some(Held { folder, opened, stamp: now, since: opened, is_settled: false });
                self.list(now)
            }
        }
    }

    fn list(&mut self, now: Stamp) -> io::Result<Option<Vec<String>>> {
        if let Some(held) = &mut self.held {
            if held.stamp == now {
                let coarsest = if held.stamp.2 == 0 { COARSEST_STAMP } else { COARSEST_FINE_STAMP };
                held.is_settled = held.since.elapsed() >= coarsest;
            } else {
                (held.stamp, held.since, held.is_settled) = (now, Instant::now(), false);
            }
        }
        let found = match self.held.as_ref().map(|held| list_held(&held.folder)) {
            Some(Ok(found)) => found,
            // Taken away half way, or no such call here.
            Some(Err(_)) | None => list(&self.path)?,
        };
        self.had_entries = !found.is_empty();
        Ok(Some(found))
    }
}

impl Watch for Watching {
    fn changed(&mut self) -> Result<Option<Vec<String>>> {
        self.look().map_err(|e| StoreError::io("list", text(&self.path), e))
    }
}

#[derive(Debug)]
struct Appending {
    place: Arc<Place>,
    path: PathBuf,
    file: File,
    is_torn: bool,
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
struct Following {
    path: PathBuf,
    file: Option<File>,
    is_remote: bool,
}

impl Following {
    fn file(&mut self) -> io::Result<Option<&File>> {
        if self.file.is_none() {
            self.file = missing_is_none(retried(|| File::open(&self.path)))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c43_where_renames_and_links_are_denied_there_is_still_one_owner() {
        let denied: Way = |_, _, _, _| Err(Errno::PERM.into());
        let missing: Way = |_, _, _, _| Err(Errno::NOSYS.into());
        let ways = [WAYS.to_vec(), vec![denied, WAYS[1], WAYS[2]], vec![missing, denied, WAYS[2]]];
        for ways in &ways {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("owner");
            let owners = std::thread::scope(|scope| {
                let callers: Vec<_> = (0..8_u8)
                    .map(|caller| {
                        let (folder, path) = (folder.path(), &path);
                        scope.spawn(move || {
                            let (beside, bytes) = (folder.join(format!(".{caller}")), [caller; 64]);
                            fs::write(&beside, bytes).unwrap();
                            let placed = place_new(ways, &beside, path, &bytes, false).unwrap();
                            (!matches!(placed, Placed::Taken)).then_some(caller)
                        })
                    })
                    .collect();
                callers.into_iter().filter_map(|caller| caller.join().unwrap()).collect::<Vec<_>>()
            });
            assert_eq!(owners.len(), 1);
            assert_eq!(fs::read(&path).unwrap(), [owners[0]; 64]);
        }
        let folder = tempfile::tempdir().unwrap();
        let refused = place_new(&[denied, missing], folder.path(), &folder.path().join("x"), b"", false);
        assert!(refused.is_err());
    }

    #[test]
    fn c42_a_stale_handle_is_tried_again_and_one_that_stays_is_a_missing_file() {
        let mut failures = 1;
        let read = retried(|| {
            failures -= 1;
            if failures >= 0 { Err(Errno::STALE.into()) } else { Ok(7) }
        });
        assert_eq!(read.unwrap(), 7);
        let stale = missing_is_none(retried(|| Err::<(), _>(Errno::STALE.into())));
        assert!(stale.unwrap().is_none());
        assert!(missing_is_none(Err::<(), io::Error>(Errno::IO.into())).is_err());
    }
}
