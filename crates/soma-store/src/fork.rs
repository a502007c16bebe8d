//! Telling a forked child from its parent, so that neither writes the other's file or waits on the other's lock.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Once, OnceLock};

static FORKS: AtomicU64 = AtomicU64::new(0);
static PID: AtomicU32 = AtomicU32::new(0);
static ARMED: Once = Once::new();

/// How many forks lie between this process and the one that first asked. Never compared between machines and never
/// written anywhere: two processes of one line of descent differ, and that is all it says.
pub(crate) fn generation() -> u64 {
    if !ARMED.is_completed() {
        look();
    }
    FORKS.load(Ordering::Acquire)
}

/// Sees a child that was made by a bare system call, past the C library's hook: by its process id, unless that is its
/// parent's. Called where something begins; the hook alone is asked everywhere else, as it costs no system call.
pub(crate) fn look() {
    let pid = std::process::id();
    ARMED.call_once(|| {
        PID.store(pid, Ordering::Relaxed);
        arm();
    });
    let known = PID.load(Ordering::Acquire);
    if known != pid && PID.compare_exchange(known, pid, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        FORKS.fetch_add(1, Ordering::AcqRel);
    }
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "the C library's fork hook has no safe wrapper")]
fn arm() {
    extern "C" fn in_child() {
        PID.store(std::process::id(), Ordering::Release);
        FORKS.fetch_add(1, Ordering::AcqRel);
    }
    // SAFETY: the handler only stores to two atomics and asks for the process id, both allowed between fork and exec.
    // It stays valid for the whole run: this code is never unloaded while a store is in use. A refusal (no memory)
    // leaves the process id as the only trigger.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
}

#[cfg(not(unix))]
fn arm() {}

/// A value of which every process has its own: a forked child starts with a fresh one and never touches what it
/// inherited, locked or not.
#[derive(Debug)]
pub(crate) struct PerProcess<T> {
    generation: u64,
    value: T,
    child: OnceLock<Box<Self>>,
}

impl<T> PerProcess<T> {
    /// The value of the process that runs now.
    pub(crate) fn new(value: T) -> Self {
        Self { generation: generation(), value, child: OnceLock::new() }
    }

    /// The value of this process, made by `fresh` in a child that has none.
    pub(crate) fn get(&self, fresh: impl Fn() -> T) -> &T {
        let now = generation();
        let mut here = self;
        while here.generation != now {
            here = here
                .child
                .get_or_init(|| Box::new(Self { generation: now, value: fresh(), child: OnceLock::new() }));
        }
        &here.value
    }

    /// The value of this process, where it has one.
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        let now = generation();
        let mut here = self;
        while here.generation != now {
            here = here.child.get_mut()?;
        }
        Some(&mut here.value)
    }
}
