//! Pruners: when each one speaks, what it says, and what it never does.

#![expect(clippy::unwrap_used, reason = "a test stops where it is wrong")]

use soma_study::{
    Curve, Curves, DivergedOptions, Goal, HalvingOptions, HyperbandOptions, MedianOptions, PatienceOptions,
    PercentileOptions, Pruner, ThresholdOptions, conformance,
};

fn curves(all: &[&[f64]]) -> Curves {
    all.iter().zip(0..).map(|(values, trial)| Curve { trial, values: (*values).into() }).collect()
}

fn median(warmup: usize, startup: usize) -> Pruner {
    Pruner::median(MedianOptions::default().with_warmup(warmup).with_startup(startup))
}

fn threshold(upper: f64, warmup: usize) -> Pruner {
    Pruner::threshold(ThresholdOptions::default().with_upper(upper).with_warmup(warmup)).unwrap()
}

fn patience(patience: usize, warmup: usize) -> Pruner {
    Pruner::patience(PatienceOptions::default().with_patience(patience).with_warmup(warmup)).unwrap()
}

/// The number of reports after which the curve is first pruned.
fn pruned_at(pruner: &Pruner, curve: &[f64], others: &Curves) -> Option<usize> {
    (1..=curve.len()).find(|n| pruner.verdict(&curve[..*n], others).is_some())
}

#[test]
fn every_pruner_conforms() {
    let halving = HalvingOptions::default().with_min_steps(2).with_factor(2);
    let hyperband = HyperbandOptions::default().with_max_steps(16).with_factor(2);
    let all = [
        median(2, 3),
        Pruner::median(MedianOptions::default().with_goal(Goal::Max)),
        Pruner::percentile(PercentileOptions::default().with_percentile(25.0).with_warmup(1)).unwrap(),
        threshold(2.0, 1),
        Pruner::threshold(ThresholdOptions::default().with_lower(0.3)).unwrap(),
        patience(3, 1),
        Pruner::diverged(DivergedOptions::default().with_factor(2.0)).unwrap(),
        Pruner::halving(halving).unwrap(),
        Pruner::hyperband(hyperband).unwrap(),
    ];
    for pruner in &all {
        conformance::pruner(pruner);
    }
    conformance::pruner(&all.into_iter().reduce(|a, b| a | b).unwrap());
}

#[test]
fn c14_a_trial_can_be_cut_at_its_very_first_report() {
    assert_eq!(
        threshold(2.0, 0).verdict(&[3.0], &Curves::new()).as_deref(),
        Some("after 1 report it is at 3, above the threshold 2")
    );
}

