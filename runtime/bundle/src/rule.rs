//! The rules of a policy, used in place.
//!
//! A rule is a list of conditions, in groups: the rule's own, and one for each of its exceptions. A
//! condition is a selector with its values. So a new selector is one row of [`Selector`].

use serde::{Deserialize, Serialize};
use zerocopy::little_endian::U32;

use crate::automata::Automata;
use crate::automaton::Automaton;
use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::part::Part;
use crate::place::Place;
use crate::reader::{Reader, Room};
use crate::row::{ABSENT, Range, Text, Written, row};
use crate::section::Kind;
use crate::selector::{RuleKind, Selector};
use crate::setting::Setting;
use crate::tier::Tier;
use crate::writer::Writer;

/// A rule of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Its name, unique in a project.
    pub name: String,
    /// Its consequence.
    pub kind: RuleKind,
    /// The tier of `tier` and `lower`; absent for all others.
    pub tier: Option<Tier>,
    /// Whether it is only recorded.
    pub observe: bool,
    /// The seconds for which an approval counts; absent for once.
    pub ttl_s: Option<u32>,
    /// Its reason, for agents, records and reviewers.
    pub because: Option<Setting<String>>,
    /// The scope of the rule, a row of the policy's `scopes`; absent for all callers and hosts.
    pub scope: Option<u32>,
    /// The shipped policy that it comes from: `workstation 1`; absent for the project's own.
    pub origin: Option<String>,
    /// Its conditions, sorted by group.
    pub conditions: Vec<Condition>,
    /// The texts that it was tried on at build.
    pub examples: Vec<Example>,
    /// The keys under which [`RuleIndex`](crate::RuleIndexView) lists it, sorted.
    pub keys: Vec<String>,
    /// Where it was declared.
    pub at: Place,
}

/// A condition of a rule: any of its values fits, and none of its exceptions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// 0 for the rule itself, and 1 or more for an exception of it.
    pub group: u8,
    /// The part of a request that it selects.
    pub selector: Selector,
    /// The name of an argument; absent for other selectors.
    pub argument: Option<String>,
    /// Its values.
    pub values: Vec<Setting<String>>,
    /// The values that it does not mean.
    pub except: Vec<Setting<String>>,
    /// The number of the automaton of its regex; absent for other selectors.
    pub automaton: Option<u32>,
    /// Where it was declared.
    pub at: Place,
}

/// A text on which a rule was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The text of a shell.
    pub text: String,
    /// Whether the rule means it.
    pub matches: bool,
    /// Where it was written.
    pub at: Place,
}

row! {
    /// A rule.
    Row of Rules {
        name: Text,
        because: Written,
        origin: Text,
        conditions: Range,
        examples: Range,
        keys: Range,
        at: U32,
        ttl_s: U32,
        scope: U32,
        kind: u8,
        tier: u8,
        observe: u8,
        reserved: u8,
    }
}

row! {
    /// A condition of a rule.
    ConditionRow of RuleConditions {
        argument: Text,
        values: Range,
        except: Range,
        automaton: U32,
        at: U32,
        group: u8,
        selector: u8,
        reserved: [u8; 2],
    }
}

row! {
    /// A value of a condition.
    ValueRow of RuleValues {
        value: Written,
    }
}

row! {
    /// A text on which a rule was tried.
    ExampleRow of RuleExamples {
        text: Text,
        at: U32,
        matches: U32,
    }
}

/// The number of a tier that a rule does not have.
const NO_TIER: u8 = u8::MAX;

impl Writer<'_> {
    fn rule(&mut self, rule: &Rule) {
        let Rule {
            name,
            kind,
            tier,
            observe,
            ttl_s,
            because,
            scope,
            origin,
            conditions,
            examples,
            keys,
            at,
        } = rule;
        let conditions: Vec<ConditionRow> =
            conditions.iter().map(|condition| self.condition(condition)).collect();
        let examples: Vec<ExampleRow> = examples
            .iter()
            .map(|Example { text, matches, at }| ExampleRow {
                text: self.string(text),
                at: self.place(at),
                matches: U32::new(u32::from(*matches)),
            })
            .collect();
        let row = Row {
            name: self.string(name),
            because: self.optional_written(because.as_ref()),
            origin: self.optional(origin.as_deref()),
            conditions: self.rows(&conditions),
            examples: self.rows(&examples),
            keys: self.strings(keys),
            at: self.place(at),
            ttl_s: ttl_s.unwrap_or(ABSENT).into(),
            scope: scope.unwrap_or(ABSENT).into(),
            kind: *kind as u8,
            tier: tier.map_or(NO_TIER, Tier::number),
            observe: u8::from(*observe),
            reserved: 0,
        };
        self.rows(&[row]);
    }

    fn condition(&mut self, condition: &Condition) -> ConditionRow {
        let Condition { group, selector, argument, values, except, automaton, at } = condition;
        let values: Vec<ValueRow> =
            values.iter().map(|value| ValueRow { value: self.written(value) }).collect();
        let except: Vec<ValueRow> =
            except.iter().map(|value| ValueRow { value: self.written(value) }).collect();
        ConditionRow {
            argument: self.optional(argument.as_deref()),
            values: self.rows(&values),
            except: self.rows(&except),
            automaton: automaton.unwrap_or(ABSENT).into(),
            at: self.place(at),
            group: *group,
            selector: *selector as u8,
            reserved: [0; 2],
        }
    }
}

