//! Counts and sizes of a bundle's contents: the end of `relay build`, the start of `relay inspect`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use relay_bundle::{Bundle, Corrupt, Kind, List, PromptView, Setting};
use relay_engine::view::View;
use relay_engine::{agent_skill, briefing, prompt_index};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::audience::{self, Names, Readers};
use crate::answer::list::Entries;
use crate::answer::message;
use crate::answer::size::{Size, counted, grouped};
use crate::answer::table::{self, number, text};
use crate::output::{bold, dim};
use crate::text::printable;

/// The number of largest prompts in a summary.
const LARGEST: usize = 5;

/// The rows of the texts that differ between audiences.
const AUDIENCE_ROWS: usize = 15;

/// Counts and sizes of a bundle's contents.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Summary {
    /// The project's name.
    pub(crate) project: String,
    /// The project's version.
    pub(crate) version: Option<String>,
    /// The project's title.
    pub(crate) title: Option<String>,
    /// The owner of the project.
    pub(crate) owner: Option<String>,
    /// The environment that `--env` chose.
    pub(crate) environment: Option<String>,
    /// The digest that identifies the bundle and is signed.
    pub(crate) digest: String,
    /// A number that increases from release to release.
    pub(crate) epoch: u64,
    /// The bundle format: `major.minor`.
    pub(crate) format: String,
    /// The compiler that wrote it.
    pub(crate) compiler: String,
    /// The number of items of each kind.
    pub(crate) counts: Counts,
    /// The instructions that a client gets when it connects: the largest of all audiences.
    pub(crate) instructions: Size,
    /// The index of prompts in them; absent if the project lacks a gate or an index.
    pub(crate) gate_index: Option<Size>,
    /// All pages of `tools/list` together: the largest of all audiences.
    pub(crate) tools_list: Size,
    /// All pages of `prompts/list` together: the largest of all audiences.
    pub(crate) prompts_list: Size,
    /// The same of each audience: callers that see the same. The one that gets most is first.
    pub(crate) audiences: Vec<Audience>,
    /// The rows of these for people.
    #[serde(skip)]
    texts: Vec<Text>,
    /// The largest prompts, largest first.
    pub(crate) largest_prompts: Vec<Largest>,
    /// The sections, in the order of the file.
    pub(crate) sections: Vec<Section>,
}

/// The number of items of each kind in a bundle.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Counts {
    /// Prompts.
    pub(crate) prompts: usize,
    /// Renderings of all prompts.
    pub(crate) variants: usize,
    /// Resources with a fixed URI.
    pub(crate) resources: usize,
    /// Resources with variables in their URI.
    pub(crate) templates: usize,
    /// Tools.
    pub(crate) tools: usize,
}

/// The sizes of the answers to the callers of an audience.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Audience {
    /// Who that is; `null` if everyone. Those of one entry are of it in each of its roles.
    pub(crate) readers: Option<Vec<Readers>>,
    /// The instructions that it gets when it connects.
    pub(crate) instructions: Size,
    /// The index of prompts in them; absent if the project lacks a gate or an index.
    pub(crate) gate_index: Option<Size>,
    /// All pages of `tools/list` together.
    pub(crate) tools_list: Size,
    /// All pages of `prompts/list` together.
    pub(crate) prompts_list: Size,
    /// The entries of `skills/list` together, if there are agent skills.
    pub(crate) skills_list: Option<Size>,
}

/// The size of one text of an audience; `None` if it lacks that text.
type Measure = fn(&Audience) -> Option<Size>;

/// A text of some audiences, for people.
#[derive(Debug, Clone)]
struct Text {
    name: &'static str,
    readers: String,
    /// Absent for a row that counts others.
    size: Option<Size>,
}

/// A large prompt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Largest {
    /// Its name.
    pub(crate) name: String,
    /// The size of its largest variant, before a call fills in arguments.
    #[serde(flatten)]
    pub(crate) size: Size,
    /// Who sees it, for people.
    #[serde(skip)]
    readers: String,
}

/// A section of the file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Section {
    /// Its name; `unknown` if it is newer than this version of relay.
    pub(crate) name: String,
    /// The size of its data in bytes.
    pub(crate) bytes: u64,
    /// Its digest.
    pub(crate) digest: String,
}

