//! Folders of the host that a container gets, and what it writes below them.

use std::collections::BTreeSet;

use super::arguments::Call;
use super::call::Own;
use super::classifier::Classifier;
use super::hit::{Cause, Effect};
use crate::facts::Role;
use crate::paths::{self, PathClass};
use crate::shell::{Folder, Frame};
use crate::text::{Text, is_hole};
use crate::tier::Tier;

/// What has the daemon of the host, and what has the host unless it is only read.
const HOST: &[&[u8]] = &[b"/", b"/run", b"/var/run"];
const HOST_WRITTEN: &[&[u8]] = &[b"/dev", b"/proc", b"/sys"];

/// A folder of the host, and where a container has it.
#[derive(Debug, Default)]
struct Mounted {
    source: Vec<u8>,
    target: Vec<u8>,
    is_read_only: bool,
}

/// Returns what `SOURCE:TARGET:OPTIONS` or `type=bind,src=…,dst=…` says; fields may be quoted.
fn mounted(bytes: &[u8]) -> Mounted {
    let plain: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != b'"').collect();
    let field = |names: &[&[u8]]| {
        plain.split(|byte| *byte == b',').find_map(|part| {
            names.iter().find_map(|name| part.strip_prefix(*name)).map(<[u8]>::to_vec)
        })
    };
    if let Some(source) = field(&[b"src=", b"source="]) {
        let target = field(&[b"dst=", b"destination=", b"target="]).unwrap_or_default();
        let is_read_only = plain
            .split(|byte| *byte == b',')
            .any(|part| matches!(part, b"ro" | b"readonly" | b"readonly=true" | b"ro=true"));
        return Mounted { source, target, is_read_only };
    }
    let mut parts = plain.split(|byte| *byte == b':').map(<[u8]>::to_vec);
    Mounted {
        source: parts.next().unwrap_or_default(),
        target: parts.next().unwrap_or_default(),
        is_read_only: parts.any(|part| part.split(|byte| *byte == b',').any(|part| part == b"ro")),
    }
}

/// Judges a folder that a container gets.
pub(super) fn mount(text: &Text<'_>, own: &mut Own) {
    let Mounted { source, is_read_only, .. } = mounted(&text.bytes);
    let path = paths::normalised(&source, &Folder::Work);
    let is_socket = [b"docker.sock".as_slice(), b"containerd.sock", b"podman.sock", b"crio.sock"]
        .iter()
        .any(|socket| path.ends_with(socket));
    let is_host = HOST.contains(&&*path) || (!is_read_only && HOST_WRITTEN.contains(&&*path));
    if is_host || is_socket {
        let cause = Cause::Shell("gives a container the host");
        own.hit(Tier::Irreversible, text.span, cause);
    } else if text.bytes.first().is_some_and(|first| is_hole(*first)) {
        own.hit(
            Tier::Stateful,
            text.span,
            Cause::Shell("gives a container a folder that is not known"),
        );
    }
}

impl Classifier<'_> {
    /// Returns what was written so far, if a call gives a container folders of the host.
    pub(super) fn before_mounts(&self, call: &Call<'_>) -> Option<BTreeSet<String>> {
        let has_mount = call.given.iter().any(|given| given.flag.role == Role::Mount);
        has_mount.then(|| self.axes.writes.clone())
    }

    /// Judges what a container wrote below folders of the host: their paths are others there.
    pub(super) fn mounts(
        &mut self,
        call: &Call<'_>,
        before: &BTreeSet<String>,
        frame: &Frame,
        own: &mut Own,
    ) {
        let written: Vec<String> = self.axes.writes.difference(before).cloned().collect();
        if written.is_empty() {
            return;
        }
        for given in call.given.iter().filter(|given| given.flag.role == Role::Mount) {
            let Some(value) = &given.value else { continue };
            let Mounted { source, target, is_read_only } = mounted(&value.text.bytes);
            if is_read_only || source == target {
                continue;
            }
            let target = paths::normalised(&target, &Folder::Work);
            for path in &written {
                let below = path.as_bytes().strip_prefix(&*target);
                let below = below.filter(|rest| rest.is_empty() || rest.starts_with(b"/"));
                if let Some(rest) = below {
                    let path = [&*source, rest].concat();
                    let path = Text::from_span(path, value.text.span);
                    self.own_path(Effect::Write, &path, frame, own);
                }
            }
            // In which folder a container starts is not known.
            let source = Text::from_span(source, value.text.span);
            let is_ours = matches!(
                self.path_of(&source, frame).class,
                PathClass::Work | PathClass::Scratch | PathClass::Null
            );
            if !is_ours && written.iter().any(|path| !path.starts_with('/')) {
                let cause = Cause::Shell("may write to a folder of the host");
                own.hit(Tier::Stateful, value.text.span, cause);
            }
        }
    }
}
