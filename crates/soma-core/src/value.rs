//! What crosses an edge.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// One value on its way from a node to the next. Cheap to clone: everything of size is shared.
#[derive(Clone, Default)]
pub enum Value {
    /// Nothing; also the input of a run that was given none.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(Arc<str>),
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// Values in order.
    List(Arc<[Value]>),
    /// Values by name, in the order they were put in.
    Map(Map),
    /// Anything else, crossing by reference: the engine carries it and never looks inside.
    Opaque(Arc<dyn Any + Send + Sync>),
}

impl Value {
    /// `thing`, carried as it is.
    pub fn opaque<T: Any + Send + Sync>(thing: T) -> Self {
        Self::Opaque(Arc::new(thing))
    }

    /// The carried thing, if this is an opaque value of type `T`.
    pub fn downcast_ref<T: Any>(&self) -> Option<&T> {
        match self {
            Self::Opaque(thing) => thing.downcast_ref(),
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::Bytes(_)
            | Self::List(_)
            | Self::Map(_) => None,
        }
    }

    /// The variant's name, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Opaque(_) => "opaque",
        }
    }
}

/// Two opaque values are equal when they are the same one; NaN is not equal to itself, as everywhere.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Map(a), Self::Map(b)) => a == b,
            (Self::Opaque(a), Self::Opaque(b)) => Arc::ptr_eq(a, b),
            (
                Self::Null
                | Self::Bool(_)
                | Self::Int(_)
                | Self::Float(_)
                | Self::Text(_)
                | Self::Bytes(_)
                | Self::List(_)
                | Self::Map(_)
                | Self::Opaque(_),
                _,
            ) => false,
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Bool(it) => write!(f, "Bool({it})"),
            Self::Int(it) => write!(f, "Int({it})"),
            Self::Float(it) => write!(f, "Float({it:?})"),
            Self::Text(it) => write!(f, "Text({it:?})"),
            Self::Bytes(it) => write!(f, "Bytes({} bytes)", it.len()),
            Self::List(it) => f.debug_list().entries(it.iter()).finish(),
            Self::Map(it) => it.fmt(f),
            Self::Opaque(_) => f.write_str("Opaque(..)"),
        }
    }
}

impl From<bool> for Value {
    fn from(it: bool) -> Self {
        Self::Bool(it)
    }
}

impl From<i64> for Value {
    fn from(it: i64) -> Self {
        Self::Int(it)
    }
}

impl From<f64> for Value {
    fn from(it: f64) -> Self {
        Self::Float(it)
    }
}

impl From<&str> for Value {
    fn from(it: &str) -> Self {
        Self::Text(it.into())
    }
}

impl From<Vec<Value>> for Value {
    fn from(it: Vec<Value>) -> Self {
        Self::List(it.into())
    }
}

/// Values by name, in order. What a node with several predecessors is given, keyed by who sent what.
#[derive(Clone, Default, PartialEq)]
pub struct Map(Arc<[(Arc<str>, Value)]>);

impl Map {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of that name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| **key == *name).map(|(_, value)| value)
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Value)> {
        self.0.iter().map(|(key, value)| (key, value))
    }
}

/// The last value of a repeated name is the one that counts; it stands where the first stood.
impl FromIterator<(Arc<str>, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Value)>>(pairs: I) -> Self {
        let mut kept: Vec<(Arc<str>, Value)> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for (key, value) in pairs {
            match places.entry(Arc::clone(&key)) {
                std::collections::hash_map::Entry::Occupied(at) => {
                    let at: &usize = at.get();
                    kept[*at].1 = value;
                }
                std::collections::hash_map::Entry::Vacant(free) => {
                    free.insert(kept.len());
                    kept.push((key, value));
                }
            }
        }
        Self(kept.into())
    }
}

/// What graphs hand on may nest as deep as the graph is long, so it is let go of without recursion.
impl Drop for Map {
    fn drop(&mut self) {
        let mut waiting = Vec::new();
        let take = |map: &mut Self, waiting: &mut Vec<Value>| {
            // Only the last owner takes it apart.
            if let Some(pairs) = Arc::get_mut(&mut map.0) {
                let nested = pairs.iter_mut().filter(|(_, value)| matches!(value, Value::Map(_)));
                waiting.extend(nested.map(|(_, value)| std::mem::take(value)));
            }
        };
        take(self, &mut waiting);
        while let Some(mut value) = waiting.pop() {
            if let Value::Map(map) = &mut value {
                take(map, &mut waiting);
            }
        }
    }
}

impl Map {
    /// Pairs whose names are known to differ: those of a graph's nodes.
    pub(crate) fn of_nodes(pairs: impl Iterator<Item = (Arc<str>, Value)>) -> Self {
        Self(pairs.collect())
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_name_keeps_its_place_and_its_last_value() {
        let map: Map =
            [("a", 1), ("b", 2), ("a", 3)].into_iter().map(|(k, v)| (k.into(), Value::Int(v))).collect();
        assert_eq!(format!("{map:?}"), r#"{"a": Int(3), "b": Int(2)}"#);
    }

    #[test]
    fn maps_within_maps_are_let_go_of_without_recursion() {
        let mut value = Value::Null;
        for _ in 0..200_000 {
            value = Value::Map([("a".into(), value)].into_iter().collect());
        }
        let dropping = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || drop(value));
        dropping.unwrap().join().unwrap();
    }

    #[test]
    fn opaque_values_are_equal_when_they_are_the_same_one() {
        let one = Value::opaque(7_u8);
        assert_eq!(one, one.clone());
        assert_ne!(one, Value::opaque(7_u8));
        assert_eq!(one.downcast_ref::<u8>(), Some(&7));
        assert_eq!(one.downcast_ref::<u16>(), None);
    }
}
