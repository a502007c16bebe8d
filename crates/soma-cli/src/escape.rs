//! Text from a store made safe to print: one line stays one line, and no byte of it drives the terminal.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// A name (worker, dimension, file) as it is shown: control characters, line ends, invisible and
/// direction-changing characters as escapes (`\n`, `\u{1b}`), and a backslash doubled, so that no two
/// names look the same.
pub fn name(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\\' || hidden(c))
}

/// The name of a study, which may be any text: as [`name`], and in quotes where it would not be seen to be there or
/// where it ends (`""`, `" x"`). A name that begins with a quote has a backslash before it.
pub fn study(text: &str) -> Cow<'_, str> {
    match name(text) {
        shown if text.trim() != text || text.is_empty() => format!("\"{shown}\"").into(),
        shown if text.starts_with('"') => format!("\\{shown}").into(),
        shown => shown,
    }
}

/// A path as a shell takes it: in quotes where it has to be.
pub fn shell(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.into();
    }
    format!("'{}'", escaped(text, hidden).replace('\'', r"'\''")).into()
}

/// Text that quotes itself already (a point, a reason): only what would hide or move is escaped.
pub fn text(text: &str) -> Cow<'_, str> {
    escaped(text, hidden)
}

/// Whether text has to be escaped to be shown.
pub fn is_odd(text: &str) -> bool {
    text.contains(hidden)
}

fn escaped(text: &str, needs: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&needs) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if !needs(c) => shown.push(c),
            '\\' => shown.push_str("\\\\"),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(shown)
}

/// Whether `c` would move the cursor, colour the screen, reorder the line or take no room at all.
fn hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    matches!(c,
        '\u{80}'..='\u{9f}'             // C1 controls
        | '\u{ad}'                      // soft hyphen
        | '\u{61c}'                     // Arabic letter mark
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'       // zero width, direction marks
        | '\u{2028}'..='\u{202e}'       // line and paragraph separators, embeddings, overrides
        | '\u{2060}'..='\u{206f}'       // joiners, isolates
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}'     // tags
    )
}

/// JSON in which no text drives the terminal either: `\u009b`, `\u202e`.
pub struct Json;

impl serde_json::ser::Formatter for Json {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| hidden(*c)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + c.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Text on its way to a terminal, line ends kept. Every write holds whole characters.
pub struct Shown<W>(pub W);

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(escaped(&text, |c| c != '\n' && hidden(c)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_names_of_studies_look_alike_and_none_is_invisible() {
        let names = ["", "\"\"", "\\\"\"", " ", "\" \"", " x", "x", "x ", "\"x\"", "\t"];
        let shown: std::collections::BTreeSet<_> = names.iter().map(|name| study(name)).collect();
        assert_eq!(shown.len(), names.len(), "{shown:?}");
        assert!(shown.iter().all(|shown| shown.trim() == *shown && !shown.is_empty()), "{shown:?}");
        assert_eq!(study(""), "\"\"");
    }

    #[test]
    fn a_path_can_be_given_to_a_shell() {
        assert_eq!(shell("/mnt/runs-2/été"), "/mnt/runs-2/été");
        assert_eq!(shell("/my runs/it's"), r"'/my runs/it'\''s'");
        assert_eq!(shell(""), "''");
    }

    #[test]
    fn json_text_reads_back_and_drives_nothing() {
        let text = "a\u{9b}31m\u{7f}\u{202e}\u{2066}\u{e0001}é\u{1b}\n\"";
        let mut json = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut json, Json);
        serde::Serialize::serialize(text, &mut serializer).unwrap();
        let json = String::from_utf8(json).unwrap();
        assert_eq!(json, r#""a\u009b31m\u007f\u202e\u2066\udb40\udc01é\u001b\n\"""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn plain_names_are_borrowed_as_they_are() {
        assert!(matches!(name("été/3 α"), Cow::Borrowed("été/3 α")));
    }

    #[test]
    fn control_characters_and_line_ends_become_escapes() {
        assert_eq!(name("a\nb\t\u{1b}[31m\r\u{7f}\u{9b}"), "a\\nb\\t\\u{1b}[31m\\r\\u{7f}\\u{9b}");
    }

    #[test]
    fn a_backslash_cannot_pass_for_an_escape() {
        assert_ne!(name("a\\nb"), name("a\nb"));
    }

    #[test]
    fn direction_changes_are_shown() {
        assert_eq!(text("a\u{202e}b\\"), "a\\u{202e}b\\");
    }
}
