//! The receipt of a build, beside its bundle: all that the build depended on, and its digest. While all
//! of it is unchanged, and the file is the one that the build would write, there is nothing to do.
//!
//! A receipt is a hint. The front of the file is checked against its digest and the signatures of the
//! keys of this build, so a forged, torn or old receipt costs a build and changes no byte. The digest covers all
//! pages; they are read and compared with it once, and again if the state of the file is another one. A page that
//! is damaged below the file system, which changes no state, is refused by every reader.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io, thread};

use relay_bundle::{Bundle, Digest};
use relay_compiler::Sources;
use serde::{Deserialize, Serialize};

use crate::asked::{Asked, Compared};
use crate::crew::beside;
use crate::disk;
use crate::environment;
use crate::files::{CACHE, ProjectFiles, State};
use crate::keys::{self, Key};
use crate::output::Said;
use crate::subject;

/// The maximum size of a receipt in bytes: some 200 for each file of a project.
const BYTES_MAX: u64 = 256 << 20;
/// The hexadecimal digits of a receipt's name.
const DIGITS: usize = 16;
/// The age at which a temporary file belongs to a process that was killed.
const LEFT_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// The files that keep a folder out of git and of backups (the Cache Directory Tagging Specification).
const MARKS: [(&str, &[u8]); 2] = [
    (".gitignore", b"*\n"),
    (
        "CACHEDIR.TAG",
        b"Signature: 8a477f597d28d172789f06886806bc55\n# `relay build` keeps its receipts here; it may be removed at any time.\n",
    ),
];

/// The place of the receipt of a build.
pub(crate) struct Desk {
    path: PathBuf,
    /// The folder of the project.
    folder: PathBuf,
    /// The digest of all that the build depends on besides files and keys.
    request: String,
    /// The time at which the build began, in seconds since 1970.
    start: u64,
}

/// A receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Receipt {
    request: String,
    /// The path of the bundle.
    path: PathBuf,
    /// Its digest.
    digest: String,
    /// The state of its file when all of it was checked; absent where that was too new to tell changes.
    state: Option<State>,
    asked: Asked,
    /// The texts to print if nothing changed.
    said: Vec<Said>,
}

impl Desk {
    /// Returns the place of the receipt of a build of the project in `folder`. The build begins now.
    ///
    /// Builds with another `name` have a receipt of their own, so it is made of the few arguments by which
    /// the builds of a project differ. `request` is all that a build depends on. `None`: this program
    /// cannot tell itself from another build of its version.
    pub(crate) fn new(
        folder: &Path,
        output: Option<&Path>,
        name: &impl Debug,
        request: &impl Debug,
    ) -> Option<Self> {
        let program = State::of(&environment::own_program()?)?;
        let name = Digest::of(format!("{output:?} {name:?}").as_bytes()).hex();
        let request = format!("{program:?} {} {output:?} {request:?}", relay_compiler::VERSION);
        let beside = output.map_or_else(|| folder.to_owned(), disk::folder_of);
        Some(Self {
            path: beside.join(CACHE).join(name.get(..DIGITS)?).with_extension("json"),
            folder: folder.to_owned(),
            request: Digest::of(request.as_bytes()).to_string(),
            start: environment::now(),
        })
    }

    /// Returns whether a receipt may be there.
    pub(crate) fn is_kept(&self) -> bool {
        self.path.is_file()
    }

    /// Returns the texts to print, if the file of the last such build is the one that this build would
    /// write, with signatures of `keys`.
    pub(crate) fn unchanged(&self, keys: &[Key]) -> Option<Vec<Said>> {
        let receipt = disk::read_text(&self.path, BYTES_MAX).ok()?;
        let receipt: Receipt = serde_json::from_str(&receipt).ok()?;
        if receipt.request != self.request {
            return None;
        }
        let files = ProjectFiles::open(&self.folder).ok()?;
        // The two take about as long as each other. After a change, nothing waits for the bundle.
        let Receipt { path, digest, state, .. } = &receipt;
        let (path, digest, state) = (path.clone(), digest.clone(), state.clone());
        let kept = move || Kept::open(&path, &digest, state.as_ref());
        let kept = thread::Builder::new().spawn(kept).ok()?;
        let read = match receipt.asked.compare(&files, self.start) {
            Compared::Same => None,
            Compared::Read(asked) => Some(asked),
            Compared::Different => return None,
        };
        let Kept { bundle, state, is_checked } = kept.join().ok()??;
        if !is_checked {
            let ((), checked) = beside(|| bundle.check_ahead(), || bundle.check_all());
            checked.ok()?;
        }
        let envelope = keys::envelope(&bundle, keys).ok()?;
        let envelope = envelope.map(|it| it.to_json()).transpose().ok()?.unwrap_or_default();
        // A signature by Ed25519 is a function of key and text (RFC 8032, 5.1.6).
        if bundle.envelope_bytes() != envelope {
            return None;
        }
        let said = receipt.said.clone();
        let is_same_file = State::of(&receipt.path).as_ref() == Some(&state);
        let state = Some(state).filter(|state| is_same_file && state.rests_since(self.start));
        if read.is_some() || state != receipt.state {
            let asked = read.unwrap_or(receipt.asked);
            // The next look is then as quick as any. A receipt that stays as it was is still true.
            let _ = self.write(&Receipt { asked, state, ..receipt });
        }
        Some(said)
    }

    /// Keeps a receipt: the answers that the compiler was given, and the bundle that was written to `path`.
    /// `said` are the texts that the next build prints if nothing changes. Nothing is kept if a file changed
    /// while it was read.
    pub(crate) fn keep(
        &self,
        asked: Asked,
        sources: &Sources<'_>,
        (path, digest): (&Path, Digest),
        said: Vec<Said>,
    ) -> io::Result<()> {
        let Some(asked) = asked.complete(sources, self.start) else { return Ok(()) };
        let (request, path, digest) = (self.request.clone(), path.to_owned(), digest.to_string());
        // The file is new.
        let state = None;
        self.write(&Receipt { request, path, digest, state, asked, said })
    }

    fn write(&self, receipt: &Receipt) -> io::Result<()> {
        let folder = disk::folder_of(&self.path);
        match fs::symlink_metadata(&folder) {
            Ok(found) if found.is_dir() => {}
            // A link in a checkout could lead to any folder of this user.
            Ok(_) => return Err(io::Error::other(format!("`{CACHE}` is not a folder"))),
            Err(_) => {
                fs::create_dir(&folder)?;
                for (name, text) in MARKS {
                    disk::replace_cached(&folder.join(name), text)?;
                }
            }
        }
        disk::remove_temporary(&folder, LEFT_AFTER)?;
        disk::replace_cached(&self.path, &serde_json::to_vec(receipt)?)
    }
}

/// The bundle of a receipt.
struct Kept {
    bundle: Bundle,
    /// The state of its file before it was read.
    state: State,
    /// Whether its pages were checked when the file had this state. Then its front alone is here.
    is_checked: bool,
}

impl Kept {
    /// Opens the bundle with this digest, if its file is there. `checked` is the state of the file when its pages
    /// were checked.
    fn open(path: &Path, digest: &str, checked: Option<&State>) -> Option<Self> {
        // Opening a pipe blocks until its other end is open.
        if !path.is_file() {
            return None;
        }
        let state = State::of(path)?;
        let is_checked = checked == Some(&state);
        let bundle = match is_checked {
            true => subject::open_front(path)?.bundle,
            false => subject::open_bundle(path).ok()?.bundle,
        };
        (bundle.digest().to_string() == digest).then_some(Self { bundle, state, is_checked })
    }
}
