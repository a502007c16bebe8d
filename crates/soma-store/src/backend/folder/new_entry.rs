//! Making folders, and giving a finished file its name unless another has it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use rustix::fs as sys;
use rustix::io::Errno;

use super::passing::retried;

/// Makes a folder and those above it, each on disk in the one above where that is asked for.
pub(super) fn make_folders(path: &Path, is_durable: bool) -> io::Result<()> {
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

pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    match retried(|| File::open(path)?.sync_all()) {
        // Some file systems have no such barrier for folders, and order names by themselves.
        Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        other => other,
    }
}

pub(super) enum Placed {
    Moved,
    Copied,
    Taken,
}

/// A way of giving a finished file its name, unless another has it.
pub(super) type Way = fn(beside: &Path, path: &Path, bytes: &[u8], is_durable: bool) -> io::Result<Placed>;

/// By a rename that refuses to replace, else by a hard link, else, where the file system denies both, by an exclusive
/// create that is written in place.
pub(super) const WAYS: [Way; 3] = [
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
pub(super) fn place_new(
    ways: &[Way],
    beside: &Path,
    path: &Path,
    bytes: &[u8],
    is_durable: bool,
) -> io::Result<Placed> {
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
}
