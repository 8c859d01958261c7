//! A difference, in the form for reviewers.

use std::cmp::Reverse;

use relay_bundle::{Digest, Place, Setting};
use serde::Serialize;

use crate::direction::Direction;
use crate::flip::Flip;
use crate::text::{Hunk, take_back_a_rule};
use crate::witness::Witness;

/// Bytes of text for one token, as an estimate for English.
pub const TOKEN_BYTES: i64 = 4;

/// The part of a finding about a bundle's environment.
pub(crate) const ENVIRONMENT: &str = "environment";
/// The part of a finding about the role that contains a role.
pub(crate) const PARENT: &str = "parent";

/// The area of a difference, the most dangerous first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// The authority of agents.
    Authority,
    /// The texts that agents read.
    Contexts,
    /// The names, schemas and versions that clients see.
    Surface,
}

/// The kind of thing that differs, causes before what may follow from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The gate.
    Gate,
    /// How commands are judged.
    Policy,
    /// A rule of the policy.
    Rule,
    /// The callers and hosts of rules and of a mode.
    Scope,
    /// The kinds of paths.
    Path,
    /// The facts about a program.
    Program,
    /// A harmless variable.
    Variable,
    /// A role.
    Role,
    /// The role of a user.
    User,
    /// The role of a group.
    Group,
    /// The role of anyone.
    Anyone,
    /// A tenant.
    Tenant,
    /// A tool.
    Tool,
    /// How hosts are reached and checked.
    Hosts,
    /// A host.
    Host,
    /// An `allow-secret`.
    Suppression,
    /// An `allow-invisible`.
    Invisible,
    /// An `allow-mark`.
    Mark,
    /// An `expect`.
    Expectation,
    /// A prompt.
    Prompt,
    /// An agent skill.
    AgentSkill,
    /// A skill.
    Skill,
    /// A message of the server itself.
    Message,
    /// The prompts that briefings send.
    Briefings,
    /// The instructions, where audiences have their own.
    Instructions,
    /// The index of the prompts that clients get before any briefing.
    Index,
    /// The skills that calls are given.
    Calls,
    /// A resource.
    Resource,
    /// A resource whose URI has variables.
    Template,
    /// The project itself.
    Project,
    /// Whose signatures servers accept: the trust file.
    Trust,
    /// A key that may sign.
    Key,
    /// A setting of a server.
    Server,
}

/// The thing that differs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Subject {
    /// Its kind.
    pub kind: Kind,
    /// Its name; empty for what there is only one of.
    pub name: String,
}

/// The content of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It has another name; everything else is equal.
    Renamed {
        /// The name before.
        before: String,
    },
    /// It has another value.
    Value {
        /// The value before, if there was one.
        before: Option<String>,
        /// The value now, if there is one.
        after: Option<String>,
    },
    /// It has another text.
    Text {
        /// Where the texts differ, in the order of the text.
        hunks: Vec<Hunk>,
    },
    /// Other callers see it.
    Readers {
        /// The callers that see it only now, by tenant and role.
        gained: Vec<String>,
        /// The callers that saw it only before.
        lost: Vec<String>,
    },
    /// Audiences get other instructions when they connect.
    Instructions {
        /// Each, the one whose size differs most first. Those that differ alike are one.
        audiences: Vec<Instructed>,
        /// The prompts whose change this may follow from.
        causes: Vec<String>,
    },
    /// Calls are given other skills.
    Calls {
        /// The calls that differ alike, those together; the one whose size differs most first.
        /// Empty if the calls that were tried agree, and others were left untried.
        groups: Vec<Called>,
    },
    /// Briefings bring other prompts.
    Briefings {
        /// Bytes of the prompts that every briefing sends.
        always: [usize; 2],
        /// Bytes of a briefing's budget.
        budget: [usize; 2],
        /// With how many of the tags that were tried a prompt is lost that came in full.
        losing: usize,
        /// With how many of them another prompt comes in full.
        gaining: usize,
        /// Some of the tags, with the prompts that are lost or gained.
        examples: Vec<Lost>,
        /// The prompts whose change this follows from.
        causes: Vec<String>,
    },
    /// Audiences may be brought other prompts: there are too many to try all.
    Untried {
        /// The untried ones, by tenant and role.
        readers: Vec<String>,
        /// The prompts whose change this would follow from.
        causes: Vec<String>,
    },
    /// The index lists other prompts.
    Listed {
        /// The prompts that it listed only before.
        lost: Vec<String>,
        /// The prompts that it lists in addition.
        gained: Vec<String>,
        /// The prompts whose change this follows from.
        causes: Vec<String>,
    },
}

