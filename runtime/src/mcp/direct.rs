//! `prompts/get` in its usual form, answered without rmcp.
//!
//! rmcp reads the JSON of a request up to three times, and hands it from task to task. A prompt needs
//! none of that: it is one function of the request. Only a request in the usual form is answered
//! here, with the bytes that rmcp would send. Every other one is rmcp's, with the errors that it has
//! for them: further members, another version, and all other methods.

pub(super) mod http;
pub(super) mod stdio;
mod usual;
