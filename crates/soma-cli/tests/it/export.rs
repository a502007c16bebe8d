//! `soma export`.

use arrow_array::Array as _;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use insta::{assert_snapshot, with_settings};

use crate::fixtures::{Fixture, of_every_kind};
use crate::process::{command, filters, json, soma};

#[test]
fn csv_has_a_header_and_every_digit() {
    let fixture = Fixture::widths(9);
    with_settings!({filters => {
        let mut all = filters();
        all.push((r",[0-9.e-]+,(\d),1,false", ",[SECS],$1,1,false"));
        all
    }}, {
        assert_snapshot!(soma(fixture.path(), ["export", "store"]), @r#"
        exit 0
        --- stdout
        trial,attempt,state,lr,width,opt,score,who,goal,because,took_secs,reports,space_version,is_discarded
        0,0,done,0.002771855228616633,44,sgd,1.2472294562589372,worker-1,min,,[SECS],4,1,false
        1,0,done,0.08765375866675294,15,adam,1.3427705437410624,worker-1,min,,[SECS],4,1,false
        2,0,done,0.015587287424960756,58,sgd,1.0227705437410624,worker-1,min,,[SECS],4,1,false
        3,0,done,0.0004929133080657691,29,adam,1.8472294562589373,worker-1,min,,[SECS],4,1,false
        4,0,pruned,0.0002078598185047506,51,adam,2.6922294562589366,worker-1,min,0.9 is worse than the median 0.5 of 6 curves,[SECS],2,1,false
        5,0,done,0.00657310460504226,22,sgd,0.6522294562589372,worker-1,min,,[SECS],4,1,false
        6,0,done,0.036963283542142504,36,adam,1.1777705437410626,worker-1,min,,[SECS],4,1,false
        7,0,failed,0.0011688816579178678,8,sgd,1.5122294562589371,worker-1,min,"ValueError: no
        convergence",[SECS],2,1,false
        8,0,running,0.0007590502781382119,61,adam,,worker-1,min,,,2,1,false
        "#);
    });
}

#[test]
fn csv_quotes_what_would_be_read_as_something_else() {
    let stores = of_every_kind();
    let text = soma(stores.path(), ["export", "typed"]).stdout;
    assert!(text.contains(",\"a=b,\"\"c\"\"\n\","), "{text}");
}

#[test]
fn json_lines_are_the_trials_that_trials_lists() {
    let fixture = Fixture::widths(9);
    let lines = soma(fixture.path(), ["export", "store", "--json"]).stdout;
    let listed = json(fixture.path(), ["trials", "store", "--json"]);
    let exported: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| {
            let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
            let members = row.as_object_mut().unwrap();
            assert_eq!(
                (members.remove("version"), members.remove("verb")),
                (Some(1.into()), Some("export".into()))
            );
            row
        })
        .collect();
    assert_eq!(listed["trials"], serde_json::Value::from(exported));
}

#[test]
fn the_ending_of_the_file_says_the_form() {
    let fixture = Fixture::widths(9);
    let path = fixture.path();
    for (file, beginning) in [("a.csv", &b"trial,"[..]), ("a.jsonl", b"{\"version\""), ("a.arrow", b"ARROW1")]
    {
        let outcome = soma(path, ["export", "store", "--output", file]);
        assert_eq!((outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()), (0, "", ""), "{file}");
        assert!(std::fs::read(path.join(file)).unwrap().starts_with(beginning), "{file}");
    }
    assert_snapshot!(soma(path, ["export", "store", "--output", "a.parquet"]), @r"
    exit 1
    --- stderr
    error: Parquet is not written here, expected `csv`, `jsonl` or `arrow`
    hint: export to Arrow; `polars.read_ipc(FILE).write_parquet(...)` makes Parquet of it
    ");
    assert_snapshot!(soma(path, ["export", "store", "--output", "a.xls"]), @r"
    exit 1
    --- stderr
    error: `.xls` is the ending of no form, expected `.csv`, `.jsonl` or `.arrow`
    hint: say which with `--format`
    ");
    assert_snapshot!(soma(path, ["export", "store", "--output", "absent/a.csv"]), @r"
    exit 1
    --- stderr
    error: could not write `absent/a.csv`: no such file or directory
    ");
    assert_snapshot!(soma(path, ["export", "store", "--output", "store", "--format", "csv"]), @r"
    exit 1
    --- stderr
    error: could not write `store`: is a directory
    ");
}

#[test]
fn a_file_is_replaced_whole_through_its_link_and_nothing_is_left_beside_it() {
    let fixture = Fixture::widths(9);
    let path = fixture.path();
    std::fs::write(path.join("kept.csv"), "old").unwrap();
    std::os::unix::fs::symlink("kept.csv", path.join("link.csv")).unwrap();
    assert_eq!(soma(path, ["export", "store", "--output", "link.csv"]).code, 0);
    assert!(std::fs::read_to_string(path.join("kept.csv")).unwrap().starts_with("trial,"));
    assert!(std::fs::symlink_metadata(path.join("link.csv")).unwrap().is_symlink());
    assert_eq!(soma(path, ["export", "store", "--output", "/dev/null", "--format", "arrow"]).code, 0);
    let mut left: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["kept.csv", "link.csv", "store"]);
}

#[test]
fn arrow_keeps_the_types() {
    let fixture = Fixture::widths(9);
    let output = command(fixture.path()).args(["export", "store", "--format", "arrow"]).output().unwrap();
    let mut reader =
        arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(output.stdout), None).unwrap();
    let batch = reader.next().unwrap().unwrap();
    assert!(reader.next().is_none());
    let trials = json(fixture.path(), ["trials", "store", "--json"])["trials"].clone();
    let column = |name: &str| batch.column_by_name(name).unwrap();
    assert_eq!(batch.num_rows(), 9);
    for row in 0..9 {
        let trial = &trials[row];
        let point = |name: &str| column("point").as_struct().column_by_name(name).unwrap();
        assert_eq!(column("trial").as_primitive::<UInt64Type>().value(row), trial["trial"].as_u64().unwrap());
        assert_eq!(
            point("width").as_primitive::<Int64Type>().value(row),
            trial["point"]["width"].as_i64().unwrap()
        );
        assert_eq!(
            point("lr").as_primitive::<Float64Type>().value(row),
            trial["point"]["lr"].as_f64().unwrap()
        );
        assert_eq!(point("opt").as_string::<i32>().value(row), trial["point"]["opt"].as_str().unwrap());
        let score = column("score").as_primitive::<Float64Type>();
        assert_eq!(score.is_valid(row).then(|| score.value(row)), trial["score"].as_f64());
    }
}

#[test]
fn a_study_without_trials_exports_its_columns() {
    let fixture = Fixture::widths(1);
    let header = soma(fixture.path(), ["export", "store"]).stdout.lines().next().unwrap().to_owned();
    assert_eq!(
        header,
        "trial,attempt,state,lr,width,opt,score,who,goal,because,took_secs,reports,space_version,is_discarded"
    );
}
