//! The words that several forms of a comparison share. They are unescaped: names and values in them
//! are an author's, and each form has its own way to keep them from steering it.

use std::borrow::Cow;

use relay_diff::{Area, Called, Change, Claim, Direction, Hunk, Instructed, Kind, Lost, Subject};

use crate::answer::size::{counted, grouped};
use crate::command::diff::comparison::{Beside, Compared, Described, Found};

/// The text of an empty comparison.
pub(crate) const NO_DIFFERENCE: &str = "no difference in meaning";
/// Characters of a part that a title shows.
const PART_CHARS_MAX: usize = 80;
/// Prompts that a line names.
const NAMES_MAX: usize = 8;
/// Audiences whose instructions are listed.
const AUDIENCES_MAX: usize = 12;
/// Groups of calls that a finding lists.
const CALLS_MAX: usize = 12;
/// Renderings that a passage names.
const VARIANTS_MAX: usize = 3;

/// The beginning of an unbroken line that continues the one before.
pub(crate) const INDENT: &str = "  ";

/// The meaning of a finding's symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Agents may do more.
    Loosens,
    /// The same, and no command or call shows it.
    LoosensNotProved,
    /// Agents may do less.
    Tightens,
    /// Clients break.
    Breaking,
    /// A text that agents always get differs, or a rule is taken back.
    Always,
    /// Something is new.
    Added,
    /// Something is gone.
    Removed,
    /// Something differs.
    Other,
}

/// A part of a verdict.
pub(crate) struct Count {
    /// The number and the counted thing.
    pub(crate) text: String,
    /// Whether it is bad news.
    pub(crate) is_bad: bool,
}

impl Mark {
    /// Returns the mark of a finding.
    pub(crate) fn of(found: &Found) -> Self {
        let finding = &found.finding;
        match (finding.direction, &finding.change) {
            (Some(Direction::NotProved), _) if finding.is_not_proved() => Self::LoosensNotProved,
            (Some(Direction::NotProved), _) => Self::Loosens,
            (Some(Direction::Narrower), _) => Self::Tightens,
            (Some(Direction::Same) | None, _) if finding.breaking => Self::Breaking,
            (Some(Direction::Same) | None, _) if finding.always => Self::Always,
            (Some(Direction::Same) | None, Change::Added) => Self::Added,
            (Some(Direction::Same) | None, Change::Removed) => Self::Removed,
            (Some(Direction::Same) | None, _) => Self::Other,
        }
    }

    /// Returns the symbol, which means the same as its colour, and its word.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Loosens => "▲ loosens",
            Self::LoosensNotProved => "▲ loosens (not proved)",
            Self::Tightens => "▼ tightens",
            Self::Breaking => "! breaking",
            Self::Always => "! always",
            Self::Added => "+",
            Self::Removed => "-",
            Self::Other => "~",
        }
    }
}

/// Returns the name of an area.
pub(crate) fn area(area: Area) -> &'static str {
    match area {
        Area::Authority => "Authority",
        Area::Contexts => "Contexts",
        Area::Surface => "Surface",
    }
}

/// Returns the name of a kind.
pub(crate) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Gate => "gate",
        Kind::Policy => "policy",
        Kind::Rule => "rule",
        Kind::Scope => "scope",
        Kind::Path => "paths",
        Kind::Program => "program",
        Kind::Variable => "variable",
        Kind::Role => "role",
        Kind::User => "user",
        Kind::Group => "group",
        Kind::Anyone => "anyone",
        Kind::Tenant => "tenant",
        Kind::Tool => "tool",
        Kind::Hosts => "hosts",
        Kind::Host => "host",
        Kind::Suppression => "allow-secret",
        Kind::Invisible => "allow-invisible",
        Kind::Mark => "allow-mark",
        Kind::Expectation => "expect",
        Kind::Briefings => "briefings",
        Kind::Instructions => "instructions",
        Kind::Index => "index of prompts",
        Kind::Prompt => "prompt",
        Kind::AgentSkill => "agent skill",
        Kind::Skill => "skill",
        Kind::Calls => "what calls are given",
        Kind::Message => "message",
        Kind::Resource => "resource",
        Kind::Template => "template",
        Kind::Project => "project",
        Kind::Trust => "trust",
        Kind::Key => "key",
        Kind::Server => "server",
    }
}

