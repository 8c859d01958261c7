//! The gate: which prompts an agent is sent, and the handle that records them.
//!
//! The tests that the gate's source asks for, and where they are:
//!
//! | asked for | here |
//! |---|---|
//! | gated, `begin_session`, ungated; what the answer holds | `serve::gate::obeying_gives_what_matters_and_a_handle_for_the_rest` |
//! | gated, call intercepted, ungated | `serve::gate::ignoring_the_gate_puts_the_briefing_before_the_result` |
//! | a project that is not gated | `serve::gate::a_project_without_a_gate_has_none` |
//! | score, priority, substrings | `gate::select` |
//! | budget, order, index entries, edge cases | `gate::select` |
//! | priority 10 with any tags and budget | `gate::select`, examples S06, S22 and S30 |
//! | keywords of a call | `gate::keywords` |
//! | `read_prompts` repeats nothing | `serve::gate::asking_for_more_repeats_nothing` |
//! | calls blocked, with the way to `begin_session` | `serve::gate::with_else_refuse_nothing_runs_before_a_briefing` |
//! | only `begin_session` listed, then the rest, and `list_changed` | `serve::gate::a_gate_that_hides_tools_shows_them_to_a_session_that_was_briefed` |
//! | the index in the instructions: 50, then priority 7 | `gate::index` |
//! | end to end: begin, intercept, read more, order, encouragement | `serve::homelab`, `tests/clients/python/gate.py` |
//! | a model selects or summarises; links and their health; access to other projects | `ARCHITECTURE.md`, "The gate": not in a compiled bundle |

mod arguments;
mod entry;
mod handle;
mod index;
mod keywords;
mod select;
