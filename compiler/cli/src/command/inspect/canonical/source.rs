//! What only the effective project says, and no other part of a bundle: the settings of the index,
//! suppressions, and the prompts that are switched off.

const QUOTES: &str = "\"\"\"";
const INDENT: &str = "    ";

/// What only the effective project says.
#[derive(Default)]
pub(super) struct Source<'k> {
    /// The settings of the index of prompts, as KDL.
    pub(super) index: Option<&'k str>,
    /// The prompts that are switched off, as KDL.
    pub(super) disabled: Vec<&'k str>,
    /// The suppressions, as KDL, each after the beginning of the node that it is in.
    pub(super) suppressions: Vec<(&'k str, &'k str)>,
}

impl<'k> Source<'k> {
    /// Searches the effective project, as the compiler writes it.
    pub(super) fn of(kdl: &'k str) -> Self {
        let mut source = Self::default();
        let (mut parent, mut owner) = ("", "");
        let mut is_in_text = false;
        for line in kdl.lines() {
            let began_in_text = is_in_text;
            // Quotes inside a text are escaped, so three of them begin or end one.
            is_in_text ^= line.matches(QUOTES).count() % 2 == 1;
            if began_in_text {
                continue;
            }
            let node = line.trim_start_matches(' ');
            match (line.len() - node.len()) / INDENT.len() {
                0 => parent = node,
                1 => {
                    owner = node;
                    if parent.starts_with("gate ") && node.starts_with("index ") {
                        source.index = Some(node);
                    }
                    if parent.starts_with("prompts ") && node.ends_with(" enabled=#false") {
                        source.disabled.push(node);
                    }
                }
                _ if node.starts_with("allow-secret ") => {
                    source.suppressions.push((named(owner), node));
                }
                _ => {}
            }
        }
        source
    }
}

/// Returns the name of a node and its first argument.
fn named(node: &str) -> &str {
    let second = node.match_indices(' ').map(|(at, _)| at).find(|at| {
        let before = node.get(..*at).unwrap_or_default();
        // A blank inside the quotes of a name does not end it.
        before.contains(' ') && before.replace("\\\"", "").matches('"').count() % 2 == 0
    });
    second.and_then(|at| node.get(..at)).unwrap_or(node)
}
