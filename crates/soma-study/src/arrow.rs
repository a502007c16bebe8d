//! Histories, curves and trials as Arrow record batches: what a data frame is made of.
//!
//! A point is one struct column with a field per dimension: numbers are numbers, options that are all of one type keep
//! it, and options of several types are text. What does not exist in a point, or is not known, is null.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, StructArray,
    UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Fields, Schema};

use crate::history::{Curves, History, Trials};
use crate::point::Point;
use crate::scalar::Scalar;

/// Names a column and says whether it may hold nulls.
fn column(name: &str, values: impl Array + 'static, is_nullable: bool) -> (Field, ArrayRef) {
    (Field::new(name, values.data_type().clone(), is_nullable), Arc::new(values))
}

fn batch(columns: Vec<(Field, ArrayRef)>) -> RecordBatch {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .expect("columns of one length, with their own types")
}

impl History {
    /// One row per trial: `trial` (u64), `point` (struct), `score` (f64, null while it runs).
    pub fn to_arrow(&self) -> RecordBatch {
        let points: Vec<Option<&Point>> = self.iter().map(|row| Some(&row.point)).collect();
        batch(vec![
            column("trial", self.iter().map(|row| row.trial).collect::<UInt64Array>(), false),
            column("point", struct_of(&points), true),
            column("score", self.iter().map(|row| row.score).collect::<Float64Array>(), true),
        ])
    }
}

impl Curves {
    /// One row per trial: `trial` (u64), `values` (list of f64).
    pub fn to_arrow(&self) -> RecordBatch {
        let mut values = ListBuilder::new(Float64Builder::new());
        for row in self {
            values.values().append_slice(&row.values);
            values.append(true);
        }
        batch(vec![
            column("trial", self.iter().map(|row| row.trial).collect::<UInt64Array>(), false),
            column("values", values.finish(), false),
        ])
    }
}

impl Trials {
    /// One row per attempt: `trial` (u64), `attempt` (u32), `state` (text), `point` (struct), `score` (f64), `who`,
    /// `goal`, `because` (text), `took_secs` (f64), `reports` (u64), `space_version` (u32), `is_discarded` (bool).
    pub fn to_arrow(&self) -> RecordBatch {
        let points: Vec<Option<&Point>> = self.iter().map(|row| row.point.as_ref()).collect();
        let state = self.iter().map(|row| Some(row.state.as_str()));
        let who = self.iter().map(|row| Some(&*row.who).filter(|who| !who.is_empty()));
        let goal = self.iter().map(|row| row.goal.map(crate::Goal::as_str));
        batch(vec![
            column("trial", self.iter().map(|row| row.trial).collect::<UInt64Array>(), false),
            column("attempt", self.iter().map(|row| row.attempt).collect::<UInt32Array>(), false),
            column("state", state.collect::<StringArray>(), false),
            column("point", struct_of(&points), true),
            column("score", self.iter().map(|row| row.score).collect::<Float64Array>(), true),
            column("who", who.collect::<StringArray>(), true),
            column("goal", goal.collect::<StringArray>(), true),
            column("because", self.iter().map(|row| row.because.as_deref()).collect::<StringArray>(), true),
            column("took_secs", self.iter().map(|row| row.took_secs).collect::<Float64Array>(), true),
            column("reports", self.iter().map(|row| row.reports as u64).collect::<UInt64Array>(), false),
            column("space_version", self.iter().map(|row| row.space_version).collect::<UInt32Array>(), false),
            column(
                "is_discarded",
                self.iter().map(|row| Some(row.is_discarded)).collect::<BooleanArray>(),
                false,
            ),
        ])
    }
}

/// The dimensions of all points, in the order in which they are first met: versions of a study's space share them.
fn names<'a>(points: &[Option<&'a Point>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    let mut last = None;
    for point in points.iter().flatten() {
        // Neighbours mostly share one space.
        let dimensions = point.space().dimensions();
        if last.replace(dimensions.as_ptr()) == Some(dimensions.as_ptr()) {
            continue;
        }
        for dimension in dimensions {
            if !names.contains(&&*dimension.name) {
                names.push(&dimension.name);
            }
        }
    }
    names
}

fn struct_of(points: &[Option<&Point>]) -> StructArray {
    let columns = names(points).into_iter().map(|name| {
        let values: Vec<Option<&Scalar>> =
            points.iter().map(|point| point.and_then(|point| point.get(name))).collect();
        let array = array_of(&values);
        (Field::new(name, array.data_type().clone(), true), array)
    });
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.unzip();
    let nulls = points.iter().map(Option::is_some).collect();
    StructArray::try_new_with_length(Fields::from(fields), arrays, Some(nulls), points.len())
        .expect("columns of one length, with their own types")
}

