//! What is said of a store in which something does not read, and that the rest of it is shown.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use soma_study::Goal;

use crate::fixtures::{Fixture, damage, forge};
use crate::process::{json, shown, soma};

#[test]
fn damage_costs_the_record_one_line_and_no_exit_code() {
    let fixture = Fixture::widths(6);
    damage(&fixture.ledgers("widths")[0]);
    shown!(fixture.path(), "inspect store", @r"
    exit 0
    --- stdout
    widths  in [FOLDER]/store
      goal          min
      trials        6  3 done, 1 pruned, 2 running
      best          1.0227705437410624  trial 2 by worker-1
                    lr=0.015587287424960756,width=58,opt=sgd
      space         Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))
      workers       1 alive, 0 silent, 0 without a trial
                    worker-1  2 under way
      last activity [TIME] ago
      size [SIZE] in 1 ledger
      damage        1 place does not read
    --- stderr
    warning: passed over [FOLDER]/store/studies/widths/ledger/[NAME].jsonl, byte [OFFSET]: a record whose checksum is not that of its content; one record is lost ([SIZE]); `soma verify [FOLDER]/store` lists all
    ");
    shown!(fixture.path(), "trials store --columns trial,state,who", @r"
    exit 0
    --- stdout
    TRIAL  STATE    WHO
        0  running  worker-1
        1  done     worker-1
        2  done     worker-1
        3  done     worker-1
        4  pruned   worker-1
        5  running  worker-1
    --- stderr
    warning: passed over [FOLDER]/store/studies/widths/ledger/[NAME].jsonl, byte [OFFSET]: a record whose checksum is not that of its content; one record is lost ([SIZE]); `soma verify [FOLDER]/store` lists all
    ");
    for verb in ["trials", "best", "importance", "space", "abandoned", "export"] {
        let outcome = soma(fixture.path(), [verb, "store"]);
        assert_eq!(outcome.code, 0, "{outcome}");
        assert!(outcome.stderr.contains("warning: passed over"), "{outcome}");
    }
}

#[test]
fn a_study_whose_document_is_damaged_hides_no_other() {
    let fixture = Fixture::widths(6);
    fixture.fill("broken", Goal::Min, 3);
    fs::write(fixture.path().join("store/studies/broken/study.json"), "{}\n").unwrap();
    let outcome = soma(fixture.path(), ["inspect", "store"]);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(outcome.stdout.contains("widths"), "{outcome}");
    assert!(outcome.stderr.contains("broken"), "{outcome}");
    assert_eq!(soma(fixture.path(), ["space", "store", "broken"]).code, 1);
    assert_eq!(soma(fixture.path(), ["best", "store", "widths"]).code, 0);
}

