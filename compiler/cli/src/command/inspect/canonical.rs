//! A bundle as text that is stable to diff: made for git's textconv.
//!
//! It changes exactly when the content does: it has no signers, offsets, lines or digests of the
//! file. Text of the project's author is indented, so that it cannot look like a heading.

use std::fmt::Write as _;

use relay_bundle::{Bundle, Gate, Manifest, MessagePiece, Messages, Setting};

use crate::answer::message::Part;
use crate::answer::prompt::{self, Argument, Generated, Prompt, Variant};
use crate::answer::resource::{Resource, Template};
use crate::answer::tool::{Listed, Tool};
use crate::command::inspect::source::Source;
use crate::failure::Failure;
use crate::text::{indented, printable};

const INDENT: &str = "    ";

/// Returns the bundle as text.
pub(crate) fn draw(bundle: &Bundle) -> Result<String, Failure> {
    let mut text = String::from("relay bundle, canonical text 1\n\n");
    let mut source = Source::of(bundle.canonical()?);
    manifest(bundle, &mut text);
    if let Some(held) = bundle.gate() {
        gate(held, bundle.messages(), &mut text);
    }
    Tool::all(bundle)?.iter().for_each(|held| tool(held, &mut text));
    for view in bundle.prompts() {
        let held = Prompt::of(&view?)?;
        prompt(&held, &mut text);
        strike(&held.variants, &mut source);
    }
    for view in bundle.resources() {
        let held = Resource::of(&view?)?;
        resource(&held, &mut text);
        held.text.iter().for_each(|text| source.strike(text));
    }
    for view in bundle.templates() {
        let held = Template::of(&view?)?;
        template(&held, &mut text);
        strike(&held.variants, &mut source);
    }
    section("project as KDL", &source.rest(), &mut text);
    Ok(text)
}

/// Strikes the texts of variants from the project's KDL, where they occur verbatim.
fn strike(variants: &[Variant], source: &mut Source<'_>) {
    for part in variants.iter().flat_map(|variant| &variant.messages).flat_map(|m| &m.content) {
        match part {
            Part::Text { text, slots: _ } => source.strike(text),
            Part::Resource { resource } => {
                resource.text.iter().for_each(|text| source.strike(text))
            }
            Part::Image(_) | Part::Audio(_) => {}
        }
    }
}

fn manifest(bundle: &Bundle, text: &mut String) {
    let (major, minor) = bundle.format();
    let Manifest { project, version, title, owner, environment, compiler } = bundle.manifest();
    let value = |setting: &Option<Setting<String>>| setting.as_ref().map(|it| it.value.clone());
    field("project", Some(&project.value), text);
    field("version", value(version).as_deref(), text);
    field("title", value(title).as_deref(), text);
    field("owner", value(owner).as_deref(), text);
    field("environment", environment.as_deref(), text);
    field("epoch", Some(&bundle.epoch().to_string()), text);
    field("format", Some(&format!("{major}.{minor}")), text);
    field("compiler", Some(compiler), text);
    section("instructions", &bundle.messages().instructions(), text);
}

fn gate(gate: &Gate, messages: &Messages, text: &mut String) {
    text.push_str("\n== gate\n");
    for (name, value) in relay_bundle::values(gate) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        field(&name.replace('_', " "), Some(&value), text);
    }
    let Messages {
        // These are part of the instructions.
        session_greeting: _,
        gate_instructions: _,
        prompt_index: _,
        gate_encouragement,
        read_prompts_reminder,
        gate_intercept_preamble,
    } = messages;
    let later = [
        ("gate-encouragement", gate_encouragement),
        ("read-prompts-reminder", read_prompts_reminder),
        ("gate-intercept-preamble", gate_intercept_preamble),
    ];
    for (name, said) in later.into_iter().filter(|(_, said)| !said.value.is_empty()) {
        field("message", Some(name), text);
        body(&MessagePiece::source(&said.value), text);
    }
}

