//! One record, one line: a JSON object whose last member is the checksum of everything before it.
//!
//! `{"kind":"alive","sum":"5e0a3b1c"}` and a newline. The checksum is the CRC-32 (IEEE) of the bytes before `,"sum"`.

use crate::error::{Result, StoreError};

/// `,"sum":"` + 8 hexadecimal digits + `"}`.
const SEAL_BYTES: usize = SEAL.len() + 8 + 2;
const SEAL: &[u8] = b",\"sum\":\"";
/// How every record of a ledger starts; a quote inside a JSON string is escaped, so it occurs nowhere else.
const START: &[u8] = b"{\"kind\":\"";

/// Writes the JSON object `body` to `out` with its checksum and a newline.
pub(crate) fn seal(out: &mut Vec<u8>, body: &[u8]) -> Result<()> {
    let inner = body.strip_suffix(b"}").filter(|inner| inner.len() > 1 && inner.starts_with(b"{"));
    let Some(inner) = inner.filter(|inner| memchr::memchr(b'\n', inner).is_none()) else {
        return Err(StoreError::BadRecord {
            given: String::from_utf8_lossy(body).chars().take(80).collect(),
        });
    };
    out.extend_from_slice(inner);
    out.extend_from_slice(SEAL);
    let mut sum = [0; 8];
    write_hex(&mut sum, crc32fast::hash(inner));
    out.extend_from_slice(&sum);
    out.extend_from_slice(b"\"}\n");
    Ok(())
}

fn write_hex(out: &mut [u8; 8], value: u32) {
    for (i, digit) in out.iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(value >> (28 - 4 * i) & 15) as usize];
    }
}

/// Whether a line, without its newline, is whole.
pub(crate) fn is_sound(line: &[u8]) -> bool {
    let Some(at) = line.len().checked_sub(SEAL_BYTES) else { return false };
    let (inner, seal) = line.split_at(at);
    let mut sum = [0; 8];
    write_hex(&mut sum, crc32fast::hash(inner));
    seal.starts_with(SEAL) && seal.ends_with(b"\"}") && seal[SEAL.len()..SEAL.len() + 8] == sum
}

