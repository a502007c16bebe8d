//! Blobs, names and records against the bare file operations.

use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::Write;

use criterion::{BenchmarkId, Criterion, Throughput};
use soma_benches::studies::{folder, store, timed};
use soma_store::Digest;

/// Bytes of a blob.
const BLOB_BYTES: [usize; 2] = [4 << 10, 1 << 20];
/// One record, as a study writes it.
const RECORD: &[u8] = br#"{"kind":"report","trial":7,"attempt":0,"from":3,"said":[0.0123456789]}"#;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    blobs(&mut criterion);
    names(&mut criterion);
    records(&mut criterion);
    criterion.final_summary();
}

fn tempdir() -> tempfile::TempDir {
    tempfile::tempdir_in(folder()).expect("a writable folder")
}

/// Keeping and reading back, with the digest and the check that a bare copy does without.
fn blobs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("store/blob");
    for size in BLOB_BYTES {
        let (folder, mut bytes) = (tempdir(), vec![7; size]);
        let store = store(&folder);
        let mut number: u64 = 0;
        let mut next = || {
            number += 1;
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            bytes.clone()
        };
        group.throughput(Throughput::Bytes(size as u64));
        group.bench_function(BenchmarkId::new("put", size), |bench| {
            bench.iter(|| store.put(&next()).expect("a writable store"));
        });
        let digest = store.put(&next()).expect("a writable store");
        group.bench_function(BenchmarkId::new("get", size), |bench| {
            bench.iter(|| store.get(&digest).expect("a readable store"));
        });
        group.bench_function(BenchmarkId::new("bare-write", size), |bench| {
            bench.iter(|| std::fs::write(folder.path().join("bare"), next()).expect("a writable folder"));
        });
        group.bench_function(BenchmarkId::new("digest", size), |bench| {
            bench.iter(|| Digest::of(black_box(&next())));
        });
    }
    group.finish();
}

/// A name bound and resolved.
fn names(criterion: &mut Criterion) {
    let folder = tempdir();
    let store = store(&folder);
    let digest = store.put(b"weights").expect("a writable store");
    let nothing = std::collections::BTreeMap::new();
    criterion.bench_function("store/name/bind", |bench| {
        bench.iter(|| store.bind("best", &digest, &nothing).expect("a writable store"));
    });
    criterion.bench_function("store/name/resolve", |bench| {
        bench.iter(|| store.resolve("best").expect("a readable store"));
    });
}

/// A claim and a record, against an exclusive create and an append.
fn records(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("store/record");
    group.bench_function("claim+write", |bench| {
        bench.iter_custom(|n| {
            let folder = tempdir();
            let records = store(&folder).study("widths");
            timed(|| {
                for trial in 0..n {
                    assert!(records.claim(trial, 0).expect("a writable store"));
                    records.write(RECORD, false).expect("a writable store");
                }
            })
        });
    });
    group.bench_function("bare-create+append", |bench| {
        bench.iter_custom(|n| {
            let folder = tempdir();
            let path = folder.path().join("ledger");
            let mut ledger =
                OpenOptions::new().append(true).create_new(true).open(path).expect("a writable folder");
            timed(|| {
                for trial in 0..n {
                    File::create_new(folder.path().join(format!("{trial}.0"))).expect("a writable folder");
                    ledger.write_all(RECORD).expect("a writable folder");
                }
            })
        });
    });
    group.finish();
}
