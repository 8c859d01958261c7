//! How commands are judged: floors, paths and facts about programs.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt, PathKind, Place, Policy, Setting};
use relay_policy::facts::{Facts, Knowledge, Node, SHIPPED};
use relay_policy::tier::Floors;

use crate::finding::{Area, Change, Direction, Finding, Findings, Kind};

/// Compares how two bundles judge commands.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    let (before, after) = (a.policy(), b.policy());
    let places = (before.map(|policy| &policy.at), after.map(|policy| &policy.at));
    match (before, after) {
        (None, None) => return Ok(()),
        (None, Some(_)) => out.push(
            finding(Kind::Policy, "", Change::Added, Direction::Tightens)
                .at(places.0, places.1)
                .meaning("commands are judged, and the bundle carries the facts about programs"),
        ),
        (Some(_), None) => out.push(
            finding(Kind::Policy, "", Change::Removed, Direction::Loosens)
                .at(places.0, places.1)
                .meaning("no command is judged"),
        ),
        (Some(_), Some(_)) => {}
    }
    floors(before, after, places, out);
    paths(before, after, out);
    if a.facts()? != b.facts()? {
        facts(knowledge(a)?.as_ref(), knowledge(b)?.as_ref(), out);
    }
    Ok(())
}

fn finding(kind: Kind, name: &str, change: Change, direction: Direction) -> Finding {
    Finding::new(Area::Authority, kind, name, change).direction(direction)
}

fn floors(
    a: Option<&Policy>,
    b: Option<&Policy>,
    at: (Option<&Place>, Option<&Place>),
    out: &mut Findings,
) {
    let tiers = |policy: Option<&Policy>| match policy {
        Some(policy) => policy.floors.clone(),
        None => Floors::each(|floor| Setting::default_of(Floors::default().tier(floor))),
    };
    let (a, b) = (tiers(a), tiers(b));
    for (floor, a) in a.iter() {
        let b = b.of(floor);
        let direction = if b.value < a.value { Direction::Loosens } else { Direction::Tightens };
        out.setting(
            Some(a),
            Some(b),
            |tier| tier.number().to_string(),
            |change| {
                finding(Kind::Policy, "", change, direction)
                    .part(format!("floor {}", floor.name()))
                    .at(at.0, at.1)
            },
        );
    }
}

/// What is said of a pattern of paths.
struct Said<'p> {
    except: BTreeSet<&'p str>,
    at: &'p Place,
}

fn paths(a: Option<&Policy>, b: Option<&Policy>, out: &mut Findings) {
    let (a, b) = (said(a), said(b));
    let keys: BTreeSet<_> = a.keys().chain(b.keys()).collect();
    for key in keys {
        let (kind, pattern) = key;
        let (before, after) = (a.get(key), b.get(key));
        // What is scratch counts less, all else more.
        let (more, less) = match kind {
            PathKind::Scratch => (Direction::Loosens, Direction::Tightens),
            PathKind::Critical | PathKind::Admits | PathKind::Secret => {
                (Direction::Tightens, Direction::Loosens)
            }
        };
        let excepted = |said: &Said<'_>| {
            let list: Vec<&str> = said.except.iter().copied().collect();
            if list.is_empty() { "no exception".to_owned() } else { list.join(" ") }
        };
        let (change, direction) = match (before, after) {
            (Some(a), Some(b)) if a.except == b.except => continue,
            (Some(a), Some(b)) => {
                let change = Change::Value { before: Some(excepted(a)), after: Some(excepted(b)) };
                let direction = if a.except.is_superset(&b.except) {
                    more
                } else if a.except.is_subset(&b.except) {
                    less
                } else {
                    Direction::Changes
                };
                (change, direction)
            }
            (Some(_), None) => (Change::Removed, less),
            (None, _) => (Change::Added, more),
        };
        out.push(
            finding(Kind::Path, pattern, change, direction)
                .part(kind.word())
                .at(before.map(|said| said.at), after.map(|said| said.at)),
        );
    }
}

fn said(policy: Option<&Policy>) -> BTreeMap<(PathKind, &str), Said<'_>> {
    let rows = policy.into_iter().flat_map(|policy| &policy.paths);
    let each = rows.flat_map(|row| {
        let except: BTreeSet<&str> = row.except.iter().map(String::as_str).collect();
        let said =
            move |pattern| ((row.kind, pattern), Said { except: except.clone(), at: &row.at });
        row.patterns.iter().map(String::as_str).map(said)
    });
    each.collect()
}

