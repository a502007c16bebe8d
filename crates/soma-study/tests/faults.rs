//! Disks that fill up, break and lose power.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::too_many_lines, reason = "helpers of tests")]

use std::sync::Arc;

use proptest::prelude::*;
use soma_store::faulty::{Fault, Faulty};
use soma_store::{Options, Store};
use soma_study::{
    Point, RealOptions, Report, Space, State, StudyError, Take, curves, finished, report, take, trials,
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
