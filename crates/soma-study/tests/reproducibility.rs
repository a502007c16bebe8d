//! Pinned values: a change here is a line of the changelog, as every record made before can no longer be re-derived.

#![expect(clippy::unwrap_used, reason = "a test stops where it is wrong")]

use soma_store::Store;
use soma_study::{
    History, IntOptions, Observation, Point, RandomOptions, RealOptions, Sampler, SobolOptions, Space, Take,
    TpeOptions, misfits, take,
};

const STUDY: &str = "widths";

const SPACE: &str =
    "Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd),m=real(0,0.99) when opt=sgd)";

fn points(sampler: &Sampler, space: &str, n: u64) -> Vec<String> {
    let space: Space = space.parse().unwrap();
    (0..n).map(|trial| sampler.ask(&space, trial, &History::new()).unwrap().to_string()).collect()
}

#[test]
fn each_sampler_gives_the_points_it_always_gave() {
    let random = RandomOptions::default().with_seed(42);
    let cases = [
        (Sampler::random_with(random), SPACE),
        (Sampler::random_with(random), "Space(a=int(0,9),b=choice(x|y|z))"),
        (Sampler::random_with(random), "Space(a=logint(1,9),b=choice(x|y|z) when a=1)"),
        (Sampler::halton(42), SPACE),
        (Sampler::sobol(42), SPACE),
        (Sampler::sobol_with(SobolOptions::default().with_seed(42).with_owen(true)), SPACE),
        (Sampler::tpe(TpeOptions::default().with_seed(42)).unwrap(), SPACE),
    ];
    let made: Vec<String> = cases
        .iter()
        .map(|(sampler, space)| format!("{sampler} {space}\n{}\n", points(sampler, space, 4).join("\n")))
        .collect();
    assert_eq!(made.concat(), include_str!("fixtures/points.txt"));
}

#[test]
fn tpe_gives_the_same_point_for_the_same_history() {
    let space: Space = SPACE.parse().unwrap();
    let sampler = Sampler::tpe(TpeOptions::default().with_seed(42)).unwrap();
    let draws = Sampler::random(1);
    let row = |trial: u64| Observation {
        trial,
        point: draws.ask(&space, trial, &History::new()).unwrap(),
        score: Some((trial * 37 % 101) as f64),
    };
    let whole: History = (0..50).map(row).collect();
    let joined = (0..20).map(row).collect::<History>().concat(&(20..50).map(row).collect());
    let point = sampler.ask(&space, 50, &whole).unwrap();
    assert_eq!(sampler.ask(&space, 50, &joined).unwrap(), point);
    assert_ne!(sampler.ask(&space, 51, &whole).unwrap(), point);
    assert_eq!(point.to_string(), include_str!("fixtures/tpe.txt").trim_end());
}

fn taken(store: &Store, trial: u64, point: &Point) {
    assert!(take(store, point, &Take::new(STUDY, trial, "w")).unwrap());
}

#[test]
fn a_record_says_which_sampler_gave_its_point_and_one_that_does_not_fit_is_found() {
    let store = Store::open("memory://").unwrap();
    let space = Space::new().int("width", 8, 64, IntOptions::default()).unwrap();
    let space = space.real("lr", 1e-4, 1e-1, RealOptions::default().with_log(true)).unwrap();
    let none = History::new();
    let independent =
        ["grid(points_per_real=4)", "random(seed=3)", "halton(seed=1)", "sobol(seed=0)", "sobol(owen=true)"];
    for (trial, text) in independent.iter().enumerate() {
        let sampler: Sampler = text.parse().unwrap();
        taken(&store, trial as u64, &sampler.ask(&space, trial as u64, &none).unwrap());
        // Of another trial's number, which the record says.
        let trial = 10 + trial as u64;
        taken(&store, trial, &sampler.ask(&space, trial + 100, &none).unwrap());
    }
    // From a sampler that looks at the history, and from nowhere.
    taken(&store, 20, &Sampler::tpe(TpeOptions::default()).unwrap().ask(&space, 20, &none).unwrap());
    taken(&store, 21, &space.parse_point("width=9,lr=0.01").unwrap());
    assert_eq!(misfits(&store).unwrap(), []);

    let forged = |trial: u64, by: &str, point: &str| {
        let body = format!(
            r#"{{"kind":"take","trial":{trial},"attempt":0,"me":"x","space":1,"point":"{point}","by":"{by}"}}"#
        );
        store.study(STUDY).write(body.as_bytes(), false).unwrap();
    };
    let sobol = Sampler::sobol(0).ask(&space, 30, &none).unwrap().to_string();
    forged(30, "sobol(seed=0)", &sobol);
    forged(31, "sobol(seed=0)", &sobol);
    forged(300, "grid(points_per_real=4)", "width=9,lr=0.01");
    forged(33, "clairvoyant(seed=0)", &sobol);
    let found = misfits(&store).unwrap();
    assert_eq!(found.iter().map(|one| one.trial).collect::<Vec<_>>(), [31, 300]);
    assert_eq!(found[0].recorded, sobol);
    assert_eq!(found[0].given, Some(Sampler::sobol(0).ask(&space, 31, &none).unwrap().to_string()));
    assert_eq!(found[1].given, None);
    assert!(found[1].to_string().contains("trial 300 of study `widths` is recorded at `width=9,lr=0.01`"));
}

#[test]
#[cfg(unix)]
fn a_point_that_does_not_fit_is_found_once_though_a_ledger_goes_away_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    let space = Space::new().int("width", 8, 64, IntOptions::default()).unwrap();
    taken(&store, 0, &space.parse_point("width=9").unwrap());
    let forged =
        r#"{"kind":"take","trial":1,"attempt":0,"me":"x","space":1,"point":"width=9","by":"halton(seed=1)"}"#;
    store.study(STUDY).write(forged.as_bytes(), false).unwrap();
    assert_eq!(misfits(&store).unwrap().len(), 1);
    // It is listed, and not there when it is opened.
    let study = store.study(STUDY);
    let gone = study.ledger_path(&"f".repeat(study.own_ledger().unwrap().len()));
    std::os::unix::fs::symlink("nowhere", gone).unwrap();
    assert_eq!(misfits(&store).unwrap().len(), 1);
}
