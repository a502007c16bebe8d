//! The tree-structured Parzen estimator.

mod density;

use std::fmt;

use rustc_hash::FxHashSet;

use self::density::Density;
use super::{Ask, check_used_up};
use crate::error::{SamplerError, SpaceError};
use crate::goal::Goal;
use crate::hash::{Permutation, Stream, hash};
use crate::history::History;
use crate::options::setters;
use crate::point::Point;
use crate::space::{Alike, Space};

/// How the tree-structured Parzen estimator learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TpeOptions {
    /// Which draws. Default: 0.
    pub seed: u64,
    /// Which end of a score is good. Default: None, that of the study, or `min` where there is none.
    pub goal: Option<Goal>,
    /// Scores before it learns from them; points are spread by the Sobol' sequence until then. Default: 10.
    pub startup: usize,
    /// Points drawn near the good ones, of which the most promising is asked; at least 1. Default: 24.
    pub candidates: usize,
}

impl Default for TpeOptions {
    fn default() -> Self {
        Self { seed: 0, goal: None, startup: 10, candidates: 24 }
    }
}

setters!(TpeOptions {
    with_seed(seed: u64) => seed,
    with_goal(goal: Goal) => Some(goal),
    with_startup(startup: usize) => startup,
    with_candidates(candidates: usize) => candidates,
});

/// The good trials are the best tenth, and at most this many.
const MOST_GOOD: usize = 25;

/// The rest are told by at most this many of them, evenly over time, and by as many of the latest without a score: what
/// they say changes little with more.
const MOST_REST: usize = 512;

/// Spaces of at most this many points are looked at point by point.
const MOST_LISTED: u64 = 1024;

/// The points of such a space are dealt out, in a keyed order, to as many lanes, and the trials in turn.
const LANES: u64 = 8;

/// Apart from every dimension's draws.
const CANDIDATES: u64 = u64::MAX;

/// Draws near good points and asks for the one where good trials are densest compared with the rest.
///
/// Source: J. Bergstra, R. Bardenet, Y. Bengio, B. Kégl (2011), Algorithms for hyper-parameter optimization, NeurIPS,
/// section 4; the joint density over all dimensions and the bandwidths are those of S. Falkner, A. Klein, F. Hutter
/// (2018), BOHB, and of Optuna's multivariate sampler. Ours differs in that it is a pure function of its arguments;
/// that trials without a score (those under way, pruned, failed) count among the rest, the constant liar of D. Ginsbourger, R. Le
/// Riche, L. Carraro (2010); and that it never asks twice for a point of a finite space which the history holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tpe {
    pub(super) options: TpeOptions,
    start: super::sobol::Sobol,
}

/// What the history says, in the terms of the space that is asked about.
struct Seen<'a> {
    /// Points with a score, best first as far as the good ones go.
    scored: Vec<(f64, &'a Point)>,
    /// Points without one.
    pending: Vec<&'a Point>,
    /// Rows of trials before this one in its lane.
    earlier: u64,
}

impl Tpe {
    pub(super) fn new(options: TpeOptions) -> Result<Self, SamplerError> {
        if options.candidates == 0 {
            return Err(SamplerError::Option {
                sampler: "tpe",
                option: "candidates",
                given: "0".to_owned(),
                expected: "at least 1",
            });
        }
        let start = super::sobol::Sobol::new(super::SobolOptions::default().with_seed(options.seed));
        Ok(Self { options, start })
    }

