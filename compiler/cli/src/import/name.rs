//! Names of prompts: of the letters that a project may use, and each once.

use std::collections::BTreeSet;

use super::part::{Content, Folder, FolderFile, Part};
use super::row::{Origin, Row};
use super::source::Found;

/// The most letters of a name.
const CHARS_MAX: usize = 64;

/// Returns the name that a project may use for something called `text`; `None` if nothing of it is left.
pub(super) fn plain(text: &str) -> Option<String> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    let name: String = text
        .chars()
        .map(|letter| if plain(letter) { letter } else { '-' })
        .take(CHARS_MAX)
        .collect();
    let name = name.trim_matches(['-', '/', '.']);
    let is_path = name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    (!name.is_empty() && is_path).then(|| name.to_owned())
}

/// Gives each prompt a name that no other has. Folders come first, since the names of their prompts are
/// those of files.
pub(super) fn settle(found: &mut Found) {
    let mut taken = BTreeSet::new();
    let Found { parts, rows } = found;
    exclude_hidden(parts, rows);
    for part in parts.iter_mut() {
        let word = part.origin.word();
        if let Content::Folder(folder) = &mut part.content {
            let clashes = names(folder).any(|name| taken.contains(&name));
            if clashes {
                folder.prefix = Some(format!("{word}-"));
                part.changes.push((1, format!("names begin with `{word}-`: others are the same")));
            }
            taken.extend(names(folder));
        }
    }
    parts.retain_mut(|part| {
        let word = part.origin.word();
        let Content::Prompt(prompt) = &mut part.content else { return true };
        let mut candidates = [prompt.name.clone(), format!("{word}/{}", prompt.name)].into_iter();
        let free = candidates
            .find(|name| name.chars().count() <= CHARS_MAX && taken.insert(name.to_lowercase()));
        match free {
            Some(name) if name == prompt.name => true,
            Some(name) => {
                let before = std::mem::replace(&mut prompt.name, name);
                part.changes.push((1, format!("another prompt is called `{before}`")));
                true
            }
            None => {
                let reason = format!("another prompt is called `{}`", prompt.name);
                rows.push(Row::left_out(part.origin, part.file.clone(), part.line, reason));
                false
            }
        }
    });
}

/// Leaves out the commands of Claude Code that a skill of the same name hides there.
fn exclude_hidden(parts: &mut Vec<Part>, rows: &mut Vec<Row>) {
    let skills: BTreeSet<String> = parts.iter().filter_map(agent_skills).flat_map(names).collect();
    for part in parts.iter_mut().filter(|part| part.origin == Origin::ClaudeCommands) {
        let Content::Folder(folder) = &mut part.content else { continue };
        let is_hidden = |file: &&FolderFile| skills.contains(&file.name.to_lowercase());
        let hidden: Vec<_> =
            folder.files.iter().filter(is_hidden).map(|file| file.path.clone()).collect();
        for path in hidden {
            let reason = "the skill of this name hides it, as in Claude Code";
            rows.push(Row::left_out(part.origin, path.clone(), 1, reason));
            rows.extend(folder.take_out(&path, part.origin));
        }
    }
    // A folder of which nothing is left has no node.
    let is_left = |part: &Part| match &part.content {
        Content::Folder(folder) => folder.kept().next().is_some(),
        Content::Prompt(_) | Content::Skill(_) => true,
    };
    parts.retain(is_left);
}

fn agent_skills(part: &Part) -> Option<&Folder> {
    match &part.content {
        Content::Folder(folder) if part.origin == Origin::ClaudeSkills => Some(folder),
        Content::Prompt(_) | Content::Folder(_) | Content::Skill(_) => None,
    }
}

/// Returns the names of a folder's prompts, in lower case: names that differ in case alone are errors.
fn names(folder: &Folder) -> impl Iterator<Item = String> + use<'_> {
    let prefix = folder.prefix.clone().unwrap_or_default();
    folder.kept().map(move |file| format!("{prefix}{}", file.name).to_lowercase())
}
