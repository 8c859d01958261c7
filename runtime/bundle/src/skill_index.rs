//! The index of skills: finds those that match a tenant, a tool and a user.
//!
//! A *scope* is a tenant or its absence, with a user or its absence. Each scope required by a skill
//! has a list of the skills for any tool, and one list for each pattern of its skills. So the
//! skills of a call are in the lists of at most four scopes, and each skill is in as many lists as
//! it has patterns, at least one: the size is linear for all combinations of tenants, tools and
//! users.
//!
//! Skills are numbered in the order of the cascade, patterns and topics in the order of their text.
//! Only topics of several skills override, and are numbered.

use hashbrown::HashMap;
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::bundle::{Bundle, SkillFacts};
use crate::error::Corrupt;
use crate::name_index::NameHash;
use crate::part::Part;
use crate::reader::Reader;
use crate::row::{ABSENT, ListedString, Range, Text, row};
use crate::section::Kind;
use crate::skill::{self, Skill};
use crate::writer::Writer;

row! {
    /// A scope.
    Scope of SkillScopes {
        tenant: Text,
        user: Text,
        /// Its lists, sorted by pattern.
        lists: Range,
    }
}

row! {
    /// The skills of a scope with one pattern.
    List of SkillLists {
        /// Its number; absent for the skills for any tool, whose list comes last.
        pattern: U32,
        skills: Range,
    }
}

/// The pattern of a list of skills for any tool.
const ANY_TOOL: u32 = ABSENT;

/// Returns the distinct patterns of skills, sorted: a pattern's number is its position here.
#[must_use]
pub fn distinct_patterns(skills: &[Skill]) -> Vec<&str> {
    let patterns = skills.iter().flat_map(|skill| &skill.tools);
    sorted(patterns.map(|pattern| pattern.value.as_str()))
}

fn sorted<'s>(texts: impl Iterator<Item = &'s str>) -> Vec<&'s str> {
    let mut texts: Vec<&str> = texts.collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}

/// Returns the distinct texts that occur at least twice, sorted.
fn shared<'s>(texts: impl Iterator<Item = &'s str>) -> Vec<&'s str> {
    let mut texts: Vec<&str> = texts.collect();
    texts.sort_unstable();
    texts
        .chunk_by(|a, b| a == b)
        .filter_map(|equal| match equal {
            [first, _, ..] => Some(*first),
            _ => None,
        })
        .collect()
}

/// Returns the number of a text in a sorted list; [`ABSENT`] if it is missing.
fn place_in(sorted: &[&str], text: &str) -> u32 {
    sorted.binary_search(&text).ok().and_then(|place| u32::try_from(place).ok()).unwrap_or(ABSENT)
}

/// The skills and their index.
impl Part for Vec<Skill> {
    fn read(bundle: &Bundle, _: Kind) -> Result<Self, Corrupt> {
        skill::owned(bundle)
    }

    fn write(&self, _: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        self.iter().for_each(|skill| out.skill(skill));
        out.skill_index(self);
        Ok(())
    }
}

impl Writer<'_> {
    /// Writes the index of `skills`, sorted in the order of the cascade.
    pub(crate) fn skill_index(&mut self, skills: &[Skill]) {
        let patterns = distinct_patterns(skills);
        for pattern in &patterns {
            let text = self.string(pattern);
            self.records(Kind::SkillPatterns, &[ListedString { text }]);
        }
        let topic_of = |skill: &Skill| skill.topic.as_ref().map(|topic| topic.value.clone());
        let names: Vec<Option<String>> = skills.iter().map(topic_of).collect();
        let topics = shared(names.iter().flatten().map(String::as_str));
        let numbers: Vec<U32> = names
            .iter()
            .map(|name| name.as_deref().map_or(ABSENT, |name| place_in(&topics, name)).into())
            .collect();
        self.records(Kind::SkillTopics, &numbers);
        let scopes = scopes(skills, &patterns);
        let keys: Vec<String> =
            scopes.iter().map(|((tenant, user), _)| key(*tenant, *user).concat()).collect();
        for ((tenant, user), lists) in scopes {
            let lists: Vec<List> = lists
                .into_iter()
                .map(|(pattern, skills)| self.skill_list(pattern, &skills))
                .collect();
            let row = Scope {
                tenant: self.optional(tenant),
                user: self.optional(user),
                lists: self.rows(&lists),
            };
            self.rows(&[row]);
        }
        self.name_index(Kind::SkillScopeIndex, keys.iter());
    }

    fn skill_list(&mut self, pattern: u32, skills: &[u32]) -> List {
        let skills: Vec<U32> = skills.iter().map(|skill| (*skill).into()).collect();
        List { pattern: pattern.into(), skills: self.records(Kind::SkillPostings, &skills) }
    }
}

