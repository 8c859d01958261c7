//! Agent skills: the ones that a caller sees, their files, and the folders between them (SEP-2640).
//!
//! Files are the resources below the folder of a `SKILL.md`. Readers of the prompt of an agent skill see
//! all of it.

use std::ops::Range;

use relay_bundle::{AgentSkillView, Bundle, Corrupt, List, ResourceView};

use crate::equal_text;
use crate::view::View;

/// The name of the file that makes a folder an agent skill.
pub const SKILL_MD: &str = "SKILL.md";
/// The beginning of the URIs of agent skills and their files.
pub const SCHEME: &str = "skill://";
/// The most agent skills around another one. A server reads a file once for each skill that has it, so
/// without a limit a small bundle could take any time to load.
pub const AROUND_MAX: usize = 16;
/// The most agent skills of a page of `skills/list`.
const PAGE_SKILLS_MAX: usize = 100;
/// The most bytes of a page, unless one agent skill has more: its list of files is never split.
const PAGE_BYTES_MAX: usize = 16 * 1024;
/// The most children of a page of `resources/directory/read`.
const PAGE_CHILDREN_MAX: usize = 100;
/// The most bytes of the URI of a folder that is looked for.
const URI_BYTES_MAX: usize = 8 << 10;

/// A part of a list, and the number of entries before the next one. Only entries that the caller sees are
/// counted: a number says nothing about the others.
pub struct Page<T> {
    /// The entries.
    pub items: Vec<T>,
    /// The number of entries before the next page; `None` for the last.
    pub next: Option<usize>,
}

/// A direct child of a folder.
pub enum Child<'b> {
    /// A file.
    File(ResourceView<'b>),
    /// A folder, by its URI without a `/` at the end.
    Folder(&'b str),
}

/// A folder of an agent skill.
pub struct Directory<'b> {
    /// Its URI in the bundle, of which the caller may have sent another spelling.
    pub uri: &'b str,
    /// Its direct children.
    pub children: Page<Child<'b>>,
}

/// Returns the agent skill whose `SKILL.md` has the URI `uri`, or an equivalent one (RFC 3986), if the
/// caller sees it.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn find<'b>(view: &View<'b>, uri: &str) -> Result<Option<AgentSkillView<'b>>, Corrupt> {
    let Some(skill) = known(view.bundle(), uri)? else { return Ok(None) };
    Ok(is_seen(view, &skill)?.then_some(skill))
}

/// Returns the URI of the agent skill that [`find`] leaves out because the caller does not see it: for
/// records alone.
#[must_use]
pub fn hidden<'b>(view: &View<'b>, uri: &str) -> Option<&'b str> {
    let skill = known(view.bundle(), uri).ok()??;
    if is_seen(view, &skill).ok()? { None } else { skill.uri().ok() }
}

fn known<'b>(bundle: &'b Bundle, uri: &str) -> Result<Option<AgentSkillView<'b>>, Corrupt> {
    equal_text::find(uri, |spelling| bundle.find_agent_skill(spelling))
}

/// Returns the number of other folders around each, given distinct folders with a `/` at the end, sorted.
#[must_use]
pub fn around(folders: &[&str]) -> Vec<usize> {
    let mut open: Vec<&str> = Vec::new();
    let mut counts = Vec::with_capacity(folders.len());
    for folder in folders {
        // All that begin with a text follow it directly.
        while open.last().is_some_and(|outer| !folder.starts_with(outer)) {
            open.pop();
        }
        counts.push(open.len());
        open.push(folder);
    }
    counts
}

/// Returns whether the caller sees any agent skill.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn is_any_seen(view: &View<'_>) -> Result<bool, Corrupt> {
    for skill in view.bundle().agent_skills() {
        if is_seen(view, &skill?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the agent skills that the caller sees, after the first `skipped`, as many as one page has.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn page<'b>(view: &View<'b>, skipped: usize) -> Result<Page<AgentSkillView<'b>>, Corrupt> {
    let (mut items, mut bytes, mut seen) = (Vec::new(), 0_usize, 0);
    for skill in view.bundle().agent_skills() {
        let skill = skill?;
        if !is_seen(view, &skill)? {
            continue;
        }
        seen += 1;
        if seen <= skipped {
            continue;
        }
        bytes = bytes.saturating_add(skill.entry_bytes());
        let is_full = items.len() == PAGE_SKILLS_MAX || bytes > PAGE_BYTES_MAX;
        if is_full && !items.is_empty() {
            return Ok(Page { items, next: Some(seen - 1) });
        }
        items.push(skill);
    }
    Ok(Page { items, next: None })
}

fn is_seen(view: &View<'_>, skill: &AgentSkillView<'_>) -> Result<bool, Corrupt> {
    Ok(view.sees_everything() || view.find_prompt(skill.prompt()?)?.is_some())
}

