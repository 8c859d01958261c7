//! The digest of a bundle's decisions.
//!
//! A comment, another layout or a newer compiler changes a bundle's digest, since every text
//! carries its place. This digest changes only with the decisions.

use serde::Serialize;
use serde_json::Value;

use crate::contents::Contents;
use crate::digest::Digest;
use crate::section::with_contents;

macro_rules! declare {
    (
        settings { $($(#[$setting_doc:meta])* $setting:ident: $stored:ty = $stored_in:ident, $($setting_how:ident)+;)+ }
        tables { $($(#[$table_doc:meta])* $table:ident: $held:ty = $held_in:ident, $($table_how:ident)+;)+ }
    ) => {
        impl Contents {
            /// Returns the digest of all data in answers of a server: without places, source,
            /// provenance and data for reviewers, and without the epoch and the compiler's version,
            /// which leave answers as they are.
            #[must_use]
            pub fn meaning(&self) -> Digest {
                let parts = [
                    $(part!(self.$setting, $($setting_how)+),)+
                    $(part!(self.$table, $($table_how)+),)+
                ];
                join(parts.into_iter().flatten())
            }
        }
    };
}

macro_rules! part {
    ($part:expr, decides) => {
        Some(meaning_of(&$part))
    };
    // Items are hashed one by one, so that memory holds only one of them twice.
    ($part:expr, decides each) => {
        Some(join($part.iter().map(meaning_of)))
    };
    ($part:expr, decides by $decided:ident) => {
        Some(meaning_of(&$part.$decided()))
    };
    ($part:expr, silent) => {
        None
    };
}

with_contents!(declare);

fn join(digests: impl Iterator<Item = Digest>) -> Digest {
    let texts: Vec<String> = digests.map(|digest| digest.hex()).collect();
    Digest::of(texts.concat().as_bytes())
}

/// Returns the digest of a value without its places: equal for values with the same decisions.
#[must_use]
pub fn meaning_of(value: &impl Serialize) -> Digest {
    let mut bytes = Vec::new();
    // A bundle's values have only text keys, so all of them have a form in JSON.
    write(&serde_json::to_value(value).unwrap_or_default(), &mut bytes);
    Digest::of(&bytes)
}

/// Writes a value without its places: members sorted by name, each text after its length.
fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(b'n'),
        Value::Bool(value) => out.push(if *value { b't' } else { b'f' }),
        Value::Number(number) => text(b'0', &number.to_string(), out),
        Value::String(value) => text(b's', value, out),
        Value::Array(items) => {
            text(b'a', &items.len().to_string(), out);
            items.iter().for_each(|item| write(item, out));
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().filter(|(name, _)| *name != "at").collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            text(b'o', &members.len().to_string(), out);
            for (name, value) in members {
                text(b'k', name, out);
                write(value, out);
            }
        }
    }
}

fn text(kind: u8, text: &str, out: &mut Vec<u8>) {
    out.push(kind);
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}
