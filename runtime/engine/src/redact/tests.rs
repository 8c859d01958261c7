//! The promises: each known shape is hidden, harmless texts stay byte for byte, the result is
//! stable, and a scan is linear.

mod json;
mod linear;
mod plain;
mod random;
mod secrets;
