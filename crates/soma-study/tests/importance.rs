//! Importance: known answers, and no NaN whatever it is given.

#![expect(clippy::unwrap_used, reason = "a test stops where it is wrong")]

use soma_study::importance::{Evaluator, PedAnovaOptions, ped_anova, spearman};
use soma_study::{Goal, History, Point, RandomOptions, Sampler, Scalar, Space};

fn space(text: &str) -> Space {
    text.parse().unwrap()
}

fn points(space: &Space, n: u64, seed: u64) -> Vec<Point> {
    let sampler = Sampler::random_with(RandomOptions::default().with_seed(seed).with_repeats(true));
    (0..n).map(|trial| sampler.ask(space, trial, &History::new()).unwrap()).collect()
}

fn float(point: &Point, name: &str) -> f64 {
    point.get(name).and_then(Scalar::as_f64).unwrap()
}

fn of(space: &Space, points: &[Point], score: impl Fn(&Point) -> f64) -> Vec<(String, f64)> {
    spearman(space, points.iter().map(|point| (point, score(point))))
}

#[test]
fn ranks_are_correlated_with_their_ties_averaged() {
    // By hand: ranks of x 1 2.5 2.5 4, of y 1 3 2 4; sums of products 4.5, of squares 4.5 and 5.
    let space = space("x=int(0,9),opt=choice(b|a)");
    let texts = ["x=0,opt=a", "x=5,opt=b", "x=5,opt=a", "x=9,opt=a"];
    let points: Vec<Point> = texts.iter().map(|text| space.parse_point(text).unwrap()).collect();
    let scores = [0.1, 0.3, 0.2, 0.9];
    let found = spearman(&space, points.iter().zip(scores));
    let by_hand = 4.5 / 22.5f64.sqrt();
    assert_eq!(found[0], ("x".to_owned(), by_hand));
    assert_eq!(found[1].0, "opt");
}

#[test]
fn c19_constants_equal_scores_and_too_few_trials_give_zeros() {
    let space = space("opt=choice(p|q),a=real(0,1),b=real(2,2),c=choice(x|y) when opt=p");
    let all = points(&space, 30, 1);
    let names = |found: &[(String, f64)]| found.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    for n in [0, 1, 2] {
        let found = of(&space, &all[..n], |point| float(point, "a"));
        assert_eq!(names(&found), ["opt", "a", "b", "c"], "{n} trials: the order of the space");
        assert!(found.iter().all(|(_, share)| *share == 0.0), "{found:?}");
    }
    let flat = of(&space, &all, |_| 7.0);
    assert!(flat.iter().all(|(_, share)| *share == 0.0), "{flat:?}");
    let found = of(&space, &all, |point| float(point, "a"));
    assert_eq!(found[0], ("a".to_owned(), 1.0));
    assert_eq!(found.last(), Some(&("b".to_owned(), 0.0)));
    assert_eq!(found.len(), 4);
    assert!(of(&Space::new(), &[], |_| 0.0).is_empty());
}

#[test]
fn c20_the_ranking_is_right_and_the_same_in_any_order() {
    let space = space("a=real(0,1),b=real(0,1),c=real(0,1)");
    for seed in 0..5 {
        let mut all = points(&space, 200, seed);
        let score = |point: &Point| 3.0 * float(point, "a") + float(point, "b");
        let found = of(&space, &all, score);
        let order: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(order, ["a", "b", "c"]);
        assert!(found[2].1 < 0.1 * found.iter().map(|(_, share)| share).sum::<f64>(), "{found:?}");
        for _ in 0..5 {
            all.rotate_left(37);
            all.reverse();
            assert_eq!(of(&space, &all, score), found);
        }
    }
}

#[test]
fn c13_scores_that_are_not_finite_are_left_out() {
    let space = space("a=real(0,1)");
    let all = points(&space, 20, 3);
    let score = |point: &Point| float(point, "a");
    let clean = of(&space, &all[..10], score);
    let broken = spearman(
        &space,
        all.iter().enumerate().map(|(i, point)| (point, if i < 10 { score(point) } else { f64::NAN })),
    );
    assert_eq!(broken, clean);
}

#[test]
fn points_of_an_older_space_count_by_name() {
    let (before, now) = (space("opt=choice(a|b),n=int(0,9)"), space("n=int(0,99),opt=choice(b|c|a)"));
    let old = ["opt=a,n=1", "opt=b,n=2"].map(|text| before.parse_point(text).unwrap());
    let new = ["n=50,opt=c", "n=70,opt=a"].map(|text| now.parse_point(text).unwrap());
    let all: Vec<(&Point, f64)> = old.iter().chain(&new).zip([1.0, 2.0, 3.0, 4.0]).collect();
    let found = spearman(&now, all);
    assert_eq!(found[0], ("n".to_owned(), 1.0));
    // Options by their places of now, a at 2, b at 0, c at 1: ranks 3.5, 1, 2, 3.5 against 1, 2, 3, 4.
    let by_hand: f64 = (1.0 * -1.5 + -1.5 * -0.5 + -0.5 * 0.5 + 1.0 * 1.5) / (4.5f64 * 5.0).sqrt();
    assert!((found[1].1 - by_hand.abs()).abs() < 1e-15, "{found:?}");
}

