//! The functions of a study's loop, over a store in memory or in a folder.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::too_many_lines, reason = "helpers of tests")]
#![expect(clippy::disallowed_methods, reason = "tests damage files")]

use std::time::{Duration, Instant};

use soma_store::{Options, Store};
use soma_study::{
    Goal, History, IntOptions, Point, RealOptions, Report, Space, State, StudyError, Take, abandoned, asked,
    attempts, best, curves, damage, discard, finished, in_flight, new_damage, report, space, summary, take,
    trials,
};

const STUDY: &str = "widths";
const W1: Take<'static> = Take::new(STUDY, 0, "w1");

fn memory() -> Store {
    Store::open("memory://").unwrap()
}

fn searched() -> Space {
    Space::new()
        .real("lr", 1e-4, 1e-1, RealOptions::default().with_log(true))
        .unwrap()
        .int("width", 8, 64, IntOptions::default())
        .unwrap()
        .choice("opt", ["adam", "sgd"])
        .unwrap()
}

fn point() -> Point {
    searched().parse_point("lr=0.01,width=16,opt=sgd").unwrap()
}

fn done(store: &Store, how: Take<'_>, said: &[f64]) {
    assert!(take(store, &point(), &how).unwrap());
    report(store, &point(), said, &Report::of(&how).with_state(State::Done)).unwrap();
}

#[test]
fn a_trial_is_taken_once_reported_and_read_back() {
    let store = memory();
    let how = W1.with_goal(Goal::Min);
    assert!(take(&store, &point(), &how).unwrap());
    assert!(!take(&store, &point(), &how).unwrap());
    assert!(!take(&store, &point(), &Take { me: "w2", ..how }).unwrap());
    assert_eq!(in_flight(&store, STUDY).unwrap()[0].point, point());
    for reports in 1..=3 {
        report(&store, &point(), &[0.5, 0.25, 0.125][..reports], &Report::of(&how)).unwrap();
    }
    assert!(finished(&store, STUDY).unwrap().is_empty());
    report(&store, &point(), &[0.5, 0.25, 0.125], &Report::of(&how).with_state(State::Done)).unwrap();
    let seen = finished(&store, STUDY).unwrap();
    assert_eq!((seen.len(), seen[0].trial, seen[0].score), (1, 0, Some(0.125)));
    assert_eq!(seen[0].point, point());
    assert_eq!(curves(&store, STUDY).unwrap()[0].values[..], [0.5, 0.25, 0.125]);
    assert!(in_flight(&store, STUDY).unwrap().is_empty());
    let row = &trials(&store, STUDY).unwrap()[0];
    assert_eq!((row.state, &*row.who, row.goal, row.reports), (State::Done, "w1", Some(Goal::Min), 3));
    assert!(row.took_secs.unwrap() >= 0.0);
    assert_eq!(best(&store, STUDY, None).unwrap().unwrap(), *row);
}

#[test]
fn the_loops_readers_answer_empty_before_the_first_take_and_the_others_name_a_close_study() {
    let store = memory();
    assert!(finished(&store, STUDY).unwrap().is_empty());
    assert!(in_flight(&store, STUDY).unwrap().is_empty());
    assert!(asked(&store, STUDY).unwrap().is_empty());
    assert!(curves(&store, STUDY).unwrap().is_empty());
    assert!(abandoned(&store, STUDY, None).unwrap().is_empty());
    let hint = trials(&store, STUDY).unwrap_err().hint().unwrap();
    assert_eq!(hint, "the store holds no study yet: check its path; a study begins with the first `take`");
    done(&store, W1, &[1.0]);
    assert_eq!(trials(&store, "x").unwrap_err().hint().unwrap(), "a study begins with the first `take`");
    let error = trials(&store, "width").unwrap_err();
    assert_eq!(error.to_string(), "there is no study `width` in `memory://`");
    assert_eq!(error.hint().unwrap(), "did you mean `widths`?");
    assert!(matches!(best(&store, "x", None), Err(StudyError::UnknownStudy { .. })));
    assert!(matches!(summary(&store, "x"), Err(StudyError::UnknownStudy { .. })));
}

