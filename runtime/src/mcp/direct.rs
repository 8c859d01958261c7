//! Requests in their usual form, answered without rmcp: `prompts/get` and `skills/list`.
//!
//! rmcp reads the JSON of a request up to three times, and hands it from task to task. A prompt and a
//! list need none of that: each is one function of the request. Only a request in the usual form is
//! answered here, with the bytes that rmcp would send. Every other one is rmcp's, with the errors that
//! it has for them: further members, another version, and all other methods.

mod answer;
pub(super) mod http;
mod skills;
pub(super) mod stdio;
mod usual;