#[test]
fn c14_the_warm_up_is_the_same_rule_in_all() {
    let peers: Vec<Vec<f64>> = (0..6).map(|_| vec![0.1; 10]).collect();
    let others = curves(&peers.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let flat = [5.0; 10];
    for warmup in 0..=3 {
        let percentile = PercentileOptions::default().with_percentile(25.0).with_warmup(warmup);
        let diverged = DivergedOptions::default().with_factor(0.0).with_warmup(warmup);
        let rising: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(pruned_at(&median(warmup, 5), &flat, &others), Some(warmup + 1));
        assert_eq!(pruned_at(&Pruner::percentile(percentile).unwrap(), &flat, &others), Some(warmup + 1));
        assert_eq!(pruned_at(&threshold(2.0, warmup), &flat, &others), Some(warmup + 1));
        // These two need something to compare with: a first report, and one after it.
        assert_eq!(pruned_at(&patience(1, warmup), &flat, &others), Some(warmup.max(1) + 1));
        assert_eq!(
            pruned_at(&Pruner::diverged(diverged).unwrap(), &rising, &others),
            Some(warmup.max(1) + 1)
        );
    }
}

#[test]
fn c15_patience_counts_reports_not_steps() {
    // The reports of steps 0, 5, 10, 15, 20 and of steps 0 to 4 are the same curve: there are no steps to tell apart.
    let (flat, improving) = ([1.0; 5], [1.0, 0.9, 0.8, 0.7, 0.6]);
    assert_eq!(pruned_at(&patience(3, 0), &flat, &Curves::new()), Some(4));
    assert_eq!(pruned_at(&patience(3, 0), &improving, &Curves::new()), None);
    assert_eq!(
        patience(3, 0).verdict(&[1.0, 0.5, 0.7, 0.6, 0.8], &Curves::new()).as_deref(),
        Some("after 5 reports the last 3 came to 0.6, no better than 0.5 before them")
    );
    let options = PatienceOptions::default().with_patience(2).with_min_delta(0.2).with_goal(Goal::Max);
    let picky = Pruner::patience(options).unwrap();
    assert_eq!(pruned_at(&picky, &[0.0, 0.5, 1.0, 1.1, 1.15], &Curves::new()), Some(5));
    assert_eq!(pruned_at(&picky, &[0.0, 0.5, 1.0, 1.1, 1.25], &Curves::new()), None);
}

#[test]
fn the_median_is_of_the_others_best_so_far_and_waits_for_enough_of_them() {
    let others = curves(&[&[1.0, 0.5], &[0.2, 3.0], &[0.9, 0.8], &[9.0]]);
    // At the first report the others' best are 0.2, 0.9, 1 and 9: the median lies between the middle two.
    assert_eq!(
        median(0, 4).verdict(&[0.96], &others).as_deref(),
        Some("after 1 report its best is 0.96, worse than 0.95, the median of 4 trials by then")
    );
    assert_eq!(median(0, 4).verdict(&[0.95], &others), None);
    // At the second one curve is too short, and a best of 0.2 is not forgotten.
    assert_eq!(median(0, 4).verdict(&[0.96, 0.6], &others), None);
    assert!(median(0, 3).verdict(&[0.96, 0.6], &others).is_some());
    assert_eq!(median(0, 3).verdict(&[0.4, 9.0], &others), None);
    assert_eq!(median(0, 1).verdict(&[0.96], &Curves::new()), None);
    assert_eq!(median(0, 0).verdict(&[0.96], &Curves::new()), None);
}

#[test]
fn c13_peers_that_are_not_finite_are_passed_over() {
    let nan = f64::NAN;
    let others = curves(&[&[nan, 0.5], &[nan, nan], &[f64::NEG_INFINITY, 0.7], &[0.9, 0.9]]);
    // Three with a finite report among their first two: 0.5, 0.7 and 0.9.
    assert!(median(0, 3).verdict(&[1.0, 0.71], &others).is_some());
    assert_eq!(median(0, 3).verdict(&[1.0, 0.69], &others), None);
    assert_eq!(median(0, 4).verdict(&[1.0, 0.71], &others), None);
}

#[test]
fn c13_a_report_that_is_not_finite_is_always_pruned_in_the_warm_up_too() {
    for (bad, said) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        assert_eq!(
            median(100, 100).verdict(&[1.0, bad], &Curves::new()),
            Some(format!("report 2 is {said}, not a finite number"))
        );
    }
}

#[test]
fn a_percentile_counts_from_the_good_end_whatever_the_goal() {
    let others = curves(&[&[1.0], &[2.0], &[3.0], &[4.0], &[5.0]]);
    let options = PercentileOptions::default().with_percentile(25.0);
    let (low, high) = (
        Pruner::percentile(options.with_goal(Goal::Min)).unwrap(),
        Pruner::percentile(options.with_goal(Goal::Max)).unwrap(),
    );
    assert_eq!((low.verdict(&[2.0], &others), high.verdict(&[4.0], &others)), (None, None));
    assert_eq!(
        low.verdict(&[2.5], &others).as_deref(),
        Some("after 1 report its best is 2.5, worse than 2, percentile 25 of 5 trials by then")
    );
    assert!(high.verdict(&[3.5], &others).is_some());
}

