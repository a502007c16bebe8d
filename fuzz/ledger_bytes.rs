//! No bytes make the reader of ledgers fall, and none hide a good record that stands behind them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use soma_store::{Scanned, scan};

/// A whole record, as `docs/formats.md` shows it.
const GOOD: &[u8] = b"{\"kind\":\"alive\",\"sum\":\"01e4106b\"}";

fuzz_target!(|bytes: &[u8]| {
    for between in [&b"\n"[..], b""] {
        let whole = [bytes, between, GOOD, b"\n"].concat();
        let mut last = None;
        let read = scan(&whole, |at, found| last = Some((at, matches!(found, Scanned::Line(line) if line == GOOD))));
        assert_eq!(read, whole.len());
        assert_eq!(last, Some((bytes.len() + between.len(), true)));
    }
});
