//! Columns under titles, as wide as they must be and no wider than the terminal.
//!
//! Where the terminal is too narrow, words are shortened first; then columns are left out, the least important first,
//! and a note names them. A number is whole or not there: half of one would be read as another. In a pipe nothing is
//! cut and nothing is left out.
//!
//! All cells lie in one text, so that 100,000 rows cost their characters and two words a cell.

use std::io;

use unicode_width::UnicodeWidthStr;

use crate::output::{Output, Tone, Words};

/// Between two columns.
pub const GAP: &str = "  ";
/// What stands for the part of a cell that did not fit.
const CUT: char = '…';
/// Words are not shortened below this many characters, nor below their title, to make room for less important columns.
const SHORT: usize = 12;
/// Nor below this many where only the most important columns are left.
const NARROWEST: usize = 4;

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

/// Which columns of a table there is room for, and how wide each is.
struct Fit {
    /// The columns that are shown, in their order: at least one.
    shown: Vec<usize>,
    /// The width of every column.
    widths: Vec<usize>,
    /// Whether a column has nothing but its title.
    is_empty: Vec<bool>,
}

impl Fit {
    fn new(table: &Table, room: Option<usize>) -> Self {
        let columns = &table.columns;
        let mut filled = vec![0; columns.len()];
        for row in table.cells.chunks_exact(columns.len().max(1)) {
            for (width, cell) in filled.iter_mut().zip(row) {
                *width = cell.width.max(*width);
            }
        }
        let widths = filled.iter().zip(columns).map(|(width, column)| column.title.width().max(*width));
        let mut fit = Self {
            shown: (0..columns.len()).collect(),
            widths: widths.collect(),
            is_empty: filled.iter().map(|width| *width == 0).collect(),
        };
        if let Some(room) = room {
            fit.shrink(columns, &filled, room);
        }
        fit
    }

    /// Leave out and shorten until a row is at most `room` wide.
    fn shrink(&mut self, columns: &[Column], filled: &[usize], room: usize) {
        let short: Vec<usize> = (columns.iter().zip(&self.widths))
            .map(|(column, width)| match column.cells {
                Cells::Words => (*width).min(column.title.width().max(SHORT)),
                Cells::Numbers | Cells::Bars => *width,
            })
            .collect();
        while self.needs(&short) > room && self.leave_out(columns, 1) {}
        if self.needs(&short) <= room {
            return self.shorten(&short, room);
        }
        // Only what matters most is left: titles give way too.
        let narrowest: Vec<usize> = (columns.iter().zip(filled).zip(&short))
            .map(|((column, filled), short)| match column.cells {
                Cells::Words => (*short).min(NARROWEST),
                Cells::Numbers | Cells::Bars => (*short).min((*filled).max(1)),
            })
            .collect();
        while self.needs(&narrowest) > room && self.leave_out(columns, 0) {}
        self.shorten(&narrowest, room);
        if let [only] = self.shown[..] {
            self.widths[only] = self.widths[only].min(room);
        }
    }

    /// The width of a row of what is shown.
    fn needs(&self, widths: &[usize]) -> usize {
        self.shown.iter().map(|at| widths[*at]).sum::<usize>()
            + GAP.len() * self.shown.len().saturating_sub(1)
    }

    /// Leave out the least important column, of equal ones the last, if its rank is at least `rank`.
    fn leave_out(&mut self, columns: &[Column], rank: usize) -> bool {
        let rank_of =
            |place: &usize| match (columns[self.shown[*place]].rank, self.is_empty[self.shown[*place]]) {
                // Nobody misses what is not there.
                (1.., true) => usize::MAX,
                (rank, _) => rank,
            };
        let least = (0..self.shown.len()).max_by_key(rank_of);
        let least = least.filter(|place| self.shown.len() > 1 && rank_of(place) >= rank);
        least.map(|place| self.shown.remove(place)).is_some()
    }

