//! Samplers: golden values, and what each promises about its points.

#![expect(clippy::unwrap_used, reason = "a test stops where it is wrong")]

use std::collections::{BTreeMap, BTreeSet};

use soma_study::{
    Goal, History, IntOptions, Observation, Point, RandomOptions, RealOptions, Sampler, Scalar, SobolOptions,
    Space, SpaceError, TpeOptions, conformance,
};

fn none() -> History {
    History::new()
}

fn space(text: &str) -> Space {
    text.parse().unwrap()
}

fn ask(sampler: &Sampler, space: &Space, trial: u64) -> Point {
    sampler.ask(space, trial, &none()).unwrap()
}

fn float(point: &Point, name: &str) -> f64 {
    point.get(name).and_then(Scalar::as_f64).unwrap()
}

fn unit_cube(dimensions: usize) -> Space {
    (0..dimensions).fold(Space::new(), |space, i| {
        space.real(&format!("x{i}"), 0.0, 1.0, RealOptions::default()).unwrap()
    })
}

/// Random draws that never end.
fn repeating(seed: u64) -> Sampler {
    Sampler::random_with(RandomOptions::default().with_seed(seed).with_repeats(true))
}

fn owen(seed: u64) -> Sampler {
    Sampler::sobol_with(SobolOptions::default().with_seed(seed).with_owen(true))
}

fn tpe(seed: u64) -> Sampler {
    Sampler::tpe(TpeOptions::default().with_seed(seed)).unwrap()
}

fn every(seed: u64) -> Vec<Sampler> {
    vec![
        Sampler::grid(3).unwrap(),
        Sampler::random(seed),
        repeating(seed),
        Sampler::halton(seed),
        Sampler::sobol(seed),
        owen(seed),
        tpe(seed),
    ]
}

#[test]
fn every_sampler_conforms() {
    for sampler in every(0).iter().chain(&every(u64::MAX)) {
        conformance::sampler(sampler);
    }
    conformance::sampler(&Sampler::tpe(TpeOptions::default().with_goal(Goal::Max).with_startup(2)).unwrap());
}

#[test]
fn sobol_gives_the_points_of_the_notebook_digit_for_digit() {
    let space = space("Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))");
    let expected = [
        "lr=0.002771855228616633,width=44,opt=sgd",
        "lr=0.08765375866675294,width=15,opt=adam",
        "lr=0.015587287424960756,width=58,opt=sgd",
        "lr=0.0004929133080657691,width=29,opt=adam",
    ];
    for (trial, text) in expected.into_iter().enumerate() {
        let point = ask(&Sampler::sobol(0), &space, trial as u64);
        assert_eq!(point.to_string(), text);
        assert_eq!(space.parse_point(text).unwrap(), point);
    }
}

#[test]
fn c09_both_ends_of_a_range_are_reached_and_equal_ends_are_a_constant() {
    let grid = Sampler::grid(3).unwrap();
    let reals = space("x=real(0,1)");
    let points: Vec<String> = (0..3).map(|trial| ask(&grid, &reals, trial).to_string()).collect();
    assert_eq!(points, ["x=0", "x=0.5", "x=1"]);

    let ints = space("n=int(1,3)");
    for seed in 0..5 {
        let mut counts = BTreeMap::new();
        for trial in 0..3000 {
            *counts.entry(ask(&repeating(seed), &ints, trial).to_string()).or_insert(0) += 1;
        }
        assert!(counts.len() == 3 && counts.values().all(|n| (800..=1200).contains(n)), "{counts:?}");
    }

    let constants = space("a=real(2,2),b=int(3,3),c=choice(only),d=logreal(0.001,0.001),e=logint(5,5)");
    for sampler in every(1) {
        for trial in 0..5 {
            match sampler.ask(&constants, trial, &none()) {
                Ok(point) => assert_eq!(point.to_string(), "a=2,b=3,c=only,d=0.001,e=5"),
                // The grid alone says when it has been through: after its one point.
                Err(error) => assert_eq!((error, trial > 0), (SpaceError::UsedUp { trial, size: 1 }, true)),
            }
        }
    }
}

