//! Everything at once, for a while: processes that are killed, stopped and started on one folder.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::too_many_lines, reason = "helpers of tests")]
#![cfg(unix)]

mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use soma_study::State;
use support::{Helper, Moments, check, ended, folder, open, role, search, start};

const LEASE: Duration = Duration::from_millis(400);
/// Between two reports, so that a signal often comes in the middle of a trial.
const PAUSE: Duration = Duration::from_micros(100);
/// The run is given up after this long.
const MOST: Duration = Duration::from_secs(120);

/// What a helper process does; nothing in a process that is none.
#[test]
fn helper() {
    let Some(words) = role() else { return };
    let store = open(Path::new(&words[0]), LEASE);
    search(&store, &words[1], words[2].parse().unwrap(), State::Done, PAUSE);
}

/// Keeps `n` workers going until `total` trials have ended; every few milliseconds one is killed or stopped.
fn chaos(n: usize, total: u64, wrap: &[&str], name: impl Fn(usize) -> String) {
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    let total_word = total.to_string();
    let mut started = 0;
    let mut begin = || {
        started += 1;
        start(wrap, &[path, &name(started), &total_word])
    };
    let mut workers: Vec<Helper> = (0..n).map(|_| begin()).collect();
    let store = open(folder.path(), LEASE);
    let (since, mut moments) = (Instant::now(), Moments(11));
    while ended(&store) < total {
        assert!(since.elapsed() < MOST, "{} of {total} trials after {MOST:?}", ended(&store));
        std::thread::sleep(Duration::from_millis(20 + moments.below(60)));
        let victim = moments.below(n as u64) as usize;
        if !workers[victim].is_running() {
            workers[victim] = begin();
            continue;
        }
        if moments.below(2) == 0 {
            std::mem::replace(&mut workers[victim], begin()).kill();
        } else {
            workers[victim].signal(Signal::STOP);
            let long = moments.below(4) == 0;
            std::thread::sleep(if long { LEASE * 3 / 2 } else { Duration::from_millis(moments.below(30)) });
            workers[victim].signal(Signal::CONT);
        }
    }
    // Nobody waits for a dead one: all that still run come to their end.
    workers.into_iter().for_each(Helper::wait);
    check(folder.path(), total);
}

#[test]
fn a_thousand_trials_survive_processes_that_are_killed_and_stopped() {
    chaos(8, 1_000, &[], |number| format!("w{number}"));
}

#[test]
fn workers_that_all_believe_they_are_process_1_of_localhost_never_collide() {
    let unshare = [
        "unshare",
        "--pid",
        "--fork",
        "--kill-child",
        "--uts",
        "sh",
        "-c",
        "hostname localhost && exec \"$@\"",
        "sh",
    ];
    let probe = [&unshare[1..], &["sh", "-c", "test $$ = 1"]].concat();
    let is_allowed = Command::new(unshare[0])
        .args(probe)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    // Where namespaces are denied the workers still share one name: nothing on disk is made of a process id or a host.
    let wrap: &[&str] = if is_allowed { &unshare } else { &[] };
    chaos(4, 200, wrap, |_| "process 1 of localhost".to_owned());
}
