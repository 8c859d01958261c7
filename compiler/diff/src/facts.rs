//! Facts about programs, compared concept by concept: settings, options, values, operands, forms and
//! sub-commands, each with the direction of its difference.
//!
//! A difference is narrower only if every affected command is judged at least as high; `direction`
//! of each concept gives the reason. Other differences loosen, shown by a command that both sides
//! judge.

mod command;
mod commands;
mod difference;
mod effects;
mod fields;
mod form;
mod operand;
mod option;
mod role;
mod side;
mod sub_command;
mod value;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Place, Rule};
use relay_policy::facts::{Flag, Form, Knowledge, Node, Operand};
use relay_policy::tier::{Floor, Floors};

pub use difference::{Concept, Difference, Row, RowPart};

use self::side::{Command, Comparison};
use crate::candidates::{self, Candidate};
use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::flip::Flip;
use crate::known_facts::KnownPrograms;
use crate::reasons::Reasons;
use crate::reversal;
use crate::shown::Shown;
use crate::witness::{Judges, Witness};

/// The most differences of one program and direction with findings of their own.
const EACH_MAX: usize = 12;
/// The most characters of a part's name in such a finding.
const PART_CHARS_MAX: usize = 48;
/// The most names in a finding about further differences.
const NAMES_MAX: usize = 8;

/// Returns the differences between the facts of a program, each with its direction.
#[must_use]
pub fn differences(before: &Node, after: &Node, floors: [Floors; 2]) -> Vec<Difference> {
    let [before_floors, after_floors] = floors;
    let (a, b) = (Command::program(before), Command::program(after));
    let mut all = Comparison {
        before: before_floors,
        after: after_floors,
        has_value_caps: has_value_caps(after),
        known_options: BTreeSet::new(),
        out: Vec::new(),
    };
    command::compare(&a, &b, &mut all);
    all.out
}

fn has_value_caps(node: &Node) -> bool {
    let values = node.flags.iter().flat_map(|flag| &flag.values);
    values.into_iter().any(|value| value.cap.is_some()) || node.subs.iter().any(has_value_caps)
}

/// The facts of one side, and its tiers for undescribed commands.
pub(crate) struct Side<'k> {
    pub(crate) known: Option<&'k KnownPrograms>,
    pub(crate) floors: Floors,
}

impl<'k> Side<'k> {
    fn knowledge(&self) -> Option<&'k Knowledge> {
        Some(&self.known?.knowledge)
    }
}

/// Compares the facts of two bundles. If one of them leaves commands unjudged, its policy says so,
/// and only the project's own programs are listed.
pub(crate) fn compare(
    sides: &[Side<'_>; 2],
    reasons: &Reasons<'_>,
    judges: Option<&Judges<'_>>,
    shown: &Shown<'_>,
    out: &mut Findings,
) {
    let [a, b] = sides;
    let is_one_sided = a.known.is_none() || b.known.is_none();
    let (before, after) = (programs(a), programs(b));
    let mut pairs: Vec<(Option<&Program<'_>>, Option<&Program<'_>>, Vec<&str>)> = Vec::new();
    let mut at: BTreeMap<(Option<usize>, Option<usize>), usize> = BTreeMap::new();
    let names: BTreeSet<&str> =
        before.by_name.keys().chain(after.by_name.keys()).copied().collect();
    for name in names {
        let (old, new) = (before.by_name.get(name), after.by_name.get(name));
        let index = *at.entry((old.copied(), new.copied())).or_insert(pairs.len());
        match pairs.get_mut(index) {
            Some((_, _, names)) => names.push(name),
            None => {
                let old = old.and_then(|at| before.list.get(*at));
                let new = new.and_then(|at| after.list.get(*at));
                pairs.push((old, new, vec![name]));
            }
        }
    }
    for (old, new, names) in pairs {
        let compared = Compared { sides, reasons, old, new, names: &names, judges, shown };
        let is_same = old.map(|it| it.node) == new.map(|it| it.node);
        let is_renamed = || old.map(|it| &it.written.names) != new.map(|it| &it.written.names);
        if is_same && (!is_renamed() || compared.reversal().is_none()) {
            continue;
        }
        compared.findings(out);
    }
    if is_one_sided {
        return;
    }
    variables(sides, reasons, judges, shown, out);
    words::compare(a.knowledge(), b.knowledge(), shown, out);
}

/// A program with the place where it was written.
struct Program<'k> {
    /// Its facts; names and places are left out.
    node: &'k Node,
    written: &'k Node,
    at: Place,
}

