//! Folders of the host in a container, and files that it writes below them.

use std::collections::BTreeSet;

use super::machine::Machine;
use super::own::Own;
use super::path;
use crate::effect::{Effect, Effects, Mount, Touch, What};
use crate::facts::Role;
use crate::invocation::Invocation;
use crate::location::below;
use crate::paths::{self, PathClass};
use crate::state::Folder;
use crate::value::{Text, display, is_hole};

/// Folders with the daemon of the host, and folders that stand for the host unless mounted
/// read-only.
const HOST: &[&[u8]] = &[b"/", b"/run", b"/var/run"];
const HOST_WRITTEN: &[&[u8]] = &[b"/dev", b"/proc", b"/sys"];

/// A folder of the host, and its path in a container.
#[derive(Debug, Default)]
struct Mounted {
    source: Vec<u8>,
    target: Vec<u8>,
    is_read_only: bool,
}

/// Reads `SOURCE:TARGET:OPTIONS` or `type=bind,src=…,dst=…`; fields may be quoted.
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

/// Adds a folder that a container gets.
pub(super) fn mount(run: &Machine<'_>, text: &Text<'_>, own: &mut Own) {
    let Mounted { source, is_read_only, .. } = mounted(&text.bytes);
    let path = paths::normalised(&source, &own.frame.state.folder, run.ground);
    let is_socket = [b"docker.sock".as_slice(), b"containerd.sock", b"podman.sock", b"crio.sock"]
        .iter()
        .any(|socket| path.ends_with(socket));
    let is_host = HOST.contains(&&*path) || (!is_read_only && HOST_WRITTEN.contains(&&*path));
    let mount = if is_host || is_socket {
        Mount::Host
    } else if text.bytes.first().is_some_and(|first| is_hole(*first)) {
        Mount::Unknown
    } else {
        Mount::Folder
    };
    own.add(What::Mounts(mount), text.span);
}

/// Adds the files that a container wrote after a mark below folders of the host, where they have
/// other paths.
pub(super) fn written(
    run: &mut Machine<'_>,
    call: &Invocation<'_>,
    (mark, own_mark): (usize, usize),
    own: &mut Own,
) {
    if !call.given.iter().any(|given| given.flag.role == Role::Mount) {
        return;
    }
    let (before, after) = run.effects.split_at(mark);
    let before = paths_written(&run.effects, before);
    let (own_before, own_after) = own.effects.split_at(own_mark.min(own.effects.len()));
    let own_before = paths_written(&run.effects, own_before);
    let own_after = paths_written(&run.effects, own_after);
    let written: Vec<Vec<u8>> = paths_written(&run.effects, after)
        .union(&own_after)
        .filter(|path| !before.contains(*path) && !own_before.contains(*path))
        .cloned()
        .collect();
    if written.is_empty() {
        return;
    }
    for given in call.given.iter().filter(|given| given.flag.role == Role::Mount) {
        let Some(value) = &given.value else { continue };
        let Mounted { source, target, is_read_only } = mounted(&value.text.bytes);
        if is_read_only || source == target {
            continue;
        }
        // A path of the container may equal one of the work tree or home, and is then displayed as
        // that.
        let is_everywhere = target.is_empty();
        let target = paths::normalised(&target, &Folder::Work, run.ground);
        let mut forms = run.ground.others(&target);
        forms.push(target);
        let forms: Vec<String> = forms.iter().map(|form| display(form).into_owned()).collect();
        for path in &written {
            let below = forms.iter().find_map(|form| match form.as_str() {
                "" => Some(&**path).filter(|path| path.starts_with(b"/") == is_everywhere),
                form => below(path, form.as_bytes()),
            });
            if let Some(rest) = below {
                let path = Text::from_span([&*source, b"/", rest].concat(), value.text.span);
                path::own_path(run, Touch::Write, &path, own);
            }
        }
        // The starting folder of a container is unknown.
        let source = Text::from_span(source, value.text.span);
        let is_ours = matches!(
            path::path_of(run, &source, &own.frame).class,
            PathClass::Work | PathClass::Scratch | PathClass::Null
        );
        if !is_ours && written.iter().any(|path| !path.starts_with(b"/")) {
            own.add(What::Mounts(Mount::Written), value.text.span);
        }
    }
}

/// Returns the paths that effects write, remove or change.
fn paths_written(all: &Effects, effects: &[Effect]) -> BTreeSet<Vec<u8>> {
    let path = |effect: &Effect| match effect.what {
        What::Path { touch, path, class, .. }
            if touch != Touch::Read && class != PathClass::Null =>
        {
            // An unknown part is only a name below the folder, never a path of the host.
            Some(all.display(path).into_owned().into_bytes())
        }
        _ => None,
    };
    effects.iter().filter_map(path).collect()
}
