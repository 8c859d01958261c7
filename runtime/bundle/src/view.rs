//! Bytes -> answers. Everything is read in place; every page is checked before its first use.

use std::fmt;
use std::str;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::contents::{Manifest, Role};
use crate::digest::{Digest, Tree};
use crate::envelope::ENVELOPE_BYTES_MAX;
use crate::error::{Corrupt, OpenError};
use crate::header::{self, FORMAT_MAJOR};
use crate::record::{self, ABSENT};
use crate::section::{Kind, SectionInfo};

/// Bytes that stay where they are and never change while a bundle is open: a map, a vector.
pub type Storage = Box<dyn AsRef<[u8]> + Send + Sync>;

/// An opened bundle.
///
/// Opening reads header and table only; what they promise of the sections is checked page by
/// page, when a page is first used. An opened bundle is not yet a trusted one: see
/// [`trust::verify`](crate::trust::verify).
pub struct Bundle {
    storage: Storage,
    format_minor: u16,
    epoch: u64,
    digest: Digest,
    sections: Vec<SectionInfo>,
    /// The tree of each kind, by its place in [`Kind::ALL`].
    trees: [Option<Tree>; Kind::ALL.len()],
    content_length: usize,
    envelope_length: usize,
}

impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bundle").field("digest", &self.digest).field("epoch", &self.epoch).finish()
    }
}

impl Bundle {
    /// Opens the bundle in `storage`.
    ///
    /// Costs the same for every size of bundle: nothing but header, table and padding is read,
    /// and one bit for each page of the file is allocated.
    ///
    /// # Errors
    ///
    /// The bytes are not a bundle of this format; see [`OpenError`].
    pub fn open(storage: Storage) -> Result<Self, OpenError> {
        let file = (*storage).as_ref();
        let front = header::read(file)?;
        let envelope_length = envelope_length(file, front.content_length)?;
        let mut trees = [const { None }; Kind::ALL.len()];
        for (info, tree) in front.sections.iter().zip(front.trees) {
            let Some(kind) = info.kind else { continue };
            if let Some(slot) = trees.get_mut(place_of(kind)) {
                *slot = Some(tree);
            }
        }
        let bundle = Self {
            format_minor: front.format_minor,
            epoch: front.epoch,
            digest: front.digest,
            sections: front.sections,
            trees,
            content_length: front.content_length,
            envelope_length,
            storage,
        };
        match bundle.section_bytes(Kind::Manifest) {
            Some(length) if length == size_of::<record::Manifest>() => Ok(bundle),
            _ => Err(OpenError::MissingSection { kind: Kind::Manifest.name() }),
        }
    }

    /// Returns what is signed and what names the bundle: the SHA-256 of header and table.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns the bundle's epoch.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns the format, major and minor.
    #[must_use]
    pub fn format(&self) -> (u16, u16) {
        (FORMAT_MAJOR, self.format_minor)
    }

    /// Returns the rows of the section table.
    #[must_use]
    pub fn sections(&self) -> &[SectionInfo] {
        &self.sections
    }

    /// Returns the envelope's JSON; empty if the bundle is not signed.
    #[must_use]
    pub fn envelope_bytes(&self) -> &[u8] {
        let start = self.content_length + size_of::<u64>();
        self.file().get(start..start + self.envelope_length).unwrap_or_default()
    }

    /// Returns all that the digest covers: header, table and sections.
    #[must_use]
    pub fn content_bytes(&self) -> &[u8] {
        self.file().get(..self.content_length).unwrap_or_default()
    }

    /// Checks every page of every section, those too that this reader does not know.
    ///
    /// # Errors
    ///
    /// The first page that is not what was signed.
    pub fn check_all(&self) -> Result<(), Corrupt> {
        for info in &self.sections {
            let length = usize::try_from(info.length).unwrap_or(usize::MAX);
            let offset = usize::try_from(info.offset).unwrap_or(usize::MAX);
            let unknown;
            let tree = match info.kind.and_then(|kind| self.tree(kind)) {
                Some(tree) => tree,
                None => {
                    unknown = Tree::new(info.digest, offset, length);
                    &unknown
                }
            };
            let section = info.kind.map_or("unknown", Kind::name);
            tree.read(self.file(), 0, length).ok_or(Corrupt::Page { section, offset: 0 })?;
        }
        Ok(())
    }

