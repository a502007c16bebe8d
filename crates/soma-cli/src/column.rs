//! The columns that a trial has in a table or a csv file.

use std::borrow::Cow;
use std::cmp::Ordering;

use soma_study::{Scalar, Space, State, Trial};

use crate::escape;
use crate::failure::Failure;
use crate::number;
use crate::output::Tone;
use crate::row::{point_text, tone};
use crate::table::Cells;

/// What stands before a dimension's name where a column has that name already.
const PREFIX: &str = "point.";

/// What can be known of a trial, in the order it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    Trial,
    Attempt,
    State,
    Score,
    Point,
    /// A dimension of the space, by its place.
    Dimension(usize),
    Reports,
    TookSecs,
    Who,
    Goal,
    SpaceVersion,
    IsDiscarded,
    Because,
}

/// The columns that every study has, with their names.
const NAMED: [(&str, Column); 12] = [
    ("trial", Column::Trial),
    ("attempt", Column::Attempt),
    ("state", Column::State),
    ("score", Column::Score),
    ("point", Column::Point),
    ("reports", Column::Reports),
    ("took_secs", Column::TookSecs),
    ("who", Column::Who),
    ("goal", Column::Goal),
    ("space_version", Column::SpaceVersion),
    ("is_discarded", Column::IsDiscarded),
    ("because", Column::Because),
];

/// The columns of a table that was not told which: the point as a column per dimension.
pub fn usual(space: &Space) -> Vec<Column> {
    let dimensions = (0..space.dimensions().len()).map(Column::Dimension);
    [Column::Trial, Column::Attempt, Column::State, Column::Score]
        .into_iter()
        .chain(dimensions)
        .chain([Column::Reports, Column::TookSecs, Column::Who, Column::Because])
        .collect()
}

impl Column {
    /// The column called `name`; a dimension may be called `point.NAME`, and must where a column has its name.
    pub fn named(name: &str, space: &Space) -> Result<Self, Failure> {
        let known = NAMED.iter().find(|(known, _)| *known == name).map(|(_, column)| *column);
        let dimension = || {
            let name =
                name.strip_prefix(PREFIX).filter(|rest| space.index_of(rest).is_some()).unwrap_or(name);
            space.index_of(name).map(Self::Dimension)
        };
        known.or_else(dimension).ok_or_else(|| {
            let names: Vec<Cow<'_, str>> = NAMED
                .iter()
                .map(|(name, _)| Cow::Borrowed(*name))
                .chain(space.dimensions().iter().map(|dimension| escape::name(&dimension.name)))
                .collect();
            Failure::hinted(
                format!("there is no column `{}`", escape::name(name)),
                format!("the columns are {}", names.join(", ")),
            )
        })
    }

    /// What it is called, as [`Column::named`] takes it.
    pub fn name(self, space: &Space) -> String {
        let known = NAMED.iter().find(|(_, column)| *column == self);
        match (self, known) {
            (Self::Dimension(at), _) => {
                let name = &space.dimensions()[at].name;
                let is_taken = NAMED.iter().any(|(known, _)| **known == **name);
                format!("{}{name}", if is_taken { PREFIX } else { "" })
            }
            (_, Some((name, _))) => (*name).to_owned(),
            (_, None) => String::new(),
        }
    }

    /// What stands over it.
    pub fn title(self, space: &Space) -> String {
        match self {
            Self::Dimension(_) => escape::name(&self.name(space)).into_owned(),
            Self::TookSecs => "TOOK".to_owned(),
            Self::SpaceVersion => "SPACE".to_owned(),
            Self::IsDiscarded => "DISCARDED".to_owned(),
            _ => self.name(space).to_uppercase(),
        }
    }

    /// How soon it is left out where there is no room for all: 0 stays, of the others the highest goes first.
    pub fn rank(self) -> usize {
        match self {
            Self::Trial | Self::State | Self::Score => 0,
            Self::Dimension(_) | Self::Point => 1,
            Self::Because => 2,
            Self::Attempt => 3,
            _ => 4,
        }
    }

    /// Numbers or words.
    pub fn cells(self, space: &Space) -> Cells {
        use soma_study::Domain;
        match self {
            Self::Trial
            | Self::Attempt
            | Self::Score
            | Self::Reports
            | Self::TookSecs
            | Self::SpaceVersion => Cells::Numbers,
            Self::Dimension(at) => match space.dimensions()[at].domain {
                Domain::Choice { .. } => Cells::Words,
                _ => Cells::Numbers,
            },
            _ => Cells::Words,
        }
    }

