//! What every sampler and every pruner must pass: a new one adds one line to the tests that call these.

use crate::error::SpaceError;
use crate::history::{Curve, Curves, History, Observation};
use crate::pruner::Pruner;
use crate::sampler::Sampler;
use crate::space::Space;

/// Spaces of every kind, by text: constants, the whole of the types, steps, logarithms, conditions, odd names.
pub const SPACES: [&str; 9] = [
    "Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))",
    "Space()",
    "Space(a=real(2,2),b=int(3,3),c=choice(only),d=logreal(0.001,0.001),e=logint(7,7),f=real(-0.5,0.5,step=4))",
    "Space(a=choice(1|2|3|4),b=choice(w|x|y|z))",
    "Space(all=real(-1.7976931348623157e308,1.7976931348623157e308),tiny=logreal(5e-324,1e-300))",
    "Space(all=int(-9223372036854775808,9223372036854775807),big=logint(1,9223372036854775807))",
    "Space(a=real(0,1,step=0.1),b=int(-10,10,step=7),c=choice(none|true|1|1.0|\"1\"|\"a,b\"))",
    "Space(opt=choice(adam|sgd),m=real(0,0.99) when opt=sgd,depth=int(1,3),w3=logint(8,512) when depth=3)",
    "Space(net=choice(a|b),depth=int(1,3) when net=b,kind=choice(x|y|z) when depth=2|3,n=logint(1,8))",
];

/// The space of a text in [`SPACES`].
///
/// # Panics
/// When the text does not read.
pub fn space(text: &str) -> Space {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A history of `n` scored points of a space.
///
/// # Panics
/// When a point cannot be drawn.
pub fn history(space: &Space, n: u64) -> History {
    let sampler = Sampler::random_with(crate::RandomOptions::default().with_seed(99).with_repeats(true));
    let row = |trial| Observation {
        trial,
        point: sampler.ask(space, trial, &History::new()).expect("random draws have no end"),
        // Without a pattern that a sampler could learn, and with ties.
        score: Some((trial * 7919 % 31) as f64),
    };
    (0..n).map(row).collect()
}

/// Points lie in the space, are the same when asked again, on their own or not, and end where the sampler says.
///
/// # Panics
/// When the sampler does not conform; the text says where.
pub fn sampler(sampler: &Sampler) {
    let read: Sampler = sampler.to_string().parse().unwrap_or_else(|error| panic!("{sampler}: {error}"));
    assert_eq!(&read, sampler, "the text reads back");
    for text in SPACES {
        let space = space(text);
        for seen in [0, 20] {
            let history = history(&space, seen);
            let size = sampler.size(&space);
            for trial in (0..12).chain([1 << 20, u64::from(u32::MAX) + 7]) {
                let asked = sampler.ask(&space, trial, &history);
                if let Some(size) = size.filter(|size| trial >= *size) {
                    assert_eq!(asked, Err(SpaceError::UsedUp { trial, size }), "{sampler} {text}");
                    continue;
                }
                let point = asked.unwrap_or_else(|error| panic!("{sampler} {text} {trial}: {error}"));
                let written = point.to_string();
                let back = space
                    .parse_point(&written)
                    .unwrap_or_else(|error| panic!("{sampler} {written}: {error}"));
                assert_eq!(back, point, "{sampler} {text}");
                assert_eq!(
                    read.ask(&space, trial, &history).as_ref(),
                    Ok(&point),
                    "{sampler} {text} {trial}"
                );
                if sampler.is_independent() {
                    assert_eq!(sampler.ask(&space, trial, &History::new()), Ok(point), "{sampler} {text}");
                }
            }
        }
    }
}

/// A curve that gets better, from 1 towards 0.
fn falling(n: usize) -> Vec<f64> {
    (0..n).map(|i| 1.0 / (i + 1) as f64).collect()
}

/// Reports that are not finite are pruned, those of others never decide, and nothing depends on order.
///
/// # Panics
/// When the pruner does not conform; the text says where.
pub fn pruner(pruner: &Pruner) {
    let curve = |trial: u64, values: Vec<f64>| Curve { trial, values: values.into() };
    let none = Curves::new();
    let others: Vec<Curve> = (0..20)
        .map(|trial| curve(trial, falling(16).iter().map(|v| v * (1.0 + trial as f64)).collect()))
        .collect();
    let all: Curves = others.iter().cloned().collect();
    assert_eq!(pruner.verdict(&[], &all), None, "{pruner}: nothing reported");
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for n in 1..8 {
            let mut mine = falling(n);
            mine[n - 1] = bad;
            for curves in [&none, &all] {
                let why = pruner.verdict(&mine, curves);
                assert!(why.is_some_and(|why| why.contains(&n.to_string())), "{pruner}: {bad} at report {n}");
            }
        }
    }
    let unordered: Curves = others.iter().rev().cloned().collect();
    for scale in [0.1, 1.0, 5.0, 50.0] {
        for n in 1..=16 {
            let mine: Vec<f64> = falling(n).iter().map(|v| v * scale).collect();
            let why = pruner.verdict(&mine, &all);
            assert_eq!(pruner.verdict(&mine, &all), why, "{pruner}: asked twice");
            assert_eq!(pruner.verdict(&mine, &unordered), why, "{pruner}: others in another order");
            let broken = others.iter().cloned().chain((20..60).map(|trial| curve(trial, vec![f64::NAN; 16])));
            assert_eq!(pruner.verdict(&mine, &broken.collect()), why, "{pruner}: others that are NaN");
            if let Some(why) = why {
                assert!(why.len() > 20 && !why.contains('\n'), "{pruner}: {why}");
            }
        }
    }
}
