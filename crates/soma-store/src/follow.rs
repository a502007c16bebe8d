//! Reading on: all ledgers of a study, each from where the last call stopped.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustc_hash::FxHashMap;

use crate::backend::{Backend, Follow, Tail, Watch};
use crate::error::{Result, StoreError};
use crate::layout;
use crate::line::{self, Scanned};
use crate::seal::Seal;

/// Read in one call when nothing is known about how much is new.
const FIRST_READ_BYTES: usize = 16 << 10;
/// Read in one call when there is more.
const READ_BYTES: usize = 1 << 20;
/// No ledger is taken for alive without a sign for longer than three of these, whatever it promises.
const MAX_BEAT: Duration = Duration::from_secs(60 * 60);

/// Which ledger of a [`Follower`], in the order in which it met them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LedgerId(pub u32);

/// What a [`Follower`] finds.
#[derive(Debug, Clone, Copy)]
pub enum Found<'a> {
    /// A record, whole, as one JSON object.
    Line {
        /// Where it stands.
        ledger: LedgerId,
        /// The ledger's name.
        name: &'a Arc<str>,
        /// Bytes before it.
        offset: u64,
        /// The object, its checksum included.
        line: &'a [u8],
    },
    /// Bytes that are no record: what comes after them is read all the same.
    Damaged {
        /// Where they stand.
        ledger: LedgerId,
        /// The ledger's name.
        name: &'a Arc<str>,
        /// Bytes before them.
        offset: u64,
        /// How many there are.
        size: u64,
    },
    /// A ledger that cannot be read, or no longer; told once, tried again at every call. The others are read.
    Unreadable {
        /// Which it is.
        ledger: LedgerId,
        /// The ledger's name.
        name: &'a Arc<str>,
        /// Bytes of it that were read.
        offset: u64,
        /// Why.
        error: &'a StoreError,
    },
    /// A ledger was taken away: everything handed out before is to be forgotten, and comes again as far as it is
    /// still there.
    Reset,
}

/// Reads all ledgers of a study, each from where it stopped.
#[derive(Debug)]
pub struct Follower {
    backend: Arc<dyn Backend>,
    folder: String,
    watch: Box<dyn Watch>,
    ledgers: Vec<Followed>,
    by_name: FxHashMap<Arc<str>, LedgerId>,
    buffer: Vec<u8>,
    // The beginnings of many ledgers, while they are read for the first time.
    seal: Option<Seal>,
}

#[derive(Debug)]
struct Followed {
    name: Arc<str>,
    end: Box<dyn Follow>,
    // Bytes handed out, and how many stand behind that are not whole yet.
    read: u64,
    torn: u64,
    is_closed: bool,
    version: u64,
    beat: Duration,
    // Why the last reading failed, until somebody asks; and whether that was told.
    failure: Option<StoreError>,
    is_told: bool,
    // On the caller's clock: when it was first read, and when it last had something new.
    met: Duration,
    grew: Duration,
}

impl Follower {
    pub(crate) fn new(backend: Arc<dyn Backend>, folder: String) -> Self {
        let watch = backend.watch(&layout::ledgers(&folder));
        Self {
            backend,
            folder,
            watch,
            ledgers: Vec::new(),
            by_name: FxHashMap::default(),
            buffer: Vec::new(),
            seal: None,
        }
    }

