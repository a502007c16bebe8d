//! The values of one curve, kept once.

use std::ops::Deref;
use std::sync::Arc;

/// Room for the first values of a curve.
const FIRST_VALUES: usize = 8;
/// Most values that may be missing before a record's first: one that says it goes on from further is not believed, or a
/// short line could ask for all memory.
const MAX_MISSING: usize = 1 << 20;

/// The reports of an attempt: a list that grows while it runs, and one that the curves handed out share when it has
/// ended.
#[derive(Debug)]
pub(crate) enum Values {
    Growing(Vec<f64>),
    Shared(Arc<[f64]>),
}

impl Values {
    pub(crate) const fn new() -> Self {
        Self::Growing(Vec::new())
    }

    /// Adds the values from index `from`: where a record in between is lost, or not read yet, there is NaN. What is
    /// known already stays. False, and nothing is added, where more would be missing than records can have said.
    pub(crate) fn extend(&mut self, from: usize, said: &[f64]) -> bool {
        if from.saturating_sub(self.len()) > MAX_MISSING {
            return false;
        }
        let values = self.growing();
        if from > values.len() {
            values.resize(from, f64::NAN);
        }
        for (value, at) in said.iter().zip(from..) {
            match values.get_mut(at) {
                Some(known) if known.is_nan() => *known = *value,
                Some(_) => {}
                None => values.push(*value),
            }
        }
        true
    }

    /// Fills in what is missing; answers whether anything was.
    pub(crate) fn mend(&mut self, from: usize, said: &[f64]) -> bool {
        let is_gap = |(known, value): (&f64, &f64)| known.is_nan() && !value.is_nan();
        if !self.iter().skip(from).zip(said).any(is_gap) {
            return false;
        }
        let gaps = self.growing().iter_mut().skip(from).zip(said).filter(|(known, _)| known.is_nan());
        gaps.for_each(|(known, value)| *known = *value);
        true
    }

    /// The values as they are now, for whoever is given them.
    pub(crate) fn share(&mut self) -> Arc<[f64]> {
        let shared: Arc<[f64]> = match self {
            Self::Growing(values) => values.as_slice().into(),
            Self::Shared(values) => return Arc::clone(values),
        };
        *self = Self::Shared(Arc::clone(&shared));
        shared
    }

    fn growing(&mut self) -> &mut Vec<f64> {
        match self {
            Self::Growing(values) if values.capacity() == 0 => values.reserve_exact(FIRST_VALUES),
            Self::Growing(_) => {}
            Self::Shared(values) => *self = Self::Growing(values.to_vec()),
        }
        let Self::Growing(values) = self else { unreachable!("it grows since the line above") };
        values
    }
}

impl Deref for Values {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Self::Growing(values) => values,
            Self::Shared(values) => values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_in_any_order_give_one_curve_and_what_was_shared_stays() {
        let mut values = Values::new();
        values.extend(2, &[3.0]);
        assert!(values[0].is_nan() && values[1].is_nan());
        assert_eq!(values[2..], [3.0]);
        let before = values.share();
        assert!(Arc::ptr_eq(&before, &values.share()));
        assert!(values.mend(0, &[1.0, 2.0, 9.0]));
        assert!(!values.mend(0, &[7.0, f64::NAN, 9.0, 9.0]));
        values.extend(1, &[8.0, 8.0, 4.0]);
        assert_eq!(values[..], [1.0, 2.0, 3.0, 4.0]);
        assert!(before[0].is_nan() && before.len() == 3);
    }
}
