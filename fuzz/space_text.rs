//! No text makes the readers of spaces, points and samplers fall, and what reads is written and read back the same.
//!
//! The input is a space, a line feed, and a point of it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use soma_study::{Sampler, Space};

fuzz_target!(|text: &str| {
    let _ = text.parse::<Sampler>();
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
