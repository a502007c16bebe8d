//! Looking at every byte of a store.

use crate::backend::{Backend, Tail};
use crate::damage::Damage;
use crate::digest::Digest;
use crate::error::{Result, StoreError};
use crate::line::{self, Scanned};
use crate::seal::Seal;
use crate::store::Store;
use crate::{layout, written_once};

/// Read in one call.
const READ_BYTES: usize = 1 << 20;

/// What a store holds and what of it is damaged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// Blobs whose bytes are the ones that were put.
    pub blobs: usize,
    /// Names that read back.
    pub names: usize,
    /// Studies.
    pub studies: usize,
    /// Claims.
    pub claims: usize,
    /// Ledger files.
    pub ledgers: usize,
    /// Whole records in them.
    pub records: usize,
    /// Seals.
    pub seals: usize,
    /// Bytes that were read.
    pub size_bytes: u64,
    /// Every place that does not read.
    pub damage: Vec<Damage>,
    /// Files that no store of this version makes, and what broken-off writes left behind: nothing reads them.
    pub strays: Vec<String>,
}

impl Verification {
    /// Whether nothing is damaged. Strays are no damage.
    pub fn is_sound(&self) -> bool {
        self.damage.is_empty()
    }
}

impl Store {
    /// Looks at every byte of the store: digests, checksums, names, documents and every record. Writes nothing, stops
    /// at nothing, and may be called while others write: a record that is being written right now may show as an
    /// unfinished one.
    ///
    /// # Errors
    /// The storage fails.
    pub fn verify(&self) -> Result<Verification> {
        let mut looked = Looking { store: self, backend: &**self.backend(), found: Verification::default() };
        looked.root()?;
        looked.blobs()?;
        looked.names()?;
        looked.studies()?;
        Ok(looked.found)
    }
}

struct Looking<'a> {
    store: &'a Store,
    backend: &'a dyn Backend,
    found: Verification,
}

