//! Agent skills: the ones that a caller sees, their files, and the folders between them (SEP-2640).
//!
//! Files are the resources below the folder of a `SKILL.md`. Readers of the prompt of an agent skill see
//! all of it.

use std::ops::Range;

use relay_bundle::{AgentSkillView, Bundle, Corrupt, List, ResourceView};

use crate::view::View;

/// The name of the file that makes a folder an agent skill.
pub const SKILL_MD: &str = "SKILL.md";
/// The beginning of the URIs of agent skills and their files.
pub const SCHEME: &str = "skill://";
/// The most agent skills of a page of `skills/list`.
const PAGE_SKILLS_MAX: usize = 100;
/// The most bytes of a page, unless one agent skill has more, whose list of files stays whole.
const PAGE_BYTES_MAX: usize = 64 * 1024;
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

/// Returns the agent skill whose `SKILL.md` has the URI `uri`, if the caller sees it.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn find<'b>(view: &View<'b>, uri: &str) -> Result<Option<AgentSkillView<'b>>, Corrupt> {
    let Some(skill) = view.bundle().find_agent_skill(uri)? else { return Ok(None) };
    Ok(is_seen(view, &skill)?.then_some(skill))
}

/// Returns whether the bundle hides an agent skill of this URI from the caller: for records alone.
#[must_use]
pub fn is_hidden(view: &View<'_>, uri: &str) -> bool {
    let found = view.bundle().find_agent_skill(uri).ok().flatten();
    found.is_some_and(|skill| is_seen(view, &skill).is_ok_and(|seen| !seen))
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

/// Returns the direct children of a folder that the caller sees, after the first `skipped`; `None`
/// unless the URI is that of a folder of a visible agent skill.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn children<'b>(
    view: &View<'b>,
    uri: &str,
    skipped: usize,
) -> Result<Option<Page<Child<'b>>>, Corrupt> {
    let Some(rows) = folder(view.bundle(), uri)? else { return Ok(None) };
    let enclosing = enclosing(view.bundle(), uri)?;
    match enclosing {
        Some(skill) if is_seen(view, &skill)? => {}
        _ => return Ok(None),
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
                return Ok(Some(Page { items, next: Some(seen - 1) }));
            }
            if seen > skipped {
                items.push(inner.map_or(Child::File(resource), Child::Folder));
            }
        }
        row = next;
    }
    Ok(Some(Page { items, next: None }))
}

/// Returns whether the bundle hides a folder of an agent skill with this URI from the caller: for
/// records alone.
#[must_use]
pub fn is_hidden_folder(view: &View<'_>, uri: &str) -> bool {
    let bundle = view.bundle();
    let enclosing = folder(bundle, uri).ok().flatten().and_then(|_| enclosing(bundle, uri).ok());
    let enclosing = enclosing.flatten();
    enclosing.is_some_and(|skill| is_seen(view, &skill).is_ok_and(|seen| !seen))
}

/// Returns the rows of the files below a folder; `None` for an empty folder.
fn folder(bundle: &Bundle, uri: &str) -> Result<Option<Range<usize>>, Corrupt> {
    if !uri.starts_with(SCHEME) || uri.len() > URI_BYTES_MAX {
        return Ok(None);
    }
    Ok(Some(below(bundle, &format!("{uri}/"))?).filter(|rows| !rows.is_empty()))
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