/// The tenant and user in selectors of skills.
type Pair<'s> = (Option<&'s str>, Option<&'s str>);
/// The skills of each pattern.
type Lists = Vec<(u32, Vec<u32>)>;

/// Returns the scopes, sorted, each with its lists, sorted by pattern.
fn scopes<'s>(skills: &'s [Skill], patterns: &[&str]) -> Vec<(Pair<'s>, Lists)> {
    let mut scopes: HashMap<Pair<'s>, HashMap<u32, Vec<u32>>> = HashMap::new();
    for (index, skill) in (0..).zip(skills) {
        let text = |selector: &'s Option<crate::setting::Setting<String>>| {
            selector.as_ref().map(|setting| setting.value.as_str())
        };
        let lists = scopes.entry((text(&skill.tenant), text(&skill.user))).or_default();
        if skill.tools.is_empty() {
            lists.entry(ANY_TOOL).or_default().push(index);
        }
        for pattern in &skill.tools {
            let list = lists.entry(place_in(patterns, &pattern.value)).or_default();
            if list.last() != Some(&index) {
                list.push(index);
            }
        }
    }
    let sorted = |lists: HashMap<u32, Vec<u32>>| {
        let mut lists: Vec<_> = lists.into_iter().collect();
        lists.sort_unstable();
        lists
    };
    let mut scopes: Vec<_> =
        scopes.into_iter().map(|(scope, lists)| (scope, sorted(lists))).collect();
    scopes.sort_unstable();
    scopes
}

/// Returns the key of a scope in the hash table. Two scopes may share a key; their rows differ.
fn key<'n>(tenant: Option<&'n str>, user: Option<&'n str>) -> [&'n str; 3] {
    [tenant.unwrap_or_default(), "\0", user.unwrap_or_default()]
}

/// Numbers of skills or patterns, rising.
#[derive(Debug, Clone, Copy, Default)]
pub struct Numbers<'b> {
    rows: &'b [U32],
}

impl<'b> Numbers<'b> {
    pub(crate) fn new(rows: &'b [U32]) -> Self {
        Self { rows }
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> + use<'b> {
        self.rows.iter().map(|number| number.get())
    }

    /// Returns whether a number is in the list.
    #[must_use]
    pub fn contains(&self, number: u32) -> bool {
        self.rows.binary_search_by_key(&number, |row| row.get()).is_ok()
    }
}

/// The index of skills, in place.
#[derive(Clone, Copy)]
pub struct SkillIndexView<'b> {
    bundle: &'b Bundle,
    facts: SkillFacts,
    scopes: &'b [Scope],
    lists: &'b [List],
    postings: &'b [U32],
    topics: &'b [U32],
}

/// The lists of skills of one scope.
#[derive(Clone, Copy)]
pub struct ScopeView<'b> {
    lists: &'b [List],
    postings: &'b [U32],
}

/// The distinct patterns of tools in selectors of skills, in place, in the order of their text.
#[derive(Clone, Copy)]
pub struct SkillPatternsView<'b> {
    reader: &'b Reader,
}

impl Bundle {
    /// Returns the index of skills, if there are skills.
    ///
    /// The first call reads all of it and checks that its sections are consistent; later calls skip
    /// this.
    ///
    /// # Errors
    ///
    /// As for [`Self::prompt`].
    pub fn skill_index(&self) -> Result<Option<SkillIndexView<'_>>, Corrupt> {
        if self.skill_count() == 0 {
            return Ok(None);
        }
        let mut index = SkillIndexView {
            bundle: self,
            facts: SkillFacts { has_topics: true, has_pairs: true },
            scopes: all(&self.reader, Kind::SkillScopes)?,
            lists: all(&self.reader, Kind::SkillLists)?,
            postings: all(&self.reader, Kind::SkillPostings)?,
            topics: all(&self.reader, Kind::SkillTopics)?,
        };
        index.facts = match self.skill_index_facts.get() {
            Some(facts) => *facts,
            None => {
                let facts = index.check()?;
                *self.skill_index_facts.get_or_init(|| facts)
            }
        };
        Ok(Some(index))
    }

    /// Returns the distinct patterns of skills.
    #[must_use]
    pub fn skill_patterns(&self) -> SkillPatternsView<'_> {
        SkillPatternsView { reader: &self.reader }
    }
}

