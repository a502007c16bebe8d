//! `soma watch`: on a terminal, and in a pipe.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use soma_study::{Goal, State};

use crate::fixtures::{Fixture, Worker, ask, widths};
use crate::process::{command, shown, terminal};
use crate::shapes;

/// How long a busy machine may take to draw what has to come.
const PATIENCE: Duration = Duration::from_secs(30);
/// Rows and columns of the terminal.
const ROWS: u16 = 20;
const COLUMNS: u16 = 60;

#[test]
fn in_a_pipe_every_change_is_a_line() {
    let fixture = Fixture::widths(2);
    let mut soma = watching(&fixture, &["--interval-secs", "0.01"]);
    let mut lines = BufReader::new(soma.stdout.take().unwrap()).lines().map(Result::unwrap);
    let worker = Worker { store: &fixture.store, study: "widths", goal: Goal::Min };
    let point = ask(&widths(), 2);
    worker.take(&point, 2, 0);
    assert_eq!(lines.next().unwrap(), format!("trial 2 running {point}"));
    worker.report(&point, &[0.5], 2, 0, State::Running, None, None);
    assert_eq!(lines.next().unwrap(), format!("trial 2 running 1 report {point}"));
    worker.report(&point, &[0.5, 0.25], 2, 0, State::Done, None, None);
    assert_eq!(lines.next().unwrap(), format!("trial 2 done 0.25 {point}"));
    soma.kill().unwrap();
    soma.wait().unwrap();
}

#[test]
fn with_json_every_change_is_a_document() {
    let fixture = Fixture::widths(2);
    let mut soma = watching(&fixture, &["--interval-secs", "0.01", "--json"]);
    let mut lines = BufReader::new(soma.stdout.take().unwrap()).lines().map(Result::unwrap);
    let worker = Worker { store: &fixture.store, study: "widths", goal: Goal::Min };
    let point = ask(&widths(), 2);
    worker.take(&point, 2, 0);
    let change: serde_json::Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
    assert_eq!(change["study"], "widths");
    assert_eq!((&change["trial"]["trial"], &change["trial"]["state"]), (&2.into(), &"running".into()));
    soma.kill().unwrap();
    soma.wait().unwrap();
    shapes::compare("watch", &[change]);
}

/// `soma watch` that has had its first look.
fn watching(fixture: &Fixture, arguments: &[&str]) -> Child {
    let (soma, said) = started(fixture, arguments);
    assert!(said.contains("2 attempts so far"), "{said}");
    soma
}

/// `soma watch` that has said its first line.
fn started(fixture: &Fixture, arguments: &[&str]) -> (Child, String) {
    let mut soma = command(fixture.path())
        .args(["watch", "store"])
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut stderr = BufReader::new(soma.stderr.take().unwrap());
    stderr.read_line(&mut said).unwrap();
    soma.stderr = Some(stderr.into_inner());
    (soma, said)
}

/// One line on stderr, then everything that happened, whenever the first look at it was.
#[test]
fn a_study_that_has_not_begun_is_waited_for() {
    for (arguments, note) in [
        (&["widths"][..], "there is no study `widths` yet; waiting for its first trial"),
        (&[], "holds no study yet; waiting for its first trial"),
    ] {
        let fixture = Fixture::empty();
        let (mut soma, said) =
            started(&fixture, &[arguments, &["--interval-secs", "0.01", "--json"]].concat());
        assert!(said.starts_with("note: ") && said.trim_end().ends_with(note), "{said}");
        let mut lines = BufReader::new(soma.stdout.take().unwrap()).lines().map(Result::unwrap);
        let worker = Worker { store: &fixture.store, study: "widths", goal: Goal::Min };
        let point = ask(&widths(), 0);
        worker.take(&point, 0, 0);
        let change: serde_json::Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
        assert_eq!((&change["study"], &change["trial"]["trial"]), (&"widths".into(), &0.into()));
        worker.take(&point, 1, 0);
        let change: serde_json::Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
        assert_eq!(change["trial"]["trial"], 1);
        soma.kill().unwrap();
        assert_eq!(soma.wait_with_output().unwrap().stderr, b"");
    }
}

#[test]
fn while_a_study_is_waited_for_a_close_name_is_suggested() {
    let fixture = Fixture::widths(2);
    let (mut soma, said) = started(&fixture, &["wdiths"]);
    assert_eq!(
        said,
        "note: there is no study `wdiths` yet (did you mean `widths`?); waiting for its first trial\n"
    );
    soma.kill().unwrap();
    soma.wait().unwrap();
}

