//! What is shown where there is less room than there is to show, and that a pipe is no such place.

use insta::{assert_snapshot, with_settings};
use soma_study::{Goal, RealOptions, Space};

use crate::fixtures::{Fixture, Worker, ask, damage};
use crate::process::{command, filters, on_terminal, outcome, soma_on_terminal};

#[test]
fn tables_fit_a_narrow_terminal() {
    let fixture = Fixture::widths(12);
    with_settings!({filters => filters()}, {
        assert_snapshot!(soma_on_terminal(fixture.path(), 40, "trials store --limit 4".split(' ')), @r"
        exit 0
        --- stdout
        TRIAL  STATE    SCORE           lr
            0  done   1.24723   0.00277186
            1  done   1.34277    0.0876538
            2  done   1.02277    0.0155873
            3  done   1.84723  0.000492913
        --- stderr
        note: no room for ATTEMPT, width, opt, REPORTS, TOOK, WHO; `| less -S` shows every column
        ");
    });
    fixture.fill("another study with a long name", Goal::Max, 3);
    for columns in [1, 20, 33, 80] {
        for line in [
            "inspect store",
            "trials store widths",
            "importance store widths",
            "space store widths",
            "curve store widths 0",
            "inspect store widths",
        ] {
            let outcome = soma_on_terminal(fixture.path(), columns, line.split(' '));
            assert_eq!(outcome.code, 0, "{outcome}");
            // The axis of a plot needs its labels.
            let room = usize::from(if line.starts_with("curve") { columns.max(16) } else { columns });
            let widest = outcome.stdout.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap_or(0);
            assert!(widest <= room, "{line} is {widest} wide on {columns}:\n{}", outcome.stdout);
        }
    }
}

/// An exported `COLUMNS` is about a terminal that somebody looks at.
#[test]
fn in_a_pipe_nothing_is_cut_whatever_columns_says() {
    let fixture = Fixture::widths(12);
    fixture.fill("another study with a long name", Goal::Max, 3);
    let run = |line: &str, columns: &str| {
        outcome(&command(fixture.path()).args(line.split(' ')).env("COLUMNS", columns).output().unwrap())
    };
    for line in ["inspect store", "importance store widths", "space store widths", "inspect store widths"] {
        let (narrow, wide) = (run(line, "20"), run(line, "500"));
        // Times pass between the two.
        let words = |text: &str| text.replace(|c: char| c.is_ascii_digit() || c == '.' || c == ' ', "");
        assert_eq!(
            words(&narrow.stdout).replace("ms", "s"),
            words(&wide.stdout).replace("ms", "s"),
            "{line}"
        );
        assert_eq!(narrow.stderr, wide.stderr, "{line}");
    }
}

#[test]
fn on_a_terminal_columns_has_the_say() {
    let fixture = Fixture::widths(12);
    let told = on_terminal(command(fixture.path()).args(["trials", "store"]).env("COLUMNS", "40"), 200);
    assert_eq!(told.stdout, soma_on_terminal(fixture.path(), 40, ["trials", "store"]).stdout);
}

#[test]
fn of_many_columns_without_room_some_are_named() {
    let fixture = Fixture::empty();
    let real =
        |space: Space, at: usize| space.real(&format!("x{at}"), 0.0, 1.0, RealOptions::default()).unwrap();
    let worker = Worker { store: &fixture.store, study: "many", goal: Goal::Min };
    let point = ask(&(0..40).fold(Space::new(), real), 0);
    worker.take(&point, 0, 0);
    let outcome = soma_on_terminal(fixture.path(), 40, ["trials", "store"]);
    assert!(outcome.stderr.contains("and 34 more; "), "{outcome}");
}

#[test]
fn the_end_of_what_verify_says_is_seen_on_any_terminal() {
    let fixture = Fixture::widths(6);
    damage(&fixture.ledgers("widths")[0]);
    let outcome = soma_on_terminal(fixture.path(), 40, ["verify", "store"]);
    assert!(outcome.stdout.contains("one record is lost"), "{outcome}");
}

#[test]
fn what_matters_least_is_left_out_first_and_named() {
    let fixture = Fixture::widths(12);
    with_settings!({filters => filters()}, {
        assert_snapshot!(soma_on_terminal(fixture.path(), 60, "trials store --limit 5".split(' ')), @r"
        exit 0
        --- stdout
        TRIAL  STATE     SCORE           lr  width  opt
            0  done    1.24723   0.00277186     44  sgd
            1  done    1.34277    0.0876538     15  adam
            2  done    1.02277    0.0155873     58  sgd
            3  done    1.84723  0.000492913     29  adam
            4  pruned  2.69223   0.00020786     51  adam
        --- stderr
        note: no room for ATTEMPT, REPORTS, TOOK, WHO, BECAUSE; `| less -S` shows every column
        ");
        assert_snapshot!(soma_on_terminal(fixture.path(), 18, "trials store --limit 5".split(' ')), @r"
        exit 0
        --- stdout
        TR…  STA…    SCORE
          0  done  1.24723
          1  done  1.34277
          2  done  1.02277
          3  done  1.84723
          4  pru…  2.69223
        --- stderr
        note: no room for ATTEMPT, lr, width, opt, REPORTS, TOOK, WHO, BECAUSE; `| less -S` shows every column
        ");
        assert_snapshot!(soma_on_terminal(fixture.path(), 24, "trials store --limit 2 --columns score,trial,who,attempt".split(' ')), @r"
        exit 0
        --- stdout
          SCORE  TRIAL  WHO
        1.24723      0  worker-1
        1.34277      1  worker-1
        --- stderr
        note: no room for ATTEMPT; `| less -S` shows every column
        ");
        assert_snapshot!(soma_on_terminal(fixture.path(), 30, "importance store".split(' ')), @r"
        exit 0
        --- stdout
        DIMENSION  IMPORTANCE
        opt          0.619780  ████▍
        lr           0.452381  ███▏
        width        0.095238  ▋
        --- stderr
        note: spearman over 8 finished trials
        ");
        assert_snapshot!(soma_on_terminal(fixture.path(), 18, "importance store".split(' ')), @r"
        exit 0
        --- stdout
        DIMENSI…  IMPORTA…
        opt       0.619780
        lr        0.452381
        width     0.095238
        --- stderr
        note: spearman over 8 finished trials
        ");
    });
    fixture.fill("another study with a long name", Goal::Max, 3);
    with_settings!({filters => filters()}, {
        assert_snapshot!(soma_on_terminal(fixture.path(), 80, "inspect store".split(' ')), @r"
        exit 0
        --- stdout
        STUDY           GOAL  TRIALS  DONE  PRUNED  FAILED  RUNNING      BEST  ABANDONED
        another study…  max        3     2       0       0        1   1.34277          0
        widths          min       12     8       2       1        1  0.652229          0
        --- stderr
        note: no room for ALIVE, LAST, SIZE; `| less -S` shows every column
        ");
        assert_snapshot!(soma_on_terminal(fixture.path(), 40, "inspect store".split(' ')), @r"
        exit 0
        --- stdout
        STUDY             TRIALS  DONE      BEST
        another study w…       3     2   1.34277
        widths                12     8  0.652229
        --- stderr
        note: no room for GOAL, PRUNED, FAILED, RUNNING, ALIVE, LAST, ABANDONED, SIZE; `| less -S` shows every column
        ");
    });
}
