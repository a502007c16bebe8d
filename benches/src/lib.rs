//! Inputs.

pub mod studies;