/// The instructions of some audiences.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Instructed {
    /// Whose they are, by tenant and role.
    pub readers: Vec<String>,
    /// Their bytes, before and now.
    pub bytes: [usize; 2],
    /// An estimate of their tokens, before and now: a quarter of the bytes.
    pub tokens_estimated: [usize; 2],
    /// The prompts that their index listed only before, of those that these readers still see.
    pub lost: Vec<String>,
    /// The prompts that their index lists in addition, of those that these readers saw before.
    pub gained: Vec<String>,
}

/// How what some calls are given differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Called {
    /// Which calls, by tool, tenant and user.
    pub calls: Vec<String>,
    /// How many bytes more or fewer each is given, with the line feed after each skill.
    pub bytes: i64,
    /// An estimate of the tokens: a quarter of the bytes.
    pub tokens_estimated: i64,
    /// The skills that it was given only before.
    pub lost: Vec<String>,
    /// The skills that it is given in addition.
    pub gained: Vec<String>,
    /// The skills that have another text.
    pub changed: Vec<String>,
    /// Whether the other skills come in another order.
    pub reordered: bool,
}

/// The prompts that one tag brings only before, or only now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lost {
    /// The tag.
    pub tag: String,
    /// The prompts that came in full only before.
    pub lost: Vec<String>,
    /// The prompts that come in full only now.
    pub gained: Vec<String>,
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Claim {
    /// It follows from the bundles, for every call.
    Exact,
    /// It was tried with so many inputs; others may differ.
    Tried {
        /// How many inputs.
        inputs: usize,
        /// How many inputs of this kind there are: tags, calls or audiences.
        of: usize,
    },
}

/// Where it is written, on each side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Places {
    /// On the first side, if it is written there.
    pub a: Option<Place>,
    /// On the second side.
    pub b: Option<Place>,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Its area.
    pub area: Area,
    /// Whether agents may do more or less; only of authority.
    pub direction: Option<Direction>,
    /// Whether it breaks clients: something they use is gone, renamed, or takes fewer values.
    pub breaking: bool,
    /// Whether it is about a text that agents are always sent, or takes back a rule: a prompt of
    /// priority 10, a message, a removed skill, a word such as `never` that a text has lost.
    pub always: bool,
    /// The thing that differs.
    pub subject: Subject,
    /// Which part of it, in words: `priority`, `argument service`; empty for all of it.
    pub part: String,
    /// The content of the difference.
    pub change: Change,
    /// The consequence for agents or clients, in words; absent where the change says it.
    pub meaning: Option<String>,
    /// A command that is judged lower by it, if one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// A call that the two sides decide differently by it, if one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flip: Option<Flip>,
    /// Whether a command or call shows that it loosens; absent where none is searched. `false` says
    /// that it counts as loosening since the opposite is not proved either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proved: Option<bool>,
    /// Why the project does so, where it gives a reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// How many bytes of text more or fewer agents get at most.
    pub bytes: i64,
    /// How sure it is.
    pub claim: Claim,
    /// Where it is written.
    pub places: Places,
    /// The digest of both sides' values: including the parts that a short form leaves out.
    #[serde(skip)]
    content: Option<Digest>,
}