#[test]
fn a_reader_that_goes_away_ends_the_waiting() {
    let fixture = Fixture::empty();
    let (mut soma, _) = started(&fixture, &["widths", "--interval-secs", "0.01"]);
    drop(soma.stdout.take());
    assert_eq!(soma.wait().unwrap().code(), Some(0));
}

#[test]
fn waiting_ends_with_an_error_where_the_time_is_up_and_where_there_is_no_store() {
    let fixture = Fixture::empty();
    shown!(fixture.path(), "watch store widths --timeout-secs 0.01", @r"
    exit 1
    --- stderr
    note: there is no study `widths` yet; waiting for its first trial
    error: there is no study `widths` in `[FOLDER]/store`
    hint: the store holds no study yet: check the path
    ");
    shown!(fixture.path(), "watch store --timeout-secs 0.01", @r"
    exit 1
    --- stderr
    note: `[FOLDER]/store` holds no study yet; waiting for its first trial
    error: `[FOLDER]/store` holds no study yet
    hint: check the path; a study is there once its first trial was taken
    ");
    shown!(fixture.path(), "watch nowhere widths", @r"
    exit 1
    --- stderr
    error: there is no store at `nowhere`
    hint: check the path
    ");
}

#[test]
fn on_a_terminal_the_picture_is_drawn_in_place() {
    let fixture = Fixture::widths(2);
    let (mut screen_end, line) = terminal(ROWS, COLUMNS);
    let mut soma = command(fixture.path())
        .args(["watch", "store", "--interval-secs", "0.02"])
        .env("TERM", "xterm-256color")
        .stdout(line)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let worker = Worker { store: &fixture.store, study: "widths", goal: Goal::Min };
    let point = ask(&widths(), 2);
    let mut screen = Screen::default();
    let mut is_taken = false;
    let mut bytes = [0; 4096];
    let begun = Instant::now();
    while !screen.shows("trial 2 done") {
        assert!(begun.elapsed() < PATIENCE, "{:#?}", screen.lines());
        let count = screen_end.read(&mut bytes).unwrap();
        screen.feed(&String::from_utf8_lossy(&bytes[..count]));
        if !is_taken {
            is_taken = true;
            worker.take(&point, 2, 0);
            worker.end(&point, 2, 0, State::Done);
        }
    }
    soma.kill().unwrap();
    soma.wait().unwrap();
    let shown = screen.lines();
    assert!(shown[0].starts_with("widths  in "), "{shown:#?}");
    assert_eq!(
        shown.iter().filter(|line| line.starts_with("widths")).count(),
        1,
        "drawn over, not below: {shown:#?}"
    );
    assert!(shown.iter().any(|line| line.contains("3  2 done, 1 running")), "{shown:#?}");
    assert!(shown.len() < usize::from(ROWS), "{shown:#?}");
    assert!(shown.iter().all(|line| line.chars().count() <= usize::from(COLUMNS)), "{shown:#?}");
    assert!(screen.is_coloured);
}

/// As much of a terminal as `watch` uses: lines, up, erase to the end of the line and of the screen.
#[derive(Default)]
struct Screen {
    lines: Vec<String>,
    row: usize,
    pending: String,
    is_coloured: bool,
}

impl Screen {
    fn feed(&mut self, text: &str) {
        self.pending.push_str(text);
        let text = std::mem::take(&mut self.pending);
        let mut rest = text.as_str();
        while let Some(c) = rest.chars().next() {
            if c == '\u{1b}' {
                let Some(end) = rest[1..].find(|c: char| c.is_ascii_alphabetic()) else { break };
                let (code, kind) = (&rest[2..=end], rest.as_bytes()[end + 1]);
                match kind {
                    b'F' => {
                        self.row -= code.parse::<usize>().unwrap();
                        self.line().clear();
                    }
                    b'J' => self.lines.truncate(self.row),
                    b'm' => self.is_coloured = true,
                    b'K' => {}
                    other => panic!("unexpected escape {code}{}", char::from(other)),
                }
                rest = &rest[end + 2..];
                continue;
            }
            match c {
                '\n' => {
                    self.row += 1;
                    self.line().clear();
                }
                '\r' => {}
                c => self.line().push(c),
            }
            rest = &rest[c.len_utf8()..];
        }
        rest.clone_into(&mut self.pending);
    }

    fn line(&mut self) -> &mut String {
        if self.lines.len() <= self.row {
            self.lines.resize(self.row + 1, String::new());
        }
        &mut self.lines[self.row]
    }

    fn shows(&self, line: &str) -> bool {
        self.lines.iter().any(|shown| shown.starts_with(line))
    }

    fn lines(&self) -> Vec<String> {
        self.lines.iter().filter(|line| !line.is_empty()).cloned().collect()
    }
}
