//! What may be typed: every verb, argument and flag, with the words of its help, manual page and documentation.

mod values;
mod verbs;

use std::ffi::OsString;

use clap::{Parser, Subcommand, ValueEnum};

pub use values::{Attempt, Drawing, Format, State};
pub use verbs::{
    Abandoned, Best, Completions, Curve, Export, Graph, Importance, Inspect, Lease, Man, Seal, Space, Target,
    Trials, Verify, Watch,
};

/// Look at studies: what was tried, what came out, what mattered.
///
/// A store is the folder that the workers of a study share. `soma` reads it from any machine that can
/// see it, while they run or years later, and needs neither Python nor the script.
///
/// Only `seal` writes into a store. Where STUDY is left out and the store holds exactly one, that one is
/// meant. Tables fit the terminal; in a pipe nothing is cut. For programs there is `--json` on every verb.
#[derive(Debug, Parser)]
#[command(
    name = "soma",
    bin_name = "soma",
    version,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done, 1 something you can put right, 2 a bug or a broken environment."
)]
pub struct Arguments {
    /// The verb.
    #[command(subcommand)]
    pub command: Command,

    /// Colour: `auto` only on a terminal and without `NO_COLOR`
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Colour::Auto, hide_possible_values = true)]
    pub color: Colour,
}

/// When to colour what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set; `CLICOLOR_FORCE` is obeyed.
    Auto,
    /// Into pipes and files too.
    Always,
    /// Nowhere.
    Never,
}

impl From<Colour> for clap::ColorChoice {
    fn from(colour: Colour) -> Self {
        match colour {
            Colour::Auto => Self::Auto,
            Colour::Always => Self::Always,
            Colour::Never => Self::Never,
        }
    }
}

/// The `--color` among raw arguments: help and errors are coloured before the rest is understood.
pub fn colour_asked_for(arguments: &[OsString]) -> Colour {
    let mut words =
        arguments.iter().skip(1).map(|word| word.to_string_lossy()).take_while(|word| word != "--");
    let mut asked = Colour::Auto;
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('=').map(|value| value.to_owned().into()),
            None => None,
        };
        if let Some(colour) = value.and_then(|value| Colour::from_str(&value, false).ok()) {
            asked = colour;
        }
    }
    asked
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    Inspect(Inspect),
    Trials(Trials),
    Best(Best),
    Importance(Importance),
    Curve(Curve),
    Watch(Watch),
    Abandoned(Abandoned),
    Space(Space),
    Export(Export),
    Verify(Verify),
    Seal(Seal),
    Graph(Graph),
    Completions(Completions),
    Man(Man),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_hold_together() {
        <Arguments as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn the_colour_is_found_wherever_it_stands_and_the_last_one_counts() {
        let asked = |words: &[&str]| colour_asked_for(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(asked(&["soma", "--color", "never", "best"]), Colour::Never);
        assert_eq!(asked(&["soma", "best", "--color=never", "--color=always"]), Colour::Always);
        assert_eq!(asked(&["soma", "best", "--", "--color=never"]), Colour::Auto);
        assert_eq!(asked(&["soma", "--color", "mauve"]), Colour::Auto);
    }
}
