//! The command line that prints all of an answer.

use super::case::Case;
use crate::ast::Expect;

impl Case<'_, '_> {
    /// Returns `relay explain` of the project for the caller of the `expect`, with these flags and
    /// their values. `relay explain` of a project with errors prints nothing, so a help that names
    /// it also names the errors to fix first.
    pub(super) fn explain(&self, asked: &[(&str, &str)]) -> String {
        let mut line = String::from("relay explain .");
        if let Some(environment) = &self.declared.environment {
            line.push_str(&format!(" --env {}", word(environment)));
        }
        for (flag, value) in asked {
            line.push_str(&format!(" --{flag} {}", word(value)));
        }
        line
    }

    /// Returns the command that prints the whole selection.
    pub(super) fn explain_selection(&self) -> String {
        let Expect { tenant, role, user, groups, tags, .. } = self.expect;
        let named = [("tenant", tenant), ("role", role), ("user", user)].into_iter();
        let mut asked: Vec<(&str, &str)> =
            named.filter_map(|(flag, name)| Some((flag, name.as_ref()?.value.as_str()))).collect();
        asked.extend(groups.iter().map(|group| ("group", group.value.as_str())));
        let tags: Vec<String> = tags.iter().map(|tag| format!(" {}", word(&tag.value))).collect();
        // `--tags` takes all words after it, so it comes last.
        format!("{} --why --tags{}", self.explain(&asked), tags.concat())
    }
}

/// Returns a word as a shell reads it.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+=,".contains(c);
    match text {
        "" => "''".to_owned(),
        text if text.chars().all(is_plain) => text.to_owned(),
        text => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
