//! A study against a plain model of one: any calls, in any order, through any number of processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::too_many_lines, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use soma_store::{Memory, Options, Store};
use soma_study::{
    Goal, IntOptions, Point, Report, Space, State, StudyError, Take, asked, best, curves, discard, finished,
    in_flight, report, take, trials,
};

const STUDY: &str = "widths";
const N_TRIALS: u64 = 4;
const N_PROCESSES: usize = 3;

#[derive(Debug, Clone)]
enum Call {
    Take {
        trial: u64,
        attempt: u32,
        me: usize,
    },
    Report {
        trial: u64,
        attempt: u32,
        me: usize,
        more: usize,
        state: State,
    },
    Discard {
        trial: u64,
    },
    /// The process ends, with a word or without, and another begins in its place.
    Restart {
        is_killed: bool,
    },
}

fn call() -> impl Strategy<Value = (usize, Call)> {
    let attempt = prop_oneof![6 => Just(0_u32), 3 => Just(1), 1 => Just(2)];
    let state = prop_oneof![
        4 => Just(State::Running),
        3 => Just(State::Done),
        1 => Just(State::Pruned),
        1 => Just(State::Failed)
    ];
    let trial = 0..N_TRIALS;
    let call = prop_oneof![
        4 => (trial.clone(), attempt.clone(), 0..2_usize).prop_map(|(trial, attempt, me)| Call::Take { trial, attempt, me }),
        8 => (trial.clone(), attempt, 0..2_usize, 0..3_usize, state)
            .prop_map(|(trial, attempt, me, more, state)| Call::Report { trial, attempt, me, more, state }),
        1 => trial.prop_map(|trial| Call::Discard { trial }),
        1 => any::<bool>().prop_map(|is_killed| Call::Restart { is_killed }),
    ];
    (0..N_PROCESSES, call)
}

#[derive(Debug, Default, Clone)]
struct Attempt {
    me: usize,
    curve: Vec<f64>,
    state: State,
}

/// What a study is, without files, processes or threads.
#[derive(Debug, Default)]
struct Model {
    trials: BTreeMap<u64, Vec<Attempt>>,
    discarded: Vec<u64>,
}

impl Model {
    fn done(&self, trial: u64) -> Option<&Attempt> {
        self.trials.get(&trial)?.iter().find(|one| one.state == State::Done)
    }

    fn take(&mut self, trial: u64, attempt: u32, me: usize) -> Result<bool, ()> {
        let is_over = self.done(trial).is_some() || self.discarded.contains(&trial);
        let attempts = self.trials.entry(trial).or_default();
        let next = attempts.len() as u32;
        let answer = match attempt {
            _ if is_over || attempt < next => Ok(false),
            _ if attempt > next => Err(()),
            _ => {
                attempts.push(Attempt { me, ..Attempt::default() });
                Ok(true)
            }
        };
        if attempts.is_empty() {
            self.trials.remove(&trial);
        }
        answer
    }

    /// The curve to report, where the report is to be accepted.
    fn report(&mut self, trial: u64, attempt: u32, me: usize, more: usize, state: State) -> Option<Vec<f64>> {
        let attempts = self.trials.get_mut(&trial)?;
        let is_last = attempts.len() as u32 == attempt + 1;
        let one = attempts.get_mut(attempt as usize)?;
        if one.me != me || one.state != State::Running || !is_last {
            return None;
        }
        let before = one.curve.len();
        let more = if state == State::Done { more.max(1) } else { more };
        one.curve.extend((before..before + more).map(|step| value(trial, attempt, step)));
        one.state = state;
        Some(one.curve.clone())
    }

    fn is_open(&self, trial: u64) -> bool {
        self.counts(trial) && self.done(trial).is_none()
    }

    fn counts(&self, trial: u64) -> bool {
        !self.discarded.contains(&trial)
    }
}

fn value(trial: u64, attempt: u32, step: usize) -> f64 {
    trial as f64 * 10.0 + f64::from(attempt) + step as f64 / 64.0
}

fn point(trial: u64) -> Point {
    let space = Space::new().int("width", 0, 9, IntOptions::default()).unwrap();
    space.parse_point(&format!("width={trial}")).unwrap()
}

fn begin(memory: &Memory) -> Store {
    Store::over(Arc::new(memory.clone()), Options::default()).unwrap()
}

const NAMES: [&str; 2] = ["w0", "w1"];

