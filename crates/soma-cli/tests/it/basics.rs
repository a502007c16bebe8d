//! What holds for every verb: help, exit codes, streams, colour, a reader that goes away.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use crate::process::{command, json, outcome, soma};

const VERBS: [&str; 13] = [
    "inspect",
    "trials",
    "best",
    "importance",
    "curve",
    "watch",
    "abandoned",
    "space",
    "export",
    "verify",
    "graph",
    "completions",
    "man",
];

#[test]
fn the_version_is_that_of_the_package() {
    let outcome = soma(Path::new("."), ["--version"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    assert_eq!(outcome.stdout, format!("soma {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn help_lists_the_verbs_on_stdout() {
    assert_snapshot!(soma(Path::new("."), ["-h"]), @r"
    exit 0
    --- stdout
    Look at studies: what was tried, what came out, what mattered

    Usage: soma [OPTIONS] <COMMAND>

    Commands:
      inspect      Show the studies of a store: how far, how good, who is at work
      trials       List the trials of a study, every attempt in a row
      best         Show the best finished trial of a study
      importance   Show how much each dimension mattered for the score
      curve        Plot the curve of a trial: every value it reported
      watch        Follow a study while its workers run
      abandoned    List the trials whose worker has gone silent
      space        Show the space a study searches
      export       Write the trials of a study for other tools
      verify       Read every byte of a store and say what is damaged
      seal         Gather the files of many short workers in one, so that the study opens faster
      graph        Draw a graph from its manifest, as Mermaid or as text
      completions  Print the completions for a shell
      man          Print the manual page
      help         Print this message or the help of the given subcommand(s)

    Options:
          --color <WHEN>  Colour: `auto` only on a terminal and without `NO_COLOR` [default: auto]
      -h, --help          Print help (see more with '--help')
      -V, --version       Print version

    Exit codes: 0 done, 1 something you can put right, 2 a bug or a broken environment.
    ");
}

#[test]
fn every_verb_has_help_and_json() {
    for verb in VERBS {
        let outcome = soma(Path::new("."), [verb, "--help"]);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{verb}");
        assert!(outcome.stdout.contains("--json"), "{verb}");
        assert!(outcome.stdout.contains("Examples:"), "{verb}");
    }
}

#[test]
fn what_is_typed_wrong_exits_1_and_leaves_stdout_alone() {
    for wrong in
        [&["trails", "x"][..], &["trials"], &["trials", "x", "--limit", "many"], &["--color", "mauve"], &[]]
    {
        let outcome = soma(Path::new("."), wrong);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{wrong:?}: {outcome}");
        assert!(!outcome.stderr.is_empty(), "{wrong:?}");
    }
}

#[test]
fn a_verb_with_a_slip_is_suggested() {
    assert!(soma(Path::new("."), ["trails", "x"]).stderr.contains("'trials'"));
}

/// C44: not even what the person typed is repeated raw.
#[test]
fn c44_what_is_typed_wrong_drives_no_terminal() {
    for odd in ["\u{1b}[31mred", "\u{9b}31mred", "r\u{202e}ed", "r\u{7f}ed"] {
        for line in
            [&[odd][..], &["trials", "x", "--limit", odd], &["trials", "x", odd, odd], &["graph", odd]]
        {
            let outcome = soma(Path::new("."), line.iter().chain(&["--color", "always"]));
            assert_eq!(outcome.code, 1, "{outcome}");
            let letters = outcome.stderr.replace("\u{1b}[0m", "").replace("\u{1b}[1m\u{1b}[31m", "");
            let raw = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
            assert!(!letters.contains(raw), "{letters:?}");
        }
    }
}

#[test]
fn completions_come_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let outcome = soma(Path::new("."), ["completions", shell]);
        assert_eq!(outcome.code, 0, "{shell}");
        assert!(outcome.stdout.contains("importance"), "{shell}");
        assert_eq!(json(Path::new("."), ["completions", shell, "--json"])["text"], outcome.stdout);
    }
}

#[test]
fn the_completions_are_a_script_that_bash_takes() {
    let script = soma(Path::new("."), ["completions", "bash"]).stdout;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("soma.bash"), script).unwrap();
    let Ok(checked) = Command::new("bash").arg("-n").arg(folder.path().join("soma.bash")).output() else {
        eprintln!("skipped: there is no bash");
        return;
    };
    assert!(checked.status.success(), "{checked:?}");
}

#[test]
fn every_verb_has_a_manual_page() {
    assert!(soma(Path::new("."), ["man"]).stdout.contains(".TH soma 1"));
    for verb in VERBS {
        let page = soma(Path::new("."), ["man", verb]).stdout;
        assert!(page.contains(&format!(".TH soma-{verb} 1")), "{page}");
    }
    assert_snapshot!(soma(Path::new("."), ["man", "plot"]), @r"
    exit 1
    --- stderr
    error: there is no verb `plot`
    hint: the verbs are inspect, trials, best, importance, curve, watch, abandoned, space, export, verify, seal, graph, completions, man
    ");
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let coloured = |command: &mut Command| {
        let outcome = outcome(&command.output().unwrap());
        outcome.stdout.contains('\u{1b}') || outcome.stderr.contains('\u{1b}')
    };
    let here = Path::new(".");
    assert!(!coloured(command(here).args(["graph", "absent"])));
    assert!(coloured(command(here).args(["graph", "absent", "--color", "always"])));
    assert!(coloured(command(here).args(["graph", "absent", "--color=always"]).env("NO_COLOR", "1")));
    assert!(coloured(command(here).args(["graph", "absent"]).env("CLICOLOR_FORCE", "1")));
    assert!(!coloured(command(here).args(["graph", "absent", "--color=never"]).env("CLICOLOR_FORCE", "1")));
    assert!(coloured(command(here).args(["--color", "always", "--help"])));
    assert!(!coloured(command(here).args(["--help"])));
}

#[test]
fn a_stdout_that_cannot_be_written_is_said() {
    for verb in
        ["man", "--help", "-h", "--version", "help", "help trials", "trials --help", "completions fish"]
    {
        let Ok(full) = File::options().write(true).open("/dev/full") else {
            eprintln!("skipped: there is no /dev/full");
            return;
        };
        let outcome = outcome(&command(Path::new(".")).args(verb.split(' ')).stdout(full).output().unwrap());
        let said = "exit 2\n--- stderr\nerror: could not write to stdout: no space left on device\n";
        assert_eq!(outcome.to_string(), said, "{verb}");
    }
}

/// C45, for what needs no store.
#[test]
fn a_reader_that_is_gone_is_no_error() {
    for verb in [&["man"][..], &["completions", "bash"], &["--help"], &["trials", "--help"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output =
            command(Path::new(".")).args(verb).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{verb:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{verb:?}");
    }
}

#[test]
fn the_binary_links_no_python() {
    let binary = env!("CARGO_BIN_EXE_soma");
    if let Ok(linked) = Command::new("ldd").arg(binary).output() {
        let libraries = String::from_utf8_lossy(&linked.stdout).to_lowercase();
        assert!(!libraries.contains("python"), "{libraries}");
    } else {
        eprintln!("half skipped: there is no ldd");
    }
    // The names of a linked or loaded interpreter would stand in the file, stripped or not.
    let bytes = std::fs::read(binary).unwrap();
    for symbol in ["Py_Initialize", "PyObject_Call", "PyGILState_Ensure", "libpython"] {
        assert!(!bytes.windows(symbol.len()).any(|window| window == symbol.as_bytes()), "{symbol}");
    }
}
