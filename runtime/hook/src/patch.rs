//! A patch -> the files that it writes, removes and moves.

use relay_bundle::Selector;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// Returns the effects of a patch on paths; `None` if a line of it is unknown.
///
/// A patch may come inside a command (`apply_patch <<'EOF'`): the lines before and after it are then a
/// text for a shell, which the policy reads.
pub(crate) fn effects(patch: &str) -> Option<Vec<(Selector, String)>> {
    let mut lines = patch.trim().lines();
    if lines.next()?.trim_end() != BEGIN {
        return None;
    }
    let mut effects = Vec::new();
    let mut source: Option<String> = None;
    let mut has_ended = false;
    for line in lines {
        if has_ended {
            return None;
        }
        let line = line.trim_end_matches('\r');
        let Some(header) = line.strip_prefix("*** ") else {
            // Lines of a file begin with one of these, or are empty.
            let is_of_file = line.is_empty() || line.starts_with(['+', '-', ' ', '@', '\\']);
            if !is_of_file {
                return None;
            }
            continue;
        };
        if line.trim_end() == END {
            has_ended = true;
            continue;
        }
        if header.trim_end() == "End of File" {
            continue;
        }
        let (kind, path) = header.split_once(": ")?;
        let path = path.trim();
        if path.is_empty() {
            return None;
        }
        match kind {
            "Add File" => effects.push((Selector::Writes, path.to_owned())),
            "Update File" => {
                effects.push((Selector::Writes, path.to_owned()));
                source = Some(path.to_owned());
            }
            "Delete File" => effects.push((Selector::Removes, path.to_owned())),
            "Move to" => {
                effects.push((Selector::Writes, path.to_owned()));
                effects.push((Selector::Removes, source.take()?));
            }
            // Copilot and others name the environment.
            "Environment ID" => {}
            _ => return None,
        }
    }
    (has_ended && !effects.is_empty()).then_some(effects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_of_a_patch_is_an_effect() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Update File: b.txt\n*** Move to: ../c.txt\n@@\n-x\n+*** Add File: no\n*** End of File\n*** Delete File: d.txt\n*** End Patch\n";
        let effects = effects(patch).expect("a patch");
        let expected = [
            (Selector::Writes, "a.txt"),
            (Selector::Writes, "b.txt"),
            (Selector::Writes, "../c.txt"),
            (Selector::Removes, "b.txt"),
            (Selector::Removes, "d.txt"),
        ];
        let expected = expected.map(|(effect, path)| (effect, path.to_owned()));
        assert_eq!(effects, expected);
    }

    #[test]
    fn a_patch_that_is_not_understood_has_no_effects() {
        for bad in [
            "",
            "--- a\n+++ b\n",
            "*** Begin Patch\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\n+x",
            "*** Begin Patch\n*** Add File: \n*** End Patch",
            "*** Begin Patch\n*** Copy File: a\n*** End Patch",
            "*** Begin Patch\n*** Move to: a\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\nrm -rf /\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\n*** End Patch\nmore",
        ] {
            assert_eq!(effects(bad), None, "{bad}");
        }
    }
}