#[test]
fn a_report_by_anybody_else_is_refused_by_name_and_changes_nothing() {
    let store = memory();
    let untaken = report(&store, &point(), &[1.0], &Report::of(&W1)).unwrap_err();
    assert!(matches!(untaken, StudyError::NotTaken { trial: 0, .. }), "{untaken}");
    assert!(take(&store, &point(), &W1).unwrap());
    let foreign = Report::of(&Take { me: "w2", ..W1 }).with_state(State::Done);
    let error = report(&store, &point(), &[1.0], &foreign).unwrap_err();
    assert_eq!(
        error.to_string(),
        "trial 0 of study `widths`, attempt 0, is held by `w1` and `w2` reported to it"
    );
    assert!(error.is_refusal());
    report(&store, &point(), &[1.0], &Report::of(&W1).with_state(State::Done)).unwrap();
    for state in State::ALL {
        let late = report(&store, &point(), &[1.0, 2.0], &Report::of(&W1).with_state(state)).unwrap_err();
        assert!(matches!(late, StudyError::AlreadyEnded { trial: 0, state: State::Done, .. }), "{late}");
    }
    assert_eq!(curves(&store, STUDY).unwrap()[0].values[..], [1.0]);
}

#[test]
fn the_same_worker_may_report_from_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let store = Store::open(path).unwrap();
    assert!(take(&store, &point(), &W1).unwrap());
    report(&store, &point(), &[0.5], &Report::of(&W1)).unwrap();
    // Other options: another handle, with a ledger and a view of its own, as another process has.
    let other = Store::open_with(path, Options::default().with_durable(false)).unwrap();
    report(&other, &point(), &[0.5, 0.25], &Report::of(&W1).with_state(State::Done)).unwrap();
    let late = report(&store, &point(), &[0.5, 0.1], &Report::of(&W1).with_state(State::Done));
    assert!(late.is_ok() || late.unwrap_err().is_refusal());
    let fresh = Store::read_only(path).unwrap();
    assert_eq!(finished(&fresh, STUDY).unwrap().len(), 1);
}

#[test]
fn a_later_attempt_takes_over_and_the_first_done_stays() {
    let store = memory();
    assert!(take(&store, &point(), &W1).unwrap());
    report(&store, &point(), &[0.9], &Report::of(&W1)).unwrap();
    let skipped = take(&store, &point(), &W1.with_attempt(2)).unwrap_err();
    assert!(matches!(skipped, StudyError::AttemptSkipped { missing: 1, .. }), "{skipped}");
    let second = Take { me: "w2", ..W1 }.with_attempt(1);
    assert!(take(&store, &point(), &second).unwrap());
    assert!(!take(&store, &point(), &second).unwrap());
    let late = report(&store, &point(), &[0.9, 0.8], &Report::of(&W1).with_state(State::Done)).unwrap_err();
    assert!(
        matches!(&late, StudyError::TakenOver { trial: 0, holder, next: 1, .. } if holder == "w2"),
        "{late}"
    );
    report(&store, &point(), &[0.3], &Report::of(&second).with_state(State::Done)).unwrap();
    assert!(!take(&store, &point(), &W1.with_attempt(2)).unwrap());
    let seen = finished(&store, STUDY).unwrap();
    assert_eq!((seen.len(), seen[0].score), (1, Some(0.3)));
    let rows = trials(&store, STUDY).unwrap();
    assert_eq!(rows.iter().map(|row| row.state).collect::<Vec<_>>(), [State::Failed, State::Done]);
    assert_eq!(rows[0].because.as_deref(), Some("abandoned: taken over by `w2` as attempt 1"));
    assert_eq!(attempts(&store, STUDY, 0).unwrap(), [(0, vec![0.9]), (1, vec![0.3])]);
}

#[test]
fn c13_a_score_that_is_not_finite_is_failed_with_its_reason_and_never_ranked() {
    let orders = [
        [f64::NAN, 0.5, f64::INFINITY, 0.2],
        [0.2, f64::INFINITY, 0.5, f64::NAN],
        [f64::NAN, 0.5, f64::NEG_INFINITY, 0.2],
    ];
    for (order, goal) in orders.iter().zip([Goal::Min, Goal::Min, Goal::Max]) {
        let store = memory();
        for (trial, score) in order.iter().enumerate() {
            done(&store, Take { trial: trial as u64, ..W1.with_goal(goal) }, &[*score]);
        }
        let best = best(&store, STUDY, None).unwrap().unwrap();
        assert_eq!(best.score, Some(if goal == Goal::Min { 0.2 } else { 0.5 }));
        assert_eq!(finished(&store, STUDY).unwrap().len(), 2);
        for row in &trials(&store, STUDY).unwrap() {
            let finite = order[row.trial as usize].is_finite();
            assert_eq!(row.state, if finite { State::Done } else { State::Failed });
            assert_eq!(row.because.is_some(), !finite);
        }
    }
}

