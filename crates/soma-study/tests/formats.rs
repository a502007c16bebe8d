//! Every published version of a study reads, for ever.

use std::path::Path;

use soma_store::Store;
use soma_study::{
    Goal, State, abandoned, attempts, best, curves, finished, in_flight, misfits, space, summary, trials,
};

#[test]
fn version_1_reads_whole() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../soma-store/tests/fixtures/v1");
    let store = Store::read_only(path.to_str().unwrap()).unwrap();
    let rows = trials(&store, "widths").unwrap();
    let told: Vec<_> =
        rows.iter().map(|row| (row.trial, row.attempt, row.state, row.score, &*row.who)).collect();
    assert_eq!(
        told,
        [
            (0, 0, State::Done, Some(0.25), "w1"),
            (1, 0, State::Failed, None, "w0"),
            (1, 1, State::Pruned, Some(0.9), "w1"),
            (2, 0, State::Done, Some(0.125), "w1"),
        ]
    );
    assert_eq!(rows[0].took_secs, Some(1.5));
    assert!(rows[0].is_discarded);
    assert_eq!(rows[1].because.as_deref(), Some("abandoned: taken over by `w1` as attempt 1"));
    assert_eq!(rows[2].because.as_deref(), Some("worse than the median"));
    assert_eq!(rows[3].point.as_ref().unwrap().to_string(), "lr=0.015587287424960756,width=58,opt=sgd");
    assert_eq!(finished(&store, "widths").unwrap().iter().map(|row| row.trial).collect::<Vec<_>>(), [2]);
    assert_eq!(curves(&store, "widths").unwrap()[0].values[..], [0.5, 0.125]);
    let first = &attempts(&store, "widths", 0).unwrap()[0].1;
    assert_eq!((first.len(), first[2].is_nan(), first[3]), (4, true, 0.25));
    assert!(in_flight(&store, "widths").unwrap().is_empty());
    assert!(abandoned(&store, "widths", None).unwrap().is_empty());
    assert_eq!(best(&store, "widths", None).unwrap().unwrap().trial, 2);
    assert_eq!(
        space(&store, "widths").unwrap().0.to_string(),
        "Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))"
    );
    let told = summary(&store, "widths").unwrap();
    assert_eq!(
        (told.goal, told.counts.done, told.counts.pruned, told.counts.discarded),
        (Some(Goal::Min), 1, 1, 1)
    );
    assert!(told.damage.is_empty());
}

#[test]
fn takings_that_name_their_sampler_read_and_can_be_derived_again() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../soma-store/tests/fixtures/v1_by");
    let store = Store::read_only(path.to_str().unwrap()).unwrap();
    assert!(store.verify().unwrap().is_sound());
    assert_eq!(misfits(&store).unwrap(), []);
    let points: Vec<String> =
        finished(&store, "widths").unwrap().iter().map(|row| row.point.to_string()).collect();
    assert_eq!(
        points,
        [
            "lr=0.002771855228616633,width=44,opt=sgd",
            "lr=0.00010732284518314793,width=57,opt=adam",
            "lr=0.0003200888482173765,width=40,opt=sgd",
        ]
    );
}
