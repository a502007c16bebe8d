//! Text forms lose nothing, and nothing that is not one reads as one.

mod generate;

use generate::Rng;
use proptest::prelude::*;
use soma_study::{
    DivergedOptions, Goal, HalvingOptions, HyperbandOptions, MedianOptions, PatienceOptions,
    PercentileOptions, Pruner, Sampler, Scalar, Space, SpaceError, ThresholdOptions,
};

/// Every bit of a point's values.
fn bits(point: &soma_study::Point) -> Vec<(String, String, u64)> {
    let bits = |value: &Scalar| match value {
        Scalar::Float(value) => value.to_bits(),
        Scalar::Int(value) => *value as u64,
        _ => 0,
    };
    point.iter().map(|(name, value)| (name.to_owned(), value.to_string(), bits(value))).collect()
}

fn reads_back(seed: u64) {
    let mut rng = Rng(seed);
    let space = generate::space(&mut rng);
    let text = space.to_string();
    let read: Space = text.parse().unwrap_or_else(|error| panic!("seed {seed}: {text}\n{error}"));
    assert_eq!(read, space, "seed {seed}");
    assert_eq!(read.to_string(), text, "seed {seed}");
    let point = generate::point(&mut rng, &space);
    let written = point.to_string();
    let back =
        read.parse_point(&written).unwrap_or_else(|error| panic!("seed {seed}: {space} {written}\n{error}"));
    assert_eq!(bits(&back), bits(&point), "seed {seed}");
    assert_eq!(back.to_string(), written, "seed {seed}");
    let values: Vec<(String, Scalar)> = point.iter().rev_sorted();
    assert_eq!(soma_study::Point::from_values(&space, values).as_ref(), Ok(&point), "seed {seed}");
}

trait RevSorted {
    fn rev_sorted(self) -> Vec<(String, Scalar)>;
}

impl<'a, I: Iterator<Item = (&'a str, &'a Scalar)>> RevSorted for I {
    /// In an order that is not that of the space.
    fn rev_sorted(self) -> Vec<(String, Scalar)> {
        let mut all: Vec<_> = self.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        all.sort_by(|a, b| b.0.cmp(&a.0));
        all
    }
}

#[test]
fn generated_spaces_and_points_read_back_to_the_bit() {
    // The last is a find of the long run: a step that floats at its values could not tell apart.
    for seed in (0..5_000).chain([274_404]) {
        reads_back(seed);
    }
}

/// `cargo test --release -p soma-study --test properties -- --ignored`
#[test]
#[ignore = "half a minute; for a release build"]
fn a_million_generated_spaces_and_points_read_back_to_the_bit() {
    for seed in 0..1_000_000 {
        reads_back(seed);
    }
}

/// A goal, or none.
fn goals() -> impl Strategy<Value = Option<Goal>> {
    prop_oneof![Just(None), Just(Some(Goal::Min)), Just(Some(Goal::Max))]
}

/// Counts, the ends among them.
fn counts() -> impl Strategy<Value = usize> {
    prop_oneof![0usize..9, Just(usize::MAX), any::<usize>()]
}

/// Any rule, with any options that it takes.
fn rules() -> impl Strategy<Value = Pruner> {
    let finite = || prop_oneof![Just(0.0), Just(5e-324), Just(f64::MAX), 0.0f64..1e9];
    let bounds = || prop_oneof![Just(None), Just(Some(f64::INFINITY)), any::<f64>().prop_map(Some)];
    let shares = prop_oneof![Just(0.0), Just(100.0), 0.0f64..100.0];
    (0..7, goals(), (counts(), counts(), counts()), finite(), shares, (bounds(), bounds())).prop_filter_map(
        "options that the rule does not take",
        |(rule, goal, (a, b, c), real, share, (lower, upper))| {
            macro_rules! with {
                ($options:ident { $($field:ident: $value:expr),* }) => {{
                    let mut options = $options::default();
                    $(options.$field = $value;)*
                    options
                }};
            }
            match rule {
                0 => Ok(Pruner::median(with!(MedianOptions { goal: goal, warmup: a, startup: b }))),
                1 => Pruner::percentile(with!(PercentileOptions {
                    goal: goal,
                    percentile: share,
                    warmup: a,
                    startup: b
                })),
                2 => Pruner::threshold(with!(ThresholdOptions { lower: lower, upper: upper, warmup: a })),
                3 => Pruner::patience(with!(PatienceOptions {
                    goal: goal,
                    patience: a,
                    min_delta: real,
                    warmup: b
                })),
                4 => Pruner::diverged(with!(DivergedOptions { goal: goal, factor: real, warmup: a })),
                5 => Pruner::halving(with!(HalvingOptions { goal: goal, min_steps: a, factor: b })),
                _ => Pruner::hyperband(with!(HyperbandOptions {
                    goal: goal,
                    min_steps: a,
                    max_steps: b,
                    factor: c
                })),
            }
            .ok()
        },
    )
}

proptest! {
    #[test]
    fn every_pruner_reads_back_from_its_text(rules in prop::collection::vec(rules(), 1..5)) {
        let pruner = rules.into_iter().reduce(|one, other| one | other).unwrap();
        let text = pruner.to_string();
        prop_assert_eq!(&text.parse::<Pruner>().unwrap(), &pruner);
        let spaced = text.replace('|', "\n|").replace(',', " , ").replace('=', " = ").replace('(', " (");
        prop_assert_eq!(spaced.parse::<Pruner>().unwrap(), pruner);
    }

    #[test]
    fn no_text_makes_the_reader_fall(text in "\\PC*", more in "[a-z0-9=(),|.\" \\\\-]{0,60}") {
        for text in [text.as_str(), more.as_str(), &format!("Space({more})"), &format!("x=choice({text})")] {
            let read = text.parse::<Space>();
            if let Ok(space) = read {
                prop_assert_eq!(space.to_string().parse::<Space>().unwrap(), space);
            }
            let _ = text.parse::<Sampler>();
            let _ = text.parse::<Pruner>();
        }
    }

    #[test]
    fn a_broken_text_is_refused_with_its_place(seed in 0u64..5000, cut in 0usize..400, junk in "[,=|()\"\\\\x1]") {
        let space = generate::space(&mut Rng(seed));
        let text = space.to_string();
        let at = (0..=cut % (text.len() + 1)).rev().find(|at| text.is_char_boundary(*at)).unwrap();
        let broken = format!("{}{junk}{}", &text[..at], &text[at..]);
        match broken.parse::<Space>() {
            Ok(read) => prop_assert_eq!(read.to_string().parse::<Space>().unwrap(), read),
            Err(error @ SpaceError::Text { .. }) => {
                let said = error.to_string();
                prop_assert!(said.contains("at character") && said.ends_with('^'), "{}", said);
            }
            Err(_) => {}
        }
        let _ = space.parse_point(&broken);
    }

    #[test]
    fn a_point_reads_in_any_order(lr in 0.0f64..1.0, width in -5i64..5) {
        let space: Space = "lr=real(0,1),width=int(-5,5)".parse().unwrap();
        let one = space.parse_point(&format!("lr={lr},width={width}")).unwrap();
        let other = space.parse_point(&format!(" width = {width} , lr = {lr} ")).unwrap();
        prop_assert_eq!(one, other);
    }
}
