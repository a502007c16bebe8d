//! Inputs.

pub mod searches;
pub mod studies;
