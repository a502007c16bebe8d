//! Reads a sampler from its text: `sobol(seed=0)`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use super::{RandomOptions, Sampler, SobolOptions, TpeOptions};
use crate::error::{SamplerError, SpaceError};
use crate::goal::Goal;
use crate::text::Reader;

const NAMES: [&str; 5] = ["grid", "random", "halton", "sobol", "tpe"];

/// The options that a text gives, by name.
struct Given {
    sampler: String,
    options: BTreeMap<String, String>,
}

impl Given {
    fn read(text: &str) -> Result<Self, SpaceError> {
        let mut reader = Reader::new("the sampler", text);
        let sampler = reader.word("the name of a sampler")?.into_owned();
        let mut options = BTreeMap::new();
        reader.expect("(")?;
        while !reader.eat(")") {
            if !options.is_empty() {
                reader.expect(",")?;
            }
            let name = reader.word("the name of an option")?.into_owned();
            reader.expect("=")?;
            options.insert(name, reader.raw("a value")?.to_owned());
        }
        reader.expect_end()?;
        Ok(Self { sampler, options })
    }

    /// The option `name`, or what it is when nobody says; forgets it.
    fn take<T: FromStr + Display>(&mut self, name: &'static str, default: T) -> Result<T, SamplerError> {
        let Some(text) = self.options.remove(name) else { return Ok(default) };
        text.parse().map_err(|_| SamplerError::Option {
            sampler: NAMES.iter().find(|one| **one == self.sampler).unwrap_or(&"sampler"),
            option: name,
            given: text,
            expected: "a value of the kind it is written with",
        })
    }

    /// Every option must have been taken.
    fn end(self, known: &[&str]) -> Result<(), SamplerError> {
        match self.options.into_keys().next() {
            None => Ok(()),
            Some(given) => Err(SamplerError::UnknownOption {
                sampler: self.sampler,
                given,
                expected: known.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", "),
            }),
        }
    }
}

impl FromStr for Sampler {
    type Err = SamplerError;

    fn from_str(text: &str) -> Result<Self, SamplerError> {
        let mut given = Given::read(text)?;
        match given.sampler.as_str() {
            "grid" => {
                let points = given.take("points_per_real", 1)?;
                given.end(&["points_per_real"])?;
                Self::grid(points)
            }
            "random" => {
                let options = RandomOptions::default()
                    .with_seed(given.take("seed", 0)?)
                    .with_repeats(given.take("repeats", false)?);
                given.end(&["seed", "repeats"])?;
                Ok(Self::random_with(options))
            }
            "halton" => {
                let seed = given.take("seed", 0)?;
                given.end(&["seed"])?;
                Ok(Self::halton(seed))
            }
            "sobol" => {
                let options = SobolOptions::default()
                    .with_seed(given.take("seed", 0)?)
                    .with_owen(given.take("owen", false)?);
                given.end(&["seed", "owen"])?;
                Ok(Self::sobol_with(options))
            }
            "tpe" => {
                let unsaid = TpeOptions::default();
                let mut options = unsaid
                    .with_seed(given.take("seed", unsaid.seed)?)
                    .with_startup(given.take("startup", unsaid.startup)?)
                    .with_candidates(given.take("candidates", unsaid.candidates)?);
                if given.options.contains_key("goal") {
                    options = options.with_goal(given.take("goal", Goal::Min)?);
                }
                given.end(&["seed", "goal", "startup", "candidates"])?;
                Self::tpe(options)
            }
            _ => Err(SamplerError::Unknown {
                close: crate::close::close(&given.sampler, NAMES.into_iter()),
                expected: NAMES.map(|one| format!("`{one}`")).join(", "),
                given: given.sampler,
            }),
        }
    }
}
