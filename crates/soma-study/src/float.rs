//! Logarithm and exponential that are the same on every machine.
//!
//! A platform's own differ in the last digit from one C library to the next, and with them the points of a study that
//! runs on both. These round the true value: they are worked out in pairs of floats to some 78 bits, so that only in
//! one of millions of cases the answer is a neighbour of the right one, and then it is so everywhere.

/// The sum of a float and another below its last digit.
///
/// Source: T. J. Dekker (1971), A floating-point technique for extending the available precision, Numer. Math. 18.
#[derive(Clone, Copy)]
struct Pair {
    high: f64,
    low: f64,
}

/// ln 2 in a part of 33 bits, whose product with an exponent is exact, and the rest.
const LN_2: Pair = Pair { high: 6.931_471_803_691_238e-1, low: 1.908_214_929_270_587_7e-10 };

/// One sixth.
const SIXTH: Pair = Pair { high: 1.0 / 6.0, low: 9.251_858_538_542_97e-18 };

impl Pair {
    /// `a + b`, exactly.
    fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let part = high - a;
        Self { high, low: (a - (high - part)) + (b - part) }
    }

    /// `a * b`, exactly where nothing overflows.
    fn product(a: f64, b: f64) -> Self {
        let split = |v: f64| {
            let wide = v * 134_217_729.0;
            let high = wide - (wide - v);
            (high, v - high)
        };
        let high = a * b;
        let ((a1, a2), (b1, b2)) = (split(a), split(b));
        Self { high, low: ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2 }
    }

    fn plus(self, other: Self) -> Self {
        let sum = Self::sum(self.high, other.high);
        Self::sum(sum.high, sum.low + self.low + other.low)
    }

    fn times(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        Self::sum(product.high, product.low + self.high * other.low + self.low * other.high)
    }
}

/// `2^k`, in two factors that are both floats.
fn powers_of_two(k: i32) -> (f64, f64) {
    let power = |k: i32| f64::from_bits(((i64::from(k) + 1023) as u64) << 52);
    (power(k / 2), power(k - k / 2))
}

/// The exponential of a number from -745 to 709.
fn exp_pair(x: f64) -> (Pair, i32) {
    // Halvings before the series and squarings after it.
    const HALVINGS: i32 = 6;
    let k = (x * std::f64::consts::LOG2_E).round();
    let rest = Pair::product(-k, LN_2.low).plus(Pair::sum(x - k * LN_2.high, 0.0));
    let scale = 1.0 / f64::from(1 << HALVINGS);
    let r = Pair { high: rest.high * scale, low: rest.low * scale };
    // Taylor's series. r is below 2^-7, so that from the fourth power on, 2^-32 of the sum, floats are enough.
    let x = r.high;
    let tail = 1.0 + x / 5.0 * (1.0 + x / 6.0 * (1.0 + x / 7.0 * (1.0 + x / 8.0 * (1.0 + x / 9.0))));
    let square = r.times(r);
    let half = Pair { high: square.high / 2.0, low: square.low / 2.0 };
    let cube = square.times(r).times(SIXTH);
    let fourth = square.high * square.high / 24.0 * tail;
    let mut value =
        Pair { high: 1.0, low: 0.0 }.plus(r).plus(half).plus(cube).plus(Pair { high: fourth, low: 0.0 });
    for _ in 0..HALVINGS {
        value = value.times(value);
    }
    (value, k as i32)
}

/// e to the power of `x`.
pub(crate) fn exp(x: f64) -> f64 {
    if !(-745.0..=709.5).contains(&x) {
        return x.exp();
    }
    let (value, k) = exp_pair(x);
    let (first, second) = powers_of_two(k);
    (value.high + value.low) * first * second
}

/// The natural logarithm of a number above zero.
pub(crate) fn ln(x: f64) -> f64 {
    if !(x.is_finite() && x > 0.0) {
        return x.ln();
    }
    // A subnormal has no exponent of its own.
    let (x, below) = if x < f64::MIN_POSITIVE { (x * 2f64.powi(54), 54) } else { (x, 0) };
    let mut exponent = ((x.to_bits() >> 52) as i32 & 0x7FF) - 1023;
    let mut part = f64::from_bits((x.to_bits() & !(0x7FF << 52)) | 1023 << 52);
    if part > std::f64::consts::SQRT_2 {
        part /= 2.0;
        exponent += 1;
    }
    // One step of Newton's on the platform's own answer doubles its digits.
    let near = part.ln();
    let (inverse, k) = exp_pair(-near);
    let (first, second) = powers_of_two(k);
    let ratio = inverse.times(Pair { high: part * first * second, low: 0.0 });
    let off = Pair::sum(ratio.high - 1.0, ratio.low);
    let logarithm = Pair::sum(near, off.high).plus(Pair { high: off.low, low: 0.0 });
    let exponent = f64::from(exponent - below);
    let whole = Pair { high: exponent * LN_2.high, low: 0.0 }.plus(Pair::product(exponent, LN_2.low));
    let sum = whole.plus(logarithm);
    sum.high + sum.low
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the very float is meant")]
mod tests {
    use super::*;
    use crate::hash::mix;

    /// Correctly rounded values, from 60 decimal digits.
    const KNOWN: [(f64, f64); 6] = [
        (-5.888_238_425_347_098, 0.002_771_855_228_616_633),
        (-2.434_360_785_856_03, 0.087_653_758_666_752_94),
        (1.0, std::f64::consts::E),
        (-1.0, 0.367_879_441_171_442_33),
        (700.5, 1.672_185_962_067_498_4e304),
        (-744.0, 1e-323),
    ];

    #[test]
    fn the_exponential_is_the_nearest_float() {
        for (x, e) in KNOWN {
            assert_eq!(exp(x), e, "{x}");
        }
        assert_eq!((exp(0.0), ln(1.0)), (1.0, 0.0));
    }

    #[test]
    fn both_stay_within_a_digit_of_the_platforms_own() {
        for i in 0..200_000u64 {
            let unit = (mix(i) >> 11) as f64 / (1u64 << 53) as f64;
            let x = unit * 1400.0 - 700.0;
            let (ours, theirs) = (exp(x), x.exp());
            assert!(ours.to_bits().abs_diff(theirs.to_bits()) <= 1, "exp {x}: {ours} {theirs}");
            let x = f64::from_bits(mix(i) >> 2);
            if x > 0.0 && x.is_finite() {
                let (ours, theirs) = (ln(x), x.ln());
                assert!(ours.to_bits().abs_diff(theirs.to_bits()) <= 1, "ln {x}: {ours} {theirs}");
            }
        }
    }

    #[test]
    fn the_ends_of_the_floats_are_in_range() {
        for x in
            [5e-324, f64::MIN_POSITIVE, 1e-310, f64::MAX, 0.5, 2.0, 1.0 + f64::EPSILON, 1.0 - f64::EPSILON]
        {
            assert!((ln(x) - x.ln()).abs() <= x.ln().abs() * f64::EPSILON, "{x}");
        }
    }
}