#[test]
fn c10_log_draws_are_even_over_orders_of_magnitude() {
    let space = space("lr=logreal(0.00001,0.1)");
    for sampler in every(3).into_iter().skip(1) {
        let mut draws: Vec<f64> = (0..1000).map(|trial| float(&ask(&sampler, &space, trial), "lr")).collect();
        draws.sort_by(f64::total_cmp);
        assert!(draws[0] >= 1e-5 && draws[999] <= 0.1);
        assert!((5e-4..=2e-3).contains(&draws[500]), "{sampler}: {}", draws[500]);
    }
}

#[test]
fn the_whole_of_the_types_is_reached_without_overflow_or_bias() {
    let all = space(
        "n=int(-9223372036854775808,9223372036854775807),x=real(-1.7976931348623157e308,1.7976931348623157e308)",
    );
    for sampler in every(5).into_iter().skip(1) {
        let n: Vec<f64> =
            (0..4000).map(|trial| float(&ask(&sampler, &all, trial), "n") / 2f64.powi(63)).collect();
        let x: Vec<f64> = (0..4000).map(|trial| float(&ask(&sampler, &all, trial), "x") / f64::MAX).collect();
        for draws in [n, x] {
            let mean = draws.iter().sum::<f64>() / 4000.0;
            // Five standard errors of a uniform law on [-1, 1].
            assert!(mean.abs() < 0.046, "{sampler}: {mean}");
            assert!(draws.iter().any(|v| *v < -0.99) && draws.iter().any(|v| *v > 0.99), "{sampler}");
        }
        // The lowest bits vary too: no draw goes through a float.
        let odd = (0..1000).filter(
            |trial| matches!(ask(&sampler, &all, *trial).get("n"), Some(Scalar::Int(n)) if n % 2 != 0),
        );
        assert!((400..=600).contains(&odd.count()), "{sampler}");
    }
}

#[test]
fn the_ends_of_an_int_are_drawn_as_often_as_the_rest() {
    // Not a power of two, linear and logarithmic: the ends of a rounded axis would come half as often.
    for (text, low, high) in [("n=int(1,7)", 1, 7), ("n=logint(100,106)", 100, 106)] {
        let space = space(text);
        for sampler in [repeating(2), Sampler::sobol(2), Sampler::halton(2), owen(2)] {
            let mut counts = BTreeMap::new();
            for trial in 0..7000 {
                *counts.entry(float(&ask(&sampler, &space, trial), "n") as i64).or_insert(0) += 1;
            }
            for n in low..=high {
                assert!((850..=1150).contains(&counts[&n]), "{sampler} {text}: {counts:?}");
            }
        }
    }
}

#[test]
fn two_point_ranges_hold_both_and_nothing_else() {
    let space = space(
        "n=int(9223372036854775806,9223372036854775807),x=real(0,0.1,step=0.1),y=real(1,1.0000000000000002)",
    );
    for sampler in every(4) {
        let seen: BTreeSet<String> = (0..sampler.size(&space).unwrap_or(64).min(64))
            .map(|trial| ask(&sampler, &space, trial).to_string())
            .collect();
        for part in [
            "n=9223372036854775806,",
            "n=9223372036854775807,",
            "x=0,",
            "x=0.1,",
            "y=1",
            "y=1.0000000000000002",
        ] {
            assert!(seen.iter().any(|point| point.contains(part)), "{sampler}: {part}");
        }
    }
}

