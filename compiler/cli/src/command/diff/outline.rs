//! A comparison as headings, groups and rows: its whole text, before the layout.
//!
//! Every form for readers and for other programs is drawn from it, so that all agree. Names and
//! values are an author's: each form has its own way to keep them from steering it.

use std::borrow::Cow;

use relay_diff::{Area, Change, Direction, Hunk, Piece, PieceKind};

use crate::answer::size::{counted, grouped};
use crate::command::diff::comparison::{Compared, Comparison, Described, Found, Spot};
use crate::command::diff::words::{self, Count, Mark};
use crate::command::verify::Signature;
use crate::level::Level;
use crate::text::shortened;

/// The most characters of a value, and of a passage, in a summary.
const VALUE_CHARS_MAX: usize = 120;
const PASSAGE_CHARS_MAX: usize = 300;

/// The comparison of all projects.
pub(crate) struct Outline<'c> {
    /// The gravest result.
    pub(crate) headline: String,
    /// The numbers of findings of each kind, in groups.
    pub(crate) verdict: Vec<Vec<Count>>,
    /// Whether all answers of a server are equal.
    pub(crate) same_meaning: bool,
    /// The areas whose findings are listed.
    pub(crate) areas: &'c [Area],
    /// Each project.
    pub(crate) projects: Vec<Project<'c>>,
    /// The notes that concern several projects.
    pub(crate) notes: &'c [String],
}

/// The comparison of one project.
pub(crate) struct Project<'c> {
    /// Its name.
    pub(crate) name: &'c str,
    /// Its version, or both.
    pub(crate) versions: Option<String>,
    /// The side before.
    pub(crate) a: Side<'c>,
    /// The side after.
    pub(crate) b: Side<'c>,
    /// The number of differing source files.
    pub(crate) files: String,
    /// Both epochs, if they differ.
    pub(crate) epochs: Option<String>,
    /// The environments, if there are others than the project without one.
    pub(crate) environments: Option<String>,
    /// Whether all answers of a server are equal.
    pub(crate) same_meaning: bool,
    /// The numbers of findings of each kind, in groups.
    pub(crate) verdict: Vec<Vec<Count>>,
    /// The findings of each area that has some.
    pub(crate) groups: Vec<Group<'c>>,
    /// The signers of each side.
    pub(crate) signatures: Vec<String>,
    /// Its notes.
    pub(crate) notes: &'c [String],
    /// The number of findings in unlisted areas.
    pub(crate) not_shown: usize,
}

/// One side of a comparison.
pub(crate) struct Side<'c> {
    /// The name as typed.
    pub(crate) subject: &'c str,
    /// The beginning of its commit's hash.
    pub(crate) commit: Option<&'c str>,
}

/// The findings of one area.
pub(crate) struct Group<'c> {
    /// The area.
    pub(crate) area: Area,
    /// Its findings, the most dangerous first.
    pub(crate) rows: Vec<Row<'c>>,
}

/// A finding.
pub(crate) struct Row<'c> {
    /// The finding, only for its order: everything that a form prints is in the other fields.
    found: &'c Found,
    /// The name of the project.
    pub(crate) project: &'c str,
    /// The area.
    pub(crate) area: Area,
    /// Its gravity.
    pub(crate) level: Level,
    /// Its symbol.
    pub(crate) mark: Mark,
    /// Whether agents may do more.
    pub(crate) direction: Option<Direction>,
    /// Whether a command or call shows it; absent where none is searched.
    pub(crate) proved: Option<bool>,
    /// Whether it breaks clients.
    pub(crate) breaking: bool,
    /// Whether its text is always sent to agents, or takes back a rule.
    pub(crate) always: bool,
    /// The kind of thing that differs.
    pub(crate) kind: &'static str,
    /// The name of the thing; empty for a kind with only one thing.
    pub(crate) name: &'c str,
    /// The part of it that differs; empty for all of it.
    pub(crate) part: &'c str,
    /// The name of the difference, in any run.
    pub(crate) id: &'c str,
    /// The name of this very change.
    pub(crate) fingerprint: &'c str,
    /// Whether readers need the fingerprint: it accepts a finding that can fail a run.
    pub(crate) needs_acceptance: bool,
    /// The place to read it, as `file:line`.
    pub(crate) place: Option<String>,
    /// The line of a checkout where it is marked.
    pub(crate) spot: Spot,
    /// The difference in the length of its text.
    pub(crate) size: Option<String>,
    /// An estimate of the difference in tokens.
    pub(crate) tokens_estimated: i64,
    /// The change in full.
    pub(crate) body: Body<'c>,
    /// The consequence, as a sentence.
    pub(crate) meaning: Option<&'c str>,
    /// The extent of its trials, unless it is exact.
    pub(crate) tried: Option<String>,
    /// The environments that have it.
    pub(crate) environments: &'c [Option<String>],
    /// Their names, if others lack it.
    pub(crate) only_in: Option<String>,
    /// Why it is accepted.
    pub(crate) accepted: Option<&'c str>,
    /// The reason by which only this change accepts it, which does not count.
    pub(crate) accepted_here: Option<&'c str>,
}