/// What stands in a stretch of a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scanned<'a> {
    /// A whole record, without its newline.
    Line(&'a [u8]),
    /// Bytes that are no record.
    Damaged(&'a [u8]),
}

/// Hands out what stands in `bytes`, in order and with its offset, up to the last newline; answers where that was.
///
/// A record whose newline was damaged, or that was written over by the end of another, is found inside the damaged
/// line: one bad byte never hides a good record. Time is linear in `bytes`, whatever they hold.
pub fn scan<'a>(bytes: &'a [u8], mut each: impl FnMut(usize, Scanned<'a>)) -> usize {
    let mut at = 0;
    for newline in memchr::memchr_iter(b'\n', bytes) {
        let line = &bytes[at..newline];
        if is_sound(line) {
            each(at, Scanned::Line(line));
        } else {
            salvage(line, at, &mut each);
        }
        at = newline + 1;
    }
    at
}

/// Finds the whole records inside a line that is not one.
fn salvage<'a>(line: &'a [u8], base: usize, each: &mut impl FnMut(usize, Scanned<'a>)) {
    let (mut done, mut looked) = (0, 0);
    let damaged = |from: usize, to: usize, each: &mut dyn FnMut(usize, Scanned<'a>)| {
        if from < to {
            each(base + from, Scanned::Damaged(&line[from..to]));
        }
    };
    for seal in memchr::memmem::find_iter(line, SEAL) {
        let end = seal + SEAL_BYTES;
        if seal < done || end > line.len() {
            continue;
        }
        // Only the nearest start can belong to this end, and none that another end lies behind.
        let from = std::mem::replace(&mut looked, seal).max(done);
        let Some(start) = memchr::memmem::rfind(&line[from..seal], START).map(|found| from + found) else {
            continue;
        };
        if is_sound(&line[start..end]) {
            damaged(done, start, each);
            each(base + start, Scanned::Line(&line[start..end]));
            done = end;
        }
    }
    // An empty line is damage too: nothing we write leaves one.
    if done == 0 && line.is_empty() {
        each(base, Scanned::Damaged(line));
    }
    damaged(done, line.len(), each);
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Strategy as _;

    use super::*;

    fn sealed(bodies: &[&str]) -> Vec<u8> {
        let mut out = Vec::new();
        for body in bodies {
            seal(&mut out, body.as_bytes()).unwrap();
        }
        out
    }

    fn good(bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        scan(bytes, |_, found| {
            if let Scanned::Line(line) = found {
                lines.push(String::from_utf8(line[..line.len() - SEAL_BYTES].to_vec()).unwrap() + "}");
            }
        });
        lines
    }

    const BODIES: [&str; 3] = [
        r#"{"kind":"a","x":"{\"kind\":\" ,\"sum\":\""}"#,
        r#"{"kind":"b","said":[0.5]}"#,
        r#"{"kind":"c","é":"ü"}"#,
    ];

    #[test]
    fn a_sealed_line_is_json_and_reads_back() {
        let bytes = sealed(&BODIES);
        for line in std::str::from_utf8(&bytes).unwrap().lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
        }
        assert_eq!(good(&bytes), BODIES);
    }

    #[test]
    fn what_is_not_one_object_on_one_line_is_refused() {
        for body in ["", "{}", "[1]", "{\"a\":\n1}", "{\"a\":1"] {
            assert!(seal(&mut Vec::new(), body.as_bytes()).is_err(), "{body:?}");
        }
    }

    #[test]
    fn one_bad_byte_anywhere_costs_one_record() {
        let bytes = sealed(&BODIES);
        for at in 0..bytes.len() {
            for flip in [1, 0x20, 0x80, b'\n' ^ bytes[at]] {
                if flip == 0 {
                    continue;
                }
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                let lost = BODIES.len() - good(&damaged).len();
                assert!(lost <= 1, "byte {at} flipped by {flip:#x} cost {lost} records");
                assert!(good(&damaged).iter().all(|line| BODIES.contains(&line.as_str())));
            }
        }
    }

    #[test]
    fn a_cut_costs_what_was_cut_and_the_torn_end_is_not_read() {
        let bytes = sealed(&BODIES);
        for cut in 0..bytes.len() {
            let whole = memchr::memchr_iter(b'\n', &bytes[..cut]).count();
            assert_eq!(good(&bytes[..cut]).len(), whole);
        }
    }

    #[test]
    fn a_hole_of_zeros_hides_nothing_behind_it() {
        let mut bytes = sealed(&BODIES[..1]);
        bytes.extend([0; 512]);
        bytes.extend(sealed(&BODIES[1..]));
        assert_eq!(good(&bytes), BODIES);
    }

    #[test]
    fn a_megabyte_of_ends_without_a_beginning_is_scanned_in_linear_time() {
        let began = std::time::Instant::now();
        for start in [&b""[..], START] {
            let mut bytes = [start, &SEAL.repeat(200_000), b"\n"].concat();
            bytes.extend(sealed(&BODIES[..1]));
            assert_eq!(good(&bytes), BODIES[..1]);
        }
        // It took minutes.
        assert!(began.elapsed() < std::time::Duration::from_secs(20));
    }

    #[test]
    fn every_byte_is_accounted_for() {
        let mut bytes = sealed(&BODIES);
        bytes[20] ^= 1;
        bytes.extend(b"\n\nnoise\n");
        let (mut next, end) = (0, bytes.len());
        let read = scan(&bytes, |at, found| {
            let (Scanned::Line(part) | Scanned::Damaged(part)) = found;
            assert!(at == next || bytes[next..at] == *b"\n", "a gap before {at}");
            next = at + part.len();
        });
        assert_eq!((read, next), (end, end - 1));
    }

    proptest::proptest! {
        /// The fuzz target `ledger_bytes`, as a plain test.
        #[test]
        fn no_bytes_hide_a_good_record_behind_them(
            noise in proptest::collection::vec(proptest::prop_oneof![
                proptest::prelude::any::<u8>().prop_map(|byte| vec![byte]),
                proptest::sample::select(vec![START.to_vec(), SEAL.to_vec(), b"\n".to_vec(), b"\"}".to_vec()]),
            ], 0..40),
        ) {
            for between in [&b"\n"[..], b""] {
                let good = sealed(&BODIES[1..2]);
                let whole = [&noise.concat(), between, &good].concat();
                let mut last = None;
                let read = scan(&whole, |at, found| last = Some((at, matches!(found, Scanned::Line(_)))));
                assert_eq!((read, last), (whole.len(), Some((whole.len() - good.len(), true))));
            }
        }
    }
}