#[test]
fn verify_names_every_damaged_place_and_exits_1() {
    let fixture = Fixture::widths(6);
    shown!(fixture.path(), "verify store", @r"
    exit 0
    --- stdout
    sound  1 study, 6 claims, 1 ledger, 13 records, 0 blobs, 0 names, [SIZE]
    ");
    damage(&fixture.ledgers("widths")[0]);
    shown!(fixture.path(), "verify store", @r"
    exit 1
    --- stdout
    [FOLDER]/store/studies/widths/ledger/[NAME].jsonl, byte [OFFSET]: a record whose checksum is not that of its content; one record is lost ([SIZE])
    1 place damaged  1 study, 6 claims, 1 ledger, 12 records, 0 blobs, 0 names, [SIZE]
    --- stderr
    warning: 1 damaged place in `[FOLDER]/store`
    ");
    let outcome = soma(fixture.path(), ["verify", "store", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((outcome.code, &found["is_sound"]), (1, &false.into()));
    assert_eq!(found["damage"].as_array().unwrap().len(), 1);
}

#[test]
fn verify_says_where_a_point_is_not_what_its_sampler_gives() {
    let fixture = Fixture::widths(3);
    forge(&fixture, 3, "sobol(seed=0)");
    shown!(fixture.path(), "verify store", @r"
    exit 1
    --- stdout
    [FOLDER]/store/studies/widths/ledger/[NAME].jsonl, byte [OFFSET]: trial 3 of study `widths` is recorded at `lr=0.002771855228616633,width=44,opt=sgd`, where `sobol(seed=0)` gives `lr=0.0004929133080657691,width=29,opt=adam`
    1 point wrong  1 study, 3 claims, 1 ledger, 8 records, 0 blobs, 0 names, [SIZE]
    --- stderr
    warning: 1 point that its sampler does not give in `[FOLDER]/store`
    ");
    let outcome = soma(fixture.path(), ["verify", "store", "--json"]);
    assert!(outcome.stdout.contains(r#""is_sound":false"#), "{outcome}");
}

/// What can be read without the document is: counts, scores, curves. Points cannot.
#[test]
fn a_study_without_its_document_is_listed_with_its_damage() {
    let fixture = Fixture::widths(6);
    fixture.fill("other", Goal::Max, 3);
    fs::remove_file(fixture.document("widths")).unwrap();
    shown!(fixture.path(), "inspect store", @r"
    exit 0
    --- stdout
    STUDY   GOAL  TRIALS  DONE  PRUNED  FAILED  RUNNING     BEST  ALIVE LAST  ABANDONED SIZE
    other   max        3     2       0       0        1  1.34277      1 [TIME]          0 [SIZE]
    widths             6     4       1       0        1               1 [TIME]          0 [SIZE]
    --- stderr
    warning: passed over [FOLDER]/store/studies/widths/study.json: it is not there; its points do not read; `soma verify [FOLDER]/store` lists all
    ");
    shown!(fixture.path(), "inspect store widths", @r"
    exit 0
    --- stdout
    widths  in [FOLDER]/store
      goal          none
      trials        6  4 done, 1 pruned, 1 running
      best          not known without a goal
      space         does not read
      workers       1 alive, 0 silent, 0 without a trial
                    worker-1  1 under way
      last activity [TIME] ago
      size [SIZE] in 1 ledger
      damage        1 place does not read
    --- stderr
    warning: passed over [FOLDER]/store/studies/widths/study.json: it is not there; its points do not read; `soma verify [FOLDER]/store` lists all
    ");
    shown!(fixture.path(), "trials store widths --limit 2", @r"
    exit 0
    --- stdout
    TRIAL  ATTEMPT  STATE    SCORE  REPORTS TOOK  WHO       BECAUSE
        0        0  done   1.24723        4 [TIME]  worker-1
        1        0  done   1.34277        4 [TIME]  worker-1
    --- stderr
    warning: passed over [FOLDER]/store/studies/widths/study.json: it is not there; its points do not read; `soma verify [FOLDER]/store` lists all
    ");
    shown!(fixture.path(), "best store widths", @r"
    exit 1
    --- stderr
    error: study `widths` has no goal, expected `min` or `max`
    hint: say which end is good: `--goal min` for a loss, `--goal max` for an accuracy
    ");
    shown!(fixture.path(), "best store widths --goal min", @r"
    exit 0
    --- stdout
    score  1.0227705437410624
    trial  2 by worker-1
    --- stderr
    warning: passed over [FOLDER]/store/studies/widths/study.json: it is not there; its points do not read; `soma verify [FOLDER]/store` lists all
    ");
    shown!(fixture.path(), "space store widths", @r"
    exit 1
    --- stderr
    error: `[FOLDER]/store/studies/widths/study.json` does not read as the document of a study: it is not there
    ");
    shown!(fixture.path(), "importance store widths", @r"
    exit 1
    --- stderr
    error: `[FOLDER]/store/studies/widths/study.json` does not read as the document of a study: it is not there
    ");
    let overview = json(fixture.path(), ["inspect", "store", "widths", "--json"])["studies"][0].clone();
    assert_eq!((&overview["n_trials"], &overview["counts"]["done"]), (&6.into(), &4.into()));
    assert_eq!(overview["damage"][0]["what"], "it is not there; its points do not read");
    for verb in ["export", "curve", "abandoned"] {
        let trial = (verb == "curve").then_some("0");
        let outcome = soma(fixture.path(), [verb, "store", "widths"].into_iter().chain(trial));
        assert_eq!(outcome.code, 0, "{outcome}");
        assert!(outcome.stderr.contains("study.json: it is not there"), "{outcome}");
    }
}

/// A name that is no plain one stands in the document alone.
#[test]
fn a_study_that_lost_its_name_is_listed_and_read_by_who_knows_it() {
    let fixture = Fixture::widths(3);
    fixture.fill("Two Words", Goal::Min, 3);
    fs::remove_file(fixture.document("Two Words")).unwrap();
    shown!(fixture.path(), "inspect store", @r"
    exit 0
    --- stdout
    STUDY   GOAL  TRIALS  DONE  PRUNED  FAILED  RUNNING     BEST  ALIVE LAST  ABANDONED SIZE
    widths  min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
    --- stderr
    warning: passed over the study `two-words~8e086addb49a6af26353739f8cf33bdc`: the document with its name does not read; to read the rest, give the name it had
    ");
    let unread = json(fixture.path(), ["inspect", "store", "--json"])["unread"].clone();
    assert!(unread[0]["study"].as_str().unwrap().starts_with("two-words~"), "{unread}");
    assert_eq!(soma(fixture.path(), ["trials", "store", "Two Words"]).stdout.lines().count(), 4);
}

#[test]
fn a_document_that_does_not_read_is_damage_like_any_other() {
    let fixture = Fixture::widths(6);
    fs::write(fixture.document("widths"), "{}\n").unwrap();
    shown!(fixture.path(), "inspect store", @r"
    exit 0
    --- stdout
    widths  in [FOLDER]/store
      goal          none
      trials        6  4 done, 1 pruned, 1 running
      best          not known without a goal
      space         does not read
      workers       1 alive, 0 silent, 0 without a trial
                    worker-1  1 under way
      last activity [TIME] ago
      size [SIZE] in 1 ledger
      damage        1 place does not read
    --- stderr
    warning: passed over [FOLDER]/store/studies/widths/study.json: its checksum is not that of its content; its points do not read; `soma verify [FOLDER]/store` lists all
    ");
    shown!(fixture.path(), "inspect store --json", @r#"
    exit 0
    --- stdout
    {"version":1,"verb":"inspect","store":"[FOLDER]/store","studies":[{"study":"widths","goal":null,"n_trials":6,"counts":{"running":1,"done":4,"pruned":1,"failed":0,"abandoned":0,"discarded":0},"best":null,"workers":[{"who":"worker-1","is_alive":true,"running":1,"abandoned":0,"taken":6,"silent_secs":"[SECS]"}],"last_activity_secs":"[SECS]","space":"Space()","space_versions":0,"ledgers":1,"size_bytes":"[SIZE]","damage":[{"path":"[FOLDER]/store/studies/widths/study.json","offset":"[OFFSET]","size_bytes":0,"what":"its checksum is not that of its content; its points do not read"}]}],"unread":[]}
    --- stderr
    warning: passed over [FOLDER]/store/studies/widths/study.json: its checksum is not that of its content; its points do not read; `soma verify [FOLDER]/store` lists all
    "#);
}

#[test]
fn what_is_no_file_where_a_document_should_be_hides_no_other_study() {
    let fixture = Fixture::widths(3);
    fixture.fill("broken", Goal::Min, 3);
    fs::remove_file(fixture.document("broken")).unwrap();
    fs::create_dir(fixture.document("broken")).unwrap();
    fs::write(fixture.path().join("store/studies/notes.txt"), "").unwrap();
    shown!(fixture.path(), "inspect store", @r"
    exit 0
    --- stdout
    STUDY   GOAL  TRIALS  DONE  PRUNED  FAILED  RUNNING     BEST  ALIVE LAST  ABANDONED SIZE
    broken             3     2       0       0        1               1 [TIME]          0 [SIZE]
    widths  min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
    --- stderr
    warning: passed over [FOLDER]/store/studies/broken/study.json: it is a folder, a pipe or a device, expected a file; its points do not read; `soma verify [FOLDER]/store` lists all
    ");
    shown!(fixture.path(), "verify store", @r"
    exit 1
    --- stdout
    [FOLDER]/store/studies/broken/study.json: it is a folder, a pipe or a device, expected a file
    1 place damaged  1 study, 6 claims, 2 ledgers, 14 records, 0 blobs, 0 names, [SIZE]
    --- stderr
    warning: 1 damaged place in `[FOLDER]/store`
    ");
}

#[test]
fn a_study_of_a_newer_version_is_passed_over_and_said() {
    let fixture = Fixture::widths(3);
    fixture.fill("newer", Goal::Min, 3);
    let ledger = &fixture.ledgers("newer")[0];
    let text = fs::read_to_string(ledger).unwrap();
    let (_, rest) = text.split_once('\n').unwrap();
    let opening = r#"{"kind":"open","version":2,"sum":"942d53a2"}"#;
    fs::write(ledger, format!("{opening}\n{rest}")).unwrap();
    shown!(fixture.path(), "inspect store", @r"
    exit 0
    --- stdout
    STUDY   GOAL  TRIALS  DONE  PRUNED  FAILED  RUNNING     BEST  ALIVE LAST  ABANDONED SIZE
    widths  min        3     2       0       0        1  1.24723      1 [TIME]          0 [SIZE]
    --- stderr
    warning: passed over the study `newer`: `[FOLDER]/store/studies/newer/ledger/[NAME].jsonl` was written by version 2 of the format, this build reads up to version 1
    ");
    assert!(json(fixture.path(), ["inspect", "store", "--json"])["unread"][0]["what"].is_string());
}

/// An unfinished last record is what is being written right now, until its process is gone or silent.
#[test]
fn a_torn_end_is_said_once_nobody_will_finish_it() {
    let fixture = Fixture::widths(3);
    let ledger = fixture.ledgers("widths")[0].clone();
    let sound = fs::read(&ledger).unwrap();
    let torn =
        |bytes: &[u8]| fs::OpenOptions::new().append(true).open(&ledger).unwrap().write_all(bytes).unwrap();
    torn(b"{\"kind\":\"repo");
    assert_eq!(soma(fixture.path(), ["trials", "store"]).stderr, "", "it may be finished in a moment");
    long_ago(&ledger);
    shown!(fixture.path(), "trials store --columns trial,state", @r"
    exit 0
    --- stdout
    TRIAL  STATE
        0  done
        1  done
        2  failed
    --- stderr
    warning: passed over [FOLDER]/store/studies/widths/ledger/[NAME].jsonl, byte [OFFSET]: an unfinished last record; what was being written when its process ended is lost ([SIZE]); `soma verify [FOLDER]/store` lists all
    ");
    for verb in ["inspect", "best", "importance", "abandoned", "space", "export"] {
        let outcome = soma(fixture.path(), [verb, "store"]);
        assert_eq!(outcome.code, 0, "{outcome}");
        assert!(outcome.stderr.contains("unfinished last record"), "{outcome}");
    }
    assert_eq!(
        json(fixture.path(), ["inspect", "store", "--json"])["studies"][0]["damage"][0]["size_bytes"],
        13
    );
    // Closed, and something behind it; and as large as no record is.
    fs::write(&ledger, sound).unwrap();
    let Fixture { folder, store } = fixture;
    drop(store);
    torn(&vec![b'x'; 5 << 20]);
    let outcome = soma(folder.path(), ["trials", "store"]);
    assert!(
        outcome.stderr.contains("unfinished last record") && outcome.stderr.contains("5.2 MB"),
        "{outcome}"
    );
}

fn long_ago(file: &Path) {
    let file = fs::File::options().append(true).open(file).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
}

/// A claim is empty by its format: what stands in one was not put there by a store.
#[test]
fn a_claim_with_something_in_it_is_damage_that_costs_nothing() {
    let fixture = Fixture::widths(3);
    fs::write(fixture.path().join("store/studies/widths/claims/1.0"), "mine").unwrap();
    shown!(fixture.path(), "verify store", @r"
    exit 1
    --- stdout
    [FOLDER]/store/studies/widths/claims/1.0, byte [OFFSET]: a claim with bytes in it, expected none; it counts all the same ([SIZE])
    1 place damaged  1 study, 3 claims, 1 ledger, 7 records, 0 blobs, 0 names, [SIZE]
    --- stderr
    warning: 1 damaged place in `[FOLDER]/store`
    ");
    assert_eq!(soma(fixture.path(), ["trials", "store"]).stdout.lines().count(), 4);
}