/// A change in full.
pub(crate) enum Body<'c> {
    /// One value, and its replacement.
    Value { before: Option<&'c str>, after: Option<&'c str> },
    /// The differing passages of a text.
    Passages(Vec<Passage<'c>>),
    /// Any other change, in lines; a continuation of the line before begins with [`words::INDENT`].
    Lines(Vec<String>),
}

/// A differing passage of a text.
pub(crate) struct Passage<'c> {
    /// The renderings that have it, if some lack it.
    pub(crate) with: Option<String>,
    /// Its words, with the gone and the new ones.
    pub(crate) pieces: &'c [Piece],
}

/// A change in a few words, for the cell of a table.
pub(crate) struct Brief<'c> {
    /// The words of each line.
    pub(crate) lines: Vec<Vec<Word<'c>>>,
    /// Whether they are all of the change.
    pub(crate) says: Says,
}

/// Words of a [`Brief`].
pub(crate) enum Word<'c> {
    /// Words of `relay` itself.
    Own(Cow<'static, str>),
    /// A name or value of an author.
    Quoted(Cow<'c, str>),
}

/// The completeness of a [`Brief`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// The whole change.
    All,
    /// The whole change, unless a quotation is cut.
    AllUncut,
    /// Only the amount.
    Less,
}

impl<'c> Outline<'c> {
    /// Makes the outline of a comparison.
    pub(crate) fn of(comparison: &'c Comparison) -> Self {
        let Comparison { format_version: _, same_meaning, areas, projects, notes } = comparison;
        let all = projects.iter().flat_map(|project| &project.findings);
        Self {
            headline: headline(comparison),
            verdict: words::verdict(areas, all),
            same_meaning: *same_meaning,
            areas,
            projects: projects.iter().map(|project| Project::of(project, areas)).collect(),
            notes,
        }
    }

    /// Returns every finding, the gravest first.
    pub(crate) fn gravest_first(&self) -> Vec<&Row<'c>> {
        let groups = self.projects.iter().flat_map(|project| &project.groups);
        let mut rows: Vec<_> = groups.flat_map(|group| &group.rows).collect();
        rows.sort_by(|a, b| a.found.by_gravity(b.found));
        rows
    }

    /// Returns the number of findings in unlisted areas.
    pub(crate) fn not_shown(&self) -> usize {
        self.projects.iter().map(|project| project.not_shown).sum()
    }

    /// Returns all notes for readers, for forms that list all projects at once.
    pub(crate) fn all_notes(&self) -> Vec<String> {
        let mut notes = self.notes.to_vec();
        for project in &self.projects {
            notes.extend(project.notes.iter().cloned());
            notes.extend(words::not_shown(project.not_shown));
        }
        if self.same_meaning {
            notes.push(words::NO_DIFFERENCE.into());
        }
        notes
    }
}

impl<'c> Project<'c> {
    fn of(project: &'c Compared, areas: &[Area]) -> Self {
        let group = |area: &Area| Group {
            area: *area,
            rows: project.of_area(*area).map(|found| Row::of(found, project)).collect(),
        };
        let environments = &project.environments;
        let has_others = environments.iter().any(Option::is_some);
        let sides = [&project.a, &project.b];
        Self {
            name: project.project(),
            versions: words::versions(project),
            a: Side::of(&project.a),
            b: Side::of(&project.b),
            files: words::files(project),
            epochs: words::epochs(project),
            environments: has_others.then(|| words::environments(environments)),
            same_meaning: project.same_meaning,
            verdict: words::verdict(areas, project.findings.iter()),
            groups: areas.iter().map(group).filter(|group| !group.rows.is_empty()).collect(),
            signatures: sides.into_iter().flat_map(signatures).collect(),
            notes: &project.notes,
            not_shown: project.not_shown,
        }
    }
}

