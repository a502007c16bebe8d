//! Pinned values: a change here is a line of the changelog, as every record made before can no longer be re-derived.

#![expect(clippy::unwrap_used, reason = "a test stops where it is wrong")]

use soma_study::{History, Observation, RandomOptions, Sampler, SobolOptions, Space, TpeOptions};

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
