//! The judging of commands: a project's changes to the shipped policy, and all of it for people.

use std::collections::BTreeSet;

use crate::shipped;
use relay_bundle::{Bundle, Corrupt, Floors, Policy, Setting};
use relay_policy::classify::Rules;
use relay_policy::facts::{Facts, Node, SHIPPED};
use relay_policy::tier::{Floor, Tier};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::size::{counted, grouped};
use crate::answer::table::{self, number, text};

/// The facts about programs, in short.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Known {
    /// The number of programs.
    programs: usize,
    /// The number of their names.
    names: usize,
    /// The size of the table in bytes.
    bytes: usize,
    /// The programs that the project describes, sorted by name.
    pub(crate) described: Vec<Described>,
    /// The variables that the project declares harmless, sorted.
    environment: Vec<String>,
}

/// A program that the project describes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Described {
    /// Its names.
    names: Vec<String>,
    /// Its tier with any options; `null` if its facts leave it open, and it counts as unknown.
    tier: Option<u8>,
    /// Its doing, as the end of a sentence about it: `deploys a service`.
    says: String,
    /// Whether the shipped facts describe it too, which these replace.
    replaces: bool,
    /// Where it was declared: `file:line`.
    at: String,
}

/// A floor that differs from the shipped one.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ChangedFloor {
    /// Its name.
    floor: &'static str,
    /// Its tier.
    tier: u8,
    /// The shipped tier.
    shipped: u8,
}

/// A project's own facts.
pub(crate) struct OwnFacts {
    /// The programs, in the order of the text, each with the file that describes it.
    pub(crate) programs: Vec<(Node, String)>,
    /// The variables, sorted.
    pub(crate) environment: BTreeSet<String>,
}

impl OwnFacts {
    /// Takes the unshipped facts out of all.
    pub(crate) fn of(facts: &Facts<'_>) -> Self {
        let files = facts.files();
        let own = |program: Node| {
            let file = *files.get(usize::from(program.place.file))?;
            Some((program, file.to_owned()))
        };
        let programs = facts.programs_of(|file| !file.starts_with(SHIPPED));
        let mut programs: Vec<_> = programs.into_iter().filter_map(own).collect();
        programs.sort_by_key(|(program, _)| program.place);
        let shipped = Facts::reopen(shipped::facts()).ok();
        let shipped: BTreeSet<&str> = shipped.iter().flat_map(Facts::environment).collect();
        let environment = facts.environment().filter(|name| !shipped.contains(name));
        Self { programs, environment: environment.map(str::to_owned).collect() }
    }
}

impl Known {
    /// Reads the facts of a bundle, whose table has `bytes` bytes.
    pub(crate) fn of(facts: &Facts<'_>, bytes: usize) -> Self {
        let (programs, names) = facts.program_counts();
        let own = OwnFacts::of(facts);
        let shipped = Facts::reopen(shipped::facts()).ok();
        let is_shipped = |name: &String| {
            shipped.as_ref().is_some_and(|facts| facts.program(name.as_bytes()).is_some())
        };
        let described = |(program, file): (Node, String)| Described {
            replaces: program.names.iter().any(is_shipped),
            at: format!("{file}:{}", program.place.line),
            names: program.names,
            tier: program.tier.map(Tier::number),
            says: program.says,
        };
        let mut described: Vec<Described> = own.programs.into_iter().map(described).collect();
        described.sort_by(|a, b| a.names.cmp(&b.names));
        Self {
            programs,
            names,
            bytes,
            described,
            environment: own.environment.into_iter().collect(),
        }
    }
}

impl ChangedFloor {
    /// Returns the floors that differ from the shipped ones.
    pub(crate) fn all(rules: &Rules) -> Vec<Self> {
        let shipped = Rules::default().floors;
        let changed = |floor: &Floor| {
            let (tier, shipped) = (rules.floors.tier(*floor), shipped.tier(*floor));
            (tier != shipped).then(|| Self {
                floor: floor.name(),
                tier: tier.number(),
                shipped: shipped.number(),
            })
        };
        Floor::ALL.iter().filter_map(changed).collect()
    }

    /// Returns it for people.
    fn line(&self) -> String {
        format!("{} {} (shipped {})", self.floor, self.tier, self.shipped)
    }
}

/// Returns one line with the floors that differ from the shipped ones, and the number of programs
/// that the project describes.
pub(crate) fn in_short(floors: &[ChangedFloor], described: usize) -> String {
    let floors = match floors {
        [] => "as shipped".to_owned(),
        floors => floors.iter().map(ChangedFloor::line).collect::<Vec<_>>().join(", "),
    };
    let described = match described {
        0 => "no program".to_owned(),
        programs => counted(programs, "program"),
    };
    format!("floors {floors}; {described} described by the project")
}

