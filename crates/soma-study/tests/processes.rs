//! Many processes on one folder: raced, stopped, killed and forked.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::too_many_lines, reason = "helpers of tests")]
#![cfg(unix)]

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use soma_store::{Options, Store};
use soma_study::{Report, State, StudyError, Take, abandoned, finished, in_flight, report, take, trials};
use support::{
    Helper, Moments, N_REPORTS, STUDY, check, curve, ended, folder, open, point, role, run, say, search,
    start, wait_for,
};

const LEASE: Duration = Duration::from_millis(600);
/// Where a process that is merely held up must not look dead, and one that was suspended must not either.
const LONG_LEASE: Duration = Duration::from_secs(3);

/// What a helper process does; nothing in a process that is none.
#[test]
fn helper() {
    let Some(words) = role() else { return };
    let path = Path::new(&words[1]);
    match words[0].as_str() {
        "search" => {
            let (me, total) = (&words[2], words[3].parse().unwrap());
            let end: State = words[4].parse().unwrap();
            let store = open(path, LEASE);
            say("ready", "");
            at(&words[5]);
            let ran = search(&store, me, total, end, Duration::ZERO);
            say("ran", &ran.iter().map(u64::to_string).collect::<Vec<_>>().join(","));
        }
        "takes" => {
            let store = open(path, LEASE);
            say("ready", "");
            at(&words[3]);
            let mut taken = Vec::new();
            for trial in 0.. {
                if taken.len() == 25 {
                    break;
                }
                if take(&store, &point(trial), &Take::new(STUDY, trial, &words[2])).unwrap() {
                    taken.push(trial.to_string());
                }
            }
            say("ran", &taken.join(","));
            for trial in &taken {
                run(
                    &store,
                    &Take::new(STUDY, trial.parse().unwrap(), &words[2]),
                    State::Done,
                    Duration::ZERO,
                );
            }
        }
        "slow" => {
            let store = open(path, LEASE);
            let how = Take::new(STUDY, 0, "slow");
            assert!(take(&store, &point(0), &how).unwrap());
            report(&store, &point(0), &curve(0)[..1], &Report::of(&how)).unwrap();
            say("took", "");
            // Told to go on by a signal that also stopped it, so the time is measured by what it sees.
            wait_for("a take-over", Duration::from_secs(60), || {
                trials(&store, STUDY).unwrap().iter().any(|row| row.attempt == 1 && row.state == State::Done)
            });
            let late =
                report(&store, &point(0), &curve(0), &Report::of(&how).with_state(State::Done)).unwrap_err();
            say("refused", &format!("{} {late}", late.is_refusal()));
            let again = report(&store, &point(0), &curve(0), &Report::of(&how)).unwrap_err();
            say("refused", &format!("{} {again}", again.is_refusal()));
        }
        "long" => {
            let store = open(path, milliseconds(&words[2]));
            assert!(take(&store, &point(0), &Take::new(STUDY, 0, "long")).unwrap());
            say("took", "");
            std::thread::sleep(Duration::from_secs(600));
        }
        "watches" => {
            let lease = milliseconds(&words[2]);
            let store = open(path, lease);
            wait_for("the taking", Duration::from_secs(10), || !in_flight(&store, STUDY).unwrap().is_empty());
            say("watching", "");
            // Longer than it will be suspended, on a clock that goes on meanwhile.
            let begun = Instant::now();
            while begun.elapsed() < lease * 19 / 4 {
                assert!(abandoned(&store, STUDY, None).unwrap().is_empty(), "taken for dead");
                std::thread::sleep(lease / 20);
            }
            say("saw", "nothing");
        }
        "forks" => forks(path),
        other => panic!("there is no role `{other}`"),
    }
}

fn milliseconds(text: &str) -> Duration {
    Duration::from_millis(text.parse().unwrap())
}

/// Waits until a moment that all helpers were told, in milliseconds since 1970.
fn at(moment: &str) {
    let moment = milliseconds(moment);
    while std::time::UNIX_EPOCH.elapsed().unwrap() < moment {
        std::thread::yield_now();
    }
}

fn soon() -> String {
    (std::time::UNIX_EPOCH.elapsed().unwrap() + Duration::from_millis(400)).as_millis().to_string()
}

fn numbers(text: &str) -> Vec<u64> {
    text.split(',').filter(|word| !word.is_empty()).map(|word| word.parse().unwrap()).collect()
}

fn searchers(path: &str, n: usize, total: u64, end: State) -> Vec<Helper> {
    let moment = soon();
    (0..n)
        .map(|i| start(&[], &["search", path, &format!("w{i}"), &total.to_string(), end.as_str(), &moment]))
        .collect()
}

#[test]
fn c01_eight_processes_write_and_nothing_interleaves_or_vanishes() {
    for _round in 0..5 {
        let folder = folder();
        let path = folder.path().to_str().unwrap();
        searchers(path, 8, 400, State::Done).into_iter().for_each(Helper::wait);
        check(folder.path(), 400);
    }
}

