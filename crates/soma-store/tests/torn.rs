//! The end of a ledger whose last write broke off.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::Duration;

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
    for begun in [&b""[..], b"soma st", b"soma store, version 1"] {
        let folder = tempfile::tempdir().unwrap();
        let (place, format) = (folder.path().to_str().unwrap(), folder.path().join("format"));
        std::fs::write(&format, begun).unwrap();
        assert!(Store::read_only(place).is_err());
        assert_eq!(std::fs::read(&format).unwrap(), begun, "a reader changes nothing");
        // An empty file may be anybody's.
        assert_eq!(Store::open(place).is_err(), begun.is_empty());
        let expected = if begun.is_empty() { begun } else { b"soma store, version 1\n" };
        assert_eq!(std::fs::read(&format).unwrap(), expected);
        // Somebody else is about to finish it.
        std::fs::write(&format, begun).unwrap();
        let finished = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            std::fs::write(format, "soma store, version 1\n").unwrap();
        });
        Store::read_only(place).unwrap();
        finished.join().unwrap();
    }
}
