//! The project that is served: small, with a bit of everything, in a folder of its own.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use relay_bundle::trust::PublicKey;
use relay_bundle::{Content, Contents, Digest};
use relay_compiler::Options;
use tempfile::TempDir;

use crate::bundle::sample::{self, key};
use crate::support::{self, Memory, compiled};

/// The project. `EPOCH`, `NOTE` and `MORE` are replaced by tests.
const PROJECT: &str = r##"
project house version="4.2.0" epoch=EPOCH {
    title "The house"
}
messages {
    session-greeting "Read `deploy` before you touch {{project_name}}."
}
prompts {
    prompt deploy template=#true {
        title "Deploy a service"
        description "How a service gets out"
        arg environment default=staging { one-of staging production }
        arg dry-run type=boolean default=#false
        arg service required=#true description="Which one"
        text "Deploy {{ service }} to {{ environment }}{% if environment == 'production' %}, with care{% endif %}{% if dry_run %} (rehearsal){% endif %}."
    }
    prompt note {
        summary "Says it again"
        text "NOTE $ARGUMENTS"
    }
    prompt show {
        arg arguments
        message role=user {
            text "Look at $ARGUMENTS."
            file "checklist.md"
            resource "relay://inline" mime="text/plain" { text "Inline." }
        }
        message role=assistant { text "I look." }
        message role=user { image file="dot.png"; audio file="beep.wav" }
    }
    // MORE
}
resources {
    resource "relay://checklist" mime="text/markdown" file="checklist.md" {
        title "Checklist"
    }
    resource "relay://dot" mime="image/png" file="dot.png"
    resource "relay://rooms/{room}/plan" mime="text/markdown" template=#true {
        description "The plan of a room"
        arg room { one-of kitchen office }
        text "{% if room == 'office' %}The office{% else %}A room{% endif %}: {{ room }}"
    }
    resource "relay://notes/{id}" template=#true {
        arg id
        text "Note {{ id }}"
    }
}
"##;

/// The text of `checklist.md`.
pub(crate) const CHECKLIST: &str = "# Checklist\n\n- Is there a test?\n";
/// The bytes of `dot.png`.
pub(crate) const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";
/// The bytes of `beep.wav`.
pub(crate) const BEEP: &[u8] = b"RIFF\x24\0\0\0WAVEfmt ";

/// The number of the key that signs.
pub(crate) const SIGNER: u8 = 1;

/// The house at this epoch, saying this in the prompt `note`.
pub(crate) fn contents(epoch: u64, note: &str) -> Contents {
    contents_with(epoch, note, "")
}

/// The same with these prompts as well.
pub(crate) fn contents_with(epoch: u64, note: &str, prompts: &str) -> Contents {
    let project = PROJECT.replace("EPOCH", &epoch.to_string()).replace("NOTE", note);
    contents_of(&project.replace("// MORE", prompts))
}

/// The house as a signed bundle.
pub(crate) fn bundle(epoch: u64, note: &str) -> Vec<u8> {
    sample::sealed(&contents(epoch, note), &[SIGNER])
}

/// The house with another checklist of as many bytes, as a signed bundle.
pub(crate) fn with_other_checklist(epoch: u64) -> Vec<u8> {
    let mut contents = contents(epoch, "Note:");
    let checklist = &mut contents.resources[0];
    assert_eq!(checklist.uri, "relay://checklist");
    checklist.content = sample::made(Content::Text(
        CHECKLIST.replace(|it: char| it.is_ascii_lowercase(), "x").into(),
    ));
    sample::sealed(&contents, &[SIGNER])
}

/// The bundle of another project, which may use the house's files.
pub(crate) fn bundle_of(project: &str) -> Vec<u8> {
    sample::sealed(&contents_of(project), &[SIGNER])
}

/// A project of this many prompts, named `prompt-0000` and on.
pub(crate) fn many(count: usize) -> String {
    let prompts = (0..count)
        .map(|number| format!("prompt prompt-{number:04} {{ text \"Text {number}\" }}\n"));
    format!("project many epoch=1\nprompts {{\n{}}}\n", prompts.collect::<String>())
}

/// Compiles a project, which may use the house's files, and returns its contents.
pub(crate) fn contents_of(project: &str) -> Contents {
    let mut files = Memory::of(&[("project.kdl", project), ("checklist.md", CHECKLIST)]);
    files.0.insert("dot.png".into(), DOT.to_vec());
    files.0.insert("beep.wav".into(), BEEP.to_vec());
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    support::contents(&compiled).unwrap_or_else(|| panic!("{report}"))
}

/// The digest of a bundle, as records and messages show it.
pub(crate) fn digest(bytes: &[u8]) -> String {
    sample::open(bytes).expect("the bundle opens").digest().to_string()
}

/// SHA-256 as 64 hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Digest::of(bytes).hex()
}

/// The line of a trust file for a test key; `extra` is further TOML of its table.
pub(crate) fn trusted(number: u8, extra: &str) -> String {
    let public = PublicKey(key(number).verifying_key());
    format!("[[keys]]\nname = \"key-{number}\"\npublic = \"{public}\"\n{extra}\n")
}

/// A folder with a bundle, whom to trust, and an empty home. It stays while a server needs it.
pub(crate) struct House {
    folder: Arc<TempDir>,
}

impl House {
    /// The house at epoch 1, signed by a key that the trust file holds.
    pub(crate) fn new() -> Self {
        Self::of(&bundle(1, "Note:"))
    }

    /// A folder that serves this bundle.
    pub(crate) fn of(bundle: &[u8]) -> Self {
        let house = Self { folder: Arc::new(TempDir::new().expect("a temporary folder")) };
        house.write("house.relay", bundle);
        house.write("trust.toml", format!("version = 1\n{}", trusted(SIGNER, "")));
        house.write("server.toml", "[watch]\npoll-ms = 50\n");
        fs::create_dir(house.path("home")).expect("a home");
        house
    }

    /// A folder that serves a bundle whose parts do not follow from its contents, as no compiler of this
    /// version writes one.
    pub(crate) fn of_altered(contents: &Contents) -> Self {
        let bytes = sample::sealed(contents, &[SIGNER]);
        let house = Self::of(&bytes);
        let allowed = format!("allow-digests = [\"{}\"]", digest(&bytes));
        house.write("trust.toml", format!("version = 1\n{allowed}\n{}", trusted(SIGNER, "")));
        house
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder(&self) -> Arc<TempDir> {
        self.folder.clone()
    }

    /// Writes a file in place.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).expect("the folder can be written");
    }

    /// Puts another file in the bundle's place, as a careful deployment does.
    pub(crate) fn replace(&self, bundle: &[u8]) {
        self.write("new.relay", bundle);
        fs::rename(self.path("new.relay"), self.path("house.relay")).expect("a rename");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("the file can be read")
    }
}
