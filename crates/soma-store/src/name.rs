//! Names that no other process on any machine can draw.

use std::io;

use crate::error::{Result, StoreError};

/// 128 random bits from the operating system, as 32 hexadecimal digits: made of no process id, host name, counter or
/// clock, so that two containers that look alike differ.
pub(crate) fn random_name() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|e| StoreError::io("draw from", "the operating system's randomness", io::Error::other(e)))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