fn apply(process: &mut Store, memory: &Memory, model: &mut Model, call: &Call) {
    match *call {
        Call::Take { trial, attempt, me } => {
            let how = Take { study: STUDY, trial, me: NAMES[me], attempt, goal: Some(Goal::Min) };
            match (take(process, &point(trial), &how), model.take(trial, attempt, me)) {
                (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{call:?}"),
                (Err(StudyError::AttemptSkipped { .. }), Err(())) => {}
                other => panic!("{call:?}: {other:?}"),
            }
        }
        Call::Report { trial, attempt, me, more, state } => {
            let how = Take { study: STUDY, trial, me: NAMES[me], attempt, goal: None };
            let how = Report::of(&how).with_state(state);
            if let Some(curve) = model.report(trial, attempt, me, more, state) {
                let told = report(process, &point(trial), &curve, &how);
                // Another process of the same name may know more of the curve; what is known of it is the model's.
                if let Err(error) = told {
                    panic!("{call:?}: {error}");
                }
            } else {
                // A process that took it looks every 20 ms what others did; its last word is refused at once.
                if !state.is_finished() {
                    std::thread::sleep(std::time::Duration::from_millis(21));
                }
                let error = report(process, &point(trial), &[value(trial, attempt, 0)], &how).unwrap_err();
                assert!(error.is_refusal(), "{call:?}: {error}");
            }
        }
        Call::Discard { trial } => match discard(process, STUDY, trial, None) {
            Ok(()) => {
                assert!(model.trials.contains_key(&trial));
                model.discarded.push(trial);
            }
            Err(StudyError::UnknownTrial { .. } | StudyError::UnknownStudy { .. }) => {
                assert!(!model.trials.contains_key(&trial));
            }
            Err(other) => panic!("{other}"),
        },
        Call::Restart { is_killed } => {
            let old = std::mem::replace(process, begin(memory));
            if is_killed {
                std::mem::forget(old);
            }
        }
    }
}

fn compare(store: &Store, model: &Model) {
    let done: Vec<(u64, Vec<f64>)> = model
        .trials
        .keys()
        .filter(|trial| model.counts(**trial))
        .filter_map(|trial| Some((*trial, model.done(*trial)?.curve.clone())))
        .collect();
    let ours: Vec<(u64, Vec<f64>)> =
        curves(store, STUDY).unwrap().iter().map(|one| (one.trial, one.values.to_vec())).collect();
    assert_eq!(ours, done);
    let seen = finished(store, STUDY).unwrap();
    assert_eq!(seen.len(), done.len());
    for (row, (trial, curve)) in seen.iter().zip(&done) {
        assert_eq!((row.trial, row.score, &row.point), (*trial, curve.last().copied(), &point(*trial)));
    }
    let open = model.trials.keys().filter(|trial| model.is_open(**trial));
    let all: Vec<u64> = done.iter().map(|(trial, _)| *trial).chain(open.copied()).collect();
    assert_eq!(asked(store, STUDY).unwrap().iter().map(|row| row.trial).collect::<Vec<_>>(), all);
    if model.trials.is_empty() {
        return;
    }
    let rows = trials(store, STUDY).unwrap();
    // Of an attempt that was taken over only the state is compared.
    let counted = |attempt: u32, attempts: &[Attempt]| {
        attempts[attempt as usize].state != State::Running || attempts.len() as u32 == attempt + 1
    };
    let ours: Vec<_> = rows
        .iter()
        .map(|row| {
            let reports = counted(row.attempt, &model.trials[&row.trial]).then_some(row.reports);
            (row.trial, row.attempt, row.who.to_string(), reports)
        })
        .collect();
    let theirs: Vec<_> = model
        .trials
        .iter()
        .flat_map(|(trial, attempts)| {
            attempts.iter().zip(0..).map(|(one, attempt)| {
                (
                    *trial,
                    attempt,
                    NAMES[one.me].to_owned(),
                    counted(attempt, attempts).then_some(one.curve.len()),
                )
            })
        })
        .collect();
    assert_eq!(ours, theirs);
    for row in &rows {
        let attempts = &model.trials[&row.trial];
        let one = &attempts[row.attempt as usize];
        let is_last = attempts.len() as u32 == row.attempt + 1;
        // A running attempt that was taken over, or whose process said that it is gone, shows as failed.
        if one.state != State::Running {
            assert_eq!(row.state, one.state);
        } else if !is_last {
            assert_eq!(row.state, State::Failed);
        } else {
            assert!(matches!(row.state, State::Running | State::Failed));
        }
    }
    let flying = in_flight(store, STUDY).unwrap();
    assert!(flying.iter().all(|row| model.trials[&row.trial].last().unwrap().state == State::Running));
    let lowest = done.iter().map(|(_, curve)| curve[curve.len() - 1]).min_by(f64::total_cmp);
    assert_eq!(best(store, STUDY, None).unwrap().and_then(|row| row.score), lowest);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_study_is_what_a_plain_map_of_attempts_would_be(calls in proptest::collection::vec(call(), 1..60)) {
        let memory = Memory::new();
        let mut processes: Vec<Store> = (0..N_PROCESSES).map(|_| begin(&memory)).collect();
        let mut model = Model::default();
        for (process, call) in &calls {
            apply(&mut processes[*process], &memory, &mut model, call);
            compare(&processes[*process], &model);
        }
        for store in processes.iter().chain([&begin(&memory)]) {
            compare(store, &model);
        }
    }
}
