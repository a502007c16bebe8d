//! `soma inspect`: the studies of a store at a glance, or everything about one.

use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::time::Duration;

use serde::Serialize;
use soma_store::Store;
use soma_study::{Counts, Goal, State, StudyError, Summary, Worker};

use crate::args;
use crate::escape;
use crate::failure::Failure;
use crate::number::{self, Number};
use crate::output::{Line, Output, Tone, Words};
use crate::row::{Row, point_text, tone};
use crate::table::{Cells, Column, Table};
use crate::target::{self, Study};

/// Columns of the names on the left of the details.
const LABEL: usize = 14;
/// Workers that the details list before they only count the rest.
const MOST_WORKERS: usize = 8;

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

/// The `--json` shape.
#[derive(Serialize)]
struct Inspected<'a> {
    store: &'a str,
    studies: Vec<Overview<'a>>,
}

#[derive(Serialize)]
struct Overview<'a> {
    study: &'a str,
    goal: Option<&'static str>,
    n_trials: usize,
    counts: CountsShape,
    best: Option<Row<'a>>,
    workers: Vec<WorkerShape<'a>>,
    last_activity_secs: Option<Number>,
    space: String,
    space_versions: usize,
    ledgers: usize,
    size_bytes: u64,
    damage: Vec<DamageShape<'a>>,
}

#[derive(Serialize)]
struct CountsShape {
    running: usize,
    done: usize,
    pruned: usize,
    failed: usize,
    abandoned: usize,
    discarded: usize,
}

#[derive(Serialize)]
struct WorkerShape<'a> {
    who: &'a str,
    is_alive: bool,
    running: usize,
    abandoned: usize,
    taken: usize,
    silent_secs: Number,
}

/// A place that does not read.
#[derive(Serialize)]
pub struct DamageShape<'a> {
    path: &'a str,
    offset: u64,
    size_bytes: u64,
    what: &'a str,
}

impl<'a> From<&'a soma_store::Damage> for DamageShape<'a> {
    fn from(damage: &'a soma_store::Damage) -> Self {
        Self { path: &damage.path, offset: damage.offset, size_bytes: damage.size, what: &damage.what }
    }
}

pub fn run(arguments: &args::Inspect, output: &mut Output, words: &Words) -> Result<(), Failure> {
    // Never freed, like `target::Study`.
    let store = ManuallyDrop::new(target::store(&arguments.target.store)?);
    let (names, is_named) = match &arguments.target.study {
        Some(given) => (vec![target::meant(&store, given)?], true),
        None => (store.studies()?, false),
    };
    let mut glances = Vec::with_capacity(names.len());
    let mut unread = Vec::new();
    for name in &names {
        match Glance::of(&store, name) {
            Ok(glance) => glances.push(glance),
            // One study that does not read says nothing about the others.
            Err(error) if !is_named && names.len() > 1 => unread.push(Failure::from(error)),
            Err(error) => return Err(error.into()),
        }
    }
    if arguments.json {
        let studies = glances.iter().map(overview).collect();
        output.json("inspect", &Inspected { store: &store.location(), studies })?;
    } else if let [glance] = glances.as_slice()
        && unread.is_empty()
    {
        for line in lines(glance, &store) {
            output.line(&line)?;
        }
    } else {
        table(&glances).write(output, words)?;
    }
    output.flush()?;
    if names.is_empty() {
        words.note(&format!("`{}` holds no study yet", escape::name(&store.location())));
    }
    for failure in &unread {
        words.failure(failure);
    }
    let damage: Vec<_> = glances.iter().flat_map(|glance| glance.summary.damage.iter().cloned()).collect();
    target::say_damage(&damage, &store, words);
    Ok(())
}

fn overview(glance: &Glance) -> Overview<'_> {
    let summary = &glance.summary;
    let Counts { running, done, pruned, failed, abandoned, discarded } = summary.counts;
    Overview {
        study: &summary.study,
        goal: summary.goal.map(Goal::as_str),
        n_trials: n_trials(&summary.counts),
        counts: CountsShape { running, done, pruned, failed, abandoned, discarded },
        best: summary.best.as_ref().map(Row),
        workers: glance
            .workers()
            .map(|(worker, running, abandoned)| WorkerShape {
                who: &worker.who,
                is_alive: running > 0,
                running,
                abandoned,
                taken: worker.taken,
                silent_secs: Number(worker.silent.as_secs_f64()),
            })
            .collect(),
        last_activity_secs: summary.last_activity.map(|silent| Number(silent.as_secs_f64())),
        space: summary.space.to_string(),
        space_versions: summary.space_versions,
        ledgers: summary.ledgers,
        size_bytes: summary.size_bytes,
        damage: summary.damage.iter().map(DamageShape::from).collect(),
    }
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
    Ok(lines(&Glance::of(&study.store, &study.name)?, &study.store))
}

