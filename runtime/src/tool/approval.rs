//! The approval of a call by a person, before it runs.
//!
//! A yes is bound to the call as it was decided: after the answer it is decided again, and a call that
//! would be another one meanwhile is denied.

use std::time::Duration;

use super::call::Call;
use super::decide::{Permit, Unanswered, Unapproved};
use super::error::CallError;
use super::person::{No, Reply};
use crate::caller::calls::{Interrupted, Room};
use crate::caller::rejection::Rejection;

/// The time in which an unanswered question is withdrawn from the client.
const GRACE: Duration = Duration::from_secs(5);

/// Asks the person behind the client of a call. `room` is free for other calls meanwhile.
///
/// `decide` decides the call again.
pub(super) async fn approved(
    call: &Call,
    room: &mut Option<Room>,
    unapproved: Unapproved,
    decide: impl Fn() -> Result<Option<Unapproved>, Rejection>,
) -> Result<Permit, Unanswered> {
    let Some(person) = &call.person else { return Err(unapproved.unable().into()) };
    let (server, principal) = (&call.server, &call.caller.principal);
    let calls = &server.calls;
    let Some(waiting) = calls.waiting_room(principal) else {
        let max = calls.principal_waiting_max();
        let text = format!("busy: {max} of your calls wait for a person; call again later");
        return Err(CallError::Failed(text).into());
    };
    *room = Some(waiting);
    // The client's own limit comes first, since it withdraws the question.
    let wait_s_max = (unapproved.question.wait_max() + GRACE).as_secs();
    let wait_s_max = u32::try_from(wait_s_max).unwrap_or(u32::MAX);
    let reply = calls.run(wait_s_max, &call.cancelled, |_| person.ask(&unapproved.question)).await;
    let reply = match reply {
        Ok(reply) => reply,
        Err(Interrupted::TimedOut { .. }) => Reply::No(No::Silent),
        Err(Interrupted::Cancelled) => return Err(CallError::Cancelled.into()),
    };
    if !matches!(reply, Reply::Yes) {
        return unapproved.settled(reply);
    }
    let Some(running) = calls.room_soon(principal).await else {
        let max = calls.principal_calls_max();
        let text = format!("busy: it was approved, but {max} of your calls run; call again later");
        return Err(CallError::Failed(text).into());
    };
    *room = Some(running);
    let loaded = server.loaded();
    let is_in_force = loaded.in_force().is_ok() && loaded.digest() == call.placed.loaded.digest();
    // The line that is typed in a terminal, or a folder, may be another one by now.
    match decide()?.filter(|again| is_in_force && again.question.bound == unapproved.question.bound)
    {
        Some(again) => again.settled(Reply::Yes),
        None => unapproved.settled(Reply::No(No::Altered)),
    }
}
