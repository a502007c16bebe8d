//! `soma watch`: a study while it runs, as one picture on a terminal and as one line per change in a pipe.

mod begin;

use std::collections::{HashMap, VecDeque};
use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use serde::Serialize;
use soma_study::{State, Trial, Trials};

use crate::args;
use crate::commands::inspect;
use crate::escape;
use crate::failure::Failure;
use crate::number;
use crate::output::{Line, Output, Tone, Words};
use crate::row::{self, Row};
use crate::target::{self, Study};

/// The newest changes under the picture, where the terminal has room for them.
const MOST_CHANGES: usize = 12;
/// Rows of a terminal that does not say how many it has.
const ROWS: usize = 24;

/// The `--json` shape, one a line.
#[derive(Serialize)]
struct Change<'a> {
    study: &'a str,
    trial: Row<'a>,
}

pub fn run(arguments: &args::Watch, output: &mut Output, words: &Words) -> Result<(), Failure> {
    let pace = Pace::new(arguments);
    let store = target::store_for(&arguments.target.store, &arguments.lease)?;
    let asked = arguments.target.study.as_deref();
    let in_place = output.is_terminal() && !arguments.json;
    let (name, there) = begin::begin(&store, asked, &pace, output, words)?;
    if let Some(there) = &there
        && !in_place
    {
        let (shown, count) = (escape::study(&name), there.len());
        words.note(&format!("watching `{shown}`, {count} attempts so far; Ctrl-C ends it"));
    }
    let study = Study { store: ManuallyDrop::new(store), name };
    let mut look = there.map(Look::new).unwrap_or_default();
    let mut picture = Picture::default();
    loop {
        let trials = study.trials()?;
        for trial in look.changes(&trials) {
            if arguments.json {
                output.json("watch", &Change { study: &study.name, trial: Row(trial) })?;
            } else if in_place {
                picture.add(line(trial));
            } else {
                output.line(&line(trial))?;
            }
        }
        look.trials = trials;
        if in_place {
            picture.draw(&study, output)?;
        }
        output.flush()?;
        if pace.is_over() {
            return study.say_damage(output, words);
        }
        pace.wait(output)?;
    }
}

/// When the next look is due, and which is the last.
struct Pace {
    interval: Duration,
    end: Option<Instant>,
}

impl Pace {
    fn new(arguments: &args::Watch) -> Self {
        let end = arguments.timeout_secs.map(|secs| Instant::now() + Duration::from_secs_f64(secs));
        Self { interval: Duration::from_secs_f64(arguments.interval_secs), end }
    }

    /// Wait for the next look; whoever reads this may go away meanwhile.
    fn wait(&self, output: &Output) -> Result<(), Failure> {
        let left = self
            .end
            .map_or(self.interval, |end| end.saturating_duration_since(Instant::now()).min(self.interval));
        if output.wait(left) { Err(Failure::closed_pipe()) } else { Ok(()) }
    }

    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// What was there at the last look.
#[derive(Default)]
struct Look {
    trials: Trials,
    seen: HashMap<(u64, u32), (State, usize)>,
}

impl Look {
    fn new(trials: Trials) -> Self {
        let seen = trials.iter().map(|trial| ((trial.trial, trial.attempt), (trial.state, trial.reports)));
        Self { seen: seen.collect(), trials }
    }

    /// The attempts that are new, have moved on or have ended, in trial order.
    fn changes<'a>(&mut self, trials: &'a Trials) -> Vec<&'a Trial> {
        if trials.is_same(&self.trials) {
            return Vec::new();
        }
        let is_news = |trial: &&Trial| {
            let now = (trial.state, trial.reports);
            self.seen.insert((trial.trial, trial.attempt), now) != Some(now)
        };
        trials.iter().filter(is_news).collect()
    }
}

/// What stands on the terminal.
#[derive(Default)]
struct Picture {
    changes: VecDeque<Line>,
    n_lines: usize,
}

impl Picture {
    fn add(&mut self, change: Line) {
        self.changes.push_back(change);
        if self.changes.len() > MOST_CHANGES {
            self.changes.pop_front();
        }
    }

    fn draw(&mut self, study: &Study, output: &mut Output) -> Result<(), Failure> {
        // The last row stays free: writing into it would scroll the first one away.
        let rows = output.height().unwrap_or(ROWS).saturating_sub(1).max(1);
        let mut lines = inspect::details(study)?;
        lines.truncate(rows);
        let room = rows - lines.len();
        if !self.changes.is_empty() && room > 1 {
            lines.push(Line::new());
            lines.extend(self.changes.iter().skip(self.changes.len().saturating_sub(room - 1)).cloned());
        }
        output.redraw(&lines, self.n_lines)?;
        self.n_lines = lines.len();
        Ok(())
    }
}

/// An attempt as it stands now.
fn line(trial: &Trial) -> Line {
    let mut line = vec![
        (Tone::Strong, format!("trial {}", row::which(trial))),
        (Tone::Plain, " ".to_owned()),
        (row::tone(trial.state), trial.state.as_str().to_owned()),
    ];
    match (trial.state, trial.score) {
        (State::Done, Some(score)) => line.push((Tone::Strong, format!(" {}", number::short(score)))),
        _ if trial.reports > 0 => {
            let plural = if trial.reports == 1 { "" } else { "s" };
            line.push((Tone::Plain, format!(" {} report{plural}", number::count(trial.reports as u64))));
        }
        _ => {}
    }
    if let Some(because) = &trial.because {
        line.push((Tone::Plain, format!(" ({})", escape::text(because))));
    }
    if let Some(point) = &trial.point {
        line.push((Tone::Quiet, format!(" {}", row::point_text(point))));
    }
    line
}
