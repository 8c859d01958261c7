//! `begin_session` and `read_prompts`: the prompts that match a task.

use std::future::ready;
use std::mem;

use relay_engine::briefing::Occasion;
use relay_engine::sent::Sent;

use super::decide::Permit;
use super::error::CallError;
use super::gate::{self, Passage};
use super::implementation::{Outcome, Run, Running, Tool};

/// `begin_session`.
pub(super) struct BeginSession;

/// `read_prompts`.
pub(super) struct ReadPrompts;

impl Tool for BeginSession {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(ready(brief(permit, &run, Occasion::Begin, Sent::default())))
    }
}

impl Tool for ReadPrompts {
    fn run<'a>(&'a self, permit: &'a Permit, mut run: Run<'a>) -> Running<'a> {
        let (occasion, sent) = match mem::replace(&mut run.passage, Passage::Free) {
            Passage::Briefed(sent) => (Occasion::Read, sent),
            // A caller that asks for prompts gives tags, so this also serves as `begin_session`.
            Passage::Unbriefed | Passage::Free => (Occasion::Begin, Sent::default()),
        };
        Box::pin(ready(brief(permit, &run, occasion, sent)))
    }
}

fn brief(_: &Permit, run: &Run<'_>, occasion: Occasion, sent: Sent) -> Result<Outcome, CallError> {
    let tags = gate::tags(run.call, &run.arguments.tags("tags"))?;
    let mut briefing = gate::brief(run.call, occasion, &tags, sent)?;
    let text = mem::take(&mut briefing.text);
    Ok(Outcome { text, briefing: Some(briefing), ..Outcome::default() })
}