#[derive(Default)]
struct Programs<'k> {
    list: Vec<Program<'k>>,
    by_name: BTreeMap<&'k str, usize>,
}

fn programs<'k>(side: &Side<'k>) -> Programs<'k> {
    let mut programs = Programs::default();
    let Some(KnownPrograms { knowledge, nodes }) = side.known else { return programs };
    for (written, node) in knowledge.programs.iter().zip(nodes) {
        let file = knowledge.files.get(usize::from(written.place.file)).map_or("", String::as_str);
        let at = Place { file: file.to_owned(), line: written.place.line.into(), column: 1 };
        for name in &written.names {
            programs.by_name.insert(name, programs.list.len());
        }
        programs.list.push(Program { node, written, at });
    }
    programs
}

/// A program on both sides.
struct Compared<'c, 'k, 's> {
    sides: &'c [Side<'k>; 2],
    /// The second side's reasons for lowering something.
    reasons: &'c Reasons<'c>,
    old: Option<&'c Program<'k>>,
    new: Option<&'c Program<'k>>,
    names: &'c [&'c str],
    judges: Option<&'c Judges<'k>>,
    shown: &'c Shown<'s>,
}

/// A difference with the command or the call that shows its effect.
#[derive(Clone)]
struct Judged {
    difference: Difference,
    /// The rule by which a caller may do more though commands are judged as high, in words.
    by: Option<String>,
    witness: Option<Witness>,
    flip: Option<Flip>,
}

impl Judged {
    fn is_shown(&self) -> bool {
        self.witness.is_some() || self.flip.is_some()
    }

    fn show(&self, finding: Finding) -> Finding {
        match (&self.flip, &self.by) {
            (None, None) => finding.shown_by(self.witness.clone()),
            (flip, _) if self.witness.is_none() => finding.decided(flip.clone()),
            _ => finding.shown_by(self.witness.clone()),
        }
    }
}