    /// Returns who and what the bundle is.
    ///
    /// # Errors
    ///
    /// The manifest is not what was signed. The same holds for every method below.
    pub fn manifest(&self) -> Result<ManifestView<'_>, Corrupt> {
        let record: &record::Manifest = self.record(Kind::Manifest, 0)?;
        Ok(ManifestView {
            project: self.string(record.project)?,
            version: self.optional(record.version)?,
            title: self.optional(record.title)?,
            owner: self.optional(record.owner)?,
            environment: self.optional(record.environment)?,
            compiler: self.string(record.compiler)?,
            instructions: self.string(record.instructions)?,
            index: self.strings(record.index)?,
            epoch: self.epoch,
        })
    }

    /// Returns how many prompts there are.
    #[must_use]
    pub fn prompt_count(&self) -> usize {
        self.count(Kind::Prompts)
    }

    /// Returns the prompt with this index, in the order of the names.
    ///
    /// # Errors
    ///
    /// As for [`Self::manifest`]; also for an index that is out of range.
    pub fn prompt(&self, index: usize) -> Result<PromptView<'_>, Corrupt> {
        Ok(PromptView { bundle: self, index, record: self.record(Kind::Prompts, index)? })
    }

    /// Returns all prompts, in the order of their names.
    pub fn prompts(&self) -> impl Iterator<Item = Result<PromptView<'_>, Corrupt>> {
        (0..self.prompt_count()).map(|index| self.prompt(index))
    }

    /// Returns the prompt with this name.
    ///
    /// # Errors
    ///
    /// As for [`Self::manifest`].
    pub fn find_prompt(&self, name: &str) -> Result<Option<PromptView<'_>>, Corrupt> {
        self.find(Kind::PromptIndex, name, |index| {
            let prompt = self.prompt(index)?;
            Ok((prompt.name()? == name).then_some(prompt))
        })
    }

    /// Returns how many resources with a fixed URI there are.
    #[must_use]
    pub fn resource_count(&self) -> usize {
        self.count(Kind::Resources)
    }

    /// Returns the resource with this index, in the order of the URIs.
    ///
    /// # Errors
    ///
    /// As for [`Self::prompt`].
    pub fn resource(&self, index: usize) -> Result<ResourceView<'_>, Corrupt> {
        Ok(ResourceView { bundle: self, index, record: self.record(Kind::Resources, index)? })
    }

    /// Returns the resource with exactly this URI.
    ///
    /// # Errors
    ///
    /// As for [`Self::manifest`].
    pub fn find_resource(&self, uri: &str) -> Result<Option<ResourceView<'_>>, Corrupt> {
        self.find(Kind::ResourceIndex, uri, |index| {
            let resource = self.resource(index)?;
            Ok((resource.uri()? == uri).then_some(resource))
        })
    }

    /// Returns how many URI templates there are.
    #[must_use]
    pub fn template_count(&self) -> usize {
        self.count(Kind::Templates)
    }

    /// Returns the URI template with this index.
    ///
    /// # Errors
    ///
    /// As for [`Self::prompt`].
    pub fn template(&self, index: usize) -> Result<TemplateView<'_>, Corrupt> {
        Ok(TemplateView { bundle: self, index, record: self.record(Kind::Templates, index)? })
    }

    /// Returns how many prebuilt pages a list has.
    #[must_use]
    pub fn page_count(&self, list: Kind) -> usize {
        if page_list(list) { self.count(list) } else { 0 }
    }

    /// Returns a prebuilt page of a list: `PromptPages`, `ResourcePages` or `TemplatePages`.
    ///
    /// # Errors
    ///
    /// As for [`Self::prompt`].
    pub fn page(&self, list: Kind, index: usize) -> Result<PageView<'_>, Corrupt> {
        if !page_list(list) {
            return Err(Corrupt::Record { section: list.name(), what: "use as a list" });
        }
        let record: &record::Page = self.record(list, index)?;
        Ok(PageView {
            first: record.first.get(),
            count: record.count.get(),
            json: self.text(Kind::PageBytes, record.json)?,
        })
    }

    /// Returns the effective project as canonical KDL.
    ///
    /// # Errors
    ///
    /// As for [`Self::manifest`].
    pub fn canonical(&self) -> Result<&str, Corrupt> {
        self.whole(Kind::Canonical)
    }

    /// Returns the build's provenance as JSON.
    ///
    /// # Errors
    ///
    /// As for [`Self::manifest`].
    pub fn provenance(&self) -> Result<&str, Corrupt> {
        self.whole(Kind::Provenance)
    }

    fn whole(&self, kind: Kind) -> Result<&str, Corrupt> {
        let length = self.section_bytes(kind).unwrap_or(0);
        self.utf8(kind, 0, length)
    }

    fn find<T>(
        &self,
        kind: Kind,
        name: &str,
        mut candidate: impl FnMut(usize) -> Result<Option<T>, Corrupt>,
    ) -> Result<Option<T>, Corrupt> {
        let slots = self.count(kind);
        if slots == 0 {
            return Ok(None);
        }
        let first = name_slot(name, slots);
        // At most every slot once: a table without a free slot must not hold us.
        for step in 0..slots {
            let slot: &zerocopy::little_endian::U32 = self.record(kind, (first + step) % slots)?;
            let Some(index) = slot.get().checked_sub(1) else { return Ok(None) };
            if let Some(found) = candidate(index as usize)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn place(&self, index: zerocopy::little_endian::U32) -> Result<PlaceView<'_>, Corrupt> {
        let record: &record::Place = self.record(Kind::Places, index.get() as usize)?;
        Ok(PlaceView {
            file: self.string(record.file)?,
            line: record.line.get(),
            column: record.column.get(),
        })
    }

    fn string(&self, text: record::Text) -> Result<&str, Corrupt> {
        self.text(Kind::Strings, text)
    }

    fn optional(&self, text: record::Text) -> Result<Option<&str>, Corrupt> {
        match text.offset.get() {
            ABSENT => Ok(None),
            _ => self.string(text).map(Some),
        }
    }

    fn text(&self, kind: Kind, text: record::Text) -> Result<&str, Corrupt> {
        self.utf8(kind, text.offset.get() as usize, text.length.get() as usize)
    }

    fn utf8(&self, kind: Kind, start: usize, length: usize) -> Result<&str, Corrupt> {
        str::from_utf8(self.bytes(kind, start, length)?)
            .map_err(|_| Corrupt::Record { section: kind.name(), what: "text (not UTF-8)" })
    }

    fn blob(&self, text: record::Text) -> Result<&[u8], Corrupt> {
        self.bytes(Kind::Bodies, text.offset.get() as usize, text.length.get() as usize)
    }

    fn record<R: FromBytes + KnownLayout + Immutable>(
        &self,
        kind: Kind,
        index: usize,
    ) -> Result<&R, Corrupt> {
        let wrong = Corrupt::Record { section: kind.name(), what: "index" };
        let start = index.checked_mul(size_of::<R>()).ok_or(wrong.clone())?;
        let bytes = self.bytes(kind, start, size_of::<R>())?;
        R::ref_from_bytes(bytes).map_err(|_| wrong)
    }

    fn list<'b>(
        &'b self,
        kind: Kind,
        range: record::Range,
    ) -> Result<impl ExactSizeIterator<Item = usize> + use<'b>, Corrupt> {
        let (start, count) = (range.start.get() as usize, range.count.get() as usize);
        match start.checked_add(count) {
            Some(end) if end <= self.count(kind) => Ok(start..end),
            _ => Err(Corrupt::Record { section: kind.name(), what: "range" }),
        }
    }

    fn strings(&self, range: record::Range) -> Result<Vec<&str>, Corrupt> {
        self.list(Kind::StringLists, range)?
            .map(|index| self.string(*self.record(Kind::StringLists, index)?))
            .collect()
    }

    fn bytes(&self, kind: Kind, start: usize, length: usize) -> Result<&[u8], Corrupt> {
        let corrupt = Corrupt::Page { section: kind.name(), offset: start as u64 };
        let Some(tree) = self.tree(kind) else {
            return if length == 0 { Ok(&[]) } else { Err(corrupt) };
        };
        tree.read(self.file(), start, length).ok_or(corrupt)
    }

    fn count(&self, kind: Kind) -> usize {
        self.section_bytes(kind).unwrap_or(0) / kind.record_bytes()
    }

    fn section_bytes(&self, kind: Kind) -> Option<usize> {
        self.tree(kind).map(Tree::data_length)
    }

    fn tree(&self, kind: Kind) -> Option<&Tree> {
        self.trees.get(place_of(kind))?.as_ref()
    }

    fn file(&self) -> &[u8] {
        (*self.storage).as_ref()
    }
}

