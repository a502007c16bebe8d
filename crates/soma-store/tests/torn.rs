//! The end of a ledger whose last write broke off.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant, SystemTime};

use soma_store::faulty::Faulty;
use soma_store::{Options, Store};

/// Reading the unfinished end anew is no sign of life of whoever left it.
#[test]
fn an_unfinished_end_is_counted_and_falls_silent() {
    let folder = tempfile::tempdir().unwrap();
    let location = folder.path().to_str().unwrap();
    let store = Store::open_with(location, Options::default().with_durable(false)).unwrap();
    let study = store.study("widths");
    let record = br#"{"kind":"take","trial":0,"attempt":0,"me":"w","space":1,"point":""}"#;
    study.write(record, false).unwrap();
    let ledger = study.ledger_path(&study.own_ledger().unwrap());
    let torn =
        |bytes: &[u8]| OpenOptions::new().append(true).open(&ledger).unwrap().write_all(bytes).unwrap();

    let mut follower = study.follower();
    let mut read_on = |at: u64| {
        let now = Duration::from_secs(at);
        follower.read_on(now, &mut |_| {}).unwrap();
        let id = follower.ledgers().next().unwrap();
        let silence = follower.silence(id, now, Duration::from_secs(10), || Ok(None)).unwrap();
        (follower.bytes_torn(id), silence.as_secs())
    };
    assert_eq!(read_on(0), (0, 0));
    torn(b"{\"kind\":");
    assert_eq!(read_on(1), (8, 0));
    assert_eq!(read_on(5), (8, 4));
    torn(b"\"al");
    assert_eq!(read_on(6), (11, 0));
    assert_eq!(read_on(60), (11, 54));
    torn(b"\n");
    assert_eq!(read_on(61), (0, 0));
}

#[test]
fn a_study_that_lost_its_document_is_among_the_studies_and_one_nobody_began_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    for name in ["widths", "Two Words"] {
        store.study(name).write(br#"{"kind":"alive"}"#, false).unwrap();
    }
    std::fs::create_dir_all(folder.path().join("studies/begun/claims")).unwrap();
    assert_eq!(store.studies().unwrap(), ["two-words~8e086addb49a6af26353739f8cf33bdc", "widths"]);
}

#[test]
fn a_store_whose_making_broke_off_is_finished_by_whoever_opens_it_for_writing() {
    const WHOLE: &[u8] = b"soma store, version 1\n";
    let finish = |begun: &[u8]| {
        let folder = tempfile::tempdir().unwrap();
        let (place, format) = (folder.path().to_str().unwrap(), folder.path().join("format"));
        std::fs::write(&format, begun).unwrap();
        assert!(Store::read_only(place).is_err());
        assert_eq!(std::fs::read(&format).unwrap(), begun, "a reader changes nothing");
        // An empty file may be anybody's.
        assert_eq!(Store::open(place).is_err(), begun.is_empty());
        assert_eq!(std::fs::read(&format).unwrap(), if begun.is_empty() { begun } else { WHOLE });
        // Somebody else is about to finish it.
        std::fs::write(&format, begun).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(150));
                let mut rest = OpenOptions::new().append(true).open(&format).unwrap();
                rest.write_all(&WHOLE[begun.len()..]).unwrap();
            });
            Store::read_only(place).unwrap();
        });
    };
    std::thread::scope(|scope| {
        for begun in [&WHOLE[..0], &WHOLE[..7], &WHOLE[..21]] {
            scope.spawn(move || finish(begun));
        }
    });
}

/// Where a new file is written in place, it is seen half written.
#[test]
fn what_somebody_is_writing_is_waited_for() {
    const HALF_WAY: Duration = Duration::from_millis(100);
    for _ in 0..5 {
        let disk = Faulty::new();
        disk.create_slowly(HALF_WAY);
        let barrier = Barrier::new(4);
        let open = || {
            barrier.wait();
            Store::over(Arc::new(disk.clone()), Options::default()).unwrap()
        };
        let write = |store: &Store| {
            let study = store.study("widths");
            study.write_document(1, br#"{"name":"widths"}"#).unwrap();
            let body = study.document(1).unwrap().unwrap();
            assert!(body.starts_with(br#"{"name":"widths""#));
            assert_eq!(store.studies().unwrap(), ["widths"]);
            let digest = store.put(b"weights").unwrap();
            store.claim("best", &digest, &BTreeMap::new()).unwrap();
            assert_eq!(store.resolve("best").unwrap().unwrap().digest, digest);
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| write(&open())))));
    }
}

#[test]
fn a_document_that_was_cut_long_ago_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    let study = store.study("widths");
    study.write_document(1, br#"{"name":"widths"}"#).unwrap();
    let document = OpenOptions::new().write(true).open(study.document_path(1)).unwrap();
    document.set_len(9).unwrap();
    for (age, is_waited_for) in [(0, true), (60, false)] {
        document.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        let begun = Instant::now();
        assert!(study.document(1).is_err());
        assert_eq!(begun.elapsed() > Duration::from_secs(1), is_waited_for);
    }
}
