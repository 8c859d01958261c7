//! Prompts.

use relay_bundle::{Bundle, Corrupt, Prompt, PromptView, Setting};

use crate::finding::{Area, Change, Finding, Findings, Kind, Renamed, Subject};
use crate::join::{Joined, joined};
use crate::rename::{Alone, Resolved};
use crate::review::SwitchedOff;
use crate::text::hunks;
use crate::{argument, rendering};

/// Compares the prompts of two bundles.
pub(crate) fn compare_all(
    a: &Bundle,
    b: &Bundle,
    switched_off: &SwitchedOff,
    out: &mut Findings,
) -> Result<(), Corrupt> {
    let mut alone = Alone::default();
    joined(
        a.prompts(),
        b.prompts(),
        |prompt| prompt.name(),
        |found| {
            match found {
                Joined::Gone(a) => match switched_off.b.get(a.name()?) {
                    None => alone.only_a(a, &unnamed(a)?),
                    Some(at) => {
                        let prompt = a.to_owned()?;
                        let off = gone(&prompt, out).meaning("it is switched off");
                        out.push(off.at(Some(&prompt.at), at.as_ref()));
                    }
                },
                Joined::New(b) => match switched_off.a.get(b.name()?) {
                    None => alone.only_b(b, &unnamed(b)?),
                    Some(at) => {
                        let prompt = b.to_owned()?;
                        let on = new(&prompt, out).meaning("it was switched off");
                        out.push(on.at(at.as_ref(), Some(&prompt.at)));
                    }
                },
                Joined::Both(a, b) => compare(&a.to_owned()?, &b.to_owned()?, out),
            }
            Ok(())
        },
    )?;
    let Resolved { gone: only_a, new: only_b, renamed } = alone.resolve();
    for prompt in only_a {
        let finding = gone(&prompt.to_owned()?, out);
        out.push(finding);
    }
    for prompt in only_b {
        let finding = new(&prompt.to_owned()?, out);
        out.push(finding);
    }
    for (a, b) in renamed {
        let (a, b) = (a.to_owned()?, b.to_owned()?);
        let change = Change::Renamed { before: a.name.clone() };
        let renamed = finding(&b, Area::Surface, change).breaking(true);
        out.push(renamed.at(Some(&a.at), Some(&b.at)));
        let (before, after) = (a.name.clone(), b.name.clone());
        out.renamed.push(Renamed { kind: Kind::Prompt, before, after });
        out.briefed.extend([a.name, b.name]);
    }
    Ok(())
}

/// The priority of prompts that every briefing sends.
const ALWAYS: u8 = 10;

/// Returns everything of a prompt but its name.
fn unnamed(prompt: PromptView<'_>) -> Result<Prompt, Corrupt> {
    Ok(Prompt { name: String::new(), ..prompt.to_owned()? })
}

fn gone(prompt: &Prompt, out: &mut Findings) -> Finding {
    out.briefed.push(prompt.name.clone());
    let removed = finding(prompt, Area::Surface, Change::Removed).breaking(true);
    removed.bytes(prompt.body.value.len(), 0).at(Some(&prompt.at), None)
}

fn new(prompt: &Prompt, out: &mut Findings) -> Finding {
    out.briefed.push(prompt.name.clone());
    let added = finding(prompt, Area::Surface, Change::Added);
    added.bytes(0, prompt.body.value.len()).at(None, Some(&prompt.at))
}

fn finding(prompt: &Prompt, area: Area, change: Change) -> Finding {
    let is_always_sent = prompt.priority.value == ALWAYS && prompt.briefing.value;
    Finding::new(area, Kind::Prompt, prompt.name.clone(), change).always(is_always_sent)
}

