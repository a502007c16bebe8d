//! The pages of `docs/cli`, made from the argument definitions so that they cannot say anything else.

use std::fmt::Write as _;

use clap::{Arg, Command};

/// What stands at the top of every page.
const MADE: &str =
    "<!-- Made from the argument definitions. `UPDATE_DOCS=1 cargo test -p soma-cli` makes it anew. -->\n\n";

/// Every generated page of `docs/cli`: the name of its file and its text.
pub fn pages() -> Vec<(String, String)> {
    let soma = crate::definitions();
    let verbs = || soma.get_subcommands().filter(|verb| verb.get_name() != "help");
    let mut pages = vec![("README.md".to_owned(), index(&soma, verbs()))];
    pages.extend(verbs().map(|verb| (format!("{}.md", verb.get_name()), page(verb))));
    pages
}

/// The page of `soma` itself.
fn index<'a>(soma: &'a Command, verbs: impl Iterator<Item = &'a Command>) -> String {
    let mut page = format!("{MADE}# The `soma` command line\n\n");
    push_about(&mut page, soma);
    page.push_str("| verb | |\n| --- | --- |\n");
    for verb in verbs {
        let name = verb.get_name();
        let _ = writeln!(page, "| [`{name}`]({name}.md) | {} |", styled(verb.get_about()));
    }
    page.push_str("\nThe shapes of `--json` stand in [json.md](json.md).\n\n## Options\n\n");
    push_arguments(&mut page, soma.get_arguments());
    push_after(&mut page, soma);
    page
}

/// The page of one verb.
fn page(verb: &Command) -> String {
    let mut page = format!("{MADE}# `soma {}`\n\n", verb.get_name());
    push_about(&mut page, verb);
    let usage = verb.clone().render_usage().to_string();
    let _ = writeln!(page, "```text\n{}\n```\n", usage.trim_start_matches("Usage: "));
    let positionals: Vec<&Arg> = verb.get_positionals().collect();
    if !positionals.is_empty() {
        page.push_str("## Arguments\n\n");
        push_arguments(&mut page, positionals.into_iter());
    }
    page.push_str("## Options\n\n");
    push_arguments(&mut page, verb.get_arguments().filter(|argument| !argument.is_positional()));
    push_after(&mut page, verb);
    let _ = writeln!(page, "The shape of `--json`: [json.md](json.md#{}).", verb.get_name());
    page
}

fn push_about(page: &mut String, command: &Command) {
    let about = command.get_long_about().or_else(|| command.get_about());
    let _ = writeln!(page, "{}\n", styled(about));
}

fn push_arguments<'a>(page: &mut String, arguments: impl Iterator<Item = &'a Arg>) {
    for argument in arguments.filter(|argument| !argument.is_hide_set()) {
        let _ = write!(page, "- `{}`: {}", spelled(argument), styled(argument.get_help()));
        let defaults: Vec<_> =
            argument.get_default_values().iter().filter_map(|value| value.to_str()).collect();
        if argument.get_action().takes_values() && !defaults.is_empty() {
            let _ = write!(page, " (default `{}`)", defaults.join(" "));
        }
        page.push('\n');
        for value in argument.get_possible_values().iter().filter(|value| !value.is_hide_set()) {
            if argument.get_action().takes_values() {
                let _ = write!(page, "  - `{}`", value.get_name());
                if let Some(help) = value.get_help() {
                    let _ = write!(page, ": {help}");
                }
                page.push('\n');
            }
        }
    }
    page.push('\n');
}

/// An argument as it is typed: `<STORE>`, `[STUDY]`, `-o, --output <FILE>`.
fn spelled(argument: &Arg) -> String {
    let value = argument
        .get_value_names()
        .and_then(|names| names.first())
        .map_or_else(|| argument.get_id().to_string(), ToString::to_string);
    if argument.is_positional() {
        return if argument.is_required_set() { format!("<{value}>") } else { format!("[{value}]") };
    }
    let mut spelled = String::new();
    if let Some(short) = argument.get_short() {
        let _ = write!(spelled, "-{short}, ");
    }
    let _ = write!(spelled, "--{}", argument.get_long().unwrap_or_default());
    if argument.get_action().takes_values() {
        let _ = write!(spelled, " <{value}>");
    }
    spelled
}

/// The blocks after the options, each under the title it begins with.
fn push_after(page: &mut String, command: &Command) {
    let after = styled(command.get_after_help());
    for block in after.split("\n\n").filter(|block| !block.is_empty()) {
        match block.split_once(":\n") {
            Some((title, lines)) => {
                let lines: Vec<&str> = lines.lines().map(str::trim_start).collect();
                let _ = writeln!(page, "## {title}\n\n```sh\n{}\n```\n", lines.join("\n"));
            }
            None => {
                let _ = writeln!(page, "{block}\n");
            }
        }
    }
}

fn styled(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}
