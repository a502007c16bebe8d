//! The Halton sequence with its digits scrambled.

use std::fmt;
use std::sync::LazyLock;

use super::{Ask, check_dimensions};
use crate::dimension::Draw;
use crate::error::SpaceError;
use crate::hash::{GOLDEN, Permutation, Stream, hash, mix};
use crate::history::History;
use crate::point::Point;
use crate::space::Space;

/// One base per dimension.
const MOST_DIMENSIONS: usize = 1024;

/// The radical inverse of the trial in the dimension's prime base, each digit sent through a permutation of its own.
///
/// Source: J. H. Halton (1960), On the efficiency of certain quasi-random sequences of points, Numer. Math. 2; the
/// scrambling is that of A. B. Owen (2017), A randomized Halton algorithm in R, arXiv:1706.02808. Ours takes each
/// permutation from a hash of the seed, the dimension and the digit's place, and stops at the digit that brings the
/// number of values to 2^32.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Halton {
    seed: u64,
}

impl Halton {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed }
    }
}

/// The first primes, by the sieve of Eratosthenes.
static BASES: LazyLock<Vec<u64>> = LazyLock::new(|| {
    // The 1,024th prime is 8,161.
    let mut is_composite = vec![false; 8162];
    let mut bases = Vec::with_capacity(MOST_DIMENSIONS);
    for n in 2..is_composite.len() {
        if !is_composite[n] {
            bases.push(n as u64);
            for multiple in (n * n..is_composite.len()).step_by(n) {
                is_composite[multiple] = true;
            }
        }
    }
    bases
});

/// A fraction `above / below`, in which the number of digits is fixed.
struct Fraction {
    above: u64,
    below: u64,
    tail: Stream,
}

impl Fraction {
    fn new(seed: u64, dimension: usize, trial: u64) -> Self {
        let base = BASES[dimension];
        let key = hash(seed, dimension as u64, base);
        let tail = Stream::new(seed, trial, dimension as u64);
        if base == 2 {
            // All digits at once: there is one permutation of two digits beside the identity.
            let above = u64::from((trial as u32).reverse_bits() ^ key as u32);
            return Self { above, below: 1 << 32, tail };
        }
        let (mut above, mut below, mut left) = (0, 1, trial);
        let mut place = 0u64;
        while below < 1 << 32 {
            let digit = Permutation::new(mix(key ^ mix(place.wrapping_mul(GOLDEN))), base).at(left % base);
            above = above * base + digit;
            below *= base;
            left /= base;
            place += 1;
        }
        Self { above, below, tail }
    }
}

impl Draw for Fraction {
    fn unit(&mut self) -> f64 {
        self.above as f64 / self.below as f64
    }

    fn index(&mut self, last: u64) -> u64 {
        if last < self.below {
            return (u128::from(self.above) * (u128::from(last) + 1) / u128::from(self.below)) as u64;
        }
        // More values than fractions: the part that a fraction stands for is filled at random.
        let fraction = (u128::from(self.above) << 64 | u128::from(self.tail.next())) / u128::from(self.below);
        ((fraction * (u128::from(last) + 1)) >> 64) as u64
    }
}

impl Ask for Halton {
    fn ask(&self, space: &Space, trial: u64, _history: &History) -> Result<Point, SpaceError> {
        check_dimensions("halton", space, MOST_DIMENSIONS)?;
        Ok(space.fill(|i, dimension| dimension.draw(&mut Fraction::new(self.seed, i, trial))))
    }

    fn size(&self, _space: &Space) -> Option<u64> {
        None
    }
}

impl fmt::Display for Halton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "halton(seed={})", self.seed)
    }
}
