//! The Sobol' sequence, shifted or scrambled.

use std::fmt;
use std::sync::LazyLock;

use super::{Ask, check_dimensions};
use crate::dimension::Draw;
use crate::error::SpaceError;
use crate::hash::{GOLDEN, Stream, hash, splitmix64};
use crate::history::History;
use crate::options::setters;
use crate::point::Point;
use crate::space::Space;

/// How the Sobol' sequence is made different for each seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SobolOptions {
    /// Which shift, or which scramble. Default: 0.
    pub seed: u64,
    /// Scramble each digit by those above it (Owen's nested uniform scrambling) instead of shifting all points alike:
    /// integrates smooth functions with less error. Default: false.
    pub owen: bool,
}

setters!(SobolOptions {
    with_seed(seed: u64) => seed,
    with_owen(owen: bool) => owen,
});

/// Points of 32 bits in the order of the Gray code, from index 0 on, none dropped.
///
/// Source: I. M. Sobol' (1967), USSR Comput. Math. Math. Phys. 7(4); direction numbers of S. Joe and F. Y. Kuo (2008),
/// SIAM J. Sci. Comput. 30(5); order of I. A. Antonov and V. M. Saleev (1979). Ours is an XOR shift per dimension,
/// or Owen's scrambling by the hash of B. Burley (2020), Practical hash-based Owen scrambling, JCGT 9(4), section 3.
/// The sequence begins again after 2^32 points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sobol {
    options: SobolOptions,
}

const BITS: usize = 32;

/// Direction numbers by dimension.
static DIRECTIONS: LazyLock<Vec<[u32; BITS]>> = LazyLock::new(|| {
    let mut directions = vec![std::array::from_fn(|i| 1 << (BITS - 1 - i))];
    let lines = include_str!("../../data/joe-kuo-6.txt").lines().filter(|line| !line.starts_with('#'));
    directions.extend(lines.map(|line| {
        let numbers: Vec<u32> = line.split(' ').map(|number| number.parse().unwrap_or(0)).collect();
        match numbers.as_slice() {
            [_, _, polynomial, initial @ ..] => direction_numbers(*polynomial, initial),
            _ => [0; BITS],
        }
    }));
    directions
});

/// Joe and Kuo's recurrence, equation 2, on numbers already shifted to the left end of the word.
fn direction_numbers(polynomial: u32, initial: &[u32]) -> [u32; BITS] {
    let degree = initial.len();
    let mut directions = [0u32; BITS];
    for i in 0..BITS {
        directions[i] = if i < degree {
            initial[i] << (BITS - 1 - i)
        } else {
            let far = directions[i - degree];
            (1..degree)
                .filter(|k| polynomial >> (degree - 1 - k) & 1 == 1)
                .fold(far ^ far >> degree, |folded, k| folded ^ directions[i - k])
        };
    }
    directions
}

/// The unscrambled coordinate of a point, as a fraction of 2^32.
fn coordinate(directions: &[u32; BITS], index: u64) -> u32 {
    let index = index as u32;
    let mut gray = index ^ (index >> 1);
    let mut bits = 0;
    while gray != 0 {
        bits ^= directions[gray.trailing_zeros() as usize];
        gray &= gray - 1;
    }
    bits
}

/// Flips each digit by a hash of those above it: Burley's section 3, listing 2 and 3.
fn owen_scramble(bits: u32, seed: u32) -> u32 {
    let mut x = bits.reverse_bits().wrapping_add(seed);
    for factor in [0x6C50_B47C, 0xB82F_1E52, 0xC7AF_E638, 0x8D22_F6E6] {
        x ^= x.wrapping_mul(factor);
    }
    x.reverse_bits()
}

impl Sobol {
    pub(super) fn new(options: SobolOptions) -> Self {
        Self { options }
    }

    fn bits(&self, dimension: usize, trial: u64) -> u32 {
        let plain = coordinate(&DIRECTIONS[dimension], trial);
        if self.options.owen {
            owen_scramble(plain, hash(self.options.seed, dimension as u64, 0) as u32)
        } else {
            let shift = splitmix64(self.options.seed ^ (dimension as u64).wrapping_mul(GOLDEN));
            plain ^ shift as u32
        }
    }
}

/// One coordinate.
struct Coordinate {
    bits: u32,
    tail: Stream,
}

impl Draw for Coordinate {
    fn unit(&mut self) -> f64 {
        f64::from(self.bits) / (1u64 << BITS) as f64
    }

    fn index(&mut self, last: u64) -> u64 {
        if u32::try_from(last).is_ok() {
            return ((u128::from(self.bits) * (u128::from(last) + 1)) >> BITS) as u64;
        }
        // More values than coordinates: the part that a coordinate stands for is filled at random.
        let bits = u64::from(self.bits) << BITS | self.tail.next() >> BITS;
        ((u128::from(bits) * (u128::from(last) + 1)) >> 64) as u64
    }
}

impl Ask for Sobol {
    fn ask(&self, space: &Space, trial: u64, _history: &History) -> Result<Point, SpaceError> {
        check_dimensions("sobol", space, DIRECTIONS.len())?;
        Ok(space.fill(|i, dimension| {
            let tail = Stream::new(self.options.seed, trial, i as u64);
            dimension.draw(&mut Coordinate { bits: self.bits(i, trial), tail })
        }))
    }

    fn size(&self, _space: &Space) -> Option<u64> {
        None
    }
}

impl fmt::Display for Sobol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SobolOptions { seed, owen } = self.options;
        write!(f, "sobol(seed={seed}{})", if owen { ",owen=true" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unscrambled_coordinates_are_those_of_scipy_bit_for_bit() {
        // `(qmc.Sobol(16, scramble=False, bits=32).random(1024) * 2**32)` of SciPy 1.17.1, as little-endian u32, point by
        // point; written by `benches/compare/samplers.py --fixture`.
        let bytes = include_bytes!("../../tests/fixtures/sobol-16x1024.u32");
        let (words, rest) = bytes.as_chunks::<4>();
        assert_eq!((words.len(), rest.len()), (16 * 1024, 0));
        for (i, word) in words.iter().enumerate() {
            let (index, dimension) = (i / 16, i % 16);
            let ours = coordinate(&DIRECTIONS[dimension], index as u64);
            assert_eq!(ours, u32::from_le_bytes(*word), "index {index}, dimension {dimension}");
        }
    }

    #[test]
    fn every_dimension_has_its_directions() {
        assert_eq!(DIRECTIONS.len(), 1111);
        for (dimension, directions) in DIRECTIONS.iter().enumerate() {
            // Upper triangular with ones on the diagonal: what makes each projection even.
            for (i, direction) in directions.iter().enumerate() {
                let diagonal = 1u32 << (BITS - 1 - i);
                assert_eq!(
                    direction & (diagonal | (diagonal - 1)),
                    diagonal,
                    "dimension {dimension}, bit {i}"
                );
            }
        }
    }

    #[test]
    fn owen_scrambling_sends_a_digit_only_by_those_above_it() {
        for seed in [1, 0x9E37_79B9, u32::MAX] {
            for x in [0u32, 1, 0x8000_0000, 0xDEAD_BEEF] {
                for bit in 0..BITS {
                    let changed = owen_scramble(x, seed) ^ owen_scramble(x ^ 1 << bit, seed);
                    assert_eq!(changed >> bit, 1, "the digits above {bit} stay and it flips");
                }
            }
        }
    }
}
