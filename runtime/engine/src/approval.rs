//! A person's yes to one call: the parts that it is bound to, and the text that the person reads.

use relay_bundle::Digest;
use serde_json::Value;

use crate::invisible::visible;

/// The most bytes of a call in the text that a person reads.
pub const SHOWN_BYTES_MAX: usize = 1024;
/// The bytes that are shown of the end of a longer call.
const END_BYTES: usize = 256;

/// The parts of a call that a yes is bound to: after a change of any of them it is for another call.
#[derive(Debug, Clone, Copy)]
pub struct Bound<'b> {
    /// The requests of the call, each with its tool and arguments.
    pub requests: &'b str,
    /// The folder.
    pub cwd: &'b str,
    /// The parts that distinguish the caller, such as principal, tenant and role.
    pub caller: &'b [&'b str],
    /// The bundle that asks.
    pub bundle: Digest,
}

impl Bound<'_> {
    /// Returns the digest of all of it.
    #[must_use]
    pub fn key(&self) -> Digest {
        let Self { requests, cwd, caller, bundle } = self;
        let bundle = bundle.hex();
        let parts = [*requests, *cwd].into_iter().chain(caller.iter().copied()).chain([&*bundle]);
        // Each part has a digest of its own, so each ends where it ends.
        let parts: String = parts.map(|part| Digest::of(part.as_bytes()).hex()).collect();
        Digest::of(parts.as_bytes())
    }
}

/// Returns the same text for equal JSON: members are sorted by their names.
#[must_use]
pub fn canonical(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            let members = members
                .into_iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), canonical(value)))
                .collect::<Vec<_>>();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        scalar => scalar.to_string(),
    }
}

/// Returns the text of a call as a person reads it: invisible and control characters are spelled out,
/// each line is indented, apart from the lines of the question, and of a text over
/// [`SHOWN_BYTES_MAX`] both ends are shown, with the number of bytes between them.
#[must_use]
pub fn shown(text: &str) -> String {
    let text = match text.len() {
        0..=SHOWN_BYTES_MAX => visible(text).into_owned(),
        bytes => {
            let (front, rest) =
                text.split_at(text.floor_char_boundary(SHOWN_BYTES_MAX - END_BYTES));
            let (hidden, end) = rest.split_at(rest.ceil_char_boundary(rest.len() - END_BYTES));
            format!(
                "{}\n[… {} of {bytes} bytes are not shown here …]\n{}",
                visible(front),
                hidden.len(),
                visible(end)
            )
        }
    };
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_yes_is_bound_to_every_part_and_to_where_the_part_ends() {
        let bundle = Digest::of(b"bundle");
        let bound = Bound { requests: "ab", cwd: "c", caller: &["d", "e"], bundle };
        let others = [
            Bound { requests: "a", cwd: "bc", ..bound },
            Bound { requests: "ab", cwd: "", caller: &["cd", "e"], bundle },
            Bound { caller: &["de", ""], ..bound },
            Bound { caller: &["d"], ..bound },
            Bound { bundle: Digest::of(b"other"), ..bound },
        ];
        for other in others {
            assert_ne!(other.key(), bound.key(), "{other:?}");
        }
        assert_eq!(bound.key(), Bound { ..bound }.key());
    }

    #[test]
    fn the_order_of_members_changes_nothing_and_everything_else_does() {
        let value = json!({ "b": [1, { "d": "x", "c": null }], "a": "\"" });
        let reordered: Value =
            serde_json::from_str(r#"{"a":"\"","b":[1,{"c":null,"d":"x"}]}"#).expect("JSON");
        assert_eq!(canonical(&value), canonical(&reordered));
        for other in [
            json!({ "a": "\"", "b": [1, { "c": null, "d": "y" }] }),
            json!({ "a": "\"", "b": [{ "c": null, "d": "x" }, 1] }),
            json!({ "a": "\"", "b": [1, { "c": null, "d": "x" }], "e": null }),
        ] {
            assert_ne!(canonical(&value), canonical(&other), "{other}");
        }
    }

    #[test]
    fn a_person_reads_both_ends_of_a_long_call_and_each_hidden_character() {
        assert_eq!(shown("rm -rf /srv"), "    rm -rf /srv");
        assert_eq!(shown("a\n\u{202e}b\u{1b}[2K"), "    a\n    \\u{202e}b\\u{1b}[2K");
        let long = format!("begin{}; rm -rf /", "é".repeat(2_000));
        let text = shown(&long);
        assert!(text.starts_with("    beginé"), "{text}");
        assert!(text.ends_with("; rm -rf /"), "{text}");
        assert!(text.contains("of 4015 bytes are not shown here"), "{text}");
        assert!(text.len() < SHOWN_BYTES_MAX + 128, "{}", text.len());
    }
}