/// The rules and their index.
impl Part for Vec<Rule> {
    fn read(bundle: &Bundle, _: Kind) -> Result<Self, Corrupt> {
        let reader = &bundle.reader;
        let mut conditions = Room::of::<ConditionRow>(reader);
        let mut values = Room::of::<ValueRow>(reader);
        let mut examples = Room::of::<ExampleRow>(reader);
        let owned = |view: Result<RuleView<'_>, Corrupt>| {
            let view = view?;
            conditions.take(view.row.conditions)?;
            examples.take(view.row.examples)?;
            for condition in view.conditions()? {
                let row = condition?.row;
                values.take(row.values)?;
                values.take(row.except)?;
            }
            view.to_owned()
        };
        bundle.rules().map(owned).collect()
    }

    fn write(&self, _: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        for rule in self {
            out.rule(rule);
        }
        out.rule_index(self);
        Ok(())
    }
}

/// A rule, in place.
#[derive(Clone, Copy)]
pub struct RuleView<'b> {
    reader: &'b Reader,
    index: usize,
    row: &'b Row,
}

/// A condition of a rule, in place.
#[derive(Clone, Copy)]
pub struct ConditionView<'b> {
    reader: &'b Reader,
    row: &'b ConditionRow,
}

/// Values of a condition, in place.
#[derive(Clone, Copy)]
pub struct ValuesView<'b> {
    reader: &'b Reader,
    range: Range,
}

impl Bundle {
    /// Returns the number of rules of the policy.
    #[must_use]
    pub fn rule_count(&self) -> usize {
        self.reader.count(Kind::Rules)
    }

    /// Returns the rule with this index.
    ///
    /// # Errors
    ///
    /// As for [`Self::prompt`].
    pub fn rule(&self, index: usize) -> Result<RuleView<'_>, Corrupt> {
        Ok(RuleView { reader: &self.reader, index, row: self.reader.row(index)? })
    }

    /// Returns the automaton with this number.
    ///
    /// # Errors
    ///
    /// As for [`Self::prompt`].
    pub fn automaton(&self, number: u32) -> Result<Automaton<'_>, Corrupt> {
        automaton(&self.reader, number)
    }

    /// Returns all rules, in order.
    pub fn rules(&self) -> impl Iterator<Item = Result<RuleView<'_>, Corrupt>> {
        (0..self.rule_count()).map(|index| self.rule(index))
    }
}

