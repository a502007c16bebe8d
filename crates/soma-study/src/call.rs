//! The text form of a sampler or of a rule of a pruner: `sobol(seed=0)`.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::error::{PrunerError, SamplerError, SpaceError};
use crate::goal::Goal;
use crate::text::Reader;

/// A name and the options that a text gives, each taken out as it is understood.
pub(crate) struct Call {
    name: &'static str,
    given: BTreeMap<String, String>,
    known: Vec<&'static str>,
}

/// Why a call does not read.
pub(crate) enum CallError {
    /// No such name.
    Unknown { given: String, expected: String, close: Option<String> },
    /// No such option.
    UnknownOption { name: &'static str, given: String, expected: String },
    /// Not a value of the option.
    Value { name: &'static str, option: &'static str, given: String, expected: &'static str },
    /// Not `name(option=value,...)`.
    Text(SpaceError),
}

/// The value of an option.
pub(crate) trait Value: FromStr {
    /// What it is, in words.
    const EXPECTED: &'static str;
}

impl Value for u32 {
    const EXPECTED: &'static str = "a whole number from 0 to 2^32-1";
}

impl Value for u64 {
    const EXPECTED: &'static str = "a whole number from 0 to 2^64-1";
}

impl Value for usize {
    const EXPECTED: &'static str = "a whole number of at least 0";
}

impl Value for f64 {
    const EXPECTED: &'static str = "a number";
}

impl Value for bool {
    const EXPECTED: &'static str = "`true` or `false`";
}

impl Value for Goal {
    const EXPECTED: &'static str = "`min` or `max`";
}

impl Call {
    /// The next call, of one of `names`.
    pub(crate) fn read(reader: &mut Reader<'_>, names: &[&'static str]) -> Result<Self, CallError> {
        let given = reader.word("a name")?;
        let Some(name) = names.iter().find(|one| **one == given) else {
            return Err(CallError::Unknown {
                close: crate::close::close(&given, names.iter().copied()),
                expected: in_words(names),
                given: given.into_owned(),
            });
        };
        let mut call = Self { name, given: BTreeMap::new(), known: Vec::new() };
        reader.expect("(")?;
        while !reader.eat(")") {
            if !call.given.is_empty() {
                reader.expect(",")?;
            }
            reader.skip_space();
            let start = reader.at();
            let option = reader.word("the name of an option")?.into_owned();
            if call.given.contains_key(&option) {
                return Err(reader.error(start, "an option that was not given yet".to_owned()).into());
            }
            reader.expect("=")?;
            call.given.insert(option, reader.raw("a value")?.to_owned());
        }
        Ok(call)
    }

    /// What is called.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The option, or what it is when nobody says.
    pub(crate) fn take<T: Value>(&mut self, option: &'static str, unsaid: T) -> Result<T, CallError> {
        Ok(self.take_said(option)?.unwrap_or(unsaid))
    }

    /// The option, where it was said.
    pub(crate) fn take_said<T: Value>(&mut self, option: &'static str) -> Result<Option<T>, CallError> {
        self.known.push(option);
        let Some(given) = self.given.remove(option) else { return Ok(None) };
        match given.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(CallError::Value { name: self.name, option, given, expected: T::EXPECTED }),
        }
    }

    /// Nothing may be left that was not taken.
    pub(crate) fn end(self) -> Result<(), CallError> {
        match self.given.into_keys().next() {
            None => Ok(()),
            Some(given) => {
                Err(CallError::UnknownOption { name: self.name, given, expected: in_words(&self.known) })
            }
        }
    }
}

fn in_words(names: &[&str]) -> String {
    names.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", ")
}

impl From<SpaceError> for CallError {
    fn from(error: SpaceError) -> Self {
        Self::Text(error)
    }
}

impl From<CallError> for SamplerError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Unknown { given, expected, close } => Self::Unknown { given, expected, close },
            CallError::UnknownOption { name, given, expected } => {
                Self::UnknownOption { sampler: name.to_owned(), given, expected }
            }
            CallError::Value { name, option, given, expected } => {
                Self::Option { sampler: name, option, given, expected }
            }
            CallError::Text(error) => Self::Text(error),
        }
    }
}

impl From<CallError> for PrunerError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Unknown { given, expected, close } => Self::Unknown { given, expected, close },
            CallError::UnknownOption { name, given, expected } => {
                Self::UnknownOption { pruner: name.to_owned(), given, expected }
            }
            CallError::Value { name, option, given, expected } => {
                Self::Option { pruner: name, option, given, expected }
            }
            CallError::Text(error) => Self::Text(error),
        }
    }
}