#[test]
fn c05_sixteen_processes_at_once_never_take_one_trial_twice() {
    let folder = folder();
    let (path, moment) = (folder.path().to_str().unwrap(), soon());
    let mut helpers: Vec<Helper> =
        (0..16).map(|i| start(&[], &["takes", path, &format!("w{i}"), &moment])).collect();
    let mut taken: Vec<u64> = helpers.iter_mut().flat_map(|one| numbers(&one.hear("ran"))).collect();
    taken.sort_unstable();
    assert_eq!(taken, (0..400).collect::<Vec<_>>());
    helpers.into_iter().for_each(Helper::wait);
    check(folder.path(), 400);
}

#[test]
fn c06_the_total_is_the_studys_whoever_joins_and_whatever_is_pruned() {
    for end in [State::Done, State::Pruned] {
        let folder = folder();
        let path = folder.path().to_str().unwrap();
        searchers(path, 7, 20, end).into_iter().for_each(Helper::wait);
        let mut eighth = searchers(path, 1, 20, end).remove(0);
        assert_eq!(eighth.hear("ran"), "");
        let store = Store::read_only(path).unwrap();
        let rows = trials(&store, STUDY).unwrap();
        assert_eq!(rows.iter().map(|row| row.trial).collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
        assert!(rows.iter().all(|row| row.state == end));
    }
}

#[test]
fn c03_a_killed_worker_holds_nobody_up_longer_than_its_lease() {
    // All at once: what is measured is waiting.
    let mut moments = Moments(3);
    let worlds: Vec<_> = (0..20)
        .map(|_| {
            let folder = folder();
            let mut worker =
                start(&[], &["search", folder.path().to_str().unwrap(), "dies", "1000000", "done", "0"]);
            worker.hear("ready");
            std::thread::sleep(Duration::from_micros(moments.below(20_000)));
            worker.kill();
            folder
        })
        .collect();
    let died = Instant::now();
    std::thread::scope(|scope| {
        for world in &worlds {
            scope.spawn(|| {
                let store = open(world.path(), LEASE);
                let total = store.study(STUDY).claims().unwrap().len() as u64 + 1;
                search(&store, "lives", total, State::Done, Duration::ZERO);
                check(world.path(), total);
            });
        }
    });
    // Beyond the lease: the runs themselves, and a loaded machine.
    assert!(died.elapsed() < LEASE + Duration::from_secs(20), "{:?}", died.elapsed());
}

#[test]
fn c03_what_was_abandoned_is_seen_within_a_lease_and_two_seconds() {
    let folder = folder();
    let store = open(folder.path(), LEASE);
    let mut worker = start(&[], &["long", folder.path().to_str().unwrap(), &LEASE.as_millis().to_string()]);
    worker.hear("took");
    worker.kill();
    let died = Instant::now();
    wait_for("the abandoned trial", LEASE + Duration::from_secs(2), || {
        abandoned(&store, STUDY, None).unwrap().len() == 1
    });
    assert!(died.elapsed() + Duration::from_millis(100) >= LEASE);
    // A process that opens the store only now knows by the storage's own time.
    let late = Store::read_only(folder.path().to_str().unwrap()).unwrap();
    assert_eq!(abandoned(&late, STUDY, Some(LEASE)).unwrap().len(), 1);
    assert!(in_flight(&store, STUDY).unwrap().is_empty());
}

#[test]
fn a_worker_in_a_long_epoch_is_alive() {
    let folder = folder();
    let store = open(folder.path(), LEASE);
    let mut worker = start(&[], &["long", folder.path().to_str().unwrap(), &LEASE.as_millis().to_string()]);
    worker.hear("took");
    let begun = Instant::now();
    while begun.elapsed() < LEASE * 4 {
        assert!(abandoned(&store, STUDY, None).unwrap().is_empty(), "after {:?}", begun.elapsed());
        assert_eq!(in_flight(&store, STUDY).unwrap().len(), 1);
        std::thread::sleep(LEASE / 20);
    }
}

#[test]
fn a_container_that_was_suspended_does_not_take_its_own_for_dead() {
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    let lease = LONG_LEASE.as_millis().to_string();
    let mut watcher = start(&[], &["watches", path, &lease]);
    let mut worker = start(&[], &["long", path, &lease]);
    worker.hear("took");
    watcher.hear("watching");
    std::thread::sleep(LONG_LEASE);
    // The watcher is the first to wake up.
    for one in [&worker, &watcher] {
        one.signal(Signal::STOP);
    }
    std::thread::sleep(LONG_LEASE * 3);
    watcher.signal(Signal::CONT);
    std::thread::sleep(LONG_LEASE / 4);
    worker.signal(Signal::CONT);
    assert_eq!(watcher.hear("saw"), "nothing");
    watcher.wait();
}

#[test]
fn c04_a_stopped_worker_that_comes_back_gets_one_refusal_and_one_result_stands() {
    let folder = folder();
    let store = open(folder.path(), LEASE);
    let mut slow = start(&[], &["slow", folder.path().to_str().unwrap()]);
    slow.hear("took");
    slow.signal(Signal::STOP);
    let stopped = Instant::now();
    wait_for("the abandoned trial", LEASE * 10, || abandoned(&store, STUDY, None).unwrap().len() == 1);
    let how = Take::new(STUDY, 0, "fast").with_attempt(1);
    assert!(take(&store, &point(0), &how).unwrap());
    assert!(run(&store, &how, State::Done, Duration::ZERO));
    std::thread::sleep((LEASE * 3).saturating_sub(stopped.elapsed()));
    slow.signal(Signal::CONT);
    for _ in 0..2 {
        let refused = slow.hear("refused");
        assert!(refused.starts_with("true") && refused.contains("trial 0"), "{refused}");
    }
    slow.wait();
    check(folder.path(), 1);
    let again = report(&store, &point(0), &curve(0), &Report::of(&how).with_state(State::Done)).unwrap_err();
    assert!(matches!(again, StudyError::AlreadyEnded { trial: 0, .. }), "{again}");
    check(folder.path(), 1);
}

#[test]
fn a_worker_stopped_between_any_two_reports_leaves_one_result() {
    // Stopped at random moments of a hasty loop, taken over at once by a caller who does not wait for the lease.
    let mut moments = Moments(7);
    for _ in 0..10 {
        let folder = folder();
        let path = folder.path().to_str().unwrap();
        let mut worker = start(&[], &["search", path, "stopped", "40", "done", "0"]);
        worker.hear("ready");
        std::thread::sleep(Duration::from_micros(moments.below(8_000)));
        worker.signal(Signal::STOP);
        let store = open(folder.path(), LEASE);
        for row in &in_flight(&store, STUDY).unwrap() {
            let how = Take::new(STUDY, row.trial, "hasty").with_attempt(1);
            assert!(take(&store, &point(row.trial), &how).unwrap());
            assert!(run(&store, &how, State::Done, Duration::ZERO));
        }
        worker.signal(Signal::CONT);
        worker.wait();
        check(folder.path(), 40);
    }
}

/// Forks while other threads write and read, and lets each child take and finish a trial of its own.
#[expect(unsafe_code, reason = "there is no safe fork")]
fn forks(path: &Path) {
    const CHILDREN: u64 = 20;
    let store = open(path, LEASE);
    let mine = Take::new(STUDY, 0, "parent");
    assert!(take(&store, &point(0), &mine).unwrap());
    report(&store, &point(0), &curve(0)[..1], &Report::of(&mine)).unwrap();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut trial = 1_000;
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                let how = Take::new(STUDY, trial, "thread");
                assert!(take(&store, &point(trial), &how).unwrap());
                run(&store, &how, State::Done, Duration::from_millis(1));
                trial += 1;
            }
        });
        scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                finished(&store, STUDY).unwrap();
            }
        });
        for child in 1..=CHILDREN {
            // SAFETY: the child uses the store and ends without unwinding; what it calls is made to work after a fork.
            let pid = unsafe { libc::fork() };
            assert!(pid >= 0);
            if pid == 0 {
                let how = Take::new(STUDY, child, "child");
                let is_done = take(&store, &point(child), &how).is_ok_and(|is_taken| is_taken)
                    && run(&store, &how, State::Done, Duration::ZERO)
                    && finished(&store, STUDY).is_ok_and(|seen| seen.iter().any(|row| row.trial == child));
                // SAFETY: ends the child at once, without the parent's exit handlers.
                unsafe { libc::_exit(i32::from(!is_done)) };
            }
            let mut status = 0;
            // SAFETY: `status` outlives the call.
            assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
            assert_eq!(status, 0, "child {child}");
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    report(&store, &point(0), &curve(0), &Report::of(&mine).with_state(State::Done)).unwrap();
    say("forked", "");
}

#[test]
fn a_forked_child_has_a_ledger_of_its_own_and_waits_for_no_inherited_lock() {
    let folder = folder();
    let mut helper = start(&[], &["forks", folder.path().to_str().unwrap()]);
    helper.hear("forked");
    helper.wait();
    let store =
        Store::open_with(folder.path().to_str().unwrap(), Options::default().with_read_only(true)).unwrap();
    let found = store.verify().unwrap();
    assert!(found.is_sound(), "{:?}", found.damage);
    assert_eq!(found.ledgers, 21);
    let seen = finished(&store, STUDY).unwrap();
    assert!(seen.iter().take(21).map(|row| row.trial).eq(0..=20));
    assert_eq!(ended(&store), seen.len() as u64);
    assert_eq!(soma_study::curves(&store, STUDY).unwrap()[0].values.len(), N_REPORTS);
}
