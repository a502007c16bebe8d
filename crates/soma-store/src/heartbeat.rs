//! Signs of life: a thread of its own, so that a long epoch in Python never looks like a death.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::study::StudyShared;

/// How long this process has been running, a stretch in which it was suspended counted as one beat: silence is
/// measured on it, so that a container that slept does not take its neighbours, who slept with it, for dead.
#[derive(Debug)]
pub(crate) struct AwakeClock {
    last: Instant,
    awake: Duration,
    beat: Duration,
}

impl AwakeClock {
    /// Ticks that come this many beats late show that the process did not run.
    const LATE_BEATS: u32 = 4;

    fn new(beat: Duration) -> Self {
        Self { last: Instant::now(), awake: Duration::ZERO, beat }
    }

    /// `is_ticking`: somebody calls at least once per beat.
    fn now(&mut self, is_ticking: bool) -> Duration {
        let passed = self.last.elapsed();
        self.last += passed;
        let was_suspended = is_ticking && passed > self.beat * Self::LATE_BEATS;
        self.awake += if was_suspended { self.beat } else { passed };
        self.awake
    }
}

/// The heart of one process in one study: beats while something is held.
#[derive(Debug)]
pub(crate) struct Heart {
    beat: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    held: usize,
    is_started: bool,
    // The thread waits to be woken: nothing was held for a while.
    is_resting: bool,
    is_ended: bool,
    clock: AwakeClock,
}

/// One running trial of this process: signs of life are given until it is dropped.
#[derive(Debug)]
pub struct Held(Arc<Heart>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.lock().held -= 1;
    }
}

impl Heart {
    /// Beats without anything held after which the thread rests.
    const IDLE_BEATS: u32 = 30;

    pub(crate) fn new(beat: Duration) -> Arc<Self> {
        let state = State {
            held: 0,
            is_started: false,
            is_resting: false,
            is_ended: false,
            clock: AwakeClock::new(beat),
        };
        Arc::new(Self { beat, state: Mutex::new(state), changed: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time since the start, without the stretches in which the process did not run.
    pub(crate) fn awake(&self) -> Duration {
        let mut state = self.lock();
        let is_ticking = state.is_started && !state.is_resting;
        state.clock.now(is_ticking)
    }

    /// Begins to give signs of life for `study`, until what is answered is dropped.
    pub(crate) fn hold(self: &Arc<Self>, study: &Arc<StudyShared>) -> Held {
        let mut state = self.lock();
        state.held += 1;
        if std::mem::take(&mut state.is_resting) {
            // Nothing was late while it rested.
            state.clock.now(false);
            self.changed.notify_all();
        }
        if !state.is_started {
            let (heart, study) = (Arc::clone(self), Arc::downgrade(study));
            let thread = std::thread::Builder::new().name("soma-heartbeat".to_owned());
            // Without a thread (the machine has no more) the trial's reports are its only signs.
            state.is_started = thread.spawn(move || heart.run(&study)).is_ok();
        }
        Held(Arc::clone(self))
    }

    /// Ends the thread.
    pub(crate) fn end(&self) {
        self.lock().is_ended = true;
        self.changed.notify_all();
    }

    fn run(&self, study: &Weak<StudyShared>) {
        let mut idle = 0;
        let mut state = self.lock();
        while !state.is_ended {
            // A loop of short trials neither wakes the thread for each nor waits for it.
            idle = if state.held > 0 { 0 } else { idle + 1 };
            if idle > Self::IDLE_BEATS {
                state.is_resting = true;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                idle = 0;
                continue;
            }
            state.clock.now(true);
            let (waited, timeout) =
                self.changed.wait_timeout(state, self.beat).unwrap_or_else(PoisonError::into_inner);
            state = waited;
            if !timeout.timed_out() || state.held == 0 || state.is_ended {
                continue;
            }
            drop(state);
            let Some(study) = study.upgrade() else { return };
            // A sign that could not be given is tried again at the next beat; a report says what is wrong.
            drop(study.beat(self.beat));
            drop(study);
            state = self.lock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_which_the_process_slept_counts_as_one_beat() {
        let beat = Duration::from_millis(1);
        let mut clock = AwakeClock::new(beat);
        clock.last = Instant::now().checked_sub(Duration::from_secs(60)).unwrap();
        assert!(clock.now(true) < Duration::from_millis(50));
        clock.last = Instant::now().checked_sub(Duration::from_secs(60)).unwrap();
        assert!(clock.now(false) >= Duration::from_secs(60));
    }
}