impl Summary {
    /// Counts and measures a bundle.
    pub(crate) fn of(bundle: &Bundle) -> Result<Self, Corrupt> {
        let manifest = bundle.manifest().clone();
        let (major, minor) = bundle.format();
        let mut variants = 0;
        let mut prompts = Vec::with_capacity(bundle.prompt_count());
        for prompt in bundle.prompts() {
            let prompt = prompt?;
            variants += prompt.rendering().variant_count();
            prompts.push((Reverse(prompt_bytes(&prompt)?), prompt.name()?, prompt.index()));
        }
        prompts.sort_unstable();
        let largest = prompts.iter().take(LARGEST);
        let names = Names::of(bundle)?;
        let largest = largest.map(|(Reverse(bytes), name, row)| {
            let readers = names.seen_by(List::Prompts, *row)?;
            let readers = audience::short(readers.as_deref());
            Ok(Largest { name: (*name).into(), size: Size::of(*bytes), readers })
        });
        let largest_prompts = largest.collect::<Result<_, Corrupt>>()?;
        let sections = bundle.sections().iter().map(|section| Section {
            name: section.kind.map_or("unknown", Kind::name).into(),
            bytes: section.length,
            digest: section.digest.to_string(),
        });
        let audiences = audiences(bundle, &names)?;
        let most = |of: Measure| audiences.iter().filter_map(of).max_by_key(|size| size.bytes);
        let none = Size::of(0);
        Ok(Self {
            project: manifest.project.value,
            version: value(manifest.version),
            title: value(manifest.title),
            owner: value(manifest.owner),
            environment: manifest.environment,
            digest: bundle.digest().to_string(),
            epoch: bundle.epoch(),
            format: format!("{major}.{minor}"),
            compiler: manifest.compiler,
            counts: Counts {
                prompts: bundle.prompt_count(),
                variants,
                resources: bundle.resource_count(),
                templates: bundle.templates().count(),
                tools: bundle.tools().len(),
            },
            instructions: most(|it| Some(it.instructions)).unwrap_or(none),
            gate_index: most(|it| it.gate_index),
            tools_list: most(|it| Some(it.tools_list)).unwrap_or(none),
            prompts_list: most(|it| Some(it.prompts_list)).unwrap_or(none),
            texts: texts(&names, &audiences),
            audiences: worst_first(audiences),
            largest_prompts,
            sections: sections.collect(),
        })
    }

    /// Returns the first line: `homelab 4.2.0 (production)`, and the title.
    pub(crate) fn heading(&self) -> String {
        let mut heading = bold(printable(&self.project)).to_string();
        if let Some(version) = &self.version {
            let _ = write!(heading, " {}", printable(version));
        }
        if let Some(environment) = &self.environment {
            let _ = write!(heading, " ({})", printable(environment));
        }
        if let Some(title) = &self.title {
            let _ = write!(heading, "  {}", dim(printable(title)));
        }
        heading
    }

    /// Returns `24 prompts (38 variants), 3 resources, 1 resource template, 4 tools`. Zero counts
    /// are left out, except that of prompts.
    pub(crate) fn counts(&self) -> String {
        let Counts { prompts, variants, resources, templates, tools } = self.counts;
        let mut parts = vec![match variants == prompts {
            true => counted(prompts, "prompt"),
            false => format!("{} ({})", counted(prompts, "prompt"), counted(variants, "variant")),
        }];
        let others = [(resources, "resource"), (templates, "resource template"), (tools, "tool")];
        let some = others.into_iter().filter(|(count, _)| *count > 0);
        parts.extend(some.map(|(count, name)| counted(count, name)));
        parts.join(", ")
    }

    /// Returns the table of the texts that agents read.
    pub(crate) fn texts(&self, width: usize) -> String {
        let row = |name: &str, readers: &str, size: Size| {
            let (bytes, tokens) = (grouped(size.bytes), grouped(size.tokens_estimated));
            vec![name.to_owned(), readers.to_owned(), bytes, tokens]
        };
        let audience = |Text { name, readers, size }: &Text| match size {
            Some(size) => row(name, readers, *size),
            None => vec![(*name).to_owned(), readers.clone(), String::new(), String::new()],
        };
        let mut read: Vec<Vec<String>> = self.texts.iter().map(audience).collect();
        for Largest { name, size, readers } in &self.largest_prompts {
            read.push(row(&format!("prompt {name}, largest variant"), readers, *size));
        }
        let more = self.counts.prompts.saturating_sub(self.largest_prompts.len());
        if more > 0 {
            let name = format!("+{}, smaller", counted(more, "more prompt"));
            read.push(vec![name, String::new(), String::new(), String::new()]);
        }
        let columns =
            [text("what agents read"), text("who"), number("bytes"), number("tokens (est.)")];
        table::draw(&columns, read, width)
    }

    /// Returns the table of the sections.
    pub(crate) fn sections(&self, width: usize) -> String {
        let sections = self.sections.iter().map(|section| {
            let bytes = usize::try_from(section.bytes).unwrap_or(usize::MAX);
            vec![section.name.clone(), grouped(bytes), section.digest.chars().take(23).collect()]
        });
        let columns = [text("section"), number("bytes"), text("digest")];
        table::draw(&columns, sections.collect(), width)
    }
}

fn value(setting: Option<Setting<String>>) -> Option<String> {
    setting.map(|setting| setting.value)
}

