//! `soma best`: the best finished trial, every digit of it.

use std::io::Write as _;

use serde::Serialize;

use crate::args;
use crate::escape;
use crate::failure::Failure;
use crate::number;
use crate::output::{Output, Tone, Words};
use crate::row::{self, Row};
use crate::target;

/// The `--json` shape.
#[derive(Serialize)]
struct Winner<'a> {
    study: &'a str,
    /// None while nothing has finished.
    best: Option<Row<'a>>,
}

pub fn run(arguments: &args::Best, output: &mut Output, words: &Words) -> Result<(), Failure> {
    let study = target::open(&arguments.target)?;
    let best = study.best(arguments.goal.map(Into::into))?;
    if arguments.json {
        output.json("best", &Winner { study: &study.name, best: best.as_ref().map(Row) })?;
    } else if let Some(trial) = &best {
        let goal = trial.goal.map(|goal| format!(" ({goal})")).unwrap_or_default();
        let values = trial.point.iter().flat_map(soma_study::Point::iter);
        let values: Vec<_> = values
            .map(|(name, value)| (escape::name(name), escape::text(&value.to_string()).into_owned()))
            .collect();
        let widest = values.iter().map(|(name, _)| unicode_width::UnicodeWidthStr::width(&**name)).max();
        let pad = widest.unwrap_or_default().max("score".len());
        let mut line = |name: &str, tone: Tone, text: &str, after: &str| {
            output.toned(Tone::Quiet, name)?;
            let blank = pad + 2 - unicode_width::UnicodeWidthStr::width(name);
            write!(output, "{:blank$}", "")?;
            output.toned(tone, text)?;
            output.toned(Tone::Quiet, after)?;
            output.write_all(b"\n")
        };
        line("score", Tone::Strong, &trial.score.map(number::exact).unwrap_or_default(), &goal)?;
        let who =
            if trial.who.is_empty() { String::new() } else { format!(" by {}", escape::name(&trial.who)) };
        line("trial", Tone::Plain, &row::which(trial), &who)?;
        for (name, value) in &values {
            line(name, Tone::Plain, value, "")?;
        }
    }
    if best.is_none() {
        output.flush()?;
        words.note(&format!("no trial of `{}` has finished yet", escape::study(&study.name)));
    }
    study.say_damage(output, words)
}
