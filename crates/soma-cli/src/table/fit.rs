//! Which columns of a table a terminal has room for.

use unicode_width::UnicodeWidthStr;

use super::{Cells, Column, GAP, Table};

/// Words are not shortened below this many characters, nor below their title, to make room for less important columns.
const SHORT: usize = 12;
/// Nor below this many where only the most important columns are left.
const NARROWEST: usize = 4;

/// Which columns of a table there is room for, and how wide each is.
pub struct Fit {
    /// The columns that are shown, in their order: at least one.
    pub shown: Vec<usize>,
    /// The width of every column.
    pub widths: Vec<usize>,
    /// Whether a column has nothing but its title.
    is_empty: Vec<bool>,
}

impl Fit {
    /// What fits into `room`; without one, everything.
    pub fn new(table: &Table, room: Option<usize>) -> Self {
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
    pub fn hidden<'a>(&self, table: &'a Table) -> Vec<&'a str> {
        let missed = |at: &usize| !self.is_empty[*at] && table.columns[*at].cells != Cells::Bars;
        let hidden = (0..self.widths.len()).filter(|at| !self.shown.contains(at)).filter(missed);
        hidden.map(|at| table.columns[at].title.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Tone;

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
}