#[test]
fn c07_random_and_tpe_visit_every_point_of_a_finite_space_once_and_then_say_so() {
    let spaces = [
        ("a=choice(1|2|3|4),b=choice(w|x|y|z)", 16),
        ("a=int(0,6),b=real(0,1,step=0.25)", 35),
        ("a=choice(1|2|3),b=logint(1,20) when a=2,c=choice(x|y) when b=1|2", 2 + 18 + 4),
    ];
    for (text, size) in spaces {
        let space = space(text);
        for seed in 0..5 {
            let sampler = Sampler::random(seed);
            assert_eq!(sampler.size(&space), Some(size));
            let seen: BTreeSet<String> =
                (0..size).map(|trial| ask(&sampler, &space, trial).to_string()).collect();
            assert_eq!(seen.len() as u64, size, "{text}");
            assert_eq!(sampler.ask(&space, size, &none()), Err(SpaceError::UsedUp { trial: size, size }));
        }
        let sampler = tpe(1);
        let mut rows: Vec<Observation> = Vec::new();
        for trial in 0..size {
            let point = sampler.ask(&space, trial, &rows.iter().cloned().collect()).unwrap();
            assert!(rows.iter().all(|row| row.point != point), "{text}: {point} twice");
            rows.push(Observation { trial, point, score: Some((trial * 31 % 17) as f64) });
        }
        let all: History = rows.into_iter().collect();
        assert_eq!(sampler.ask(&space, size, &all), Err(SpaceError::UsedUp { trial: size, size }));
    }
    let error = Sampler::random(0).ask(&space(spaces[0].0), 16, &none()).unwrap_err();
    assert_eq!(error.to_string(), "trial 16 was asked of a space of 16 points, expected a trial below 16");
    assert!(error.hint().is_some());
}

#[test]
fn c07_four_workers_that_ask_tpe_with_the_same_history_do_not_meet() {
    let space = space("a=choice(1|2|3|4),b=choice(w|x|y|z)");
    let sampler = tpe(0);
    let mut rows: Vec<Observation> = Vec::new();
    for round in 0..4 {
        let history: History = rows.iter().cloned().collect();
        for worker in 0..4 {
            let trial = round * 4 + worker;
            let point = sampler.ask(&space, trial, &history).unwrap();
            assert!(rows.iter().all(|row| row.point != point), "{point} twice");
            rows.push(Observation { trial, point, score: Some(trial as f64) });
        }
    }
    assert_eq!(rows.len(), 16);
}

#[test]
fn c07_eight_workers_that_each_know_something_else_do_not_meet_either() {
    for (seed, text) in (0..40).flat_map(|seed| [(seed, "a=int(1,4),b=int(1,4)"), (seed, "a=int(1,30)")]) {
        let (space, sampler) = (space(text), tpe(seed));
        let mut rows: Vec<Observation> = Vec::new();
        let mut state = seed;
        let mut coin = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 63 == 1
        };
        for trial in 0..space.size().unwrap() {
            // Of the last seven trials this worker may have heard nothing, or nothing but the point.
            let heard = rows.iter().filter_map(|row| {
                let is_old = row.trial + 7 < trial;
                let score = row.score.filter(|_| is_old || coin());
                (is_old || coin()).then(|| Observation { score, ..row.clone() })
            });
            let point = sampler.ask(&space, trial, &heard.collect()).unwrap();
            assert!(rows.iter().all(|row| row.point != point), "seed {seed}: {point} twice");
            rows.push(Observation { trial, score: Some(float(&point, "a")), point });
        }
    }
}

#[test]
fn a_finite_space_too_large_to_list_is_not_repeated_by_tpe_either() {
    let space = space("a=int(0,39),b=int(0,39)");
    let mut rows: Vec<Observation> = Vec::new();
    let sampler = tpe(2);
    let mut seen = BTreeSet::new();
    for trial in 0..80 {
        let point = sampler.ask(&space, trial, &rows.iter().cloned().collect()).unwrap();
        // One good place, so that candidates crowd round it.
        let score = Some((float(&point, "a") - 20.0).abs() + (float(&point, "b") - 20.0).abs());
        assert!(seen.insert(point.to_string()), "{point} twice");
        rows.push(Observation { trial, point, score });
    }
}

