//! What things are called in storage: the only file that knows.
//!
//! Keys are relative paths with `/` between components. A component made from a name that a person chose is never
//! interpreted: it is the name itself where that is short, lowercase and plain, else a readable rest of it, `~` and
//! 128 bits of its digest; the name as given stands inside the file. Two names share a component only when they are
//! the same text: the two Unicode forms of one text are one name (NFC), and names that differ in case alone differ
//! here too, on file systems that ignore case as well.

use unicode_normalization::UnicodeNormalization;

use crate::digest::Digest;

/// The file that makes a folder a store.
pub(crate) const FORMAT: &str = "format";
/// What it says.
pub(crate) const FORMAT_TEXT: &str = "soma store, version 1\n";
/// The newest version this build reads and writes.
pub(crate) const VERSION: u64 = 1;
pub(crate) const BLOBS: &str = "blobs";
pub(crate) const NAMES: &str = "names";
pub(crate) const STUDIES: &str = "studies";

/// Longest component made here: 143 bytes is what encrypted file systems leave of 255.
const MAX_COMPONENT_BYTES: usize = 143;
/// Longest readable rest of an escaped name, in bytes.
const MAX_READABLE_BYTES: usize = 80;
/// Between the readable rest and the digest; in no plain name.
const ESCAPED: char = '~';

/// Device names that some systems take out of any folder, with or without an extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// The one form of a name, whichever Unicode form it came in.
pub(crate) fn canonical(name: &str) -> String {
    name.nfc().collect()
}

/// The component that stands for a name.
pub(crate) fn component(name: &str) -> String {
    let name = canonical(name);
    if is_plain(&name) {
        return name;
    }
    let mut readable: String = name
        .chars()
        .map(|c| if is_plain_char(c) { c } else { c.to_ascii_lowercase() })
        // No dot either: `nul.txt` is a device with an extension.
        .map(|c| if is_plain_char(c) && c != '.' { c } else { '-' })
        .take(MAX_READABLE_BYTES)
        .collect();
    readable.push(ESCAPED);
    let digest = Digest::of(name.as_bytes()).to_string();
    readable.push_str(&digest[..32]);
    // `-` would read as an option.
    if readable.starts_with('-') {
        readable.replace_range(..1, "_");
    }
    readable
}

/// Whether the component is the name itself.
pub(crate) fn is_plain_component(component: &str) -> bool {
    !component.contains(ESCAPED)
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_COMPONENT_BYTES
        && name.chars().all(is_plain_char)
        && !name.starts_with(['.', '-'])
        && !name.ends_with('.')
        && !is_device(name)
}

fn is_plain_char(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-' | '.')
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    let numbered = |device: &str| {
        stem.strip_prefix(device)
            .is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    DEVICES.contains(&stem) || NUMBERED_DEVICES.iter().any(|device| numbered(device))
}

/// Where the bytes under a digest lie.
pub(crate) fn blob(digest: &Digest) -> String {
    let digest = digest.to_string();
    format!("{BLOBS}/{}/{}", &digest[..2], &digest[2..])
}

/// Where a name's binding lies.
pub(crate) fn name(name: &str) -> String {
    format!("{NAMES}/{}", component(name))
}

/// The folder of the study whose name became `component`.
pub(crate) fn study(component: &str) -> String {
    format!("{STUDIES}/{component}")
}

/// The document of a study: version 1, which begins it, or a later one.
pub(crate) fn document(study: &str, version: u32) -> String {
    if version == 1 { format!("{study}/study.json") } else { format!("{study}/study.{version}.json") }
}

/// The folder of a study's claims.
pub(crate) fn claims(study: &str) -> String {
    format!("{study}/claims")
}

/// The claim of one attempt at one trial.
pub(crate) fn claim(study: &str, trial: u64, attempt: u32) -> String {
    format!("{study}/claims/{trial}.{attempt}")
}

/// Reads the last component of a claim.
pub(crate) fn read_claim(component: &str) -> Option<(u64, u32)> {
    let (trial, attempt) = component.split_once('.')?;
    let claim = (trial.parse().ok()?, attempt.parse().ok()?);
    // `007.0` and `+7.0` are not what we write.
    (component == format!("{}.{}", claim.0, claim.1)).then_some(claim)
}

/// The folder of a study's ledgers.
pub(crate) fn ledgers(study: &str) -> String {
    format!("{study}/ledger")
}

/// A ledger with this name.
pub(crate) fn ledger(study: &str, name: &str) -> String {
    format!("{study}/ledger/{name}{LEDGER_SUFFIX}")
}

/// The folder of a study's seals.
pub(crate) fn seals(study: &str) -> String {
    format!("{study}/seals")
}

/// The seal with this number, counted from 1.
pub(crate) fn seal(study: &str, k: u64) -> String {
    format!("{study}/seals/{k}")
}

/// No study comes to so many seals: what has a higher number is none, and there is always a next one.
const MAX_SEAL: u64 = 1 << 48;

/// Reads the last component of a seal.
pub(crate) fn read_seal(component: &str) -> Option<u64> {
    component.parse().ok().filter(|k: &u64| (1..=MAX_SEAL).contains(k) && component == k.to_string())
}

const LEDGER_SUFFIX: &str = ".jsonl";

/// The name of a ledger, from the last component of its key.
pub(crate) fn read_ledger(component: &str) -> Option<&str> {
    component.strip_suffix(LEDGER_SUFFIX).filter(|name| !name.starts_with('.'))
}

/// Whether a component is one of a file on its way to its place.
pub(crate) fn is_unfinished(component: &str) -> bool {
    component.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_stand_for_themselves() {
        for plain in ["widths", "lr-2026.11_a", "0"] {
            assert_eq!(component(plain), plain);
        }
    }

    #[test]
    fn c44_no_name_leaves_its_folder_or_grows_past_143_bytes() {
        let long = "x".repeat(300);
        let hostile = [
            "", ".", "..", "../..", "a/b:c*?", "CON", "con", "nul.txt", "com1", "lpt9.a", "\0", "é", "-rf",
            ".x", "a.", "a~b", "\u{202e}", &long,
        ];
        let mut seen = std::collections::BTreeSet::new();
        for name in hostile {
            let component = component(name);
            assert!(component.len() <= MAX_COMPONENT_BYTES, "{name:?} became {component}");
            assert!(
                component.chars().all(|c| is_plain_char(c) || c == ESCAPED),
                "{name:?} became {component}"
            );
            assert!(!component.starts_with('.') && !is_device(&component), "{name:?} became {component}");
            assert!(seen.insert(component), "{name:?} shares a component");
        }
    }

    #[test]
    fn names_differ_where_their_text_does_and_only_there() {
        assert_ne!(component("Widths").to_lowercase(), component("widths"));
        assert_ne!(component("a/b"), component("a-b"));
        assert_ne!(component(&"x".repeat(300)), component(&"x".repeat(301)));
        assert_eq!(component("caf\u{e9}"), component("cafe\u{301}"));
    }

    #[test]
    fn an_escaped_component_can_never_be_a_plain_name() {
        let escaped = component("A");
        assert_ne!(component(&escaped), escaped);
        assert!(!is_plain_component(&escaped));
    }

    #[test]
    fn claims_read_back_and_nothing_else_does() {
        assert_eq!(read_claim("7.0"), Some((7, 0)));
        assert_eq!(read_claim("18446744073709551615.3"), Some((u64::MAX, 3)));
        for other in ["7", "7.", "07.0", "+7.0", "7.0.1", "a.b", ".7.0"] {
            assert_eq!(read_claim(other), None, "{other}");
        }
    }
}
