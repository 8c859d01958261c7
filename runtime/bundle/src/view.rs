//! Bytes -> answers. Everything is read in place; every page is checked before its first use.

mod gate;
mod manifest;
mod prompt;
mod rendering;
mod resource;
mod tag_index;

pub use gate::{GateView, MessagePieceView, ToolView};
pub use manifest::{ManifestView, PageView, PlaceView};
pub use prompt::PromptView;
pub use rendering::{
    ArgumentKindView, ArgumentView, MessageView, PartView, RenderingView, SegmentView, VariantView,
};
pub use resource::{ContentView, ResourceView, TemplateView, UriPieceView};
pub use tag_index::{Postings, RankBlock, TagIndexView};

use std::fmt;
use std::str;
use std::sync::atomic::AtomicBool;

use zerocopy::{FromBytes, Immutable, KnownLayout};

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
    /// The tree of each kind, by the kind's number: every read looks here.
    trees: [Option<Tree>; Kind::NUMBERS],
    /// Whether the sections of the tag index were found to fit each other.
    tag_index_fits: AtomicBool,
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
        let mut trees = [const { None }; Kind::NUMBERS];
        for (info, tree) in front.sections.iter().zip(front.trees) {
            let Some(kind) = info.kind else { continue };
            if let Some(slot) = trees.get_mut(kind as usize) {
                *slot = Some(tree);
            }
        }
        let bundle = Self {
            format_minor: front.format_minor,
            epoch: front.epoch,
            digest: front.digest,
            sections: front.sections,
            trees,
            tag_index_fits: AtomicBool::new(false),
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

    /// Returns a prebuilt page of a list: `PromptPages`, `ResourcePages`, `TemplatePages` or
    /// `ToolPages`.
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
        self.trees.get(kind as usize)?.as_ref()
    }

    fn file(&self) -> &[u8] {
        (*self.storage).as_ref()
    }
}

fn page_list(kind: Kind) -> bool {
    use Kind::{PromptPages, ResourcePages, TemplatePages, ToolPages};
    matches!(kind, PromptPages | ResourcePages | TemplatePages | ToolPages)
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
