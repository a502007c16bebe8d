//! What is searched: named dimensions, some of them conditional on others.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::counting::Counting;
use crate::dimension::{Dimension, Domain, When};
use crate::error::SpaceError;
use crate::options::setters;
use crate::point::{Point, Slot};
use crate::scalar::Scalar;
use crate::text;

/// An immutable list of dimensions. Cloning is one reference count.
///
/// Its text, from `Display` and back by `FromStr`, loses nothing.
///
/// ```
/// use soma_study::{IntOptions, RealOptions, Space};
///
/// let space = Space::new()
///     .real("lr", 1e-4, 1e-1, RealOptions::default().with_log(true))?
///     .int("width", 8, 64, IntOptions::default())?
///     .choice("opt", ["adam", "sgd"])?
///     .real("momentum", 0.0, 0.99, RealOptions::default())?
///     .when("opt", ["sgd"])?;
/// let text = space.to_string();
/// assert_eq!(
///     text,
///     "Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd),momentum=real(0,0.99) when opt=sgd)"
/// );
/// assert_eq!(text.parse::<Space>()?, space);
/// # Ok::<(), soma_study::SpaceError>(())
/// ```
#[derive(Clone)]
pub struct Space {
    inner: Arc<Inner>,
}

struct Inner {
    dimensions: Vec<Dimension>,
    by_name: FxHashMap<Arc<str>, usize>,
    counting: Counting,
    is_uneven: bool,
}

/// How a real dimension is spread.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct RealOptions {
    /// Equal ratios, rather than equal differences, are equally likely. Default: false.
    pub log: bool,
    /// The distance between two values. Default: None, every number.
    pub step: Option<f64>,
}

setters!(RealOptions {
    with_log(log: bool) => log,
    with_step(step: f64) => Some(step),
});

/// How an int dimension is spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct IntOptions {
    /// Equal ratios, rather than equal differences, are equally likely. Default: false.
    pub log: bool,
    /// The distance between two values. Default: 1.
    pub step: i64,
}

impl Default for IntOptions {
    fn default() -> Self {
        Self { log: false, step: 1 }
    }
}

setters!(IntOptions {
    with_log(log: bool) => log,
    with_step(step: i64) => step,
});

impl Space {
    /// A space without dimensions: it has one point.
    pub fn new() -> Self {
        Self::from_dimensions(Vec::new())
    }

    /// This space and one more dimension of numbers, from `low` to `high`, both included.
    ///
    /// # Errors
    /// `RepeatedName`, `EmptyName`; `NotFinite`, `EmptyRange` and `LogRange` for the bounds; `BadStep`, `LogWithStep`.
    pub fn real(&self, name: &str, low: f64, high: f64, options: RealOptions) -> Result<Self, SpaceError> {
        self.with(name, Domain::Real { low, high, log: options.log, step: options.step })
    }

    /// This space and one more dimension of whole numbers, from `low` to `high`, both included.
    ///
    /// # Errors
    /// `RepeatedName`, `EmptyName`; `EmptyRange` and `LogRange` for the bounds; `BadStep`, `LogWithStep`.
    pub fn int(&self, name: &str, low: i64, high: i64, options: IntOptions) -> Result<Self, SpaceError> {
        self.with(name, Domain::Int { low, high, log: options.log, step: options.step })
    }

    /// This space and one more choice. Options keep their type and their order.
    ///
    /// # Errors
    /// `RepeatedName`, `EmptyName`; `EmptyChoice`, `RepeatedOption`; `NotFinite` for an option.
    pub fn choice<O: Into<Scalar>>(
        &self,
        name: &str,
        options: impl IntoIterator<Item = O>,
    ) -> Result<Self, SpaceError> {
        self.with(name, Domain::Choice { options: options.into_iter().map(Into::into).collect() })
    }

    /// This space and one more dimension.
    ///
    /// # Errors
    /// Those of [`Space::real`], [`Space::int`] and [`Space::choice`].
    pub fn with(&self, name: &str, domain: Domain) -> Result<Self, SpaceError> {
        if self.inner.by_name.contains_key(name) {
            return Err(SpaceError::RepeatedName { name: name.to_owned() });
        }
        let mut dimensions = self.inner.dimensions.clone();
        dimensions.push(Dimension::new(name, domain)?);
        Ok(Self::from_dimensions(dimensions))
    }