fn place_of(kind: Kind) -> usize {
    Kind::ALL.iter().position(|other| *other == kind).unwrap_or(usize::MAX)
}

fn page_list(kind: Kind) -> bool {
    matches!(kind, Kind::PromptPages | Kind::ResourcePages | Kind::TemplatePages)
}

fn envelope_length(file: &[u8], content_length: usize) -> Result<usize, OpenError> {
    let rest = file.get(content_length..).unwrap_or_default();
    let Some((word, envelope)) = rest.split_first_chunk() else { return Err(OpenError::Envelope) };
    let length = u64::from_le_bytes(*word);
    if length > ENVELOPE_BYTES_MAX as u64 {
        return Err(OpenError::Envelope);
    }
    let found = envelope.len() as u64;
    if found < length {
        let missing = length - found;
        let found = file.len() as u64;
        return Err(OpenError::Truncated { found, expected: found + missing });
    }
    if found > length {
        return Err(OpenError::Trailing { extra: found - length });
    }
    Ok(envelope.len())
}

/// Returns the slot where the search for `name` begins in a table of `slots` slots.
///
/// The hash is 64-bit FNV-1a with a final mix. It is part of the format.
pub(crate) fn name_slot(name: &str, slots: usize) -> usize {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 32;
    usize::try_from(hash % slots as u64).unwrap_or(0)
}