impl<'c> Side<'c> {
    fn of(side: &'c Described) -> Self {
        Self { subject: &side.subject, commit: words::short_commit(side) }
    }
}

fn signatures(side: &Described) -> impl Iterator<Item = String> {
    let signed = |Signature { keyid, name: _, state }: &Signature| {
        format!("`{}` is signed by {keyid} ({state})", side.subject)
    };
    side.signers.iter().map(signed)
}

/// Returns the verdict: the gravest result.
fn headline(comparison: &Comparison) -> String {
    let found = || comparison.projects.iter().flat_map(|project| &project.findings);
    let open = |holds: fn(&Found) -> bool| {
        found().filter(|found| holds(found) && found.accepted.is_none()).count()
    };
    let loosens = open(|found| found.finding.direction == Some(Direction::NotProved));
    let breaking = open(|found| found.finding.breaking);
    let always = open(|found| found.finding.always);
    let total = found().count();
    if loosens > 0 {
        let verb = if loosens == 1 { "loosens" } else { "loosen" };
        format!("{} {verb} authority", counted(loosens, "change"))
    } else if breaking > 0 {
        format!("{} for clients", counted(breaking, "breaking change"))
    } else if always > 0 {
        format!("{} to what agents are always told", counted(always, "change"))
    } else if total > 0 {
        counted(total, "change")
    } else if comparison.same_meaning {
        words::NO_DIFFERENCE.into()
    } else {
        "no change in what is shown".into()
    }
}

impl<'c> Row<'c> {
    fn of(found: &'c Found, project: &'c Compared) -> Self {
        let finding = &found.finding;
        Self {
            found,
            project: project.project(),
            area: finding.area,
            level: found.level(),
            mark: Mark::of(found),
            direction: finding.direction,
            proved: finding.proved,
            breaking: finding.breaking,
            always: finding.always,
            kind: words::kind(finding.subject.kind),
            name: &finding.subject.name,
            part: &finding.part,
            id: &found.id,
            fingerprint: &found.fingerprint,
            needs_acceptance: found.needs_acceptance(),
            place: found.place().map(ToString::to_string),
            spot: project.spot(found),
            size: words::size(found),
            tokens_estimated: found.tokens_estimated,
            body: Body::of(&finding.change),
            meaning: finding.meaning.as_deref(),
            tried: words::tried(found),
            environments: &found.environments,
            only_in: words::only_in(found, project),
            accepted: found.accepted.as_ref().map(|accepted| accepted.reason.as_str()),
            accepted_here: found.accepted_here.as_ref().map(|it| it.reason.as_str()),
        }
    }

    /// Returns the kind and the reason of its acceptance.
    pub(crate) fn acceptance(&self) -> Option<(&'static str, &'c str)> {
        let here = self.accepted_here.map(|reason| ("accepted by this change alone", reason));
        self.accepted.map(|reason| ("accepted", reason)).or(here)
    }

    /// Returns the subject of the difference, in words.
    pub(crate) fn title(&self) -> String {
        words::title(&self.found.finding.subject, self.part)
    }

    /// Returns the change in a few words.
    pub(crate) fn brief(&self) -> Brief<'c> {
        Brief::of(&self.found.finding.change)
    }

    /// Returns the contents of the finding after its title, in a few short lines of plain text.
    pub(crate) fn summary(&self) -> String {
        let mut lines = self.body.summary();
        lines.extend(self.meaning.map(str::to_owned));
        lines.extend(self.tried.clone());
        lines.extend(self.size.clone());
        lines.extend(self.only_in.as_ref().map(|names| format!("only in {names}")));
        lines.extend(self.acceptance().map(|(how, reason)| format!("{how}: {reason}")));
        lines.join("\n")
    }
}

impl<'c> Body<'c> {
    fn of(change: &'c Change) -> Self {
        match change {
            Change::Value { before, after } => {
                Self::Value { before: before.as_deref(), after: after.as_deref() }
            }
            Change::Text { hunks } => Self::Passages(hunks.iter().map(Passage::of).collect()),
            Change::Added
            | Change::Removed
            | Change::Renamed { .. }
            | Change::Readers { .. }
            | Change::Instructions { .. }
            | Change::Calls { .. }
            | Change::Briefings { .. }
            | Change::Untried { .. }
            | Change::Listed { .. } => Self::Lines(words::lines(change)),
        }
    }

