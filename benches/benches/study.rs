//! A study's loop against the file operations it cannot do without.

use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};
use soma_benches::studies::{N_REPORTS, STUDY, fill, folder, open, shortest, space, store, timed, trial};
use soma_store::{Options, Store};
use soma_study::{Sampler, finished, seal};

/// Trials already there when one more is timed.
const SIZES: [u64; 2] = [100, 10_000];
/// Trials of the study that is read cold.
const COLD_TRIALS: u64 = 10_000;
/// Trials of the study in which one more is noticed.
const TAIL_TRIALS: u64 = 100_000;
/// Processes of a few trials each, as a job array has them.
const SHORT_PROCESSES: u64 = 2_000;
/// Workers at once, and trials of each.
const WORKERS: u64 = 8;
const TRIALS_PER_WORKER: u64 = 2_000;
/// Says to a child that it is a worker, and which.
const WORKER: &str = "SOMA_BENCH_WORKER";
/// Bytes of one record.
const LINE: [u8; 80] = [b'.'; 80];

fn main() {
    if let Ok(worker) = std::env::var(WORKER) {
        return be_a_worker(&worker);
    }
    let mut criterion = Criterion::default().configure_from_args();
    bare(&mut criterion);
    trials(&mut criterion);
    cold(&mut criterion);
    tail(&mut criterion);
    ratios();
    criterion.final_summary();
}

fn tempdir() -> tempfile::TempDir {
    tempfile::tempdir_in(folder()).expect("a writable folder")
}

/// One exclusive create and one append: what any claim and any record cost at least.
fn bare_trials(n: u64) -> Duration {
    let folder = tempdir();
    let mut ledger = OpenOptions::new()
        .append(true)
        .create_new(true)
        .open(folder.path().join("ledger"))
        .expect("a writable folder");
    timed(|| {
        for i in 0..n {
            File::create_new(folder.path().join(format!("{i}.0"))).expect("a writable folder");
            ledger.write_all(&LINE).expect("a writable folder");
        }
    })
}

fn bare(criterion: &mut Criterion) {
    criterion.bench_function("study/bare/create+append", |bench| bench.iter_custom(bare_trials));
}

/// `n` trials more in a study of `size`.
fn more_trials(size: u64, n: u64) -> Duration {
    let folder = tempdir();
    let store = store(&folder);
    fill(&store, 0, size, "filler");
    let (space, sampler) = (space(), Sampler::sobol(0));
    finished(&store, STUDY).expect("a readable study");
    timed(|| (size..size + n).for_each(|number| trial(&store, &space, &sampler, number, "worker")))
}

fn trials(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("study/trial");
    for size in SIZES {
        group.bench_function(BenchmarkId::from_parameter(size), |bench| {
            bench.iter_custom(|n| more_trials(size, n));
        });
    }
    group.finish();
}

/// A study of `n` trials, written by so many workers one after the other.
fn filled(n: u64, workers: u64) -> tempfile::TempDir {
    let folder = tempdir();
    for worker in 0..workers {
        let store = open(&folder, Options::default().with_durable(false));
        fill(&store, n * worker / workers, n * (worker + 1) / workers, &format!("worker {worker}"));
    }
    folder
}

fn read_cold(folder: &tempfile::TempDir) -> Duration {
    let path = folder.path().to_str().expect("a temporary path is text");
    timed(|| {
        let store = Store::read_only(path).expect("a readable store");
        black_box(finished(&store, STUDY).expect("a readable study"));
    })
}

/// The same bytes, read and nothing more.
fn read_bare(folder: &tempfile::TempDir) -> Duration {
    let ledgers = folder.path().join("studies").join(STUDY).join("ledger");
    timed(|| {
        for entry in std::fs::read_dir(ledgers).expect("a readable folder") {
            black_box(std::fs::read(entry.expect("a readable folder").path()).expect("a readable file"));
        }
    })
}

fn cold(criterion: &mut Criterion) {
    let folder = filled(COLD_TRIALS, WORKERS);
    criterion.bench_function("study/cold/10k", |bench| {
        bench.iter_custom(|n| (0..n).map(|_| read_cold(&folder)).sum());
    });
}

/// A look after each of `n` new trials by another process's hand.
fn looks(folder: &tempfile::TempDir, next: &mut u64, n: u64) -> Duration {
    let (writer, reader) = (open(folder, Options::default().with_durable(false)), store(folder));
    finished(&reader, STUDY).expect("a readable study");
    let mut spent = Duration::ZERO;
    for _ in 0..n {
        fill(&writer, *next, *next + 1, "another");
        *next += 1;
        spent += timed(|| drop(black_box(finished(&reader, STUDY).expect("a readable study"))));
    }
    spent
}