#[test]
fn c16_a_pruned_score_is_never_ranked() {
    let store = memory();
    done(&store, W1.with_goal(Goal::Min), &[1.0]);
    let second = Take { trial: 1, ..W1 };
    assert!(take(&store, &point(), &second).unwrap());
    let pruned = Report::of(&second).with_state(State::Pruned).with_because("worse than the median");
    report(&store, &point(), &[0.0], &pruned).unwrap();
    assert_eq!(best(&store, STUDY, None).unwrap().unwrap().trial, 0);
    assert_eq!(finished(&store, STUDY).unwrap().len(), 1);
    assert_eq!(curves(&store, STUDY).unwrap().len(), 1);
    let row = &trials(&store, STUDY).unwrap()[1];
    assert_eq!(
        (row.state, row.score, row.because.as_deref()),
        (State::Pruned, Some(0.0), Some("worse than the median"))
    );
}

#[test]
fn c07_a_sampler_is_told_of_every_trial_and_of_scores_that_rank_alone() {
    let store = memory();
    let ends = [State::Failed, State::Done, State::Pruned, State::Done, State::Done];
    for (trial, state) in (0..).zip(ends) {
        let how = Take::new(STUDY, trial, "w1");
        assert!(take(&store, &point(), &how).unwrap());
        report(&store, &point(), &[1.0], &Report::of(&how).with_state(state)).unwrap();
    }
    assert!(take(&store, &point(), &Take::new(STUDY, 9, "w1")).unwrap());
    discard(&store, STUDY, 3, None).unwrap();
    let rows = |history: &History| history.iter().map(|row| (row.trial, row.score)).collect::<Vec<_>>();
    let known = asked(&store, STUDY).unwrap();
    assert_eq!(rows(&known), [(1, Some(1.0)), (4, Some(1.0)), (0, None), (2, None), (9, None)]);
    assert!(known.iter().all(|row| row.point == point()));
    // Tried again, it is one trial still.
    assert!(take(&store, &point(), &Take::new(STUDY, 0, "w1").with_attempt(1)).unwrap());
    assert_eq!(asked(&store, STUDY).unwrap().len(), 5);
}

#[test]
fn c18_a_discarded_trial_is_left_out_and_its_number_stays_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let store = Store::open(path).unwrap();
    for trial in 0..10 {
        done(
            &store,
            Take { trial, ..W1.with_goal(Goal::Min) },
            &[if trial == 3 { 0.0 } else { 1.0 + trial as f64 }],
        );
    }
    discard(&store, STUDY, 3, Some("metric bug")).unwrap();
    discard(&store, STUDY, 3, None).unwrap();
    assert!(matches!(discard(&store, STUDY, 77, None), Err(StudyError::UnknownTrial { trial: 77, .. })));
    for store in [store, Store::read_only(path).unwrap()] {
        assert_eq!(best(&store, STUDY, None).unwrap().unwrap().trial, 0);
        let seen: Vec<u64> = finished(&store, STUDY).unwrap().iter().map(|row| row.trial).collect();
        assert_eq!(seen, [0, 1, 2, 4, 5, 6, 7, 8, 9]);
        assert_eq!(curves(&store, STUDY).unwrap().len(), 9);
        assert!(trials(&store, STUDY).unwrap()[3].is_discarded);
        if !store.options().read_only {
            assert!(!take(&store, &point(), &Take { trial: 3, ..W1 }).unwrap());
            assert!(!take(&store, &point(), &Take { trial: 3, ..W1 }.with_attempt(1)).unwrap());
        }
    }
}

