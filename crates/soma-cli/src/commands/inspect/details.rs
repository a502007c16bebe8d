//! Everything about one study, as lines.

use soma_store::Store;
use soma_study::{Counts, Goal, State, Summary};

use super::{Glance, ago, n_trials, shade};
use crate::escape;
use crate::number;
use crate::output::{Line, Tone};
use crate::row::{point_text, tone, which};

/// Columns of the names on the left.
const LABEL: usize = 14;
/// Workers that are listed before the rest is only counted.
const MOST_WORKERS: usize = 8;

/// The study, as it stands now.
pub fn lines(glance: &Glance, store: &Store) -> Vec<Line> {
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
    say("goal", plain(summary.goal.map_or("none", Goal::as_str)));
    say("trials", trials(&summary.counts));
    best(summary, &mut say);
    say("space", space(summary));
    workers(glance, &mut say);
    let last = summary.last_activity.map_or("none".to_owned(), |last| format!("{} ago", ago(last)));
    say("last activity", plain(last));
    let plural = if summary.ledgers == 1 { "" } else { "s" };
    let size = number::bytes(summary.size_bytes);
    say("size", plain(format!("{size} in {} ledger{plural}", summary.ledgers)));
    match summary.damage.len() {
        0 => {}
        1 => say("damage", vec![(Tone::Bad, "1 place does not read".to_owned())]),
        count => {
            let said = format!("{} places do not read", number::count(count as u64));
            say("damage", vec![(Tone::Bad, said)]);
        }
    }
    lines
}

fn plain(text: impl Into<String>) -> Line {
    vec![(Tone::Plain, text.into())]
}

fn best(summary: &Summary, say: &mut impl FnMut(&str, Line)) {
    let Some(best) = &summary.best else {
        let why = if summary.counts.done > 0 { "not known without a goal" } else { "nothing finished yet" };
        return say("best", vec![(Tone::Quiet, why.to_owned())]);
    };
    let by = if best.who.is_empty() { String::new() } else { format!(" by {}", escape::name(&best.who)) };
    let score = best.score.map(number::exact).unwrap_or_default();
    let which = format!("  trial {}{by}", which(best));
    say("best", vec![(Tone::Strong, score), (Tone::Quiet, which)]);
    say("", plain(best.point.as_ref().map(point_text).unwrap_or_default()));
}

fn space(summary: &Summary) -> Line {
    let space = || escape::text(&summary.space.to_string()).into_owned();
    match summary.space_versions {
        0 => plain("does not read"),
        1 => plain(space()),
        count => vec![(Tone::Plain, space()), (Tone::Quiet, format!("  (version {count})"))],
    }
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
