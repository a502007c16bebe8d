//! Records whose checksum is right and that no worker would write.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::time::Duration;

use soma_store::{Options, Store};
use soma_study::{
    Point, RealOptions, Report, Space, State, Take, abandoned, attempts, curves, finished, in_flight,
    new_damage, report, take, trials,
};

const STUDY: &str = "widths";

fn point() -> Point {
    Space::new().real("lr", 0.0, 1.0, RealOptions::default()).unwrap().parse_point("lr=0.5").unwrap()
}

/// A folder's store with one finished trial, and somebody else's ledger with these records.
fn stores(records: &[&str]) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let store = Store::open_with(place, Options::default().with_lease(Duration::from_millis(50))).unwrap();
    let how = Take::new(STUDY, 0, "w");
    assert!(take(&store, &point(), &how).unwrap());
    report(&store, &point(), &[0.5], &Report::of(&how).with_state(State::Done)).unwrap();
    let other = Store::open(place).unwrap();
    for record in records {
        other.study(STUDY).write(record.as_bytes(), false).unwrap();
    }
    (folder, store)
}

/// Everything that reads goes on, and so does whoever works.
fn goes_on(store: &Store) {
    assert_eq!(finished(store, STUDY).unwrap()[0].score, Some(0.5));
    assert_eq!(curves(store, STUDY).unwrap()[0].values[..], [0.5]);
    in_flight(store, STUDY).unwrap();
    abandoned(store, STUDY, None).unwrap();
    assert!(trials(store, STUDY).unwrap().len() > 1);
    let how = Take::new(STUDY, 1, "w");
    assert!(take(store, &point(), &how).unwrap());
    report(store, &point(), &[0.25], &Report::of(&how).with_state(State::Done)).unwrap();
    assert_eq!(finished(store, STUDY).unwrap()[1].score, Some(0.25));
}

const TAKE: &str = r#"{"kind":"take","trial":5,"attempt":0,"me":"h","space":1,"point":"lr=0.5"}"#;

#[test]
fn a_curve_that_says_it_goes_on_from_far_away_asks_for_no_memory() {
    for from in [(1 << 20) + 1, 1 << 30, 10_u64.pow(15), u64::MAX - 1, u64::MAX] {
        let report = format!(r#"{{"kind":"report","trial":5,"attempt":0,"from":{from},"said":[1,2]}}"#);
        let end = format!(
            r#"{{"kind":"end","trial":6,"attempt":0,"from":{from},"said":[1],"state":"done","score":9}}"#
        );
        let (_folder, store) = stores(&[TAKE, &report, &TAKE.replace('5', "6"), &end]);
        goes_on(&store);
        assert_eq!(attempts(&store, STUDY, 5).unwrap(), [(0, Vec::new())]);
        let told = new_damage(&store, STUDY);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].what.contains("no record"), "{}", told[0]);
    }
    // As far as lost records may reach.
    let report = r#"{"kind":"report","trial":5,"attempt":0,"from":1000,"said":[1]}"#;
    let (_folder, store) = stores(&[TAKE, report]);
    assert_eq!(attempts(&store, STUDY, 5).unwrap()[0].1.len(), 1001);
}

#[test]
fn numbers_at_the_ends_of_their_ranges_stop_nobody() {
    let last = [
        TAKE.replace(r#""trial":5"#, r#""trial":18446744073709551615"#),
        TAKE.replace(r#""attempt":0"#, r#""attempt":4294967295"#),
        TAKE.replace(r#""space":1"#, r#""space":4294967295"#),
        TAKE.replace(r#""trial":5"#, r#""trial":18446744073709551616"#),
        TAKE.replace(r#""attempt":0"#, r#""attempt":-1"#),
    ];
    for take in &last {
        let (_folder, store) = stores(&[take, TAKE.replace('5', "7").as_str()]);
        for trial in [3, u64::MAX] {
            assert!(store.study(STUDY).claim(trial, u32::MAX).unwrap());
        }
        std::thread::sleep(Duration::from_millis(60));
        goes_on(&store);
        // There is no attempt after the last one.
        let left = abandoned(&store, STUDY, Some(Duration::ZERO)).unwrap();
        assert!(left.iter().all(|one| one.attempt < u32::MAX), "{left:?}");
    }
}

#[test]
fn a_ledger_that_promises_signs_of_life_once_in_an_age_stops_nobody() {
    for beat in ["1e19", "1.8e19", "1e308", "-1", "null", "\"inf\""] {
        let open = format!(r#"{{"kind":"open","version":1,"beat_secs":{beat}}}"#);
        let (_folder, store) = stores(&[&open, TAKE]);
        goes_on(&store);
        soma_study::summary(&store, STUDY).unwrap();
    }
}

#[test]
fn deep_and_endless_records_are_told_and_passed_over() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let digits = "9".repeat(100_000);
    let records = [
        format!(r#"{{"kind":"report","trial":5,"attempt":0,"from":0,"said":[1],"more":{deep}}}"#),
        format!(r#"{{"kind":"report","trial":5,"attempt":0,"from":0,"said":{deep}}}"#),
        format!(r#"{{"kind":"report","trial":{digits},"attempt":0,"from":0,"said":[1]}}"#),
        format!(r#"{{"kind":"report","trial":5,"attempt":0,"from":0,"said":[{digits}]}}"#),
        r#"{"kind":"end","trial":5,"attempt":0,"from":0,"said":[NaN],"state":"done","score":NaN}"#.to_owned(),
        r#"{"kind":"end","trial":5,"attempt":0,"from":0,"said":[1e999],"state":"done"}"#.to_owned(),
    ];
    let mut all = vec![TAKE];
    all.extend(records.iter().map(String::as_str));
    let (_folder, store) = stores(&all);
    goes_on(&store);
    // What a later version may have added to the first one is passed over.
    assert_eq!(new_damage(&store, STUDY).len(), records.len() - 1);
    assert_eq!(attempts(&store, STUDY, 5).unwrap(), [(0, vec![1.0])]);
}
