//! A reader that goes away is no error (C45).

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use crate::fixtures::Fixture;
use crate::process::command;

const TRIALS: u64 = 5_000;
const RUNS: usize = 20;
/// Every so many runs the other verbs have one too.
const OTHERS: usize = 10;

/// C45: `soma trials STORE | head -1` on 5,000 trials, 20 runs, and the same, fewer times, for the other verbs.
#[test]
fn c45_output_cut_by_head_is_quiet() {
    let fixture = Fixture::widths(TRIALS);
    for run in 0..RUNS {
        let others = ["inspect store", "importance store", "trials store --json", "export store"];
        for line in ["trials store"].into_iter().chain(others.into_iter().filter(|_| run % OTHERS == 0)) {
            let mut soma = command(fixture.path())
                .args(line.split(' '))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let head = Command::new("head")
                .arg("-1")
                .stdin(soma.stdout.take().unwrap())
                .stdout(Stdio::piped())
                .output()
                .unwrap();
            let mut said = String::new();
            soma.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            let status = soma.wait().unwrap();
            assert_eq!(status.code(), Some(0), "{line}, run {run}: {said}");
            assert!(!said.contains("panicked") && !said.contains("error"), "{line}, run {run}: {said}");
            assert!(!head.stdout.is_empty(), "{line}, run {run}");
        }
    }
}

/// Nothing new may come for hours: the pipe itself says that its reader is gone.
#[test]
fn watch_ends_with_its_reader() {
    let fixture = Fixture::widths(3);
    let mut soma = command(fixture.path())
        .args(["watch", "store", "--interval-secs", "3600"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut stderr = BufReader::new(soma.stderr.take().unwrap());
    stderr.read_line(&mut first).unwrap();
    assert!(first.starts_with("note: watching `widths`"), "{first}");
    drop(soma.stdout.take());
    assert_eq!(soma.wait().unwrap().code(), Some(0));
}
