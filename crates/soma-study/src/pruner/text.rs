//! Reads a pruner from its text: `median(goal=min,warmup=4,startup=6) | threshold(upper=2,warmup=0)`.

use std::str::FromStr;

use super::{
    DivergedOptions, HalvingOptions, HyperbandOptions, MedianOptions, PatienceOptions, PercentileOptions,
    Pruner, ThresholdOptions,
};
use crate::call::{Call, CallError};
use crate::error::PrunerError;
use crate::text::Reader;

const NAMES: [&str; 7] =
    ["median", "percentile", "threshold", "patience", "diverged", "halving", "hyperband"];

impl FromStr for Pruner {
    type Err = PrunerError;

    fn from_str(text: &str) -> Result<Self, PrunerError> {
        let mut reader = Reader::new("the pruner", text);
        let mut pruner = rule(Call::read(&mut reader, &NAMES)?)?;
        while reader.eat("|") {
            pruner = pruner | rule(Call::read(&mut reader, &NAMES)?)?;
        }
        reader.expect_end()?;
        Ok(pruner)
    }
}

fn rule(mut call: Call) -> Result<Pruner, PrunerError> {
    let pruner = match call.name() {
        "median" => Pruner::median(median(&mut call)?),
        "percentile" => Pruner::percentile(percentile(&mut call)?)?,
        "threshold" => Pruner::threshold(threshold(&mut call)?)?,
        "patience" => Pruner::patience(patience(&mut call)?)?,
        "diverged" => Pruner::diverged(diverged(&mut call)?)?,
        "halving" => Pruner::halving(halving(&mut call)?)?,
        _ => Pruner::hyperband(hyperband(&mut call)?)?,
    };
    call.end()?;
    Ok(pruner)
}

fn median(call: &mut Call) -> Result<MedianOptions, CallError> {
    let unsaid = MedianOptions::default();
    Ok(MedianOptions {
        goal: call.take_said("goal")?,
        warmup: call.take("warmup", unsaid.warmup)?,
        startup: call.take("startup", unsaid.startup)?,
    })
}

fn percentile(call: &mut Call) -> Result<PercentileOptions, CallError> {
    let unsaid = PercentileOptions::default();
    Ok(PercentileOptions {
        goal: call.take_said("goal")?,
        percentile: call.take("percentile", unsaid.percentile)?,
        warmup: call.take("warmup", unsaid.warmup)?,
        startup: call.take("startup", unsaid.startup)?,
    })
}

fn threshold(call: &mut Call) -> Result<ThresholdOptions, CallError> {
    Ok(ThresholdOptions {
        lower: call.take_said("lower")?,
        upper: call.take_said("upper")?,
        warmup: call.take("warmup", ThresholdOptions::default().warmup)?,
    })
}

fn patience(call: &mut Call) -> Result<PatienceOptions, CallError> {
    let unsaid = PatienceOptions::default();
    Ok(PatienceOptions {
        goal: call.take_said("goal")?,
        patience: call.take("patience", unsaid.patience)?,
        min_delta: call.take("min_delta", unsaid.min_delta)?,
        warmup: call.take("warmup", unsaid.warmup)?,
    })
}

fn diverged(call: &mut Call) -> Result<DivergedOptions, CallError> {
    let unsaid = DivergedOptions::default();
    Ok(DivergedOptions {
        goal: call.take_said("goal")?,
        factor: call.take("factor", unsaid.factor)?,
        warmup: call.take("warmup", unsaid.warmup)?,
    })
}

fn halving(call: &mut Call) -> Result<HalvingOptions, CallError> {
    let unsaid = HalvingOptions::default();
    Ok(HalvingOptions {
        goal: call.take_said("goal")?,
        min_steps: call.take("min_steps", unsaid.min_steps)?,
        factor: call.take("factor", unsaid.factor)?,
    })
}

fn hyperband(call: &mut Call) -> Result<HyperbandOptions, CallError> {
    let unsaid = HyperbandOptions::default();
    Ok(HyperbandOptions {
        goal: call.take_said("goal")?,
        min_steps: call.take("min_steps", unsaid.min_steps)?,
        max_steps: call.take("max_steps", unsaid.max_steps)?,
        factor: call.take("factor", unsaid.factor)?,
    })
}
