//! `soma inspect`: the studies of a store at a glance, or everything about one.

mod details;
mod shape;

use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::time::Duration;

use serde::Serialize;
use soma_store::Store;
use soma_study::{Counts, Goal, StudyError, Summary, Worker};

use crate::args;
use crate::damage;
use crate::escape;
use crate::failure::Failure;
use crate::number;
use crate::output::{Line, Output, Tone, Words};
use crate::table::{Cells, Column, Table};
use crate::target::{self, Study};

use shape::Inspected;

/// A study at a glance, and who has let trials of it lie.
struct Glance {
    summary: Summary,
    /// Trials abandoned, by the name they were taken under.
    abandoned: HashMap<String, usize>,
}

impl Glance {
    fn of(store: &Store, study: &str) -> Result<Self, StudyError> {
        let summary = soma_study::summary(store, study)?;
        let mut abandoned = HashMap::new();
        if summary.counts.abandoned > 0 {
            for one in soma_study::abandoned(store, study, None)? {
                *abandoned.entry(one.who).or_default() += 1;
            }
        }
        Ok(Self { summary, abandoned })
    }

    /// Everybody who took a trial, with the trials they have under way and those they have abandoned.
    fn workers(&self) -> impl Iterator<Item = (&Worker, usize, usize)> {
        self.summary.workers.iter().map(|worker| {
            let abandoned = self.abandoned.get(&worker.who).copied().unwrap_or(0);
            (worker, worker.running.saturating_sub(abandoned), abandoned)
        })
    }

    fn n_alive(&self) -> usize {
        self.workers().filter(|(_, running, _)| *running > 0).count()
    }
}

/// A study that is there and does not read.
#[derive(Serialize)]
struct Unread {
    study: String,
    what: String,
}

/// Why a study that is listed does not read.
fn why(error: StudyError) -> String {
    match error {
        StudyError::UnknownStudy { .. } => {
            "the document with its name does not read; to read the rest, give the name it had".to_owned()
        }
        other => Failure::from(other).to_string(),
    }
}

pub fn run(arguments: &args::Inspect, output: &mut Output, words: &Words) -> Result<(), Failure> {
    // Never freed, like `target::Study`.
    let store = ManuallyDrop::new(target::store_for(&arguments.target.store, &arguments.lease)?);
    let (names, is_named) = match &arguments.target.study {
        Some(given) => (vec![target::meant(&store, given)?], true),
        None => (store.studies()?, false),
    };
    let mut glances = Vec::with_capacity(names.len());
    let mut unread = Vec::new();
    for name in &names {
        match Glance::of(&store, name) {
            Ok(glance) => glances.push(glance),
            Err(error) if is_named => return Err(error.into()),
            // One study that does not read says nothing about the others.
            Err(error) => unread.push(Unread { study: name.clone(), what: why(error) }),
        }
    }
    if arguments.json {
        let studies = glances.iter().map(Into::into).collect();
        output.json("inspect", &Inspected { store: &store.location(), studies, unread: &unread })?;
    } else if let [glance] = glances.as_slice()
        && unread.is_empty()
    {
        for line in details::lines(glance, &store) {
            output.line(&line)?;
        }
    } else {
        table(&glances).write(output, words)?;
    }
    output.flush()?;
    if names.is_empty() {
        words.note(&format!("`{}` holds no study yet", escape::name(&store.location())));
    }
    for Unread { study, what } in &unread {
        words.warning(&format!("passed over the study `{}`: {what}", escape::study(study)));
    }
    let damage: Vec<_> = glances.iter().flat_map(|glance| glance.summary.damage.iter().cloned()).collect();
    damage::say(&damage, &store, words);
    Ok(())
}

fn n_trials(counts: &Counts) -> usize {
    counts.running + counts.done + counts.pruned + counts.failed + counts.abandoned + counts.discarded
}

fn table(glances: &[Glance]) -> Table {
    let mut table = Table::new([
        Column::new("STUDY", Cells::Words, 0),
        Column::new("GOAL", Cells::Words, 5),
        Column::new("TRIALS", Cells::Numbers, 1),
        Column::new("DONE", Cells::Numbers, 2),
        Column::new("PRUNED", Cells::Numbers, 4),
        Column::new("FAILED", Cells::Numbers, 3),
        Column::new("RUNNING", Cells::Numbers, 2),
        Column::new("BEST", Cells::Numbers, 1),
        Column::new("ALIVE", Cells::Numbers, 5),
        Column::new("LAST", Cells::Numbers, 6),
        Column::new("ABANDONED", Cells::Numbers, 3),
        Column::new("SIZE", Cells::Numbers, 7),
    ]);
    for glance in glances {
        let (summary, alive) = (&glance.summary, glance.n_alive());
        let counts = &summary.counts;
        let number = |count: usize| number::count(count as u64);
        let best = summary.best.as_ref().and_then(|best| best.score).map(number::short);
        table
            .cell(Tone::Strong, &escape::study(&summary.study))
            .cell(Tone::Plain, summary.goal.map_or("", Goal::as_str))
            .cell(Tone::Plain, &number(n_trials(counts)))
            .cell(shade(counts.done, Tone::Good), &number(counts.done))
            .cell(shade(counts.pruned, Tone::Warning), &number(counts.pruned))
            .cell(shade(counts.failed, Tone::Bad), &number(counts.failed))
            .cell(shade(counts.running, Tone::Live), &number(counts.running))
            .cell(Tone::Strong, &best.unwrap_or_default())
            .cell(shade(alive, Tone::Live), &number(alive))
            .cell(Tone::Quiet, &summary.last_activity.map(ago).unwrap_or_default())
            .cell(shade(counts.abandoned, Tone::Bad), &number(counts.abandoned))
            .cell(Tone::Quiet, &number::bytes(summary.size_bytes));
    }
    table
}

/// Nothing of a kind is not worth a colour.
fn shade(count: usize, tone: Tone) -> Tone {
    if count == 0 { Tone::Quiet } else { tone }
}

fn ago(silent: Duration) -> String {
    number::duration(silent.as_secs_f64())
}

/// Everything about one study, as it stands now.
pub fn details(study: &Study) -> Result<Vec<Line>, Failure> {
    Ok(details::lines(&Glance::of(&study.store, &study.name)?, &study.store))
}