    fn read<'a>(&self, space: &Space, trial: u64, history: &'a History) -> Seen<'a> {
        let goal = self.options.goal.unwrap_or_default();
        let mut seen = Seen { scored: Vec::with_capacity(history.len()), pending: Vec::new(), earlier: 0 };
        let mut alike = Alike::new(space);
        for row in history {
            seen.earlier += u64::from(row.trial < trial && row.trial % LANES == trial % LANES);
            // A row written with another version of the space tells nothing that fits this one.
            if !alike.holds(row.point.space()) {
                continue;
            }
            match row.score {
                Some(score) if score.is_finite() => seen.scored.push((goal.as_loss(score), &row.point)),
                _ => seen.pending.push(&row.point),
            }
        }
        seen
    }

    /// The densities of the good and of the rest; None while there is too little to learn from.
    fn learn(&self, space: &Space, seen: &Seen<'_>) -> Option<(Density, Density)> {
        let n = seen.scored.len();
        if n < self.options.startup.max(2) {
            return None;
        }
        let n_good = n.div_ceil(10).min(MOST_GOOD);
        // Ties by place: the earlier trial is the better one.
        let mut order: Vec<(f64, usize)> =
            seen.scored.iter().enumerate().map(|(i, one)| (one.0, i)).collect();
        order.select_nth_unstable_by(n_good - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (good, rest) = order.split_at_mut(n_good);
        good.sort_unstable_by_key(|one| one.1);
        rest.sort_unstable_by_key(|one| one.1);
        let point = |(_, i): &(f64, usize)| seen.scored[*i].1;
        let every = rest.len().div_ceil(MOST_REST).max(1);
        let good: Vec<&Point> = good.iter().map(point).collect();
        // Counted from the end, so that the latest is always among them.
        let rest = rest
            .iter()
            .rev()
            .step_by(every)
            .map(point)
            .chain(seen.pending[seen.pending.len().saturating_sub(MOST_REST)..].iter().copied())
            .collect::<Vec<_>>();
        Some((Density::new(space, &good), Density::new(space, &rest)))
    }

    /// The most promising point of a small space that the history does not hold, of those in the trial's lane: workers
    /// that ask at one moment, with whatever history, do not meet while there are no more of them than lanes.
    ///
    /// Trials of the lane that the history does not know of are being asked for at this moment too, mostly with the same
    /// history: as many of the best are left to them.
    fn ask_listed(&self, space: &Space, trial: u64, size: u64, seen: &Seen<'_>) -> Point {
        let visited: FxHashSet<u64> = numbers(space, seen).collect();
        let order = Permutation::new(hash(self.options.seed, 0, CANDIDATES), size);
        let open_from = |first: u64, step: u64| -> Vec<u64> {
            let all = (first..size).step_by(step as usize).map(|place| order.at(place));
            all.filter(|number| !visited.contains(number)).collect()
        };
        let mut open = open_from(trial % LANES, LANES);
        if open.is_empty() {
            open = open_from(0, 1);
        }
        if let Some((good, rest)) = self.learn(space, seen) {
            let mut promising: Vec<(f64, u64)> = open
                .iter()
                .map(|number| {
                    let slots = density::coordinates(space, &space.point_at(*number));
                    (good.log(&slots) - rest.log(&slots), *number)
                })
                .collect();
            // Stable: equal ones stay in the keyed order.
            promising.sort_by(|a, b| b.0.total_cmp(&a.0));
            open = promising.into_iter().map(|(_, number)| number).collect();
        }
        let skipped = (trial / LANES).saturating_sub(seen.earlier);
        match open.len() as u64 {
            // More rows than points: repeats, under another's numbers.
            0 => space.point_at(order.at(trial)),
            left => space.point_at(open[(skipped % left) as usize]),
        }
    }

    fn ask_drawn(
        &self,
        space: &Space,
        trial: u64,
        history: &History,
        seen: &Seen<'_>,
    ) -> Result<Point, SpaceError> {
        let mut stream = Stream::new(self.options.seed, trial, CANDIDATES);
        let visited: Option<FxHashSet<u64>> = space.size().map(|_| numbers(space, seen).collect());
        let is_open = |point: &Point| {
            visited
                .as_ref()
                .is_none_or(|seen| space.number_of(point.slots()).is_none_or(|n| !seen.contains(&n)))
        };
        let mut best: Option<(f64, Point)> = None;
        if let Some((good, rest)) = self.learn(space, seen) {
            for _ in 0..self.options.candidates {
                let point = good.draw(space, &mut stream);
                let at = density::coordinates(space, &point);
                let promise = good.log(&at) - rest.log(&at);
                if best.as_ref().is_none_or(|(most, _)| promise > *most) && is_open(&point) {
                    best = Some((promise, point));
                }
            }
        } else {
            let point = self.start.ask(space, trial, history)?;
            best = Some((0.0, point)).filter(|(_, point)| is_open(point));
        }
        if let Some((_, point)) = best {
            return Ok(point);
        }
        // Every candidate has been seen: the next open point after a random place. There is one, as the space has more
        // points than the history has rows, or there is no last one.
        let size = space.size().unwrap_or(u64::MAX);
        let start = crate::dimension::Draw::index(&mut stream, size - 1);
        let step = |number: &u64| Some(if *number == size - 1 { 0 } else { number + 1 });
        let visited = visited.unwrap_or_default();
        let number =
            std::iter::successors(Some(start), step).take(visited.len() + 1).find(|n| !visited.contains(n));
        Ok(space.point_at(number.unwrap_or(start)))
    }
}

/// The numbers of the points that the history holds.
fn numbers<'a>(space: &'a Space, seen: &'a Seen<'_>) -> impl Iterator<Item = u64> + 'a {
    let scored = seen.scored.iter().map(|(_, point)| *point);
    scored.chain(seen.pending.iter().copied()).filter_map(|point| space.number_of(point.slots()))
}

impl Ask for Tpe {
    fn ask(&self, space: &Space, trial: u64, history: &History) -> Result<Point, SpaceError> {
        let size = self.size(space);
        check_used_up(trial, size)?;
        let seen = self.read(space, trial, history);
        match size {
            Some(size) if size <= MOST_LISTED => Ok(self.ask_listed(space, trial, size, &seen)),
            _ => self.ask_drawn(space, trial, history, &seen),
        }
    }

    fn size(&self, space: &Space) -> Option<u64> {
        space.size().filter(|size| *size > 1)
    }
}

impl fmt::Display for Tpe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TpeOptions { seed, goal, startup, candidates } = self.options;
        write!(f, "tpe(seed={seed},")?;
        if let Some(goal) = goal {
            write!(f, "goal={goal},")?;
        }
        write!(f, "startup={startup},candidates={candidates})")
    }
}

/// The coordinate of a dimension that a point does not have.
const ABSENT: f64 = f64::NAN;
