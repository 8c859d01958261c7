//! Patterns of paths of clients as those of relay: which begin with `/`, `~/`, `./` or `**/`, and have `*` and `**` alone.

use super::model::Paths;
use relay_policy::path_rules::PathPattern;

/// The folder that the pattern `/x` is relative to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Base {
    /// The work tree.
    WorkTree,
    /// The folder of the user's settings, `~/.claude`.
    User,
    /// The folder of managed settings.
    Managed,
}

/// Whether a rule restricts or permits: the first may mean more paths than at the client, the second fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// `deny`, `ask`
    Restrict,
    /// `allow`
    Permit,
}

/// Returns the patterns for every path.
pub(crate) fn everything() -> Paths {
    Paths { patterns: vec!["/**".to_owned()], is_exact: true }
}

/// Translates a pattern as of `.gitignore`: `//x` is absolute, `~/x` of the home, `/x` of the folder of the settings, and
/// all others of the work tree; one without a `/` matches at any depth, and a folder means all below it.
///
/// # Errors
///
/// It is beyond relay's patterns: the reason.
pub(crate) fn ignore_pattern(
    written: &str,
    base: &Base,
    direction: Direction,
) -> Result<Paths, String> {
    if written.starts_with('!') {
        return Err("a pattern that begins with `!` takes back others".to_owned());
    }
    let (root, rest) = if let Some(rest) = written.strip_prefix("//") {
        ("/".to_owned(), rest)
    } else if let Some(rest) = written.strip_prefix("~/") {
        ("~/".to_owned(), rest)
    } else if let Some(rest) = written.strip_prefix('/') {
        let root = match base {
            Base::WorkTree => "./",
            Base::User => "~/.claude/",
            Base::Managed => "/etc/claude-code/",
        };
        (root.to_owned(), rest)
    } else {
        let rest = written.strip_prefix("./").unwrap_or(written);
        let has_folder = rest.trim_end_matches('/').contains('/') || written.starts_with("./");
        match direction {
            // A rule that restricts reaches any depth.
            Direction::Restrict => ("**/".to_owned(), rest),
            Direction::Permit if has_folder => ("./".to_owned(), rest),
            Direction::Permit => ("./**/".to_owned(), rest),
        }
    };
    let rest = rest.trim_end_matches('/');
    let mut is_exact = true;
    let parts: Vec<String> = rest
        .split('/')
        .filter(|part| *part != ".")
        .map(|part| part_of(part, direction, &mut is_exact))
        .collect::<Result<_, _>>()?;
    let mut path = format!("{root}{}", parts.join("/"));
    path = path.replace("**/**/", "**/");
    if path.ends_with("**/**") {
        path.truncate(path.len() - 3);
    }
    let mut patterns = vec![path.clone()];
    if direction == Direction::Restrict {
        if let Some(folder) = path.strip_suffix("/**") {
            // The folder itself, too: to remove or list it is to reach its files.
            if !folder.is_empty() && folder != "**" && folder != "~" && folder != "." {
                patterns.push(folder.to_owned());
            }
        } else {
            patterns.push(format!("{path}/**"));
        }
    }
    for pattern in &patterns {
        PathPattern::new(pattern).map_err(|error| format!("as `{pattern}`: {error}"))?;
    }
    patterns.sort();
    patterns.dedup();
    Ok(Paths { patterns, is_exact })
}

/// Translates a part of a path between two `/`.
fn part_of(part: &str, direction: Direction, is_exact: &mut bool) -> Result<String, String> {
    if part == ".." || part.is_empty() {
        return Err("it has an empty part or `..` in it".to_owned());
    }
    if part == "**" {
        return Ok(part.to_owned());
    }
    let mut out = String::new();
    let mut letters = part.chars();
    while let Some(letter) = letters.next() {
        let wide = match letter {
            '*' => {
                if !out.ends_with('*') {
                    out.push('*');
                }
                continue;
            }
            '?' => true,
            '[' => {
                if !letters.by_ref().any(|letter| letter == ']') {
                    return Err("its `[` has no `]`".to_owned());
                }
                true
            }
            '\\' | '{' | '}' => {
                return Err(format!("`{letter}` has no meaning in patterns of relay"));
            }
            _ => false,
        };
        if !wide {
            out.push(letter);
            continue;
        }
        if direction == Direction::Permit {
            return Err(format!("`{letter}` would mean more as `*`"));
        }
        *is_exact = false;
        if !out.ends_with('*') {
            out.push('*');
        }
    }
    Ok(out)
}

/// Returns the patterns that a pattern with `{a,b}` stands for, at most 32; else the pattern itself.
pub(crate) fn braces(pattern: &str) -> Vec<String> {
    const PATTERNS_MAX: usize = 32;
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let Some((inside, after)) = rest.split_once('}') else { return vec![pattern.to_owned()] };
    let mut all = Vec::new();
    for one in inside.split(',') {
        all.extend(braces(&format!("{before}{one}{after}")));
        if all.len() > PATTERNS_MAX {
            return vec![pattern.to_owned()];
        }
    }
    all
}