#[test]
fn c18_a_study_that_was_deleted_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    let other = Store::read_only(folder.path().to_str().unwrap()).unwrap();
    done(&store, W1, &[1.0]);
    assert_eq!(finished(&other, STUDY).unwrap().len(), 1);
    std::fs::remove_dir_all(folder.path().join("studies/widths")).unwrap();
    assert!(finished(&other, STUDY).unwrap().is_empty());
    done(&store, W1, &[2.0]);
    for store in [&store, &other] {
        let seen = finished(store, STUDY).unwrap();
        assert_eq!((seen.len(), seen[0].score), (1, Some(2.0)));
        assert_eq!(trials(store, STUDY).unwrap().len(), 1);
    }
}

#[test]
fn c18_what_a_thread_had_under_way_in_a_deleted_study_does_not_come_back_in_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    let old = Take { trial: 7, ..W1 };
    assert!(take(&store, &point(), &old).unwrap());
    report(&store, &point(), &[0.5], &Report::of(&old)).unwrap();
    std::fs::remove_dir_all(folder.path().join("studies/widths")).unwrap();
    // Another thread is the first to notice.
    done(&store, W1, &[2.0]);
    let late = report(&store, &point(), &[0.5, 0.25], &Report::of(&old).with_state(State::Done)).unwrap_err();
    assert!(matches!(late, StudyError::NotTaken { .. }), "{late}");
    assert_eq!(finished(&store, STUDY).unwrap().iter().map(|row| row.trial).collect::<Vec<_>>(), [0]);
}

#[test]
fn c24_bounds_and_options_may_change_and_names_and_kinds_may_not() {
    let store = memory();
    done(&store, W1.with_goal(Goal::Min), &[1.0]);
    let wider = Space::new()
        .real("lr", 1e-5, 1.0, RealOptions::default().with_log(true))
        .unwrap()
        .int("width", 8, 512, IntOptions::default())
        .unwrap()
        .choice("opt", ["adam", "sgd", "lion"])
        .unwrap();
    let far = wider.parse_point("lr=1.0,width=500,opt=lion").unwrap();
    let second = Take { trial: 1, ..W1 };
    assert!(take(&store, &far, &second).unwrap());
    report(&store, &far, &[0.5], &Report::of(&second).with_state(State::Done)).unwrap();
    let seen = finished(&store, STUDY).unwrap();
    assert_eq!((seen[0].point.clone(), seen[1].point.clone()), (point(), far));
    let versions: Vec<u32> = trials(&store, STUDY).unwrap().iter().map(|row| row.space_version).collect();
    assert_eq!(versions, [1, 2]);
    assert_eq!(space(&store, STUDY).unwrap(), (wider, Some(Goal::Min)));
    let other = Space::new().choice("opt", ["adam"]).unwrap().parse_point("opt=adam").unwrap();
    let refused = take(&store, &other, &Take { trial: 2, ..W1 }).unwrap_err();
    assert!(matches!(refused, StudyError::SpaceDiffers { .. }), "{refused}");
    assert!(refused.to_string().contains("`lr`"), "{refused}");
    let refused = take(&store, &point(), &Take { trial: 2, ..W1.with_goal(Goal::Max) }).unwrap_err();
    assert!(matches!(refused, StudyError::GoalDiffers { .. }), "{refused}");
    assert_eq!(trials(&store, STUDY).unwrap().len(), 2);
}

#[test]
fn a_curve_is_given_whole_each_time() {
    let store = memory();
    assert!(take(&store, &point(), &W1).unwrap());
    report(&store, &point(), &[0.5, f64::NAN], &Report::of(&W1)).unwrap();
    for other in [&[0.4][..], &[0.5, 0.4], &[0.5, 0.4, 0.3]] {
        let error = report(&store, &point(), other, &Report::of(&W1)).unwrap_err();
        assert!(matches!(error, StudyError::CurveDiffers { known: 2, .. }), "{error}");
    }
    report(&store, &point(), &[0.5, f64::NAN], &Report::of(&W1)).unwrap();
    let failed = Report::of(&W1).with_state(State::Failed).with_because("interrupted");
    report(&store, &point(), &[], &failed).unwrap();
    assert_eq!(attempts(&store, STUDY, 0).unwrap()[0].1.len(), 2);
    let row = &trials(&store, STUDY).unwrap()[0];
    assert_eq!((row.state, row.because.as_deref()), (State::Failed, Some("interrupted")));
}

