//! `soma space`: what a study searches.

use serde::{Serialize, Serializer};
use soma_study::{Dimension, Domain, Space};

use crate::args;
use crate::escape;
use crate::failure::Failure;
use crate::number::{self, Number};
use crate::output::{Output, Tone, Words};
use crate::row::Value;
use crate::table::{Cells, Column, Table};
use crate::target;

/// The `--json` shape.
#[derive(Serialize)]
struct Searched<'a> {
    study: &'a str,
    goal: Option<&'static str>,
    /// The version of the space that new trials are written with, from 1.
    space_version: usize,
    /// The text form, which reads back as the same space.
    text: String,
    dimensions: Vec<Axis<'a>>,
}

/// One dimension as a JSON object.
struct Axis<'a> {
    space: &'a Space,
    dimension: &'a Dimension,
}

#[derive(Serialize)]
struct When<'a> {
    name: &'a str,
    values: Vec<Value<'a>>,
}

impl Serialize for Axis<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut axis = serializer.serialize_map(None)?;
        axis.serialize_entry("name", &*self.dimension.name)?;
        axis.serialize_entry("kind", self.dimension.domain.kind())?;
        match &self.dimension.domain {
            Domain::Real { low, high, log, step } => {
                axis.serialize_entry("low", &Number(*low))?;
                axis.serialize_entry("high", &Number(*high))?;
                axis.serialize_entry("log", log)?;
                axis.serialize_entry("step", &step.map(Number))?;
            }
            Domain::Int { low, high, log, step } => {
                axis.serialize_entry("low", low)?;
                axis.serialize_entry("high", high)?;
                axis.serialize_entry("log", log)?;
                axis.serialize_entry("step", step)?;
            }
            Domain::Choice { options } => {
                axis.serialize_entry("options", &options.iter().map(Value).collect::<Vec<_>>())?;
            }
            _ => {}
        }
        let when = self.dimension.when.as_ref().map(|when| When {
            name: &self.space.dimensions()[when.parent].name,
            values: when.values.iter().map(Value).collect(),
        });
        axis.serialize_entry("when", &when)?;
        axis.end()
    }
}

pub fn run(arguments: &args::Space, output: &mut Output, words: &Words) -> Result<(), Failure> {
    let study = target::open(&arguments.target)?;
    let (space, goal) = study.space()?;
    if arguments.json {
        let dimensions =
            space.dimensions().iter().map(|dimension| Axis { space: &space, dimension }).collect();
        let searched = Searched {
            study: &study.name,
            goal: goal.map(soma_study::Goal::as_str),
            space_version: soma_study::summary(&study.store, &study.name)?.space_versions,
            text: space.to_string(),
            dimensions,
        };
        output.json("space", &searched)?;
        return study.say_damage(output, words);
    }
    let mut table = Table::new([
        Column::new("DIMENSION", Cells::Words, 0),
        Column::new("KIND", Cells::Words, 2),
        Column::new("VALUES", Cells::Words, 0),
        Column::new("WHEN", Cells::Words, 1),
    ]);
    for dimension in space.dimensions() {
        table
            .cell(Tone::Strong, &escape::name(&dimension.name))
            .cell(Tone::Quiet, &kind(&dimension.domain))
            .cell(Tone::Plain, &values(&dimension.domain))
            .cell(Tone::Quiet, &when(&space, dimension));
    }
    table.write(output, words)?;
    study.say_damage(output, words)
}

fn kind(domain: &Domain) -> String {
    format!("{}{}", if domain.is_log() { "log " } else { "" }, domain.kind())
}

fn values(domain: &Domain) -> String {
    match domain {
        Domain::Real { low, high, step, .. } => {
            let step = step.map(|step| format!(" step {}", number::exact(step))).unwrap_or_default();
            format!("{} .. {}{step}", number::exact(*low), number::exact(*high))
        }
        Domain::Int { low, high, step: 1, .. } => format!("{low} .. {high}"),
        Domain::Int { low, high, step, .. } => format!("{low} .. {high} step {step}"),
        Domain::Choice { options } => joined(options),
        other => escape::text(&other.to_string()).into_owned(),
    }
}

fn when(space: &Space, dimension: &Dimension) -> String {
    dimension.when.as_ref().map_or_else(String::new, |when| {
        format!("{} = {}", escape::name(&space.dimensions()[when.parent].name), joined(&when.values))
    })
}

fn joined(options: &[soma_study::Scalar]) -> String {
    let shown: Vec<String> =
        options.iter().map(|option| escape::text(&option.to_string()).into_owned()).collect();
    shown.join(" | ")
}
