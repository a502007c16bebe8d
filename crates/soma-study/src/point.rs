//! One choice of a value for every dimension that exists.

use std::fmt;
use std::sync::Arc;

use crate::dimension::{Dimension, Domain};
use crate::error::SpaceError;
use crate::scalar::Scalar;
use crate::space::Space;
use crate::text::{self, Reader};

/// A point of a space: reads like a mapping, in the order of the space; conditional dimensions that do not exist in
/// it are left out.
///
/// ```
/// use soma_study::{IntOptions, Scalar, Space};
///
/// let space = Space::new().int("width", 8, 64, IntOptions::default())?.choice("opt", ["adam", "sgd"])?;
/// let point = space.parse_point("width=44,opt=sgd")?;
/// assert_eq!(point.get("width"), Some(&Scalar::Int(44)));
/// assert_eq!(point.to_string(), "width=44,opt=sgd");
/// # Ok::<(), soma_study::SpaceError>(())
/// ```
#[derive(Clone)]
pub struct Point {
    space: Space,
    slots: Arc<[Slot]>,
    // No part of what it is: two samplers may give one point.
    origin: Option<Arc<Origin>>,
}

/// Where a point came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The text of the sampler that was asked.
    pub(crate) sampler: Arc<str>,
    /// For which trial.
    pub(crate) trial: u64,
}

/// What a point holds for one dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Slot {
    /// The dimension does not exist in this point.
    Absent,
    /// A number.
    Own(Scalar),
    /// An option, by its place.
    Option(u32),
}

impl Point {
    pub(crate) fn new(space: Space, slots: Vec<Slot>) -> Self {
        Self { space, slots: slots.into(), origin: None }
    }

    pub(crate) fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = Some(Arc::new(origin));
        self
    }

    pub(crate) fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// The point with these values, in any order.
    ///
    /// A whole number is taken for a real; nothing else changes its type.
    ///
    /// # Errors
    /// `UnknownDimension`, `RepeatedValue`, `MissingDimension`, `NotActive`; and for a value `OutOfRange`, `OffStep`,
    /// `UnknownOption` or `WrongKind`.
    pub fn from_values<N: AsRef<str>, V: Into<Scalar>>(
        space: &Space,
        values: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, SpaceError> {
        let mut slots = vec![Slot::Absent; space.dimensions().len()];
        for (name, value) in values {
            let (i, dimension) = find(space, name.as_ref())?;
            place(&mut slots, i, dimension, dimension.check(value.into())?)?;
        }
        Self::complete(space, slots)
    }

    /// The space that this is a point of.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The value of a dimension; None when the space has no such dimension or it does not exist in this point.
    pub fn get(&self, name: &str) -> Option<&Scalar> {
        self.value(self.space.index_of(name)?)
    }

    /// The value of the dimension at `index`; None when it does not exist in this point.
    pub fn value(&self, index: usize) -> Option<&Scalar> {
        match (self.slots.get(index)?, &self.space.dimensions()[index].domain) {
            (Slot::Own(value), _) => Some(value),
            (Slot::Option(k), Domain::Choice { options }) => options.get(*k as usize),
            _ => None,
        }
    }

    /// Where the value of the dimension at `index` lies in its option list; None for a number or an absent one.
    pub fn option(&self, index: usize) -> Option<usize> {
        match self.slots.get(index)? {
            Slot::Option(k) => Some(*k as usize),
            Slot::Absent | Slot::Own(_) => None,
        }
    }

    /// Names and values, in the order of the space.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Scalar)> {
        self.space
            .dimensions()
            .iter()
            .enumerate()
            .filter_map(|(i, dimension)| Some((&*dimension.name, self.value(i)?)))
    }

    /// How many dimensions exist in this point.
    pub fn len(&self) -> usize {
        self.slots.iter().filter(|slot| **slot != Slot::Absent).count()
    }

    /// Whether no dimension exists in this point.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How likely the point is when every dimension that exists is drawn on its own; 1 for a number without end.
    pub(crate) fn likelihood(&self) -> f64 {
        let dimensions = self.space.dimensions().iter();
        dimensions.zip(self.slots.iter()).map(|(dimension, slot)| dimension.likelihood(slot)).product()
    }

    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub(crate) fn parse(space: &Space, text: &str) -> Result<Self, SpaceError> {
        let mut reader = Reader::new("the point", text);
        let mut slots = vec![Slot::Absent; space.dimensions().len()];
        let mut next = 0;
        if !reader.is_done() {
            loop {
                let name = reader.word("the name of a dimension")?;
                // Written in the order of the space, so the next one is nearly always the one after the last.
                let (i, dimension) = match space.dimensions().get(next) {
                    Some(dimension) if *dimension.name == *name => (next, dimension),
                    _ => find(space, &name)?,
                };
                next = i + 1;
                reader.expect("=")?;
                let slot = read_value(&mut reader, dimension)?;
                place(&mut slots, i, dimension, slot)?;
                if reader.is_done() {
                    break;
                }
                if !reader.eat(",") {
                    return Err(reader.error(reader.at(), "`,` or the end".to_owned()));
                }
            }
        }
        Self::complete(space, slots)
    }

    /// Every dimension that exists has a value, and no other.
    fn complete(space: &Space, slots: Vec<Slot>) -> Result<Self, SpaceError> {
        for (i, dimension) in space.dimensions().iter().enumerate() {
            let is_there = slots[i] != Slot::Absent;
            let is_active = space.is_active(i, &slots);
            if is_active && !is_there {
                return Err(SpaceError::MissingDimension { name: dimension.name.to_string() });
            }
            if let Some(when) = &dimension.when
                && is_there
                && !is_active
            {
                let condition = space.condition(when);
                return Err(SpaceError::NotActive { name: dimension.name.to_string(), condition });
            }
        }
        Ok(Self::new(space.clone(), slots))
    }
}

