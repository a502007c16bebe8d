//! Columns under titles, as wide as they must be and no wider than the terminal.
//!
//! Where the terminal is too narrow, words are shortened first; then columns are left out, the least important first,
//! and a note names them. A number is whole or not there: half of one would be read as another. In a pipe nothing is
//! cut and nothing is left out.
//!
//! All cells lie in one text, so that 100,000 rows cost their characters and two words a cell.

mod fit;

use std::io;

use unicode_width::UnicodeWidthStr;

use crate::output::{Output, Tone, Words};

use fit::Fit;

/// Between two columns.
pub const GAP: &str = "  ";
/// What stands for the part of a cell that did not fit.
const CUT: char = '…';
/// Columns without room that are named before the rest is only counted.
const MOST_NAMES: usize = 8;

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cells {
    /// Lean left, and can be shortened.
    Words,
    /// Lean right, whole or not there.
    Numbers,
    /// Lean left, whole or not there; a picture of the numbers, which nobody misses.
    Bars,
}

/// A column: its title, its cells, and how soon it is left out.
#[derive(Debug, Clone)]
pub struct Column {
    title: String,
    cells: Cells,
    rank: usize,
}

impl Column {
    /// A column of rank `rank`: 0 stays as long as anything does, of the others the highest goes first.
    pub fn new(title: impl Into<String>, cells: Cells, rank: usize) -> Self {
        Self { title: title.into(), cells, rank }
    }
}

/// A table being filled, row by row.
pub struct Table {
    columns: Vec<Column>,
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
    /// A table of these columns.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), text: String::new(), cells: Vec::new() }
    }

    /// Add the next cell of the row; a row is as many cells as there are columns.
    pub fn cell(&mut self, tone: Tone, text: &str) -> &mut Self {
        self.text.push_str(text);
        self.cells.push(Cell { end: self.text.len(), width: text.width(), tone });
        self
    }

    /// Write the titles and the rows to `output`, fitted to its width, and say which columns found no room.
    pub fn write(&self, output: &mut Output, words: &Words) -> io::Result<()> {
        let fit = Fit::new(self, output.width());
        self.write_titles(output, &fit)?;
        let mut start = 0;
        for row in self.cells.chunks_exact(self.columns.len().max(1)) {
            start = self.write_row(output, &fit, row, start)?;
        }
        let hidden = fit.hidden(self);
        if !hidden.is_empty() {
            output.flush()?;
            let more = hidden.len().saturating_sub(MOST_NAMES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let named = hidden[..hidden.len().min(MOST_NAMES)].join(", ");
            words.note(&format!("no room for {named}{more}; `| less -S` shows every column"));
        }
        Ok(())
    }

    fn write_titles(&self, output: &mut Output, fit: &Fit) -> io::Result<()> {
        // What has no title has no place in the line of titles, unless another title follows.
        let last = fit.shown.iter().rposition(|at| !self.columns[*at].title.is_empty()).unwrap_or(0);
        for (place, at) in fit.shown[..=last].iter().enumerate() {
            let Column { title, cells, .. } = &self.columns[*at];
            write_cell(output, Tone::Title, title, title.width(), fit.widths[*at], *cells, place == last)?;
        }
        Ok(())
    }

    /// Write a row whose text begins at `start`, and answer where it ends.
    fn write_row(&self, output: &mut Output, fit: &Fit, row: &[Cell], start: usize) -> io::Result<usize> {
        let last = fit.shown.iter().rposition(|at| row[*at].width > 0).unwrap_or(0);
        for (place, at) in fit.shown[..=last].iter().enumerate() {
            let begin = if *at == 0 { start } else { row[*at - 1].end };
            let Cell { end, width, tone } = row[*at];
            let cells = self.columns[*at].cells;
            write_cell(output, tone, &self.text[begin..end], width, fit.widths[*at], cells, place == last)?;
        }
        Ok(row.last().map_or(start, |cell| cell.end))
    }
}

/// Write one cell, `width` characters wide, and what comes between it and the next; nothing behind the last of a line.
fn write_cell(
    output: &mut Output,
    tone: Tone,
    text: &str,
    text_width: usize,
    width: usize,
    cells: Cells,
    is_last: bool,
) -> io::Result<()> {
    let (text, text_width) =
        if text_width > width { cut(text, width) } else { (std::borrow::Cow::Borrowed(text), text_width) };
    let blank = width.saturating_sub(text_width);
    if cells == Cells::Numbers {
        blanks(output, blank)?;
    }
    output.toned(tone, &text)?;
    if cells != Cells::Numbers && !is_last {
        blanks(output, blank)?;
    }
    output.toned(Tone::Plain, if is_last { "\n" } else { GAP })
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

    #[test]
    fn a_cut_counts_columns_and_not_letters() {
        assert_eq!(cut("日本語", 5), ("日本…".into(), 5));
        assert_eq!(cut("日本語", 4), ("日…".into(), 3));
        assert_eq!(cut("日本語", 6), ("日本語".into(), 6));
        assert_eq!(cut("abc", 0), ("".into(), 0));
    }
}