#[test]
fn done_needs_something_to_be_ranked_by() {
    let store = memory();
    assert!(take(&store, &point(), &W1).unwrap());
    let error = report(&store, &point(), &[], &Report::of(&W1).with_state(State::Done)).unwrap_err();
    assert!(matches!(error, StudyError::NoScore { trial: 0, .. }));
    report(&store, &point(), &[], &Report::of(&W1).with_state(State::Done).with_score(0.5)).unwrap();
    assert_eq!(finished(&store, STUDY).unwrap()[0].score, Some(0.5));
    assert!(matches!(best(&store, STUDY, None), Err(StudyError::NoGoal { .. })));
    assert_eq!(best(&store, STUDY, Some(Goal::Max)).unwrap().unwrap().trial, 0);
}

#[test]
fn a_process_that_closed_its_store_has_abandoned_its_trials() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let store = Store::open(path).unwrap();
    assert!(take(&store, &point(), &W1).unwrap());
    let reader = Store::read_only(path).unwrap();
    assert!(abandoned(&reader, STUDY, None).unwrap().is_empty());
    assert_eq!(in_flight(&reader, STUDY).unwrap().len(), 1);
    drop(store);
    let found = abandoned(&reader, STUDY, None).unwrap();
    assert_eq!((found.len(), found[0].trial, found[0].point.clone()), (1, 0, Some(point())));
    assert!(in_flight(&reader, STUDY).unwrap().is_empty());
    let row = &trials(&reader, STUDY).unwrap()[0];
    assert_eq!(row.state, State::Failed);
    assert_eq!(summary(&reader, STUDY).unwrap().counts.abandoned, 1);
}

#[test]
fn a_trial_of_another_process_is_not_held_by_who_was_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let store = Store::open(path).unwrap();
    let taken = W1.with_goal(Goal::Min);
    assert!(take(&store, &point(), &taken).unwrap());
    drop(store);
    // As another process, of the same name.
    let other = Store::open_with(path, Options::default().with_durable(false)).unwrap();
    let is_abandoned = || abandoned(&other, STUDY, None).unwrap().len() == 1;
    assert!(is_abandoned());
    let how = Report::of(&taken);
    let refused = |said: &[f64], how: Report<'_>| report(&other, &point(), said, &how).unwrap_err();
    let no_score = refused(&[], how.with_state(State::Done));
    assert!(matches!(no_score, StudyError::NoScore { .. }) && is_abandoned(), "{no_score}");
    let differs = refused(&[0.5], Report { goal: Some(Goal::Max), ..how });
    assert!(matches!(differs, StudyError::GoalDiffers { .. }) && is_abandoned(), "{differs}");
    report(&other, &point(), &[0.5], &how).unwrap();
    assert!(!is_abandoned());
    // What it did report to it goes on with.
    let differs = refused(&[0.1, 0.2], how);
    assert!(matches!(differs, StudyError::CurveDiffers { .. }) && !is_abandoned(), "{differs}");
    drop(other);
    let third = Store::open(path).unwrap();
    let differs = report(&third, &point(), &[0.1, 0.2], &how).unwrap_err();
    assert!(matches!(differs, StudyError::CurveDiffers { .. }), "{differs}");
    assert_eq!(abandoned(&third, STUDY, None).unwrap().len(), 1);
}

#[test]
fn a_result_that_waits_for_who_took_its_trial_over_holds_up_no_other_thread() {
    let store = memory();
    let mut trial = 0;
    loop {
        let (how, next) = (Take { trial, ..W1 }, Take { trial: trial + 1, ..W1 });
        assert!(take(&store, &point(), &how).unwrap());
        // Claimed by somebody who does not say more.
        store.study(STUDY).claim(trial, 1).unwrap();
        let (begun, end) = (Instant::now(), Report::of(&how).with_state(State::Done));
        let (reported, taken) = std::thread::scope(|scope| {
            let reporting = scope.spawn(|| {
                let late = report(&store, &point(), &[0.5], &end).unwrap_err();
                assert!(matches!(late, StudyError::TakenOver { .. }), "{late}");
                Instant::now()
            });
            std::thread::sleep(Duration::from_millis(50));
            assert!(take(&store, &point(), &next).unwrap());
            let taken = Instant::now();
            (reporting.join().unwrap(), taken)
        });
        // On a busy machine the claim may be seen before the end is written: then nothing is waited for.
        if reported - begun > Duration::from_millis(900) {
            assert!(taken < reported);
            return;
        }
        trial += 2;
    }
}

