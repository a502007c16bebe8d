//! Disks that fill up, break and lose power.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::too_many_lines, reason = "helpers of tests")]

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use soma_store::faulty::{Fault, Faulty};
use soma_store::{Options, Store};
use soma_study::{
    Point, RealOptions, Report, Space, State, StudyError, Take, abandoned, curves, finished, in_flight,
    report, take, trials,
};

const STUDY: &str = "widths";

fn point() -> Point {
    Space::new().real("lr", 0.0, 1.0, RealOptions::default()).unwrap().parse_point("lr=0.5").unwrap()
}

fn open(disk: &Faulty) -> Store {
    Store::over(Arc::new(disk.clone()), Options::default()).unwrap()
}

/// One trial of three reports; goes on after an error as a caller would: says the same again.
fn stubborn(store: &Store, trial: u64, curve: &[f64], errors: &mut Vec<StudyError>) -> bool {
    let how = Take::new(STUDY, trial, "w");
    match take(store, &point(), &how) {
        Ok(true) => {}
        Ok(false) => return false,
        Err(error) => {
            errors.push(error);
            return false;
        }
    }
    for step in 1..=curve.len() {
        let state = if step == curve.len() { State::Done } else { State::Running };
        while let Err(error) = report(store, &point(), &curve[..step], &Report::of(&how).with_state(state)) {
            errors.push(error);
            assert!(errors.len() < 10, "it never goes on: {errors:?}");
        }
    }
    true
}

#[test]
fn whichever_call_fails_the_error_names_path_and_action_and_the_writer_goes_on() {
    let curve = [0.5, 0.25, 0.125];
    let calls = {
        let disk = Faulty::new();
        let store = open(&disk);
        let before = disk.calls();
        assert!(stubborn(&store, 0, &curve, &mut Vec::new()));
        before..disk.calls()
    };
    for call in calls {
        for fault in [Fault::Full, Fault::Short, Fault::Broken] {
            let disk = Faulty::new();
            let store = open(&disk);
            disk.fail_at(call, fault);
            let mut errors = Vec::new();
            let ran = stubborn(&store, 0, &curve, &mut errors);
            assert_eq!(errors.len(), 1, "call {call}, {fault:?}");
            let text = errors[0].to_string();
            assert!(text.starts_with("could not ") && text.contains("`studies/widths"), "{text}");
            if fault != Fault::Broken {
                assert!(errors[0].hint().unwrap().contains("space"), "{text}");
            }
            // The next trial is none the worse for it, for this process and for one that reads afresh.
            assert!(stubborn(&store, 1, &curve, &mut errors));
            for store in [&store, &open(&disk)] {
                let seen = curves(store, STUDY).unwrap();
                assert_eq!(seen.len(), 1 + usize::from(ran), "call {call}, {fault:?}");
                assert!(seen.iter().all(|one| one.values[..] == curve), "call {call}, {fault:?}");
            }
        }
    }
}

#[test]
fn a_full_disk_leaves_no_litter_of_ledgers() {
    let disk = Faulty::new();
    let store = open(&disk);
    assert!(stubborn(&store, 0, &[0.5], &mut Vec::new()));
    let before = store.verify().unwrap().ledgers;
    let how = Take::new(STUDY, 1, "w");
    assert!(take(&store, &point(), &how).unwrap());
    // Torn once, then full for a while: one beginning after the other that comes to nothing.
    disk.fail_at(disk.calls(), Fault::Short);
    for _ in 0..20 {
        assert!(report(&store, &point(), &[0.5], &Report::of(&how)).is_err());
        disk.fail_at(disk.calls() + 1, Fault::Short);
        disk.fail_at(disk.calls() + 2, Fault::Short);
    }
    let found = store.verify().unwrap();
    assert!(found.ledgers <= before + 2, "{} ledgers", found.ledgers);
}

/// Storage whose listings are up to `lag` old, and two processes' worth of stores on it.
fn lagging(lag: Duration, lease: Duration) -> (Faulty, [Store; 2]) {
    let disk = Faulty::new();
    let options = Options::default().with_lease(lease);
    let stores = [(); 2].map(|()| Store::over(Arc::new(disk.clone()), options).unwrap());
    disk.lag_listings(lag);
    (disk, stores)
}