#[test]
fn c08_the_grid_holds_every_combination_once_and_spreads_conditions_where_they_hold() {
    let grid = Sampler::grid(3).unwrap();
    let space_of_18 = space("a=choice(x|y|z),b=real(0,1),c=choice(true|false)");
    assert_eq!(grid.size(&space_of_18), Some(18));
    let points: Vec<String> = (0..18).map(|trial| ask(&grid, &space_of_18, trial).to_string()).collect();
    assert_eq!(points[..3], ["a=x,b=0,c=true", "a=x,b=0,c=false", "a=x,b=0.5,c=true"]);
    assert_eq!(points.iter().collect::<BTreeSet<_>>().len(), 18);
    assert_eq!(grid.ask(&space_of_18, 18, &none()).unwrap_err(), SpaceError::UsedUp { trial: 18, size: 18 });

    let conditional =
        space("opt=choice(adam|sgd|lion),m=real(0,0.9) when opt=sgd|lion,n=int(1,2) when opt=lion");
    assert_eq!(grid.size(&conditional), Some(1 + 3 + 6));
    let points: Vec<String> = (0..10).map(|trial| ask(&grid, &conditional, trial).to_string()).collect();
    assert_eq!(
        points,
        [
            "opt=adam",
            "opt=sgd,m=0",
            "opt=sgd,m=0.45",
            "opt=sgd,m=0.9",
            "opt=lion,m=0,n=1",
            "opt=lion,m=0,n=2",
            "opt=lion,m=0.45,n=1",
            "opt=lion,m=0.45,n=2",
            "opt=lion,m=0.9,n=1",
            "opt=lion,m=0.9,n=2",
        ]
    );
    assert_eq!(
        Sampler::grid(1).unwrap().ask(&space("x=logreal(0.01,1)"), 0, &none()).unwrap().to_string(),
        "x=0.1"
    );
    assert_eq!(
        Sampler::grid(0).unwrap_err().to_string(),
        "`grid` was given `points_per_real` 0, expected at least 1"
    );
    // Without end for the count of a trial.
    let vast = space("a=int(0,9223372036854775807),b=int(0,9223372036854775807)");
    assert_eq!(grid.size(&vast), None);
    assert!(grid.ask(&vast, u64::MAX, &none()).is_ok());
}

#[test]
fn random_streams_are_not_shifted_copies_of_each_other() {
    let space = unit_cube(4);
    let stream = |seed, name: &'static str| -> Vec<u64> {
        let sampler = Sampler::random(seed);
        (0..200).map(|trial| float(&ask(&sampler, &space, trial), name).to_bits()).collect()
    };
    let mut streams = Vec::new();
    // Neighbouring seeds, and seeds a step of the common generators apart.
    for seed in [0, 1, 2, 0x9E37_79B9_7F4A_7C15, 0x3C6E_F372_FE94_F82A, u64::MAX] {
        for name in ["x0", "x1", "x2", "x3"] {
            streams.push(stream(seed, name));
        }
    }
    let all: BTreeSet<u64> = streams.iter().flatten().copied().collect();
    // A shifted copy would share nearly all its values; chance alone shares none of these few.
    assert_eq!(all.len(), streams.len() * 200);
}

#[test]
fn random_draws_are_uniform_and_uncorrelated() {
    let space = unit_cube(3);
    let sampler = Sampler::random(11);
    let draws: Vec<[f64; 3]> = (0..20_000)
        .map(|trial| {
            let point = ask(&sampler, &space, trial);
            ["x0", "x1", "x2"].map(|name| float(&point, name))
        })
        .collect();
    for i in 0..3 {
        let mut bins = [0; 20];
        for draw in &draws {
            bins[((draw[i] * 20.0) as usize).min(19)] += 1;
        }
        let chi: f64 = bins.iter().map(|n| (f64::from(*n) - 1000.0).powi(2) / 1000.0).sum();
        // 19 degrees of freedom: exceeded once in a hundred thousand.
        assert!(chi < 56.0, "{chi}");
        let column =
            |i: usize, lag: usize| draws.iter().skip(lag).map(move |draw| draw[i]).collect::<Vec<_>>();
        for (other, lag) in [((i + 1) % 3, 0), (i, 1), ((i + 1) % 3, 1)] {
            let r = correlation(&column(i, 0)[..draws.len() - lag], &column(other, lag));
            assert!(r.abs() < 0.036, "{r}");
        }
    }
}