/// Who and what a bundle is; the fields are those of [`Manifest`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented once, at `Manifest`")]
pub struct ManifestView<'b> {
    pub project: &'b str,
    pub version: Option<&'b str>,
    pub title: Option<&'b str>,
    pub owner: Option<&'b str>,
    pub environment: Option<&'b str>,
    pub compiler: &'b str,
    pub instructions: &'b str,
    pub index: Vec<&'b str>,
    pub epoch: u64,
}

impl ManifestView<'_> {
    /// Returns the manifest as an owned value.
    #[must_use]
    pub fn to_owned(self) -> Manifest {
        let Self {
            project,
            version,
            title,
            owner,
            environment,
            compiler,
            instructions,
            index,
            epoch,
        } = self;
        Manifest {
            project: project.into(),
            version: version.map(Into::into),
            title: title.map(Into::into),
            owner: owner.map(Into::into),
            environment: environment.map(Into::into),
            compiler: compiler.into(),
            instructions: instructions.into(),
            index: index.into_iter().map(Into::into).collect(),
            epoch,
        }
    }
}

/// One prompt, in place.
#[derive(Clone, Copy)]
pub struct PromptView<'b> {
    bundle: &'b Bundle,
    index: usize,
    record: &'b record::Prompt,
}

#[expect(missing_docs, reason = "documented once, at the fields of `Prompt`")]
#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::manifest`")]
impl<'b> PromptView<'b> {
    /// Returns its number in the order of the names.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    pub fn name(&self) -> Result<&'b str, Corrupt> {
        self.bundle.string(self.record.name)
    }

    pub fn title(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.title)
    }

    pub fn description(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.description)
    }

    pub fn summary(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.summary)
    }

    pub fn chapters(&self) -> Result<Vec<&'b str>, Corrupt> {
        self.bundle.strings(self.record.chapters)
    }

    #[must_use]
    pub fn priority(&self) -> u8 {
        self.record.priority
    }

    pub fn meta(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.meta)
    }

    #[must_use]
    pub fn rendering(&self) -> RenderingView<'b> {
        RenderingView { bundle: self.bundle, record: &self.record.rendering }
    }

    pub fn place(&self) -> Result<PlaceView<'b>, Corrupt> {
        self.bundle.place(self.record.place)
    }
}

