//! Figures with the goal of DESIGN section 13 beside each.
//!
//! `cargo run --release -p relay-tests --bin bench`, after `cargo build --release --workspace`.
//! CPU time is what the scheduler counted for a process, so a busy machine blurs it little; wall
//! time is printed where a goal is one. Nothing here asserts: a figure over its goal is only
//! reported.

#![expect(clippy::print_stdout, reason = "a table is what this prints")]
#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod agent;
mod agent_skills;
mod allocation;
mod audience;
mod audit;
mod automata;
mod cascade;
mod classify;
mod cost;
mod crowd;
mod decide;
mod diff;
mod generate;
mod hook;
mod http;
mod peer;
mod port;
mod select;
mod shell;
mod ssh;
mod stdio;
mod terminal;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ed25519_dalek::SigningKey;
use relay_bundle::envelope::{self, Envelope};
use relay_bundle::trust::{self, Trust};
use relay_bundle::{Bundle, Contents, encode};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Where the binaries, and the files of this run, are.
struct Setting {
    relay: PathBuf,
    relay_serve: PathBuf,
    relay_hook: PathBuf,
    folder: PathBuf,
    trust: Trust,
    key: SigningKey,
}

fn main() -> Result<()> {
    let here = std::env::current_exe()?;
    let folder = here.parent().ok_or("no folder")?.to_owned();
    let setting = Setting::new(&folder)?;
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let in_process = |wanted: &String| {
        ["audit", "read", "select", "classify", "automata"].contains(&wanted.as_str())
    };
    if wanted.is_empty() || !wanted.iter().all(in_process) {
        setting.check_binaries()?;
    }
    println!("| work | measured | goal |\n|---|---|---|");
    type Bench = fn(&Setting) -> Result<()>;
    let benches: &[(&str, Bench)] = &[
        ("start", stdio::start),
        ("stdio", stdio::prompts_get),
        ("http", http::prompts_get),
        ("port", port::evaluations),
        ("crowd", crowd::flood),
        ("check", cost::check),
        ("build", cost::build),
        ("diff", diff::diff),
        ("agent-skills", agent_skills::skills),
        ("audit", audit::records),
        ("load", load),
        ("read", read),
        ("select", select::by_tags),
        ("cascade", cascade::cascade),
        ("audiences", audience::audiences),
        ("classify", classify::in_process),
        ("relay-classify", classify::process),
        ("automata", automata::automata),
        ("decide", decide::decisions),
        ("hook", hook::hooks),
        ("shell", shell::commands),
        ("terminal", terminal::sessions),
        ("ssh", ssh::hosts),
        ("peer", peer::beside),
    ];
    let unknown = |wanted: &&String| !benches.iter().any(|(name, _)| name == wanted);
    if let Some(unknown) = wanted.iter().find(unknown) {
        return Err(format!("no bench is named `{unknown}`").into());
    }
    for (name, bench) in benches {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            bench(&setting)?;
        }
    }
    fs::remove_dir_all(&setting.folder)?;
    Ok(())
}

impl Setting {
    fn new(binaries: &Path) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("relay-bench-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let key = SigningKey::from_bytes(&[7; 32]);
        let public = trust::PublicKey(key.verifying_key());
        let text = format!("version = 1\n[[keys]]\nname = \"bench\"\npublic = \"{public}\"\n");
        fs::write(folder.join("trust.toml"), text)?;
        let trust = serde_json::from_value(serde_json::json!({
            "version": 1,
            "keys": [{ "name": "bench", "public": public.to_string() }],
        }))?;
        Ok(Self {
            relay: binaries.join("relay"),
            relay_serve: binaries.join("relay-serve"),
            relay_hook: binaries.join("relay-hook"),
            folder,
            trust,
            key,
        })
    }