/// The narrowest type that holds all values.
fn type_of(values: &[Option<&Scalar>]) -> DataType {
    let mut found: Option<DataType> = None;
    for value in values.iter().flatten() {
        let one = match value {
            Scalar::Null => continue,
            Scalar::Bool(_) => DataType::Boolean,
            Scalar::Int(_) => DataType::Int64,
            Scalar::Float(_) => DataType::Float64,
            Scalar::Text(_) => return DataType::Utf8,
        };
        found = Some(match found {
            None => one,
            Some(known) if known == one => one,
            Some(_) => return DataType::Utf8,
        });
    }
    found.unwrap_or(DataType::Utf8)
}

fn array_of(values: &[Option<&Scalar>]) -> ArrayRef {
    match type_of(values) {
        DataType::Boolean => Arc::new(
            values
                .iter()
                .map(|value| match value {
                    Some(Scalar::Bool(value)) => Some(*value),
                    _ => None,
                })
                .collect::<BooleanArray>(),
        ),
        DataType::Int64 => Arc::new(
            values
                .iter()
                .map(|value| match value {
                    Some(Scalar::Int(value)) => Some(*value),
                    _ => None,
                })
                .collect::<Int64Array>(),
        ),
        DataType::Float64 => Arc::new(
            values
                .iter()
                .map(|value| match value {
                    Some(Scalar::Float(value)) => Some(*value),
                    _ => None,
                })
                .collect::<Float64Array>(),
        ),
        _ => Arc::new(
            values
                .iter()
                .map(|value| match value {
                    None | Some(Scalar::Null) => None,
                    Some(Scalar::Text(text)) => Some(text.clone()),
                    Some(other) => Some(other.to_string()),
                })
                .collect::<StringArray>(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type, UInt64Type};

    use super::*;
    use crate::{Curve, IntOptions, Observation, RealOptions, Space};

    #[test]
    fn values_keep_their_type_and_what_is_absent_is_null() {
        let space = Space::new()
            .real("lr", 0.0, 1.0, RealOptions::default())
            .and_then(|space| space.int("width", 1, 9, IntOptions::default()))
            .and_then(|space| space.choice("batch", [32_i64, 64]))
            .and_then(|space| space.choice("mixed", [Scalar::Int(1), Scalar::Text("a".into()), Scalar::Null]))
            .and_then(|space| space.choice("momentum", [0.5, 0.9]))
            .and_then(|space| space.when("batch", [64_i64]))
            .unwrap();
        let points = ["lr=0.5,width=3,batch=32,mixed=1", "lr=0.25,width=4,batch=64,mixed=a,momentum=0.9"];
        let rows = points.iter().zip(0..).map(|(text, trial)| Observation {
            trial,
            point: space.parse_point(text).unwrap(),
            score: (trial == 0).then_some(0.5),
        });
        let batch = rows.collect::<History>().to_arrow();
        assert_eq!(batch.column(0).as_primitive::<UInt64Type>().values()[..], [0, 1]);
        assert!(batch.column(2).is_null(1));
        let point = batch.column(1).as_struct();
        assert_eq!(point.column_names(), ["lr", "width", "batch", "mixed", "momentum"]);
        assert_eq!(point.column(0).as_primitive::<Float64Type>().values()[..], [0.5, 0.25]);
        assert_eq!(point.column(2).as_primitive::<Int64Type>().values()[..], [32, 64]);
        assert_eq!(point.column(3).as_string::<i32>().iter().collect::<Vec<_>>(), [Some("1"), Some("a")]);
        assert!(point.column(4).is_null(0));
    }

    #[test]
    fn curves_of_any_length_and_no_rows_at_all_have_their_columns() {
        let curves: Curves = [(0, vec![]), (4, vec![1.0, f64::NAN])]
            .map(|(trial, values)| Curve { trial, values: values.into() })
            .into_iter()
            .collect();
        let batch = curves.to_arrow();
        let lists = batch.column(1).as_list::<i32>();
        assert_eq!((lists.value_length(0), lists.value_length(1)), (0, 2));
        for empty in [History::new().to_arrow(), Curves::new().to_arrow(), Trials::new().to_arrow()] {
            assert_eq!(empty.num_rows(), 0);
        }
        assert_eq!(Trials::new().to_arrow().num_columns(), 12);
    }
}
