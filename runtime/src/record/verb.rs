//! The prefixes of a record's label for requests that do something other with a prompt or resource
//! than read it.

/// Before a prompt or resource whose argument was completed.
pub(crate) const COMPLETE: &str = "complete";
/// Before a resource whose changes a session follows.
pub(crate) const SUBSCRIBE: &str = "subscribe";
/// Before a resource whose changes a session no longer follows.
pub(crate) const UNSUBSCRIBE: &str = "unsubscribe";

/// Before an agent skill whose list of files was read.
pub(crate) const MANIFEST: &str = "manifest";
/// Before a folder of an agent skill whose children were listed.
pub(crate) const DIRECTORY: &str = "directory";

/// Splits the label of a record after its prefix and colon.
pub(crate) fn split(label: &str) -> (&str, &str) {
    let of = |verb: &str| {
        let name = label.strip_prefix(verb)?.strip_prefix(':')?;
        label.split_at_checked(label.len() - name.len())
    };
    [COMPLETE, SUBSCRIBE, UNSUBSCRIBE, MANIFEST, DIRECTORY]
        .into_iter()
        .find_map(of)
        .unwrap_or(("", label))
}