fn correlation(xs: &[f64], ys: &[f64]) -> f64 {
    let n = xs.len() as f64;
    let (mx, my) = (xs.iter().sum::<f64>() / n, ys.iter().sum::<f64>() / n);
    let sum = |f: &dyn Fn(f64, f64) -> f64| xs.iter().zip(ys).map(|(x, y)| f(x - mx, y - my)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

#[test]
fn a_logarithmic_int_comes_early_as_often_as_it_is_likely() {
    // Drawn without putting back: the first draw is drawn from all.
    let space = space("n=logint(1,40)");
    let small = (0..600).filter(|seed| float(&ask(&Sampler::random(*seed), &space, 0), "n") <= 4.0).count();
    // The logarithms of 0.5 to 4.5 are exactly half of those of 0.5 to 40.5; five standard deviations of 600 draws.
    assert!((239..=361).contains(&small), "{small}");
}

#[test]
fn c26_sobol_keeps_its_first_point_and_its_balance() {
    let square = unit_cube(2);
    for sampler in [Sampler::sobol(0), Sampler::sobol(9), owen(0), owen(9)] {
        let mut cells = [[0; 4]; 4];
        for trial in 0..16 {
            let point = ask(&sampler, &square, trial);
            cells[(float(&point, "x0") * 4.0) as usize][(float(&point, "x1") * 4.0) as usize] += 1;
        }
        assert_eq!(cells, [[1; 4]; 4], "{sampler}");
        let cube = unit_cube(12);
        for power in 0..8 {
            let n = 1u64 << power;
            for i in 0..12 {
                let slices: BTreeSet<u64> = (0..n)
                    .map(|trial| (float(&ask(&sampler, &cube, trial), &format!("x{i}")) * n as f64) as u64)
                    .collect();
                assert_eq!(slices.len() as u64, n, "{sampler} dimension {i}, first {n}");
            }
        }
        let ints = space("n=int(0,3)");
        let mut counts = [0; 4];
        for trial in 0..16 {
            counts[float(&ask(&sampler, &ints, trial), "n") as usize] += 1;
        }
        assert_eq!(counts, [4; 4], "{sampler}");
    }
}

#[test]
fn c27_scrambled_halton_is_uncorrelated_and_does_not_change_with_the_number_asked_for() {
    let cube = unit_cube(16);
    for seed in 0..4 {
        let sampler = Sampler::halton(seed);
        let columns: Vec<Vec<f64>> = (0..16)
            .map(|i| (0..64).map(|trial| float(&ask(&sampler, &cube, trial), &format!("x{i}"))).collect())
            .collect();
        for a in 0..16 {
            for b in 0..a {
                let r = correlation(&columns[a], &columns[b]);
                assert!(r.abs() < 0.55, "seed {seed}: dimensions {a} and {b}: {r}");
            }
        }
        // Each dimension visits every slice of its base once in as many trials.
        for (i, base) in [2u64, 3, 5, 7, 11, 13].into_iter().enumerate() {
            let slices: BTreeSet<u64> =
                columns[i].iter().take(base as usize).map(|x| (x * base as f64) as u64).collect();
            assert_eq!(slices.len() as u64, base);
        }
    }
    // No dimension looks at how many there are.
    let few = unit_cube(2);
    let (one, other) = (ask(&Sampler::halton(1), &few, 7), ask(&Sampler::halton(1), &cube, 7));
    assert_eq!((one.get("x0"), one.get("x1")), (other.get("x0"), other.get("x1")));
}

#[test]
fn more_dimensions_than_numbers_are_refused() {
    let mut text = (0..1112).map(|i| format!("x{i}=real(0,1)")).collect::<Vec<_>>();
    let too_many = space(&text.join(","));
    assert_eq!(
        Sampler::sobol(0).ask(&too_many, 0, &none()).unwrap_err().to_string(),
        "`sobol` was given 1112 dimensions, expected at most 1111"
    );
    assert!(Sampler::halton(0).ask(&too_many, 0, &none()).is_err());
    assert!(Sampler::random(0).ask(&too_many, 0, &none()).is_ok());
    text.pop();
    assert_eq!(ask(&Sampler::sobol(0), &space(&text.join(",")), 5).len(), 1111);
}

#[test]
fn tpe_finds_a_valley_that_random_draws_miss() {
    let space = space("x=logreal(0.00001,1),y=real(-5,5),opt=choice(a|b|c),n=int(1,50) when opt=b");
    let loss = |point: &Point| {
        let x = (float(point, "x").log10() + 3.0).powi(2);
        let opt = if point.get("opt") == Some(&Scalar::Text("b".into())) { 0.0 } else { 2.0 };
        let n = point.get("n").and_then(Scalar::as_f64).map_or(0.0, |n| (n - 30.0).abs() / 20.0);
        x + (float(point, "y") - 1.0).powi(2) + opt + n
    };
    let run = |sampler: &Sampler, sign: f64| {
        let mut rows: Vec<Observation> = Vec::new();
        for trial in 0..60 {
            let point = sampler.ask(&space, trial, &rows.iter().cloned().collect()).unwrap();
            let score = Some(sign * loss(&point));
            rows.push(Observation { trial, point, score });
        }
        rows.iter().map(|row| loss(&row.point)).fold(f64::INFINITY, f64::min)
    };
    let mean =
        |make: &dyn Fn(u64) -> Sampler, sign| (0..4).map(|seed| run(&make(seed), sign)).sum::<f64>() / 4.0;
    let (guided, blind) = (mean(&tpe, 1.0), mean(&Sampler::random, 1.0));
    assert!(guided < blind / 2.0, "tpe {guided}, random {blind}");
    let upwards = mean(&|seed| tpe(seed).toward(Goal::Max), -1.0);
    assert!(upwards < blind / 2.0, "maximising: tpe {upwards}, random {blind}");
}

#[test]
fn tpe_passes_over_rows_that_do_not_fit() {
    let now = space("x=real(0,1)");
    let before = space("x=real(0,9)");
    let rows = (0..40).map(|trial| Observation {
        trial,
        point: Point::from_values(&before, [("x", 8.0)]).unwrap(),
        score: if trial % 2 == 0 { None } else { Some(f64::NAN) },
    });
    assert!(tpe(0).ask(&now, 40, &rows.collect()).is_ok());
}

#[test]
fn samplers_are_named_in_text() {
    let named = [
        (Sampler::grid(5).unwrap(), "grid(points_per_real=5)"),
        (Sampler::random(7), "random(seed=7)"),
        (repeating(7), "random(seed=7,repeats=true)"),
        (Sampler::halton(1), "halton(seed=1)"),
        (Sampler::sobol(u64::MAX), "sobol(seed=18446744073709551615)"),
        (owen(0), "sobol(seed=0,owen=true)"),
        (tpe(3), "tpe(seed=3,startup=10,candidates=24)"),
        (tpe(3).toward(Goal::Max), "tpe(seed=3,goal=max,startup=10,candidates=24)"),
    ];
    for (sampler, text) in named {
        assert_eq!(sampler.to_string(), text);
        assert_eq!(text.parse::<Sampler>().unwrap(), sampler);
    }
    let refused = [
        (
            "sobool(seed=0)",
            "`sobool` is not a sampler, expected one of `grid`, `random`, `halton`, `sobol`, `tpe`",
        ),
        ("sobol(sed=0)", "`sobol` has no option `sed`, expected one of `seed`, `owen`"),
        ("sobol(seed=-1)", "`sobol` was given `seed` -1, expected a whole number from 0 to 2^64-1"),
        (
            "sobol(seed=0",
            "the sampler does not read: expected `,`, found the end at character 13\n    sobol(seed=0\n                ^",
        ),
    ];
    for (text, said) in refused {
        assert_eq!(text.parse::<Sampler>().unwrap_err().to_string(), said);
    }
    assert_eq!("sobool()".parse::<Sampler>().unwrap_err().hint().as_deref(), Some("did you mean `sobol`?"));
}

#[test]
fn an_integer_space_of_2_to_the_60_is_reached_in_its_every_part() {
    let space = Space::new().int("n", 0, 1 << 60, IntOptions::default()).unwrap();
    for sampler in [Sampler::random(0), Sampler::sobol(0), Sampler::halton(0)] {
        let mut low_bits = BTreeSet::new();
        for trial in 0..2000 {
            let point = ask(&sampler, &space, trial);
            let Some(Scalar::Int(n)) = point.get("n") else { panic!("{point}") };
            low_bits.insert(n & 63);
        }
        assert_eq!(low_bits.len(), 64, "{sampler}");
    }
}
