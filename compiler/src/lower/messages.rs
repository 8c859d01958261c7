//! The texts of the server's own answers.

use relay_bundle::{Messages, Setting};

use super::places::Places;
use crate::instructions;
use crate::model::{Model, SystemText};

/// Lowers the messages, with the index in them if it is the same for everyone.
pub(super) fn messages(model: &Model, places: &Places<'_>) -> Messages {
    let only = model.audiences.list.first().filter(|_| model.is_one_audience());
    let composed = only.map(|audience| instructions::compose(model, audience));
    let index = composed.as_ref().map(|composed| composed.index.as_str());
    let message = |message: &SystemText| {
        // A bundle holds only the messages that its server sends.
        if !model.says(message) {
            return Setting::default();
        }
        Setting {
            value: instructions::pieces(message, &model.project.name.value, index),
            at: message.text_at().map(|at| places.of(at)),
        }
    };
    let texts = &model.messages;
    let offered = model.offered_tools().into_iter().map(|(spec, _)| spec);
    let guided = offered.filter(|spec| spec.starts_processes());
    Messages {
        session_greeting: message(&texts.session_greeting),
        tool_guidance: message(&texts.tool_guidance),
        guided_tools: guided.map(|spec| spec.name.to_owned()).collect(),
        gate_instructions: message(&texts.gate_instructions),
        gate_encouragement: message(&texts.gate_encouragement),
        read_prompts_reminder: message(&texts.read_prompts_reminder),
        gate_intercept_preamble: message(&texts.gate_intercept_preamble),
        prompt_index: composed
            .iter()
            .flat_map(|composed| &composed.listed)
            .filter_map(|row| model.prompts.get(*row))
            .map(|prompt| prompt.name.value.clone())
            .collect(),
    }
}