fn compare(a: &Prompt, b: &Prompt, out: &mut Findings) {
    let Prompt {
        name,
        title,
        description,
        summary,
        chapters,
        priority,
        briefing,
        meta,
        body,
        rendering,
        at,
    } = b;
    let before = out.count();
    let of = |area, part: &'static str| {
        move |change| finding(b, area, change).part(part).at(Some(&a.at), Some(at))
    };
    out.setting(a.title.as_ref(), title.as_ref(), String::clone, of(Area::Surface, "title"));
    // A prompt that leaves out its description has its summary there.
    let is_summary = |prompt: &Prompt| prompt.description == prompt.summary;
    if !(is_summary(a) && is_summary(b)) {
        let described = of(Area::Surface, "description");
        out.setting(a.description.as_ref(), description.as_ref(), String::clone, described);
    }
    if a.meta != *meta {
        let change = Change::Value { before: a.meta.clone(), after: meta.clone() };
        out.push(of(Area::Surface, "meta")(change));
    }
    let subject = Subject { kind: Kind::Prompt, name: name.clone() };
    let described = out.count();
    argument::compare(&subject, &a.rendering.arguments, &rendering.arguments, out);
    let explained = out.count() > described;
    // From here on, differences affect the prompts of briefings.
    let selected = out.count();
    let changed = rendering::compare(&subject, &a.rendering, rendering, out);
    // The text of briefings names the arguments that it is for.
    if !changed && !explained && a.body.value != body.value {
        let change = Change::Text { hunks: hunks(&a.body.value, &body.value) };
        let briefed = of(Area::Contexts, "text of briefings")(change);
        let (old, new) = (a.body.value.as_bytes(), body.value.as_bytes());
        out.push(briefed.bytes(old.len(), new.len()).content(old, new));
    }
    // A generated summary follows from the text, and is reported only if the text is unchanged.
    let generated = |a: Option<&Setting<String>>, b: Option<&Setting<String>>| {
        let is =
            |setting: Option<&Setting<String>>| setting.is_none_or(|setting| setting.at.is_none());
        is(a) && is(b)
    };
    let follows = out.count() > before;
    if !(follows && generated(a.summary.as_ref(), summary.as_ref())) {
        let summarised = of(Area::Contexts, "summary");
        out.setting(a.summary.as_ref(), summary.as_ref(), String::clone, summarised);
    }
    let texts = |chapters: &[Setting<String>]| -> Vec<String> {
        chapters.iter().map(|chapter| chapter.value.clone()).collect()
    };
    let made = |chapters: &[Setting<String>]| chapters.iter().all(|chapter| chapter.at.is_none());
    let (old, new) = (texts(&a.chapters), texts(chapters));
    // An empty list matters too: no tag finds the prompt.
    let emptied = old.is_empty() != new.is_empty();
    let chapters_follow = follows && made(&a.chapters) && made(chapters) && !emptied;
    // The order of chapters decides nothing.
    if sorted(&old) != sorted(&new) && !chapters_follow {
        let place = |chapters: &[Setting<String>]| chapters.iter().find_map(|it| it.at.clone());
        let (of_a, of_b) = (place(&a.chapters), place(chapters));
        let shown = |list: Vec<String>| (!list.is_empty()).then(|| list.join(" · "));
        let change = Change::Value { before: shown(old), after: shown(new) };
        let finding = of(Area::Contexts, "chapters")(change);
        out.push(finding.at(of_a.as_ref().or(Some(&a.at)), of_b.as_ref().or(Some(at))));
    }
    out.setting(Some(&a.priority), Some(priority), u8::to_string, |change| {
        let finding = of(Area::Contexts, "priority")(change);
        match (a.priority.value, priority.value) {
            (_, ALWAYS) => finding.meaning("every briefing sends it"),
            (ALWAYS, _) => finding.meaning("briefings send it where a tag matches").always(true),
            _ => finding,
        }
    });
    out.setting(Some(&a.briefing), Some(briefing), bool::to_string, |change| {
        let finding = of(Area::Contexts, "briefing")(change);
        finding
            .meaning(if briefing.value { "briefings may send it" } else { "no briefing sends it" })
            .always(a.priority.value == ALWAYS)
    });
    let said = |summary: &Option<Setting<String>>| summary.as_ref().map(|it| it.value.clone());
    if out.count() > selected || a.body.value != body.value || said(&a.summary) != said(summary) {
        out.briefed.push(name.clone());
    }
}

fn sorted(texts: &[String]) -> Vec<&String> {
    let mut texts: Vec<&String> = texts.iter().collect();
    texts.sort_unstable();
    texts
}