#[test]
fn a_claim_without_a_record_is_abandoned_after_a_lease() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    done(&store, W1, &[1.0]);
    std::fs::write(folder.path().join("studies/widths/claims/1.0"), "").unwrap();
    let lease = Duration::from_millis(100);
    assert!(abandoned(&store, STUDY, Some(Duration::from_secs(60))).unwrap().is_empty());
    std::thread::sleep(lease * 2);
    let found = abandoned(&store, STUDY, Some(lease)).unwrap();
    assert_eq!(found.iter().map(|one| (one.trial, one.attempt)).collect::<Vec<_>>(), [(1, 0)]);
    done(&store, Take { trial: 1, ..W1 }.with_attempt(1), &[0.5]);
    assert_eq!(finished(&store, STUDY).unwrap().len(), 2);
    std::thread::sleep(lease);
    assert!(abandoned(&store, STUDY, Some(lease)).unwrap().is_empty());
}

#[test]
fn one_bad_byte_costs_one_record_and_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    {
        let store = Store::open(path).unwrap();
        for trial in 0..5 {
            done(&store, Take { trial, ..W1 }, &[trial as f64]);
        }
    }
    let ledger = std::fs::read_dir(folder.path().join("studies/widths/ledger"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut bytes = std::fs::read(&ledger).unwrap();
    let at = bytes.windows(22).position(|part| part == b"\"end\",\"trial\":2,\"attem").unwrap();
    bytes[at + 2] ^= 1;
    std::fs::write(&ledger, bytes).unwrap();
    let store = Store::read_only(path).unwrap();
    let seen: Vec<u64> = finished(&store, STUDY).unwrap().iter().map(|row| row.trial).collect();
    assert_eq!(seen, [0, 1, 3, 4]);
    let told = new_damage(&store, STUDY);
    assert_eq!((told.len(), &told[0].path), (1, &ledger.display().to_string()));
    assert!(told[0].offset > 0 && told[0].size > 0);
    assert!(new_damage(&store, STUDY).is_empty());
    assert_eq!(damage(&store, STUDY).unwrap(), told);
}

#[test]
fn two_studies_in_one_store_do_not_mix() {
    let store = memory();
    for (study, score) in [("a", 1.0), ("A", 2.0), ("a/b", 3.0), ("../a", 4.0), ("caf\u{e9}", 5.0)] {
        done(&store, Take { study, ..W1 }, &[score]);
        assert_eq!(finished(&store, study).unwrap()[0].score, Some(score));
    }
    assert_eq!(finished(&store, "cafe\u{301}").unwrap().len(), 1);
    assert_eq!(store.studies().unwrap(), ["../a", "A", "a", "a/b", "caf\u{e9}"]);
}

#[test]
fn c44_long_and_hostile_names_work_and_nothing_leaves_the_store() {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("store");
    let store = Store::open(root.to_str().unwrap()).unwrap();
    let mut space = Space::new().choice("long", ["x".repeat(5_000), "y".to_owned()]).unwrap();
    let mut text = format!("long={}", "x".repeat(5_000));
    for i in 0..100 {
        let name = format!("a_parameter_with_a_name_of_40_letters{i:03}");
        space = space.int(&name, 0, 9, IntOptions::default()).unwrap();
        text += &[",", &name, "=", &(i % 10).to_string()].concat();
    }
    let point = space.parse_point(&text).unwrap();
    let long = "n".repeat(300);
    for study in ["a/b:c*?", "..", "CON", "con", "", "\u{0}", long.as_str()] {
        let how = Take { study, ..W1 };
        assert!(take(&store, &point, &how).unwrap(), "{study:?}");
        report(&store, &point, &[1.0], &Report::of(&how).with_state(State::Done)).unwrap();
        assert_eq!(finished(&store, study).unwrap()[0].point, point, "{study:?}");
    }
    assert_eq!(store.studies().unwrap().len(), 7);
    assert_eq!(std::fs::read_dir(outer.path()).unwrap().count(), 1);
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            assert!(entry.file_name().len() <= 143, "{}", entry.path().display());
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    assert!(store.verify().unwrap().is_sound());
}
