//! The sequences of rows in print: a table for a terminal, and one for a notebook.

use soma_study::{Curve, Observation, Point, Rows, State, Trial, Trials};

/// Rows that are shown before it is said how many more there are.
const SHOWN_ROWS: usize = 20;
/// Values of a curve that its row shows.
const SHOWN_REPORTS: usize = 8;
/// Characters of a cell: a point of a thousand dimensions would fill a screen.
const SHOWN_CHARS: usize = 200;

/// A row in print.
pub trait Printed {
    /// The names of the columns.
    const HEADS: &[&'static str];

    /// What stands in them.
    fn cells(&self) -> Vec<String>;

    /// What is said of all of them, after their number.
    fn summary(_rows: &Rows<Self>) -> String
    where
        Self: Sized,
    {
        String::new()
    }
}

impl Printed for Observation {
    const HEADS: &[&'static str] = &["trial", "score", "point"];

    fn cells(&self) -> Vec<String> {
        vec![self.trial.to_string(), self.score.map(short).unwrap_or_default(), self.point.to_string()]
    }
}

impl Printed for Curve {
    const HEADS: &[&'static str] = &["trial", "reports", "curve"];

    fn cells(&self) -> Vec<String> {
        let shown: Vec<String> = self.values.iter().take(SHOWN_REPORTS).map(|value| short(*value)).collect();
        let more = if self.values.len() > SHOWN_REPORTS { " ..." } else { "" };
        vec![self.trial.to_string(), self.values.len().to_string(), shown.join(" ") + more]
    }
}

impl Printed for Trial {
    const HEADS: &[&'static str] = &["trial", "attempt", "state", "score", "point", "because"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.trial.to_string(),
            self.attempt.to_string(),
            self.state.to_string(),
            self.score.map(short).unwrap_or_default(),
            self.point.as_ref().map(Point::to_string).unwrap_or_default(),
            self.because.as_deref().unwrap_or_default().to_owned(),
        ]
    }

    fn summary(rows: &Rows<Self>) -> String {
        let counted = counts(rows);
        let said = counted.iter().filter(|(_, n)| *n > 0).map(|(state, n)| format!("{n} {state}"));
        said.collect::<Vec<_>>().join(", ")
    }
}

/// How many trials stand where, each by its result or else its last attempt.
pub fn counts(rows: &Trials) -> [(State, usize); State::ALL.len()] {
    let mut counted = State::ALL.map(|state| (state, 0));
    let mut add = |state| {
        for (one, n) in &mut counted {
            *n += usize::from(*one == state);
        }
    };
    let mut last: Option<&Trial> = None;
    for row in rows {
        match last {
            // The first attempt that is done has the say.
            Some(before) if before.trial == row.trial && before.state == State::Done => continue,
            Some(before) if before.trial != row.trial => add(before.state),
            _ => {}
        }
        last = Some(row);
    }
    if let Some(last) = last {
        add(last.state);
    }
    counted
}

/// Six digits, as a person reads a score.
fn short(value: f64) -> String {
    let is_plain = value == 0.0 || (1e-4..1e6).contains(&value.abs());
    if !is_plain && value.is_finite() {
        return format!("{value:.5e}");
    }
    let before = value.abs().log10().floor().max(0.0);
    let after = if before.is_finite() { 5.0 - before } else { 0.0 };
    let text = format!("{value:.*}", after as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The cells of a row, each on one line and as long as a person reads.
fn cut_cells<T: Printed>(row: &T) -> Vec<String> {
    let mut cells = row.cells();
    for cell in &mut cells {
        *cell = cell.replace(char::is_control, " ");
        if let Some((end, _)) = cell.char_indices().nth(SHOWN_CHARS) {
            cell.truncate(end);
            cell.push_str("...");
        }
    }
    cells
}

/// How many rows, and what is said of them.
fn headline<T: Printed>(name: &str, rows: &Rows<T>) -> String {
    let (n, summary) = (rows.len(), T::summary(rows));
    let ending = if summary.is_empty() { String::new() } else { format!(": {summary}") };
    format!("{name}, {n} row{}{ending}", if n == 1 { "" } else { "s" })
}

/// A table for a terminal.
pub fn as_text<T: Printed>(name: &str, rows: &Rows<T>) -> String {
    let mut text = headline(name, rows);
    if rows.is_empty() {
        return text;
    }
    let mut lines = vec![T::HEADS.iter().map(ToString::to_string).collect::<Vec<_>>()];
    lines.extend(rows.iter().take(SHOWN_ROWS).map(cut_cells));
    let widths: Vec<usize> = (0..T::HEADS.len())
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    for line in &lines {
        let padded: Vec<String> =
            line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push('\n');
        text.push_str(padded.join("  ").trim_end());
    }
    if rows.len() > SHOWN_ROWS {
        text.extend(["\n... and ", &(rows.len() - SHOWN_ROWS).to_string(), " more"]);
    }
    text
}

/// A table for a notebook.
pub fn as_html<T: Printed>(name: &str, rows: &Rows<T>) -> String {
    let line = |tag: &str, cells: &[String]| {
        let cells = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell)));
        format!("<tr>{}</tr>", cells.collect::<String>())
    };
    let head = line("th", &T::HEADS.iter().map(ToString::to_string).collect::<Vec<_>>());
    let body: String = rows.iter().take(SHOWN_ROWS).map(|row| line("td", &cut_cells(row))).collect();
    let hidden = rows.len().saturating_sub(SHOWN_ROWS);
    let more = if hidden > 0 { format!("<p>... and {hidden} more</p>") } else { String::new() };
    let headline = escaped(&headline(name, rows));
    format!("<p>{headline}</p><table><thead>{head}</thead><tbody>{body}</tbody></table>{more}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