/// Returns the subject of a difference, in words: ``prompt `database`: priority``. A long part,
/// such as a form with many words, is shortened; its place and JSON have all of it.
pub(crate) fn title(subject: &Subject, part: &str) -> String {
    let Subject { kind, name } = subject;
    let kind = self::kind(*kind);
    let name = if name.is_empty() { String::new() } else { format!(" `{name}`") };
    let part = if part.is_empty() { String::new() } else { format!(": {}", shortened(part)) };
    format!("{kind}{name}{part}")
}

/// Returns the first words of a part.
fn shortened(part: &str) -> Cow<'_, str> {
    let Some((end, _)) = part.char_indices().nth(PART_CHARS_MAX) else { return part.into() };
    let start = part.get(..end).unwrap_or(part);
    let words = start.rsplit_once(' ').map_or(start, |(words, _)| words);
    format!("{words} …").into()
}

/// Returns the names of environments; the project without one is `default`.
pub(crate) fn environments(names: &[Option<String>]) -> String {
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "default".into());
    names.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Returns the environments of a finding, if others lack it.
pub(crate) fn only_in(found: &Found, project: &Compared) -> Option<String> {
    let is_in_all = found.environments.len() >= project.environments.len();
    (!is_in_all).then(|| environments(&found.environments))
}

/// Returns the version, or both.
pub(crate) fn versions(project: &Compared) -> Option<String> {
    let version = |side: &Described| side.bundle.as_ref().and_then(|it| it.version.clone());
    match (version(&project.a), version(&project.b)) {
        (Some(a), Some(b)) if a != b => Some(format!("{a} → {b}")),
        (_, Some(version)) | (Some(version), None) => Some(version),
        (None, None) => None,
    }
}

/// Returns both epochs, if they differ.
pub(crate) fn epochs(project: &Compared) -> Option<String> {
    let (a, b) = (project.a.bundle.as_ref()?, project.b.bundle.as_ref()?);
    (a.epoch != b.epoch).then(|| format!("epoch {} → {}", a.epoch, b.epoch))
}

/// Returns a commit's short name.
pub(crate) fn short_commit(side: &Described) -> Option<&str> {
    side.commit.as_ref().and_then(|commit| commit.get(..7))
}

/// Returns the number of differing source files.
pub(crate) fn files(project: &Compared) -> String {
    match project.files_of {
        None => "the same digest".into(),
        Some(of) => format!("{} of {} differ", grouped(project.files.len()), counted(of, "file")),
    }
}

/// Returns the numbers of findings of each kind: parts of groups, of the shown areas.
pub(crate) fn verdict<'f>(
    areas: &[Area],
    findings: impl Iterator<Item = &'f Found> + Clone,
) -> Vec<Vec<Count>> {
    let number =
        |holds: &dyn Fn(&Found) -> bool| findings.clone().filter(|found| holds(found)).count();
    let directed = |direction| number(&|found| found.finding.direction == Some(direction));
    let of_area = |area| number(&|found| found.finding.area == area);
    let plain = |text: String| Count { text, is_bad: false };
    let mut groups = Vec::new();
    for area in areas {
        groups.push(match area {
            Area::Authority => {
                let count =
                    |direction: Direction| format!("{} {}", directed(direction), direction.word());
                let (loosens, tightens) = (Direction::NotProved, Direction::Narrower);
                let is_bad = directed(loosens) > 0;
                let mut group =
                    vec![Count { text: count(loosens), is_bad }, plain(count(tightens))];
                if directed(Direction::Same) > 0 {
                    group.push(plain(format!("{} other", directed(Direction::Same))));
                }
                group
            }
            Area::Contexts => vec![plain(counted(of_area(*area), "context"))],
            Area::Surface => vec![plain(match of_area(*area) {
                0 => "surface same".into(),
                surface => format!("{} of surface", grouped(surface)),
            })],
        });
    }
    let always = number(&|found| found.finding.always);
    if always > 0 {
        groups.push(vec![Count { text: format!("{always} always"), is_bad: true }]);
    }
    let breaking = number(&|found| found.finding.breaking);
    if breaking > 0 {
        groups.push(vec![Count { text: format!("{breaking} breaking"), is_bad: true }]);
    }
    let accepted = number(&|found| found.accepted.is_some());
    if accepted > 0 {
        groups.push(vec![plain(format!("{accepted} accepted"))]);
    }
    let here = number(&|found| found.accepted_here.is_some());
    if here > 0 {
        let text = format!("{here} accepted by this change alone");
        groups.push(vec![Count { text, is_bad: true }]);
    }
    groups
}

