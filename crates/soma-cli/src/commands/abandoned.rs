//! `soma abandoned`: trials whose worker has gone silent.

use std::time::Duration;

use serde::Serialize;

use crate::args;
use crate::escape;
use crate::failure::Failure;
use crate::output::{Output, Tone, Words};
use crate::row::{Values, point_text};
use crate::table::{Cells, Column, Table};
use crate::target;

/// The `--json` shape.
#[derive(Serialize)]
struct Left<'a> {
    study: &'a str,
    /// Silence that counted.
    lease_secs: f64,
    abandoned: Vec<Lying<'a>>,
}

#[derive(Serialize)]
struct Lying<'a> {
    trial: u64,
    attempt: u32,
    who: &'a str,
    point: Option<Values<'a>>,
}

pub fn run(arguments: &args::Abandoned, output: &mut Output, words: &Words) -> Result<(), Failure> {
    let study = target::open(&arguments.target)?;
    // Reading the space says so where the study is not there; `abandoned` alone answers for a loop.
    study.space_left()?;
    let lease = Duration::from(&arguments.lease);
    let abandoned = soma_study::abandoned(&study.store, &study.name, Some(lease))?;
    if arguments.json {
        let attempts = abandoned.iter().map(|one| Lying {
            trial: one.trial,
            attempt: one.attempt,
            who: &one.who,
            point: one.point.as_ref().map(Values),
        });
        let left =
            Left { study: &study.name, lease_secs: lease.as_secs_f64(), abandoned: attempts.collect() };
        output.json("abandoned", &left)?;
    } else {
        let mut table = Table::new([
            Column::new("TRIAL", Cells::Numbers, 0),
            Column::new("ATTEMPT", Cells::Numbers, 1),
            Column::new("WHO", Cells::Words, 1),
            Column::new("POINT", Cells::Words, 2),
        ]);
        for one in &abandoned {
            table
                .cell(Tone::Strong, &one.trial.to_string())
                .cell(Tone::Quiet, &one.attempt.to_string())
                .cell(Tone::Plain, &escape::name(&one.who))
                .cell(Tone::Quiet, &one.point.as_ref().map(point_text).unwrap_or_default());
        }
        table.write(output, words)?;
    }
    study.say_damage(output, words)
}
