//! What a process keeps of a study, in bytes.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, reason = "helpers of tests")]
#![cfg(target_os = "linux")]

mod support;

use soma_store::{Options, Store};
use soma_study::{
    Goal, History, RealOptions, Report, Sampler, Space, State, Take, curves, finished, report, take, trials,
};
use support::{STUDY, folder, role, say, start};

const N_TRIALS: u64 = 10_000;

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * rustix::param::page_size()
}

/// A study of trials with three knobs, written by a store that is gone when this returns.
fn fill(path: &str, n_reports: usize) {
    let options = Options::default().with_durable(false);
    let store = Store::open_with(path, options).unwrap();
    let space = Space::new().real("lr", 1e-4, 1e-1, RealOptions::default().with_log(true)).unwrap();
    let space = space.int("width", 8, 64, soma_study::IntOptions::default()).unwrap();
    let space = space.choice("opt", ["adam", "sgd"]).unwrap();
    let sampler = Sampler::sobol(0);
    for trial in 0..N_TRIALS {
        let point = sampler.ask(&space, trial, &History::new()).unwrap();
        let how = Take { goal: Some(Goal::Min), ..Take::new(STUDY, trial, "worker") };
        assert!(take(&store, &point, &how).unwrap());
        let curve: Vec<f64> = (0..n_reports).map(|step| (trial as f64 + step as f64) / 3.0).collect();
        report(&store, &point, &curve, &Report::of(&how).with_state(State::Done)).unwrap();
    }
}

/// A process that reads everything in every way, and says how many bytes more it has then; nothing in one that is no
/// helper.
#[test]
fn helper() {
    let Some(words) = role() else { return };
    let before = resident_bytes();
    let store = Store::read_only(&words[0]).unwrap();
    let read =
        (finished(&store, STUDY).unwrap(), curves(&store, STUDY).unwrap(), trials(&store, STUDY).unwrap());
    assert_eq!(read.2.len() as u64, N_TRIALS);
    say("kept", &(resident_bytes() - before).to_string());
}

/// Bytes per trial that a process keeps which has read everything.
fn kept(n_reports: usize) -> f64 {
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    fill(path, n_reports);
    let kept: f64 = start(&[], &[path]).hear("kept").parse().unwrap();
    kept / N_TRIALS as f64
}

#[test]
fn a_trial_costs_about_a_kilobyte_and_a_report_eight_bytes() {
    let (few, many) = (kept(8), kept(108));
    let more = (many - few) / 100.0;
    println!("{few:.0} bytes a trial of 8 reports, {more:.1} a report more");
    assert!(few < 1_100.0, "{few} bytes a trial");
    assert!(more < 10.0, "{more} bytes a report");
}
