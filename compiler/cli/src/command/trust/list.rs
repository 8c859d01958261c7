//! `relay trust list`: the accepted and revoked things of a trust file.

use std::collections::BTreeMap;
use std::path::Path;

use relay_bundle::envelope::key_id;
use relay_bundle::trust::{Time, Trust, TrustedKey};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::answer::size::counted;
use crate::answer::table::{self, text};
use crate::args::{AnswerFormat, TrustListArgs};
use crate::environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bold};
use crate::text::shown_path;
use crate::trust_file;

/// The output of `relay trust list --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct TrustListed {
    /// The version of this JSON format.
    format_version: u32,
    /// The version of the trust file.
    version: u64,
    /// The only project whose bundles are accepted; `null` if any is.
    project: Option<String>,
    /// How many different keys must have signed.
    threshold: u32,
    /// How many of them must have a role.
    require: BTreeMap<String, u32>,
    /// Bundles with a lower epoch are refused.
    min_epoch: u64,
    /// The keys, in the order of the file.
    keys: Vec<Key>,
    /// The bundles that are revoked.
    revoked_digests: Vec<String>,
    /// The bundles that are accepted although a higher epoch was served.
    allow_digests: Vec<String>,
    /// Why no bundle can have the signatures that are required; empty if one can.
    unmet: Vec<String>,
}

/// A key of a trust file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Key {
    /// Its name in reports.
    name: String,
    /// Its id.
    id: String,
    /// The public key.
    public: String,
    /// The roles that its signatures count for.
    roles: Vec<String>,
    /// The time from which its signatures count.
    not_before: Option<String>,
    /// The time at which their validity ends.
    not_after: Option<String>,
    /// Whether they count now.
    state: State,
}

/// Whether the signatures of a key count now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum State {
    /// They do.
    Good,
    /// The key is revoked.
    Revoked,
    /// The key becomes valid later.
    NotYetValid,
    /// The validity of the key has ended.
    Expired,
}

pub(super) fn run(arguments: &TrustListArgs, output: &mut Output) -> Result<Exit, Failure> {
    let trust = trust_file::read(&arguments.file)?;
    let now = environment::now();
    let listed = TrustListed::of(&trust, now);
    match arguments.format.chosen() {
        AnswerFormat::Json => output.json(&listed)?,
        AnswerFormat::Human => {
            output.result(page(&listed, &arguments.file, output.result_look().width))?;
            warn_of_unmet(&trust, now, output);
        }
    }
    Ok(Exit::Yes)
}

/// Warns if the required signatures are impossible for any bundle.
pub(super) fn warn_of_unmet(trust: &Trust, now: u64, output: &mut Output) {
    for unmet in unmet(trust, now) {
        output.warn(
            &format!("no bundle is trusted with this file: {unmet}"),
            "add a key with `relay trust add`, or lower the number, as `relay trust threshold` does",
        );
    }
}

/// Returns why the signatures that `trust` requires are impossible, now or later.
fn unmet(trust: &Trust, now: u64) -> Vec<String> {
    let usable =
        |key: &&TrustedKey| !matches!(State::of(key, trust, now), State::Revoked | State::Expired);
    let usable: Vec<&TrustedKey> = trust.keys.iter().filter(usable).collect();
    let short = |count: usize, needed: u32| count < usize::try_from(needed).unwrap_or(usize::MAX);
    let mut unmet = Vec::new();
    if short(usable.len(), trust.threshold) {
        let keys = counted(usable.len(), "key");
        unmet.push(format!("{keys} of {} that must sign", trust.threshold));
    }
    for (role, needed) in &trust.require {
        let with_role = usable.iter().filter(|key| key.roles.contains(role)).count();
        if short(with_role, *needed) {
            let keys = counted(with_role, "key");
            unmet.push(format!("{keys} of {needed} with the role `{role}` that must sign"));
        }
    }
    unmet
}

impl State {
    fn of(key: &TrustedKey, trust: &Trust, now: u64) -> Self {
        if trust.revoked.keys.contains(&key_id(&key.public.0)) {
            Self::Revoked
        } else if key.not_before.is_some_and(|Time(from)| now < from) {
            Self::NotYetValid
        } else if key.not_after.is_some_and(|Time(until)| now >= until) {
            Self::Expired
        } else {
            Self::Good
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Revoked => "revoked",
            Self::NotYetValid => "not valid yet",
            Self::Expired => "expired",
        }
    }
}

impl TrustListed {
    fn of(trust: &Trust, now: u64) -> Self {
        let time = |time: Option<Time>| time.map(|time| time.to_string());
        let keys = trust.keys.iter().map(|key| Key {
            name: key.name.clone(),
            id: key_id(&key.public.0),
            public: key.public.to_string(),
            roles: key.roles.iter().cloned().collect(),
            not_before: time(key.not_before),
            not_after: time(key.not_after),
            state: State::of(key, trust, now),
        });
        Self {
            format_version: FORMAT_VERSION,
            version: trust.version,
            project: trust.project.clone(),
            threshold: trust.threshold,
            require: trust.require.clone(),
            min_epoch: trust.min_epoch,
            keys: keys.collect(),
            revoked_digests: trust.revoked.digests.iter().map(ToString::to_string).collect(),
            allow_digests: trust.allow_digests.iter().map(ToString::to_string).collect(),
            unmet: unmet(trust, now),
        }
    }
}

fn page(listed: &TrustListed, path: &Path, width: usize) -> String {
    let TrustListed {
        format_version: _,
        version,
        project,
        threshold,
        require,
        min_epoch,
        keys,
        revoked_digests,
        allow_digests,
        unmet: _,
    } = listed;
    let required: Vec<String> =
        require.iter().map(|(role, needed)| format!("{needed} with the role `{role}`")).collect();
    let mut facts = vec![
        ("project", project.as_ref().map_or("any".to_owned(), |name| format!("`{name}` only"))),
        ("threshold", format!("{} must have signed", counted(*threshold as usize, "key"))),
        ("min-epoch", min_epoch.to_string()),
    ];
    if !required.is_empty() {
        facts.insert(2, ("require", required.join(", ")));
    }
    facts.extend(revoked_digests.iter().map(|digest| ("revoked", digest.clone())));
    facts.extend(allow_digests.iter().map(|digest| ("allowed", digest.clone())));
    let heading = format!("{}, version {version}", shown_path(path));
    let mut page = format!("{}\n{}\n", bold(heading), table::facts(&facts, width));
    let rows = keys.iter().map(|key| {
        let end = |time: &Option<String>| time.clone().unwrap_or_default();
        vec![
            key.name.clone(),
            key.id.clone(),
            key.roles.join(" "),
            end(&key.not_before),
            end(&key.not_after),
            key.state.words().to_owned(),
        ]
    });
    let columns = [
        text("key"),
        text("id"),
        text("roles"),
        text("not before"),
        text("not after"),
        text("state"),
    ];
    page.push_str(&table::draw(&columns, rows.collect(), width));
    page
}
