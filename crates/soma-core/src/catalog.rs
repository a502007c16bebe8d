//! Which implementation stands behind an id.

use std::sync::Arc;

use crate::node::Node;

/// The implementations, by position of the node in declaration order.
///
/// A clone shares them: two graphs over one catalog train the same weights.
#[derive(Clone, Debug, Default)]
pub struct Catalog(Vec<Arc<dyn Node>>);

impl Catalog {
    pub(crate) fn push(&mut self, implementation: Arc<dyn Node>) {
        self.0.push(implementation);
    }

    /// The implementation of the `node`-th node.
    pub fn get(&self, node: usize) -> Option<&Arc<dyn Node>> {
        self.0.get(node)
    }

    /// All of them, in declaration order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<dyn Node>> {
        self.0.iter()
    }
}

/// A class name as an id: `HTTPServer2` is `http_server2`.
///
/// ```
/// assert_eq!(soma_core::snake_case("TfIdfVectorise"), "tf_idf_vectorise");
/// ```
pub fn snake_case(kind: &str) -> String {
    let letters: Vec<char> = kind.chars().collect();
    let mut id = String::with_capacity(kind.len() + 4);
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(at + 1);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_numeric()
                    || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase()))
            });
        if begins {
            id.push('_');
        }
        id.extend(letter.to_lowercase());
    }
    let bare = id.trim_matches('_');
    if bare.is_empty() { "node".to_owned() } else { bare.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::snake_case;

    #[test]
    fn class_names_become_ids() {
        for (kind, id) in [
            ("Clean", "clean"),
            ("TfIdf", "tf_idf"),
            ("HTTPServer", "http_server"),
            ("Conv2d", "conv2d"),
            ("Layer2Norm", "layer2_norm"),
            ("_Private", "private"),
            ("already_snake", "already_snake"),
            ("Été", "été"),
            ("_", "node"),
        ] {
            assert_eq!(snake_case(kind), id);
        }
    }
}
