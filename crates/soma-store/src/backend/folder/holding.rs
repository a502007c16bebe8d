//! How much this process holds open between two looks: it may look at thousands of studies, and has a limit of files.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Files and folders held open, of all stores together. The least limit of any system is 256 for a process.
const MAX_HELD: usize = 128;

static HELD: AtomicUsize = AtomicUsize::new(0);

/// The right to hold one file open, until it is dropped.
#[derive(Debug)]
pub(super) struct Holding(());

impl Holding {
    /// None where enough is held: then the file is opened anew at every look.
    pub(super) fn new() -> Option<Self> {
        let more = |held: usize| (held < MAX_HELD).then_some(held + 1);
        HELD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| Self(()))
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::Relaxed);
    }
}
