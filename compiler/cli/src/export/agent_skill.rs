//! A prompt as an agent skill: a folder with a `SKILL.md` that has the two keys which every host takes. An agent
//! skill of the project is written as it is, with all its files.

use relay_bundle::Prompt;
use relay_engine::agent_skill::SKILL_MD;

use super::made::{Made, MadeFile};
use super::skill_folder::SkillFolder;
use super::text::{self, Mark};
use crate::markdown::{self, Key};

/// The most characters of a name and of a description.
const NAME_CHARS_MAX: usize = 64;
const DESCRIPTION_CHARS_MAX: usize = 1024;

pub(super) fn made(prompt: &Prompt) -> Made {
    let mut changes = text::changes(prompt, false);
    changes.extend(text::dropped_meta(prompt));
    changes.extend(text::expanded(prompt, &[Mark::Command, Mark::Argument]));
    if prompt.title.is_some() {
        changes.push("its title is dropped".to_owned());
    }
    if !prompt.rendering.arguments.is_empty() {
        changes.push("`$ARGUMENTS` stays as it is written in hosts that do not know it".to_owned());
    }
    let name = name(&prompt.name);
    if name != prompt.name {
        changes.push(format!("its name is `{name}`"));
    }
    let (written, summary) = (text::description(prompt), text::summary(prompt));
    if written.is_some() && summary.is_some() && written != summary {
        changes.push("its summary is dropped".to_owned());
    }
    let generated = prompt.summary.as_ref().map(|summary| summary.value.as_str());
    let whole = written.or(summary).or(generated).unwrap_or(&prompt.name);
    let description: String = whole.chars().take(DESCRIPTION_CHARS_MAX).collect();
    if description != whole {
        changes.push(format!("its description is cut to {DESCRIPTION_CHARS_MAX} characters"));
    }
    let files = match text::of(prompt) {
        Ok(_) if name.is_empty() => Err("nothing of its name can name a skill".to_owned()),
        Ok(text) => {
            let keys = [("name", name.as_str()), ("description", description.as_str())];
            let keys = keys.map(|(key, value)| Key { name: key.to_owned(), value: value.into() });
            let path = format!("{name}/{SKILL_MD}");
            Ok(vec![MadeFile::of_text(path, markdown::file(&keys, &text))])
        }
        Err(reason) => Err(reason),
    };
    Made { of: format!("prompt {}", prompt.name), files, changes }
}

/// Returns an agent skill of the project with its files.
pub(super) fn folder(prompt: &Prompt, folder: &SkillFolder) -> Made {
    let mut changes = text::changes(prompt, false);
    if text::summary(prompt).is_some() {
        changes.push("its summary is dropped".to_owned());
    }
    let (first, others): (Vec<_>, Vec<_>) =
        folder.iter().partition(|(path, _)| path.as_str() == SKILL_MD);
    let scripts = others.iter().filter(|(_, bytes)| bytes.starts_with(b"#!"));
    changes.extend(
        scripts.map(|(path, _)| format!("`{path}` is written without the permission to run it")),
    );
    let file = |(path, bytes): (&String, &Vec<u8>)| MadeFile {
        path: format!("{}/{path}", prompt.name),
        bytes: bytes.clone(),
    };
    let files = first.into_iter().chain(others).map(file).collect();
    Made { of: format!("prompt {}", prompt.name), files: Ok(files), changes }
}

/// Returns a name of small letters, digits and single hyphens.
fn name(text: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' }
    };
    let name: String = text.chars().map(letter).take(NAME_CHARS_MAX).collect();
    name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
