//! Branches that run at the same time.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::error::RunError;
use crate::executor::{Run, drive};
use crate::host::{Held, Host, Local, Seat};
use crate::pool::Pool;

/// How often a waiting caller looks whether somebody asked it to stop.
const INTERRUPT_PERIOD: Duration = Duration::from_millis(50);

/// One wave of one run: who takes which branch, and how each ended.
pub(crate) struct Wave {
    pub(crate) run: Arc<Run>,
    pub(crate) at: usize,
    pub(crate) held: Arc<dyn Held>,
    next: AtomicUsize,
    ends: Mutex<Ends>,
    all_ended: Condvar,
}

struct Ends {
    n_left: usize,
    failures: Vec<(usize, RunError)>,
}

impl Wave {
    pub(crate) fn new(run: Arc<Run>, at: usize, held: Arc<dyn Held>) -> Self {
        let n_left = run.program.waves[at].spans.len();
        Self {
            run,
            at,
            held,
            next: AtomicUsize::new(0),
            ends: Mutex::new(Ends { n_left, failures: Vec::new() }),
            all_ended: Condvar::new(),
        }
    }

    fn n_branches(&self) -> usize {
        self.run.program.waves[self.at].spans.len()
    }

    pub(crate) fn span(&self, branch: usize) -> Range<usize> {
        self.run.program.waves[self.at].spans[branch].clone()
    }

    /// Whether a branch is still to be taken.
    pub(crate) fn is_open(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.n_branches() && !self.run.is_cancelled()
    }

    /// Whether a pool thread would find something to do.
    pub(crate) fn wants_help(&self) -> bool {
        self.is_open() && self.run.has_seat()
    }

    pub(crate) fn host(&self) -> Arc<dyn Host> {
        Arc::clone(&self.run.host)
    }

    /// The next branch nobody has taken.
    pub(crate) fn claim(&self) -> Option<usize> {
        if !self.is_open() {
            return None;
        }
        let branch = self.next.fetch_add(1, Ordering::Relaxed);
        (branch < self.n_branches()).then_some(branch)
    }

    /// A branch ended on this thread.
    pub(crate) fn settle(&self, branch: usize, seat: Seat, local: Option<Local>, failure: Option<RunError>) {
        if let Some(local) = local {
            self.held.end(seat, &local);
        }
        let failure = failure.map(|failure| self.run.heard(failure));
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.n_left -= 1;
        ends.failures.extend(failure.map(|failure| (branch, failure)));
        if ends.n_left == 0 {
            self.all_ended.notify_all();
        }
    }

    /// A pool thread runs one branch, from begin to end.
    pub(crate) fn help(&self, branch: usize) {
        match self.held.begin(Seat::Helper) {
            Ok(local) => {
                let end = drive(&self.run, self.span(branch), Some(Arc::clone(&local)));
                self.settle(branch, Seat::Helper, Some(local), end.err());
            }
            // The host could not prepare a branch: nobody's node failed, and nothing else can run either.
            Err(error) => {
                let failure = RunError::Interrupted(error.into_cause());
                self.settle(branch, Seat::Helper, None, Some(failure));
            }
        }
    }

    /// The opener has no branch left to take: waits for those that others took, and answers the failure
    /// of the wave. After an interrupt it waits for nobody; what still runs then ends unheard.
    pub(crate) fn leave(&self) -> Option<RunError> {
        if self.run.may_have_helpers() {
            Pool::current().retire(self);
        }
        self.wait();
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let mut failures = std::mem::take(&mut ends.failures);
        drop(ends);
        failures.sort_unstable_by_key(|(branch, _)| *branch);
        let failures: Vec<RunError> = failures.into_iter().map(|(_, failure)| failure).collect();
        if failures.is_empty() && self.run.is_cancelled() {
            return Some(RunError::Cancelled);
        }
        RunError::of(failures)
    }

    fn wait(&self) {
        let is_over = |ends: &mut Ends| ends.n_left == 0 || self.run.is_cancelled();
        loop {
            let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
            if is_over(&mut ends) {
                return;
            }
            drop(ends);
            self.run.host.wait(&mut || {
                let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
                // Woken or not, the loop looks again; what the wait answered says no more.
                let _ = self.all_ended.wait_timeout_while(ends, INTERRUPT_PERIOD, |ends| !is_over(ends));
            });
            if let Some(asked) = self.run.host.interrupted() {
                self.run.heard(RunError::Interrupted(asked.into_cause()));
            }
        }
    }
}
