//! The `soma` binary.

fn main() {}