impl Looking<'_> {
    fn damaged(&mut self, key: &str, offset: u64, size: u64, what: &str) {
        self.found.damage.push(Damage::in_file(self.backend.path(key), offset, size, what));
    }

    fn stray(&mut self, key: &str) {
        self.found.strays.push(self.backend.path(key));
    }

    /// What lies under a key. What cannot be read is damage, and does not stop the looking.
    fn read(&mut self, key: &str) -> Option<Vec<u8>> {
        let read = self.backend.read(key);
        self.readable(key, read)
    }

    fn readable(&mut self, key: &str, read: Result<Option<Vec<u8>>>) -> Option<Vec<u8>> {
        read.unwrap_or_else(|error| {
            self.damaged(key, 0, 0, &Damage::unreadable(&error));
            None
        })
    }

    /// The entries of a folder, sorted, without what is on its way to its place.
    fn list(&mut self, folder: &str) -> Result<Vec<String>> {
        let (mut entries, unfinished): (Vec<_>, Vec<_>) =
            self.backend.list(folder)?.into_iter().partition(|entry| !layout::is_unfinished(entry));
        for entry in unfinished {
            self.stray(format!("{folder}/{entry}").trim_start_matches('/'));
        }
        entries.sort();
        Ok(entries)
    }

    fn root(&mut self) -> Result<()> {
        const KNOWN: [&str; 4] = [layout::FORMAT, layout::BLOBS, layout::NAMES, layout::STUDIES];
        for entry in self.list("")? {
            if !KNOWN.contains(&entry.as_str()) {
                self.stray(&entry);
            }
        }
        Ok(())
    }

    fn blobs(&mut self) -> Result<()> {
        for start in self.list(layout::BLOBS)? {
            let folder = format!("{}/{start}", layout::BLOBS);
            for rest in self.list(&folder)? {
                let key = format!("{folder}/{rest}");
                let Ok(digest) = format!("{start}{rest}").parse::<Digest>() else {
                    self.stray(&key);
                    continue;
                };
                let Some(bytes) = self.read(&key) else { continue };
                self.found.size_bytes += bytes.len() as u64;
                if Digest::of(&bytes) == digest {
                    self.found.blobs += 1;
                } else {
                    self.damaged(
                        &key,
                        0,
                        bytes.len() as u64,
                        "a blob whose bytes are other ones; it is lost",
                    );
                }
            }
        }
        Ok(())
    }

    fn names(&mut self) -> Result<()> {
        for entry in self.list(layout::NAMES)? {
            let key = format!("{}/{entry}", layout::NAMES);
            match self.store.read_binding(&key) {
                Ok(None) => {}
                Ok(Some(binding)) if layout::component(&binding.name) != entry => {
                    self.damaged(
                        &key,
                        0,
                        0,
                        "a file of another name; it stands for what that one stood for when it was copied",
                    );
                }
                Ok(Some(binding)) => {
                    self.found.names += 1;
                    if !self.store.contains(&binding.digest)? {
                        self.damaged(&key, 0, 0, "a name that stands for a blob that is not there");
                    }
                }
                Err(StoreError::Damaged { what, .. }) => {
                    self.damaged(&key, 0, 0, &format!("{what}; the name is lost"));
                }
                Err(StoreError::BadDigest { .. }) => {
                    self.damaged(&key, 0, 0, "a name that stands for no digest");
                }
                Err(error) => self.damaged(&key, 0, 0, &Damage::unreadable(&error)),
            }
        }
        Ok(())
    }

    fn studies(&mut self) -> Result<()> {
        for component in self.list(layout::STUDIES)? {
            let folder = layout::study(&component);
            for entry in self.list(&folder)? {
                let is_known = matches!(entry.as_str(), "claims" | "ledger" | "seals") || is_document(&entry);
                if !is_known {
                    self.stray(&format!("{folder}/{entry}"));
                }
            }
            self.documents(&folder, &component)?;
            for entry in self.list(&layout::claims(&folder))? {
                let key = format!("{}/{entry}", layout::claims(&folder));
                match layout::read_claim(&entry) {
                    Some(_) => self.claim(&key),
                    None => self.stray(&key),
                }
            }
            for entry in self.list(&layout::ledgers(&folder))? {
                let key = format!("{}/{entry}", layout::ledgers(&folder));
                match layout::read_ledger(&entry) {
                    Some(_) => self.ledger(&key),
                    None => self.stray(&key),
                }
            }
            for entry in self.list(&layout::seals(&folder))? {
                let key = format!("{}/{entry}", layout::seals(&folder));
                match layout::read_seal(&entry) {
                    Some(_) => self.seal(&key),
                    None => self.stray(&key),
                }
            }
        }
        Ok(())
    }

    fn claim(&mut self, key: &str) {
        self.found.claims += 1;
        let size = self.read(key).unwrap_or_default().len() as u64;
        if size > 0 {
            self.found.size_bytes += size;
            self.damaged(key, 0, size, Damage::FILLED_CLAIM);
        }
    }

    fn documents(&mut self, folder: &str, component: &str) -> Result<()> {
        let mut version = 1;
        loop {
            let key = layout::document(folder, version);
            let read = written_once::read(self.backend, &key);
            let Some(bytes) = self.readable(&key, read) else { break };
            self.found.size_bytes += bytes.len() as u64;
            let whole = bytes.strip_suffix(b"\n").filter(|whole| line::is_sound(whole));
            let name = whole.and_then(crate::store::name_in);
            match name {
                None => self.damaged(
                    &key,
                    0,
                    bytes.len() as u64,
                    "a document whose checksum is not that of its content",
                ),
                Some(name) if layout::component(&name) != component => {
                    self.damaged(&key, 0, 0, "a document of a study of another name");
                }
                Some(_) => {}
            }
            version += 1;
        }
        if version > 1 {
            self.found.studies += 1;
        } else if !self.backend.list(&layout::ledgers(folder))?.is_empty()
            && !self.backend.exists(&layout::document(folder, 1))?
        {
            self.damaged(
                &layout::document(folder, 1),
                0,
                0,
                "the document of the study is not there; its points do not read",
            );
        }
        Ok(())
    }

    fn seal(&mut self, key: &str) {
        let Some(bytes) = self.read(key) else { return };
        let size = bytes.len() as u64;
        self.found.size_bytes += size;
        if Seal::read(bytes).is_some_and(|seal| seal.is_sound()) {
            self.found.seals += 1;
        } else {
            self.damaged(
                key,
                0,
                size,
                "a seal that is not as it was written; nothing is lost, the ledgers are read instead",
            );
        }
    }

    fn ledger(&mut self, key: &str) {
        self.found.ledgers += 1;
        let mut end = self.backend.follow(key);
        let (mut bytes, mut base) = (Vec::with_capacity(READ_BYTES), 0);
        loop {
            bytes.reserve(READ_BYTES);
            let read = match end.read_on(base + bytes.len() as u64, &mut bytes) {
                Ok(Tail::Read(read)) => read,
                Ok(Tail::Gone) => return,
                Ok(Tail::NoFile) => {
                    self.found.ledgers -= 1;
                    self.stray(key);
                    return;
                }
                Err(error) => {
                    self.damaged(key, base, 0, &Damage::unreadable(&error));
                    return;
                }
            };
            let mut damage = Vec::new();
            let mut records = 0;
            let whole = line::scan(&bytes, |at, found| match found {
                Scanned::Line(_) => records += 1,
                Scanned::Damaged(part) => damage.push((base + at as u64, part.len() as u64)),
            });
            self.found.records += records;
            for (at, size) in damage {
                self.damaged(key, at, size, Damage::UNREADABLE);
            }
            self.found.size_bytes += read as u64;
            base += whole as u64;
            bytes.drain(..whole);
            if read == 0 {
                break;
            }
        }
        if !bytes.is_empty() {
            self.damaged(key, base, bytes.len() as u64, Damage::TORN);
        }
    }
}

fn is_document(entry: &str) -> bool {
    let version = entry.strip_prefix("study.").and_then(|rest| rest.strip_suffix(".json"));
    entry == "study.json"
        || version.is_some_and(|version| version.parse::<u32>().is_ok_and(|version| version > 1))
}
