//! A curve drawn with characters: braille dots, eight to a character, between two labelled axes.

use unicode_width::UnicodeWidthStr;

use crate::number;

/// Characters from top to bottom.
const HEIGHT: usize = 12;
/// The widest a plot grows, in characters.
const WIDEST: usize = 100;
/// Dots across and down in one braille character.
const DOTS: (usize, usize) = (2, 4);
/// The bit of each dot in a braille character, `BITS[row][column]` (Unicode, block U+2800).
const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// Lines that show `values` over their position, at most `width` characters wide.
///
/// A value that is no finite number is a gap in the line. Empty where no value is finite.
pub fn curve(values: &[f64], width: usize) -> Vec<String> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (Some(low), Some(high)) = (finite().reduce(f64::min), finite().reduce(f64::max)) else {
        return Vec::new();
    };
    let labels = [number::short(high), number::short(low / 2.0 + high / 2.0), number::short(low)];
    let margin = labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let columns = width.saturating_sub(margin + 2).clamp(DOTS.0, WIDEST);
    let mut canvas = Canvas::new(columns, HEIGHT);
    canvas.line(values, low, high);

    let mut lines = Vec::with_capacity(HEIGHT + 2);
    for (at, row) in canvas.rows().enumerate() {
        let (label, tick) = match at {
            0 => (labels[0].as_str(), '┤'),
            _ if high <= low => ("", '│'),
            at if at == HEIGHT / 2 => (labels[1].as_str(), '┤'),
            at if at == HEIGHT - 1 => (labels[2].as_str(), '┤'),
            _ => ("", '│'),
        };
        lines.push(format!("{label:>margin$} {tick}{row}").trim_end().to_owned());
    }
    lines.push(format!("{:>margin$} └{}", "", "─".repeat(columns)));
    let last = (values.len() - 1).to_string();
    let between = columns.saturating_sub(1 + last.len());
    lines.push(if values.len() == 1 {
        format!("{:>margin$}  0", "")
    } else {
        format!("{:>margin$}  0{:between$}{last}", "", "")
    });
    lines
}

/// Braille characters, all dots out at first.
struct Canvas {
    columns: usize,
    cells: Vec<u32>,
}

impl Canvas {
    fn new(columns: usize, rows: usize) -> Self {
        Self { columns, cells: vec![0; columns * rows] }
    }

    fn line(&mut self, values: &[f64], low: f64, high: f64) {
        let across = (self.columns * DOTS.0 - 1) as f64;
        let down = (HEIGHT * DOTS.1 - 1) as f64;
        let last = (values.len() - 1).max(1) as f64;
        // Halved before they are subtracted: the range of two finite floats need not be one.
        let range = high / 2.0 - low / 2.0;
        let dot = |at: usize| {
            let up = if range > 0.0 { (values[at] / 2.0 - low / 2.0) / range } else { 1.0 };
            (at as f64 / last * across, (1.0 - up) * down)
        };
        for at in 0..values.len() {
            if !values[at].is_finite() {
                continue;
            }
            let (x, y) = dot(at);
            self.light(x, y);
            if at > 0 && values[at - 1].is_finite() {
                let (from_x, from_y) = dot(at - 1);
                let steps = (x - from_x).abs().max((y - from_y).abs()).ceil();
                for step in 1..steps as usize {
                    let part = step as f64 / steps;
                    self.light(from_x + (x - from_x) * part, from_y + (y - from_y) * part);
                }
            }
        }
    }

    fn light(&mut self, x: f64, y: f64) {
        let (x, y) = (x.round() as usize, y.round() as usize);
        self.cells[y / DOTS.1 * self.columns + x / DOTS.0] |= BITS[y % DOTS.1][x % DOTS.0];
    }

    fn rows(&self) -> impl Iterator<Item = String> + '_ {
        self.cells.chunks_exact(self.columns).map(|row| {
            row.iter()
                .map(|bits| match bits {
                    0 => ' ',
                    bits => char::from_u32(0x2800 + bits).unwrap_or(' '),
                })
                .collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_value_stand_in_the_corners() {
        let lines = curve(&[1.0, 0.5, 0.0], 20);
        assert!(lines[0].starts_with("  1 ┤⠱"), "{lines:#?}");
        assert!(lines[HEIGHT - 1].starts_with("  0 ┤"), "{lines:#?}");
        assert!(lines[HEIGHT - 1].ends_with('⢆'), "{lines:#?}");
        assert_eq!(lines[HEIGHT + 1], "     0             2");
    }

    #[test]
    fn no_line_is_wider_than_it_may_be() {
        let values: Vec<f64> = (0..500).map(|at| f64::from(at).sin() * 1e300).collect();
        for width in [20, 80, 300] {
            assert!(curve(&values, width).iter().all(|line| line.width() <= width), "{width}");
        }
    }

    #[test]
    fn what_is_no_number_is_a_gap_and_nothing_finite_is_no_plot() {
        assert_eq!(curve(&[f64::NAN, f64::INFINITY], 40), Vec::<String>::new());
        assert_eq!(curve(&[], 40), Vec::<String>::new());
        assert_eq!(curve(&[f64::NAN, 1.0, f64::NAN], 40).len(), HEIGHT + 2);
    }

    #[test]
    fn the_whole_range_of_floats_fits() {
        let lines = curve(&[f64::MIN, f64::MAX, 0.0, f64::MIN], 40);
        assert!(lines[0].contains("1.79769e308"), "{lines:#?}");
    }

    #[test]
    fn a_flat_curve_has_one_label() {
        let lines = curve(&[2.0, 2.0], 20);
        assert!(lines[0].starts_with("2 ┤"));
        assert!(lines[1..HEIGHT].iter().all(|line| line.trim() == "│"), "{lines:#?}");
    }
}