    /// The last dimension exists only in points where `parent` has one of `values`.
    ///
    /// # Errors
    /// `NothingToCondition` on an empty space; `UnknownParent` when it does not stand before the last dimension;
    /// `RealParent`; `ConditionNeverHolds` for a value that the parent does not have, or for none at all.
    pub fn when<V: Into<Scalar>>(
        &self,
        parent: &str,
        values: impl IntoIterator<Item = V>,
    ) -> Result<Self, SpaceError> {
        let mut dimensions = self.inner.dimensions.clone();
        condition(&mut dimensions, parent, values.into_iter().map(Into::into).collect())?;
        Ok(Self::from_dimensions(dimensions))
    }

    pub(crate) fn from_dimensions(dimensions: Vec<Dimension>) -> Self {
        let by_name = dimensions.iter().enumerate().map(|(i, one)| (Arc::clone(&one.name), i)).collect();
        let counting = Counting::new(&dimensions, Dimension::last);
        let is_uneven = dimensions.iter().any(|one| one.when.is_some() || one.is_uneven());
        Self { inner: Arc::new(Inner { dimensions, by_name, counting, is_uneven }) }
    }

    /// The dimensions, in the order they were declared.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.inner.dimensions
    }

    /// Where the dimension of that name stands.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.inner.by_name.get(name).copied()
    }

    /// How many points there are; None when there is no end of them, or more than 2^64 - 1.
    pub fn size(&self) -> Option<u64> {
        self.inner.counting.size()
    }

    /// Reads a point of this space from its text.
    ///
    /// # Errors
    /// `Text` when it does not read; the errors of [`Point::from_values`] when it reads and does not fit.
    pub fn parse_point(&self, text: &str) -> Result<Point, SpaceError> {
        Point::parse(self, text)
    }

    /// Says how the names and kinds of `other` differ from these; None when they do not. Bounds, steps, options and
    /// conditions may differ.
    pub fn difference(&self, other: &Self) -> Option<String> {
        for (mine, its) in self.dimensions().iter().zip(other.dimensions()) {
            if mine.name != its.name
                && self.index_of(&its.name).is_some()
                && other.index_of(&mine.name).is_some()
            {
                return Some(format!("`{}` stands where `{}` stood", its.name, mine.name));
            }
        }
        for mine in self.dimensions() {
            match other.index_of(&mine.name).map(|i| &other.dimensions()[i]) {
                None => return Some(format!("`{}` is missing", mine.name)),
                Some(its) if its.domain.kind() != mine.domain.kind() => {
                    let (was, is) = (mine.domain.kind(), its.domain.kind());
                    return Some(format!("`{}` was {was} and is {is}", mine.name));
                }
                Some(_) => {}
            }
        }
        let more = other.dimensions().iter().find(|its| self.index_of(&its.name).is_none())?;
        Some(format!("`{}` is new", more.name))
    }

    /// Whether points that can be counted are not equally likely.
    pub(crate) fn is_uneven(&self) -> bool {
        self.inner.is_uneven
    }

    /// Whether dimension `i` exists, given the values of those before it.
    pub(crate) fn is_active(&self, i: usize, slots: &[Slot]) -> bool {
        let Some(when) = &self.inner.dimensions[i].when else { return true };
        let parent = &self.inner.dimensions[when.parent];
        parent.ordinal(&slots[when.parent]).is_some_and(|k| when.ordinals.binary_search(&k).is_ok())
    }

    /// The text of a condition, for messages.
    pub(crate) fn condition(&self, when: &When) -> String {
        let mut text = String::new();
        let name = &self.inner.dimensions[when.parent].name;
        text::write_word(&mut text, name).expect("a String takes everything");
        text.push('=');
        text::write_scalars(&mut text, &when.values).expect("a String takes everything");
        text
    }

    /// Makes a point by asking `value` for every dimension that exists, in order.
    pub(crate) fn fill(&self, mut value: impl FnMut(usize, &Dimension) -> Slot) -> Point {
        let mut slots = Vec::with_capacity(self.inner.dimensions.len());
        for (i, dimension) in self.inner.dimensions.iter().enumerate() {
            let slot = if self.is_active(i, &slots) { value(i, dimension) } else { Slot::Absent };
            slots.push(slot);
        }
        Point::new(self.clone(), slots)
    }

    /// The point with that number, the last dimension turning fastest; only below [`Space::size`].
    pub(crate) fn point_at(&self, number: u64) -> Point {
        self.point_at_by(&self.inner.counting, number, Dimension::at)
    }

    /// The point with that number in another counting, in which `value` gives the k-th value of a dimension.
    pub(crate) fn point_at_by(
        &self,
        counting: &Counting,
        number: u64,
        value: impl Fn(&Dimension, u64) -> Slot,
    ) -> Point {
        let mut left = vec![0; self.dimensions().len()];
        counting.start(number, &mut left);
        self.fill(|i, dimension| value(dimension, counting.value(self.dimensions(), i, &mut left)))
    }

    /// The number of a point of this space: the inverse of [`Space::point_at`]; None where they cannot be counted.
    pub(crate) fn number_of(&self, slots: &[Slot]) -> Option<u64> {
        self.size()?;
        let dimensions = self.dimensions();
        Some(self.inner.counting.number(dimensions, |i| dimensions[i].ordinal(&slots[i])))
    }
}

