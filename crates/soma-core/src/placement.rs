//! Where nodes run. The engine passes it on and checks it; nothing is planned by it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::error::GraphError;

/// The name of a device: a kind, and the number of one of that kind where it matters (`cpu`, `cuda:0`).
///
/// The grammar is checked here; which kinds exist is known to the binding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Device {
    text: Arc<str>,
    kind_len: usize,
}

impl Device {
    /// The name as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The kind: `cuda` of `cuda:0`.
    pub fn kind(&self) -> &str {
        &self.text[..self.kind_len]
    }

    /// The number: `0` of `cuda:0`; None when the name has none.
    pub fn index(&self) -> Option<&str> {
        self.text.get(self.kind_len + 1..)
    }

    /// Whether something on `other` is where this name says: the same kind, and the same number where both
    /// have one (`cuda` is any of them, and `cpu` is `cpu:0`).
    pub fn covers(&self, other: &Self) -> bool {
        let same_index = match (self.index(), other.index()) {
            (Some(mine), Some(its)) => mine == its,
            (Some(_) | None, None) | (None, Some(_)) => true,
        };
        self.kind() == other.kind() && same_index
    }
}

impl FromStr for Device {
    type Err = GraphError;

    fn from_str(given: &str) -> Result<Self, GraphError> {
        let refuse =
            |reason: &str| Err(GraphError::Device { given: given.to_owned(), reason: reason.to_owned() });
        let (kind, index) = match given.split_once(':') {
            Some((kind, index)) => (kind, Some(index)),
            None => (given, None),
        };
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !kind.starts_with(|c: char| c.is_ascii_lowercase()) || !kind.chars().all(letters) {
            return refuse("expected a kind in lower case, then a colon and a number where it matters");
        }
        if let Some(index) = index {
            let digits = !index.is_empty() && index.chars().all(|c| c.is_ascii_digit());
            if !digits || (index.len() > 1 && index.starts_with('0')) || index.parse::<i8>().is_err() {
                return refuse("expected a number from 0 to 127 after the colon");
            }
        }
        Ok(Self { text: given.into(), kind_len: kind.len() })
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Which node runs where; by position of the node in declaration order.
#[derive(Clone, Debug, Default)]
pub struct Placement(Vec<Option<Device>>);

impl Placement {
    pub(crate) fn push(&mut self, device: Option<Device>) {
        self.0.push(device);
    }

    pub(crate) fn set(&mut self, node: usize, device: Option<Device>) {
        self.0[node] = device;
    }

    /// Where the `node`-th node is placed; None when it is not.
    pub fn get(&self, node: usize) -> Option<&Device> {
        self.0.get(node).and_then(Option::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_are_read_or_refused() {
        for good in ["cpu", "cuda", "cuda:0", "cuda:12", "meta", "privateuseone:1"] {
            assert_eq!(good.parse::<Device>().unwrap().to_string(), good);
        }
        for bad in
            ["", ":", "cuda:", "cuda:x", "cuda:-1", "cuda:01", "cuda:0:1", "CUDA", "cuda 0", "cuda:128"]
        {
            assert!(bad.parse::<Device>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_without_a_number_covers_every_number() {
        let device = |name: &str| name.parse::<Device>().unwrap();
        assert!(device("cuda").covers(&device("cuda:1")));
        assert!(device("cpu:0").covers(&device("cpu")));
        assert!(!device("cuda:0").covers(&device("cuda:1")));
        assert!(!device("meta").covers(&device("cpu")));
    }
}
