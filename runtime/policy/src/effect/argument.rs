//! The effects of a tool's arguments, which its table or a project declares.

use relay_bundle::Selector;

use super::{Effects, Hidden, Sent, Touch, What};
use crate::paths::{Ground, classify};
use crate::span::Span;

impl Effects {
    /// Adds the effect of an argument. `touches` is read, written, removed and changed.
    pub(crate) fn of_argument(&mut self, selector: Selector, value: &str, ground: Ground<'_>) {
        let at = Span::new(0, 0);
        let touches: &[Touch] = match selector {
            Selector::Reads => &[Touch::Read],
            Selector::Writes => &[Touch::Write],
            Selector::Removes => &[Touch::Remove],
            Selector::Changes => &[Touch::Change],
            Selector::Touches => &[Touch::Read, Touch::Write, Touch::Remove, Touch::Change],
            Selector::Connects => {
                let host = self.value(host_of(value).as_bytes());
                self.add(What::Connects(host), at);
                return;
            }
            Selector::Listens => {
                let port = self.value(value.as_bytes());
                self.add(What::Listens(port), at);
                return;
            }
            Selector::Escalates => {
                let user = self.value(value.as_bytes());
                self.add(What::Escalates(user), at);
                return;
            }
            Selector::Sends => {
                self.add(What::Sends(Sent::Body), at);
                return;
            }
            Selector::Runs => {
                self.add(What::Runs(Hidden::Opaque, "the tool runs code that is not shown"), at);
                return;
            }
            // INVARIANT: the others are no effects, and no project declares them.
            _ => &[],
        };
        let path = classify(value.as_bytes(), &ground.start(), ground);
        for touch in touches {
            let value = self.value(&path.value());
            let what = What::Path {
                touch: *touch,
                path: value,
                class: path.class,
                is_many: false,
                is_tree: path.is_system_tree,
                is_secret: path.is_secret,
            };
            self.add(what, at);
        }
    }
}

/// Returns the host of a URL; any other value is a host.
fn host_of(value: &str) -> &str {
    let rest = value.split_once("://").map_or(value, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or(rest);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.bytes().all(|b| b.is_ascii_digit()) => {
            name
        }
        _ => host,
    }
}
