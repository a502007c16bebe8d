//! `soma man`: the manual pages, as `man` reads them.

use std::io::Write as _;

use serde::Serialize;

use crate::args::Man;
use crate::failure::Failure;
use crate::output::Output;

/// The `--json` shape.
#[derive(Serialize)]
struct Page<'a> {
    page: &'a str,
    text: &'a str,
}

pub fn run(arguments: &Man, output: &mut Output) -> Result<(), Failure> {
    let soma = crate::definitions();
    let (name, command) = match &arguments.verb {
        None => ("soma".to_owned(), soma),
        Some(verb) => {
            let found = soma.find_subcommand(verb).ok_or_else(|| {
                let verbs =
                    soma.get_subcommands().map(clap::Command::get_name).filter(|verb| *verb != "help");
                let verbs: Vec<&str> = verbs.collect();
                Failure::hinted(
                    format!("there is no verb `{}`", crate::escape::name(verb)),
                    format!("the verbs are {}", verbs.join(", ")),
                )
            })?;
            (format!("soma-{}", found.get_name()), found.clone())
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).manual("soma").date("").render(&mut page)?;
    if arguments.json {
        return output.json("man", &Page { page: &name, text: &String::from_utf8_lossy(&page) });
    }
    Ok(output.write_all(&page)?)
}
