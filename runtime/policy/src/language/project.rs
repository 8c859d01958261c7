//! Files of build tools -> the shell code in them: recipes of make and just, scripts of a package.
//!
//! Only the code of the named targets and of their prerequisites is returned; all code if a name is
//! not literal.

/// The most bytes of a file that are compared with targets; all code of a longer file counts.
const BYTES_MAX: usize = 16 * 1024;

/// The rules of a file of make or just.
#[derive(Debug, Default)]
pub(crate) struct Recipes<'t> {
    rules: Vec<Rule<'t>>,
    /// Code that runs when the file is read: `$(shell …)` and `!=`.
    evaluated: Vec<(usize, usize)>,
}

/// A rule: its targets, its prerequisites, and the lines of its recipe.
#[derive(Debug, Default)]
struct Rule<'t> {
    targets: Vec<&'t [u8]>,
    needs: Vec<&'t [u8]>,
    /// Whether it may match any target.
    is_open: bool,
    lines: Vec<(usize, usize)>,
}

impl<'t> Recipes<'t> {
    /// Reads a file.
    pub(crate) fn of(text: &'t [u8]) -> Self {
        let mut recipes = Self::default();
        let mut start = 0;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            recipes.line(line, start);
            start += line.len();
        }
        recipes.functions(text);
        recipes
    }

    fn line(&mut self, line: &'t [u8], start: usize) {
        let end = line.len() - usize::from(line.ends_with(b"\n"));
        let blanks = line.iter().take_while(|byte| matches!(byte, b'\t' | b' ')).count();
        if blanks > 0 {
            // `@`, `-` and `+` change how a line runs.
            let signs = line.iter().skip(blanks);
            let signs = signs.take_while(|byte| matches!(byte, b'@' | b'-' | b'+')).count();
            if let Some(rule) = self.rules.last_mut() {
                rule.lines.push((start + blanks + signs, start + end));
            }
            return;
        }
        let line = line.get(..end).unwrap_or(line);
        if line.starts_with(b"#") {
            return;
        }
        if let Some(at) = line.windows(2).position(|two| two == b"!=") {
            self.evaluated.push((start + at + 2, start + end));
            return;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return };
        let (targets, rest) = line.split_at(colon);
        if rest.starts_with(b":=") || targets.contains(&b'=') {
            return;
        }
        let rest = rest.get(1..).unwrap_or(&[]);
        let semicolon = rest.iter().position(|byte| *byte == b';');
        let needs = rest.get(..semicolon.unwrap_or(rest.len())).unwrap_or(rest);
        let is_open = |byte: &u8| matches!(byte, b'%' | b'$' | b'{' | b'*') || !byte.is_ascii();
        let mut rule = Rule {
            targets: words(targets).collect(),
            needs: words(needs).collect(),
            is_open: targets.iter().chain(needs).any(is_open),
            lines: Vec::new(),
        };
        if let Some(at) = semicolon {
            rule.lines.push((start + colon + at + 2, start + end));
        }
        self.rules.push(rule);
    }

    /// Finds `$(shell …)`.
    fn functions(&mut self, text: &[u8]) {
        const SIGN: &[u8] = b"$(shell ";
        let mut at = 0;
        while let Some(found) =
            text.get(at..).and_then(|rest| rest.windows(SIGN.len()).position(|part| part == SIGN))
        {
            let start = at + found + SIGN.len();
            let mut depth = 1usize;
            let rest = text.get(start..).unwrap_or(&[]);
            let is_end = |byte: &u8| {
                match byte {
                    b'(' => depth += 1,
                    b')' => depth -= 1,
                    _ => {}
                }
                depth == 0
            };
            let length = rest.iter().position(is_end).unwrap_or(rest.len());
            self.evaluated.push((start, start + length));
            at = start;
        }
    }

    /// Returns the code that runs even if all other lines are only printed.
    pub(crate) fn evaluated(self) -> Vec<(usize, usize)> {
        self.evaluated
    }

    /// Returns the lines that run for some targets; for the first target if none is named.
    pub(crate) fn lines(self, goals: &[&[u8]]) -> Vec<(usize, usize)> {
        let Self { rules, evaluated } = self;
        let mut wanted: Vec<&[u8]> =
            goals.iter().copied().filter(|goal| !goal.contains(&b'=')).collect();
        if wanted.is_empty() {
            let first =
                rules.iter().find(|rule| rule.targets.iter().any(|name| !name.starts_with(b".")));
            wanted.extend(first.into_iter().flat_map(|rule| rule.targets.iter().copied()));
        }
        let is_all = rules.iter().map(|rule| rule.targets.len()).sum::<usize>() > BYTES_MAX / 64
            || wanted.iter().any(|goal| !goal.is_ascii());
        let mut at = 0;
        while let Some(goal) = wanted.get(at).copied() {
            at += 1;
            for rule in rules.iter().filter(|rule| rule.targets.contains(&goal)) {
                for need in &rule.needs {
                    if !wanted.contains(need) {
                        wanted.push(need);
                    }
                }
            }
        }
        let is_run = |rule: &&Rule<'_>| {
            is_all || rule.is_open || rule.targets.iter().any(|name| wanted.contains(name))
        };
        let lines = rules.iter().filter(is_run).flat_map(|rule| rule.lines.iter().copied());
        lines.chain(evaluated).collect()
    }
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Scripts that run during an installation.
const AT_INSTALL: &[&str] = &[
    "preinstall",
    "install",
    "postinstall",
    "prepare",
    "preprepare",
    "postprepare",
    "prepublish",
    "pre-install-cmd",
    "post-install-cmd",
    "pre-update-cmd",
    "post-update-cmd",
    "post-autoload-dump",
];
/// Words of commands that install.
const INSTALLS: &[&[u8]] = &[
    b"install", b"i", b"ci", b"add", b"update", b"require", b"rebuild", b"pack", b"publish",
    b"link",
];

/// Returns the scripts of a package that run for some words of a command.
pub(crate) fn scripts(text: &[u8], goals: &[&[u8]]) -> Vec<Vec<u8>> {
    const SIGN: &[u8] = b"\"scripts\"";
    let Some(at) = text.windows(SIGN.len()).position(|part| part == SIGN) else {
        return Vec::new();
    };
    let mut strings = Strings { text, at: at + SIGN.len() };
    let installs = goals.is_empty() || goals.iter().any(|goal| INSTALLS.contains(goal));
    let is_all = goals.iter().any(|goal| !goal.is_ascii());
    let mut found = Vec::new();
    while let (Some(name), Some(script)) = (strings.next(), strings.next()) {
        let is_goal = goals.iter().any(|goal| {
            let goal = if matches!(*goal, b"t" | b"tst") { &b"test"[..] } else { goal };
            let base = |start: &str| name.strip_prefix(start.as_bytes()) == Some(goal);
            name == goal || base("pre") || base("post")
        });
        let is_at_install =
            installs && AT_INSTALL.iter().any(|each| each.as_bytes() == name.as_slice());
        if is_all || is_goal || is_at_install {
            found.push(script);
        }
    }
    found
}

/// The quoted texts of an object of JSON, up to its end.
struct Strings<'t> {
    text: &'t [u8],
    at: usize,
}

impl Iterator for Strings<'_> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => break,
                b'}' => return None,
                _ => {}
            }
        }
        let mut written = Vec::new();
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => return Some(written),
                b'\\' => {
                    let escaped = *self.text.get(self.at)?;
                    self.at += 1;
                    written.push(match escaped {
                        b'n' => b'\n',
                        b't' => b'\t',
                        other => other,
                    });
                }
                byte => written.push(byte),
            }
        }
    }
}