impl Compared<'_, '_, '_> {
    fn findings(&self, out: &mut Findings) {
        let judged: Vec<Judged> =
            self.differences().into_iter().map(|difference| self.judged(difference)).collect();
        for direction in [Direction::NotProved, Direction::Narrower, Direction::Same] {
            let of_it = judged.iter().filter(|it| it.difference.direction == direction);
            let mut all: Vec<&Judged> = of_it.collect();
            all.sort_by_key(|it| {
                let fall = it.witness.as_ref().map(|it| (it.before - it.after, it.before));
                (std::cmp::Reverse(fall), it.flip.is_none())
            });
            let shown = all.iter().filter(|it| it.is_shown()).count();
            // If no command shows many of them, one finding says so.
            let most = if all.len() - shown > 2 { shown.min(EACH_MAX) } else { EACH_MAX };
            let most = if direction == Direction::NotProved { most } else { EACH_MAX };
            let count = if all.len() > most + 1 { most } else { all.len() };
            let rest = all.split_off(count);
            out.extend(all.into_iter().map(|it| self.finding(it)));
            out.extend(self.more(&rest, direction));
        }
    }

    fn differences(&self) -> Vec<Difference> {
        let whole = |before: Option<&str>, after: Option<&str>, direction| Difference {
            part: String::new(),
            commands: Vec::new(),
            concept: Concept::Program,
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
            direction,
            row: Row::default(),
            lowers: false,
        };
        let direction =
            if self.is_one_sided() { Direction::Same } else { Direction::narrower_if(false) };
        match (self.old, self.new) {
            (Some(old), Some(new)) => {
                let floors = [self.sides[0].floors, self.sides[1].floors];
                let found = differences(old.node, new.node, floors);
                if !found.is_empty() {
                    return found;
                }
                vec![whole(Some("one form"), Some("another form"), Direction::Same)]
            }
            (None, new) => vec![whole(None, new.map(|_| ""), direction)],
            (old, None) => vec![whole(old.map(|_| ""), None, direction)],
        }
    }

    fn is_one_sided(&self) -> bool {
        self.sides.iter().any(|side| side.known.is_none())
    }

    /// Returns the direction of a difference for callers, with the command or the call that shows it.
    fn judged(&self, mut difference: Difference) -> Judged {
        let by = match difference.direction {
            Direction::NotProved => None,
            Direction::Narrower => self.reversal().or_else(|| reversal::of_tiers(self.shown)),
            Direction::Same => self.reversal(),
        };
        if by.is_some() {
            difference.direction = Direction::NotProved;
        }
        let mut judged = Judged { difference, by, witness: None, flip: None };
        let Some(name) = self.names.first() else { return judged };
        if judged.difference.direction == Direction::NotProved {
            let nodes = [self.old, self.new].map(|program| program.map(|it| it.node));
            let groups = commands::of(name, nodes, &judged.difference);
            let groups = || groups.iter().cloned();
            judged.witness = self.judges.and_then(|it| groups().find_map(|group| it.show(group)));
            if judged.witness.is_none() {
                judged.flip = self.flip(name, groups().flatten());
            }
        }
        judged
    }

    /// Returns a call of the program that its other effects let pass, if a rule is about them.
    fn flip(&self, name: &str, commands: impl Iterator<Item = String>) -> Option<Flip> {
        let program = self.program();
        let rules: Vec<&Rule> = reversal::about(self.shown, &program).collect();
        if rules.is_empty() && reversal::of_tiers(self.shown).is_none() {
            return None;
        }
        let calls = candidates::of_program(name, rules);
        self.shown.loosened(calls.into_iter().chain(commands.map(|it| Candidate::command(&it))))
    }

    /// Returns the rule by which a caller may do more by other effects of the program.
    fn reversal(&self) -> Option<String> {
        let (program, old, new) = (self.program(), self.old?.node, self.new?.node);
        let is_other = program.is_renamed || old != new && effects::of(old) != effects::of(new);
        is_other.then(|| reversal::of_effects(self.shown, &program)).flatten()
    }

    fn program(&self) -> reversal::Program<'_> {
        let sides = [self.old, self.new].map(|program| program.map(|it| it.written));
        let names = sides.map(|node| -> BTreeSet<&str> {
            node.into_iter().flat_map(|node| &node.names).map(String::as_str).collect()
        });
        reversal::Program {
            is_renamed: names[0] != names[1],
            names: names.iter().flatten().copied().collect(),
            runs_others: sides.into_iter().flatten().any(effects::runs_others),
        }
    }

    fn finding(&self, judged: &Judged) -> Finding {
        let Difference { part, before, after, direction, row, .. } = &judged.difference;
        let change = match (self.old, self.new) {
            (None, _) => Change::Added,
            (_, None) => Change::Removed,
            _ => Change::Value { before: before.clone(), after: after.clone() },
        };
        let mut finding = self.new_finding(change, *direction).part(part.as_str());
        let reason = self.new.and_then(|new| {
            let name = new.written.names.first()?;
            self.reasons.of_program(name, &row.words(new.written))
        });
        if *direction == Direction::NotProved {
            finding = finding.because(reason);
        }
        let floor = |side: &Side<'_>| side.floors.tier(Floor::UnknownProgram).number();
        let meaning = match (self.old, self.new) {
            (None, _) if self.is_one_sided() => Some("the policy judges by it".to_owned()),
            (_, None) if self.is_one_sided() => Some("no command is judged by it".to_owned()),
            (None, _) => Some(format!(
                "it is known, and no longer counts as an unknown program, tier {}",
                floor(&self.sides[0])
            )),
            (_, None) => {
                Some(format!("it counts as an unknown program, tier {}", floor(&self.sides[1])))
            }
            _ => None,
        };
        if let Some(meaning) = meaning {
            finding = finding.meaning(meaning);
        }
        finding.also_by(judged.by.as_deref());
        if *direction == Direction::NotProved {
            finding = judged.show(finding);
        }
        let at = |program: Option<&Program<'_>>, row: Option<&Row>| {
            program.map(|program| {
                let line = row.and_then(|row| line_of(program.written, row));
                Place { line: line.unwrap_or(program.at.line), ..program.at.clone() }
            })
        };
        let (of_a, of_b) = (at(self.old, None), at(self.new, Some(row)));
        finding.at(of_a.as_ref(), of_b.as_ref())
    }

    /// Returns a finding about the remaining differences.
    fn more(&self, rest: &[&Judged], direction: Direction) -> Option<Finding> {
        let first = rest.first()?;
        let names: Vec<String> =
            rest.iter().take(NAMES_MAX).map(|it| named(&it.difference.part)).collect();
        let more = match rest.len().saturating_sub(NAMES_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let change = Change::Value {
            before: Some(format!("{} facts", rest.len())),
            after: Some("changed".into()),
        };
        let at = |program: Option<&Program<'_>>| program.map(|program| program.at.clone());
        let finding = self
            .new_finding(change, direction)
            .part("further facts")
            .meaning(format!("{}{more}", names.join(", ")))
            .at(at(self.old).as_ref(), at(self.new).as_ref());
        Some(match direction {
            Direction::NotProved => first.show(finding),
            Direction::Same | Direction::Narrower => finding,
        })
    }

    fn new_finding(&self, change: Change, direction: Direction) -> Finding {
        // Words leave out details; acceptance covers all of both sides.
        let debug =
            |program: Option<&Program<'_>>| format!("{:?}", program.map(|program| program.node));
        Finding::new(Area::Authority, Kind::Program, self.names.join(", "), change)
            .direction(direction)
            .content(debug(self.old).as_bytes(), debug(self.new).as_bytes())
    }
}