impl Finding {
    /// Creates an exact finding; a place and breakage are added later.
    pub(crate) fn new(area: Area, kind: Kind, name: impl Into<String>, change: Change) -> Self {
        Self {
            area,
            direction: None,
            breaking: false,
            always: false,
            subject: Subject { kind, name: name.into() },
            part: String::new(),
            change,
            meaning: None,
            witness: None,
            flip: None,
            proved: None,
            because: None,
            bytes: 0,
            claim: Claim::Exact,
            places: Places::default(),
            content: None,
        }
    }

    pub(crate) fn part(mut self, part: impl Into<String>) -> Self {
        self.part = part.into();
        self
    }

    pub(crate) fn direction(mut self, direction: Direction) -> Self {
        self.direction = Some(direction);
        self
    }

    pub(crate) fn breaking(mut self, breaking: bool) -> Self {
        self.breaking = breaking;
        self
    }

    pub(crate) fn always(mut self, always: bool) -> Self {
        self.always |= always;
        self
    }

    pub(crate) fn meaning(mut self, meaning: impl Into<String>) -> Self {
        self.meaning = Some(meaning.into());
        self
    }

    /// Adds a command that shows the difference; `None` says that the search was in vain.
    pub(crate) fn shown_by(mut self, witness: Option<Witness>) -> Self {
        self.also(match &witness {
            Some(witness) => witness.to_string(),
            None => "not proved: no command that was tried is judged lower".to_owned(),
        });
        self.proved = Some(witness.is_some());
        self.witness = witness;
        self
    }

    /// Adds a call that shows the difference; `None` says that the search was in vain.
    pub(crate) fn decided(mut self, flip: Option<Flip>) -> Self {
        let loosens = self.direction == Some(Direction::NotProved);
        match &flip {
            Some(flip) => self.also(flip.to_string()),
            None if loosens => {
                self.also("not proved: no call that was tried is decided otherwise".to_owned());
            }
            None => {}
        }
        self.proved = loosens.then_some(flip.is_some());
        self.flip = flip;
        self
    }

    /// Returns whether it counts as loosening, and no command or call shows it.
    #[must_use]
    pub fn is_not_proved(&self) -> bool {
        self.direction == Some(Direction::NotProved) && self.proved == Some(false)
    }

    /// Adds the project's reason.
    pub(crate) fn because(mut self, reason: Option<String>) -> Self {
        self.because = reason;
        self
    }

    /// Adds the rule by which a caller may do more, in words.
    pub(crate) fn also_by(&mut self, by: Option<&str>) {
        if let Some(by) = by {
            self.also(by.to_owned());
        }
    }

    /// Adds words to its meaning.
    fn also(&mut self, words: String) {
        self.meaning = Some(match self.meaning.take() {
            Some(meaning) => format!("{meaning}; {words}"),
            None => words,
        });
    }

    pub(crate) fn bytes(mut self, before: usize, after: usize) -> Self {
        let length = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        self.bytes = length(after) - length(before);
        self
    }

    pub(crate) fn claim(mut self, claim: Claim) -> Self {
        self.claim = claim;
        self
    }

    pub(crate) fn at(mut self, a: Option<&Place>, b: Option<&Place>) -> Self {
        self.places = Places { a: a.cloned(), b: b.cloned() };
        self
    }

    /// Sets the contents of both sides, where the change shows only a part of them.
    pub(crate) fn content(mut self, before: &[u8], after: &[u8]) -> Self {
        let digests = [Digest::of(before).hex(), Digest::of(after).hex()];
        self.content = Some(Digest::of(digests.concat().as_bytes()));
        self
    }

