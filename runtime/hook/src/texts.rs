//! The texts for the model: the index of prompts at the start of a session, and the skills of a call.
//!
//! Nothing rests on them: a model may ignore a text, and a client may cut it.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use relay_bundle::{Bundle, Corrupt, Digest, Repeat};
use relay_engine::cascade::{self, Question};
use relay_engine::view::View;

/// The most characters of the text at the start of a session.
const START_CHARS_MAX: usize = 2_000;
/// A mark that a text was sent is forgotten after this time.
const SENT_FOR: Duration = Duration::from_secs(7 * 24 * 3600);
/// The most marks before old ones are removed.
const MARKS_MAX: usize = 1_000;

/// The skills of a call.
#[derive(Debug, Default)]
pub(crate) struct Skills {
    /// The text for the model.
    pub(crate) text: Option<String>,
    /// The names of the skills in it.
    pub(crate) names: Vec<String>,
}

/// Returns the text at the start of a session.
///
/// # Errors
///
/// The bundle is corrupt.
pub(crate) fn at_start(view: &View<'_>) -> Result<Option<String>, Corrupt> {
    let text = view.instructions()?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    if text.chars().nth(START_CHARS_MAX).is_none() {
        return Ok(Some(text));
    }
    // Whole lines, and a line that says so.
    let start: String = text.chars().take(START_CHARS_MAX).collect();
    let end = start.rfind('\n').unwrap_or(0);
    let whole = start.get(..end).unwrap_or_default();
    Ok(Some(format!("{whole}\n(The list goes on: ask relay's server for all prompts.)")))
}

/// Returns the skills of a call, at most `chars_max` characters of them.
///
/// # Errors
///
/// The bundle is corrupt.
pub(crate) fn of_call(
    bundle: &Bundle,
    question: Question<'_>,
    chars_max: usize,
) -> Result<Skills, Corrupt> {
    let resolution = cascade::resolve(bundle, question)?;
    let text = resolution.text()?;
    if text.is_empty() || chars_max == 0 {
        return Ok(Skills::default());
    }
    let mut names = Vec::new();
    for matched in resolution.matched.iter().filter(|it| it.overridden_by.is_none()) {
        names.push(bundle.skill(matched.skill as usize)?.name()?.to_owned());
    }
    // A text that the client would cut is left out, and named.
    let text = if text.chars().nth(chars_max).is_some() {
        format!("(The rules for this call are too long for this client: {}.)", names.join(", "))
    } else {
        text
    };
    Ok(Skills { text: Some(text), names })
}

impl Skills {
    /// Returns the skills, only named if this session has their text.
    pub(crate) fn once(self, bundle: &Bundle, session: Option<&str>, state: &Path) -> Self {
        let repeat = bundle.skill_settings().map_or(Repeat::Always, |all| all.repeat.value);
        let (Some(text), Some(session), Repeat::Once) = (&self.text, session, repeat) else {
            return self;
        };
        let key =
            [session, &bundle.digest().hex(), text].map(|part| Digest::of(part.as_bytes()).hex());
        let mark = Digest::of(key.concat().as_bytes()).hex();
        // Without a mark the text is sent again, which costs only its length.
        if !was_marked(&state.join("sent"), &mark).unwrap_or(false) {
            return self;
        }
        let names = self.names.join(", ");
        let text = format!("(These rules apply to this call too, as sent before: {names}.)");
        Self { text: Some(text), ..self }
    }
}

/// Marks that a text was sent; returns whether it was marked before.
fn was_marked(folder: &Path, mark: &str) -> io::Result<bool> {
    DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(mark));
    match made {
        Ok(_) => {
            sweep(folder)?;
            Ok(false)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(true),
        Err(error) => Err(error),
    }
}

/// Removes old marks, if there are many.
fn sweep(folder: &Path) -> io::Result<()> {
    let marks: Vec<_> = fs::read_dir(folder)?.flatten().collect();
    if marks.len() <= MARKS_MAX {
        return Ok(());
    }
    for mark in marks {
        let modified = mark.metadata().and_then(|metadata| metadata.modified());
        if modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > SENT_FOR)) {
            _ = fs::remove_file(mark.path());
        }
    }
    Ok(())
}
