//! The folders with a `SKILL.md`, and the files below each.

use relay_engine::agent_skill::{SKILL_MD, around};

use crate::source::Listed;

/// Files that systems leave in folders. They are of no skill.
const OF_SYSTEMS: [&str; 3] = [".DS_Store", "Thumbs.db", "desktop.ini"];

/// The agent skills of a folder.
pub(super) struct Roots<'l> {
    /// Sorted by [`Self::folders`]: each precedes those inside it.
    pub(super) roots: Vec<Root<'l>>,
    /// The files that are below none of them, in the order of the list.
    pub(super) outside: Vec<&'l Listed>,
    /// The path of each with a `/` at the end; empty for the project's own folder.
    folders: Vec<&'l str>,
}

/// A folder with a `SKILL.md`.
pub(super) struct Root<'l> {
    /// Its path; empty for the project's own folder.
    pub(super) path: &'l str,
    /// The path of the outermost agent skill around it.
    pub(super) outermost: Option<&'l str>,
    /// The number of agent skills around it.
    pub(super) around: usize,
    /// The files below it, in the order of the list; none if another agent skill is around it.
    pub(super) files: Vec<&'l Listed>,
}

impl<'l> Roots<'l> {
    /// Finds the agent skills among listed files, and gives each file to the outermost one around it.
    /// Files of systems are left out.
    pub(super) fn of(listed: &'l [Listed]) -> Self {
        let mut folders: Vec<&str> =
            listed.iter().filter_map(|file| folder_of(&file.path, SKILL_MD)).collect();
        folders.sort_unstable();
        folders.dedup();
        let mut roots: Vec<Root<'l>> = Vec::with_capacity(folders.len());
        // The folders that no other is around, with their places among the roots.
        let mut outermost: Vec<(&str, usize)> = Vec::new();
        for (folder, around) in folders.iter().zip(around(&folders)) {
            if around == 0 {
                outermost.push((folder, roots.len()));
            }
            let path = folder.trim_end_matches('/');
            let outer = outermost.last().map(|(outer, _)| outer.trim_end_matches('/'));
            let outermost = outer.filter(|_| around > 0);
            roots.push(Root { path, outermost, around, files: Vec::new() });
        }
        let mut outside = Vec::new();
        for file in listed.iter().filter(|file| !is_of_system(&file.path)) {
            let before = outermost.partition_point(|(folder, _)| *folder <= file.path.as_str());
            let last = before.checked_sub(1).and_then(|last| outermost.get(last));
            let root = last.filter(|(folder, _)| file.path.starts_with(folder));
            match root.and_then(|(_, place)| roots.get_mut(*place)) {
                Some(root) => root.files.push(file),
                None => outside.push(file),
            }
        }
        Self { roots, outside, folders }
    }

    /// Returns whether an agent skill is below a folder, whose path has a `/` at the end.
    pub(super) fn has_below(&self, folder: &str) -> bool {
        let at = self.folders.partition_point(|other| *other < folder);
        self.folders.get(at).is_some_and(|other| other.starts_with(folder))
    }
}

/// Returns the folder of a file with this name, with a `/` at the end.
fn folder_of<'p>(path: &'p str, name: &str) -> Option<&'p str> {
    path.strip_suffix(name).filter(|folder| folder.is_empty() || folder.ends_with('/'))
}

fn is_of_system(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    OF_SYSTEMS.contains(&name) || name.starts_with("._")
}

#[cfg(test)]
mod tests {
    use super::Roots;
    use crate::source::Listed;

    #[test]
    fn files_are_of_the_outermost_folder_around_them() {
        // `-` and `.` precede `/`, and `0` precedes `S`.
        let paths = [
            "s/a-b/SKILL.md",
            "s/a-b/x",
            "s/a.md",
            "s/a/0/SKILL.md",
            "s/a/0/0/SKILL.md",
            "s/a/0/0/x",
            "s/a/.DS_Store",
            "s/a/SKILL.md",
            "s/a/x",
            "s/aSKILL.md",
            "s/b/x",
        ];
        let mut paths = paths.map(str::to_owned);
        paths.sort();
        let listed = paths.map(|path| Listed { path, link: false, fault: None });
        let found = Roots::of(&listed);
        let roots = found
            .roots
            .iter()
            .map(|root| (root.path, root.outermost, root.around, root.files.len()));
        assert_eq!(
            roots.collect::<Vec<_>>(),
            [
                ("s/a-b", None, 0, 2),
                ("s/a", None, 0, 5),
                ("s/a/0", Some("s/a"), 1, 0),
                ("s/a/0/0", Some("s/a"), 2, 0),
            ]
        );
        let outside: Vec<_> = found.outside.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(outside, ["s/a.md", "s/aSKILL.md", "s/b/x"]);
        assert!(found.has_below("s/") && found.has_below("s/a/0/") && !found.has_below("s/b/"));
    }
}
