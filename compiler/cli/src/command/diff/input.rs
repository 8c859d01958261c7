//! The sides of a comparison, from the user's words.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{fs, io};

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::args::{AreaName, Condition};
use crate::command::diff::pair::Pair;
use crate::command::diff::side::{BundleFile, Content, Side};
use crate::disk;
use crate::failure::Failure;
use crate::kind::{self, BEGINNING};
use crate::process::Repository;
use crate::project::{DOCUMENT, Project};
use crate::revision::{Found, Named, Revision};
use crate::subject::BUNDLE_BYTES_MAX;
use crate::text::shown_path;

/// The word for an empty side.
const NOTHING: &str = "/dev/null";
/// The ending of a bundle's name.
const BUNDLE: &str = "relay";

/// The input for one side, as it was typed.
enum Input {
    /// One project or bundle, or nothing.
    One(Side),
    /// The bundles of a folder.
    Folder(BTreeMap<Names, Side>),
}

/// The key that pairs bundles of two folders: the project, and the environment that it was built for.
type Names = (String, Option<String>);

/// A file or project that a revision lacks.
struct Missing {
    /// A sentence that names it.
    message: String,
    /// A name that may have been meant.
    help: String,
    /// Its commit.
    commit: Option<String>,
}

/// Returns the failure for more than two sides: some may be values of the option before them.
fn too_many(typed: &[PathBuf]) -> Failure {
    let failure = Failure::error("three or more things cannot be compared");
    let conditions = Condition::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let areas = AreaName::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let values: Vec<PossibleValue> = conditions.chain(areas).collect();
    let mut words = typed.iter().filter_map(|word| word.to_str());
    if let Some(word) = words.find(|word| values.iter().any(|value| value.matches(word, false))) {
        return failure.help(format!(
            "`{word}` was read as a side; separate the values of an option by a comma: `--fail-on loosens,breaking`, \
             `--only authority,surface`"
        ));
    }
    failure.help("give A and B, or B alone to compare the last commit with the work tree")
}

/// Returns the pairs to compare: one, unless the sides are folders of bundles.
pub(crate) fn pairs(typed: &[PathBuf]) -> Result<Vec<Pair>, Failure> {
    let mut notes = Vec::new();
    let (a, b) = match typed {
        [b] => against_head(b, &mut notes)?,
        [a, b] => (before(a, &mut notes)?, after(b)?),
        typed => return Err(too_many(typed)),
    };
    let pair = |a, b| Pair { a, b, notes: Vec::new() };
    let mut pairs = match (a, b) {
        (Input::One(a), Input::One(b)) => vec![pair(a, b)],
        (Input::Folder(mut of_a), Input::Folder(mut of_b)) => {
            let names: BTreeSet<_> = of_a.keys().chain(of_b.keys()).cloned().collect();
            let side = |side: Option<Side>| side.unwrap_or_else(|| nothing("nothing".into()));
            let both = |names: Names| {
                let (a, b) = (side(of_a.remove(&names)), side(of_b.remove(&names)));
                pair(a, b)
            };
            names.into_iter().map(both).collect()
        }
        (Input::Folder(of_a), Input::One(b)) if matches!(b.content, Content::Nothing) => {
            let one = |a| pair(a, nothing(b.label.clone()));
            of_a.into_values().map(one).collect()
        }
        (Input::One(a), Input::Folder(of_b)) if matches!(a.content, Content::Nothing) => {
            let one = |b| pair(nothing(a.label.clone()), b);
            of_b.into_values().map(one).collect()
        }
        (Input::Folder(_), Input::One(one)) | (Input::One(one), Input::Folder(_)) => {
            let message = format!("cannot compare a folder of bundles with `{}`", one.label);
            return Err(Failure::error(message)
                .help("compare two folders of bundles, or a bundle of the folder"));
        }
    };
    if let Some(first) = pairs.first_mut() {
        first.notes = notes;
    }
    Ok(pairs)
}

/// Returns the versions of `typed` in HEAD and in the work tree.
fn against_head(typed: &Path, notes: &mut Vec<String>) -> Result<(Input, Input), Failure> {
    let name = shown_path(typed);
    let one_side = |what: &str, example: String| {
        Err(Failure::error(format!("`{name}` alone is compared with HEAD, and it is {what}"))
            .help(format!("give both sides, as in `{example}`")))
    };
    if typed == Path::new(NOTHING) {
        return one_side("nothing", format!("relay diff {DOCUMENT} {NOTHING}"));
    }
    if !exists(typed)
        && let Some(Named { path, .. }) = Named::of(typed)?
    {
        let path = shown_path(&path);
        return one_side("not in the work tree", format!("relay diff {name} {path}"));
    }
    let b = on_disk(typed, "work tree")?;
    // Opened from its own folder, since it may be in another repository.
    let (folder, written) = match typed.file_name() {
        Some(file) if !typed.is_dir() => (disk::folder_of(typed), Path::new(".").join(file)),
        _ => (typed.to_owned(), PathBuf::from(".")),
    };
    let subject = format!("HEAD:{name}");
    let head = Revision::open(&Repository::of(folder), "HEAD".as_ref(), &subject)?;
    let path = head.path(&written, &subject)?;
    let a = match in_revision(&Rc::new(head), &path, "HEAD")? {
        Ok(a) => a,
        Err(missing) => {
            notes.push(format!("{}: all of it is new", missing.message));
            Input::One(Side { commit: missing.commit, ..nothing("HEAD".into()) })
        }
    };
    Ok((a, b))
}

