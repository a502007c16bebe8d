//! `soma completions`: the script a shell loads.

use std::io::Write as _;

use serde::Serialize;

use crate::args::Completions;
use crate::failure::Failure;
use crate::output::Output;

/// The `--json` shape.
#[derive(Serialize)]
struct Script<'a> {
    shell: &'a str,
    text: &'a str,
}

pub fn run(arguments: &Completions, output: &mut Output) -> Result<(), Failure> {
    // Into memory first: the generators take no for an answer from a closed pipe with a panic.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::definitions(), "soma", &mut script);
    if arguments.json {
        let text = String::from_utf8_lossy(&script);
        return output.json("completions", &Script { shell: &arguments.shell.to_string(), text: &text });
    }
    Ok(output.write_all(&script)?)
}