#[expect(missing_docs, reason = "documented once, at the fields of `Rule`")]
#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> RuleView<'b> {
    /// Returns its index among the rules.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    pub fn name(&self) -> Result<&'b str, Corrupt> {
        self.reader.string(self.row.name)
    }

    pub fn kind(&self) -> Result<RuleKind, Corrupt> {
        RuleKind::from_number(self.row.kind).ok_or(wrong("kind"))
    }

    pub fn tier(&self) -> Result<Option<Tier>, Corrupt> {
        match self.row.tier {
            NO_TIER => Ok(None),
            number => Tier::from_number(number).map(Some).ok_or(wrong("tier")),
        }
    }

    #[must_use]
    pub fn observe(&self) -> bool {
        self.row.observe != 0
    }

    #[must_use]
    pub fn ttl_s(&self) -> Option<u32> {
        present(self.row.ttl_s)
    }

    pub fn because(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.because.text)
    }

    #[must_use]
    pub fn scope(&self) -> Option<u32> {
        present(self.row.scope)
    }

    pub fn origin(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.origin)
    }

    /// Returns its conditions, sorted by group.
    pub fn conditions(
        &self,
    ) -> Result<impl ExactSizeIterator<Item = Result<ConditionView<'b>, Corrupt>> + use<'b>, Corrupt>
    {
        let reader = self.reader;
        let view =
            move |row: Result<&'b ConditionRow, Corrupt>| Ok(ConditionView { reader, row: row? });
        Ok(reader.rows(self.row.conditions)?.map(view))
    }

    /// Returns the texts that it was tried on.
    pub fn examples(&self) -> Result<Vec<Example>, Corrupt> {
        let reader = self.reader;
        let example = |row: Result<&ExampleRow, Corrupt>| {
            let ExampleRow { text, at, matches } = row?;
            Ok(Example {
                text: reader.string(*text)?.to_owned(),
                matches: matches.get() != 0,
                at: reader.place_at(*at)?.into_owned(),
            })
        };
        reader.rows(self.row.examples)?.map(example).collect()
    }

    /// Returns the keys under which the index lists it.
    pub fn keys(&self) -> Result<Vec<&'b str>, Corrupt> {
        self.reader.strings(self.row.keys)
    }

    pub fn at(&self) -> Result<Place<&'b str>, Corrupt> {
        self.reader.place_at(self.row.at)
    }

    /// Returns the rule as an owned value.
    pub fn to_owned(self) -> Result<Rule, Corrupt> {
        let Self { reader, index: _, row } = self;
        Ok(Rule {
            name: self.name()?.to_owned(),
            kind: self.kind()?,
            tier: self.tier()?,
            observe: self.observe(),
            ttl_s: self.ttl_s(),
            because: reader.optional_written(row.because)?,
            scope: self.scope(),
            origin: self.origin()?.map(str::to_owned),
            conditions: self
                .conditions()?
                .map(|condition| condition?.to_owned())
                .collect::<Result<_, _>>()?,
            examples: self.examples()?,
            keys: self.keys()?.into_iter().map(str::to_owned).collect(),
            at: self.at()?.into_owned(),
        })
    }
}

#[expect(missing_docs, reason = "documented once, at the fields of `Condition`")]
#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> ConditionView<'b> {
    #[must_use]
    pub fn group(&self) -> u8 {
        self.row.group
    }

    pub fn selector(&self) -> Result<Selector, Corrupt> {
        Selector::from_number(self.row.selector).ok_or(wrong("selector"))
    }

    pub fn argument(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.argument)
    }

    #[must_use]
    pub fn values(&self) -> ValuesView<'b> {
        ValuesView { reader: self.reader, range: self.row.values }
    }

    #[must_use]
    pub fn except(&self) -> ValuesView<'b> {
        ValuesView { reader: self.reader, range: self.row.except }
    }

    /// Returns the automaton of its regex.
    pub fn automaton(&self) -> Result<Option<Automaton<'b>>, Corrupt> {
        present(self.row.automaton).map(|number| automaton(self.reader, number)).transpose()
    }

    pub fn at(&self) -> Result<Place<&'b str>, Corrupt> {
        self.reader.place_at(self.row.at)
    }

    fn to_owned(self) -> Result<Condition, Corrupt> {
        let Self { reader, row } = self;
        let owned = |range| -> Result<Vec<Setting<String>>, Corrupt> {
            reader
                .rows(range)?
                .map(|row: Result<&ValueRow, _>| reader.written(row?.value))
                .collect()
        };
        Ok(Condition {
            group: self.group(),
            selector: self.selector()?,
            argument: self.argument()?.map(str::to_owned),
            values: owned(row.values)?,
            except: owned(row.except)?,
            automaton: present(row.automaton),
            at: self.at()?.into_owned(),
        })
    }
}

impl<'b> ValuesView<'b> {
    /// Returns the values, in order.
    ///
    /// # Errors
    ///
    /// As for [`Bundle::prompt`].
    pub fn iter(self) -> Result<impl Iterator<Item = Result<&'b str, Corrupt>> + use<'b>, Corrupt> {
        let reader = self.reader;
        let text = move |row: Result<&ValueRow, Corrupt>| reader.string(row?.value.text);
        Ok(reader.rows(self.range)?.map(text))
    }

    /// Returns whether the list is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.range.count.get() == 0
    }
}

fn automaton(reader: &Reader, number: u32) -> Result<Automaton<'_>, Corrupt> {
    Automata::split(reader.section(Kind::Automata)?)?.automaton(number)
}

fn present(number: U32) -> Option<u32> {
    Some(number.get()).filter(|number| *number != ABSENT)
}

fn wrong(what: &'static str) -> Corrupt {
    Corrupt::Record { section: Kind::Rules.name(), what }
}
