//! Columns under titles, as wide as they must be and no wider than the terminal.
//!
//! Where the terminal is too narrow, words are cut first; then columns are left out, the last ones first. A number is
//! whole or not there: half of one would be read as another.
//!
//! All cells lie in one text, so that 100,000 rows cost their characters and two words a cell.

use std::io;

use unicode_width::UnicodeWidthStr;

use crate::output::{Output, Tone};

/// Between two columns.
const GAP: &str = "  ";
/// What stands for the part of a cell that did not fit.
const CUT: char = '…';
/// Words are not cut below this many characters, nor below the title over them.
const NARROWEST: usize = 4;

/// Which side of a column its cells lean to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// A table being filled, row by row.
pub struct Table {
    columns: Vec<(String, Side)>,
    text: String,
    cells: Vec<Cell>,
}

/// A cell: its text ends at `end`, and begins where the one before ends.
struct Cell {
    end: usize,
    width: usize,
    tone: Tone,
}

impl Table {
    /// A table with these titles.
    pub fn new<T: Into<String>>(columns: impl IntoIterator<Item = (T, Side)>) -> Self {
        let columns = columns.into_iter().map(|(title, side)| (title.into(), side)).collect();
        Self { columns, text: String::new(), cells: Vec::new() }
    }

    /// Add the next cell of the row; a row is as many cells as there are columns.
    pub fn cell(&mut self, tone: Tone, text: &str) -> &mut Self {
        self.text.push_str(text);
        self.cells.push(Cell { end: self.text.len(), width: text.width(), tone });
        self
    }

    /// Write the titles and the rows to `output`, fitted to its width.
    pub fn write(&self, output: &mut Output) -> io::Result<()> {
        let widths = self.widths(output.width());
        let shown = widths.len();
        // What has no title has no place in the line of titles, unless another title follows.
        let last = self.columns[..shown].iter().rposition(|(title, _)| !title.is_empty()).unwrap_or(0);
        for (at, (title, side)) in self.columns[..=last].iter().enumerate() {
            let pad = if at == last && *side == Side::Left { 0 } else { widths[at] };
            write_cell(output, Tone::Title, title, title.width(), pad, widths[at], *side)?;
            output.toned(Tone::Plain, if at == last { "\n" } else { GAP })?;
        }
        let mut start = 0;
        for row in self.cells.chunks_exact(self.columns.len().max(1)) {
            let filled = row[..shown].iter().rposition(|cell| cell.width > 0).unwrap_or(0);
            for (at, cell) in row.iter().enumerate() {
                let text = &self.text[start..cell.end];
                start = cell.end;
                if at > filled {
                    continue;
                }
                let side = self.columns[at].1;
                let pad = if at == filled && side == Side::Left { 0 } else { widths[at] };
                write_cell(output, cell.tone, text, cell.width, pad, widths[at], side)?;
                output.toned(Tone::Plain, if at == filled { "\n" } else { GAP })?;
            }
        }
        Ok(())
    }

    /// The widths of the columns that fit, at least one.
    fn widths(&self, room: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|(title, _)| title.width()).collect();
        for row in self.cells.chunks_exact(self.columns.len().max(1)) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width);
            }
        }
        let Some(room) = room else { return widths };
        let narrowest = |at: usize, width: usize| {
            let (title, side) = &self.columns[at];
            if *side == Side::Right { width } else { width.min(title.width().max(NARROWEST)) }
        };
        let least = |widths: &[usize]| {
            let narrow = widths.iter().enumerate().map(|(at, width)| narrowest(at, *width));
            narrow.sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
        };
        while widths.len() > 1 && least(&widths) > room {
            widths.pop();
        }
        let gaps = GAP.len() * (widths.len() - 1);
        while widths.iter().sum::<usize>() + gaps > room {
            let wide = widths.iter_mut().enumerate().filter(|(at, width)| **width > narrowest(*at, **width));
            let Some((_, widest)) = wide.max_by_key(|(_, width)| **width) else { break };
            *widest -= 1;
        }
        if let [only] = widths.as_mut_slice() {
            *only = (*only).min(room);
        }
        widths
    }
}

fn write_cell(
    output: &mut Output,
    tone: Tone,
    text: &str,
    text_width: usize,
    pad: usize,
    room: usize,
    side: Side,
) -> io::Result<()> {
    let (text, text_width) =
        if text_width > room { cut(text, room) } else { (std::borrow::Cow::Borrowed(text), text_width) };
    let blank = pad.saturating_sub(text_width);
    if side == Side::Right {
        blanks(output, blank)?;
    }
    output.toned(tone, &text)?;
    if side == Side::Left {
        blanks(output, blank)?;
    }
    Ok(())
}

fn blanks(output: &mut Output, mut count: usize) -> io::Result<()> {
    const SPACES: &str = "                                                                ";
    while count > 0 {
        let some = count.min(SPACES.len());
        output.toned(Tone::Plain, &SPACES[..some])?;
        count -= some;
    }
    Ok(())
}

/// The beginning of `text` that fits into `room`, with a sign that there was more.
pub fn cut(text: &str, room: usize) -> (std::borrow::Cow<'_, str>, usize) {
    use unicode_width::UnicodeWidthChar;
    let total = text.width();
    if total <= room {
        return (text.into(), total);
    }
    if room == 0 {
        return ("".into(), 0);
    }
    let mut shown = String::new();
    let mut width = 1;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if width + wide > room {
            break;
        }
        shown.push(c);
        width += wide;
    }
    shown.push(CUT);
    (shown.into(), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new([("NAME", Side::Left), ("N", Side::Right)]);
        table.cell(Tone::Plain, "a long name of something").cell(Tone::Plain, "123456");
        table
    }

    #[test]
    fn without_a_width_nothing_is_cut() {
        assert_eq!(table().widths(None), [24, 6]);
    }

    #[test]
    fn words_give_way_and_numbers_do_not() {
        assert_eq!(table().widths(Some(20)), [12, 6]);
        assert_eq!(table().widths(Some(12)), [4, 6]);
    }

    #[test]
    fn what_does_not_fit_at_all_is_left_out_from_the_end() {
        assert_eq!(table().widths(Some(11)), [11]);
        assert_eq!(table().widths(Some(1)), [1]);
    }

    #[test]
    fn the_row_never_is_wider_than_the_terminal() {
        for room in 1..40 {
            let widths = table().widths(Some(room));
            assert!(widths.iter().sum::<usize>() + GAP.len() * (widths.len() - 1) <= room, "{room}");
        }
    }

    #[test]
    fn a_cut_counts_columns_and_not_letters() {
        assert_eq!(cut("日本語", 5), ("日本…".into(), 5));
        assert_eq!(cut("日本語", 4), ("日…".into(), 3));
        assert_eq!(cut("日本語", 6), ("日本語".into(), 6));
        assert_eq!(cut("abc", 0), ("".into(), 0));
    }
}
