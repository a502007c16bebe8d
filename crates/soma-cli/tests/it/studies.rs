//! The verbs that look at studies: what they print for stores of every kind.

use insta::{assert_snapshot, with_settings};
use soma_study::{Goal, IntOptions, RealOptions, Scalar, Space, State};

use crate::fixtures::{Fixture, Worker, ask, of_every_kind, silenced_copy, typed, widths};
use crate::process::{filters, json, shown, soma, soma_on_terminal};

#[test]
fn where_there_is_no_store_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    shown!(folder.path(), "inspect nowhere", @r"
    exit 1
    --- stderr
    error: there is no store at `nowhere`
    hint: check the path
    ");
    shown!(folder.path(), "trials . widths", @r"
    exit 1
    --- stderr
    error: `[FOLDER]` is not a store: it has no `format` file
    hint: give the folder that holds the file `format`
    ");
    std::fs::write(folder.path().join("file"), "").unwrap();
    shown!(folder.path(), "inspect file", @r"
    exit 1
    --- stderr
    error: `file` is a file, expected the folder of a store
    hint: give the folder that holds the file `format`
    ");
    shown!(folder.path(), "inspect s3://bucket/runs", @r"
    exit 1
    --- stderr
    error: `s3://bucket/runs` was given, and `s3` storage is not in this build yet; expected a folder or `memory://`
    hint: use a folder, which may lie on a shared file system
    ");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "looking creates nothing");
}

#[test]
fn a_folder_inside_a_store_leads_to_the_store() {
    let fixture = Fixture::widths(2);
    shown!(fixture.path(), "inspect store/studies/widths", @r"
    exit 1
    --- stderr
    error: `[FOLDER]/store/studies/widths` is not a store: it has no `format` file
    hint: it lies in `[FOLDER]/store`, which may be the store that is meant
    ");
    let inside = fixture.path().join("store/studies/widths");
    assert_eq!(soma(&inside, ["inspect", "../.."]).code, 0);
    assert_eq!(soma(&inside, ["inspect", "../../"]).code, 0);
}

#[test]
fn an_empty_store_is_no_error_to_inspect_and_names_no_study() {
    let fixture = Fixture::empty();
    shown!(fixture.path(), "inspect store", @r"
    exit 0
    --- stdout
    STUDY  GOAL  TRIALS  DONE  PRUNED  FAILED  RUNNING  BEST  ALIVE LAST  ABANDONED SIZE
    --- stderr
    note: `[FOLDER]/store` holds no study yet
    ");
    shown!(fixture.path(), "inspect store --json", @r#"
    exit 0
    --- stdout
    {"version":1,"verb":"inspect","store":"[FOLDER]/store","studies":[],"unread":[]}
    --- stderr
    note: `[FOLDER]/store` holds no study yet
    "#);
    shown!(fixture.path(), "trials store", @r"
    exit 1
    --- stderr
    error: `[FOLDER]/store` holds no study yet
    hint: check the path; a study is there once its first trial was taken
    ");
    shown!(fixture.path(), "importance store widths", @r"
    exit 1
    --- stderr
    error: there is no study `widths` in `[FOLDER]/store`
    hint: the store holds no study yet: check the path
    ");
}

#[test]
fn one_study_is_inspected_in_full() {
    let fixture = Fixture::widths(12);
    shown!(fixture.path(), "inspect store", @r"
    exit 0
    --- stdout
    widths  in [FOLDER]/store
      goal          min
      trials        12  8 done, 2 pruned, 1 failed, 1 running
      best          0.6522294562589372  trial 5 by worker-1
                    lr=0.00657310460504226,width=22,opt=sgd
      space         Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))
      workers       1 alive, 0 silent, 0 without a trial
                    worker-1  1 under way
      last activity [TIME] ago
      size [SIZE] in 1 ledger
    ");
    shown!(fixture.path(), "inspect store widths --json", @r#"
    exit 0
    --- stdout
    {"version":1,"verb":"inspect","store":"[FOLDER]/store","studies":[{"study":"widths","goal":"min","n_trials":12,"counts":{"running":1,"done":8,"pruned":2,"failed":1,"abandoned":0,"discarded":0},"best":{"trial":5,"attempt":0,"state":"done","point":{"lr":0.00657310460504226,"width":22,"opt":"sgd"},"score":0.6522294562589372,"who":"worker-1","goal":"min","because":null,"took_secs":"[SECS]","reports":4,"space_version":1,"is_discarded":false},"workers":[{"who":"worker-1","is_alive":true,"running":1,"abandoned":0,"taken":12,"silent_secs":"[SECS]"}],"last_activity_secs":"[SECS]","space":"Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))","space_versions":1,"ledgers":1,"size_bytes":"[SIZE]","damage":[]}],"unread":[]}
    "#);
}

#[test]
fn trials_are_rows_in_trial_order() {
    let fixture = Fixture::widths(12);
    shown!(fixture.path(), "trials store", @r"
    exit 0
    --- stdout
    TRIAL  ATTEMPT  STATE       SCORE           lr  width  opt   REPORTS TOOK  WHO       BECAUSE
        0        0  done      1.24723   0.00277186     44  sgd         4 [TIME]  worker-1
        1        0  done      1.34277    0.0876538     15  adam        4 [TIME]  worker-1
        2        0  done      1.02277    0.0155873     58  sgd         4 [TIME]  worker-1
        3        0  done      1.84723  0.000492913     29  adam        4 [TIME]  worker-1
        4        0  pruned    2.69223   0.00020786     51  adam        2 [TIME]  worker-1  0.9 is worse than the median 0.5 of 6 curves
        5        0  done     0.652229    0.0065731     22  sgd         4 [TIME]  worker-1
        6        0  done      1.17777    0.0369633     36  adam        4 [TIME]  worker-1
        7        0  failed    1.51223   0.00116888      8  sgd         2 [TIME]  worker-1  ValueError: no\nconvergence
        8        0  done      1.97973   0.00075905     61  adam        4 [TIME]  worker-1
        9        0  pruned    1.21027    0.0240033     33  sgd         2 [TIME]  worker-1  0.9 is worse than the median 0.5 of 6 curves
       10        0  done      1.08973   0.00426845     47  adam        4 [TIME]  worker-1
       11        0  running             0.00013498     19  sgd         2  worker-1
    ");
    shown!(fixture.path(), "trials store --limit 1 --json", @r#"
    exit 0
    --- stdout
    {"version":1,"verb":"trials","study":"widths","total":12,"trials":[{"trial":0,"attempt":0,"state":"done","point":{"lr":0.002771855228616633,"width":44,"opt":"sgd"},"score":1.2472294562589372,"who":"worker-1","goal":"min","because":null,"took_secs":"[SECS]","reports":4,"space_version":1,"is_discarded":false}]}
    "#);
}

#[test]
fn trials_are_filtered_sorted_limited_and_cut_to_columns() {
    let fixture = Fixture::widths(12);
    shown!(fixture.path(), "trials store --state done --sort score --limit 3 --columns trial,score,lr,point", @r"
    exit 0
    --- stdout
    TRIAL     SCORE          lr  POINT
        5  0.652229   0.0065731  lr=0.00657310460504226,width=22,opt=sgd
        2   1.02277   0.0155873  lr=0.015587287424960756,width=58,opt=sgd
       10   1.08973  0.00426845  lr=0.004268453392943451,width=47,opt=adam
    ");
    shown!(fixture.path(), "trials store --state pruned,failed --columns trial,state,because", @r"
    exit 0
    --- stdout
    TRIAL  STATE   BECAUSE
        4  pruned  0.9 is worse than the median 0.5 of 6 curves
        7  failed  ValueError: no\nconvergence
        9  pruned  0.9 is worse than the median 0.5 of 6 curves
    ");
    shown!(fixture.path(), "trials store --sort opt --reverse --limit 2 --columns opt,trial", @r"
    exit 0
    --- stdout
    opt  TRIAL
    sgd      0
    sgd      2
    ");
    shown!(fixture.path(), "trials store --sort depth", @r"
    exit 1
    --- stderr
    error: there is no column `depth`
    hint: the columns are trial, attempt, state, score, point, reports, took_secs, who, goal, space_version, is_discarded, because, lr, width, opt
    ");
    shown!(fixture.path(), "trials store --limit 0", @r"
    exit 0
    --- stdout
    TRIAL  ATTEMPT  STATE  SCORE  lr  width  opt  REPORTS TOOK  WHO  BECAUSE
    ");
}

#[test]
fn rows_without_a_value_come_last_in_both_directions() {
    let fixture = Fixture::widths(12);
    for direction in [&[][..], &["--reverse"]] {
        let line = ["trials", "store", "--sort", "took_secs", "--json"].iter().chain(direction);
        let listing = json(fixture.path(), line);
        let trials = listing["trials"].as_array().unwrap();
        assert_eq!(trials.last().unwrap()["state"], "running", "{direction:?}");
        assert!(trials[..trials.len() - 1].iter().all(|row| row["took_secs"].is_number()));
    }
}

#[test]
fn the_best_trial_is_shown_with_every_digit() {
    let fixture = Fixture::widths(12);
    shown!(fixture.path(), "best store", @r"
    exit 0
    --- stdout
    score  0.6522294562589372 (min)
    trial  5 by worker-1
    lr     0.00657310460504226
    width  22
    opt    sgd
    ");
    shown!(fixture.path(), "best store --goal max", @r"
    exit 1
    --- stderr
    error: study `widths` was given the goal `max`, it was begun with `min`
    hint: leave `--goal` out: the study says its own
    ");
    let best = json(fixture.path(), ["best", "store", "--json"]);
    let rows = json(fixture.path(), ["trials", "store", "--state", "done", "--sort", "score", "--json"]);
    assert_eq!(best["best"], rows["trials"][0]);
}

#[test]
fn before_anything_has_finished_there_is_no_best() {
    let fixture = Fixture::widths(1);
    shown!(fixture.path(), "best store", @r"
    exit 0
    --- stderr
    note: no trial of `widths` has finished yet
    ");
    assert_eq!(json(fixture.path(), ["best", "store", "--json"])["best"], serde_json::Value::Null);
}

/// C16: a pruned trial's value is never the best.
#[test]
fn c16_a_pruned_score_is_never_the_best() {
    let fixture = Fixture::empty();
    let worker = Worker { store: &fixture.store, study: "pruned", goal: Goal::Min };
    for (trial, score, state) in [(0, 1.0, State::Done), (1, 0.0, State::Pruned)] {
        let point = ask(&widths(), trial);
        worker.take(&point, trial, 0);
        worker.report(&point, &[score], trial, 0, state, None, None);
    }
    assert_eq!(json(fixture.path(), ["best", "store", "--json"])["best"]["trial"], 0);
    assert_eq!(json(fixture.path(), ["inspect", "store", "--json"])["studies"][0]["best"]["trial"], 0);
    assert!(soma(fixture.path(), ["best", "store"]).stdout.contains("trial  0 by"));
}

/// C11: the best says the option and keeps its type.
#[test]
fn c11_the_best_holds_the_option_and_not_its_place() {
    let fixture = Fixture::empty();
    let space = Space::new()
        .choice("batch", [32, 64, 128])
        .and_then(|space| space.int("depth", 1, 5, IntOptions::default()))
        .unwrap();
    let worker = Worker { store: &fixture.store, study: "typed", goal: Goal::Min };
    for trial in 0..12 {
        let point = ask(&space, trial);
        let Some(Scalar::Int(batch)) = point.get("batch") else { panic!("{point}") };
        worker.take(&point, trial, 0);
        worker.report(&point, &[(*batch - 64).abs() as f64], trial, 0, State::Done, None, None);
    }
    let best = json(fixture.path(), ["best", "store", "--json"]);
    assert_eq!(best["best"]["point"]["batch"], serde_json::json!(64));
    assert!(best["best"]["point"]["depth"].is_i64());
    let text = soma(fixture.path(), ["best", "store"]).stdout;
    assert!(text.lines().any(|line| line == "batch  64"), "{text}");
}

#[test]
fn options_of_every_type_are_told_apart() {
    let stores = of_every_kind();
    shown!(stores.path(), "trials typed --columns trial,score,batch,momentum,layers", @r#"
    exit 0
    --- stdout
    TRIAL  SCORE  batch          momentum  layers
        0      0  64                            5
        1      1  "a=b,\"c\"\n"                 1
        2      2  none                          7
        3      3  64                            3
        4      4  32                 0.75       1
        5      5  true                          7
        6      6  none                          3
        7      7  "64"                          9
    "#);
    shown!(stores.path(), "space typed", @r#"
    exit 0
    --- stdout
    DIMENSION  KIND    VALUES                                               WHEN
    batch      choice  32 | 64 | "64" | 64.0 | true | none | "a=b,\"c\"\n"
    momentum   real    0 .. 1 step 0.25                                     batch = 32
    layers     int     1 .. 9 step 2
    "#);
    shown!(stores.path(), "space typed --json", @r#"
    exit 0
    --- stdout
    {"version":1,"verb":"space","study":"typed","goal":"max","space_version":1,"text":"Space(batch=choice(32|64|\"64\"|64.0|true|none|\"a=b,\\\"c\\\"\\n\"),momentum=real(0,1,step=0.25) when batch=32,layers=int(1,9,step=2))","dimensions":[{"name":"batch","kind":"choice","options":[32,64,"64",64.0,true,null,"a=b,\"c\"\n"],"when":null},{"name":"momentum","kind":"real","low":0.0,"high":1.0,"log":false,"step":0.25,"when":{"name":"batch","values":[32]}},{"name":"layers","kind":"int","low":1,"high":9,"log":false,"step":2,"when":null}]}
    "#);
    assert_eq!(typed().to_string(), json(stores.path(), ["space", "typed", "--json"])["text"]);
}

#[test]
fn importance_reads_the_space_from_the_store() {
    let fixture = Fixture::widths(30);
    shown!(fixture.path(), "importance store", @r"
    exit 0
    --- stdout
    DIMENSION  IMPORTANCE
    lr           0.751976  ██████████████████
    width        0.216403  █████▎
    opt          0.013122  ▍
    --- stderr
    note: spearman over 23 finished trials
    ");
    shown!(fixture.path(), "importance store widths --json", @r#"
    exit 0
    --- stdout
    {"version":1,"verb":"importance","study":"widths","evaluator":"spearman","n_trials":23,"importance":[{"name":"lr","importance":0.7519762845849802},{"name":"width","importance":0.21640316205533597},{"name":"opt","importance":0.01312159702703695}]}
    "#);
}

/// C19: with nothing to tell by there are zeros and no NaN.
#[test]
fn c19_importance_of_too_little_is_zero() {
    for n_trials in [1, 2, 3] {
        let fixture = Fixture::widths(n_trials);
        let ranking = json(fixture.path(), ["importance", "store", "--json"]);
        let shares = ranking["importance"].as_array().unwrap();
        assert_eq!(shares.len(), 3, "{n_trials}");
        assert!(shares.iter().all(|share| share["importance"] == 0.0), "{n_trials}: {ranking}");
        assert_eq!(ranking["n_trials"], n_trials - 1);
    }
}

#[test]
fn importance_of_nothing_says_that_nothing_has_finished() {
    let fixture = Fixture::widths(1);
    shown!(fixture.path(), "importance store", @r"
    exit 0
    --- stdout
    DIMENSION  IMPORTANCE
    lr           0.000000
    width        0.000000
    opt          0.000000
    --- stderr
    note: no trial of `widths` has finished yet: nothing is known of any dimension
    ");
    shown!(fixture.path(), "importance store --json", @r#"
    exit 0
    --- stdout
    {"version":1,"verb":"importance","study":"widths","evaluator":"spearman","n_trials":0,"importance":[{"name":"lr","importance":0.0},{"name":"width","importance":0.0},{"name":"opt","importance":0.0}]}
    --- stderr
    note: no trial of `widths` has finished yet: nothing is known of any dimension
    "#);
}

#[test]
fn a_later_attempt_is_named_and_the_first_is_not() {
    let fixture = Fixture::empty();
    let worker = Worker { store: &fixture.store, study: "again", goal: Goal::Min };
    let point = ask(&widths(), 0);
    worker.take(&point, 22, 0);
    worker.report(&point, &[], 22, 0, State::Failed, None, None);
    worker.take(&point, 22, 1);
    worker.report(&point, &[0.5], 22, 1, State::Done, None, None);
    shown!(fixture.path(), "best store", @r"
    exit 0
    --- stdout
    score  0.5 (min)
    trial  22, attempt 1 by worker-1
    lr     0.002771855228616633
    width  44
    opt    sgd
    ");
    shown!(fixture.path(), "inspect store", @r"
    exit 0
    --- stdout
    again  in [FOLDER]/store
      goal          min
      trials        1  1 done
      best          0.5  trial 22, attempt 1 by worker-1
                    lr=0.002771855228616633,width=44,opt=sgd
      space         Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))
      workers       0 alive, 0 silent, 1 without a trial
      last activity [TIME] ago
      size [SIZE] in 1 ledger
    ");
    let title = |line: &str| soma(fixture.path(), line.split(' ')).stdout.lines().next().unwrap().to_owned();
    assert!(title("curve store 22").starts_with("trial 22, attempt 1 done 0.5 "));
    assert!(title("curve store 22.0").starts_with("trial 22 failed "));
}

#[test]
fn a_curve_is_plotted_and_its_values_are_json() {
    let fixture = Fixture::widths(12);
    with_settings!({filters => filters()}, {
        assert_snapshot!(soma_on_terminal(fixture.path(), 40, ["curve", "store", "0"]), @r"
        exit 0
        --- stdout
        trial 0 done 1.2472294562589372 lr=0.00…
        1.99723 ┤⠱⡀
                │ ⠘⡄
                │  ⠈⢆
                │    ⠣⡀
                │     ⠱⡀
                │      ⠘⢄
        1.62223 ┤       ⠈⠱⡀
                │         ⠑⡄
                │          ⠈⠑⠢⢄⡀
                │              ⠈⠑⠢⢄⡀
                │                  ⠈⠑⠢⠤⣀⡀
        1.24723 ┤                       ⠈⠉⠑⠒⠢⠤⢄⣀
                └───────────────────────────────
                 0                             3
        ");
    });
    shown!(fixture.path(), "curve store widths 7.0 --json", @r#"
    exit 0
    --- stdout
    {"version":1,"verb":"curve","study":"widths","trial":{"trial":7,"attempt":0,"state":"failed","point":{"lr":0.0011688816579178678,"width":8,"opt":"sgd"},"score":1.5122294562589371,"who":"worker-1","goal":"min","because":"ValueError: no\nconvergence","took_secs":"[SECS]","reports":2,"space_version":1,"is_discarded":false},"values":[2.0122294562589373,1.5122294562589371]}
    "#);
    shown!(fixture.path(), "curve store 99", @r"
    exit 1
    --- stderr
    error: `widths` has no trial 99
    hint: its last trial is 11
    ");
    shown!(fixture.path(), "curve store 0.3", @r"
    exit 1
    --- stderr
    error: trial 0 of `widths` has no attempt 3
    hint: its last attempt is 0
    ");
    shown!(fixture.path(), "curve store widths", @r"
    exit 1
    --- stderr
    error: invalid value 'widths' for '<TRIAL>': expected the number of a trial, as in `17`, or of an attempt, as in `17.1`

    For more information, try '--help'.
    ");
}

#[test]
fn a_curve_of_odd_values_leaves_gaps() {
    let stores = of_every_kind();
    let values = json(stores.path(), ["curve", "typed", "0", "--json"])["values"].clone();
    assert_eq!(values, serde_json::json!([1.0, "nan", "inf", -1e300]));
    let outcome = soma(stores.path(), ["curve", "typed", "0"]);
    assert_eq!(outcome.stderr, "note: 2 of 4 values are no finite number and leave a gap\n");
}

#[test]
fn a_living_worker_has_abandoned_nothing_and_a_dead_one_has() {
    let fixture = Fixture::widths(12);
    shown!(fixture.path(), "abandoned store", @r"
    exit 0
    --- stdout
    TRIAL  ATTEMPT  WHO  POINT
    ");
    drop(fixture.store);
    let path = fixture.folder.path();
    shown!(path, "abandoned store", @r"
    exit 0
    --- stdout
    TRIAL  ATTEMPT  WHO       POINT
       11        0  worker-1  lr=0.0001349803480797501,width=19,opt=sgd
    ");
    shown!(path, "abandoned store --json", @r#"
    exit 0
    --- stdout
    {"version":1,"verb":"abandoned","study":"widths","lease_secs":"[SECS]","abandoned":[{"trial":11,"attempt":0,"who":"worker-1","point":{"lr":0.0001349803480797501,"width":19,"opt":"sgd"}}]}
    "#);
    shown!(path, "inspect store", @r"
    exit 0
    --- stdout
    widths  in [FOLDER]/store
      goal          min
      trials        12  8 done, 2 pruned, 1 failed, 1 abandoned
      best          0.6522294562589372  trial 5 by worker-1
                    lr=0.00657310460504226,width=22,opt=sgd
      space         Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))
      workers       0 alive, 1 silent, 0 without a trial
                    worker-1  1 abandoned, silent for [TIME]
      last activity [TIME] ago
      size [SIZE] in 1 ledger
    ");
}

/// No store records the lease of its workers: whoever looks says it.
#[test]
fn silence_is_measured_by_the_lease_that_is_given() {
    let fixture = Fixture::widths(12);
    silenced_copy(&fixture, "silent");
    let path = fixture.path();
    shown!(path, "inspect silent", @r"
    exit 0
    --- stdout
    widths  in [FOLDER]/silent
      goal          min
      trials        12  8 done, 2 pruned, 1 failed, 1 running
      best          0.6522294562589372  trial 5 by worker-1
                    lr=0.00657310460504226,width=22,opt=sgd
      space         Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))
      workers       1 alive, 0 silent, 0 without a trial
                    worker-1  1 under way
      last activity [TIME] ago
      size [SIZE] in 1 ledger
    ");
    shown!(path, "inspect silent --lease-secs 5", @r"
    exit 0
    --- stdout
    widths  in [FOLDER]/silent
      goal          min
      trials        12  8 done, 2 pruned, 1 failed, 1 abandoned
      best          0.6522294562589372  trial 5 by worker-1
                    lr=0.00657310460504226,width=22,opt=sgd
      space         Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))
      workers       0 alive, 1 silent, 0 without a trial
                    worker-1  1 abandoned, silent for [TIME]
      last activity [TIME] ago
      size [SIZE] in 1 ledger
    ");
    let alive = |line: &str| json(path, line.split(' '))["studies"][0]["workers"][0]["is_alive"].clone();
    assert_eq!(alive("inspect silent --json"), true);
    assert_eq!(alive("inspect silent --json --lease-secs 5"), false);
    let picture = |line: &str| soma_on_terminal(path, 80, line.split(' ')).stdout;
    let watch = "watch silent --timeout-secs 0.01 --interval-secs 0.01";
    assert!(picture(watch).contains("1 alive, 0 silent"));
    assert!(picture(&format!("{watch} --lease-secs 5")).contains("0 alive, 1 silent"));
    let abandoned = |line: &str| json(path, line.split(' '))["abandoned"].as_array().unwrap().len();
    assert_eq!(abandoned("abandoned silent --json"), 0);
    assert_eq!(abandoned("abandoned silent --json --lease-secs 5"), 1);
}

#[test]
fn ten_studies_are_a_table_and_one_must_be_named() {
    let fixture = Fixture::empty();
    for number in 0..10 {
        let goal = if number % 2 == 0 { Goal::Min } else { Goal::Max };
        fixture.fill(&format!("study-{number}"), goal, 3 + number);
    }
    shown!(fixture.path(), "inspect store", @r"
    exit 0
    --- stdout
    STUDY    GOAL  TRIALS  DONE  PRUNED  FAILED  RUNNING      BEST  ALIVE LAST  ABANDONED SIZE
    study-0  min        3     2       0       0        1   1.24723      1 [TIME]          0 [SIZE]
    study-1  max        4     3       0       0        1   1.34277      1 [TIME]          0 [SIZE]
    study-2  min        5     4       0       0        1   1.02277      1 [TIME]          0 [SIZE]
    study-3  max        6     4       1       0        1   1.84723      1 [TIME]          0 [SIZE]
    study-4  min        7     5       1       0        1  0.652229      1 [TIME]          0 [SIZE]
    study-5  max        8     6       1       0        1   1.84723      1 [TIME]          0 [SIZE]
    study-6  min        9     6       1       1        1  0.652229      1 [TIME]          0 [SIZE]
    study-7  max       10     7       1       1        1   1.97973      1 [TIME]          0 [SIZE]
    study-8  min       11     7       2       1        1  0.652229      1 [TIME]          0 [SIZE]
    study-9  max       12     8       2       1        1   1.97973      1 [TIME]          0 [SIZE]
    ");
    shown!(fixture.path(), "trials store", @r"
    exit 1
    --- stderr
    error: `[FOLDER]/store` holds 10 studies, expected the name of one
    hint: name one of study-0, study-1, study-2, study-3, study-4, study-5, study-6, study-7, study-8, study-9
    ");
    shown!(fixture.path(), "best store stduy-3", @r"
    exit 1
    --- stderr
    error: there is no study `stduy-3` in `[FOLDER]/store`
    hint: did you mean `study-3`?
    ");
    shown!(fixture.path(), "inspect store study", @r"
    exit 1
    --- stderr
    error: there is no study `study` in `[FOLDER]/store`
    hint: did you mean `study-9`?
    ");
    assert_eq!(json(fixture.path(), ["inspect", "store", "--json"])["studies"].as_array().unwrap().len(), 10);
}

#[test]
fn huge_numbers_keep_their_size() {
    let fixture = Fixture::empty();
    let space = Space::new()
        .real("x", -1e300, 1e300, RealOptions::default())
        .and_then(|space| space.int("n", i64::MIN / 4, i64::MAX / 4, IntOptions::default()))
        .unwrap();
    let worker = Worker { store: &fixture.store, study: "huge", goal: Goal::Max };
    for (trial, score) in [(0, 1e300), (1, -1e-300), (2, f64::MAX), (u64::from(u32::MAX) * 1000, 0.1 + 0.2)] {
        let point = ask(&space, trial);
        worker.take(&point, trial, 0);
        worker.report(&point, &[-score, score], trial, 0, State::Done, None, None);
    }
    shown!(fixture.path(), "trials store --columns trial,score,x,n", @r"
    exit 0
    --- stdout
            TRIAL        SCORE            x                     n
                0        1e300  -3.8153e298    607521394188425845
                1      -1e-300  9.61847e299  -1698321615318216758
                2  1.79769e308  4.61847e299   1760442898002501119
    4294967295000          0.3   -3.487e299    982249274984408551
    ");
    shown!(fixture.path(), "best store", @r"
    exit 0
    --- stdout
    score  1.7976931348623157e308 (max)
    trial  2 by worker-1
    x      4.618470291607083e299
    n      1760442898002501119
    ");
    assert_eq!(json(fixture.path(), ["best", "store", "--json"])["best"]["score"], f64::MAX);
    assert_eq!(soma(fixture.path(), ["curve", "store", "2"]).code, 0);
}

#[test]
fn looking_changes_nothing_in_a_store() {
    let fixture = Fixture::widths(12);
    let path = fixture.path().to_owned();
    let folder = fixture.folder;
    drop(fixture.store);
    let before = listing(&path);
    for line in [
        "inspect store",
        "trials store",
        "best store",
        "importance store",
        "curve store 0",
        "abandoned store",
        "space store",
        "export store",
        "verify store",
        "watch store --timeout-secs 0.01 --interval-secs 0.01",
    ] {
        assert_eq!(soma(&path, line.split(' ')).code, 0, "{line}");
        assert_eq!(listing(&path), before, "{line}");
    }
    drop(folder);
}

fn listing(folder: &std::path::Path) -> Vec<(std::path::PathBuf, std::time::SystemTime, u64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let about = entry.metadata().unwrap();
        found.push((entry.path(), about.modified().unwrap(), about.len()));
        if about.is_dir() {
            found.extend(listing(&entry.path()));
        }
    }
    found.sort();
    found
}
