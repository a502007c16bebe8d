//! No text makes the readers of spaces, points, samplers and pruners fall, and what reads is written and read back the same.
//!
//! The input is a space, a line feed, and a point of it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use soma_study::{Pruner, Sampler, Space};

fuzz_target!(|text: &str| {
    if let Ok(sampler) = text.parse::<Sampler>() {
        assert_eq!(sampler.to_string().parse(), Ok(sampler));
    }
    if let Ok(pruner) = text.parse::<Pruner>() {
        assert_eq!(pruner.to_string().parse(), Ok(pruner));
    }
    let (space, point) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(space) = space.parse::<Space>() else { return };
    let written = space.to_string();
    let read: Space = written.parse().expect("what is written reads");
    assert_eq!(read, space);
    assert_eq!(read.to_string(), written);
    let Ok(point) = space.parse_point(point) else { return };
    let written = point.to_string();
    let back = read.parse_point(&written).expect("what is written reads");
    assert_eq!(back, point);
    assert_eq!(back.to_string(), written);
});