/// One resource with a fixed URI, in place.
#[derive(Clone, Copy)]
pub struct ResourceView<'b> {
    bundle: &'b Bundle,
    index: usize,
    record: &'b record::Resource,
}

#[expect(missing_docs, reason = "documented once, at the fields of `Resource`")]
#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::manifest`")]
impl<'b> ResourceView<'b> {
    /// Returns its number in the order of the URIs.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    pub fn uri(&self) -> Result<&'b str, Corrupt> {
        self.bundle.string(self.record.uri)
    }

    pub fn name(&self) -> Result<&'b str, Corrupt> {
        self.bundle.string(self.record.name)
    }

    pub fn title(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.title)
    }

    pub fn description(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.description)
    }

    pub fn mime(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.mime)
    }

    /// Returns the bytes of its content without reading them.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.record.body.length.get()
    }

    /// Returns what it holds.
    pub fn content(&self) -> Result<ContentView<'b>, Corrupt> {
        match self.record.kind.get() {
            record::CONTENT_TEXT => {
                self.bundle.text(Kind::Bodies, self.record.body).map(ContentView::Text)
            }
            record::CONTENT_BLOB => self.bundle.blob(self.record.body).map(ContentView::Blob),
            _ => Err(Corrupt::Record { section: Kind::Resources.name(), what: "kind" }),
        }
    }

    pub fn place(&self) -> Result<PlaceView<'b>, Corrupt> {
        self.bundle.place(self.record.place)
    }
}

/// What a resource holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentView<'b> {
    /// Text.
    Text(&'b str),
    /// Any bytes.
    Blob(&'b [u8]),
}

/// One URI template, in place.
#[derive(Clone, Copy)]
pub struct TemplateView<'b> {
    bundle: &'b Bundle,
    index: usize,
    record: &'b record::Template,
}

#[expect(missing_docs, reason = "documented once, at the fields of `ResourceTemplate`")]
#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::manifest`")]
impl<'b> TemplateView<'b> {
    /// Returns its number.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    pub fn uri_template(&self) -> Result<&'b str, Corrupt> {
        self.bundle.string(self.record.uri_template)
    }

    /// Returns the URI template taken apart.
    pub fn pieces(&self) -> Result<Vec<UriPieceView<'b>>, Corrupt> {
        let bundle = self.bundle;
        bundle
            .list(Kind::UriPieces, self.record.pieces)?
            .map(|index| {
                let piece: &record::UriPiece = bundle.record(Kind::UriPieces, index)?;
                match piece.variable.get() {
                    ABSENT => bundle.string(piece.literal).map(UriPieceView::Literal),
                    variable => Ok(UriPieceView::Variable(variable)),
                }
            })
            .collect()
    }

    pub fn name(&self) -> Result<&'b str, Corrupt> {
        self.bundle.string(self.record.name)
    }

    pub fn title(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.title)
    }

    pub fn description(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.description)
    }

    pub fn mime(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.mime)
    }

    #[must_use]
    pub fn rendering(&self) -> RenderingView<'b> {
        RenderingView { bundle: self.bundle, record: &self.record.rendering }
    }

    pub fn place(&self) -> Result<PlaceView<'b>, Corrupt> {
        self.bundle.place(self.record.place)
    }
}

