//! `relay export`: prompts and skills as files of other programs, one file a form.

mod agent_skill;
mod command;
mod made;
mod mdc;
mod skill_folder;
mod stoa;
mod text;

pub(crate) use made::{Made, MadeFile};

pub(crate) use skill_folder::{SkillFolder, SkillFolders, further_keys};

use relay_bundle::{Prompt, Skill};

/// Returns an agent skill with all its files.
pub(crate) fn skill_folder(prompt: &Prompt, folder: &SkillFolder) -> Made {
    agent_skill::folder(prompt, folder)
}

/// Returns a prompt as a `SKILL.md`.
pub(crate) fn agent_skill(prompt: &Prompt) -> Made {
    agent_skill::made(prompt)
}

/// Returns a prompt as a markdown command.
pub(crate) fn command(prompt: &Prompt) -> Made {
    command::made(prompt)
}

/// Returns a prompt as a rule of Cursor.
pub(crate) fn mdc(prompt: &Prompt) -> Made {
    mdc::made(prompt)
}

/// Returns a skill as a YAML document.
pub(crate) fn stoa(skill: &Skill) -> Made {
    stoa::made(skill)
}
