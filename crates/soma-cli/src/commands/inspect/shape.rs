//! The `--json` shape of `soma inspect`.

use serde::Serialize;
use soma_study::{Counts, Goal};

use super::{Glance, Unread, n_trials};
use crate::damage::DamageShape;
use crate::number::Number;
use crate::row::Row;

#[derive(Serialize)]
pub struct Inspected<'a> {
    pub store: &'a str,
    pub studies: Vec<Overview<'a>>,
    /// Studies of which nothing can be said.
    pub unread: &'a [Unread],
}

#[derive(Serialize)]
pub struct Overview<'a> {
    study: &'a str,
    goal: Option<&'static str>,
    n_trials: usize,
    counts: CountsShape,
    best: Option<Row<'a>>,
    workers: Vec<WorkerShape<'a>>,
    last_activity_secs: Option<Number>,
    space: String,
    space_versions: usize,
    ledgers: usize,
    size_bytes: u64,
    damage: Vec<DamageShape<'a>>,
}

#[derive(Serialize)]
struct CountsShape {
    running: usize,
    done: usize,
    pruned: usize,
    failed: usize,
    abandoned: usize,
    discarded: usize,
}

#[derive(Serialize)]
struct WorkerShape<'a> {
    who: &'a str,
    is_alive: bool,
    running: usize,
    abandoned: usize,
    taken: usize,
    silent_secs: Number,
}

impl<'a> From<&'a Glance> for Overview<'a> {
    fn from(glance: &'a Glance) -> Self {
        let summary = &glance.summary;
        let Counts { running, done, pruned, failed, abandoned, discarded } = summary.counts;
        Self {
            study: &summary.study,
            goal: summary.goal.map(Goal::as_str),
            n_trials: n_trials(&summary.counts),
            counts: CountsShape { running, done, pruned, failed, abandoned, discarded },
            best: summary.best.as_ref().map(Row),
            workers: glance
                .workers()
                .map(|(worker, running, abandoned)| WorkerShape {
                    who: &worker.who,
                    is_alive: running > 0,
                    running,
                    abandoned,
                    taken: worker.taken,
                    silent_secs: Number(worker.silent.as_secs_f64()),
                })
                .collect(),
            last_activity_secs: summary.last_activity.map(|silent| Number(silent.as_secs_f64())),
            space: summary.space.to_string(),
            space_versions: summary.space_versions,
            ledgers: summary.ledgers,
            size_bytes: summary.size_bytes,
            damage: summary.damage.iter().map(DamageShape::from).collect(),
        }
    }
}