/// A piece of a URI template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UriPieceView<'b> {
    /// Text as it is.
    Literal(&'b str),
    /// The variable that fills the argument with this index.
    Variable(u32),
}

/// Arguments and variants, in place.
#[derive(Clone, Copy)]
pub struct RenderingView<'b> {
    bundle: &'b Bundle,
    record: &'b record::Rendering,
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::manifest`")]
impl<'b> RenderingView<'b> {
    /// Returns the arguments in the order in which they were declared.
    pub fn arguments(&self) -> Result<Vec<ArgumentView<'b>>, Corrupt> {
        let bundle = self.bundle;
        let mut room = bundle.count(Kind::StringLists);
        bundle
            .list(Kind::Arguments, self.record.arguments)?
            .map(|index| {
                let record: &record::Argument = bundle.record(Kind::Arguments, index)?;
                let kind = match record.kind {
                    record::ARGUMENT_CHOICE => {
                        take(&mut room, Kind::StringLists, record.choices)?;
                        ArgumentKindView::Choice(bundle.strings(record.choices)?)
                    }
                    record::ARGUMENT_TEXT => {
                        ArgumentKindView::Text { chars_max: record.chars_max.get() }
                    }
                    _ => return Err(Corrupt::Record { section: "arguments", what: "kind" }),
                };
                Ok(ArgumentView {
                    name: bundle.string(record.name)?,
                    description: bundle.optional(record.description)?,
                    required: record.required != 0,
                    default: bundle.optional(record.default)?,
                    kind,
                    stride: record.stride.get(),
                })
            })
            .collect()
    }

    /// Returns how many variants there are.
    #[must_use]
    pub fn variant_count(&self) -> usize {
        self.record.variants.count.get() as usize
    }

    /// Returns the variant with this number.
    pub fn variant(&self, number: usize) -> Result<VariantView<'b>, Corrupt> {
        let index = self
            .bundle
            .list(Kind::Variants, self.record.variants)?
            .nth(number)
            .ok_or(Corrupt::Record { section: "variants", what: "number" })?;
        let messages: &record::Range = self.bundle.record(Kind::Variants, index)?;
        Ok(VariantView { bundle: self.bundle, messages })
    }
}

/// One argument; the fields are those of [`Argument`](crate::Argument).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented once, at `Argument`")]
pub struct ArgumentView<'b> {
    pub name: &'b str,
    pub description: Option<&'b str>,
    pub required: bool,
    pub default: Option<&'b str>,
    pub kind: ArgumentKindView<'b>,
    pub stride: u32,
}

/// Which values an argument takes; see [`ArgumentKind`](crate::ArgumentKind).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented once, at `ArgumentKind`")]
pub enum ArgumentKindView<'b> {
    Choice(Vec<&'b str>),
    Text { chars_max: u32 },
}

/// The messages of one combination of arguments, in place.
#[derive(Clone, Copy)]
pub struct VariantView<'b> {
    bundle: &'b Bundle,
    messages: &'b record::Range,
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::manifest`")]
impl<'b> VariantView<'b> {
    /// Returns the messages in order.
    pub fn messages(&self) -> Result<Vec<MessageView<'b>>, Corrupt> {
        let bundle = self.bundle;
        let mut parts_room = bundle.count(Kind::Parts);
        let mut segments_room = bundle.count(Kind::Segments);
        bundle
            .list(Kind::Messages, *self.messages)?
            .map(|index| {
                let record: &record::Message = bundle.record(Kind::Messages, index)?;
                let role = match record.role.get() {
                    record::ROLE_USER => Role::User,
                    record::ROLE_ASSISTANT => Role::Assistant,
                    _ => return Err(Corrupt::Record { section: "messages", what: "role" }),
                };
                take(&mut parts_room, Kind::Parts, record.parts)?;
                let parts = bundle
                    .list(Kind::Parts, record.parts)?
                    .map(|index| bundle.part(index, &mut segments_room))
                    .collect::<Result<_, _>>()?;
                Ok(MessageView { role, parts })
            })
            .collect()
    }
}

