//! One side of a comparison, and its bundle in each environment.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use relay_bundle::trust::Trust;
use relay_bundle::{Bundle, FORMAT_MAJOR, FORMAT_MINOR};
use relay_compiler::{Options, Parsed, Sources, VERSION};
use relay_diff::Signers;
use serde::Deserialize;

use crate::args::ReportFormat;
use crate::command::verify::{self, Signature};
use crate::failure::Failure;
use crate::output::Output;
use crate::project::{Project, Request};
use crate::report;
use crate::revision::Revision;
use crate::subject::{self, BUNDLE_BYTES_MAX, Front};

/// One side of a comparison.
pub(crate) struct Side {
    /// The argument of the command, or `HEAD` and `work tree` by default.
    pub(crate) label: String,
    /// The hash of its commit.
    pub(crate) commit: Option<String>,
    /// Its content.
    pub(crate) content: Content,
}

/// The content of a side.
pub(crate) enum Content {
    /// Nothing: all of the other side is new, or gone.
    Nothing,
    /// A bundle.
    Bundle(BundleFile),
    /// A project to compile.
    Project(Project),
}

/// The place of a bundle.
pub(crate) enum BundleFile {
    /// A file on disk.
    Disk(PathBuf),
    /// A file of a revision.
    Revision(Rc<Revision>, PathBuf),
}

/// A side that can give its bundle.
pub(crate) enum Opened<'s> {
    /// An empty side.
    Nothing,
    /// The bundle itself.
    Bundle(Rc<Bundle>),
    /// A project's compiler.
    Project(Box<Compiler<'s>>),
}

/// Compiles the project of a side, for one environment after the other.
pub(crate) struct Compiler<'s> {
    project: &'s Project,
    sources: &'s Sources<'s>,
    parsed: Parsed<'s>,
    environments: Vec<String>,
    /// Whether the bundle of the base is needed again.
    keeps_base: bool,
    /// That bundle.
    base: Option<Rc<Bundle>>,
}

/// A side that is left out, since its project has errors.
pub(crate) struct Broken {
    /// The environment of the compilation.
    pub(crate) environment: Option<String>,
}

impl Side {
    /// Returns the sources of its project.
    pub(crate) fn sources(&self) -> Option<Sources<'_>> {
        match &self.content {
            Content::Project(project) => Some(project.sources()),
            Content::Nothing | Content::Bundle(_) => None,
        }
    }

    /// Opens it; `sources` are its own.
    pub(crate) fn open<'s>(
        &'s self,
        sources: Option<&'s Sources<'s>>,
        options: &'s Options,
    ) -> Result<Opened<'s>, Failure> {
        Ok(match (&self.content, sources) {
            (Content::Bundle(file), _) => Opened::Bundle(Rc::new(file.open(&self.label)?)),
            (Content::Project(project), Some(sources)) => {
                let parsed = Parsed::new(sources, options);
                let environments = parsed.environments();
                Opened::Project(Box::new(Compiler {
                    project,
                    sources,
                    parsed,
                    environments,
                    keeps_base: false,
                    base: None,
                }))
            }
            (Content::Nothing | Content::Project(_), _) => Opened::Nothing,
        })
    }
}

impl BundleFile {
    /// Opens the bundle, and checks every page of it: a damaged one would differ from the built
    /// one.
    pub(crate) fn open(&self, label: &str) -> Result<Bundle, Failure> {
        let bundle = self.open_unchecked(label)?;
        bundle.check_all().map_err(|error| subject::at(label, error.into()))?;
        Ok(bundle)
    }

    /// Returns the names of the bundle's project and of its environment.
    pub(crate) fn names(&self, label: &str) -> Result<(String, Option<String>), Failure> {
        let bundle = match self.front() {
            Some(front) => front.bundle,
            None => self.open_unchecked(label)?,
        };
        let manifest = bundle.manifest();
        Ok((manifest.project.value.clone(), manifest.environment.clone()))
    }

    /// Returns the front of a bundle on disk; `None` if it must be read as a whole.
    pub(crate) fn front(&self) -> Option<Front> {
        match self {
            Self::Disk(path) => subject::open_front(path),
            Self::Revision(..) => None,
        }
    }

    fn open_unchecked(&self, label: &str) -> Result<Bundle, Failure> {
        match self {
            Self::Disk(path) => Ok(subject::open_bundle(path)?.bundle),
            Self::Revision(revision, path) => {
                let bytes = revision.read(path, BUNDLE_BYTES_MAX, label)?;
                let opened = subject::in_memory(bytes);
                Ok(opened.map_err(|failure| subject::at(label, failure))?.bundle)
            }
        }
    }
}

