//! A trial as the verbs show it: its state in colour, its point on a line, or all of it as a JSON object.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, SerializeStruct, Serializer};
use soma_study::{Point, Scalar, State, Trial};

use crate::escape;
use crate::number::Number;
use crate::output::Tone;

/// The colour of a state.
pub fn tone(state: State) -> Tone {
    match state {
        State::Running => Tone::Live,
        State::Done => Tone::Good,
        State::Pruned => Tone::Warning,
        State::Failed => Tone::Bad,
    }
}

/// Which trial, and which attempt at it where it is not the first: `22`, `22, attempt 1`.
pub fn which(trial: &Trial) -> String {
    match trial.attempt {
        0 => trial.trial.to_string(),
        attempt => format!("{}, attempt {attempt}", trial.trial),
    }
}

/// A point as text, on one line.
pub fn point_text(point: &Point) -> String {
    escape::text(&point.to_string()).into_owned()
}

/// A trial as a JSON object.
pub struct Row<'a>(pub &'a Trial);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let trial = self.0;
        let mut row = serializer.serialize_struct("Row", 12)?;
        row.serialize_field("trial", &trial.trial)?;
        row.serialize_field("attempt", &trial.attempt)?;
        row.serialize_field("state", trial.state.as_str())?;
        row.serialize_field("point", &trial.point.as_ref().map(Values))?;
        row.serialize_field("score", &trial.score.map(Number))?;
        row.serialize_field("who", &*trial.who)?;
        row.serialize_field("goal", &trial.goal.map(soma_study::Goal::as_str))?;
        row.serialize_field("because", &trial.because.as_deref())?;
        row.serialize_field("took_secs", &trial.took_secs.map(Number))?;
        row.serialize_field("reports", &trial.reports)?;
        row.serialize_field("space_version", &trial.space_version)?;
        row.serialize_field("is_discarded", &trial.is_discarded)?;
        row.end()
    }
}

/// Trials as a JSON array, written as it is walked.
pub struct Rows<'a>(pub &'a [&'a Trial]);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.0.len()))?;
        for trial in self.0 {
            rows.serialize_element(&Row(trial))?;
        }
        rows.end()
    }
}

/// A point as a JSON object, in the order of the space.
pub struct Values<'a>(pub &'a Point);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0.iter() {
            values.serialize_entry(name, &Value(value))?;
        }
        values.end()
    }
}

/// A value of a point with its type kept.
pub struct Value<'a>(pub &'a Scalar);

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Scalar::Null => serializer.serialize_unit(),
            Scalar::Bool(value) => serializer.serialize_bool(*value),
            Scalar::Int(value) => serializer.serialize_i64(*value),
            Scalar::Float(value) => Number(*value).serialize(serializer),
            Scalar::Text(value) => serializer.serialize_str(value),
        }
    }
}