/// Returns the rows of the resources that are the files of the agent skill whose `SKILL.md` has the URI
/// `uri`, those of agent skills inside it too.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn files(bundle: &Bundle, uri: &str) -> Result<Range<usize>, Corrupt> {
    match uri.strip_suffix(SKILL_MD) {
        Some(folder) if folder.ends_with('/') => below(bundle, folder),
        _ => Ok(0..0),
    }
}

/// Returns the direct children of a folder that the caller sees, after the first `skipped`; `None` if the
/// URI is that of no folder of an agent skill that the caller sees. Equivalent URIs find the same.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn children<'b>(
    view: &View<'b>,
    uri: &str,
    skipped: usize,
) -> Result<Option<Directory<'b>>, Corrupt> {
    let Some(Folder { uri, rows, skill }) = folder(view.bundle(), uri)? else { return Ok(None) };
    if !is_seen(view, &skill)? {
        return Ok(None);
    }
    let (mut items, mut row, mut seen) = (Vec::new(), rows.start, 0);
    while row < rows.end {
        let resource = view.bundle().resource(row)?;
        let file = resource.uri()?;
        let inside = uri.len() + "/".len();
        let rest = file.get(inside..).unwrap_or_default();
        let inner = rest.find('/').and_then(|end| file.get(..inside + end));
        let next = match inner {
            Some(inner) => below(view.bundle(), &format!("{inner}/"))?.end.max(row + 1),
            None => row + 1,
        };
        // All files of an agent skill have the same readers: the compiler sees to it.
        if view.sees(List::Resources, row)? {
            seen += 1;
            if items.len() == PAGE_CHILDREN_MAX {
                let children = Page { items, next: Some(seen - 1) };
                return Ok(Some(Directory { uri, children }));
            }
            if seen > skipped {
                items.push(inner.map_or(Child::File(resource), Child::Folder));
            }
        }
        row = next;
    }
    Ok(Some(Directory { uri, children: Page { items, next: None } }))
}

/// Returns the URI of the folder that [`children`] leaves out because the caller does not see it: for
/// records alone.
#[must_use]
pub fn hidden_folder<'b>(view: &View<'b>, uri: &str) -> Option<&'b str> {
    let Folder { uri, rows: _, skill } = folder(view.bundle(), uri).ok()??;
    if is_seen(view, &skill).ok()? { None } else { Some(uri) }
}

/// A folder of an agent skill, seen or not.
struct Folder<'b> {
    uri: &'b str,
    /// The rows of the files below it.
    rows: Range<usize>,
    /// The outermost agent skill that has it.
    skill: AgentSkillView<'b>,
}

/// Returns the folder of an agent skill with an equivalent URI; `None` for one without files.
fn folder<'b>(bundle: &'b Bundle, uri: &str) -> Result<Option<Folder<'b>>, Corrupt> {
    equal_text::find(uri, |spelling| {
        if !spelling.starts_with(SCHEME) || spelling.len() > URI_BYTES_MAX {
            return Ok(None);
        }
        let rows = below(bundle, &format!("{spelling}/"))?;
        if rows.is_empty() {
            return Ok(None);
        }
        let first = bundle.resource(rows.start)?.uri()?;
        let Some(uri) = first.get(..spelling.len()) else { return Ok(None) };
        Ok(enclosing(bundle, uri)?.map(|skill| Folder { uri, rows, skill }))
    })
}

/// Returns the outermost agent skill that has a folder, which must be one of the bundle.
fn enclosing<'b>(bundle: &'b Bundle, uri: &str) -> Result<Option<AgentSkillView<'b>>, Corrupt> {
    let ends = uri.match_indices('/').map(|(end, _)| end).chain([uri.len()]);
    for end in ends {
        let Some(folder) = uri.get(..end).filter(|folder| !folder.ends_with('/')) else { continue };
        if let Some(skill) = bundle.find_agent_skill(&format!("{folder}/{SKILL_MD}"))? {
            return Ok(Some(skill));
        }
    }
    Ok(None)
}

/// Returns the rows of the resources whose URI begins with `prefix`: they are sorted.
fn below(bundle: &Bundle, prefix: &str) -> Result<Range<usize>, Corrupt> {
    let point = |is_before: &dyn Fn(&str) -> bool| {
        let (mut low, mut high) = (0, bundle.resource_count());
        while low < high {
            let middle = low.midpoint(high);
            if is_before(bundle.resource(middle)?.uri()?) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok::<_, Corrupt>(low)
    };
    let start = point(&|uri| uri < prefix)?;
    let end = point(&|uri| uri < prefix || uri.starts_with(prefix))?;
    Ok(start..end)
}
