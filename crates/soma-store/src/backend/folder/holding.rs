//! How much this process holds open between two looks: it may look at thousands of studies, and has a limit of files.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::{Resource, getrlimit};

/// Files and folders held open at most, of all stores together: a quarter of what the process may open, up to this.
const MAX_HELD: u64 = 1024;

static LIMIT: LazyLock<usize> = LazyLock::new(|| {
    let all = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from((all / 4).min(MAX_HELD)).unwrap_or_default()
});
static HELD: AtomicUsize = AtomicUsize::new(0);

/// The right to hold one file open, until it is dropped.
#[derive(Debug)]
pub(super) struct Holding(());

impl Holding {
    /// None where enough is held: then the file is opened anew at every look.
    pub(super) fn new() -> Option<Self> {
        let more = |held: usize| (held < *LIMIT).then_some(held + 1);
        HELD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| Self(()))
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::Relaxed);
    }
}
