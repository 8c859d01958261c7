//! The binaries and the files of a run, and the key that signs its bundles.

use std::fs;
use std::path::{Path, PathBuf};

use ed25519_dalek::SigningKey;
use relay_bundle::envelope::{self, Envelope};
use relay_bundle::trust::{self, Trust};
use relay_bundle::{Bundle, Contents, encode};

use crate::Result;

/// Where the binaries, and the files of this run, are.
pub(crate) struct Setting {
    pub(crate) relay: PathBuf,
    pub(crate) relay_serve: PathBuf,
    pub(crate) relay_hook: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) trust: Trust,
    pub(crate) key: SigningKey,
}

impl Setting {
    /// Makes the folder of this run.
    pub(crate) fn new(binaries: &Path) -> Result<Self> {
        let folder = folder_of(std::process::id());
        fs::create_dir_all(&folder)?;
        let (key, public, trust) = keys()?;
        let text = format!("version = 1\n[[keys]]\nname = \"bench\"\npublic = \"{public}\"\n");
        fs::write(folder.join("trust.toml"), text)?;
        Ok(Self {
            relay: binaries.join("relay"),
            relay_serve: binaries.join("relay-serve"),
            relay_hook: binaries.join("relay-hook"),
            folder,
            trust,
            key,
        })
    }

    /// Fails if a binary was not built.
    pub(crate) fn check_binaries(&self) -> Result<()> {
        for binary in [&self.relay, &self.relay_serve, &self.relay_hook] {
            if !binary.exists() {
                return Err(format!(
                    "{}: build it with `cargo build --release --workspace`",
                    binary.display()
                )
                .into());
            }
        }
        Ok(())
    }

    /// Writes a signed bundle and returns its path.
    pub(crate) fn bundle(&self, name: &str, contents: &Contents) -> Result<PathBuf> {
        let path = self.folder.join(name);
        fs::write(&path, self.signed(contents)?)?;
        Ok(path)
    }

    /// Builds a project, signs the bundle and returns its path.
    pub(crate) fn project(&self, name: &str, text: &str) -> Result<PathBuf> {
        fs::write(self.folder.join(format!("{name}.kdl")), text)?;
        let plain = format!("{name}-unsigned.relay");
        let mut build = harness::command(&self.relay, &self.folder);
        build.args(["build", &format!("{name}.kdl"), "--unsigned", "-q", "-o", &plain]);
        let ended = harness::run(build);
        if ended.code != Some(0) {
            return Err(format!("the project cannot be built: {}", ended.stderr).into());
        }
        let bundle = Bundle::open(Box::new(fs::read(self.folder.join(plain))?))?;
        let path = self.folder.join(format!("{name}.relay"));
        fs::write(&path, self.sealed(&bundle)?)?;
        Ok(path)
    }

    /// Returns the bytes of a signed bundle.
    pub(crate) fn signed(&self, contents: &Contents) -> Result<Vec<u8>> {
        self.sealed(&Bundle::open(Box::new(encode(contents)?))?)
    }

    /// Returns the bytes of a bundle with a signature.
    pub(crate) fn sealed(&self, bundle: &Bundle) -> Result<Vec<u8>> {
        let mut envelope = Envelope::unsigned(bundle)?;
        envelope.sign(&self.key)?;
        Ok(envelope::attach(bundle, &envelope)?)
    }

    /// Returns the trust file that names the key.
    pub(crate) fn trust_file(&self) -> PathBuf {
        self.folder.join("trust.toml")
    }
}

/// Returns the folder of the run of a process: always as long, so that a path costs the same in each run.
pub(crate) fn folder_of(process: u32) -> PathBuf {
    std::env::temp_dir().join(format!("relay-bench-{process:010}"))
}

/// Returns the key of these bundles, and who trusts it.
pub(crate) fn keys() -> Result<(SigningKey, String, Trust)> {
    let key = SigningKey::from_bytes(&[7; 32]);
    let public = trust::PublicKey(key.verifying_key()).to_string();
    let trust = serde_json::from_value(serde_json::json!({
        "version": 1,
        "keys": [{ "name": "bench", "public": public }],
    }))?;
    Ok((key, public, trust))
}

impl Drop for Setting {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.folder);
    }
}
