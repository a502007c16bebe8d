//! Points by number: how many a finite space has, and which is the n-th.

use crate::dimension::Dimension;

/// How the settings of dimensions, and of those that are conditional on them, are numbered; the last dimension turns
/// fastest.
#[derive(Debug)]
pub(crate) struct Counting {
    /// Per dimension, those that are conditional on it.
    children: Vec<Vec<usize>>,
    /// Per dimension, the values on which others depend, ascending.
    special: Vec<Vec<u64>>,
    /// Per dimension, how many settings it has together with those that depend on it; None without end.
    settings: Vec<Option<u64>>,
    roots: Vec<usize>,
    size: Option<u64>,
}

impl Counting {
    /// `last` answers how many values a dimension has, less one; None without end.
    pub(crate) fn new(dimensions: &[Dimension], last: impl Fn(&Dimension) -> Option<u64>) -> Self {
        let mut children = vec![Vec::new(); dimensions.len()];
        let mut special = vec![Vec::new(); dimensions.len()];
        let mut roots = Vec::new();
        for (i, dimension) in dimensions.iter().enumerate() {
            match &dimension.when {
                Some(when) => {
                    children[when.parent].push(i);
                    special[when.parent].extend(when.ordinals.iter().copied());
                }
                None => roots.push(i),
            }
        }
        for special in &mut special {
            special.sort_unstable();
            special.dedup();
        }
        let mut counting =
            Self { children, special, settings: vec![None; dimensions.len()], roots, size: Some(1) };
        // Those that depend come after those they depend on.
        for i in (0..dimensions.len()).rev() {
            counting.settings[i] = last(&dimensions[i]).and_then(|last| counting.count(dimensions, i, last));
        }
        counting.size =
            counting.roots.iter().try_fold(1, |size: u64, i| size.checked_mul(counting.settings[*i]?));
        counting
    }

    fn count(&self, dimensions: &[Dimension], i: usize, last: u64) -> Option<u64> {
        let plain = (u128::from(last) + 1).checked_sub(self.special[i].len() as u128)?;
        let sum = self.special[i].iter().try_fold(plain, |sum, k| {
            let settings = self
                .active(dimensions, i, *k)
                .try_fold(1, |product: u64, child| product.checked_mul(self.settings[child]?))?;
            Some(sum + u128::from(settings))
        })?;
        u64::try_from(sum).ok()
    }

    /// How many points there are; None without end.
    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    /// Shares the number of a point out over the dimensions that always exist.
    pub(crate) fn start(&self, number: u64, left: &mut [u64]) {
        self.spread(number, self.roots.iter().rev().copied(), left);
    }

    /// The value of dimension `i`, whose share is `left[i]`; shares the rest out over those that depend on it.
    pub(crate) fn value(&self, dimensions: &[Dimension], i: usize, left: &mut [u64]) -> u64 {
        if self.children[i].is_empty() {
            return left[i];
        }
        let (k, rest) = self.place(dimensions, i, left[i]);
        self.spread(rest, self.active(dimensions, i, k).rev(), left);
        k
    }

    /// The number of the point with the values `ordinal`, None where a dimension does not exist.
    pub(crate) fn number(&self, dimensions: &[Dimension], ordinal: impl Fn(usize) -> Option<u64>) -> u64 {
        let mut numbers = vec![0u64; dimensions.len()];
        for i in (0..dimensions.len()).rev() {
            if let Some(k) = ordinal(i) {
                let within = self.gather(&numbers, self.active(dimensions, i, k));
                numbers[i] = self.before(dimensions, i, k) + within;
            }
        }
        self.gather(&numbers, self.roots.iter().copied())
    }

    fn settings(&self, i: usize) -> u64 {
        self.settings[i].unwrap_or(1)
    }

    fn active<'a>(
        &'a self,
        dimensions: &'a [Dimension],
        i: usize,
        k: u64,
    ) -> impl DoubleEndedIterator<Item = usize> + 'a {
        let is_active = move |child: &usize| {
            dimensions[*child].when.as_ref().is_some_and(|when| when.ordinals.binary_search(&k).is_ok())
        };
        self.children[i].iter().copied().filter(is_active)
    }

    /// How many settings dimension `i` has, with those that depend on it, when its value is `k`.
    fn settings_at(&self, dimensions: &[Dimension], i: usize, k: u64) -> u64 {
        self.active(dimensions, i, k).map(|child| self.settings(child)).product()
    }

    /// How many it has for its values below `k`.
    fn before(&self, dimensions: &[Dimension], i: usize, k: u64) -> u64 {
        let special = self.special[i].iter().take_while(|one| **one < k);
        special.fold(k, |sum, one| sum - 1 + self.settings_at(dimensions, i, *one))
    }

    /// The value of dimension `i` in its setting `number`, and the number left for those that depend on it.
    fn place(&self, dimensions: &[Dimension], i: usize, number: u64) -> (u64, u64) {
        let (mut left, mut next) = (number, 0);
        for k in self.special[i].iter().copied() {
            if left < k - next {
                break;
            }
            left -= k - next;
            let here = self.settings_at(dimensions, i, k);
            if left < here {
                return (k, left);
            }
            left -= here;
            next = k + 1;
        }
        (next + left, 0)
    }

    fn spread(&self, mut number: u64, backwards: impl Iterator<Item = usize>, left: &mut [u64]) {
        for i in backwards {
            left[i] = number % self.settings(i);
            number /= self.settings(i);
        }
    }

    fn gather(&self, numbers: &[u64], forwards: impl Iterator<Item = usize>) -> u64 {
        forwards.fold(0, |sum, i| sum * self.settings(i) + numbers[i])
    }
}
