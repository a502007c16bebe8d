//! Stores as workers leave them, made through the trial functions.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use soma_store::{Options, Store};
use soma_study::{
    Goal, History, IntOptions, Point, RealOptions, Report, Sampler, Scalar, Space, State, Take, report, take,
};

/// Reports of a trial that runs to its end.
pub const EPOCHS: usize = 4;

/// A folder with a store in it, called `store`, and the worker that made it still alive.
pub struct Fixture {
    pub folder: tempfile::TempDir,
    pub store: Store,
}

impl Fixture {
    /// A store in which nobody has done anything.
    pub fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = folder.path().join("store");
        let options = Options::default().with_durable(false);
        let store = Store::open_with(location.to_str().unwrap(), options).unwrap();
        Self { folder, store }
    }

    /// The study `widths` of `n_trials` trials: every fifth was pruned, trial 7 failed, the last is under way.
    pub fn widths(n_trials: u64) -> Self {
        let fixture = Self::empty();
        fixture.fill("widths", Goal::Min, n_trials);
        fixture
    }

    /// Where to run `soma STORE` as `soma store`.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Add a study over the space of the seed.
    pub fn fill(&self, study: &str, goal: Goal, n_trials: u64) {
        let worker = Worker { store: &self.store, study, goal };
        for trial in 0..n_trials {
            let point = ask(&widths(), trial);
            worker.take(&point, trial, 0);
            let state = match trial {
                trial if trial + 1 == n_trials => State::Running,
                7 => State::Failed,
                trial if trial % 5 == 4 => State::Pruned,
                _ => State::Done,
            };
            worker.end(&point, trial, 0, state);
        }
    }

    /// The document of a study.
    pub fn document(&self, study: &str) -> PathBuf {
        self.store.study(study).document_path(1).into()
    }

    /// The ledgers of a study.
    pub fn ledgers(&self, study: &str) -> Vec<PathBuf> {
        let folder = self.document(study).with_file_name("ledger");
        let mut found: Vec<PathBuf> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    }
}

/// The space of the seed.
pub fn widths() -> Space {
    let log = RealOptions::default().with_log(true);
    Space::new()
        .real("lr", 1e-4, 1e-1, log)
        .and_then(|space| space.int("width", 8, 64, IntOptions::default()))
        .and_then(|space| space.choice("opt", ["adam", "sgd"]))
        .unwrap()
}

/// Where trial `trial` looks.
pub fn ask(space: &Space, trial: u64) -> Point {
    Sampler::sobol(0).ask(space, trial, &History::new()).unwrap()
}

/// One worker of a study, called `worker-1`.
pub struct Worker<'a> {
    pub store: &'a Store,
    pub study: &'a str,
    pub goal: Goal,
}

impl Worker<'_> {
    /// Claim an attempt.
    pub fn take(&self, point: &Point, trial: u64, attempt: u32) {
        let asked = Take::new(self.study, trial, "worker-1").with_attempt(attempt).with_goal(self.goal);
        assert!(take(self.store, point, &asked).unwrap());
    }

    /// Report a curve that depends on the point alone, and how it ended.
    pub fn end(&self, point: &Point, trial: u64, attempt: u32, state: State) {
        let reached = match state {
            State::Done => EPOCHS,
            _ => EPOCHS / 2,
        };
        let said: Vec<f64> = (1..=reached).map(|epoch| loss(point) + 1.0 / epoch as f64).collect();
        let because = match state {
            State::Pruned => Some("0.9 is worse than the median 0.5 of 6 curves"),
            State::Failed => Some("ValueError: no\nconvergence"),
            _ => None,
        };
        self.report(point, &said, trial, attempt, state, None, because);
    }

    /// Report just this.
    #[expect(clippy::too_many_arguments, reason = "the arguments of report")]
    pub fn report(
        &self,
        point: &Point,
        said: &[f64],
        trial: u64,
        attempt: u32,
        state: State,
        score: Option<f64>,
        because: Option<&str>,
    ) {
        let mut asked =
            Report::of(&Take::new(self.study, trial, "worker-1").with_attempt(attempt)).with_state(state);
        if let Some(score) = score {
            asked = asked.with_score(score);
        }
        if let Some(because) = because {
            asked = asked.with_because(because);
        }
        report(self.store, point, said, &asked).unwrap();
    }
}

/// The smaller the better: near lr 0.01, for narrow networks.
fn loss(point: &Point) -> f64 {
    let number = |name| point.get(name).and_then(Scalar::as_f64).unwrap();
    (number("lr").log10() + 2.0).abs() + number("width") / 100.0
}

