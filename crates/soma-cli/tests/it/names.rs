//! Names and paths that a file system, a terminal or a person would trip over (C44).

use insta::{assert_snapshot, with_settings};
use soma_study::{Goal, RealOptions, Space, State};

use crate::fixtures::{Fixture, Worker, ask};
use crate::process::{command, filters, json, outcome, soma, soma_on_terminal};

/// C44, for what is shown: names that a file system or a terminal would trip over.
#[test]
fn c44_hostile_names_are_shown_on_one_line_and_found_as_they_are_shown() {
    let fixture = Fixture::empty();
    let names =
        ["a/b:c*?", "..", "CON", "two\nlines", "\u{1b}[31mred", "back\\slash", "r\u{202e}thgil", "x y"];
    for name in names {
        fixture.fill(name, Goal::Min, 3);
    }
    with_settings!({filters => filters()}, {
    assert_snapshot!(soma(fixture.path(), ["inspect", "store"]), @r"
    exit 0
    --- stdout
    STUDY           GOAL  TRIALS  DONE  PRUNED  FAILED  RUNNING     BEST  ALIVE LAST  ABANDONED SIZE
    \u{1b}[31mred   min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
    ..              min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
    CON             min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
    a/b:c*?         min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
    back\\slash     min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
    r\u{202e}thgil  min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
    two\nlines      min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
    x y             min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
    ");
    });
    let outcome = soma(fixture.path(), ["inspect", "store"]);
    let control = |c: char| c.is_control() && c != '\n';
    assert!(!outcome.stdout.contains(control) && !outcome.stdout.contains('\u{202e}'));
    assert_eq!(outcome.stdout.lines().count(), names.len() + 1);
    for (name, is_shown) in [("two\nlines", "two\\nlines"), ("\u{1b}[31mred", "\\u{1b}[31mred"), ("..", "..")]
    {
        for given in [name, is_shown] {
            assert_eq!(json(fixture.path(), ["best", "store", given, "--json"])["study"], name, "{given}");
        }
    }
    let outcome = soma(fixture.path(), ["best", "store", "no\n\u{1b}[31msuch"]);
    assert_eq!((outcome.code, outcome.stderr.contains('\u{1b}')), (1, false), "{outcome}");
}

/// Everything that a store can hold as text, with what drives a terminal in it.
const ODD: &str = "a\u{9b}31m\u{7f}\u{202e}\u{2066}b\u{1b}c";

/// C44: not in JSON either, and not in csv on a terminal; a reader of JSON gets the text back.
#[test]
fn c44_nothing_that_reaches_a_terminal_drives_it() {
    let fixture = Fixture::empty();
    let space =
        Space::new().real(ODD, 0.0, 1.0, RealOptions::default()).and_then(|space| space.choice("c", [ODD]));
    let point = ask(&space.unwrap(), 0);
    let worker = Worker { store: &fixture.store, study: ODD, goal: Goal::Min };
    worker.take(&point, 0, 0);
    worker.report(&point, &[1.0], 0, 0, State::Failed, None, Some(ODD));
    worker.take(&point, 1, 0);
    worker.report(&point, &[1.0], 1, 0, State::Done, None, None);
    let path = fixture.path();
    std::fs::write(
        path.join("graph.json"),
        serde_json::json!({"format": "somatize graph", "version": 1, "edges": [],
            "nodes": [{"id": ODD, "kind": ODD, "device": ODD}]})
        .to_string(),
    )
    .unwrap();
    for verb in [
        "inspect",
        "trials",
        "best",
        "importance",
        "curve",
        "abandoned",
        "space",
        "export",
        "verify",
        "graph",
    ] {
        let place = if verb == "graph" { "graph.json" } else { "store" };
        let trial = if verb == "curve" { &["0"][..] } else { &[] };
        for form in [&[][..], &["--json"]] {
            let line = || [verb, place].into_iter().chain(trial.iter().copied()).chain(form.iter().copied());
            let shown = soma_on_terminal(path, 200, line());
            assert_eq!(shown.code, 0, "{shown}");
            let raw =
                |c: char| c.is_control() && c != '\n' || ('\u{2000}'..'\u{2070}').contains(&c) && c != '…';
            assert!(!shown.stdout.contains(raw) && !shown.stderr.contains(raw), "{verb}: {:?}", shown.stdout);
        }
    }
    assert_eq!(json(path, ["trials", "store", "--json"])["study"], ODD);
    assert_eq!(json(path, ["trials", "store", "--json"])["trials"][0]["because"], ODD);
    assert!(soma(path, ["export", "store"]).stdout.contains(ODD), "a file keeps every byte");
}

#[test]
fn a_study_whose_name_is_nothing_is_seen_and_found() {
    let fixture = Fixture::empty();
    for name in ["", " ", "\"\"", "x"] {
        fixture.fill(name, Goal::Min, 3);
    }
    with_settings!({filters => filters()}, {
        assert_snapshot!(soma(fixture.path(), ["inspect", "store"]), @r#"
        exit 0
        --- stdout
        STUDY  GOAL  TRIALS  DONE  PRUNED  FAILED  RUNNING     BEST  ALIVE LAST  ABANDONED SIZE
        ""     min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
        " "    min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
        \""    min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
        x      min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
        "#);
        assert_snapshot!(soma(fixture.path(), ["best", "store"]), @r#"
        exit 1
        --- stderr
        error: `[FOLDER]/store` holds 4 studies, expected the name of one
        hint: name one of "", " ", \"", x
        "#);
        assert_snapshot!(soma(fixture.path(), ["inspect", "store", ""]), @r#"
        exit 0
        --- stdout
        ""  in [FOLDER]/store
          goal          min
          trials        3  2 done, 1 running
          best          1.2472294562589372  trial 0 by worker-1
                        lr=0.002771855228616633,width=44,opt=sgd
          space         Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))
          workers       1 alive, 0 silent, 0 without a trial
                        worker-1  1 under way
          last activity [TIME] ago
          size [SIZE] in 1 ledger
        "#);
    });
    for (given, name) in [("", ""), (" ", " "), ("\"\"", "\"\""), ("\" \"", " "), ("\\\"\"", "\"\"")] {
        assert_eq!(json(fixture.path(), ["best", "store", given, "--json"])["study"], name, "{given}");
    }
    let alone = Fixture::empty();
    alone.fill("", Goal::Min, 3);
    assert_eq!(json(alone.path(), ["best", "store", "\"\"", "--json"])["study"], "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_need_not_be_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let fixture = Fixture::widths(3);
    let odd = OsStr::from_bytes(b"caf\xe9");
    std::fs::rename(fixture.path().join("store"), fixture.path().join(odd)).unwrap();
    for verb in ["inspect", "trials", "best", "importance", "abandoned", "space", "export", "verify"] {
        let outcome = soma(fixture.path(), [OsStr::new(verb), odd, OsStr::new("--json")]);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{verb}: {outcome}");
    }
    let absent = OsStr::from_bytes(b"th\xe9");
    assert_snapshot!(soma(fixture.path(), [OsStr::new("inspect"), absent]), @r"
    exit 1
    --- stderr
    error: there is no store at `th�`
    hint: check the path
    ");
    let said =
        command(fixture.path()).arg("inspect").arg(absent).args(["--color", "always"]).output().unwrap();
    assert!(outcome(&said).stderr.contains('\u{1b}'), "a path that is no text hides no flag");
}