/// Returns the number of omitted findings, if any.
pub(crate) fn not_shown(not_shown: usize) -> Option<String> {
    (not_shown > 0).then(|| format!("{} of other areas not shown", counted(not_shown, "finding")))
}

/// Returns the difference in the length of the text, if any.
pub(crate) fn size(found: &Found) -> Option<String> {
    match (found.finding.bytes, found.tokens_estimated) {
        (0, _) => None,
        (bytes, estimate) => Some(format!("{} B{}", signed(bytes), tokens(estimate))),
    }
}

/// Returns a number with its sign.
pub(crate) fn signed(number: i64) -> String {
    let sign = if number < 0 { '-' } else { '+' };
    let size = grouped(usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX));
    format!("{sign}{size}")
}

/// Returns the extent of its trials, unless it is exact.
pub(crate) fn tried(found: &Found) -> Option<String> {
    let Claim::Tried { inputs, of } = found.finding.claim else { return None };
    let word = match &found.finding.change {
        Change::Calls { .. } if inputs == of => {
            return Some(format!(
                "tried with {}, with one unknown tool for each pattern; others may differ",
                counted(inputs, "call")
            ));
        }
        Change::Calls { .. } => "call",
        Change::Untried { .. } => "audience",
        _ => "tag",
    };
    let mut text =
        format!("tried with {} of {}; others may differ", counted(inputs, word), grouped(of));
    for Beside { environments, losing, gaining, tried } in &found.beside {
        let (names, tried) = (self::environments(environments), counted(*tried, "tag"));
        text.push_str(&format!("; in {names}, {losing} of {tried} lose and {gaining} gain"));
    }
    Some(text)
}

/// Returns a change in lines, except values and texts, which each form shows in its own way.
pub(crate) fn lines(change: &Change) -> Vec<String> {
    match change {
        Change::Added => vec!["new".into()],
        Change::Removed => vec!["gone".into()],
        Change::Renamed { before } => vec![format!("renamed from `{before}`")],
        Change::Value { .. } | Change::Text { .. } => Vec::new(),
        Change::Listed { lost, gained, causes } => {
            let line = |verb: &str, list: &[String]| {
                (!list.is_empty()).then(|| format!("{verb} {}", names(list)))
            };
            [
                line("no longer lists", lost),
                line("lists in addition", gained),
                line("follows from", causes),
            ]
            .into_iter()
            .flatten()
            .collect()
        }
        Change::Readers { gained, lost } => {
            let line = |word: &str, list: &[String]| {
                (!list.is_empty()).then(|| format!("{word} {}", listed(list, "; ")))
            };
            [line("now seen by", gained), line("no longer seen by", lost)]
                .into_iter()
                .flatten()
                .collect()
        }
        Change::Instructions { audiences, causes } => {
            let mut lines: Vec<String> =
                audiences.iter().take(AUDIENCES_MAX).map(instructed).collect();
            match audiences.len().saturating_sub(AUDIENCES_MAX) {
                0 => {}
                more => {
                    let more = counted(more, "more audience");
                    lines.push(format!("and {more}, which do not differ more"));
                }
            }
            if !causes.is_empty() {
                lines.push(format!("follows from {}", names(causes)));
            }
            lines
        }
        Change::Calls { groups } => {
            let mut lines: Vec<String> = groups.iter().take(CALLS_MAX).flat_map(called).collect();
            match groups.len().saturating_sub(CALLS_MAX) {
                0 => {}
                more => lines.push(format!("and {}", counted(more, "more difference"))),
            }
            if groups.is_empty() {
                lines.push("no difference in the calls that were tried".into());
            }
            lines
        }
        Change::Untried { readers, causes } => {
            let mut lines = vec![format!("may differ for {}", listed(readers, "; "))];
            if !causes.is_empty() {
                lines.push(format!("would follow from {}", names(causes)));
            }
            lines
        }
        Change::Briefings { always, budget, losing, gaining, examples, causes } => {
            let mut lines = Vec::new();
            let left = grouped(budget[1].saturating_sub(always[1]));
            let [before, after] = always.map(grouped);
            let budget = grouped(budget[1]);
            lines.push(if before == after {
                format!("always sent: {after} of {budget} bytes, as before")
            } else {
                format!("always sent: {before} → {after} of {budget} bytes, which leaves {left}")
            });
            let verb = |count: usize, one: &'static str, many: &'static str| {
                if count == 1 { one } else { many }
            };
            if *losing > 0 {
                let verb = verb(*losing, "loses", "lose");
                lines
                    .push(format!("{} {verb} a prompt that came in full", counted(*losing, "tag")));
            }
            if *gaining > 0 {
                let verb = verb(*gaining, "brings", "bring");
                lines.push(format!("{} {verb} another prompt in full", counted(*gaining, "tag")));
            }
            for Lost { tag, lost, gained } in examples {
                let signed = |mark: char, names: &[String]| {
                    let shown = names.iter().take(NAMES_MAX).map(|name| format!(" {mark}{name}"));
                    let more = match names.len().saturating_sub(NAMES_MAX) {
                        0 => String::new(),
                        more => format!(" and {more} more"),
                    };
                    format!("{}{more}", shown.collect::<String>())
                };
                lines.push(format!("for `{tag}`:{}{}", signed('-', lost), signed('+', gained)));
            }
            if !causes.is_empty() {
                lines.push(format!("follows from {}", names(causes)));
            }
            lines
        }
    }
}