    /// What `trial` has there, as it is shown; empty for nothing.
    pub fn cell(self, trial: &Trial) -> (Tone, Cow<'_, str>) {
        let empty = Cow::Borrowed("");
        match self {
            Self::Trial => (Tone::Plain, trial.trial.to_string().into()),
            Self::Attempt => (Tone::Quiet, trial.attempt.to_string().into()),
            Self::State => (tone(trial.state), trial.state.as_str().into()),
            Self::Score => {
                let tone = if trial.state == State::Done { Tone::Strong } else { Tone::Quiet };
                (tone, trial.score.map_or(empty, |score| number::short(score).into()))
            }
            Self::Point => {
                (Tone::Plain, trial.point.as_ref().map_or(empty, |point| point_text(point).into()))
            }
            Self::Dimension(at) => {
                (Tone::Plain, value(trial, at).map_or(empty, |value| scalar_short(value).into()))
            }
            Self::Reports => (Tone::Quiet, trial.reports.to_string().into()),
            Self::TookSecs => {
                (Tone::Quiet, trial.took_secs.map_or(empty, |secs| number::duration(secs).into()))
            }
            Self::Who => (Tone::Quiet, escape::name(&trial.who)),
            Self::Goal => (Tone::Plain, trial.goal.map_or("", soma_study::Goal::as_str).into()),
            Self::SpaceVersion => (Tone::Quiet, trial.space_version.to_string().into()),
            Self::IsDiscarded => (Tone::Plain, trial.is_discarded.to_string().into()),
            Self::Because => {
                let because = trial.because.as_deref().unwrap_or_default();
                let shown = match (trial.is_discarded, because) {
                    (false, because) => escape::text(because),
                    (true, "") => "discarded".into(),
                    (true, because) => format!("discarded; {}", escape::text(because)).into(),
                };
                (Tone::Quiet, shown)
            }
        }
    }

    /// How two trials are ordered by it; a trial that has nothing there, or NaN, comes last whatever the direction.
    pub fn compare(self, one: &Trial, other: &Trial, reverse: bool) -> Ordering {
        match (self.key(one), self.key(other)) {
            (Key::Nothing, Key::Nothing) => Ordering::Equal,
            (Key::Nothing, _) => Ordering::Greater,
            (_, Key::Nothing) => Ordering::Less,
            (one, other) if reverse => other.compare(&one),
            (one, other) => one.compare(&other),
        }
    }

    fn key(self, trial: &Trial) -> Key<'_> {
        match self {
            Self::Trial => Key::Whole(trial.trial.into()),
            Self::Attempt => Key::Whole(trial.attempt.into()),
            Self::State => Key::Whole(
                State::ALL.iter().position(|state| *state == trial.state).unwrap_or_default() as i128,
            ),
            Self::Score => trial.score.map_or(Key::Nothing, Key::number),
            Self::Point => {
                trial.point.as_ref().map_or(Key::Nothing, |point| Key::Words(point.to_string().into()))
            }
            Self::Dimension(at) => match value(trial, at) {
                None | Some(Scalar::Null) => Key::Nothing,
                Some(Scalar::Bool(value)) => Key::Whole((*value).into()),
                Some(Scalar::Int(value)) => Key::Whole((*value).into()),
                Some(Scalar::Float(value)) => Key::number(*value),
                Some(Scalar::Text(value)) => Key::Words(value.into()),
            },
            Self::Reports => Key::Whole(trial.reports as i128),
            Self::TookSecs => trial.took_secs.map_or(Key::Nothing, Key::number),
            Self::Who => Key::Words((&*trial.who).into()),
            Self::Goal => trial.goal.map_or(Key::Nothing, |goal| Key::Words(goal.as_str().into())),
            Self::SpaceVersion => Key::Whole(trial.space_version.into()),
            Self::IsDiscarded => Key::Whole(trial.is_discarded.into()),
            Self::Because => {
                trial.because.as_deref().map_or(Key::Nothing, |because| Key::Words(because.into()))
            }
        }
    }
}

/// What rows are ordered by.
enum Key<'a> {
    Nothing,
    Whole(i128),
    Number(f64),
    Words(Cow<'a, str>),
}

impl Key<'_> {
    fn number(value: f64) -> Self {
        if value.is_nan() { Self::Nothing } else { Self::Number(value) }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => one.cmp(other),
            (Self::Words(one), Self::Words(other)) => one.cmp(other),
            (Self::Words(_), _) => Ordering::Greater,
            (_, Self::Words(_)) => Ordering::Less,
            (one, other) => one.float().total_cmp(&other.float()),
        }
    }

    fn float(&self) -> f64 {
        match self {
            Self::Whole(value) => *value as f64,
            Self::Number(value) => *value,
            Self::Nothing | Self::Words(_) => f64::NAN,
        }
    }
}

/// A value in six digits.
fn scalar_short(value: &Scalar) -> String {
    match value {
        Scalar::Float(value) => number::short(*value),
        value => escape::text(&value.to_string()).into_owned(),
    }
}

/// What a trial has for the dimension at this place.
pub fn value(trial: &Trial, at: usize) -> Option<&Scalar> {
    trial.point.as_ref()?.value(at)
}
