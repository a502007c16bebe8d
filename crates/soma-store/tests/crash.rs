//! Writers that are killed in the middle of something, while others read.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![cfg(unix)]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use soma_store::{Options, Store};

/// Records, and bytes of each.
const N_RECORDS: u32 = 200;
const RECORD_BYTES: usize = 2_000_000;
/// Names they go under, over and over.
const N_NAMES: u32 = 20;
/// Milliseconds after which a writer is killed, one after another; the last is left to come to its end.
const LIVES: [u64; 8] = [20, 45, 30, 60, 25, 50, 35, 55];
/// Tells a helper where the store is.
const STORE: &str = "SOMA_TEST_STORE";

/// A record says its number in every four bytes.
fn record(number: u32) -> Vec<u8> {
    number.to_le_bytes().repeat(RECORD_BYTES / 4)
}

/// Which record it is. None where it is none, or not whole.
fn number(bytes: &[u8]) -> Option<u32> {
    let number = u32::from_le_bytes(bytes.first_chunk().copied()?);
    (bytes == record(number)).then_some(number)
}

/// The writer; nothing in a process that is no helper.
#[test]
fn helper() {
    let Ok(path) = std::env::var(STORE) else { return };
    let store = Store::open_with(&path, Options::default().with_durable(false)).unwrap();
    // Goes on behind the last record that is bound.
    let last = store.names("").unwrap().iter().filter_map(|name| whole(&store, name)).max();
    for number in last.map_or(0, |last| last + 1)..N_RECORDS {
        let digest = store.put(&record(number)).unwrap();
        store.bind(&format!("record {}", number % N_NAMES), &digest, &BTreeMap::new()).unwrap();
    }
}

/// The record that a name stands for, old or new; None where it is absent.
fn whole(store: &Store, name: &str) -> Option<u32> {
    let binding = store.resolve(name).unwrap()?;
    let found = number(&store.get(&binding.digest).unwrap());
    Some(found.expect("a record is whole"))
}

/// A writer that is up: what starting takes is no part of its life.
fn writer(path: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["helper", "--exact", "--test-threads=1"])
        .env(STORE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    child
}

#[test]
fn c02_a_reader_never_meets_a_part_of_what_a_killed_writer_stored() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    let is_over = AtomicBool::new(false);
    let (ends, looks) = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut looks = 0;
            while !is_over.load(Ordering::Relaxed) {
                for name in store.names("").unwrap() {
                    let number = whole(&store, &name).expect("a bound name stays bound");
                    assert_eq!(name, format!("record {}", number % N_NAMES));
                    looks += 1;
                }
            }
            looks
        });
        let mut ends = Vec::new();
        for life in LIVES {
            let mut child = writer(folder.path());
            std::thread::sleep(Duration::from_millis(life));
            child.kill().unwrap();
            ends.push(child.wait().unwrap());
        }
        ends.push(writer(folder.path()).wait().unwrap());
        is_over.store(true, Ordering::Relaxed);
        (ends, reader.join().unwrap())
    });
    assert!(ends.iter().all(|end| end.success() || end.signal().is_some()), "{ends:?}");
    let kills = ends.iter().filter(|end| end.signal().is_some()).count();
    assert!(kills >= 5 && looks > 0, "{kills} kills and {looks} records read prove little");
    let found = store.verify().unwrap();
    assert!(found.is_sound(), "{:?}", found.damage);
    assert_eq!((found.names, found.blobs), (N_NAMES as usize, N_RECORDS as usize));
}
