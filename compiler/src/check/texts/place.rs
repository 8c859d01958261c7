//! The places of texts, and the suppressions that their owners hold.

use relay_bundle::SharedText;

use crate::model::{About, Allowed, BodySource, Prompt, Skill};
use crate::source::{FileId, Sources, Span, Spanned};

/// The most texts of one owner that are remembered: nearly all have one, and each text is compared
/// with all.
const CLEAN_MAX: usize = 16;

/// The owner of texts: a prompt, a resource, a skill, or the project as a whole.
pub(super) struct Owner {
    /// Where it is declared.
    pub(super) at: Span,
    /// The files of its texts.
    files: Vec<FileId>,
    /// The node that may hold `allow-secret` and `allow-invisible` for it, in words.
    pub(super) allows: Option<String>,
    pub(super) allowed: Vec<Allowed>,
    /// Texts that were searched as written, and are clean.
    clean: Vec<SharedText>,
}

impl Owner {
    /// Returns the owner of the texts of the project as a whole.
    pub(super) fn of_project(at: Span) -> Self {
        let files = vec![at.file];
        let (allowed, clean) = (Vec::new(), Vec::new());
        Self { at, files, allows: None, allowed, clean }
    }

    pub(super) fn of_prompt(prompt: &Prompt) -> Self {
        let bodies = prompt.bodies.iter().chain(&prompt.included);
        let owner = Self::new("prompt", &prompt.name, bodies, &prompt.allowed);
        // A Markdown file is its prompt, which has no node of its own.
        let is_file = |body: &BodySource| body.inline_at.is_none() && body.file == owner.at.file;
        match prompt.bodies.iter().any(is_file) {
            true => Self { allows: Some("the node that names its folder".to_owned()), ..owner },
            false => owner,
        }
    }

    pub(super) fn of_about(uri: &Spanned<String>, about: &About) -> Self {
        let bodies = [&about.body].into_iter().chain(&about.included);
        Self::new("resource", uri, bodies, &about.allowed)
    }

    pub(super) fn of_skill(skill: &Skill) -> Self {
        Self::new("skill", &skill.name, skill.body.iter(), &skill.allowed)
    }

    fn new<'b>(
        what: &str,
        name: &Spanned<String>,
        bodies: impl Iterator<Item = &'b BodySource>,
        allowed: &[Allowed],
    ) -> Self {
        let files = bodies.map(|body| body.file).chain([name.at.file]).collect();
        let allowed = allowed.to_vec();
        let clean = Vec::new();
        let allows = Some(format!("the {what} `{}`", name.value));
        Self { at: name.at, files, allows, allowed, clean }
    }

    /// Remembers the texts of clean bodies, if their files hold them unchanged.
    pub(super) fn take_clean(&mut self, sources: &Sources<'_>, bodies: &[BodySource]) {
        let is_whole = |body: &BodySource, text: &str| {
            body.inline_at.is_some() || is_end(text, sources.file(body.file).bytes())
        };
        let texts = bodies.iter().filter_map(|body| {
            let text = body.text.as_ref().filter(|text| is_whole(body, text))?;
            Some(text.clone())
        });
        self.clean.extend(texts.take(CLEAN_MAX));
    }

    /// Returns whether a text of the bundle was searched before and found clean.
    pub(super) fn is_clean(&self, text: &str) -> bool {
        // Most are one text in one place.
        self.clean.iter().any(|clean| std::ptr::eq(&raw const **clean, text) || **clean == *text)
    }

    /// Returns the place where a text of the bundle was written, or else its owner's.
    pub(super) fn place(&self, sources: &Sources<'_>, text: &[u8]) -> Span {
        let found = self.files.iter().find_map(|file| find(sources, *file, 0, usize::MAX, text));
        found.unwrap_or(self.at)
    }
}

/// Returns whether bytes end with a text, which mostly is the end of these very bytes.
fn is_end(text: &str, bytes: &[u8]) -> bool {
    let [end, other] = [text.as_bytes(), bytes].map(|it| it.as_ptr_range().end);
    (std::ptr::eq(end, other) && text.len() <= bytes.len()) || bytes.ends_with(text.as_bytes())
}

/// Returns the place of a text inside a value, or in the file if the value has no place; `None` if
/// it is written in another form there.
pub(super) fn inside(sources: &Sources<'_>, at: Span, text: &[u8]) -> Option<Span> {
    let (start, end) = match at.start == at.end {
        true => (0, usize::MAX),
        false => (at.start as usize, at.end as usize),
    };
    find(sources, at.file, start, end, text)
}

/// Returns whether a value is written with escapes of KDL.
pub(super) fn has_escapes(sources: &Sources<'_>, at: Span) -> bool {
    let source = sources.file(at.file);
    let written = source.bytes().get(at.start as usize..at.end as usize);
    written.is_some_and(|written| written.contains(&b'\\'))
}

/// Returns the place of the first of some invisible characters inside a value with escapes.
pub(super) fn escaped(sources: &Sources<'_>, at: Span, text: &[u8]) -> Option<Span> {
    let first = std::str::from_utf8(text).ok()?.chars().next()?;
    let code = u32::from(first);
    let forms =
        [format!("\\u{{{code:x}}}"), format!("\\u{{{code:X}}}"), format!("\\u{{{code:04X}}}")];
    let (start, end) = (at.start as usize, at.end as usize);
    forms.iter().find_map(|form| find(sources, at.file, start, end, form.as_bytes()))
}

fn find(
    sources: &Sources<'_>,
    file: FileId,
    start: usize,
    end: usize,
    text: &[u8],
) -> Option<Span> {
    let source = sources.file(file);
    let bytes = source.bytes().get(start..end.min(source.bytes().len()))?;
    if text.is_empty() {
        return None;
    }
    let found = start + bytes.windows(text.len()).position(|window| window == text)?;
    Some(file.span(found, found + text.len()))
}

/// Returns a text stripped of white space, which differs between the forms of a text.
pub(super) fn dense(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
}
