//! The audiences of prompts, resources and tools: the callers that each gains and loses.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt, List, MaskView, Place};
use relay_engine::view::View;

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::pairs::{Cell, Pair, Pairs};
use crate::role::ancestors;

/// Compares the audiences of things on both sides. New and gone things are findings themselves, and
/// so are the tools of a role and the role that contains it: their consequences are left out.
pub(crate) fn compare(
    a: &Bundle,
    b: &Bundle,
    pairs: &Pairs<'_>,
    out: &mut Findings,
) -> Result<(), Corrupt> {
    if a.audiences().count() + b.audiences().count() == 0 {
        return Ok(());
    }
    let briefed: BTreeSet<String> = out.briefed.iter().cloned().collect();
    // The roles that lose something with a role that contained them.
    let mut losing: BTreeSet<&str> = BTreeSet::new();
    for list in List::ALL {
        let items = items(a, b, list, out)?;
        let mut histories = Histories::of(items.len());
        for (number, pair) in pairs.list.iter().enumerate() {
            if list == List::Tools && pair.has_other_tools {
                continue;
            }
            let sight = Sight::of(a, b, pair, list)?;
            let mut loses = false;
            for (at, item) in items.iter().enumerate() {
                match sight.change(item) {
                    Seeing::Same | Seeing::Follows { is_gain: true } => {}
                    Seeing::Changes { is_gain } => histories.add(at, number, is_gain),
                    Seeing::Follows { is_gain: false } => loses = true,
                }
            }
            if loses {
                losing.extend(pair.cells.iter().filter_map(|cell| pairs.role(*cell)));
            }
        }
        let mut known: BTreeMap<usize, Whose> = BTreeMap::new();
        for (item, history) in items.iter().zip(&histories.of_items) {
            if *history > 0 {
                let whose = known
                    .entry(*history)
                    .or_insert_with(|| Whose::of(pairs, &histories.changes(*history)));
                let finding = item.finding(a, b, list, whose)?;
                if list == List::Prompts && !briefed.contains(&finding.subject.name) {
                    out.briefed.push(finding.subject.name.clone());
                }
                out.push(finding);
            }
        }
    }
    let within: BTreeSet<&str> =
        losing.into_iter().flat_map(|role| ancestors(a.roles(), role)).collect();
    for finding in out.of_parents() {
        finding.breaking |= within.contains(finding.subject.name.as_str());
    }
    Ok(())
}

/// A prompt, resource, template or tool that both sides have, by its row on each.
struct Item {
    a: usize,
    b: usize,
}

/// Returns the items of a list on both sides, renamed ones included.
fn items(a: &Bundle, b: &Bundle, list: List, out: &Findings) -> Result<Vec<Item>, Corrupt> {
    let mut rows = BTreeMap::new();
    for row in 0..a.list(list).count() {
        rows.insert(name(a, list, row)?, row);
    }
    let kind = kind(list);
    let renamed: BTreeMap<&str, &str> = out
        .renamed
        .iter()
        .filter(|renamed| renamed.kind == kind)
        .map(|renamed| (renamed.after.as_str(), renamed.before.as_str()))
        .collect();
    let mut items = Vec::new();
    for row in 0..b.list(list).count() {
        let name = name(b, list, row)?;
        let before = renamed.get(name).copied().unwrap_or(name);
        items.extend(rows.get(before).map(|a| Item { a: *a, b: row }));
    }
    Ok(items)
}

fn kind(list: List) -> Kind {
    match list {
        List::Prompts => Kind::Prompt,
        List::Resources => Kind::Resource,
        List::Templates => Kind::Template,
        List::Tools => Kind::Tool,
    }
}

/// Returns the name or the URI of a row of a list.
pub(crate) fn name(bundle: &Bundle, list: List, row: usize) -> Result<&str, Corrupt> {
    match list {
        List::Prompts => bundle.prompt(row)?.name(),
        List::Resources => bundle.resource(row)?.uri(),
        List::Templates => bundle.templates().get(row)?.uri_template(),
        List::Tools => Ok(bundle.tools().get(row).map_or("", |tool| tool.name.as_str())),
    }
}

fn place(bundle: &Bundle, list: List, row: usize) -> Result<Option<Place>, Corrupt> {
    Ok(match list {
        List::Prompts => Some(bundle.prompt(row)?.at()?.into_owned()),
        List::Resources => Some(bundle.resource(row)?.at()?.into_owned()),
        List::Templates => Some(bundle.templates().get(row)?.at()?.into_owned()),
        List::Tools => bundle.tools().get(row).map(|tool| tool.at.clone()),
    })
}

impl Item {
    fn finding(
        &self,
        a: &Bundle,
        b: &Bundle,
        list: List,
        whose: &Whose,
    ) -> Result<Finding, Corrupt> {
        let Whose { gained, lost, content } = whose;
        let change = Change::Readers { gained: gained.clone(), lost: lost.clone() };
        let direction = Direction::narrower_if(gained.is_empty());
        let places = (place(a, list, self.a)?, place(b, list, self.b)?);
        Ok(Finding::new(Area::Authority, kind(list), name(b, list, self.b)?, change)
            .part("who sees it")
            .direction(direction)
            .breaking(!lost.is_empty())
            .content(content[0].as_bytes(), content[1].as_bytes())
            .at(places.0.as_ref(), places.1.as_ref()))
    }
}