/// Returns all rows of a section.
fn all<R: FromBytes + KnownLayout + Immutable>(
    reader: &Reader,
    kind: Kind,
) -> Result<&[R], Corrupt> {
    <[R]>::ref_from_bytes(reader.section(kind)?).map_err(|_| wrong(kind, "length"))
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl SkillPatternsView<'_> {
    /// Returns the number of distinct patterns.
    #[must_use]
    pub fn count(self) -> usize {
        self.reader.count(Kind::SkillPatterns)
    }

    /// Returns the numbers of the patterns that `matches` accepts, rising.
    pub fn matching(self, matches: impl Fn(&str) -> bool) -> Result<Vec<u32>, Corrupt> {
        let rows: &[ListedString] = all(self.reader, Kind::SkillPatterns)?;
        let starts = rows.iter().map(|row| row.text.offset.get() as usize);
        let ends =
            rows.iter().map(|row| row.text.offset.get() as usize + row.text.length.get() as usize);
        let (Some(start), Some(end)) = (starts.min(), ends.max()) else { return Ok(Vec::new()) };
        // The strings are checked together: this runs for each call of an unknown tool.
        let strings = self.reader.bytes(Kind::Strings, start, end.saturating_sub(start))?;
        let mut matching = Vec::new();
        for (number, row) in (0u32..).zip(rows) {
            let from = row.text.offset.get() as usize - start;
            let text = strings.get(from..from + row.text.length.get() as usize);
            let text = text.and_then(|text| str::from_utf8(text).ok());
            if matches(text.ok_or_else(|| wrong(Kind::SkillPatterns, "text"))?) {
                matching.push(number);
            }
        }
        Ok(matching)
    }
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> SkillIndexView<'b> {
    /// Returns the scope of exactly this tenant and user, if it has skills; an argument of `None`
    /// stands for skills that leave the selector out.
    pub fn scope(
        &self,
        tenant: Option<&str>,
        user: Option<&str>,
    ) -> Result<Option<ScopeView<'b>>, Corrupt> {
        let reader = &self.bundle.reader;
        let view = |row: &Scope| ScopeView {
            lists: self.lists.get(places(row.lists)).unwrap_or_default(),
            postings: self.postings,
        };
        // Every question has these two cases, and in most bundles the second one is empty.
        match (tenant, user) {
            (None, None) => {
                return Ok(self.scopes.first().filter(|row| row.is_for_all()).map(view));
            }
            (Some(_), Some(_)) if !self.facts.has_pairs => return Ok(None),
            _ => {}
        }
        let hash = key(tenant, user).into_iter().fold(NameHash::EMPTY, NameHash::then);
        reader.find_hashed(Kind::SkillScopeIndex, hash, |index| {
            let row = self.scopes.get(index).ok_or(wrong(Kind::SkillScopeIndex, "index"))?;
            let is_it =
                reader.optional(row.tenant)? == tenant && reader.optional(row.user)? == user;
            Ok(is_it.then(|| view(row)))
        })
    }

    /// Returns the number of scopes.
    #[must_use]
    pub fn scope_count(&self) -> usize {
        self.scopes.len()
    }

    /// Returns whether any two skills share a topic.
    #[must_use]
    pub fn has_topics(&self) -> bool {
        self.facts.has_topics
    }

    /// Returns the number of a skill's topic; `None` if the skill is alone in it.
    #[must_use]
    pub fn topic(&self, skill: u32) -> Option<u32> {
        self.topics.get(skill as usize).map(|topic| topic.get()).filter(|topic| *topic != ABSENT)
    }

    /// Checks the consistency of the sections: digests prove only their bytes.
    fn check(&self) -> Result<SkillFacts, Corrupt> {
        let skills = self.bundle.skill_count();
        let patterns = self.bundle.skill_patterns().count();
        if self.topics.len() != skills {
            return Err(wrong(Kind::SkillTopics, "count"));
        }
        let is_topic = |topic: &U32| topic.get() == ABSENT || (topic.get() as usize) < skills;
        if !self.topics.iter().all(is_topic) {
            return Err(wrong(Kind::SkillTopics, "topic"));
        }
        // The position where `Self::scope` expects it.
        if self.scopes.iter().skip(1).any(Scope::is_for_all) {
            return Err(wrong(Kind::SkillScopes, "order"));
        }
        // Each list belongs to one scope, and each number to one list, so all of them are read
        // once.
        if !follow(self.scopes.iter().map(|scope| scope.lists), self.lists.len()) {
            return Err(wrong(Kind::SkillScopes, "range"));
        }
        if !follow(self.lists.iter().map(|list| list.skills), self.postings.len()) {
            return Err(wrong(Kind::SkillLists, "range"));
        }
        let pattern = |list: &List| list.pattern.get();
        let is_pattern =
            |list: &List| pattern(list) == ANY_TOOL || (pattern(list) as usize) < patterns;
        for scope in self.scopes {
            let lists = self.lists.get(places(scope.lists)).unwrap_or_default();
            if !lists.is_sorted_by(|a, b| pattern(a) < pattern(b)) || !lists.iter().all(is_pattern)
            {
                return Err(wrong(Kind::SkillLists, "pattern"));
            }
        }
        for list in self.lists {
            let numbers = self.postings.get(places(list.skills)).unwrap_or_default();
            let is_skill = numbers.last().is_some_and(|last| (last.get() as usize) < skills);
            if !is_skill || !numbers.is_sorted_by(|a, b| a.get() < b.get()) {
                return Err(wrong(Kind::SkillPostings, "skill"));
            }
        }
        let has_pair = |scope: &Scope| {
            scope.tenant.offset.get() != ABSENT && scope.user.offset.get() != ABSENT
        };
        Ok(SkillFacts {
            has_topics: self.topics.iter().any(|topic| topic.get() != ABSENT),
            has_pairs: self.scopes.iter().any(has_pair),
        })
    }
}

