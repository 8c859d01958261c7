//! Forms: the facts of a command under conditions. The first that holds counts, else the command.
//!
//! A command in one form before may be in another one after, so each pair of forms that can count
//! for the same command is compared, including new forms above others and lost ones.

use relay_policy::facts::{Form, Operand, Output, Role};
use relay_policy::tier::{Floor, Tier};

use super::difference::{Concept, Difference, Row, RowPart, form_words, located};
use super::operand;
use super::side::{Command, Comparison};
use crate::direction::Direction;

/// A command in one of its forms.
struct Sheet<'k> {
    tier: Option<Tier>,
    operands: &'k [Operand],
    roles: &'k [(String, Role)],
    output: Output,
    stdin: Role,
    writes: &'k str,
}

impl<'k> Sheet<'k> {
    /// Returns a form of a command; `None` is the bare command.
    fn of(command: &Command<'k>, form: Option<&'k Form>) -> Self {
        let node = command.node;
        let Some(form) = form else {
            let (output, stdin) = (node.output, node.stdin);
            let (operands, writes) = (node.operands.as_slice(), node.writes.as_str());
            return Self { tier: node.tier, operands, roles: &[], output, stdin, writes };
        };
        Self {
            tier: Some(form.tier),
            operands: if form.operands.is_empty() { &node.operands } else { &form.operands },
            roles: &form.roles,
            output: form.output.unwrap_or(node.output),
            stdin: form.stdin.unwrap_or(node.stdin),
            writes: if form.writes.is_empty() { &node.writes } else { &form.writes },
        }
    }

    /// Returns its facts besides the tier.
    fn words(&self) -> String {
        let Self { tier: _, operands, roles, output, stdin: _, writes } = self;
        let roles = roles.iter().map(|(name, role)| format!("{name} {}", role.word()));
        let operands = operands.iter().map(|operand| operand.role.word().to_owned());
        let words: Vec<String> = operands.chain(roles).collect();
        let words = if words.is_empty() { "no operands".into() } else { words.join(" ") };
        let writes = if writes.is_empty() { String::new() } else { format!(", writes {writes}") };
        format!("{words}, output {}{writes}", output.word())
    }

    /// Returns the direction of a command that changes from this to `after`.
    fn direction(&self, after: &Sheet<'_>, all: &Comparison<'_>) -> Direction {
        let Self { tier, operands, roles, output, stdin, writes } = self;
        let is_same = output == &after.output && stdin == &after.stdin && roles == &after.roles;
        let of_writes = Direction::proved(
            *writes == after.writes || writes.is_empty(),
            *writes == after.writes,
        );
        tier_direction(*tier, after.tier, all)
            .and(operand::direction(operands, after.operands, all))
            .and(Direction::proved(is_same, is_same))
            .and(of_writes)
    }
}

/// Returns the direction of a command's tier; an absent tier is unknown, and lifts the limit.
pub(super) fn tier_direction(
    before: Option<Tier>,
    after: Option<Tier>,
    all: &Comparison<'_>,
) -> Direction {
    match (before, after) {
        (Some(before), Some(after)) => Direction::of_demand(&before, &after),
        (None, None) => Direction::Same,
        (Some(before), None) => {
            Direction::narrower_if(before <= all.after.tier(Floor::UnknownProgram))
        }
        (None, Some(_)) => Direction::NotProved,
    }
}

/// Returns whether each form of a command is at most as high as the later ones and the command.
pub(super) fn only_lower(command: &Command<'_>, all: &Comparison<'_>) -> bool {
    let forms = &command.node.forms;
    let later = |at: usize| forms.iter().skip(at + 1).map(Some).chain([None]);
    forms.iter().enumerate().all(|(at, form)| {
        let sheet = Sheet::of(command, Some(form));
        later(at)
            .all(|other| sheet.direction(&Sheet::of(command, other), all) != Direction::NotProved)
    })
}

