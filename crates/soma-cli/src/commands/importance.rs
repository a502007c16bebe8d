//! `soma importance`: how much each dimension mattered, the most important first.

use std::borrow::Cow;

use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use crate::args;
use crate::escape;
use crate::failure::Failure;
use crate::number::Number;
use crate::output::{Output, Tone, Words};
use crate::table::{Cells, Column, GAP, Table};
use crate::target;

/// Characters of the longest bar.
const BAR: usize = 24;
/// Eighths of a character, from one to seven.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/// The titles of the columns before the bars.
const DIMENSION: &str = "DIMENSION";
const IMPORTANCE: &str = "IMPORTANCE";
/// Digits behind the point; `--json` has them all.
const DECIMALS: usize = 6;

/// The `--json` shape.
#[derive(Serialize)]
struct Ranking<'a> {
    study: &'a str,
    evaluator: &'static str,
    /// Finished trials that were counted.
    n_trials: usize,
    importance: Vec<Share<'a>>,
}

#[derive(Serialize)]
struct Share<'a> {
    name: &'a str,
    importance: Number,
}

pub fn run(arguments: &args::Importance, output: &mut Output, words: &Words) -> Result<(), Failure> {
    let study = target::open(&arguments.target)?;
    let (n_trials, importance) = study.importance(arguments.evaluator, arguments.goal.map(Into::into))?;
    if arguments.json {
        let importance =
            importance.iter().map(|(name, share)| Share { name, importance: Number(*share) }).collect();
        let ranking =
            Ranking { study: &study.name, evaluator: arguments.evaluator.as_str(), n_trials, importance };
        output.json("importance", &ranking)?;
    } else {
        let mut table = Table::new([
            Column::new(DIMENSION, Cells::Words, 0),
            Column::new(IMPORTANCE, Cells::Numbers, 0),
            Column::new("", Cells::Bars, 1),
        ]);
        let names: Vec<_> = importance.iter().map(|(name, _)| escape::name(name)).collect();
        let longest = longest_bar(&names, output.width());
        for (name, (_, share)) in names.iter().zip(&importance) {
            table
                .cell(Tone::Plain, name)
                .cell(Tone::Strong, &format!("{share:.DECIMALS$}"))
                .cell(Tone::Live, &bar(*share, longest));
        }
        table.write(output, words)?;
        if n_trials > 0 {
            output.flush()?;
            words.note(&format!("{} over {n_trials} finished trials", arguments.evaluator));
        }
    }
    if n_trials == 0 {
        output.flush()?;
        let shown = escape::study(&study.name);
        words.note(&format!("no trial of `{shown}` has finished yet: nothing is known of any dimension"));
    }
    study.say_damage(output, words)
}

/// Characters of the longest bar beside these names on a terminal of `width`.
fn longest_bar(names: &[Cow<'_, str>], width: Option<usize>) -> usize {
    let names = names.iter().map(|name| name.width()).max().unwrap_or(0).max(DIMENSION.len());
    let beside = names + IMPORTANCE.len() + 2 * GAP.len();
    width.map_or(BAR, |width| width.saturating_sub(beside).min(BAR))
}

/// `share`, from 0 to 1, as a bar of at most `longest` characters.
fn bar(share: f64, longest: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * (longest * 8) as f64).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if let Some(part) = (eighths % 8).checked_sub(1) {
        bar.push(EIGHTHS[part]);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(0.0, BAR), "");
        assert_eq!(bar(1.0, BAR).chars().count(), BAR);
        assert_eq!(bar(0.5, BAR).chars().count(), BAR / 2);
        assert_eq!(bar(1.0 / (BAR * 8) as f64, BAR), "▏");
        assert_eq!(bar(f64::NAN, BAR), "");
        assert_eq!(bar(1.0, 0), "");
    }
}
