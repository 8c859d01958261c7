//! Counts and sizes of a bundle's contents: the end of `relay build`, the start of `relay inspect`.

use std::cmp::Reverse;
use std::fmt::Write as _;

use relay_bundle::{Bundle, Corrupt, Kind, List, PromptView, Setting};
use relay_engine::view::View;
use relay_engine::{briefing, prompt_index};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::message;
use crate::answer::size::{Size, counted, grouped};
use crate::answer::table::{self, number, text};
use crate::output::{bold, dim};
use crate::text::printable;

/// The number of largest prompts that are named.
const LARGEST: usize = 5;

/// The only role, since projects cannot declare roles yet.
const EVERYONE: &str = "everyone";

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
    /// The instructions that a client gets when it connects.
    pub(crate) instructions: Size,
    /// The index of prompts in them; absent if there is no gate, or no index.
    pub(crate) gate_index: Option<Size>,
    /// All pages of `tools/list` together.
    pub(crate) tools_list: Size,
    /// All pages of `prompts/list` together.
    pub(crate) prompts_list: Size,
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

/// A large prompt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Largest {
    /// Its name.
    pub(crate) name: String,
    /// The size of its largest variant, before a call fills in arguments.
    #[serde(flatten)]
    pub(crate) size: Size,
}

/// A section of the file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Section {
    /// Its name; `unknown` if this version of relay does not know it.
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
            prompts.push((Reverse(prompt_bytes(&prompt)?), prompt.name()?));
        }
        prompts.sort_unstable();
        let largest = prompts.iter().take(LARGEST);
        let sections = bundle.sections().iter().map(|section| Section {
            name: section.kind.map_or("unknown", Kind::name).into(),
            bytes: section.length,
            digest: section.digest.to_string(),
        });
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
                templates: bundle.template_count(),
                tools: bundle.tools().len(),
            },
            instructions: Size::of(View::of_audience(bundle, 0)?.instructions()?.len()),
            gate_index: gate_index(bundle)?,
            tools_list: pages(bundle, List::Tools)?,
            prompts_list: pages(bundle, List::Prompts)?,
            largest_prompts: largest
                .map(|(Reverse(bytes), name)| Largest {
                    name: (*name).into(),
                    size: Size::of(*bytes),
                })
                .collect(),
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

    /// Returns `24 prompts (38 variants), 3 resources, 1 template, 4 tools`.
    pub(crate) fn counts(&self) -> String {
        let Counts { prompts, variants, resources, templates, tools } = self.counts;
        format!(
            "{} ({}), {}, {}, {}",
            counted(prompts, "prompt"),
            counted(variants, "variant"),
            counted(resources, "resource"),
            counted(templates, "template"),
            counted(tools, "tool")
        )
    }

    /// Returns the table of the texts that agents read.
    pub(crate) fn texts(&self, width: usize) -> String {
        let row = |name: &str, size: Size| {
            let (bytes, tokens) = (grouped(size.bytes), grouped(size.tokens_estimated));
            vec![name.to_owned(), EVERYONE.to_owned(), bytes, tokens]
        };
        let mut read = vec![row("instructions, once a session", self.instructions)];
        read.extend(self.gate_index.map(|size| row("gate index, in the instructions", size)));
        read.push(row("tools/list, all pages", self.tools_list));
        read.push(row("prompts/list, all pages", self.prompts_list));
        for Largest { name, size } in &self.largest_prompts {
            read.push(row(&format!("prompt {name}, largest variant"), *size));
        }
        let columns = [
            text("what agents read"),
            text("role"),
            number("bytes"),
            number("tokens, estimated (bytes / 4)"),
        ];
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

/// Measures the index in the instructions: its entries, and the line that counts the omitted ones.
fn gate_index(bundle: &Bundle) -> Result<Option<Size>, Corrupt> {
    let view = View::of_audience(bundle, 0)?;
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
    let omitted = view.count(List::Prompts).saturating_sub(names.len());
    Ok(Some(Size::of(prompt_index::text(&entries, omitted, true).len())))
}

fn pages(bundle: &Bundle, list: List) -> Result<Size, Corrupt> {
    let pages = (0..bundle.page_count(list)).map(|index| Ok(bundle.page(list, index)?.json.len()));
    Ok(Size::of(pages.sum::<Result<usize, Corrupt>>()?))
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
