//! `soma seal`: the files of many short workers in one.

use serde::Serialize;

use crate::args;
use crate::failure::Failure;
use crate::number;
use crate::output::{Output, Tone, Words};
use crate::target;

/// The `--json` shape.
#[derive(Serialize)]
struct Gathered<'a> {
    study: &'a str,
    ledgers: usize,
    size_bytes: u64,
}

pub fn run(arguments: &args::Seal, output: &mut Output, words: &Words) -> Result<(), Failure> {
    // Found by reading: a wrong path makes no store.
    let study = target::open(&arguments.target)?;
    let store = target::writable(&arguments.target.store)?;
    let sealed = soma_study::seal(&store, &study.name)?;
    if arguments.json {
        let (ledgers, size_bytes) = sealed.map_or((0, 0), |sealed| (sealed.n_ledgers, sealed.size_bytes));
        output.json("seal", &Gathered { study: &study.name, ledgers, size_bytes })?;
    } else if let Some(sealed) = sealed {
        let (count, size) = (number::count(sealed.n_ledgers as u64), number::bytes(sealed.size_bytes));
        output.line(&vec![
            (Tone::Good, "sealed".to_owned()),
            (Tone::Plain, format!("  {count} ledgers, {size}")),
        ])?;
    } else {
        words.note("nothing to gather: fewer than two small ledgers, or nothing new since the last seal");
    }
    study.say_damage(output, words)
}
