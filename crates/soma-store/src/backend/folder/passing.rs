//! Errors of a shared file system that pass, and those that mean "not there".

use std::io::{self, ErrorKind};

/// Tries of something that another machine's replacing or removing may disturb.
const TRIES: usize = 4;

/// Tries again what a shared file system's stale handle, or a signal, broke off.
pub(super) fn retried<T>(mut once: impl FnMut() -> io::Result<T>) -> io::Result<T> {
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

pub(super) fn missing_is_none<T>(found: io::Result<T>) -> io::Result<Option<T>> {
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

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

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