impl Bundle {
    fn part(&self, index: usize, room: &mut usize) -> Result<PartView<'_>, Corrupt> {
        let record: &record::Part = self.record(Kind::Parts, index)?;
        let mime = self.optional(record.mime)?;
        let wrong = Corrupt::Record { section: Kind::Parts.name(), what: "kind" };
        Ok(match record.kind.get() {
            record::PART_TEXT => PartView::Text(self.segments(record.segments, room)?),
            record::PART_IMAGE => {
                PartView::Image { mime: mime.unwrap_or_default(), bytes: self.blob(record.blob)? }
            }
            record::PART_AUDIO => {
                PartView::Audio { mime: mime.unwrap_or_default(), bytes: self.blob(record.blob)? }
            }
            record::PART_RESOURCE_TEXT => PartView::ResourceText {
                uri: self.segments(record.uri, room)?,
                mime,
                text: self.segments(record.segments, room)?,
            },
            record::PART_RESOURCE_BLOB => PartView::ResourceBlob {
                uri: self.segments(record.uri, room)?,
                mime,
                bytes: self.blob(record.blob)?,
            },
            _ => return Err(wrong),
        })
    }

    fn segments(
        &self,
        range: record::Range,
        room: &mut usize,
    ) -> Result<Vec<SegmentView<'_>>, Corrupt> {
        take(room, Kind::Segments, range)?;
        self.list(Kind::Segments, range)?
            .map(|index| {
                let record: &record::Segment = self.record(Kind::Segments, index)?;
                match record.slot.get() {
                    ABSENT => self.text(Kind::Bodies, record.body).map(SegmentView::Literal),
                    slot => Ok(SegmentView::Slot(slot)),
                }
            })
            .collect()
    }
}

/// Takes the records of `range` out of the `room` that one answer has.
///
/// No two records of an answer share what they refer to, so it never has more of a section than
/// the section itself. Without that limit a small file could ask for any amount of memory.
fn take(room: &mut usize, section: Kind, range: record::Range) -> Result<(), Corrupt> {
    let wrong = Corrupt::Record { section: section.name(), what: "range (it is used twice)" };
    *room = room.checked_sub(range.count.get() as usize).ok_or(wrong)?;
    Ok(())
}

/// One message of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageView<'b> {
    /// Who says it.
    pub role: Role,
    /// What it says.
    pub parts: Vec<PartView<'b>>,
}

/// One part of a message; see [`Part`](crate::Part).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented once, at `Part`")]
pub enum PartView<'b> {
    Text(Vec<SegmentView<'b>>),
    Image { mime: &'b str, bytes: &'b [u8] },
    Audio { mime: &'b str, bytes: &'b [u8] },
    ResourceText { uri: Vec<SegmentView<'b>>, mime: Option<&'b str>, text: Vec<SegmentView<'b>> },
    ResourceBlob { uri: Vec<SegmentView<'b>>, mime: Option<&'b str>, bytes: &'b [u8] },
}

/// A piece of rendered text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentView<'b> {
    /// Text as it is.
    Literal(&'b str),
    /// The value of the argument with this index.
    Slot(u32),
}

/// A prebuilt page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageView<'b> {
    /// The index of its first entry.
    pub first: u32,
    /// How many entries it has.
    pub count: u32,
    /// The entries as the JSON array that MCP sends.
    pub json: &'b str,
}

/// A place in the project's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceView<'b> {
    /// The file, relative to the project's folder.
    pub file: &'b str,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for PlaceView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