#[test]
fn halving_speaks_at_its_rungs_alone_and_keeps_one_in_factor() {
    let peers: Vec<Vec<f64>> = (1..=8).map(|i| vec![f64::from(i); 9]).collect();
    let others = curves(&peers.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let pruner = Pruner::halving(HalvingOptions::default().with_min_steps(1).with_factor(3)).unwrap();
    // Nine trials at the rung with this one: three go on.
    for (own, kept) in [(0.5, true), (2.5, true), (3.5, false), (9.0, false)] {
        assert_eq!(pruner.verdict(&[own], &others).is_none(), kept, "{own}");
    }
    assert_eq!(
        pruner.verdict(&[3.5; 9], &others).as_deref(),
        Some("at 9 reports 3.5 is place 4 of 9 trials, and 3 of them go on")
    );
    for n in [2, 4, 5, 6, 7, 8] {
        assert_eq!(pruner.verdict(&vec![99.0; n], &others), None, "{n} is no rung");
    }
    assert_eq!(pruner.verdict(&[99.0], &Curves::new()), None, "the first there is the best there");
    assert!(pruner.verdict(&[99.0], &curves(&[&[1.0]])).is_some(), "with two, only the best goes on");
    assert_eq!(pruner.verdict(&[1.0], &curves(&[&[1.0]])), None, "a tie is no loss");
}

#[test]
fn hyperband_judges_a_trial_among_those_of_its_bracket() {
    let options = HyperbandOptions::default().with_max_steps(9);
    let pruner = Pruner::hyperband(options).unwrap();
    let first_cut = |own: f64| {
        // Peers that begin alike are in the same bracket, and are better.
        let mut peer = vec![own; 9];
        peer[1..].fill(own - 1.0);
        let mut mine = vec![own; 9];
        mine[0] = own;
        pruned_at(&pruner, &mine, &curves(&[&peer, &peer]))
    };
    let cuts: Vec<Option<usize>> = (0..300).map(|i| first_cut(f64::from(i))).collect();
    // Brackets that start at 1, 3 and 9 reports; at 1 report all are equal, so the first cuts at 3 as well.
    let share = |at| cuts.iter().filter(|cut| **cut == at).count();
    assert_eq!(share(Some(3)) + share(Some(9)), 300, "{cuts:?}");
    // Li's numbers of trials: 9, 5 and 3 of 17. Five standard deviations.
    assert!((20..=86).contains(&share(Some(9))), "{}", share(Some(9)));
    let why = (0..300)
        .find_map(|i| pruner.verdict(&[f64::from(i); 3], &curves(&[&[f64::from(i), 0.0, -1.0]])))
        .unwrap();
    assert!(why.contains(" of 3, at 3 reports "), "{why}");
}

#[test]
fn a_trial_that_gets_much_worse_than_it_began_has_diverged() {
    let pruner = Pruner::diverged(DivergedOptions::default()).unwrap();
    assert_eq!(pruned_at(&pruner, &[2.0, 5.0, 21.9, 22.1], &Curves::new()), Some(4));
    assert_eq!(
        pruner.verdict(&[2.0, 30.0], &Curves::new()).as_deref(),
        Some("after 2 reports it is at 30, past 22, where it counts as diverged from its first, 2")
    );
    let rewards = pruner.toward(Goal::Max);
    assert_eq!(pruned_at(&rewards, &[2.0, 500.0, -17.0, -19.0], &Curves::new()), Some(4));
}

#[test]
fn pruners_join_and_either_prunes() {
    let joined = median(3, 1) | threshold(2.0, 0);
    let others = curves(&[&[0.1; 8]]);
    assert!(joined.verdict(&[3.0], &others).unwrap().contains("threshold"));
    assert!(joined.verdict(&[1.0; 4], &others).unwrap().contains("median"));
    assert_eq!(joined.verdict(&[1.0; 3], &others), None);
    assert_eq!(joined.to_string(), "median(warmup=3,startup=1) | threshold(upper=2,warmup=0)");
}

#[test]
fn the_goal_of_the_study_fills_in_where_none_was_said() {
    let others = curves(&[&[1.0], &[2.0], &[3.0]]);
    let unsaid = median(0, 3);
    assert!(unsaid.verdict(&[2.5], &others).is_some());
    assert!(unsaid.toward(Goal::Max).verdict(&[2.5], &others).is_none());
    let said = Pruner::median(MedianOptions::default().with_startup(3).with_goal(Goal::Min));
    assert!(said.toward(Goal::Max).verdict(&[2.5], &others).is_some());
    assert_eq!(said.toward(Goal::Max), said);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let refused = [
        (
            Pruner::percentile(PercentileOptions::default().with_percentile(101.0)),
            "`percentile` was given `percentile` 101, expected 0 to 100",
        ),
        (
            Pruner::percentile(PercentileOptions::default().with_percentile(f64::NAN)),
            "`percentile` was given `percentile` NaN, expected 0 to 100",
        ),
        (
            Pruner::threshold(ThresholdOptions::default()),
            "`threshold` was given `upper` nothing, expected a number, here or for `lower`",
        ),
        (
            Pruner::threshold(ThresholdOptions::default().with_lower(2.0).with_upper(1.0)),
            "`threshold` was given `lower` 2, expected at most the upper bound",
        ),
        (
            Pruner::patience(PatienceOptions::default().with_patience(0)),
            "`patience` was given `patience` 0, expected at least 1",
        ),
        (
            Pruner::patience(PatienceOptions::default().with_min_delta(-1.0)),
            "`patience` was given `min_delta` -1, expected a finite number of at least 0",
        ),
        (
            Pruner::diverged(DivergedOptions::default().with_factor(f64::INFINITY)),
            "`diverged` was given `factor` inf, expected a finite number of at least 0",
        ),
        (
            Pruner::halving(HalvingOptions::default().with_factor(1)),
            "`halving` was given `factor` 1, expected at least 2",
        ),
        (
            Pruner::hyperband(HyperbandOptions::default().with_min_steps(9).with_max_steps(3)),
            "`hyperband` was given `max_steps` 3, expected at least `min_steps`",
        ),
    ];
    for (result, text) in refused {
        assert_eq!(result.unwrap_err().to_string(), text);
    }
}
