//! The threads that help with waves, kept between runs.
//!
//! One pool a process. Threads are made when a wave has a branch that nobody is on the way to take, and
//! one wakes the next only once it has taken a branch itself: a wave of branches so short that the caller
//! has run them all before anybody arrives wakes at most one thread.
//!
//! After a fork the child has none of the threads, and the lock may be held by one of them for ever; so a
//! process that finds the last pool to be another's starts a new one, and never touches the old.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::host::Host;
use crate::wave::Wave;

/// How many threads the pool has at most, whatever is asked of it: a wave that finds none free is run by
/// its caller.
const MAX_THREADS: usize = 256;

/// The pool of one process.
pub(crate) struct Pool {
    process: u32,
    state: Mutex<State>,
    woken: Condvar,
    /// The pool of a process forked from this one.
    next: OnceLock<Box<Pool>>,
}

#[derive(Default)]
struct State {
    /// Waves that may have branches to take, the newest last.
    waves: Vec<Arc<Wave>>,
    n_threads: usize,
    /// Threads that wait to be woken, and wake-ups they have not noticed yet.
    n_idle: usize,
    n_wakes: usize,
    /// Threads woken or made that have not taken a branch yet.
    n_coming: usize,
    closed: bool,
}

static FIRST: OnceLock<Pool> = OnceLock::new();

impl Pool {
    fn new() -> Self {
        Self {
            process: std::process::id(),
            state: Mutex::default(),
            woken: Condvar::new(),
            next: OnceLock::new(),
        }
    }

    /// This process's pool.
    pub(crate) fn current() -> &'static Self {
        let mut pool = FIRST.get_or_init(Self::new);
        while let Some(next) = pool.next.get() {
            pool = next;
        }
        // The last one is the nearest ancestor's or this process's: an id that is used again by a later
        // descendant is told apart from the earlier one's.
        if pool.process == std::process::id() {
            pool
        } else {
            pool.next.get_or_init(|| Box::new(Self::new()))
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that a wave has branches to take.
    pub(crate) fn offer(&'static self, wave: &Arc<Wave>) {
        let mut state = self.state();
        if !state.closed {
            state.waves.push(Arc::clone(wave));
            self.summon(&mut state);
        }
    }

    /// Says that a wave has none left.
    pub(crate) fn retire(&self, wave: &Wave) {
        let mut state = self.state();
        let at = state.waves.iter().rposition(|one| std::ptr::eq(&raw const **one, wave));
        let retired = at.map(|at| state.waves.remove(at));
        drop(state);
        // Outside the lock: the last owner of a wave drops values, which may run anything.
        drop(retired);
    }

    /// Wakes or makes one thread, unless one is on its way.
    fn summon(&'static self, state: &mut State) {
        if state.n_coming > 0 {
            return;
        }
        if state.n_idle > 0 {
            state.n_idle -= 1;
            state.n_wakes += 1;
            state.n_coming += 1;
            self.woken.notify_one();
        } else if state.n_threads < MAX_THREADS {
            let thread = std::thread::Builder::new().name("somatize-wave".to_owned());
            // A system that gives no thread leaves the branches to the caller.
            if thread.spawn(|| self.work()).is_ok() {
                state.n_threads += 1;
                state.n_coming += 1;
            }
        }
    }

    /// A pool thread, from its beginning, on its way to its first wave, to the end of the process.
    fn work(&'static self) {
        let mut is_coming = true;
        loop {
            let host = self.state().waves.iter().rev().find(|wave| wave.wants_help()).map(|wave| wave.host());
            if let Some(host) = host {
                host.enter(&mut || {
                    while let Some((wave, branch)) = self.take(&host, &mut is_coming) {
                        wave.help(branch);
                        wave.run.unseat();
                    }
                });
            }
            let mut state = self.state();
            if state.waves.iter().any(|wave| wave.wants_help()) {
                continue;
            }
            state.n_coming -= usize::from(std::mem::take(&mut is_coming));
            state.n_idle += 1;
            while state.n_wakes == 0 {
                state = self.woken.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.n_wakes -= 1;
            is_coming = true;
        }
    }

    /// A branch of the newest wave in that host's world that has one.
    fn take(&'static self, host: &Arc<dyn Host>, is_coming: &mut bool) -> Option<(Arc<Wave>, usize)> {
        let mut state = self.state();
        let taken = state.waves.iter().rev().find_map(|wave| {
            if !Arc::ptr_eq(&wave.run.host, host) || !wave.is_open() || !wave.run.seat() {
                return None;
            }
            let branch = wave.claim();
            if branch.is_none() {
                wave.run.unseat();
            }
            Some((Arc::clone(wave), branch?))
        });
        if taken.is_some() {
            state.n_coming -= usize::from(std::mem::take(is_coming));
            if state.waves.iter().any(|wave| wave.wants_help()) {
                self.summon(&mut state);
            }
        }
        taken
    }

    /// Takes no more waves, and waits for the threads to rest, at most `patience`.
    fn close(&self, patience: Duration) {
        let since = Instant::now();
        loop {
            let mut state = self.state();
            state.closed = true;
            if state.n_idle == state.n_threads || since.elapsed() >= patience {
                return;
            }
            drop(state);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Makes this process's pool rest for good: later waves run on their callers alone. For a binding whose
/// world ends before the process does; waits at most `patience` for branches that still run.
pub fn close(patience: Duration) {
    if FIRST.get().is_some() {
        Pool::current().close(patience);
    }
}
