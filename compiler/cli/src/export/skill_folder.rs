//! The files of the agent skills of a bundle, by the prompt that each has.

use std::collections::BTreeMap;

use relay_bundle::{Bundle, Corrupt, Prompt};
use relay_compiler::{Yaml, front_matter, yaml};
use relay_engine::agent_skill::{self, SCHEME, SKILL_MD};

/// The files of an agent skill, by path from its folder: `SKILL.md` and all others.
pub(crate) type SkillFolder = BTreeMap<String, Vec<u8>>;

/// The agent skills of a bundle.
pub(crate) struct SkillFolders<'b> {
    bundle: &'b Bundle,
    /// The URI of each `SKILL.md`, by its path in the project.
    uris: BTreeMap<String, String>,
}

impl<'b> SkillFolders<'b> {
    /// Finds the agent skills of a bundle, those too that hosts cannot list.
    pub(crate) fn of(bundle: &'b Bundle) -> Result<Self, Corrupt> {
        let mut uris = BTreeMap::new();
        for resource in bundle.resources() {
            let resource = resource?;
            let (uri, path) = (resource.uri()?, resource.at()?.file);
            if uri.starts_with(SCHEME) && uri.ends_with(&format!("/{SKILL_MD}")) {
                uris.insert(path.to_owned(), uri.to_owned());
            }
        }
        Ok(Self { bundle, uris })
    }

    /// Returns the files of the agent skill whose text a prompt has; `None` for any other prompt.
    pub(crate) fn find(&self, prompt: &Prompt) -> Result<Option<SkillFolder>, Corrupt> {
        let path = prompt.at.file.as_str();
        let Some(folder) = path.strip_suffix(SKILL_MD) else { return Ok(None) };
        let Some(uri) = self.uris.get(path) else { return Ok(None) };
        let mut files = SkillFolder::new();
        for row in agent_skill::files(self.bundle, uri)? {
            let file = self.bundle.resource(row)?;
            let inside = file.at()?.file.strip_prefix(folder).map(str::to_owned);
            let name = inside.unwrap_or_else(|| file.name().unwrap_or_default().to_owned());
            files.insert(name, file.content()?.view_bytes().to_owned());
        }
        Ok(Some(files))
    }
}

/// Returns the keys of the front matter of a `SKILL.md` besides its name and description.
pub(crate) fn further_keys(folder: &SkillFolder) -> impl Iterator<Item = String> {
    let text = folder.get(SKILL_MD).and_then(|bytes| std::str::from_utf8(bytes).ok());
    let matter = text.and_then(front_matter).and_then(|(matter, _)| yaml(matter).ok());
    let keys = matter.iter().flat_map(Yaml::entries).map(|(key, _)| key.clone());
    let keys: Vec<_> = keys.filter(|key| key != "name" && key != "description").collect();
    keys.into_iter()
}
