//! Text from a store made safe to print: one line stays one line, and no byte of it drives the terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A name (study, worker, file) as it is shown: control characters, line ends, invisible and
/// direction-changing characters as escapes (`\n`, `\u{1b}`), and a backslash doubled, so that no two
/// names look the same.
pub fn name(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\\' || hidden(c))
}

/// Text that quotes itself already (a point, a reason): only what would hide or move is escaped.
pub fn text(text: &str) -> Cow<'_, str> {
    escaped(text, hidden)
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

#[cfg(test)]
mod tests {
    use super::*;

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