/// A space with every kind of dimension, options of every type, and one that is not always there.
pub fn typed() -> Space {
    let options = [
        Scalar::Int(32),
        Scalar::Int(64),
        Scalar::Text("64".to_owned()),
        Scalar::Float(64.0),
        Scalar::Bool(true),
        Scalar::Null,
        Scalar::Text("a=b,\"c\"\n".to_owned()),
    ];
    Space::new()
        .choice("batch", options)
        .and_then(|space| space.real("momentum", 0.0, 1.0, RealOptions::default().with_step(0.25)))
        .and_then(|space| space.when("batch", [Scalar::Int(32)]))
        .and_then(|space| space.int("layers", 1, 9, IntOptions::default().with_step(2)))
        .unwrap()
}

/// Stores that between them hold whatever can be in one: `store`, `typed`, `damaged` and `empty`, and a `graph.json`.
pub struct Kinds {
    store: Fixture,
    _typed: Fixture,
}

/// A record of a taking at a point that `sampler` does not give for this trial.
pub fn forge(fixture: &Fixture, trial: u64, sampler: &str) {
    let (point, records) = (ask(&widths(), 0), fixture.store.study("widths"));
    let record = format!(
        r#"{{"kind":"take","trial":{trial},"attempt":0,"me":"x","space":1,"point":"{point}","by":"{sampler}"}}"#
    );
    records.write(record.as_bytes(), false).unwrap();
}

/// See [`Kinds`].
pub fn of_every_kind() -> Kinds {
    let store = Fixture::widths(20);
    let folder = store.path();
    std::fs::write(folder.join("graph.json"), crate::graph::DIAMOND).unwrap();
    Fixture::empty().rename(folder.join("empty"));

    let damaged = Fixture::widths(6);
    damage(&damaged.ledgers("widths")[0]);
    std::fs::write(damaged.path().join("store/studies/widths/notes.txt"), "").unwrap();
    // Said to come from a sampler that gives another point, and none.
    forge(&damaged, 7, "sobol(seed=0)");
    forge(&damaged, 1_000_000, "grid(points_per_real=2)");
    // A name that is no plain one stands in the document alone.
    damaged.fill("Lost", Goal::Min, 2);
    std::fs::remove_file(damaged.document("Lost")).unwrap();
    damaged.rename(folder.join("damaged"));

    let mut typed_store = Fixture::empty();
    let worker = Worker { store: &typed_store.store, study: "typed", goal: Goal::Max };
    for trial in 0..8 {
        let point = ask(&typed(), trial);
        worker.take(&point, trial, 0);
        let said = [1.0, f64::NAN, f64::INFINITY, -1e300];
        worker.report(&point, &said, trial, 0, State::Done, Some(trial as f64), None);
    }
    // Claimed, and its worker gone before it said a word.
    std::fs::write(typed_store.path().join("store/studies/typed/claims/8.0"), "").unwrap();
    typed_store.move_to(folder.join("typed"));
    Kinds { store, _typed: typed_store }
}

impl Kinds {
    /// Where the stores lie.
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// For every verb the runs that between them write every member of its shape.
    pub fn json_runs() -> Vec<(&'static str, Vec<Vec<&'static str>>)> {
        let runs: &[(&str, &[&str])] = &[
            ("inspect", &["inspect store", "inspect empty", "inspect damaged", "inspect typed"]),
            ("trials", &["trials store", "trials typed", "trials damaged widths"]),
            ("best", &["best store", "best typed"]),
            ("importance", &["importance store", "importance typed --evaluator ped_anova"]),
            ("curve", &["curve store 0", "curve typed 0"]),
            ("abandoned", &["abandoned damaged widths", "abandoned typed --lease-secs 0.001"]),
            ("space", &["space store", "space typed"]),
            ("export", &["export store", "export damaged widths"]),
            ("verify", &["verify store", "verify damaged"]),
            ("seal", &["seal typed"]),
            ("graph", &["graph graph.json"]),
            ("completions", &["completions fish"]),
            ("man", &["man", "man trials"]),
        ];
        let split = |run: &&'static str| run.split(' ').chain(["--json"]).collect();
        runs.iter().map(|(verb, runs)| (*verb, runs.iter().map(split).collect())).collect()
    }
}

impl Fixture {
    /// The store at another place, its worker gone.
    pub fn rename(mut self, to: PathBuf) {
        self.move_to(to);
    }

    fn move_to(&mut self, to: PathBuf) {
        std::fs::rename(self.path().join("store"), to).unwrap();
    }
}

/// A copy of the store, in which nobody has given a sign of life for ten seconds.
pub fn silenced_copy(fixture: &Fixture, name: &str) {
    copy(&fixture.path().join("store"), &fixture.path().join(name));
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &place);
        } else {
            std::fs::copy(entry.path(), &place).unwrap();
            let file = std::fs::File::options().append(true).open(&place).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(10)).unwrap();
        }
    }
}

/// Change one byte in the third record of a ledger.
pub fn damage(ledger: &Path) {
    let mut bytes = std::fs::read(ledger).unwrap();
    let starts: Vec<usize> =
        bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    bytes[starts[1] + 12] ^= 1;
    std::fs::write(ledger, bytes).unwrap();
}
