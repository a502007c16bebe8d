//! Numbers as people read them: six significant digits, times and sizes with their unit.

use serde::{Serialize, Serializer};

/// Significant digits of a float in a table; `best`, `curve`, `export` and `--json` print every digit.
const DIGITS: i32 = 6;

/// `value` in at most six significant digits: `0.00277186`, `64`, `1.5e300`, `nan`, `-inf`.
pub fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return exact(value);
    }
    let rounded = format!("{value:.*e}", (DIGITS - 1) as usize);
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    if (-5..9).contains(&power) {
        let places = (DIGITS - 1 - power).max(0) as usize;
        return without_trailing_zeros(&format!("{value:.places$}")).to_owned();
    }
    format!("{}e{power}", without_trailing_zeros(mantissa))
}

/// `value` in the fewest digits that read back as the same number: `0.002771855228616633`, `1e300`, `nan`.
pub fn exact(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let text = format!("{value:?}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

fn without_trailing_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A number with its thousands apart: `12 345`; a thin reader's `12345` is in `--json`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// A length of time in its two or three leading digits: `0.4 s`, `12 s`, `3.5 min`, `2 h`, `40 d`.
pub fn duration(secs: f64) -> String {
    const STEPS: [(f64, &str); 4] = [(60.0, "s"), (60.0, "min"), (24.0, "h"), (f64::INFINITY, "d")];
    if !secs.is_finite() || secs < 0.0 {
        return "-".to_owned();
    }
    if secs < 0.0995 {
        return format!("{} ms", (secs * 1e3).round());
    }
    let mut value = secs;
    for (size, unit) in STEPS {
        // Rounded before it is compared, so that 59.96 s is a minute and not `60 s`.
        let shown = if value < 9.95 { (value * 10.0).round() / 10.0 } else { value.round() };
        if shown < size {
            return format!("{shown} {unit}");
        }
        value /= size;
    }
    unreachable!("the last step has no end")
}

/// A size in bytes in powers of 1,000: `812 B`, `4.2 kB`, `1.3 GB`.
pub fn bytes(size: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if size < 1000 {
        return format!("{size} B");
    }
    let mut value = size as f64;
    let mut shown = String::new();
    for unit in UNITS {
        value /= 1000.0;
        shown = if value < 9.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") };
        if value < 999.5 {
            break;
        }
    }
    shown
}

/// A float in JSON: a number, or the text `"nan"`, `"inf"`, `"-inf"`, which JSON has no number for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.serialize_str(&exact(self.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_keep_six_digits_and_no_trailing_zero() {
        for (value, shown) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (64.0, "64"),
            (0.002_771_855_228, "0.00277186"),
            (0.1 + 0.2, "0.3"),
            (123_456_789.0, "123456789"),
            (999_999.5, "1000000"),
            (9_999_999_999.0, "1e10"),
            (1.5e300, "1.5e300"),
            (-2.5e-7, "-2.5e-7"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(short(value), shown);
        }
    }

    #[test]
    fn exact_numbers_read_back_as_themselves() {
        for value in [0.002_771_855_228_616_633, 1e300, 5e-324, 1.0 / 3.0, 1e15, f64::MAX] {
            assert_eq!(exact(value).parse::<f64>(), Ok(value));
        }
    }

    #[test]
    fn durations_roll_over_to_the_next_unit() {
        for (secs, shown) in [
            (0.0, "0 ms"),
            (0.0123, "12 ms"),
            (0.4, "0.4 s"),
            (59.4, "59 s"),
            (59.96, "1 min"),
            (210.0, "3.5 min"),
            (7200.0, "2 h"),
            (3_456_000.0, "40 d"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(duration(secs), shown);
        }
    }

    #[test]
    fn sizes_roll_over_to_the_next_unit() {
        for (size, shown) in [
            (812, "812 B"),
            (4_200, "4.2 kB"),
            (999_700, "1.0 MB"),
            (1_300_000_000, "1.3 GB"),
            (u64::MAX, "18 EB"),
        ] {
            assert_eq!(bytes(size), shown);
        }
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(count(7), "7");
        assert_eq!(count(1_234_567), "1,234,567");
    }
}
