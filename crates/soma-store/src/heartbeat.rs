//! Signs of life: a thread of its own, so that a long epoch in Python never looks like a death.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::fork;
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

    /// `is_ticking`: the heart's thread calls at least once per beat.
    fn now(&mut self, is_ticking: bool) -> Duration {
        let passed = self.last.elapsed();
        self.last += passed;
        let was_suspended = is_ticking && passed > self.beat * Self::LATE_BEATS;
        self.awake += if was_suspended { self.beat } else { passed };
        self.awake
    }
}

/// The heart of one process in one study: ticks while something is held or waited for, and beats while it is held.
#[derive(Debug)]
pub(crate) struct Heart {
    beat: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    held: usize,
    // Somebody asked what time it is since the last tick.
    is_watched: bool,
    last_look: Option<Instant>,
    thread: Thread,
    clock: AwakeClock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thread {
    NotStarted,
    Ticking,
    /// It waits to be woken: nothing was held or watched for a while.
    Resting,
    Ended,
}

/// One running trial of this process: signs of life are given until it is dropped.
#[derive(Debug)]
pub struct Held {
    heart: Arc<Heart>,
    generation: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        // In a forked child it is the parent's, whose thread may have had the lock at that moment.
        if self.generation == fork::generation() {
            self.heart.lock().held -= 1;
        }
    }
}

impl Heart {
    /// Beats without anything held, or anybody watching, after which the thread rests.
    const IDLE_BEATS: u32 = 30;

    pub(crate) fn new(beat: Duration) -> Arc<Self> {
        let state = State {
            held: 0,
            is_watched: false,
            last_look: None,
            thread: Thread::NotStarted,
            clock: AwakeClock::new(beat),
        };
        Arc::new(Self { beat, state: Mutex::new(state), changed: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time since the start, without the stretches in which the process did not run. Whoever asks again after a beat
    /// is waiting for something: from then on the thread ticks for it too.
    pub(crate) fn awake(self: &Arc<Self>, study: &Arc<StudyShared>) -> Duration {
        let mut state = self.lock();
        let is_ticking = state.thread == Thread::Ticking;
        let awake = state.clock.now(is_ticking);
        state.is_watched = true;
        if state.last_look.is_none_or(|last| last.elapsed() >= self.beat)
            && state.last_look.replace(Instant::now()).is_some()
        {
            self.tick(&mut state, study);
        }
        awake
    }

    /// Begins to give signs of life for `study`, until what is answered is dropped.
    pub(crate) fn hold(self: &Arc<Self>, study: &Arc<StudyShared>) -> Held {
        let mut state = self.lock();
        state.held += 1;
        self.tick(&mut state, study);
        Held { heart: Arc::clone(self), generation: fork::generation() }
    }

    /// Starts the thread, or wakes it.
    fn tick(self: &Arc<Self>, state: &mut State, study: &Arc<StudyShared>) {
        match state.thread {
            Thread::Ticking | Thread::Ended => {}
            Thread::Resting => {
                // Nothing was late while it rested.
                state.clock.now(false);
                state.thread = Thread::Ticking;
                self.changed.notify_all();
            }
            Thread::NotStarted => {
                let (heart, study) = (Arc::clone(self), Arc::downgrade(study));
                let thread = std::thread::Builder::new().name("soma-heartbeat".to_owned());
                // Without a thread (the machine has no more) the trial's reports are its only signs.
                if thread.spawn(move || heart.run(&study)).is_ok() {
                    state.thread = Thread::Ticking;
                }
            }
        }
    }

    /// Ends the thread.
    pub(crate) fn end(&self) {
        self.lock().thread = Thread::Ended;
        self.changed.notify_all();
    }

    fn run(&self, study: &Weak<StudyShared>) {
        let mut idle = 0;
        let mut state = self.lock();
        while state.thread != Thread::Ended {
            // A loop of short trials neither wakes the thread for each nor waits for it.
            let is_needed = state.held > 0 || std::mem::take(&mut state.is_watched);
            idle = if is_needed { 0 } else { idle + 1 };
            if idle > Self::IDLE_BEATS {
                state.thread = Thread::Resting;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                idle = 0;
                continue;
            }
            state.clock.now(true);
            let (waited, timeout) =
                self.changed.wait_timeout(state, self.beat).unwrap_or_else(PoisonError::into_inner);
            state = waited;
            if !timeout.timed_out() || state.held == 0 || state.thread == Thread::Ended {
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
    use crate::Store;

    #[cfg(target_os = "linux")]
    #[test]
    #[expect(unsafe_code, reason = "a fork in the middle of a beat")]
    fn a_forked_child_lets_go_of_what_its_parent_holds_without_waiting_for_it() {
        let study = Store::open("memory://").unwrap().study("widths");
        let held = study.hold();
        let heart = Arc::clone(&held.heart);
        let beating = heart.lock();
        // SAFETY: the child drops one value, which is what is tested, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            drop(held);
            // SAFETY: it ends this process and runs nothing else.
            unsafe { libc::_exit(0) }
        }
        let began = Instant::now();
        let mut ended = 0;
        while ended == 0 && began.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(5));
            // SAFETY: a child of ours, and no status is asked for.
            ended = unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::WNOHANG) };
        }
        if ended == 0 {
            // SAFETY: a child of ours that was not waited for.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        drop(beating);
        assert_eq!(ended, child, "it waits for a lock that nobody gives back");
    }

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
