//! The values of a real dimension with a step.

/// `low`, `low + step`, `low + 2 step`, ... up to `high`.
///
/// Ends and steps that people write are decimals, so the values are counted in decimals where the digits allow it:
/// from 0 in steps of 0.1 the fourth value is `0.3`, the float nearest to it, and not `0.30000000000000004`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lattice {
    low: f64,
    high: f64,
    step: f64,
    last: u64,
    decimal: Option<Decimal>,
}

/// `low` and `step` as whole multiples of `1 / unit`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Decimal {
    low: i64,
    step: i64,
    unit: f64,
}

/// The largest whole number up to which floats hold every one.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Lattice {
    /// None when the step is not above zero, or so small beside the ends that rounding reaches from one value to the
    /// next.
    pub(crate) fn new(low: f64, high: f64, step: f64) -> Option<Self> {
        // Halved, so that the whole of the floats fits; a little above, so that 0.3 is three steps of 0.1.
        let steps = (high / 2.0 - low / 2.0) / (step / 2.0);
        let resolved = low.abs().max(high.abs()) / (1u64 << 40) as f64;
        if step <= 0.0 || step < resolved || !steps.is_finite() {
            return None;
        }
        let slack = 1e-9;
        let last = (steps + slack).floor() as u64;
        let decimal = Decimal::new(low, high, step);
        Some(Self { low, high, step, last, decimal })
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    pub(crate) fn step(&self) -> f64 {
        self.step
    }

    /// The value after `k` steps.
    pub(crate) fn at(&self, k: u64) -> f64 {
        let value = match &self.decimal {
            Some(d) => (d.low + d.step * k as i64) as f64 / d.unit,
            None => self.low + self.step * k as f64,
        };
        value.clamp(self.low, self.high)
    }

    /// How many steps lead closest to `value`.
    pub(crate) fn nearest(&self, value: f64) -> u64 {
        let steps = (value / 2.0 - self.low / 2.0) / (self.step / 2.0);
        (steps.round().max(0.0) as u64).min(self.last)
    }

    /// The value of this lattice that `value` stands for; None when it lies between two.
    pub(crate) fn snap(&self, value: f64) -> Option<f64> {
        let near = self.at(self.nearest(value));
        let slack = self.step * 1e-9;
        ((near - value).abs() <= slack).then_some(near)
    }
}

impl Decimal {
    /// None where the digits of the three do not fit in a float's whole numbers.
    fn new(low: f64, high: f64, step: f64) -> Option<Self> {
        let parts = [digits(low)?, digits(high)?, digits(step)?];
        let places = parts.iter().map(|(_, exponent)| -exponent).max()?.max(0);
        // Powers of ten up to this one are exact floats.
        if places > 22 {
            return None;
        }
        let scaled = parts.map(|(digits, exponent)| {
            10i64
                .checked_pow(u32::try_from(exponent + places).ok()?)
                .and_then(|power| digits.checked_mul(power))
                .filter(|whole| (*whole as f64).abs() < EXACT)
        });
        let [Some(low), Some(_), Some(step)] = scaled else { return None };
        Some(Self { low, step, unit: 10f64.powi(places) })
    }
}

/// The shortest decimal of a float: its digits and the power of ten they are multiplied by.
fn digits(value: f64) -> Option<(i64, i32)> {
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e')?;
    let fraction = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let whole: i64 = digits.replace('.', "").parse().ok()?;
    Some((whole, exponent.parse::<i32>().ok()? - fraction as i32))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the very float is meant")]
mod tests {
    use super::*;

    #[test]
    fn decimals_stay_decimals() {
        let lattice = Lattice::new(0.0, 1.0, 0.1).unwrap();
        assert_eq!(lattice.last(), 10);
        for k in 0..=10 {
            assert_eq!(
                lattice.at(k),
                format!("0.{k}").parse::<f64>().unwrap().max(if k == 10 { 1.0 } else { 0.0 })
            );
            assert_eq!(lattice.nearest(lattice.at(k)), k);
        }
        assert_eq!(lattice.snap(0.1 + 0.2), Some(0.3));
        assert_eq!(lattice.snap(0.35), None);
    }

    #[test]
    fn the_upper_end_is_reached_only_where_a_step_falls_on_it() {
        assert_eq!(Lattice::new(0.0, 1.0, 0.3).unwrap().last(), 3);
        assert_eq!(Lattice::new(0.0, 0.3, 0.1).unwrap().last(), 3);
        assert_eq!(Lattice::new(0.0, 1.0, 2.0).unwrap().last(), 0);
        assert_eq!(Lattice::new(-1.5, 1.5, 0.5).unwrap().at(6), 1.5);
    }

    #[test]
    fn steps_that_cannot_be_counted_are_refused() {
        assert_eq!(Lattice::new(0.0, 1.0, 0.0), None);
        assert_eq!(Lattice::new(0.0, 1.0, -0.1), None);
        assert_eq!(Lattice::new(0.0, 1.0, 1e-300), None);
        assert_eq!(Lattice::new(-0.231, 0.548, 1.58e-16), None);
        let fine = Lattice::new(-0.231, 0.548, 0.548 / (1u64 << 39) as f64).unwrap();
        for k in [0, 1, 1 << 20, (1 << 38) + 12345, fine.last() - 1, fine.last()] {
            assert_eq!((fine.nearest(fine.at(k)), fine.snap(fine.at(k))), (k, Some(fine.at(k))));
        }
        let whole = Lattice::new(f64::MIN, f64::MAX, f64::MAX).unwrap();
        assert_eq!((whole.at(0), whole.at(2)), (f64::MIN, f64::MAX));
    }
}