impl Opened<'_> {
    /// Returns the compiler of its bundles, and their format, if it has bundles.
    pub(crate) fn build(&self) -> Option<(String, (u16, u16))> {
        match self {
            Self::Nothing => None,
            Self::Bundle(bundle) => Some((bundle.manifest().compiler.clone(), bundle.format())),
            Self::Project(_) => Some((format!("relay {VERSION}"), (FORMAT_MAJOR, FORMAT_MINOR))),
        }
    }

    /// Returns the environments that it names; of a bundle, its own.
    pub(crate) fn environments(&self) -> &[String] {
        match self {
            Self::Nothing => &[],
            Self::Bundle(bundle) => bundle.manifest().environment.as_slice(),
            Self::Project(compiler) => &compiler.environments,
        }
    }

    /// Returns the bundle itself, if it is one.
    pub(crate) fn as_bundle(&self) -> Option<&Bundle> {
        match self {
            Self::Bundle(bundle) => Some(bundle),
            Self::Nothing | Self::Project(_) => None,
        }
    }

    /// Returns the bundle for an environment, or the one without for an environment unknown to the
    /// project; `None` for an empty side.
    pub(crate) fn bundle(
        &mut self,
        environment: Option<&str>,
    ) -> Result<Result<Option<Rc<Bundle>>, Broken>, Failure> {
        match self {
            Self::Nothing => Ok(Ok(None)),
            Self::Bundle(bundle) => Ok(Ok(Some(Rc::clone(bundle)))),
            Self::Project(compiler) => Ok(compiler.compile(environment)?.map(Some)),
        }
    }

    /// Notes the environments that will be asked for.
    pub(crate) fn expect(&mut self, environments: &[Option<String>]) {
        if let Self::Project(compiler) = self {
            let known = &compiler.environments;
            compiler.keeps_base = environments.iter().flatten().any(|name| !known.contains(name));
        }
    }

    /// Reports the errors of its project, as `relay check` does: in its broken environment, or in
    /// all if all are compared (`is_in_all`).
    pub(crate) fn report(
        &self,
        broken: Broken,
        is_in_all: bool,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let Self::Project(compiler) = self else { return Ok(()) };
        let Compiler { project, sources, .. } = &**compiler;
        let compiled = if is_in_all {
            project.check(sources, Request::default(), output)?
        } else {
            let request = Request { environment: broken.environment, ..Request::default() };
            project.compile(sources, request, output)?
        };
        let origin = project.origin(sources);
        let look = output.message_look();
        let drawn = report::draw(&compiled.diagnostics, &origin, ReportFormat::Human, look)?;
        output.message(drawn);
        Ok(())
    }

    /// Returns path and digest of each source file of its bundles.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        match self {
            Self::Nothing => BTreeMap::new(),
            Self::Bundle(bundle) => provenance_files(bundle),
            Self::Project(compiler) => {
                let digests = compiler.sources.digests().into_iter();
                digests.map(|(path, digest)| (path, digest.hex())).collect()
            }
        }
    }

    /// Returns the signatures of its bundle: checked, if there is a trust file.
    pub(crate) fn signatures(&self, trust: Option<&Trust>) -> Vec<Signature> {
        match (self.as_bundle(), trust) {
            (None, _) => Vec::new(),
            (Some(bundle), None) => verify::unchecked_signatures(bundle),
            (Some(bundle), Some(trust)) => verify::signatures(bundle, trust),
        }
    }

    /// Returns a trust file's verdict on its bundle, if it is one.
    pub(crate) fn signers(&self, trust: Option<&Trust>) -> Option<Signers> {
        Some(verify::signers(self.as_bundle()?, trust?))
    }
}

impl Compiler<'_> {
    fn compile(
        &mut self,
        environment: Option<&str>,
    ) -> Result<Result<Rc<Bundle>, Broken>, Failure> {
        let named = environment.filter(|name| self.environments.iter().any(|it| it == name));
        if let (None, Some(base)) = (named, &self.base) {
            return Ok(Ok(Rc::clone(base)));
        }
        let compiled = self.project.read(self.parsed.compile(named))?;
        let Some(bytes) = compiled.bundle else {
            return Ok(Err(Broken { environment: named.map(str::to_owned) }));
        };
        let bundle = Rc::new(subject::in_memory(bytes)?.bundle);
        if named.is_none() && self.keeps_base {
            self.base = Some(Rc::clone(&bundle));
        }
        Ok(Ok(bundle))
    }
}

/// The used part of a bundle's provenance: the files, without a copy of everything else.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Provenance<'p> {
    #[serde(rename = "resolvedDependencies", borrow)]
    files: Vec<SourceFile<'p>>,
}

#[derive(Deserialize)]
struct SourceFile<'p> {
    #[serde(borrow)]
    name: Cow<'p, str>,
    digest: SourceDigest,
}

#[derive(Deserialize)]
struct SourceDigest {
    sha256: String,
}

/// Returns the files in a bundle's provenance; empty if it is absent.
fn provenance_files(bundle: &Bundle) -> BTreeMap<String, String> {
    let provenance = bundle.provenance().unwrap_or_default();
    let Provenance { files } = serde_json::from_str(provenance).unwrap_or_default();
    files.into_iter().map(|file| (file.name.into_owned(), file.digest.sha256)).collect()
}