/// The callers that gain and lose something: in words, and in full.
struct Whose {
    gained: Vec<String>,
    lost: Vec<String>,
    content: [String; 2],
}

impl Whose {
    fn of(pairs: &Pairs<'_>, changes: &[(usize, bool)]) -> Self {
        let cells = |gains: bool| -> Vec<Cell> {
            let numbers = changes.iter().filter(|(_, is_gain)| *is_gain == gains);
            let cells = numbers.filter_map(|(number, _)| pairs.list.get(*number));
            cells.flat_map(|pair| pair.cells.iter().copied()).collect()
        };
        let (gained, lost) = (cells(true), cells(false));
        Self {
            content: [&lost, &gained].map(|cells| pairs.content(cells.iter().copied())),
            gained: pairs.words(gained.into_iter()),
            lost: pairs.words(lost.into_iter()),
        }
    }
}

/// The changes of each item, pair by pair. Items with one history share it, so that a thousand
/// prompts of one folder are one.
struct Histories {
    /// The history of each item; 0 is the unchanged one.
    of_items: Vec<usize>,
    /// Each history: the one before, the pair, and whether the pair gains the item.
    list: Vec<(usize, usize, bool)>,
    known: BTreeMap<(usize, usize, bool), usize>,
}

impl Histories {
    fn of(items: usize) -> Self {
        Self { of_items: vec![0; items], list: vec![(0, 0, false)], known: BTreeMap::new() }
    }

    fn add(&mut self, item: usize, pair: usize, is_gain: bool) {
        let Some(history) = self.of_items.get_mut(item) else { return };
        let next = (*history, pair, is_gain);
        *history = *self.known.entry(next).or_insert_with(|| {
            self.list.push(next);
            self.list.len() - 1
        });
    }

    /// Returns the pairs of a history, each with whether it gains the item.
    fn changes(&self, mut history: usize) -> Vec<(usize, bool)> {
        let mut changes = Vec::new();
        while let (1.., Some((before, pair, is_gain))) = (history, self.list.get(history)) {
            changes.push((*pair, *is_gain));
            history = *before;
        }
        changes.reverse();
        changes
    }
}

/// The rows of a list that a pair sees, before and after.
struct Sight<'b> {
    a: Seen<'b>,
    b: Seen<'b>,
    /// The rows of roles that began to contain those of the pair, and of roles that no longer do.
    new_parents: Vec<[Option<Seen<'b>>; 2]>,
    old_parents: Vec<[Option<Seen<'b>>; 2]>,
}

impl<'b> Sight<'b> {
    fn of(a: &'b Bundle, b: &'b Bundle, pair: &Pair<'b>, list: List) -> Result<Self, Corrupt> {
        let parents = |parents: &[crate::pairs::Parent<'b>]| -> Result<Vec<_>, Corrupt> {
            let seen = |parent: &crate::pairs::Parent<'b>| {
                let of_a = parent.a.map(|view| Seen::of(a, &view, list)).transpose()?;
                Ok([of_a, parent.b.map(|view| Seen::of(b, &view, list)).transpose()?])
            };
            // A role sees the tools that it names, independently of the role that contains it.
            parents.iter().filter(|_| list != List::Tools).map(seen).collect()
        };
        Ok(Self {
            a: Seen::of(a, &pair.a, list)?,
            b: Seen::of(b, &pair.b, list)?,
            new_parents: parents(&pair.new_parents)?,
            old_parents: parents(&pair.old_parents)?,
        })
    }

    /// Returns whether the pair gains or loses an item, and whether that follows from a role that
    /// began or ended to contain theirs, and sees the item before and after.
    fn change(&self, item: &Item) -> Seeing {
        let is_gain = match (self.a.has(item.a), self.b.has(item.b)) {
            (false, true) => true,
            (true, false) => false,
            (true, true) | (false, false) => return Seeing::Same,
        };
        let parents = if is_gain { &self.new_parents } else { &self.old_parents };
        let sees = |[of_a, of_b]: &[Option<Seen<'_>>; 2]| {
            of_a.as_ref().is_none_or(|seen| seen.has(item.a))
                && of_b.as_ref().is_none_or(|seen| seen.has(item.b))
        };
        match parents.iter().any(sees) {
            true => Seeing::Follows { is_gain },
            false => Seeing::Changes { is_gain },
        }
    }
}

/// The difference in a pair's sight of an item.
enum Seeing {
    Same,
    Changes {
        is_gain: bool,
    },
    /// It follows from the role that contains theirs.
    Follows {
        is_gain: bool,
    },
}

/// The rows of a list that a view has.
enum Seen<'b> {
    All,
    Rows(MaskView<'b>),
}

impl<'b> Seen<'b> {
    fn of(bundle: &'b Bundle, view: &View<'_>, list: List) -> Result<Self, Corrupt> {
        Ok(match view.audience() {
            None => Self::All,
            Some(number) => Self::Rows(bundle.audiences().get(number)?.rows(list)?),
        })
    }

    fn has(&self, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::Rows(rows) => rows.contains(row),
        }
    }
}
