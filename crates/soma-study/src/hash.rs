//! Randomness as a function of its arguments: the same on every machine, at any trial, without a state to carry.

use crate::dimension::Draw;

/// The odd number nearest to 2^64 over the golden ratio: steps the states of splitmix64.
pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The output function of splitmix64, a bijection in which every input bit reaches every output bit.
///
/// Source: G. L. Steele, D. Lea, C. H. Flood (2014), Fast splittable pseudorandom number generators, OOPSLA, figure 17;
/// constants of D. Stafford's variant 13.
pub(crate) const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The first output of splitmix64 from `state`.
pub(crate) const fn splitmix64(state: u64) -> u64 {
    mix(state.wrapping_add(GOLDEN))
}

/// A 64-bit hash of three numbers.
///
/// The seed enters before and after each of the others: two seeds give two functions, not one function of shifted
/// arguments.
pub(crate) const fn hash(seed: u64, a: u64, b: u64) -> u64 {
    let first = splitmix64(seed);
    let second = splitmix64(first);
    let inner = mix(mix(first ^ a).wrapping_add(second));
    mix(mix(inner ^ b.wrapping_mul(GOLDEN)).wrapping_add(first ^ second.rotate_left(32)))
}

/// The draws of one dimension in one trial.
pub(crate) struct Stream {
    key: u64,
    drawn: u64,
}

impl Stream {
    pub(crate) const fn new(seed: u64, trial: u64, dimension: u64) -> Self {
        Self { key: hash(seed, trial, dimension), drawn: 0 }
    }

    /// The next 64 bits.
    pub(crate) const fn next(&mut self) -> u64 {
        self.drawn += 1;
        // Keys are hashes: two streams of a study share a state with a probability of 2^-64 per pair of draws.
        mix(self.key ^ mix(self.drawn.wrapping_mul(GOLDEN)))
    }
}

impl Draw for Stream {
    fn unit(&mut self) -> f64 {
        // One of 2^53 numbers from 0 to 1, both ends included.
        let last = (1u64 << 53) - 1;
        (self.next() >> 11) as f64 / last as f64
    }

    /// Source: D. Lemire (2019), Fast random integer generation in an interval, ACM TOMACS 29(1), algorithm 5.
    fn index(&mut self, last: u64) -> u64 {
        let Some(count) = last.checked_add(1) else { return self.next() };
        loop {
            let product = u128::from(self.next()) * u128::from(count);
            let low = product as u64;
            // The first comparison spares the division nearly always.
            if low >= count || low >= count.wrapping_neg() % count {
                return (product >> 64) as u64;
            }
        }
    }
}

/// A keyed permutation of the numbers below `count`, read at one place at a time.
///
/// A balanced Feistel network over the next even number of bits, walked along its cycle until it is back below
/// `count`. Source: J. Black, P. Rogaway (2002), Ciphers with arbitrary finite domains, CT-RSA, section 4.
#[derive(Clone, Copy)]
pub(crate) struct Permutation {
    key: u64,
    count: u64,
    half_bits: u32,
}

impl Permutation {
    /// Enough for orders that pass for random on domains of a few elements.
    const ROUNDS: u64 = 10;

    /// `count` must not be 0.
    pub(crate) const fn new(key: u64, count: u64) -> Self {
        let bits = u64::BITS - (count - 1).leading_zeros();
        let half_bits = bits.div_ceil(2);
        Self { key, count, half_bits: if half_bits == 0 { 1 } else { half_bits } }
    }

    /// Where `place`, below `count`, goes.
    pub(crate) const fn at(&self, place: u64) -> u64 {
        let mut place = place;
        loop {
            place = self.round_trip(place);
            if place < self.count {
                return place;
            }
        }
    }

    const fn round_trip(&self, place: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (place >> self.half_bits, place & mask);
        let mut round = 0;
        while round < Self::ROUNDS {
            let mixed = (self.key ^ right).wrapping_add(GOLDEN.wrapping_mul(round + 1));
            (left, right) = (right, left ^ (mix(mixed) >> 32 & mask));
            round += 1;
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_visits_every_place_once() {
        for count in [1, 2, 3, 5, 16, 57, 1000, 4096] {
            for key in 0..20 {
                let permutation = Permutation::new(mix(key), count);
                let mut seen: Vec<u64> = (0..count).map(|place| permutation.at(place)).collect();
                seen.sort_unstable();
                assert!(seen.iter().enumerate().all(|(i, place)| *place == i as u64), "{count} {key}");
            }
        }
        assert!(Permutation::new(1, u64::MAX).at(u64::MAX - 1) < u64::MAX);
    }

    #[test]
    fn every_order_of_three_is_as_likely_as_the_others() {
        let mut counts = std::collections::BTreeMap::new();
        for key in 0..6000 {
            let permutation = Permutation::new(hash(7, key, 0), 3);
            *counts.entry([0, 1, 2].map(|place| permutation.at(place))).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Five standard deviations of a count of 6000 draws of one in six.
        assert!(counts.values().all(|n: &i32| (n - 1000).abs() < 145), "{counts:?}");
    }

    #[test]
    fn an_index_is_drawn_without_bias_up_to_the_whole_of_64_bits() {
        let mut stream = Stream::new(3, 1, 4);
        let mut counts = [0; 3];
        for _ in 0..30_000 {
            counts[stream.index(2) as usize] += 1;
        }
        assert!(counts.iter().all(|n: &i32| (n - 10_000).abs() < 410), "{counts:?}");
        // Two thirds of the range: without the rejection the lower half would come twice as often.
        let last = (1u64 << 63) + (1u64 << 62) - 1;
        let low = (0..30_000).filter(|_| stream.index(last) < last / 2).count() as i64;
        assert!((low - 15_000).abs() < 440, "{low}");
        assert_ne!(stream.index(u64::MAX), stream.index(u64::MAX));
    }
}
