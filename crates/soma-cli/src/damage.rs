//! What does not read of a store, in words and in JSON.

use serde::Serialize;
use soma_store::{Damage, Store};

use crate::escape;
use crate::number;
use crate::output::Words;

/// A place that does not read.
#[derive(Serialize)]
pub struct DamageShape<'a> {
    path: &'a str,
    offset: u64,
    size_bytes: u64,
    what: &'a str,
}

impl<'a> From<&'a Damage> for DamageShape<'a> {
    fn from(damage: &'a Damage) -> Self {
        Self { path: &damage.path, offset: damage.offset, size_bytes: damage.size, what: &damage.what }
    }
}

/// The place on one line: where, and what is wrong there.
pub fn text(damage: &Damage) -> (String, String) {
    let path = escape::name(&damage.path);
    match (damage.offset, damage.size) {
        // The file as a whole.
        (0, 0) => (path.into_owned(), damage.what.clone()),
        (offset, size) => {
            (format!("{path}, byte {offset}"), format!("{} ({})", damage.what, number::bytes(size)))
        }
    }
}

/// One line about what did not read.
pub fn say(damage: &[Damage], store: &Store, words: &Words) {
    if let Some(first) = damage.first() {
        let more = damage.len() - 1;
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let (place, what) = text(first);
        let location = escape::shell(&store.location()).into_owned();
        words.warning(&format!("passed over {place}: {what}{more}; `soma verify {location}` lists all"));
    }
}