    /// Returns its place among findings: the most dangerous first.
    #[must_use]
    pub fn order(&self) -> impl Ord + '_ {
        let Self { area, direction, breaking, always, subject, part, .. } = self;
        (area, direction, Reverse(breaking), Reverse(always), subject, part)
    }

    /// Returns whether it reports different environments of the bundles.
    #[must_use]
    pub fn is_of_environment(&self) -> bool {
        self.subject.kind == Kind::Project && self.part == ENVIRONMENT
    }

    /// Returns the name of the difference in any run: area, kind, name and part.
    #[must_use]
    pub fn id(&self) -> String {
        let Subject { kind, name } = &self.subject;
        let words = [word(self.area), word(kind), name.clone(), self.part.clone()];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join("/")
    }

    /// Returns 16 hexadecimal digits for this very change: another value has others. Moved lines
    /// leave it the same.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let Self { area, direction, breaking, subject, part, change, content, .. } = self;
        let known = (area, direction, breaking, subject, part, change);
        let content = content.map(|content| content.hex());
        let text = serde_json::to_string(&(known, content)).unwrap_or_default();
        Digest::of(text.as_bytes()).hex().chars().take(16).collect()
    }
}

/// Returns the name of a value of a plain enum, as JSON has it.
fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// The findings while they are gathered.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    /// The prompts whose change can change briefings.
    pub(crate) briefed: Vec<String>,
    /// Items with another name after the change.
    pub(crate) renamed: Vec<Renamed>,
}

/// The two names of a renamed item.
#[derive(Debug)]
pub(crate) struct Renamed {
    pub(crate) kind: Kind,
    pub(crate) before: String,
    pub(crate) after: String,
}

impl Extend<Finding> for Findings {
    fn extend<I: IntoIterator<Item = Finding>>(&mut self, findings: I) {
        self.list.extend(findings);
    }
}

impl Findings {
    pub(crate) fn push(&mut self, finding: Finding) {
        let takes_back = match &finding.change {
            Change::Text { hunks } => take_back_a_rule(hunks),
            _ => false,
        };
        self.list.push(finding.always(takes_back));
    }

    /// Returns whether a finding is about this part of a thing, or about all of it.
    pub(crate) fn has_about(&self, kind: Kind, name: &str, part: &str) -> bool {
        self.list.iter().any(|it| {
            it.subject.kind == kind
                && it.subject.name.split(", ").any(|of| of == name)
                && (it.part == part || it.part.is_empty() && kind == Kind::Program)
        })
    }

    /// Returns the findings about the role that contains a role.
    pub(crate) fn of_parents(&mut self) -> impl Iterator<Item = &mut Finding> {
        let is_of_parent = |it: &&mut Finding| it.subject.kind == Kind::Role && it.part == PARENT;
        self.list.iter_mut().filter(is_of_parent)
    }

    /// Returns the number of findings so far.
    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }

    /// Compares two settings and reports a difference as one of `draft`, whose change is replaced.
    pub(crate) fn setting<T: PartialEq>(
        &mut self,
        a: Option<&Setting<T>>,
        b: Option<&Setting<T>>,
        shown: impl Fn(&T) -> String,
        finding: impl FnOnce(Change) -> Finding,
    ) {
        let value = |setting: Option<&Setting<T>>| setting.map(|setting| shown(&setting.value));
        if a.map(|a| &a.value) == b.map(|b| &b.value) {
            return;
        }
        let change = Change::Value { before: value(a), after: value(b) };
        let place = |setting: Option<&Setting<T>>| setting.and_then(|setting| setting.at.clone());
        let mut finding = finding(change);
        let Places { a: of_a, b: of_b } = &mut finding.places;
        *of_a = place(a).or(of_a.take());
        *of_b = place(b).or(of_b.take());
        self.push(finding);
    }

    pub(crate) fn sorted(mut self) -> Vec<Finding> {
        for finding in &mut self.list {
            if let Some(because) = finding.because.clone() {
                finding.also(format!("because: {because}"));
            }
        }
        self.list.sort_by(|a, b| a.order().cmp(&b.order()));
        self.list
    }
}