impl Scope {
    /// Returns whether its skills are for every tenant and user.
    fn is_for_all(&self) -> bool {
        self.tenant.offset.get() == ABSENT && self.user.offset.get() == ABSENT
    }
}

impl<'b> ScopeView<'b> {
    /// Returns the skills for any tool.
    #[must_use]
    pub fn any_tool(&self) -> Numbers<'b> {
        self.of_pattern(ANY_TOOL)
    }

    /// Returns the skills with the pattern of this number.
    #[must_use]
    pub fn of_pattern(&self, pattern: u32) -> Numbers<'b> {
        let found = self.lists.binary_search_by_key(&pattern, |list| list.pattern.get());
        let list = found.ok().and_then(|place| self.lists.get(place));
        list.map_or(Numbers::default(), |list| self.numbers(list))
    }

    /// Returns the number of patterns of its skills.
    #[must_use]
    pub fn pattern_count(&self) -> usize {
        self.patterns().len()
    }

    /// Returns the lists of the patterns of its skills.
    pub fn patterns(&self) -> impl ExactSizeIterator<Item = (u32, Numbers<'b>)> + use<'b> {
        let lists = match self.lists.split_last() {
            Some((last, others)) if last.pattern.get() == ANY_TOOL => others,
            _ => self.lists,
        };
        let scope = *self;
        lists.iter().map(move |list| (list.pattern.get(), scope.numbers(list)))
    }

    fn numbers(&self, list: &List) -> Numbers<'b> {
        Numbers::new(self.postings.get(places(list.skills)).unwrap_or_default())
    }
}

/// Returns whether ranges are contiguous and end at the end of their section.
fn follow(ranges: impl Iterator<Item = Range>, end: usize) -> bool {
    let mut expected = 0;
    for range in ranges {
        if range.start.get() as usize != expected {
            return false;
        }
        expected += range.count.get() as usize;
    }
    expected == end
}

fn places(range: Range) -> std::ops::Range<usize> {
    let start = range.start.get() as usize;
    start..start.saturating_add(range.count.get() as usize)
}

fn wrong(section: Kind, what: &'static str) -> Corrupt {
    Corrupt::Record { section: section.name(), what }
}
