//! The text of a file before relay came in, where nothing else has changed since.

use super::part::Part;
use super::{Setup, Target, Version};

/// Returns the text that relay's part was put into, if the file is now that text with relay's part:
/// the removal then gives back each byte.
///
/// The part may be that of another version of the client or another grant than now.
pub(crate) fn restored(
    target: &Target,
    setup: &Setup<'_>,
    part: &Part,
    now: &str,
    before: &str,
) -> bool {
    let versions = [None, Some(Version::NEWEST)];
    let variants = versions.into_iter().flat_map(|version| [(version, false), (version, true)]);
    variants.into_iter().any(|(version, grants)| {
        let setup = Setup { grants, version, ..setup.clone() };
        let parts = target.parts(&setup);
        let same = parts.into_iter().find(|other| other.path == part.path);
        same.is_some_and(|part| part.installed(Some(before)).as_deref() == Ok(now))
    })
}
