//! Everything that relay promises, as one test binary.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test ends by panicking"
)]

mod bundle;
mod cases;
mod examples;
mod limits;
mod support;
mod tidy;
