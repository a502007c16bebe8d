//! Folders and pipes where files should be.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![cfg(unix)]

use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, Mode, mkfifoat};
use soma_store::{Digest, Found, Store, StoreError};

fn pipe(path: &Path) {
    mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
}

#[test]
fn a_folder_or_a_pipe_among_the_ledgers_stops_no_reader() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    let study = store.study("widths");
    study.write_document(1, br#"{"name":"widths"}"#).unwrap();
    study.write(br#"{"kind":"discard","trial":0}"#, false).unwrap();
    let ledgers = folder.path().join("studies/widths/ledger");
    std::fs::create_dir(ledgers.join("aaaa.jsonl")).unwrap();
    pipe(&ledgers.join("bbbb.jsonl"));
    let mut follower = study.follower();
    for expected in [2, 0] {
        let mut n_lines = 0;
        let count = &mut |found: Found<'_>| n_lines += usize::from(matches!(found, Found::Line { .. }));
        follower.read_on(Duration::ZERO, count).unwrap();
        assert_eq!(n_lines, expected);
    }
    let found = store.verify().unwrap();
    assert!(found.is_sound(), "{:?}", found.damage);
    assert_eq!((found.ledgers, found.strays.len()), (1, 2), "{:?}", found.strays);
}

#[test]
fn a_folder_or_a_pipe_where_a_blob_or_a_name_should_be_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    let digest = Digest::of(b"weights").to_string();
    let blobs = folder.path().join("blobs").join(&digest[..2]);
    std::fs::create_dir_all(&blobs).unwrap();
    pipe(&blobs.join(&digest[2..]));
    let names = folder.path().join("names");
    std::fs::create_dir_all(names.join("best")).unwrap();
    for refused in [store.get(&digest.parse().unwrap()).map(drop), store.resolve("best").map(drop)] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, StoreError::Damaged { .. }), "{refused}");
        assert!(refused.to_string().contains("expected a file"), "{refused}");
    }
    let found = store.verify().unwrap();
    assert_eq!(found.damage.len(), 2, "{:?}", found.damage);
}

#[test]
fn a_pipe_where_a_folder_should_be_makes_nobody_wait() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    let study = folder.path().join("studies/widths");
    std::fs::create_dir_all(&study).unwrap();
    for entry in ["claims", "ledger", "seals"] {
        pipe(&study.join(entry));
    }
    let (done, answer) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let study = store.study("widths");
        study.follower().read_on(Duration::ZERO, &mut |found| panic!("{found:?}")).unwrap();
        let refused = [study.claim(0, 0).is_err(), study.write(br#"{"kind":"alive"}"#, false).is_err()];
        done.send((refused, study.is_claimed(0, 0).unwrap(), study.claims().unwrap()))
    });
    let answer = answer.recv_timeout(Duration::from_secs(10)).expect("it waits for somebody to write");
    assert_eq!(answer, ([true; 2], false, Vec::new()));
}

#[test]
fn what_a_killed_process_left_is_named_wherever_it_lies() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    store.put(b"weights").unwrap();
    std::fs::write(folder.path().join(".0123.part"), b"\n").unwrap();
    std::fs::write(folder.path().join("notes.txt"), b"mine").unwrap();
    let found = store.verify().unwrap();
    let left = [".0123.part", "notes.txt"].map(|name| store.location() + "/" + name);
    assert_eq!((found.is_sound(), found.strays), (true, left.to_vec()));
}

#[test]
#[cfg(target_os = "linux")]
fn who_asks_for_the_time_of_a_disk_that_takes_no_file_is_told_this_machine_s() {
    use soma_store::{Backend, Folder};
    // As a full disk, which refuses root too.
    let folder = Folder::new(Path::new("/proc/self"), false, false).unwrap();
    assert!(folder.now().unwrap().is_some());
}