fn lines(glance: &Glance, store: &Store) -> Vec<Line> {
    let summary = &glance.summary;
    let mut lines = vec![vec![
        (Tone::Strong, escape::study(&summary.study).into_owned()),
        (Tone::Quiet, format!("  in {}", escape::name(&store.location()))),
    ]];
    let mut say = |label: &str, rest: Line| {
        let mut line = vec![(Tone::Quiet, format!("  {label:LABEL$}"))];
        line.extend(rest);
        lines.push(line);
    };
    let plain = |text: String| vec![(Tone::Plain, text)];

    say("goal", plain(summary.goal.map_or("none", Goal::as_str).to_owned()));
    say("trials", trials(&summary.counts));
    if let Some(best) = &summary.best {
        let by = if best.who.is_empty() { String::new() } else { format!(" by {}", escape::name(&best.who)) };
        say(
            "best",
            vec![
                (Tone::Strong, best.score.map(number::exact).unwrap_or_default()),
                (Tone::Quiet, format!("  trial {}.{}{by}", best.trial, best.attempt)),
            ],
        );
        say("", plain(best.point.as_ref().map(point_text).unwrap_or_default()));
    } else {
        say("best", vec![(Tone::Quiet, "nothing finished yet".to_owned())]);
    }
    let version = match summary.space_versions {
        0 | 1 => String::new(),
        count => format!("  (version {count})"),
    };
    let space = escape::text(&summary.space.to_string()).into_owned();
    say("space", vec![(Tone::Plain, space), (Tone::Quiet, version)]);
    workers(glance, &mut say);
    say(
        "last activity",
        plain(summary.last_activity.map_or("none".to_owned(), |last| format!("{} ago", ago(last)))),
    );
    let plural = if summary.ledgers == 1 { "" } else { "s" };
    say(
        "size",
        plain(format!("{} in {} ledger{plural}", number::bytes(summary.size_bytes), summary.ledgers)),
    );
    if !summary.damage.is_empty() {
        let said = match summary.damage.len() {
            1 => "1 place does not read".to_owned(),
            count => format!("{} places do not read", number::count(count as u64)),
        };
        say("damage", vec![(Tone::Bad, said)]);
    }
    lines
}

fn trials(counts: &Counts) -> Line {
    let mut line = vec![(Tone::Strong, number::count(n_trials(counts) as u64))];
    let kinds = [
        (counts.done, "done", tone(State::Done)),
        (counts.pruned, "pruned", tone(State::Pruned)),
        (counts.failed, "failed", tone(State::Failed)),
        (counts.running, "running", tone(State::Running)),
        (counts.abandoned, "abandoned", Tone::Bad),
        (counts.discarded, "discarded", Tone::Quiet),
    ];
    for (count, word, tone) in kinds.into_iter().filter(|(count, ..)| *count > 0) {
        let before = if line.len() == 1 { "  " } else { ", " };
        line.push((Tone::Plain, before.to_owned()));
        line.push((tone, format!("{} {word}", number::count(count as u64))));
    }
    line
}

fn workers(glance: &Glance, say: &mut impl FnMut(&str, Line)) {
    let at_work: Vec<_> = glance.workers().filter(|(worker, ..)| worker.running > 0).collect();
    let alive = glance.n_alive();
    let silent = at_work.iter().filter(|(_, _, abandoned)| *abandoned > 0).count();
    let idle = glance.summary.workers.len() - at_work.len();
    say(
        "workers",
        vec![
            (shade(alive, Tone::Live), format!("{alive} alive")),
            (Tone::Plain, ", ".to_owned()),
            (shade(silent, Tone::Bad), format!("{silent} silent")),
            (Tone::Plain, ", ".to_owned()),
            (Tone::Quiet, format!("{idle} without a trial")),
        ],
    );
    for (worker, running, abandoned) in at_work.iter().take(MOST_WORKERS) {
        let mut line = vec![(Tone::Plain, escape::name(&worker.who).into_owned())];
        if *running > 0 {
            line.push((Tone::Quiet, format!("  {running} under way")));
        }
        if *abandoned > 0 {
            line.push((Tone::Bad, format!("  {abandoned} abandoned, silent for {}", ago(worker.silent))));
        }
        say("", line);
    }
    if let Some(more) = at_work.len().checked_sub(MOST_WORKERS + 1) {
        say("", vec![(Tone::Quiet, format!("and {} more", more + 1))]);
    }
}