/// Reads the facts of a bundle; `None` if it has none.
fn knowledge(bundle: &Bundle) -> Result<Option<Knowledge>, Corrupt> {
    let table = bundle.facts()?;
    if table.is_empty() {
        return Ok(None);
    }
    let damaged = |_| Corrupt::Record { section: "facts", what: "table of facts" };
    Facts::open(table).map(|facts| Some(facts.knowledge())).map_err(damaged)
}

/// Compares facts. Where one side has none, the shipped facts of the other are no difference.
fn facts(a: Option<&Knowledge>, b: Option<&Knowledge>, out: &mut Findings) {
    let is_one_sided = a.is_none() || b.is_none();
    let (before, after) = (programs(a, is_one_sided), programs(b, is_one_sided));
    let names: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
    for name in names {
        let (before, after) = (before.get(name), after.get(name));
        let at = [before, after].map(|known| known.map(|known| &known.at));
        let debug = |known: Option<&Program>| format!("{:?}", known.map(|known| &known.node));
        if debug(before) == debug(after) {
            continue;
        }
        let (change, direction, meaning) = match (before, after) {
            (None, _) => (
                Change::Added,
                Direction::Changes,
                "it is known, and no longer counts as an unknown program",
            ),
            (_, None) => (Change::Removed, Direction::Changes, "it counts as an unknown program"),
            (Some(a), Some(b)) => {
                let change = Change::Value { before: Some(shown(a)), after: Some(shown(b)) };
                // Of a part it is not said which commands it concerns.
                let direction = match (a.node.tier, b.node.tier) {
                    (Some(a), Some(b)) if b < a => Direction::Loosens,
                    _ => Direction::Changes,
                };
                (change, direction, "what its commands do is said in another way")
            }
        };
        out.push(
            finding(Kind::Program, name, change, direction)
                .meaning(meaning)
                .content(debug(before).as_bytes(), debug(after).as_bytes())
                .at(at[0], at[1]),
        );
    }
    if is_one_sided {
        return;
    }
    let variables = |known: Option<&Knowledge>| -> BTreeSet<String> {
        known.into_iter().flat_map(|known| known.environment.clone()).collect()
    };
    let (before, after) = (variables(a), variables(b));
    for name in after.difference(&before) {
        let added = finding(Kind::Variable, name, Change::Added, Direction::Loosens);
        out.push(added.meaning("commands may set it at tier 0"));
    }
    for name in before.difference(&after) {
        let removed = finding(Kind::Variable, name, Change::Removed, Direction::Tightens);
        out.push(removed.meaning("commands that set it are at least tier 2"));
    }
    let words = |known: Option<&Knowledge>| {
        let known = known.cloned().unwrap_or_default().without_places();
        format!("{:?}", known.words)
    };
    if words(a) != words(b) {
        let change = Change::Value { before: None, after: None };
        out.push(
            finding(Kind::Policy, "", change, Direction::Changes)
                .part("words of languages")
                .content(words(a).as_bytes(), words(b).as_bytes())
                .meaning("code in one line is read with other words"),
        );
    }
}

/// A program, with all of its names but one.
struct Program {
    node: Node,
    at: Place,
}

fn programs(known: Option<&Knowledge>, own_only: bool) -> BTreeMap<&str, Program> {
    let Some(known) = known else { return BTreeMap::new() };
    let mut programs = BTreeMap::new();
    for program in &known.programs {
        let file = known.files.get(usize::from(program.place.file));
        let file = file.map_or("", String::as_str);
        if own_only && file.starts_with(SHIPPED) {
            continue;
        }
        let at = Place { file: file.to_owned(), line: program.place.line.into(), column: 1 };
        let node = Node { names: Vec::new(), ..program.clone().without_places() };
        for name in &program.names {
            programs.insert(name.as_str(), Program { node: node.clone(), at: at.clone() });
        }
    }
    programs
}

/// Returns what a program is, in a line.
fn shown(program: &Program) -> String {
    let Node { tier, flags, forms, subs, .. } = &program.node;
    let tier = tier.map_or("no tier".to_owned(), |tier| format!("tier {}", tier.number()));
    let options: usize = flags.iter().map(|flag| flag.names.len()).sum();
    let count = |number: usize, what: &str| {
        format!("{number} {what}{}", if number == 1 { "" } else { "s" })
    };
    let parts =
        [count(options, "option"), count(forms.len(), "form"), count(subs.len(), "sub-command")];
    format!("{tier}, {}", parts.join(", "))
}