/// Returns the differences in the instructions of some audiences.
fn instructed(instructed: &Instructed) -> String {
    let Instructed { readers, bytes, tokens_estimated, lost, gained } = instructed;
    let [before, after] = bytes.map(grouped);
    let [of_a, of_b] = tokens_estimated.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
    let size = match bytes[0] == bytes[1] {
        true => format!("{after} bytes, as before"),
        false => format!("{before} → {after} bytes{}", tokens(of_b - of_a)),
    };
    let mut line = format!("{}: {size}", listed(readers, "; "));
    for (verb, list) in [("no longer lists", lost), ("lists in addition", gained)] {
        if !list.is_empty() {
            line.push_str(&format!("; {verb} {}", names(list)));
        }
    }
    line
}

/// Returns the differences in the skills of some calls: each skill on an indented line, which no
/// form breaks.
fn called(called: &Called) -> Vec<String> {
    let Called { calls, bytes, tokens_estimated, lost, gained, changed, reordered } = called;
    let size = match bytes {
        0 => "same size".to_owned(),
        bytes => format!("{} B{}", signed(*bytes), tokens(*tokens_estimated)),
    };
    let mut lines = vec![format!("{}: {size}", listed(calls, "; "))];
    for (mark, list) in [('-', lost), ('+', gained), ('~', changed)] {
        lines.extend(list.iter().take(NAMES_MAX).map(|name| format!("{INDENT}{mark} {name}")));
        match list.len().saturating_sub(NAMES_MAX) {
            0 => {}
            more => lines.push(format!("{INDENT}{mark} {more} more")),
        }
    }
    if *reordered {
        lines.push(format!("{INDENT}in another order"));
    }
    lines
}

/// Returns an estimate of the difference in tokens, if any.
fn tokens(tokens: i64) -> String {
    match tokens {
        0 => String::new(),
        tokens => format!(", about {} tokens", signed(tokens)),
    }
}

/// Returns the first names of a list, and the number of the others.
fn names(list: &[String]) -> String {
    listed(list, ", ")
}

fn listed(list: &[String], between: &str) -> String {
    let shown = list.get(..NAMES_MAX.min(list.len())).unwrap_or_default().join(between);
    match list.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns the renderings with a passage; `None` for all.
pub(crate) fn variants(hunk: &Hunk) -> Option<String> {
    if hunk.variants.is_empty() && hunk.alike.is_empty() {
        return None;
    }
    let named: Vec<&str> = hunk.variants.iter().take(VARIANTS_MAX).map(String::as_str).collect();
    let more = match hunk.variants.len() - named.len() {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let alike = match hunk.alike.len() {
        0 => String::new(),
        alike => format!("; the same words with {alike} more"),
    };
    Some(format!("with {}{more}{alike}:", named.join("; ")))
}
