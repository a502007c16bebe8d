//! Blobs, names and records against bare files.
fn main() {}