/// Compares the forms of a command.
pub(super) fn compare<'k>(a: &Command<'k>, b: &Command<'k>, all: &mut Comparison<'k>) {
    let (old, new) = (a.node.forms.as_slice(), b.node.forms.as_slice());
    let mut found = Vec::new();
    let after = new.iter().map(Some).enumerate().chain([(new.len(), None)]);
    for (at, form) in after {
        let sheet = Sheet::of(b, form);
        let earlier = new.get(..at).unwrap_or(new);
        for before in possible(old, form, earlier) {
            if is_compared_elsewhere(before, form, a, b) {
                continue;
            }
            let direction = Sheet::of(a, before).direction(&sheet, all);
            if direction != Direction::Same {
                found.push((at, before, form, direction));
            }
        }
    }
    // Each new or changed form is reported once, and each lost one once.
    let mut said: Vec<(RowPart, String)> = Vec::new();
    found.sort_by_key(|(.., direction)| *direction);
    for (at, before, form, direction) in found {
        let (part, words) = match (form, before) {
            (Some(form), _) => (RowPart::Form(at), form_words(form)),
            (None, Some(before)) => (RowPart::Node, form_words(before)),
            (None, None) => continue,
        };
        if said.contains(&(part, words.clone())) {
            continue;
        }
        said.push((part, words.clone()));
        let (sheet_a, sheet_b) = (Sheet::of(a, before), Sheet::of(b, form));
        // The other words show why it loosens where the tiers stay the same.
        let tiers = tier_direction(sheet_a.tier, sheet_b.tier, all);
        let has_other_words = tiers == Direction::Same
            || (direction == Direction::NotProved && tiers != Direction::NotProved);
        let described = |sheet: &Sheet<'_>, form: Option<&Form>| {
            let what = if form.is_some() { "" } else { " without this form" };
            let tier = format!("tier {}{what}", tier_word(sheet.tier));
            if has_other_words { format!("{tier}, {}", sheet.words()) } else { tier }
        };
        let lowers = direction == Direction::NotProved && form.is_some();
        all.out.push(Difference {
            part: located(&b.names, &words),
            commands: b.called(),
            concept: Concept::Form(examples(before, form)),
            before: Some(described(&sheet_a, before)),
            after: Some(described(&sheet_b, form)),
            direction,
            row: Row::part(&b.row, part),
            lowers,
        });
    }
}

/// Returns the forms before that a command in `form` may have had: `None` is the command itself, on
/// either side.
fn possible<'k>(old: &'k [Form], form: Option<&Form>, earlier: &[Form]) -> Vec<Option<&'k Form>> {
    let certain = form.and_then(|form| old.iter().position(|it| implies(form, it)));
    let count = certain.map_or(old.len(), |at| at + 1);
    // A command in such a form would now be in an earlier one.
    let is_left = |it: &&Form| !earlier.iter().any(|earlier| implies(it, earlier));
    let mut possible: Vec<Option<&Form>> =
        old.iter().take(count).filter(is_left).map(Some).collect();
    if certain.is_none() {
        possible.push(None);
    }
    possible
}

/// Returns whether two forms differ only in parts compared for the whole command.
fn is_compared_elsewhere(
    before: Option<&Form>,
    after: Option<&Form>,
    a: &Command<'_>,
    b: &Command<'_>,
) -> bool {
    match (before, after) {
        (None, None) => true,
        (Some(before), Some(after)) => {
            let is_inherited = |form: &Form| {
                form.operands.is_empty()
                    && form.writes.is_empty()
                    && form.output.is_none()
                    && form.stdin.is_none()
            };
            before.tier == after.tier
                && before.roles == after.roles
                && (is_inherited(before) && is_inherited(after)
                    || says_the_same(before, after) && is_base_equal(a, b))
        }
        (None, Some(_)) | (Some(_), None) => false,
    }
}

fn says_the_same(before: &Form, after: &Form) -> bool {
    let Form { operands, output, stdin, writes, .. } = after;
    before.operands == *operands
        && before.output == *output
        && before.stdin == *stdin
        && before.writes == *writes
}

fn is_base_equal(a: &Command<'_>, b: &Command<'_>) -> bool {
    let (a, b) = (a.node, b.node);
    a.operands == b.operands && a.output == b.output && a.stdin == b.stdin && a.writes == b.writes
}

/// Returns whether every command in one form is in the other one too.
fn implies(form: &Form, other: &Form) -> bool {
    let is_subset = |few: &[String], many: &[String]| few.iter().all(|name| many.contains(name));
    let has = other.has.is_empty() || !form.has.is_empty() && is_subset(&form.has, &other.has);
    let matching = other.matching.is_empty()
        || !form.matching.is_empty() && is_subset(&form.matching, &other.matching);
    has && matching
        && is_subset(&other.without, &form.without)
        && form.least >= other.least
        && form.most <= other.most
}

fn tier_word(tier: Option<Tier>) -> String {
    tier.map_or("unknown".into(), |tier| tier.number().to_string())
}

/// Returns the words of a command that the forms distinguish.
fn examples(before: Option<&Form>, after: Option<&Form>) -> Vec<String> {
    let mut words = vec![String::new()];
    for form in [after, before].into_iter().flatten() {
        let options: Vec<&str> = form.has.iter().map(String::as_str).collect();
        let mut operands: Vec<String> = form.matching.clone();
        if operands.is_empty() {
            operand::examples(&form.operands, &mut operands);
        }
        operands.push("x".into());
        let count = usize::from(form.least).clamp(1, 4);
        for option in options.iter().copied().chain([""]) {
            words.push(option.to_owned());
            for operand in &operands {
                let word = crate::witness::quoted(&operand.replace('*', "x"));
                words.push(format!("{option} {}", vec![word; count].join(" ")));
            }
        }
    }
    words
}
