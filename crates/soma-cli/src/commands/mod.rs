//! The verbs, one file each: `run` takes the parsed arguments and writes the answer.

mod abandoned;
mod best;
mod completions;
mod curve;
mod export;
mod graph;
mod importance;
mod inspect;
mod man;
mod seal;
mod space;
mod trials;
mod verify;
mod watch;

use crate::args::Command;
use crate::failure::Failure;
use crate::output::{Output, Words};

/// Do what was asked.
pub fn run(command: Command, output: &mut Output, words: &Words) -> Result<(), Failure> {
    match command {
        Command::Inspect(arguments) => inspect::run(&arguments, output, words),
        Command::Trials(arguments) => trials::run(&arguments, output, words),
        Command::Best(arguments) => best::run(&arguments, output, words),
        Command::Importance(arguments) => importance::run(&arguments, output, words),
        Command::Curve(arguments) => curve::run(&arguments, output, words),
        Command::Watch(arguments) => watch::run(&arguments, output, words),
        Command::Abandoned(arguments) => abandoned::run(&arguments, output, words),
        Command::Space(arguments) => space::run(&arguments, output, words),
        Command::Export(arguments) => export::run(&arguments, output, words),
        Command::Verify(arguments) => verify::run(&arguments, output, words),
        Command::Seal(arguments) => seal::run(&arguments, output, words),
        Command::Graph(arguments) => graph::run(&arguments, output, words),
        Command::Completions(arguments) => completions::run(&arguments, output),
        Command::Man(arguments) => man::run(&arguments, output),
    }
}