fn tool(Tool { held, listed }: &Tool, text: &mut String) {
    let relay_bundle::Tool { name, gated, tier, at: _ } = held;
    let Listed { title, description, input_schema, annotations } = listed;
    heading("tool", name, text);
    field("tier", Some(&tier.to_string()), text);
    field("gated", Some(yes_or_no(*gated)), text);
    field("title", title.as_deref(), text);
    field("description", description.as_deref(), text);
    field("annotations", annotations.as_ref().map(ToString::to_string).as_deref(), text);
    text.push_str("input schema:\n");
    // The alternate form has one line for each member, so that a diff shows which one changed.
    body(&format!("{input_schema:#}"), text);
}

fn yes_or_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

fn prompt(prompt: &Prompt, text: &mut String) {
    let Prompt {
        name,
        title,
        description,
        priority,
        briefing,
        summary,
        chapters,
        generated,
        meta,
        bytes: _,
        arguments,
        variants,
        at: _,
    } = prompt;
    heading("prompt", name, text);
    field("priority", Some(&priority.to_string()), text);
    field("in briefings", Some(yes_or_no(*briefing)), text);
    field("title", title.as_deref(), text);
    field("description", description.as_deref(), text);
    let marked = |which| if generated.contains(&which) { " (generated)" } else { "" };
    field(&format!("summary{}", marked(Generated::Summary)), summary.as_deref(), text);
    for chapter in chapters {
        field(&format!("chapter{}", marked(Generated::Chapters)), Some(chapter), text);
    }
    field("meta", meta.as_ref().map(ToString::to_string).as_deref(), text);
    rendering(arguments, variants, text);
}

fn resource(resource: &Resource, text: &mut String) {
    let Resource { uri, name, title, description, mime, bytes, digest, text: held, blob: _, at: _ } =
        resource;
    heading("resource", uri, text);
    field("name", Some(name), text);
    field("title", title.as_deref(), text);
    field("description", description.as_deref(), text);
    field("mime", Some(mime), text);
    match held {
        Some(held) => body(held, text),
        None => field("content", Some(&format!("{bytes} bytes, {digest}")), text),
    }
}

fn template(template: &Template, text: &mut String) {
    let Template { uri_template, name, title, description, mime, arguments, variants, at: _ } =
        template;
    heading("resource template", uri_template, text);
    field("name", Some(name), text);
    field("title", title.as_deref(), text);
    field("description", description.as_deref(), text);
    field("mime", Some(mime), text);
    rendering(arguments, variants, text);
}

fn rendering(arguments: &[Argument], variants: &[Variant], text: &mut String) {
    for argument in arguments {
        field("argument", Some(&described(argument)), text);
    }
    for variant in variants {
        let condition = prompt::condition(&variant.when);
        if !condition.is_empty() {
            let _ = writeln!(text, "-- {}", printable(&condition));
        }
        for message in &variant.messages {
            field("message", Some(message.role.as_str()), text);
            body(&message.display(), text);
        }
    }
}

fn described(argument: &Argument) -> String {
    let Argument { name, description, required, default, one_of, chars_max } = argument;
    let mut text = name.clone();
    text.push_str(if *required { ", required" } else { ", optional" });
    if let Some(default) = default {
        let _ = write!(text, ", default {default:?}");
    }
    if let Some(values) = one_of {
        let _ = write!(text, ", one of {values:?}");
    }
    if let Some(chars) = chars_max {
        let _ = write!(text, ", at most {chars} characters");
    }
    if let Some(description) = description {
        let _ = write!(text, ": {description}");
    }
    text
}

fn heading(kind: &str, name: &str, text: &mut String) {
    let _ = writeln!(text, "\n== {kind} {}", one_line(name));
}

fn section(name: &str, held: &str, text: &mut String) {
    let _ = writeln!(text, "\n== {name}");
    body(held, text);
}

fn field(name: &str, value: Option<&str>, text: &mut String) {
    if let Some(value) = value {
        let _ = writeln!(text, "{name}: {}", one_line(value));
    }
}

fn body(held: &str, text: &mut String) {
    text.push_str(&indented(held, INDENT));
}

/// Escapes line ends: one in a name or title would begin a line that looks like a field.
fn one_line(value: &str) -> String {
    printable(value).replace('\n', "\\n")
}