/// Returns floors, paths and facts as text for people.
pub(crate) fn draw(
    bundle: &Bundle,
    policy: &Policy,
    known: &Known,
    width: usize,
) -> Result<String, Corrupt> {
    let Known { programs, names, bytes, described, environment } = known;
    let rows =
        rules(bundle, policy)?.into_iter().map(|Rule { name, says, except }| match &*except {
            "" => (name, says),
            except => (name, format!("{says} except {except}")),
        });
    let mut facts: Vec<_> = rows.collect();
    let programs = counted(*programs, "program");
    let size = format!("{programs} with {}, {} bytes", counted(*names, "name"), grouped(*bytes));
    facts.push(("facts", size));
    if !environment.is_empty() {
        facts.push(("environment", environment.join(" ")));
    }
    let mut page = table::facts(&facts, width);
    if !described.is_empty() {
        let rows = described.iter().map(|program| {
            let Described { names, tier, says, replaces, at } = program;
            vec![
                names.join(" "),
                tier.map_or_else(|| "unknown".into(), |tier| tier.to_string()),
                says.clone(),
                if *replaces { "shipped facts".into() } else { String::new() },
                at.clone(),
            ]
        });
        let columns =
            [text("program"), number("tier"), text("says"), text("replaces"), text("declared at")];
        page.push('\n');
        page.push_str(&table::draw(&columns, rows.collect(), width));
    }
    Ok(page)
}

/// A line of a policy.
pub(crate) struct Rule {
    /// Its word in the project.
    pub(crate) name: &'static str,
    /// The words after it.
    pub(crate) says: String,
    /// The excepted paths, if any.
    pub(crate) except: String,
}

/// Returns everything in a policy besides the facts, line by line.
pub(crate) fn rules(bundle: &Bundle, policy: &Policy) -> Result<Vec<Rule>, Corrupt> {
    // Destructured in full, so that a new field of a policy asks to be shown.
    let Policy { mode, floors, paths, classes, scopes, tools, facts: _, at: _ } = policy;
    let mode = Rule { name: "mode", says: mode.value.word().to_owned(), except: String::new() };
    let floors = Rule { name: "floors", says: self::floors(floors), except: String::new() };
    let paths = paths.iter().map(|row| Rule {
        name: row.kind.word(),
        says: row.patterns.join(" "),
        except: row.except.join(" "),
    });
    let classes = classes.iter().map(|row| Rule {
        name: "class",
        says: format!("{}: {}", row.name, row.patterns.join(" ")),
        except: row.except.join(" "),
    });
    let with_mode = scopes.iter().enumerate().filter_map(|(number, scope)| {
        let mode = scope.mode.as_ref()?.value.word();
        let says = format!("{}: {mode}", relay_diff::scope_name(scopes, number));
        Some(Rule { name: "scope", says, except: String::new() })
    });
    let tools = tools.iter().map(|row| {
        let effects = row.arguments.iter();
        let effects = effects.map(|it| format!("{} {}", it.name, it.effect.word()));
        let effects = effects.collect::<Vec<_>>().join(", ");
        let says = format!("{}: {effects}", row.patterns.join(" "));
        Rule { name: "other", says, except: String::new() }
    });
    let mut lines: Vec<Rule> = [mode, floors]
        .into_iter()
        .chain(paths)
        .chain(classes)
        .chain(with_mode)
        .chain(tools)
        .collect();
    for rule in bundle.rules() {
        let rule = rule?.to_owned()?;
        let scope = rule.scope.map(|number| relay_diff::scope_name(scopes, number as usize));
        let scope = scope.map(|scope| format!(" for {scope}")).unwrap_or_default();
        let tier = rule.tier.map(|tier| format!(" {}", tier.number())).unwrap_or_default();
        let observe = if rule.observe { " (only observed)" } else { "" };
        let because = rule.because.as_ref().map(|it| format!(" because {}", it.value));
        let (name, because) = (&rule.name, because.unwrap_or_default());
        let selectors = relay_diff::selectors(&rule);
        lines.push(Rule {
            name: rule.kind.word(),
            says: format!("{name}{tier}{scope}{observe}: {selectors}{because}"),
            except: String::new(),
        });
    }
    Ok(lines)
}

/// Returns the floors on one line.
fn floors(floors: &Floors<Setting<Tier>>) -> String {
    let each =
        floors.iter().map(|(floor, tier)| format!("{} {}", floor.name(), tier.value.number()));
    each.collect::<Vec<_>>().join(", ")
}