/// Opens A. A thing missing in its revision is an empty side.
fn before(typed: &Path, notes: &mut Vec<String>) -> Result<Input, Failure> {
    let label = shown_path(typed);
    match open(typed, &label)? {
        Ok(input) => Ok(input),
        Err(Missing { message, help, commit }) => {
            notes.push(format!("{message}: all of the other side is new; {help}"));
            Ok(Input::One(Side { commit, ..nothing(label) }))
        }
    }
}

/// Opens B. A thing missing in its revision is an error.
fn after(typed: &Path) -> Result<Input, Failure> {
    let label = shown_path(typed);
    open(typed, &label)?.map_err(|Missing { message, help, commit: _ }| {
        Failure::error(format!("cannot read `{label}`: {message}")).help(help)
    })
}

fn open(typed: &Path, label: &str) -> Result<Result<Input, Missing>, Failure> {
    if typed == Path::new(NOTHING) {
        return Ok(Ok(Input::One(nothing(label.into()))));
    }
    // A file takes precedence over a revision of the same name.
    let named = if exists(typed) { None } else { Named::of(typed)? };
    let Some(Named { revision, path }) = named else { return on_disk(typed, label).map(Ok) };
    let revision = Rc::new(Revision::open(&Repository::default(), &revision, label)?);
    let path = revision.path(&path, label)?;
    in_revision(&revision, &path, label)
}

fn on_disk(path: &Path, label: &str) -> Result<Input, Failure> {
    let side = |label: String, content| Side { label, commit: None, content };
    if path.is_dir() && !exists(&path.join(DOCUMENT)) {
        let bundles = bundles_in(path).map_err(|error| Failure::file("list", path, &error))?;
        if !bundles.is_empty() {
            let sides = bundles
                .into_iter()
                .map(|file| side(shown_path(&file), Content::Bundle(BundleFile::Disk(file))));
            return by_names(sides).map(Input::Folder);
        }
    }
    let content = if !path.is_dir() && exists(path) && kind::is_bundle(path)? {
        Content::Bundle(BundleFile::Disk(path.to_owned()))
    } else if exists(path) || path.extension().is_some() {
        Content::Project(Project::open(path)?)
    } else {
        let name = shown_path(path);
        let failure =
            Failure::error(format!("cannot read `{name}`: the file or folder does not exist"));
        return Err(failure.help(format!(
            "for a revision of that name, write its path too, as in `{name}:{DOCUMENT}`"
        )));
    };
    Ok(Input::One(side(label.into(), content)))
}

fn in_revision(
    revision: &Rc<Revision>,
    path: &Path,
    label: &str,
) -> Result<Result<Input, Missing>, Failure> {
    let commit = revision.commit.clone();
    let side = |label: String, content| Side { label, commit: commit.clone(), content };
    let missing = |path: &Path, help: String| {
        let path = path.to_string_lossy();
        let path = path.trim_start_matches('/');
        let message = format!("{} has no `{path}`", revision.words());
        Missing { message, help, commit: commit.clone() }
    };
    let bundle = |path: PathBuf| Content::Bundle(BundleFile::Revision(Rc::clone(revision), path));
    let document = match revision.find(path, label)? {
        Found::Nothing => return Ok(Err(missing(path, revision.advice(path)))),
        Found::Folder => {
            let document = path.join(DOCUMENT);
            if matches!(revision.find(&document, label)?, Found::Nothing) {
                let bundles = revision.files(path, BUNDLE, label)?;
                if bundles.is_empty() {
                    return Ok(Err(missing(&document, revision.advice(&document))));
                }
                let sides =
                    bundles.into_iter().map(|path| side(revision.label(&path), bundle(path)));
                return by_names(sides).map(Input::Folder).map(Ok);
            }
            document
        }
        Found::File => {
            let ending = path.extension().and_then(|ending| ending.to_str());
            let is_bundle = match ending {
                Some(BUNDLE) => true,
                Some("kdl") => false,
                _ => revision.read(path, BUNDLE_BYTES_MAX, label)?.starts_with(BEGINNING),
            };
            if is_bundle {
                return Ok(Ok(Input::One(side(label.into(), bundle(path.to_owned())))));
            }
            path.to_owned()
        }
    };
    let project = revision.project(&document, label)?;
    Ok(Ok(Input::One(side(label.into(), Content::Project(project)))))
}

/// Returns the bundles by the names of their projects and environments.
fn by_names(sides: impl Iterator<Item = Side>) -> Result<BTreeMap<Names, Side>, Failure> {
    let mut found: BTreeMap<Names, Side> = BTreeMap::new();
    for side in sides {
        let Content::Bundle(file) = &side.content else { continue };
        let names = file.names(&side.label)?;
        if let Some(other) = found.get(&names) {
            let (one, other) = (&other.label, &side.label);
            let (project, environment) = &names;
            let built = match environment {
                Some(name) => format!("for the environment `{name}`"),
                None => "without an environment".into(),
            };
            return Err(Failure::error(format!(
                "`{one}` and `{other}` are both bundles of the project `{project}`, built {built}"
            ))
            .help("keep one of them in the folder, or compare the files one by one"));
        }
        found.insert(names, side);
    }
    Ok(found)
}

/// Returns the paths of the bundles in a folder on disk, sorted.
fn bundles_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut bundles = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == BUNDLE) && path.is_file() {
            bundles.push(path);
        }
    }
    bundles.sort();
    Ok(bundles)
}

fn nothing(label: String) -> Side {
    Side { label, commit: None, content: Content::Nothing }
}

/// Returns whether a file, a folder or a link has exactly this name. On doubt the answer is yes, so
/// that reading it reports the reason.
fn exists(path: &Path) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    let unnamed = [NotFound, NotADirectory, InvalidFilename, InvalidInput];
    path.symlink_metadata().map_or_else(|error| !unnamed.contains(&error.kind()), |_| true)
}
