//! Independent draws, without repeats where the points can be counted.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Ask, check_used_up};
use crate::error::SpaceError;
use crate::hash::{Permutation, Stream, hash};
use crate::history::History;
use crate::options::setters;
use crate::point::Point;
use crate::space::Space;

/// How random search draws.
///
/// Each value is drawn from a hash of the seed, the trial and the dimension. Where the points of a space can be
/// counted, a trial's point is instead a place in an order of all of them, so that no point comes twice and trial
/// number `size` is refused: `UsedUp`. (A space of one point gives that point for ever.) The order is
///
/// - a keyed permutation, where every point is as likely as the others;
/// - in a space with conditions or logarithmic ints, of at most 65,536 points, that of drawing without putting back:
///   each next point is drawn from those that are left, as likely as they are among themselves;
/// - in a larger space of that kind there is none: draws are independent and may repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RandomOptions {
    /// Which draws. Default: 0.
    pub seed: u64,
    /// Draw independently even where the points can be counted: points may come twice, and there is no end.
    /// Default: false.
    pub repeats: bool,
}

setters!(RandomOptions {
    with_seed(seed: u64) => seed,
    with_repeats(repeats: bool) => repeats,
});

/// The most points whose order is worked out whole: 65,536 take some ten milliseconds, once per sampler.
const MOST_ORDERED: u64 = 1 << 16;

/// Apart from every dimension's draws, which are keyed by trial and dimension.
const ORDER: u64 = u64::MAX;

#[derive(Debug, Clone)]
pub(super) struct Random {
    options: RandomOptions,
    /// The order of the last uneven space that was asked for: a memory of something that can be worked out again.
    kept: Arc<Mutex<Option<Kept>>>,
}

/// The numbers of a space's points in the order in which they come.
#[derive(Debug)]
struct Kept {
    space: Space,
    order: Arc<[u32]>,
}

impl Random {
    pub(super) fn new(options: RandomOptions) -> Self {
        Self { options, kept: Arc::default() }
    }

    fn draw(&self, space: &Space, trial: u64) -> Point {
        space.fill(|i, dimension| dimension.draw(&mut Stream::new(self.options.seed, trial, i as u64)))
    }

    fn order(&self, space: &Space) -> Arc<[u32]> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some(kept) if kept.space == *space => Arc::clone(&kept.order),
            _ => {
                let order = drawn_order(self.options.seed, space);
                *kept = Some(Kept { space: space.clone(), order: Arc::clone(&order) });
                order
            }
        }
    }
}

/// The order in which points come when each is drawn from those that are left.
///
/// Source: P. S. Efraimidis, P. G. Spirakis (2006), Weighted random sampling with a reservoir, Inf. Process. Lett. 97:
/// the smallest of exponential variates with the weights as rates comes first.
fn drawn_order(seed: u64, space: &Space) -> Arc<[u32]> {
    let size = space.size().unwrap_or(0);
    let mut keyed: Vec<(f64, u32)> = (0..size)
        .map(|number| {
            let bits = hash(seed, number, ORDER) >> 11;
            let unit = (bits as f64 + 0.5) / (1u64 << 53) as f64;
            (-libm::log(unit) / space.point_at(number).likelihood(), number as u32)
        })
        .collect();
    keyed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    keyed.into_iter().map(|(_, number)| number).collect()
}

impl Ask for Random {
    fn ask(&self, space: &Space, trial: u64, _history: &History) -> Result<Point, SpaceError> {
        let size = self.size(space);
        check_used_up(trial, size)?;
        let Some(size) = size else { return Ok(self.draw(space, trial)) };
        let number = if space.is_uneven() {
            u64::from(self.order(space)[trial as usize])
        } else {
            Permutation::new(hash(self.options.seed, 0, ORDER), size).at(trial)
        };
        Ok(space.point_at(number))
    }

    fn size(&self, space: &Space) -> Option<u64> {
        let most = if space.is_uneven() { MOST_ORDERED } else { u64::MAX };
        space.size().filter(|size| *size > 1 && *size <= most && !self.options.repeats)
    }
}

impl PartialEq for Random {
    fn eq(&self, other: &Self) -> bool {
        self.options == other.options
    }
}

impl fmt::Display for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RandomOptions { seed, repeats } = self.options;
        write!(f, "random(seed={seed}{})", if repeats { ",repeats=true" } else { "" })
    }
}
