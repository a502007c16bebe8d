//! Seals: the beginnings of many small ledgers in one file.
//!
//! A study that thousands of short processes worked on is thousands of files; on a file server each costs a round trip
//! to open. A seal is their bytes one after the other, so that who reads the study for the first time opens one file and
//! goes on in the ledgers from there. It is derived: whoever loses it, or finds it damaged, reads the ledgers.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::backend::Backend;
use crate::error::Result;
use crate::{layout, line};

/// Ledgers longer than this are as quick to read alone.
const MAX_LEDGER_BYTES: usize = 256 << 10;

/// What a seal gathers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sealed {
    /// Ledgers whose beginnings are in it.
    pub n_ledgers: usize,
    /// Bytes of them.
    pub size_bytes: u64,
}

/// The first line of a seal; the parts follow in this order.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    kind: String,
    version: u64,
    parts: Vec<Part>,
}

/// The beginning of one ledger.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    ledger: String,
    bytes: usize,
    /// The CRC-32 of these bytes: where it differs the ledger itself is read.
    crc: u32,
}

/// A seal that was read.
#[derive(Debug)]
pub(crate) struct Seal {
    bytes: Vec<u8>,
    parts: FxHashMap<String, std::ops::Range<usize>>,
    header: Header,
    is_sound: bool,
}

impl Seal {
    /// Reads a seal. None where it has no header of this version: nothing of it can be used.
    pub(crate) fn read(bytes: Vec<u8>) -> Option<Self> {
        let end = memchr::memchr(b'\n', &bytes)?;
        let header =
            line::is_sound(&bytes[..end]).then(|| serde_json::from_slice::<Header>(&bytes[..end]))?.ok()?;
        if header.kind != "seal" || header.version > layout::VERSION {
            return None;
        }
        let (mut parts, mut start, mut is_sound) = (FxHashMap::default(), end + 1, true);
        for part in &header.parts {
            let place = start..start.saturating_add(part.bytes);
            start = place.end;
            match bytes.get(place.clone()).filter(|bytes| crc32fast::hash(bytes) == part.crc) {
                Some(_) => drop(parts.insert(part.ledger.clone(), place)),
                None => is_sound = false,
            }
        }
        Some(Self { bytes, parts, header, is_sound })
    }

    /// The newest seal of a study. None where there is none, or none that can be used: the ledgers say the same.
    pub(crate) fn newest(backend: &dyn Backend, study: &str) -> Option<Self> {
        let mut numbers = numbers(backend, study).ok()?;
        numbers.sort_unstable();
        numbers
            .into_iter()
            .rev()
            .find_map(|k| backend.read(&layout::seal(study, k)).ok().flatten().and_then(Self::read))
    }

    /// The beginning of a ledger, as far as it was sealed.
    pub(crate) fn part(&self, ledger: &str) -> Option<&[u8]> {
        self.parts.get(ledger).map(|place| &self.bytes[place.clone()])
    }

    /// Whether all of it is as it was written.
    pub(crate) fn is_sound(&self) -> bool {
        self.is_sound
    }
}

fn numbers(backend: &dyn Backend, study: &str) -> Result<Vec<u64>> {
    let listed = backend.list(&layout::seals(study))?;
    Ok(listed.iter().filter_map(|component| layout::read_seal(component)).collect())
}

/// Gathers what stands in the small ledgers of a study. None, and nothing is written, where that would spare nobody
/// anything: fewer than two of them, or nothing new since the last seal.
pub(crate) fn write(backend: &dyn Backend, study: &str) -> Result<Option<Sealed>> {
    let (mut parts, mut body) = (Vec::new(), Vec::new());
    let mut ledgers = backend.list(&layout::ledgers(study))?;
    ledgers.sort_unstable();
    for name in ledgers.iter().filter_map(|component| layout::read_ledger(component)) {
        // What cannot be read is left to whoever reads it.
        let Ok(Some(mut bytes)) = backend.read(&layout::ledger(study, name)) else { continue };
        bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1));
        if !bytes.is_empty() && bytes.len() <= MAX_LEDGER_BYTES {
            let (ledger, crc) = (name.to_owned(), crc32fast::hash(&bytes));
            parts.push(Part { ledger, bytes: bytes.len(), crc });
            body.append(&mut bytes);
        }
    }
    let sealed = Sealed { n_ledgers: parts.len(), size_bytes: body.len() as u64 };
    let header = Header { kind: "seal".to_owned(), version: layout::VERSION, parts };
    let is_known = Seal::newest(backend, study).is_some_and(|last| last.is_sound && last.header == header);
    if sealed.n_ledgers < 2 || is_known {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(body.len());
    line::seal(&mut bytes, &serde_json::to_vec(&header).expect("names and numbers are JSON"))?;
    bytes.append(&mut body);
    let older = numbers(backend, study)?;
    let mut k = older.iter().max().map_or(1, |last| last + 1);
    while !backend.create(&layout::seal(study, k), &bytes)? {
        k += 1;
    }
    for k in older {
        // What stays (somebody made a folder of that name) is passed over.
        drop(backend.remove(&layout::seal(study, k)));
    }
    Ok(Some(sealed))
}
