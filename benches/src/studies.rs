//! Stores on a memory file system, and studies of any size in them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use soma_store::{Options, Store};
use soma_study::{
    Goal, IntOptions, RealOptions, Report, Sampler, Space, State, Take, finished, report, take,
};

/// Reports per trial, the last one with the result.
pub const N_REPORTS: usize = 8;
/// The study in every bench.
pub const STUDY: &str = "widths";

/// Where stores lie: in memory where the system has such a file system, so that the disk is not what is measured.
pub fn folder() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}

/// A store in a folder of its own, as durable as stores are by default.
///
/// # Panics
/// The folder cannot be written.
pub fn store(folder: &tempfile::TempDir) -> Store {
    open(folder, Options::default())
}

/// A store in a folder of its own.
///
/// # Panics
/// The folder cannot be written.
pub fn open(folder: &tempfile::TempDir, options: Options) -> Store {
    Store::open_with(folder.path().to_str().expect("a temporary path is text"), options)
        .expect("a writable folder")
}

/// The space of the study notebook.
///
/// # Panics
/// Never: the space is sound.
pub fn space() -> Space {
    Space::new()
        .real("lr", 1e-4, 1e-1, RealOptions::default().with_log(true))
        .and_then(|space| space.int("width", 8, 64, IntOptions::default()))
        .and_then(|space| space.choice("opt", ["adam", "sgd"]))
        .expect("the space is sound")
}

/// One trial as the loop runs it: history, ask, take, the reports, done.
///
/// # Panics
/// The store fails, or somebody else has the trial.
pub fn trial(store: &Store, space: &Space, sampler: &Sampler, trial: u64, me: &str) {
    let history = finished(store, STUDY).expect("a readable study");
    let point = sampler.ask(space, trial, &history).expect("an endless sampler");
    let how = Take { study: STUDY, trial, me, attempt: 0, goal: Some(Goal::Min) };
    assert!(take(store, &point, &how).expect("a writable study"), "trial {trial} is taken");
    finish(store, &point, &how);
}

/// The reports of a trial that was taken.
///
/// # Panics
/// The store fails.
pub fn finish(store: &Store, point: &soma_study::Point, how: &Take<'_>) {
    let mut said = [0.0; N_REPORTS];
    for (i, value) in said.iter_mut().enumerate() {
        *value = 1.0 / (how.trial as f64 + i as f64 + 1.5);
    }
    for reports in 1..N_REPORTS {
        report(store, point, &said[..reports], &Report::of(how)).expect("a writable study");
    }
    report(store, point, &said, &Report::of(how).with_state(State::Done)).expect("a writable study");
}

/// Trials `from..to`, one after the other, without looking at the history.
///
/// # Panics
/// The store fails, or somebody else has one of the trials.
pub fn fill(store: &Store, from: u64, to: u64, me: &str) {
    let (space, sampler) = (space(), Sampler::sobol(0));
    let none = soma_study::History::new();
    for trial in from..to {
        let point = sampler.ask(&space, trial, &none).expect("an endless sampler");
        let how = Take { study: STUDY, trial, me, attempt: 0, goal: Some(Goal::Min) };
        assert!(take(store, &point, &how).expect("a writable study"), "trial {trial} is taken");
        finish(store, &point, &how);
    }
}

/// The shortest of several runs: what else the machine did counts for least in it.
pub fn shortest(runs: usize, mut run: impl FnMut() -> Duration) -> Duration {
    (0..runs).map(|_| run()).min().unwrap_or_default()
}

/// How long `run` takes.
pub fn timed(run: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    run();
    begun.elapsed()
}