fn tail(criterion: &mut Criterion) {
    let (folder, mut next) = (filled(TAIL_TRIALS, WORKERS), TAIL_TRIALS);
    criterion.bench_function("study/tail/100k", |bench| {
        bench.iter_custom(|n| looks(&folder, &mut next, n));
    });
}

/// A worker: waits for its start, then runs its trials.
fn be_a_worker(worker: &str) {
    let mut parts = worker.splitn(3, ' ');
    let mut part = || parts.next().expect("a number, a start and a path");
    let number: u64 = part().parse().expect("a number");
    let start: u64 = part().parse().expect("a time");
    let store = Store::open(part()).expect("a writable folder");
    let (space, sampler) = (space(), Sampler::sobol(0));
    while std::time::SystemTime::UNIX_EPOCH.elapsed().is_ok_and(|now| now.as_micros() < u128::from(start)) {
        std::thread::yield_now();
    }
    let from = number * TRIALS_PER_WORKER;
    (from..from + TRIALS_PER_WORKER).for_each(|number| trial(&store, &space, &sampler, number, worker));
}

/// All workers at once, each a process of its own: trials per second.
fn workers() -> f64 {
    let folder = tempdir();
    let start =
        std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a clock past 1970") + Duration::from_millis(300);
    let children: Vec<_> = (0..WORKERS)
        .map(|worker| {
            let word = format!("{worker} {} {}", start.as_micros(), folder.path().display());
            let program = std::env::current_exe().expect("a program knows its path");
            Command::new(program).env(WORKER, word).spawn().expect("a process more")
        })
        .collect();
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    for mut child in children {
        assert!(child.wait().expect("a child of ours").success(), "a worker failed");
    }
    let spent = begun.elapsed();
    let seen = finished(&store(&folder), STUDY).expect("a readable study");
    assert_eq!(seen.len() as u64, WORKERS * TRIALS_PER_WORKER);
    seen.len() as f64 / spent.as_secs_f64()
}

#[expect(clippy::print_stdout, reason = "a bench's numbers are its output")]
fn ratios() {
    const N: u64 = 2_000;
    const RUNS: usize = 5;
    let each = |spent: Duration| spent.as_secs_f64() * 1e6 / N as f64;
    let bare = each(shortest(RUNS, || bare_trials(N)));
    for size in SIZES {
        let ours = each(shortest(RUNS, || more_trials(size, N)));
        println!(
            "a trial with {N_REPORTS} reports after {size}: {ours:.1} us, {:.1} x one create and one append ({bare:.1} us); \
             must: 5 x, 50 us",
            ours / bare
        );
    }
    println!(
        "{WORKERS} workers: {:.0} trials a second; must: 5000",
        (0..3).map(|_| workers()).fold(0.0, f64::max)
    );
    let folder = filled(COLD_TRIALS, WORKERS);
    let (ours, bare) = (shortest(10, || read_cold(&folder)), shortest(10, || read_bare(&folder)));
    println!(
        "{COLD_TRIALS} trials read cold: {:.1} ms, {:.1} x reading the bytes; must: 40 ms",
        ours.as_secs_f64() * 1e3,
        ours.as_secs_f64() / bare.as_secs_f64()
    );
    let folder = filled(COLD_TRIALS, SHORT_PROCESSES);
    let loose = shortest(10, || read_cold(&folder));
    seal(&open(&folder, Options::default()), STUDY).expect("a writable study").expect("many small ledgers");
    let sealed = shortest(10, || read_cold(&folder));
    println!(
        "the same of {SHORT_PROCESSES} processes: {:.1} ms, {:.1} ms from one seal ({:.2} x)",
        loose.as_secs_f64() * 1e3,
        sealed.as_secs_f64() * 1e3,
        sealed.as_secs_f64() / loose.as_secs_f64()
    );
    let (folder, mut next) = (filled(TAIL_TRIALS, WORKERS), TAIL_TRIALS);
    let look = shortest(RUNS, || looks(&folder, &mut next, 200)) / 200;
    println!(
        "a look after one trial more in {TAIL_TRIALS}: {:.1} us; must: 100 us",
        look.as_secs_f64() * 1e6
    );
}