/// Returns a part of a program, shortened.
fn named(part: &str) -> String {
    let short: String = part.chars().take(PART_CHARS_MAX).collect();
    let more = if short.len() < part.len() { "…" } else { "" };
    format!("`{short}{more}`")
}

/// Returns the line of a row.
fn line_of(program: &Node, row: &Row) -> Option<u32> {
    let mut node = program;
    for sub in &row.subs {
        node = node.subs.get(*sub)?;
    }
    let line = match row.part {
        RowPart::Node => node.place.line,
        RowPart::Options(at) => {
            let Flag { place, .. } = node.flags.get(at)?;
            place.line
        }
        RowPart::Operand(at) => {
            let Operand { place, .. } = node.operands.get(at)?;
            place.line
        }
        RowPart::Form(at) => {
            let Form { place, .. } = node.forms.get(at)?;
            place.line
        }
    };
    Some(line.into())
}

/// Compares the harmless variables.
fn variables(
    sides: &[Side<'_>; 2],
    reasons: &Reasons<'_>,
    judges: Option<&Judges<'_>>,
    shown: &Shown<'_>,
    out: &mut Findings,
) {
    let variables = |side: &Side<'_>| -> BTreeSet<String> {
        side.knowledge().into_iter().flat_map(|known| known.environment.clone()).collect()
    };
    let [a, b] = sides;
    let (before, after) = (variables(a), variables(b));
    let finding = |name: &str, change, is_narrower| {
        Finding::new(Area::Authority, Kind::Variable, name, change)
            .direction(Direction::narrower_if(is_narrower))
    };
    for name in after.difference(&before) {
        let set = name.replace('*', "X");
        let commands = [format!("{set}=x git status"), format!("export {set}=x; git status")];
        let added = finding(name, Change::Added, false).meaning("commands may set it at tier 0");
        let witness = judges.and_then(|judges| judges.show(commands));
        out.push(added.because(reasons.of("variable", name)).shown_by(witness));
    }
    for name in before.difference(&after) {
        let floor = b.floors.tier(Floor::OpaqueCode).number();
        let removed = finding(name, Change::Removed, true);
        let set = name.replace('*', "X");
        let calls = [Candidate::command(&format!("{set}=x git status"))];
        let removed = removed.meaning(format!("commands that set it are at least tier {floor}"));
        out.push(shown.raised(removed, reversal::of_tiers(shown), calls));
    }
}