    /// Returns it in a few lines.
    fn summary(&self) -> Vec<String> {
        match self {
            Self::Lines(lines) => lines.clone(),
            Self::Value { before, after } => {
                let quoted = |value: &Option<&str>| match value {
                    Some(value) => format!("`{}`", shortened(value, VALUE_CHARS_MAX)),
                    None => "none".into(),
                };
                vec![format!("{} → {}", quoted(before), quoted(after))]
            }
            Self::Passages(passages) => {
                let first = passages.first();
                let first = first.map(|first| shortened(&first.in_one_line(), PASSAGE_CHARS_MAX));
                let more = passages.len().saturating_sub(1);
                let more = (more > 0).then(|| format!("and {}", counted(more, "more passage")));
                first.into_iter().chain(more).collect()
            }
        }
    }
}

impl<'c> Passage<'c> {
    fn of(hunk: &'c Hunk) -> Self {
        Self { with: words::variants(hunk), pieces: &hunk.pieces }
    }

    /// Returns it in one line, with gone and new text in brackets.
    fn in_one_line(&self) -> String {
        let mut text = String::new();
        for piece in self.pieces {
            let words = piece.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let words = match piece.kind {
                PieceKind::Same => words,
                PieceKind::Gone => format!("[-{words}-]"),
                PieceKind::New => format!("{{+{words}+}}"),
            };
            if !text.is_empty() && !words.is_empty() {
                text.push(' ');
            }
            text.push_str(&words);
        }
        text
    }
}

/// Returns the number of characters that a piece leaves out, if any.
pub(crate) fn left_out(piece: &Piece) -> Option<String> {
    (piece.omitted > 0).then(|| format!(" ({} left out)", counted(piece.omitted, "character")))
}

impl<'c> Brief<'c> {
    fn of(change: &'c Change) -> Self {
        let own = |text: String| vec![vec![Word::Own(text.into())]];
        let (lines, says) = match change {
            Change::Added => (own("new".into()), Says::All),
            Change::Removed => (own("gone".into()), Says::All),
            Change::Renamed { before } => {
                let words = vec![Word::Own("renamed from ".into()), Word::quoted(before)];
                (vec![words], Says::All)
            }
            Change::Value { before, after } => {
                let value = |value: &'c Option<String>| match value {
                    Some(value) => Word::quoted(value),
                    None => Word::Own("none".into()),
                };
                (vec![vec![value(before), Word::Own(" → ".into()), value(after)]], Says::AllUncut)
            }
            Change::Readers { gained, lost } => {
                let line = |mark: &'static str, list: &[String]| {
                    let quoted = Word::Quoted(list.join("; ").into());
                    (!list.is_empty()).then(|| vec![Word::Own(mark.into()), quoted])
                };
                let lines = [line("+ ", gained), line("− ", lost)];
                (lines.into_iter().flatten().collect(), Says::AllUncut)
            }
            Change::Text { hunks } => (own(counted(hunks.len(), "passage")), Says::Less),
            Change::Instructions { audiences, .. } => {
                (own(format!("of {}", counted(audiences.len(), "audience"))), Says::Less)
            }
            Change::Calls { groups } => (own(counted(groups.len(), "difference")), Says::Less),
            Change::Briefings { losing, gaining, .. } => {
                let (losing, gaining) = (counted(*losing, "tag"), counted(*gaining, "tag"));
                (own(format!("{losing} of losses, {gaining} of gains")), Says::Less)
            }
            Change::Untried { readers, .. } => {
                (vec![vec![Word::Quoted(readers.join("; ").into())]], Says::Less)
            }
            Change::Listed { lost, gained, .. } => {
                let (lost, gained) = (counted(lost.len(), "prompt"), grouped(gained.len()));
                (own(format!("{lost} lost, {gained} gained")), Says::Less)
            }
        };
        Self { lines, says }
    }

    /// Returns every quoted name and value.
    pub(crate) fn quoted(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().flatten().filter_map(|word| match word {
            Word::Own(_) => None,
            Word::Quoted(text) => Some(text.as_ref()),
        })
    }
}

impl<'c> Word<'c> {
    fn quoted(text: &'c str) -> Self {
        Self::Quoted(Cow::Borrowed(text))
    }
}
