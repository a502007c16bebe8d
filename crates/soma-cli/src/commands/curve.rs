//! `soma curve`: every value a trial reported, as a plot.

use std::io::Write as _;

use serde::Serialize;
use soma_study::{State, Trial, Trials};

use crate::args::{self, Attempt};
use crate::escape;
use crate::failure::Failure;
use crate::number::{self, Number};
use crate::output::{Output, Tone, Words};
use crate::row::{self, Row};
use crate::target;
use crate::{plot, table};

/// Characters across where there is no terminal to ask.
const WIDTH: usize = 80;

/// The `--json` shape.
#[derive(Serialize)]
struct Plotted<'a> {
    study: &'a str,
    trial: Row<'a>,
    /// One per report, in order; what is no number is `"nan"`, `"inf"` or `"-inf"`.
    values: Vec<Number>,
}

pub fn run(arguments: &args::Curve, output: &mut Output, words: &Words) -> Result<(), Failure> {
    let study = target::open(&arguments.target)?;
    let trials = study.trials()?;
    let trial = find(&trials, arguments.trial, &study.name)?;
    let values = study.curve(trial.trial, trial.attempt)?;
    if arguments.json {
        let values = values.iter().copied().map(Number).collect();
        output.json("curve", &Plotted { study: &study.name, trial: Row(trial), values })?;
        return study.say_damage(output, words);
    }
    let width = output.width().unwrap_or(WIDTH);
    title(trial, width, output)?;
    for line in plot::curve(&values, width) {
        writeln!(output, "{line}")?;
    }
    let odd = values.iter().filter(|value| !value.is_finite()).count();
    output.flush()?;
    if values.is_empty() {
        words.note("nothing has been reported yet");
    } else if odd > 0 {
        words.note(&format!("{odd} of {} values are no finite number and leave a gap", values.len()));
    }
    study.say_damage(output, words)
}

/// One line over the plot: which trial, how it stands, where it looked.
fn title(trial: &Trial, width: usize, output: &mut Output) -> Result<(), Failure> {
    let name = format!("trial {}", row::which(trial));
    output.toned(Tone::Strong, &name)?;
    output.write_all(b" ")?;
    output.toned(row::tone(trial.state), trial.state.as_str())?;
    let mut rest = trial.score.map(|score| format!(" {}", number::exact(score))).unwrap_or_default();
    if let Some(point) = &trial.point {
        rest = format!("{rest} {}", row::point_text(point));
    }
    if let Some(because) = &trial.because {
        rest = format!("{rest} ({})", escape::text(because));
    }
    let used = name.len() + 1 + trial.state.as_str().len();
    output.toned(Tone::Quiet, &table::cut(&rest, width.saturating_sub(used)).0)?;
    Ok(output.write_all(b"\n")?)
}

/// The attempt that was asked for; without one, the attempt that is the trial's result, else the last.
fn find<'a>(trials: &'a Trials, asked: Attempt, study: &str) -> Result<&'a Trial, Failure> {
    let of_trial: Vec<&Trial> = trials.iter().filter(|trial| trial.trial == asked.trial).collect();
    let found = match asked.attempt {
        Some(attempt) => of_trial.iter().find(|trial| trial.attempt == attempt),
        None => of_trial.iter().find(|trial| trial.state == State::Done).or(of_trial.last()),
    };
    found.copied().ok_or_else(|| {
        let (last, study) = (trials.iter().last(), escape::study(study));
        match (asked.attempt, of_trial.last(), last) {
            (Some(attempt), Some(has), _) => Failure::hinted(
                format!("trial {} of `{study}` has no attempt {attempt}", asked.trial),
                format!("its last attempt is {}", has.attempt),
            ),
            (_, _, Some(last)) => Failure::hinted(
                format!("`{study}` has no trial {}", asked.trial),
                format!("its last trial is {}", last.trial),
            ),
            _ => Failure::told(format!("`{study}` has no trials")),
        }
    })
}