    /// Hands out what is new since the last call, ledger by ledger, each in order. `now` is the reader's clock, on
    /// which silence is measured.
    ///
    /// # Errors
    /// [`StoreError::NewerVersion`]; the ledgers cannot be listed. What was handed out before the error is not handed
    /// out again.
    pub fn read_on(&mut self, now: Duration, each: &mut dyn FnMut(Found<'_>)) -> Result<()> {
        if self.look_for_ledgers(now)? {
            each(Found::Reset);
        }
        let mut is_gone = false;
        for id in 0..self.ledgers.len() {
            if !self.ledgers[id].is_closed {
                is_gone |= self.read_ledger(id, now, each)?;
            }
        }
        if is_gone {
            self.forget();
            each(Found::Reset);
            self.look_for_ledgers(now)?;
            for id in 0..self.ledgers.len() {
                self.read_ledger(id, now, each)?;
            }
        }
        // What a first reading needed is not kept for the small ones that follow.
        self.buffer.clear();
        self.buffer.shrink_to(FIRST_READ_BYTES);
        self.seal = None;
        Ok(())
    }

    /// Answers whether a known ledger is gone, and forgets everything then.
    fn look_for_ledgers(&mut self, now: Duration) -> Result<bool> {
        let Some(listed) = self.watch.changed()? else { return Ok(false) };
        let mut names: Vec<&str> =
            listed.iter().filter_map(|component| layout::read_ledger(component)).collect();
        let known = names.iter().filter(|name| self.by_name.contains_key(**name)).count();
        let is_gone = known < self.ledgers.len();
        if is_gone {
            self.forget();
        }
        if is_gone || known < names.len() {
            if self.ledgers.is_empty() && names.len() > 1 {
                self.seal = Seal::newest(&*self.backend, &self.folder);
            }
            // In the order of a seal, which is then read from front to back.
            names.sort_unstable();
            for name in names {
                self.meet(name, now);
            }
        }
        Ok(is_gone)
    }

    fn forget(&mut self) {
        self.ledgers.clear();
        self.by_name.clear();
        self.watch = self.backend.watch(&layout::ledgers(&self.folder));
    }

    fn meet(&mut self, name: &str, now: Duration) {
        if self.by_name.contains_key(name) {
            return;
        }
        let name: Arc<str> = name.into();
        let end = self.backend.follow(&layout::ledger(&self.folder, &name));
        self.by_name.insert(Arc::clone(&name), LedgerId(self.ledgers.len() as u32));
        let (read, is_closed, version, beat) = (0, false, 0, Duration::ZERO);
        self.ledgers.push(Followed {
            name,
            end,
            read,
            torn: 0,
            is_closed,
            version,
            beat,
            failure: None,
            is_told: false,
            met: now,
            grew: now,
        });
    }

    /// Answers whether the ledger is gone.
    fn read_ledger(&mut self, id: usize, now: Duration, each: &mut dyn FnMut(Found<'_>)) -> Result<bool> {
        let ledger = &mut self.ledgers[id];
        if ledger.read == 0
            && let Some(part) = self.seal.as_ref().and_then(|seal| seal.part(&ledger.name))
        {
            ledger.read = ledger.hand_out(LedgerId(id as u32), 0, part, each) as u64;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = if ledger.is_closed {
            Ok(Tail::Read(0))
        } else {
            ledger.read_on(LedgerId(id as u32), now, &mut buffer, each)
        };
        self.buffer = buffer;
        let is_gone = ledger.settle(LedgerId(id as u32), read, each);
        if ledger.is_closed {
            ledger.end.rest();
        }
        if let Err(found) = ledger.check_version() {
            let path = self.backend.path(&layout::ledger(&self.folder, &ledger.name));
            return Err(StoreError::NewerVersion { path, found, known: layout::VERSION });
        }
        Ok(is_gone)
    }

    /// Answers an error where one of `ledgers` could not be read to its end: what it says there is not known.
    ///
    /// # Errors
    /// What the storage said of it.
    pub fn require(&mut self, ledgers: impl IntoIterator<Item = LedgerId>) -> Result<()> {
        ledgers.into_iter().find_map(|id| self.ledgers[id.0 as usize].failure.take()).map_or(Ok(()), Err)
    }

    /// Every ledger that was met.
    pub fn ledgers(&self) -> impl ExactSizeIterator<Item = LedgerId> + use<> {
        (0..self.ledgers.len()).map(|id| LedgerId(id as u32))
    }

    /// The name of a ledger that something was found in.
    pub fn name(&self, ledger: LedgerId) -> &Arc<str> {
        &self.ledgers[ledger.0 as usize].name
    }

    /// The ledger with this name, if it was met.
    pub fn id(&self, name: &str) -> Option<LedgerId> {
        self.by_name.get(name).copied()
    }

    /// How many bytes of a ledger were handed out.
    pub fn bytes_read(&self, ledger: LedgerId) -> u64 {
        self.ledgers[ledger.0 as usize].read
    }

    /// How many bytes stand behind those: a record that is being written, or that nobody will finish.
    pub fn bytes_torn(&self, ledger: LedgerId) -> u64 {
        self.ledgers[ledger.0 as usize].torn
    }

    /// Whether the process that wrote it said that nothing more will come.
    pub fn is_closed(&self, ledger: LedgerId) -> bool {
        self.ledgers[ledger.0 as usize].is_closed
    }

    /// How often the process that writes it promised a sign of life.
    pub fn beat(&self, ledger: LedgerId) -> Duration {
        self.ledgers[ledger.0 as usize].beat
    }

    /// How long a ledger has had nothing new. Watched for `enough` by this reader, on the clock given to
    /// [`Follower::read_on`], that alone counts; before, the storage's time against the storage's time, where
    /// `storage_now` knows it.
    ///
    /// # Errors
    /// The storage fails.
    pub fn silence(
        &mut self,
        ledger: LedgerId,
        now: Duration,
        enough: Duration,
        storage_now: impl FnOnce() -> Result<Option<SystemTime>>,
    ) -> Result<Duration> {
        let ledger = &mut self.ledgers[ledger.0 as usize];
        let watched = now.saturating_sub(ledger.grew);
        let has_grown = ledger.grew > ledger.met;
        if has_grown || now.saturating_sub(ledger.met) >= enough {
            return Ok(watched);
        }
        match (ledger.end.modified()?, storage_now()?) {
            (Some(written), Some(now)) => Ok(now.duration_since(written).unwrap_or_default().max(watched)),
            _ => Ok(watched),
        }
    }
}

impl Followed {
    /// Notes how reading went; answers whether the ledger is gone.
    fn settle(&mut self, ledger: LedgerId, read: Result<Tail>, each: &mut dyn FnMut(Found<'_>)) -> bool {
        let error = match read {
            Ok(Tail::Gone) => return true,
            Ok(Tail::Read(_)) => {
                (self.failure, self.is_told) = (None, false);
                return false;
            }
            Ok(Tail::NoFile) => {
                // No ledger of anybody's, so nothing is missed.
                self.is_closed = true;
                return false;
            }
            Err(error) => error,
        };
        if !std::mem::replace(&mut self.is_told, true) {
            each(Found::Unreadable { ledger, name: &self.name, offset: self.read, error: &error });
        }
        self.failure = Some(error);
        false
    }

    fn read_on(
        &mut self,
        id: LedgerId,
        now: Duration,
        buffer: &mut Vec<u8>,
        each: &mut dyn FnMut(Found<'_>),
    ) -> Result<Tail> {
        buffer.clear();
        buffer.reserve(FIRST_READ_BYTES);
        let (start, mut base) = (self.read, self.read);
        let known_end = self.read + self.torn;
        loop {
            let room = buffer.capacity() - buffer.len();
            let read = match self.end.read_on(base + buffer.len() as u64, buffer)? {
                Tail::Read(read) => read,
                other => return Ok(other),
            };
            if read > 0 {
                // An unfinished end is read anew every time, and is no sign of life.
                if base + buffer.len() as u64 > known_end {
                    self.grew = now;
                }
                // A line longer than one read is looked at once, when its end is there.
                if memchr::memchr(b'\n', &buffer[buffer.len() - read..]).is_some() {
                    let whole = self.hand_out(id, base, buffer, each);
                    buffer.drain(..whole);
                    base += whole as u64;
                    self.read = base;
                }
            }
            self.torn = buffer.len() as u64;
            if read < room {
                return Ok(Tail::Read((self.read - start) as usize));
            }
            buffer.reserve(READ_BYTES);
        }
    }

    /// Answers how many bytes of `bytes`, which begin at `base`, were whole.
    fn hand_out(
        &mut self,
        ledger: LedgerId,
        base: u64,
        bytes: &[u8],
        each: &mut dyn FnMut(Found<'_>),
    ) -> usize {
        let name = &Arc::clone(&self.name);
        line::scan(bytes, |at, found| {
            let offset = base + at as u64;
            match found {
                Scanned::Line(line) => {
                    // The two records of a ledger about itself.
                    if line.starts_with(br#"{"kind":"open""#) {
                        self.open(line);
                    } else if line.starts_with(br#"{"kind":"close""#) {
                        self.is_closed = true;
                    }
                    each(Found::Line { ledger, name, offset, line });
                }
                Scanned::Damaged(part) => {
                    each(Found::Damaged { ledger, name, offset, size: part.len() as u64 });
                }
            }
        })
    }
}

/// The first record of a ledger.
#[derive(serde::Deserialize)]
struct Opening {
    version: u64,
    #[serde(default)]
    beat_secs: f64,
}

impl Followed {
    fn open(&mut self, line: &[u8]) {
        let Ok(opening) = serde_json::from_slice::<Opening>(line) else { return };
        self.version = opening.version;
        self.beat = Duration::try_from_secs_f64(opening.beat_secs).unwrap_or_default().min(MAX_BEAT);
    }

    fn check_version(&self) -> Result<(), u64> {
        if self.version > layout::VERSION { Err(self.version) } else { Ok(()) }
    }
}
