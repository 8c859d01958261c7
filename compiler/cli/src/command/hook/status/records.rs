//! The records of clients in the audit file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use relay_bundle::trust::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::test::session_hash;
use crate::environment;
use crate::failure::Failure;
use crate::hook::Target;

/// The most bytes of the end of the file that are read.
const BYTES_MAX: u64 = 16 << 20;
/// The most names of tools.
const TOOLS_MAX: usize = 50;

/// The last record of a client.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct LastRecord {
    /// The time of it.
    pub(super) ts: String,
    /// The seconds since then; null if the clock was set back.
    pub(super) ago_s: Option<u64>,
    /// The version of the client, if it said it.
    pub(super) client_version: Option<String>,
    /// The client that the hook was installed for, if it is another one.
    pub(super) via: Option<String>,
}

/// The records of the hooks, except those of trials.
#[derive(Debug, Default)]
pub(super) struct Records {
    last: BTreeMap<String, LastRecord>,
    unknown: BTreeMap<String, BTreeSet<String>>,
}

/// The part of a record that counts here.
#[derive(Deserialize)]
struct Record {
    ts: String,
    tool: String,
    client: String,
    client_version: Option<String>,
    client_tool: Option<String>,
    via: Option<String>,
    session: Option<String>,
}

impl Records {
    /// Reads the end of an audit file; a missing file has no records.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::file("read", path, &error);
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(failed(error)),
        };
        let length = file.metadata().map_err(failed)?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(BYTES_MAX))).map_err(failed)?;
        let mut records = Self::default();
        let trial = session_hash();
        for line in BufReader::new(file.take(BYTES_MAX)).split(b'\n') {
            let line = line.map_err(failed)?;
            // Records of the server are of no client; the first line may be a part of one.
            let Ok(record) = serde_json::from_slice::<Record>(&line) else { continue };
            if record.session.as_deref() != Some(trial.as_str()) {
                records.add(record);
            }
        }
        Ok(records)
    }

    fn add(&mut self, record: Record) {
        let Record { ts, tool, client, client_version, client_tool, via, session: _ } = record;
        if let (true, Some(name)) = (tool == "tool:unknown", client_tool) {
            let names = self.unknown.entry(client.clone()).or_default();
            if names.len() < TOOLS_MAX {
                names.insert(name);
            }
        }
        let ago_s = seconds(&ts).and_then(|then| environment::now().checked_sub(then));
        self.last.insert(client, LastRecord { ts, ago_s, client_version, via });
    }

    /// Returns the last record of a client.
    pub(super) fn last(&self, client: &str) -> Option<LastRecord> {
        self.last.get(client).cloned()
    }

    /// Returns the tools of records that the table of a client lacks today.
    pub(super) fn unknown_tools(&self, target: &Target) -> Vec<String> {
        let known = target.client().map(|client| client.tools).unwrap_or_default();
        let is_known = |name: &str| known.iter().any(|tool| tool.name == name);
        let names = self.unknown.get(target.name).into_iter().flatten();
        names.filter(|name| !is_known(name)).cloned().collect()
    }
}

/// Returns the seconds since 1970 of a record's time.
fn seconds(ts: &str) -> Option<u64> {
    let whole = ts.split_once('.').map_or(ts, |(whole, _)| whole).trim_end_matches('Z');
    Time::parse(&format!("{whole}Z")).map(|Time(seconds)| seconds)
}