    /// Take from the widest column until a row fits, from none below its `narrowest`.
    fn shorten(&mut self, narrowest: &[usize], room: usize) {
        while self.needs(&self.widths) > room {
            let wide = self.shown.iter().copied().filter(|at| self.widths[*at] > narrowest[*at]);
            let Some(widest) = wide.max_by_key(|at| self.widths[*at]) else { return };
            self.widths[widest] -= 1;
        }
    }

    /// The titles of the columns that found no room and have something to show.
    fn hidden<'a>(&self, table: &'a Table) -> Vec<&'a str> {
        let missed = |at: &usize| !self.is_empty[*at] && table.columns[*at].cells != Cells::Bars;
        let hidden = (0..self.widths.len()).filter(|at| !self.shown.contains(at)).filter(missed);
        hidden.map(|at| table.columns[at].title.as_str()).collect()
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

    fn table() -> Table {
        let mut table = Table::new([
            Column::new("NAME", Cells::Words, 0),
            Column::new("WHO", Cells::Words, 2),
            Column::new("", Cells::Bars, 3),
            Column::new("COUNTED", Cells::Numbers, 0),
            Column::new("WHY", Cells::Words, 1),
        ]);
        let texts = ["a long name of something", "worker-1", "####", "1234", ""];
        for text in texts {
            table.cell(Tone::Plain, text);
        }
        table
    }

    /// What is shown in `room`: the width of each column by its title.
    fn fit(room: Option<usize>) -> Vec<(String, usize)> {
        let table = table();
        let fit = Fit::new(&table, room);
        fit.shown.iter().map(|at| (table.columns[*at].title.clone(), fit.widths[*at])).collect()
    }

    fn shown(expected: &[(&str, usize)]) -> Vec<(String, usize)> {
        expected.iter().map(|(title, width)| ((*title).to_owned(), *width)).collect()
    }

    #[test]
    fn without_a_width_nothing_is_cut() {
        assert_eq!(fit(None), shown(&[("NAME", 24), ("WHO", 8), ("", 4), ("COUNTED", 7), ("WHY", 3)]));
    }

    #[test]
    fn words_are_shortened_before_a_column_is_left_out() {
        assert_eq!(fit(Some(44)), shown(&[("NAME", 14), ("WHO", 8), ("", 4), ("COUNTED", 7), ("WHY", 3)]));
        assert_eq!(fit(Some(42)), shown(&[("NAME", 12), ("WHO", 8), ("", 4), ("COUNTED", 7), ("WHY", 3)]));
    }

    #[test]
    fn the_least_important_column_is_left_out_first() {
        assert_eq!(fit(Some(41)), shown(&[("NAME", 16), ("WHO", 8), ("", 4), ("COUNTED", 7)]));
        assert_eq!(fit(Some(35)), shown(&[("NAME", 16), ("WHO", 8), ("COUNTED", 7)]));
        assert_eq!(fit(Some(24)), shown(&[("NAME", 15), ("COUNTED", 7)]));
    }

    #[test]
    fn what_matters_most_stays_as_long_as_its_numbers_are_whole() {
        assert_eq!(fit(Some(20)), shown(&[("NAME", 11), ("COUNTED", 7)]));
        assert_eq!(fit(Some(10)), shown(&[("NAME", 4), ("COUNTED", 4)]));
        assert_eq!(fit(Some(9)), shown(&[("NAME", 9)]));
        assert_eq!(fit(Some(1)), shown(&[("NAME", 1)]));
    }

    #[test]
    fn what_is_hidden_is_named_unless_there_is_nothing_to_miss() {
        let table = table();
        assert_eq!(Fit::new(&table, Some(24)).hidden(&table), ["WHO"]);
        assert_eq!(Fit::new(&table, None).hidden(&table), [] as [&str; 0]);
    }

    #[test]
    fn the_row_never_is_wider_than_the_terminal() {
        let table = table();
        for room in 1..60 {
            let fit = Fit::new(&table, Some(room));
            assert!(fit.needs(&fit.widths) <= room, "{room}");
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