#[test]
fn c42_with_listings_three_seconds_old_there_is_still_one_owner() {
    const TOTAL: u64 = 40;
    let (disk, stores) = lagging(Duration::from_secs(3), Duration::from_millis(50));
    // What everybody sees of the ledgers for the next three seconds: none.
    assert_eq!(in_flight(&stores[0], STUDY).unwrap().len(), 0);
    let won: Vec<u64> = std::thread::scope(|scope| {
        let workers = stores.each_ref().map(|store| {
            scope.spawn(move || {
                let mut won = Vec::new();
                for trial in 0..TOTAL {
                    let how = Take::new(STUDY, trial, "w");
                    if take(store, &point(), &how).unwrap() {
                        report(store, &point(), &[0.5], &Report::of(&how).with_state(State::Done)).unwrap();
                        won.push(trial);
                    }
                    let lost = abandoned(store, STUDY, Some(Duration::ZERO)).unwrap();
                    assert!(lost.is_empty(), "{lost:?}");
                }
                won
            })
        });
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(won.len() as u64, TOTAL);
    // A claim that is seen before the ledger with its record: longer than the lease ago, not longer than the lag.
    std::thread::sleep(Duration::from_millis(200));
    assert!(abandoned(&stores[1], STUDY, None).unwrap().is_empty());
    disk.lag_listings(Duration::ZERO);
    for store in &stores {
        assert_eq!(finished(store, STUDY).unwrap().len() as u64, TOTAL);
    }
}

#[test]
fn a_ledger_that_cannot_be_read_is_told_once_stops_nobody_and_nobody_takes_over_from_it() {
    let (disk, [store, other]) = lagging(Duration::ZERO, Duration::from_millis(30));
    let how = Take::new(STUDY, 0, "w");
    assert!(take(&store, &point(), &how).unwrap());
    assert_eq!(in_flight(&other, STUDY).unwrap().len(), 1);
    let ledgers = format!("studies/{STUDY}/ledger");
    disk.set_readable(&ledgers, false);
    report(&store, &point(), &[0.25], &Report::of(&how).with_state(State::Done)).unwrap();
    for _ in 0..2 {
        assert_eq!(finished(&other, STUDY).unwrap().len(), 0);
        assert!(take(&other, &point(), &Take::new(STUDY, 1, "v")).is_ok());
    }
    let told = soma_study::new_damage(&other, STUDY);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].what.contains("cannot be read"), "{}", told[0]);
    let refused = take(&other, &point(), &how.with_attempt(1)).unwrap_err();
    assert!(refused.to_string().contains("could not read"), "{refused}");
    disk.set_readable(&ledgers, true);
    // The result was acknowledged, and is there.
    assert_eq!(finished(&other, STUDY).unwrap()[0].score, Some(0.25));
    assert!(!take(&other, &point(), &how.with_attempt(1)).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_acknowledged_is_lost_with_the_power(
        keep in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64],
        trials_before in 1..6_u64,
        unfinished in 0..3_u64,
        failing in proptest::option::of((0..60_u64, prop_oneof![Just(Fault::Full), Just(Fault::Short), Just(Fault::Broken)])),
    ) {
        let disk = Faulty::new();
        let store = open(&disk);
        if let Some((call, fault)) = failing {
            disk.fail_at(disk.calls() + call, fault);
        }
        let mut acknowledged = Vec::new();
        for trial in 0..trials_before {
            if stubborn(&store, trial, &[1.0, trial as f64], &mut Vec::new()) {
                acknowledged.push((trial, Some(trial as f64)));
            }
        }
        for trial in trials_before..trials_before + unfinished {
            let how = Take::new(STUDY, trial, "w");
            if take(&store, &point(), &how).is_ok_and(|is_taken| is_taken) {
                drop(report(&store, &point(), &[0.5], &Report::of(&how)));
            }
        }
        disk.lose_power(keep);
        std::mem::forget(store);
        let store = open(&disk);
        let seen = finished(&store, STUDY).unwrap();
        prop_assert_eq!(seen.iter().map(|row| (row.trial, row.score)).collect::<Vec<_>>(), acknowledged.clone());
        prop_assert!(acknowledged.is_empty() || trials(&store, STUDY).is_ok());
        // Claims may be lost with the power; a trial that has its result is not given again.
        for (trial, _) in acknowledged {
            prop_assert!(!take(&store, &point(), &Take::new(STUDY, trial, "other")).unwrap());
        }
    }
}
