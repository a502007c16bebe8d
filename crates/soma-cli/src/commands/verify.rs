//! `soma verify`: every byte of a store, and what is damaged.

use serde::Serialize;
use soma_store::Verification;
use soma_study::Misfit;

use crate::args;
use crate::damage::{self, DamageShape};
use crate::escape;
use crate::failure::Failure;
use crate::number;
use crate::output::{Line, Output, Tone, Words};
use crate::target;

/// The `--json` shape.
#[derive(Serialize)]
struct Verified<'a> {
    store: &'a str,
    is_sound: bool,
    studies: usize,
    claims: usize,
    ledgers: usize,
    seals: usize,
    records: usize,
    blobs: usize,
    names: usize,
    size_bytes: u64,
    damage: Vec<DamageShape<'a>>,
    misfits: Vec<MisfitShape<'a>>,
    strays: &'a [String],
}

/// A recorded point that is not what its sampler gives.
#[derive(Serialize)]
struct MisfitShape<'a> {
    study: &'a str,
    trial: u64,
    attempt: u32,
    path: &'a str,
    offset: u64,
    sampler: &'a str,
    recorded: &'a str,
    given: Option<&'a str>,
}

impl<'a> From<&'a Misfit> for MisfitShape<'a> {
    fn from(misfit: &'a Misfit) -> Self {
        Self {
            study: &misfit.study,
            trial: misfit.trial,
            attempt: misfit.attempt,
            path: &misfit.path,
            offset: misfit.offset,
            sampler: &misfit.sampler,
            recorded: &misfit.recorded,
            given: misfit.given.as_deref(),
        }
    }
}

pub fn run(arguments: &args::Verify, output: &mut Output, words: &Words) -> Result<(), Failure> {
    let store = target::store(&arguments.store)?;
    let found = store.verify()?;
    let misfits = soma_study::misfits(&store)?;
    let location = store.location();
    if arguments.json {
        output.json("verify", &Verified::of(&found, &misfits, &location))?;
    } else {
        for damage in &found.damage {
            let (place, what) = damage::text(damage);
            let what = format!(": {}", escape::text(&what));
            output.whole_line(&vec![(Tone::Strong, place), (Tone::Bad, what)])?;
        }
        for stray in &found.strays {
            output.whole_line(&vec![
                (Tone::Strong, escape::name(stray).into_owned()),
                (Tone::Quiet, ": a file that is not the store's, which nothing reads".to_owned()),
            ])?;
        }
        for misfit in &misfits {
            output.whole_line(&vec![(Tone::Bad, escape::text(&misfit.to_string()).into_owned())])?;
        }
        output.whole_line(&verdict(&found, misfits.len()))?;
    }
    output.flush()?;
    let counts = [
        (found.damage.len(), "damaged place", "damaged places"),
        (misfits.len(), "point that its sampler does not give", "points that their samplers do not give"),
    ];
    let counts = counts.iter().filter(|(count, ..)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, one, many)| plural(*count, one, many)).collect();
    if counts.is_empty() {
        return Ok(());
    }
    words.warning(&format!("{} in `{}`", counts.join(" and "), escape::name(&location)));
    Err(Failure::Found)
}

impl<'a> Verified<'a> {
    fn of(found: &'a Verification, misfits: &'a [Misfit], store: &'a str) -> Self {
        Self {
            store,
            is_sound: found.is_sound() && misfits.is_empty(),
            studies: found.studies,
            claims: found.claims,
            ledgers: found.ledgers,
            seals: found.seals,
            records: found.records,
            blobs: found.blobs,
            names: found.names,
            size_bytes: found.size_bytes,
            damage: found.damage.iter().map(DamageShape::from).collect(),
            misfits: misfits.iter().map(MisfitShape::from).collect(),
            strays: &found.strays,
        }
    }
}

/// How the store is, and what was looked at.
fn verdict(found: &Verification, n_misfits: usize) -> Line {
    let counts = [
        (found.studies, "study", "studies"),
        (found.claims, "claim", "claims"),
        (found.ledgers, "ledger", "ledgers"),
        (found.records, "record", "records"),
        (found.blobs, "blob", "blobs"),
        (found.names, "name", "names"),
    ];
    let seals = (found.seals > 0).then_some((found.seals, "seal", "seals"));
    let counts = counts.into_iter().chain(seals).map(|(count, one, many)| plural(count, one, many));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let (tone, verdict) = match (found.damage.len(), n_misfits) {
        (0, 0) => (Tone::Good, "sound".to_owned()),
        (0, count) => (Tone::Bad, format!("{} wrong", plural(count, "point", "points"))),
        (count, _) => (Tone::Bad, format!("{} damaged", plural(count, "place", "places"))),
    };
    vec![(tone, verdict), (Tone::Plain, format!("  {counts}, {}", number::bytes(found.size_bytes)))]
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", number::count(count as u64), if count == 1 { one } else { many })
}