/// Measures the texts of each audience, in the order of the bundle.
fn audiences(bundle: &Bundle, names: &Names<'_>) -> Result<Vec<Audience>, Corrupt> {
    let tools = Entries::of(bundle, List::Tools)?;
    let prompts = Entries::of(bundle, List::Prompts)?;
    let audience = |number| {
        let view = names.view(number)?;
        Ok(Audience {
            readers: names.readers(|other| other == number),
            instructions: Size::of(view.instructions()?.len()),
            gate_index: gate_index(bundle, &view)?,
            tools_list: Size::of(tools.seen_by(&view)?),
            prompts_list: Size::of(prompts.seen_by(&view)?),
            skills_list: skills_list(&view)?,
        })
    };
    names.numbers().map(audience).collect()
}

fn worst_first(mut audiences: Vec<Audience>) -> Vec<Audience> {
    let bytes = |audience: &Audience| {
        let Audience {
            readers: _,
            instructions,
            gate_index: _,
            tools_list,
            prompts_list,
            skills_list,
        } = audience;
        let skills = skills_list.map_or(0, |size| size.bytes);
        // The instructions contain the index.
        instructions.bytes + tools_list.bytes + prompts_list.bytes + skills
    };
    audiences.sort_by_key(|audience| Reverse(bytes(audience)));
    audiences
}

/// Returns a row for each text and size, the largest of a text first; audiences with the same size
/// are one row. Omitted rows are counted.
fn texts(names: &Names<'_>, audiences: &[Audience]) -> Vec<Text> {
    let kinds: [(&str, Measure); 5] = [
        ("instructions, once a session", |it| Some(it.instructions)),
        ("gate index, in the instructions", |it| it.gate_index),
        ("tools/list, all pages", |it| Some(it.tools_list)),
        ("prompts/list, all pages", |it| Some(it.prompts_list)),
        ("skills/list, all pages", |it| it.skills_list),
    ];
    let mut texts = Vec::new();
    for (name, size) in kinds {
        let mut sizes: BTreeMap<Reverse<usize>, BTreeSet<usize>> = BTreeMap::new();
        for (number, size) in audiences.iter().map(size).enumerate() {
            // An empty list is left unsent.
            if let Some(size) = size.filter(|size| size.bytes > 0) {
                sizes.entry(Reverse(size.bytes)).or_default().insert(number);
            }
        }
        let shown = AUDIENCE_ROWS / kinds.len();
        for (Reverse(bytes), numbers) in sizes.iter().take(shown) {
            let readers = names.readers(|number| numbers.contains(&number));
            let readers = audience::short(readers.as_deref());
            texts.push(Text { name, readers, size: Some(Size::of(*bytes)) });
        }
        let left: usize = sizes.values().skip(shown).map(BTreeSet::len).sum();
        if left > 0 {
            let readers = format!("+{left} more, smaller");
            texts.push(Text { name, readers, size: None });
        }
    }
    texts
}

/// Measures the entries of the agent skills that a caller sees.
fn skills_list(view: &View<'_>) -> Result<Option<Size>, Corrupt> {
    let (mut bytes, mut first) = (0, Some(0));
    while let Some(from) = first {
        let page = agent_skill::page(view, from)?;
        for skill in &page.items {
            bytes += skill.entry_bytes() + skill.uri()?.len();
        }
        first = page.next;
    }
    Ok((bytes > 0).then(|| Size::of(bytes)))
}

/// Measures the index in the instructions: its entries, and the line that counts the omitted ones.
fn gate_index(bundle: &Bundle, view: &View<'_>) -> Result<Option<Size>, Corrupt> {
    let names = view.listed()?;
    if bundle.gate().is_none() || names.is_empty() {
        return Ok(None);
    }
    let instructions = view.instructions()?;
    let is_entry = |line: &&str| {
        // An entry has its name on one line: every run of white space becomes one space.
        let about = |name: &&str| line.strip_prefix(&briefing::entry(name, None, usize::MAX));
        names.iter().filter_map(about).any(|about| about.is_empty() || about.starts_with(':'))
    };
    let entries: Vec<String> = instructions.lines().filter(is_entry).map(str::to_owned).collect();
    let omitted = view.briefed()?.saturating_sub(names.len());
    Ok(Some(Size::of(prompt_index::text(&entries, omitted, true).len())))
}

/// Returns the size in bytes of a prompt's largest variant, before a call fills in arguments.
fn prompt_bytes(prompt: &PromptView<'_>) -> Result<usize, Corrupt> {
    let rendering = prompt.rendering();
    let mut largest = 0;
    for number in 0..rendering.variant_count() {
        let messages = rendering.messages(number)?;
        largest = largest.max(messages.iter().map(message::view_bytes).sum());
    }
    Ok(largest)
}
