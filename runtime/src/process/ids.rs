//! The ids of sessions and forwards, which no one can guess.

use ring::rand::{SecureRandom as _, SystemRandom};
use thiserror::Error;

/// The bytes of the random part of an id, and of the part of the server.
const RANDOM_BYTES: usize = 16;
const NODE_BYTES: usize = 4;

/// Makes the ids of a server.
#[derive(Debug)]
pub(crate) struct Ids {
    /// The part that is the server's.
    node: String,
}

/// The system has no random numbers.
#[derive(Debug, Error)]
#[error("the system provides no random number for the id")]
pub(crate) struct NoRandom;

impl Ids {
    pub(crate) fn new() -> Self {
        Self { node: random(NODE_BYTES).unwrap_or_default() }
    }

    /// Returns a new id, `PREFIX-HEX`.
    pub(crate) fn next(&self, prefix: &str) -> Result<String, NoRandom> {
        Ok(format!("{prefix}-{}{}", self.node, random(RANDOM_BYTES)?))
    }
}

/// Returns random bytes in hexadecimal digits.
fn random(bytes: usize) -> Result<String, NoRandom> {
    let mut random = vec![0; bytes];
    SystemRandom::new().fill(&mut random).map_err(|_| NoRandom)?;
    Ok(base16ct::lower::encode_string(&random))
}
