//! `soma seal`, the one verb that writes.

use crate::fixtures::Fixture;
use crate::process::{shown, soma};

#[test]
fn many_ledgers_are_gathered_once_and_read_the_same() {
    let fixture = Fixture::widths(6);
    shown!(fixture.path(), "seal store", @r"
    exit 0
    --- stderr
    note: nothing to gather: fewer than two small ledgers, or nothing new since the last seal
    ");
    let ledger = fixture.ledgers("widths").remove(0);
    // Another process's ledger: its bytes are whole records like any other's.
    let text = std::fs::read_to_string(&ledger).unwrap();
    let opening = text.lines().next().unwrap();
    std::fs::write(ledger.with_file_name("0a.jsonl"), format!("{opening}\n")).unwrap();
    let before = soma(fixture.path(), ["trials", "store"]);
    shown!(fixture.path(), "seal store", @r"
    exit 0
    --- stdout
    sealed  2 ledgers, [SIZE]
    ");
    shown!(fixture.path(), "seal store widths", @r"
    exit 0
    --- stderr
    note: nothing to gather: fewer than two small ledgers, or nothing new since the last seal
    ");
    assert_eq!(soma(fixture.path(), ["trials", "store"]).stdout, before.stdout);
    shown!(fixture.path(), "verify store", @r"
    exit 0
    --- stdout
    sound  1 study, 6 claims, 2 ledgers, 14 records, 0 blobs, 0 names, 1 seal, [SIZE]
    ");
}

#[test]
fn a_wrong_path_or_study_makes_nothing() {
    let fixture = Fixture::widths(1);
    shown!(fixture.path(), "seal nowhere", @r"
    exit 1
    --- stderr
    error: there is no store at `nowhere`
    hint: check the path
    ");
    shown!(fixture.path(), "seal store width", @r"
    exit 1
    --- stderr
    error: there is no study `width` in `[FOLDER]/store`
    hint: did you mean `widths`?
    ");
    assert!(!fixture.path().join("nowhere").exists());
}
