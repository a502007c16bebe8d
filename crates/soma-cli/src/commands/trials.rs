//! `soma trials`: every attempt in a row.

use serde::Serialize;
use soma_study::{Space, State, Trial};

use crate::args;
use crate::column::{Column, usual};
use crate::failure::Failure;
use crate::output::{Output, Words};
use crate::row::Rows;
use crate::table::{self, Table};
use crate::target;

/// The `--json` shape.
#[derive(Serialize)]
struct Listing<'a> {
    study: &'a str,
    /// How many there are before `--state` and `--limit`.
    total: usize,
    trials: Rows<'a>,
}

pub fn run(arguments: &args::Trials, output: &mut Output, words: &Words) -> Result<(), Failure> {
    let study = target::open(&arguments.target)?;
    let space = study.space_left()?;
    let sort = Column::named(&arguments.sort, &space)?;
    let columns = match arguments.columns.as_slice() {
        [] => usual(&space),
        names => names.iter().map(|name| Column::named(name, &space)).collect::<Result<_, _>>()?,
    };
    let trials = study.trials()?;
    let mut rows: Vec<&Trial> =
        trials.iter().filter(|trial| is_wanted(trial.state, &arguments.state)).collect();
    if sort != Column::Trial || arguments.reverse {
        // Stable: rows that are equal there stay in the order of their trials.
        rows.sort_by(|one, other| sort.compare(one, other, arguments.reverse));
    }
    rows.truncate(arguments.limit.unwrap_or(usize::MAX));

    if arguments.json {
        let listing = Listing { study: &study.name, total: trials.len(), trials: Rows(&rows) };
        output.json("trials", &listing)?;
    } else {
        table(&rows, &columns, !arguments.columns.is_empty(), &space).write(output, words)?;
    }
    study.say_damage(output, words)
}

fn table(rows: &[&Trial], columns: &[Column], is_asked: bool, space: &Space) -> Table {
    let mut table = Table::new(columns.iter().enumerate().map(|(at, column)| {
        // Whoever lists columns names those that matter most first.
        let rank = if is_asked { at.saturating_sub(2) } else { column.rank() };
        table::Column::new(column.title(space), column.cells(space), rank)
    }));
    for trial in rows {
        for column in columns {
            let (tone, text) = column.cell(trial);
            table.cell(tone, &text);
        }
    }
    table
}

fn is_wanted(state: State, asked: &[args::State]) -> bool {
    asked.is_empty()
        || asked.iter().any(|asked| {
            state
                == match asked {
                    args::State::Running => State::Running,
                    args::State::Done => State::Done,
                    args::State::Pruned => State::Pruned,
                    args::State::Failed => State::Failed,
                }
        })
}
