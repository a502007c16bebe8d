//! Real processes for tests: the test program starts itself again, as a helper with a role.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::too_many_lines, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test program uses a part")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use soma_store::{Options, Store};
use soma_study::{
    Goal, History, Point, RealOptions, Report, Sampler, Space, State, StudyError, Take, abandoned, finished,
    report, take, trials,
};

/// The study of every test.
pub const STUDY: &str = "widths";
/// Reports of every trial.
pub const N_REPORTS: usize = 20;
/// Tells a helper its role and the words that go with it, separated by newlines.
const ROLE: &str = "SOMA_TEST_ROLE";

/// The words of a helper's role; None in a process that is no helper. The test that is the helper's entry calls it.
pub fn role() -> Option<Vec<String>> {
    std::env::var(ROLE).ok().map(|words| words.split('\n').map(str::to_owned).collect())
}

/// Starts this test program again, only with the test `helper`, in a role. `wrap`: words of a command that is to start
/// it, such as `unshare`.
pub fn start(wrap: &[&str], words: &[&str]) -> Helper {
    let program = std::env::current_exe().unwrap();
    let mut command = match wrap {
        [] => Command::new(program),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
    };
    command.args(["helper", "--exact", "--nocapture", "--test-threads=1"]).env(ROLE, words.join("\n"));
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap());
    Helper { child, said }
}

/// A process of ours; killed when dropped.
pub struct Helper {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Helper {
    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
        if signal == Signal::STOP {
            // The signal is on its way: a process on another core writes on until it arrives.
            let stopped_or_gone = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            waitid(WaitId::Pid(self.pid()), stopped_or_gone).unwrap();
        }
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// The next line that starts with `word`, without it.
    pub fn hear(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "the helper ended before it said `{word}`");
            // The test harness talks too, and does not end its lines first.
            if let Some(at) = line.find(word) {
                return line[at + word.len()..].trim().to_owned();
            }
        }
    }

    pub fn wait(mut self) {
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.said, &mut rest).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "a helper failed: {status}\n{rest}");
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Says something to whoever started this helper.
pub fn say(word: &str, rest: &str) {
    println!("{word} {rest}");
    std::io::Write::flush(&mut std::io::stdout()).unwrap();
}

pub fn space() -> Space {
    Space::new().real("lr", 1e-4, 1e-1, RealOptions::default().with_log(true)).unwrap()
}

pub fn point(trial: u64) -> Point {
    Sampler::sobol(0).ask(&space(), trial, &History::new()).unwrap()
}

/// What trial `trial` reports at `step`: every value of a study is another one.
pub fn value(trial: u64, step: usize) -> f64 {
    trial as f64 + step as f64 / 64.0
}

pub fn curve(trial: u64) -> Vec<f64> {
    (0..N_REPORTS).map(|step| value(trial, step)).collect()
}

pub fn open(path: &Path, lease: Duration) -> Store {
    Store::open_with(path.to_str().unwrap(), Options::default().with_lease(lease).with_durable(false))
        .unwrap()
}

/// Where stores of tests lie: in memory where the system has such a file system.
pub fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// Runs an attempt that was taken; `pause` after each report. False when somebody took it over meanwhile.
pub fn run(store: &Store, how: &Take<'_>, end: State, pause: Duration) -> bool {
    let (point, curve) = (point(how.trial), curve(how.trial));
    let reports = Report::of(how);
    for step in 0..=N_REPORTS {
        let result = if step < N_REPORTS {
            report(store, &point, &curve[..=step], &reports)
        } else {
            report(store, &point, &curve, &reports.with_state(end).with_because("as told"))
        };
        match result {
            Ok(()) if step < N_REPORTS && !pause.is_zero() => std::thread::sleep(pause),
            Ok(()) => {}
            Err(StudyError::TakenOver { trial, .. } | StudyError::AlreadyEnded { trial, .. }) => {
                assert_eq!(trial, how.trial);
                return false;
            }
            Err(other) => panic!("{other}"),
        }
    }
    true
}

/// The loop that `search` is: takes over what is abandoned, takes what is free, until `total` trials have ended.
/// Answers the numbers of the trials it ran to their end.
pub fn search(store: &Store, me: &str, total: u64, end: State, pause: Duration) -> Vec<u64> {
    let mut ran = Vec::new();
    let mut next = 0;
    loop {
        for one in abandoned(store, STUDY, None).unwrap() {
            let how =
                Take { study: STUDY, trial: one.trial, me, attempt: one.attempt + 1, goal: Some(Goal::Min) };
            if take(store, &point(one.trial), &how).unwrap() && run(store, &how, end, pause) {
                ran.push(one.trial);
            }
        }
        let mut is_taken = false;
        while next < total && !is_taken {
            let how = Take { study: STUDY, trial: next, me, attempt: 0, goal: Some(Goal::Min) };
            is_taken = take(store, &point(next), &how).unwrap();
            if is_taken && run(store, &how, end, pause) {
                ran.push(next);
            }
            next += 1;
        }
        if !is_taken {
            if ended(store) >= total {
                return ran;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Trials that have a result or were pruned.
pub fn ended(store: &Store) -> u64 {
    let rows = match trials(store, STUDY) {
        Err(StudyError::UnknownStudy { .. }) => return 0,
        rows => rows.unwrap(),
    };
    let ended = rows.iter().filter(|row| matches!(row.state, State::Done | State::Pruned));
    ended.map(|row| row.trial).collect::<std::collections::BTreeSet<_>>().len() as u64
}

/// Every trial of `0..total` has exactly one result, with its whole curve, and nothing is damaged but torn ends.
pub fn check(path: &Path, total: u64) {
    let store = Store::read_only(path.to_str().unwrap()).unwrap();
    let seen = finished(&store, STUDY).unwrap();
    assert_eq!(seen.iter().map(|row| row.trial).collect::<Vec<_>>(), (0..total).collect::<Vec<_>>());
    for row in &seen {
        assert_eq!(row.point, point(row.trial));
        assert_eq!(row.score, Some(value(row.trial, N_REPORTS - 1)));
    }
    for one in &soma_study::curves(&store, STUDY).unwrap() {
        assert_eq!(one.values[..], curve(one.trial)[..], "the curve of trial {}", one.trial);
    }
    let all = trials(&store, STUDY).unwrap();
    for trial in 0..total {
        let results = all.iter().filter(|row| row.trial == trial && row.state == State::Done).count();
        assert_eq!(results, 1, "trial {trial} has {results} results");
    }
    let found = store.verify().unwrap();
    assert!(found.damage.iter().all(|one| one.what == soma_store::Damage::TORN), "{:?}", found.damage);
}

/// Waits until `is_so`, at most so long.
pub fn wait_for(what: &str, most: Duration, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < most, "{what} did not come within {most:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Random moments: a splitmix64 sequence, seeded.
pub struct Moments(pub u64);

impl Moments {
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % most.max(1)
    }
}
