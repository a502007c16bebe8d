//! Files that are written once, read while they may still be written.
//!
//! On file systems with neither a rename that refuses to replace nor links such a file is written in place.

use std::time::{Duration, Instant, SystemTime};

use crate::backend::Backend;
use crate::error::Result;

/// How long whoever writes one may take, before it counts as left half way.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Reads an entry that ends with a line. One that has no such end yet, and was last written just now, is waited for;
/// what has none then is answered as it is.
pub(crate) fn read(backend: &dyn Backend, key: &str) -> Result<Option<Vec<u8>>> {
    let is_whole = |found: &[u8]| found.ends_with(b"\n");
    match backend.read(key)? {
        // A file that was damaged long ago holds up nobody.
        Some(found) if !is_whole(&found) && is_young(backend, key)? => wait(backend, key, is_whole),
        found => Ok(found),
    }
}

/// Looks at an entry until it is whole or gone, and in the end at what is there.
pub(crate) fn wait(
    backend: &dyn Backend,
    key: &str,
    is_whole: impl Fn(&[u8]) -> bool,
) -> Result<Option<Vec<u8>>> {
    let begun = Instant::now();
    loop {
        std::thread::sleep(LOOK_EVERY);
        let found = backend.read(key)?;
        if found.as_deref().is_none_or(&is_whole) || begun.elapsed() >= PATIENCE {
            return Ok(found);
        }
    }
}

fn is_young(backend: &dyn Backend, key: &str) -> Result<bool> {
    let Some(written) = backend.modified(key)? else { return Ok(false) };
    // Where the storage's clock is not known, this machine's is near enough.
    let now = backend.now()?.unwrap_or_else(SystemTime::now);
    let age = now.duration_since(written).unwrap_or_else(|ahead| ahead.duration());
    Ok(age < PATIENCE)
}