    fn check_binaries(&self) -> Result<()> {
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
    fn bundle(&self, name: &str, contents: &Contents) -> Result<PathBuf> {
        let path = self.folder.join(name);
        fs::write(&path, self.signed(contents)?)?;
        Ok(path)
    }

    /// Builds a project, signs the bundle and returns its path.
    fn project(&self, name: &str, text: &str) -> Result<PathBuf> {
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

    fn signed(&self, contents: &Contents) -> Result<Vec<u8>> {
        self.sealed(&Bundle::open(Box::new(encode(contents)?))?)
    }

    fn sealed(&self, bundle: &Bundle) -> Result<Vec<u8>> {
        let mut envelope = Envelope::unsigned(bundle)?;
        envelope.sign(&self.key)?;
        Ok(envelope::attach(bundle, &envelope)?)
    }

    fn trust_file(&self) -> PathBuf {
        self.folder.join("trust.toml")
    }
}

/// A row of the table.
fn row(work: &str, measured: &str, goal: &str) {
    println!("| {work} | {measured} | {goal} |");
}

/// The middle of some figures.
fn median(figures: &mut [f64]) -> f64 {
    quantile(figures, 0.5)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "an index into a list of figures"
)]
fn quantile(figures: &mut [f64], part: f64) -> f64 {
    figures.sort_by(f64::total_cmp);
    let index = (figures.len().saturating_sub(1) as f64 * part).round() as usize;
    figures.get(index).copied().unwrap_or(f64::NAN)
}

/// Open and verify, in this process, from memory: what a load costs beside mapping the file.
fn load(setting: &Setting) -> Result<()> {
    for (prompts, goal) in [(10_000, "≤ 1 ms CPU"), (100_000, "≤ 2 ms CPU")] {
        let bytes = setting.signed(&generate::contents(prompts))?;
        let megabytes = bytes.len() / 1_000_000;
        let shared: std::sync::Arc<[u8]> = bytes.into();
        let mut times = Vec::new();
        for _ in 0..50 {
            let storage = Box::new(std::sync::Arc::clone(&shared));
            let start = Instant::now();
            let bundle = Bundle::open(storage)?;
            trust::verify(&bundle, &setting.trust, 1)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let work =
            format!("open and verify a bundle of {prompts} prompts ({megabytes} MB), in process");
        row(&work, &format!("{:.2} ms", median(&mut times)), goal);
        drop(shared);
        cost::load(setting, prompts)?;
    }
    Ok(())
}

/// Every prompt of a bundle read for the first time: each page is checked on the way.
fn read(setting: &Setting) -> Result<()> {
    let count = 10_000;
    let bytes: std::sync::Arc<[u8]> = setting.signed(&generate::contents(count))?.into();
    let mut cold = Vec::new();
    let mut warm = Vec::new();
    for _ in 0..5 {
        let bundle = Bundle::open(Box::new(std::sync::Arc::clone(&bytes)))?;
        for figures in [&mut cold, &mut warm] {
            let start = Instant::now();
            let mut length = 0;
            for index in 0..count {
                let name = generate::name(index * 7919 % count);
                let prompt = bundle.find_prompt(&name)?.ok_or("not found")?;
                let filled = relay_engine::prompt::fill(prompt.rendering(), &Default::default())?;
                length += filled.messages.len();
            }
            figures.push(start.elapsed().as_secs_f64() * 1e6 / length as f64);
        }
    }
    // The hash of one page is the minimum of a first read; it shows how busy the machine was.
    let page = vec![7; 4096];
    let start = Instant::now();
    for _ in 0..count {
        std::hint::black_box(relay_bundle::Digest::of(std::hint::black_box(&page)));
    }
    let hash = start.elapsed().as_secs_f64() * 1e6 / count as f64;
    let measured = format!(
        "{:.1} µs at first, {:.1} µs again (SHA-256 of a page: {hash:.1} µs)",
        median(&mut cold),
        median(&mut warm)
    );
    row("one verified prompt of 4 KB found and filled, in process", &measured, "≤ 6 µs");
    Ok(())
}
