//! The effects of a tool's arguments, which its table or a project declares.

use relay_bundle::Selector;

use super::{Effects, Hidden, Sent, Touch, What};
use crate::host::host_of_address;
use crate::paths::{Ground, classify};
use crate::span::Span;
use crate::value::Mark;

impl Effects {
    /// Adds the effect of an argument, which has any value without one. `touches` is read, written,
    /// removed and changed.
    pub(crate) fn of_argument(
        &mut self,
        (selector, value): (Selector, Option<&str>),
        is_tree: bool,
        ground: Ground<'_>,
    ) {
        let at = Span::new(0, 0);
        let any = Mark::Hole.text();
        let plain = value.map_or(any, str::as_bytes);
        let touches: &[Touch] = match selector {
            Selector::Reads => &[Touch::Read],
            Selector::Writes => &[Touch::Write],
            Selector::Removes => &[Touch::Remove],
            Selector::Changes => &[Touch::Change],
            Selector::Touches => &[Touch::Read, Touch::Write, Touch::Remove, Touch::Change],
            Selector::Connects => {
                // Browsers read `\\` in an address as `/`.
                let known = value.filter(|value| !value.contains('\\'));
                let host = self.value(known.map_or(any, |value| host_of_address(value).as_bytes()));
                self.add(What::Connects(host), at);
                return;
            }
            Selector::Listens => {
                let port = self.value(plain);
                self.add(What::Listens(port), at);
                return;
            }
            Selector::Escalates => {
                let user = self.value(plain);
                self.add(What::Escalates(user), at);
                return;
            }
            Selector::Sends => {
                let is_secret = value.is_some_and(|value| {
                    classify(value.as_bytes(), &ground.start(), ground).is_secret
                });
                let sent = if is_secret { Sent::Secret } else { Sent::Body };
                self.add(What::Sends(sent), at);
                return;
            }
            Selector::Runs => {
                self.add(What::Runs(Hidden::Opaque, "the tool runs code that is not shown"), at);
                return;
            }
            // INVARIANT: the others are no effects, and no project declares them.
            _ => &[],
        };
        // Tools trim a path, and some end it at a control character.
        let path = value.map(|value| value.strip_prefix("file://").unwrap_or(value));
        let is_plain = |path: &&str| {
            let is_url = value != Some(path);
            path.trim() == *path
                && !path.contains(char::is_control)
                && !(is_url && path.contains('%'))
        };
        let path = path.filter(is_plain).map_or_else(|| any.to_vec(), from_home);
        let path = classify(&path, &ground.start(), ground);
        for touch in touches {
            let value = self.value(&path.value());
            let what = What::Path {
                touch: *touch,
                path: value,
                class: path.class,
                is_many: is_tree,
                is_tree: path.is_system_tree,
                is_secret: path.is_secret,
            };
            self.add(what, at);
        }
    }
}

/// Returns a path whose `~` is the home, as tools for agents read it.
fn from_home(path: &str) -> Vec<u8> {
    match path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        Some(rest) => [Mark::Home.text(), rest.as_bytes()].concat(),
        None => path.as_bytes().to_vec(),
    }
}