#[test]
fn evaluators_are_named_in_text() {
    for evaluator in Evaluator::ALL {
        assert_eq!(evaluator.to_string().parse::<Evaluator>().unwrap(), evaluator);
    }
    assert_eq!(
        "shap".parse::<Evaluator>().unwrap_err().to_string(),
        "an evaluator was given as `shap`, expected `spearman` or `ped_anova`"
    );
}

#[test]
fn c19_ped_anova_has_no_nan_either() {
    let space = space("opt=choice(p|q),a=real(0,1),b=real(2,2),n=logint(1,1000),c=choice(x|y) when opt=p");
    let all = points(&space, 30, 1);
    for n in [0, 1, 2, 3, 30] {
        for score in [|_: &Point| 7.0, |point: &Point| float(point, "a"), |_: &Point| f64::NAN] {
            let rows = all[..n].iter().map(|point| (point, score(point)));
            let found = Evaluator::PedAnova.evaluate(&space, rows, Goal::Max);
            assert_eq!(found.len(), 5);
            let sum: f64 = found.iter().map(|(_, share)| share).sum();
            assert!(sum == 0.0 || (sum - 1.0).abs() < 1e-12, "{found:?}");
        }
    }
}

#[test]
fn ped_anova_sees_a_valley_that_spearman_does_not() {
    let space = space("lr=logreal(0.00001,0.1),opt=choice(c|a|b),idle=int(1,9)");
    let valley = |point: &Point| {
        let opt = if point.get("opt") == Some(&Scalar::Text("a".into())) { 0.0 } else { 0.3 };
        (float(point, "lr").log10() + 3.0).powi(2) + opt
    };
    for seed in 0..5 {
        let mut all = points(&space, 300, seed);
        let rows = |all: &[Point]| all.iter().map(|point| (point.clone(), valley(point))).collect::<Vec<_>>();
        let made = rows(&all);
        let found =
            ped_anova(&space, made.iter().map(|(point, score)| (point, *score)), PedAnovaOptions::default());
        let order: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(order, ["lr", "opt", "idle"], "{found:?}");
        assert!(found[0].1 > 0.5 && found[2].1 < 0.05, "{found:?}");
        all.reverse();
        let turned = rows(&all);
        let again = ped_anova(
            &space,
            turned.iter().map(|(point, score)| (point, *score)),
            PedAnovaOptions::default(),
        );
        assert_eq!(again, found, "in another order");
        let upwards = turned.iter().map(|(point, score)| (point, -score));
        assert_eq!(ped_anova(&space, upwards, PedAnovaOptions::default().with_goal(Goal::Max)), found);
    }
}

#[test]
fn c20_among_the_better_half_one_bad_corner_rules_nothing() {
    let space = space("a=real(0,1),d=real(0,1),c=real(0,1)");
    for seed in 0..5 {
        let all = points(&space, 400, seed);
        let score = |point: &Point| float(point, "a") + if float(point, "d") > 0.95 { 1000.0 } else { 0.0 };
        let rows = all.iter().map(|point| (point, score(point)));
        let found = ped_anova(&space, rows, PedAnovaOptions::default().with_region(0.5));
        assert_eq!(found[0].0, "a");
        assert!(found[0].1 > 0.7, "{found:?}");
    }
}

#[test]
fn thousands_of_trials_are_ranked_as_a_few_are() {
    // Enough for sorting by digits; against ranks by counting.
    let space = space("a=real(-5,5),n=int(-3,3)");
    let all = points(&space, 2500, 4);
    let score = |point: &Point| float(point, "a") + 2.0 * float(point, "n");
    let by_comparing = |name: &str| {
        let rank = |values: &[f64]| -> Vec<f64> {
            let below = |x: f64| values.iter().filter(|v| **v < x).count() as f64;
            let tied = |x: f64| values.iter().filter(|v| v.to_bits() == x.to_bits()).count() as f64;
            values.iter().map(|x| below(*x) + f64::midpoint(tied(*x), 1.0)).collect()
        };
        let xs = rank(&all.iter().map(|point| float(point, name)).collect::<Vec<_>>());
        let ys = rank(&all.iter().map(score).collect::<Vec<_>>());
        let mean = 2501.0 / 2.0;
        let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
        sum(&xs, &ys) / (sum(&xs, &xs) * sum(&ys, &ys)).sqrt()
    };
    for (name, share) in of(&space, &all, score) {
        assert!((share - by_comparing(&name).abs()).abs() < 1e-12, "{name}");
    }
}
