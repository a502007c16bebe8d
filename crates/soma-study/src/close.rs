//! Names that somebody may have meant.

/// The name most like `given`; None when none is like it.
pub(crate) fn close<'a>(given: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    // Below this, words have little more in common than their length.
    let alike = 0.6;
    names
        .map(|name| (strsim::normalized_damerau_levenshtein(given, name), name))
        .filter(|(score, _)| *score >= alike)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name.to_owned())
}
