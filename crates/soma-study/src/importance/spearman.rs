//! How well the score follows each dimension in rank.

use super::{FEWEST, columns, ranked};
use crate::point::Point;
use crate::space::Space;

/// The absolute value of Spearman's rank correlation between each dimension and the score, in [0, 1].
///
/// Ties get the mean of their ranks; a choice is ranked by the order of its options; a conditional dimension is judged
/// by the trials that have it. It sees monotone influence only: a valley counts little, and an interaction of two
/// dimensions not at all. Fewer than three scores: all 0. The order of the trials makes no difference, to the bit.
///
/// Source: C. Spearman (1904), The proof and measurement of association between two things, Am. J. Psychol. 15.
///
/// ```
/// use soma_study::importance::spearman;
/// use soma_study::{IntOptions, Space};
///
/// let space = Space::new().int("a", 0, 9, IntOptions::default())?;
/// let points = ["a=1", "a=5", "a=7"].map(|text| space.parse_point(text).expect("in the space"));
/// let scored = points.iter().zip([0.1, 0.7, 0.9]);
/// assert_eq!(spearman(&space, scored), [("a".to_string(), 1.0)]);
/// # Ok::<(), soma_study::SpaceError>(())
/// ```
pub fn spearman<'a>(space: &Space, rows: impl IntoIterator<Item = (&'a Point, f64)>) -> Vec<(String, f64)> {
    let (points, scores): (Vec<&Point>, Vec<f64>) =
        rows.into_iter().filter(|(_, score)| score.is_finite()).unzip();
    let mut room = Room::default();
    let score_ranks = room.ranks(&scores);
    let shares: Vec<f64> = columns(space, &points)
        .into_iter()
        .map(|column| {
            if !column.iter().any(|value| value.is_nan()) {
                return correlation(&room.ranks(&column), &score_ranks).abs();
            }
            let both = column.into_iter().zip(&scores).filter(|(value, _)| !value.is_nan());
            let (values, theirs): (Vec<f64>, Vec<f64>) = both.map(|(value, score)| (value, *score)).unzip();
            correlation(&room.ranks(&values), &room.ranks(&theirs)).abs()
        })
        .collect();
    ranked(space, |i| shares[i])
}

/// Room to sort in, kept from one dimension to the next.
#[derive(Default)]
struct Room {
    order: Vec<(u64, u32)>,
    other: Vec<(u64, u32)>,
}

impl Room {
    /// Ranks from 1, ties by their mean.
    fn ranks(&mut self, values: &[f64]) -> Vec<f64> {
        self.order.clear();
        self.order.extend(values.iter().enumerate().map(|(i, value)| (sort_key(*value), i as u32)));
        self.sort();
        let mut ranks = vec![0.0; values.len()];
        let mut below = 0;
        for tied in self.order.chunk_by(|a, b| a.0 == b.0) {
            let mean = below as f64 + (tied.len() + 1) as f64 / 2.0;
            for (_, i) in tied {
                ranks[*i as usize] = mean;
            }
            below += tied.len();
        }
        ranks
    }

    /// Sorts by key: digit by digit from the last, which for thousands of numbers takes half as long as comparing.
    fn sort(&mut self) {
        const DIGIT_BITS: u32 = 11;
        const VALUES: usize = 1 << DIGIT_BITS;
        const DIGITS: usize = u64::BITS.div_ceil(DIGIT_BITS) as usize;
        if self.order.len() < VALUES {
            return self.order.sort_unstable();
        }
        let digit = |key: u64, place: usize| (key >> (place as u32 * DIGIT_BITS)) as usize % VALUES;
        let mut counts = vec![[0u32; VALUES]; DIGITS];
        for (key, _) in &self.order {
            for (place, counts) in counts.iter_mut().enumerate() {
                counts[digit(*key, place)] += 1;
            }
        }
        self.other.resize(self.order.len(), (0, 0));
        for (place, counts) in counts.iter_mut().enumerate() {
            // One digit for all: nothing to do.
            if counts.iter().any(|count| *count as usize == self.order.len()) {
                continue;
            }
            let mut start = 0;
            for count in counts.iter_mut() {
                (*count, start) = (start, start + *count);
            }
            for item in &self.order {
                let to = &mut counts[digit(item.0, place)];
                self.other[*to as usize] = *item;
                *to += 1;
            }
            std::mem::swap(&mut self.order, &mut self.other);
        }
    }
}

/// A whole number in the order of the floats; the two zeros are one.
fn sort_key(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Pearson's correlation, in two passes; 0 where one side never changes or there is too little.
fn correlation(xs: &[f64], ys: &[f64]) -> f64 {
    if xs.len() < FEWEST {
        return 0.0;
    }
    let n = xs.len() as f64;
    let (mean_x, mean_y) = (xs.iter().sum::<f64>() / n, ys.iter().sum::<f64>() / n);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in xs.iter().zip(ys) {
        let (dx, dy) = (x - mean_x, y - mean_y);
        xy += dx * dy;
        xx += dx * dx;
        yy += dy * dy;
    }
    let spread = (xx * yy).sqrt();
    if spread > 0.0 { (xy / spread).clamp(-1.0, 1.0) } else { 0.0 }
}
