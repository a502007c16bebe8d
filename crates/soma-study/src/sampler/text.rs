//! Reads a sampler from its text: `sobol(seed=0)`.

use std::str::FromStr;

use super::{RandomOptions, Sampler, SobolOptions, TpeOptions};
use crate::call::{Call, CallError};
use crate::error::SamplerError;
use crate::text::Reader;

const NAMES: [&str; 5] = ["grid", "random", "halton", "sobol", "tpe"];

impl FromStr for Sampler {
    type Err = SamplerError;

    fn from_str(text: &str) -> Result<Self, SamplerError> {
        let mut reader = Reader::new("the sampler", text);
        let mut call = Call::read(&mut reader, &NAMES)?;
        reader.expect_end()?;
        let sampler = match call.name() {
            "grid" => Self::grid(call.take("points_per_real", 1)?)?,
            "random" => {
                let RandomOptions { seed, repeats } = RandomOptions::default();
                let (seed, repeats) = (call.take("seed", seed)?, call.take("repeats", repeats)?);
                Self::random_with(RandomOptions { seed, repeats })
            }
            "halton" => Self::halton(call.take("seed", 0)?),
            "sobol" => {
                let SobolOptions { seed, owen } = SobolOptions::default();
                let (seed, owen) = (call.take("seed", seed)?, call.take("owen", owen)?);
                Self::sobol_with(SobolOptions { seed, owen })
            }
            _ => Self::tpe(tpe(&mut call)?)?,
        };
        call.end()?;
        Ok(sampler)
    }
}

fn tpe(call: &mut Call) -> Result<TpeOptions, CallError> {
    let unsaid = TpeOptions::default();
    Ok(TpeOptions {
        seed: call.take("seed", unsaid.seed)?,
        goal: call.take_said("goal")?,
        startup: call.take("startup", unsaid.startup)?,
        candidates: call.take("candidates", unsaid.candidates)?,
    })
}
