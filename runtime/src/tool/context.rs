//! The skill context of a call: the text that the project's skills give it.

use relay_bundle::{Corrupt, Digest, Repeat};
use relay_engine::cascade::Question;

use super::call::Call;
use super::gate;

/// The text of the skills, which precedes the result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Context {
    /// The text as resolved, byte for byte; or only the names of the skills, if the caller has the
    /// text.
    pub(crate) text: String,
    /// The skills that made it, in the order of the text.
    pub(crate) skills: Vec<String>,
}

/// Resolves the context of a call of a tool, if a skill applies. `handle` is the call's unchecked
/// text for the handle of its briefing.
pub(crate) fn context(
    call: &Call,
    tool: &str,
    handle: Option<&str>,
) -> Result<Option<Context>, Corrupt> {
    let tenant = call.placed.tenant();
    let user = Some(call.caller.principal.id.as_str());
    let Some((text, skills)) = call.placed.skills(Question { tenant, tool: Some(tool), user })?
    else {
        return Ok(None);
    };
    let is_sent = call.placed.repeat() == Repeat::Once && was_sent(call, &text, handle)?;
    let text = if is_sent {
        format!("(These rules apply to this call too, as sent before: {}.)", skills.join(", "))
    } else {
        text
    };
    Ok(Some(Context { text, skills }))
}

/// Returns whether the caller was sent the text before: in its session, or with its own handle.
/// Others are unrecognized: another caller may have sent the same text as its handle.
fn was_sent(call: &Call, text: &str, handle: Option<&str>) -> Result<bool, Corrupt> {
    let bundle = call.placed.loaded.digest().hex();
    let key = |owner: &str| {
        let parts = [owner, &bundle, text].map(|part| Digest::of(part.as_bytes()).hex());
        Digest::of(parts.concat().as_bytes())
    };
    Ok(match (&call.memory, handle) {
        (Some(memory), _) => memory.sent_texts().was_sent(key("session")),
        (None, Some(handle)) if gate::is_own_handle(call, handle)? => {
            call.server.sent_texts.was_sent(key(handle))
        }
        (None, _) => false,
    })
}
