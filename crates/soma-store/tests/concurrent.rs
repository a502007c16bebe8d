//! Files that come, change and go under a reader's hands.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::too_many_lines, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use soma_store::{Options, Store, StoreError};

/// Replacements and removals.
const CHANGES: usize = 5_000;

fn folder() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

#[test]
fn c42_what_is_replaced_and_removed_meanwhile_is_old_new_or_absent() {
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    let store = Store::open_with(path, Options::default().with_durable(false)).unwrap();
    let digests: Vec<_> = [b"old", b"new"].iter().map(|bytes| store.put(*bytes).unwrap()).collect();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let reader = Store::read_only(path).unwrap();
                while !is_over.load(Ordering::Relaxed) {
                    for name in reader.names("").unwrap() {
                        if let Some(binding) = reader.resolve(&name).unwrap() {
                            assert!(digests.contains(&binding.digest));
                        }
                    }
                    let found = reader.verify().unwrap();
                    assert!(found.is_sound(), "{:?}", found.damage);
                    reader.studies().unwrap();
                }
            });
        }
        for change in 0..CHANGES {
            let name = format!("name {}", change % 7);
            store.bind(&name, &digests[change % 2], &BTreeMap::new()).unwrap();
            if change % 3 == 0 {
                for entry in std::fs::read_dir(folder.path().join("names")).unwrap().take(1) {
                    std::fs::remove_file(entry.unwrap().path()).unwrap();
                }
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn one_of_many_claims_a_name() {
    let store = Store::open("memory://").unwrap();
    let digest = store.put(b"x").unwrap();
    let nobody = BTreeMap::new();
    let won: usize = std::thread::scope(|scope| {
        let callers: Vec<_> =
            (0..8).map(|_| scope.spawn(|| store.claim("best", &digest, &nobody).unwrap())).collect();
        callers.into_iter().map(|caller| usize::from(caller.join().unwrap())).sum()
    });
    assert_eq!(won, 1);
    let unknown = soma_store::Digest::of(b"never put");
    assert!(matches!(store.bind("n", &unknown, &nobody), Err(StoreError::BlobNotFound { .. })));
}