/// Makes the last dimension exist only where `parent` has one of `values`.
pub(crate) fn condition(
    dimensions: &mut [Dimension],
    parent: &str,
    values: Vec<Scalar>,
) -> Result<(), SpaceError> {
    let Some((last, before)) = dimensions.split_last_mut() else {
        return Err(SpaceError::NothingToCondition);
    };
    let name = last.name.to_string();
    let Some(index) = before.iter().position(|one| &*one.name == parent) else {
        let close = crate::close::close(parent, before.iter().map(|one| &*one.name));
        return Err(SpaceError::UnknownParent { name, parent: parent.to_owned(), close });
    };
    let parent = &before[index];
    if parent.domain.kind() == "real" {
        return Err(SpaceError::RealParent { name, parent: parent.name.to_string() });
    }
    let never = |given: String| SpaceError::ConditionNeverHolds {
        name: name.clone(),
        parent: parent.name.to_string(),
        given,
        expected: parent.expected(),
    };
    let mut held = Vec::new();
    for value in values {
        let slot = parent.check(value.clone()).map_err(|_| never(value.to_string()))?;
        let ordinal = parent.ordinal(&slot).ok_or_else(|| never(value.to_string()))?;
        held.push((ordinal, value));
    }
    held.sort_by_key(|(ordinal, _)| *ordinal);
    held.dedup_by_key(|(ordinal, _)| *ordinal);
    if held.is_empty() {
        return Err(never("nothing".to_owned()));
    }
    let ordinals = held.iter().map(|(ordinal, _)| *ordinal).collect();
    last.when =
        Some(When { parent: index, values: held.into_iter().map(|(_, value)| value).collect(), ordinals });
    Ok(())
}

/// Says whether spaces are the same as one, comparing each only once in a row of them.
pub(crate) struct Alike<'a> {
    space: &'a Space,
    last: Option<(*const Inner, bool)>,
}

impl<'a> Alike<'a> {
    pub(crate) fn new(space: &'a Space) -> Self {
        Self { space, last: None }
    }

    pub(crate) fn holds(&mut self, other: &Space) -> bool {
        let place = Arc::as_ptr(&other.inner);
        match self.last {
            Some((last, is_alike)) if last == place => is_alike,
            _ => {
                let is_alike = self.space == other;
                self.last = Some((place, is_alike));
                is_alike
            }
        }
    }
}

impl Default for Space {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Space {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner) || self.inner.dimensions == other.inner.dimensions
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write_space(f, self)
    }
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Space {
    type Err = SpaceError;

    fn from_str(text: &str) -> Result<Self, SpaceError> {
        text::read_space(text)
    }
}