fn find<'a>(space: &'a Space, name: &str) -> Result<(usize, &'a Dimension), SpaceError> {
    let names = || space.dimensions().iter().map(|one| &*one.name);
    let i = space.index_of(name).ok_or_else(|| SpaceError::UnknownDimension {
        given: name.to_owned(),
        expected: if names().next().is_none() {
            "no name, as the space is empty".to_owned()
        } else {
            names().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", ")
        },
        close: crate::close::close(name, names()),
    })?;
    Ok((i, &space.dimensions()[i]))
}

fn place(slots: &mut [Slot], i: usize, dimension: &Dimension, slot: Slot) -> Result<(), SpaceError> {
    if slots[i] != Slot::Absent {
        return Err(SpaceError::RepeatedValue { name: dimension.name.to_string() });
    }
    slots[i] = slot;
    Ok(())
}

fn read_value(reader: &mut Reader<'_>, dimension: &Dimension) -> Result<Slot, SpaceError> {
    match &dimension.domain {
        Domain::Real { low, high, .. } => dimension.check_real(reader.real()?, *low, *high),
        Domain::Int { low, high, step, .. } => dimension.check_int(reader.int()?, *low, *high, *step),
        Domain::Choice { .. } => dimension.check(reader.scalar()?),
    }
}

impl PartialEq for Point {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Point {}

/// The text form: `lr=0.002771855228616633,width=44,opt=sgd`.
impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        for (i, dimension) in self.space.dimensions().iter().enumerate() {
            let Some(value) = self.value(i) else { continue };
            if !is_first {
                f.write_str(",")?;
            }
            is_first = false;
            text::write_word(f, &dimension.name)?;
            f.write_str("=")?;
            match (value, &dimension.domain) {
                (Scalar::Float(value), Domain::Real { .. }) => text::write_real(f, *value)?,
                (value, _) => text::write_scalar(f, value)?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
