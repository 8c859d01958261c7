//! The file of a release with its recorded figures: `docs/figures/VERSION.json`, a line a figure.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::declared::Part;
use super::machine::Circumstances;
use super::number::kept;
use crate::Result;

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// The figures of a release.
#[derive(Debug, Clone, Default)]
pub(crate) struct Release {
    pub(crate) version: String,
    /// By the ids of figures.
    pub(crate) records: BTreeMap<String, Record>,
}

/// A figure as it was recorded.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) circumstances: Circumstances,
    /// The load of the machine before the first run.
    pub(crate) load: f64,
    /// The share of all cores' time that other processes took during the runs, in percent.
    pub(crate) others: f64,
    /// The values of each part, in the order of the runs.
    pub(crate) values: BTreeMap<String, Vec<f64>>,
    /// Why parts have no values.
    pub(crate) not_run: Option<String>,
}

impl Record {
    /// Returns the values of a part.
    pub(crate) fn of(&self, part: &Part) -> Vec<f64> {
        self.values.get(part.name).cloned().unwrap_or_default()
    }
}

impl Release {
    /// Returns the path of the file of a version.
    pub(crate) fn path(folder: &Path, version: &str) -> PathBuf {
        folder.join(format!("{version}.json"))
    }

    /// Reads the file of a version; one without a file has no figures.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or means nothing.
    pub(crate) fn read(folder: &Path, version: &str) -> Result<Self> {
        let path = Self::path(folder, version);
        let of_file = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        match fs::metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { version: version.to_owned(), records: BTreeMap::new() });
            }
            Err(error) => return Err(of_file(&error).into()),
            Ok(file) if file.len() > FILE_BYTES_MAX => {
                return Err(of_file(&format!("over {FILE_BYTES_MAX} bytes")).into());
            }
            Ok(_) => {}
        }
        let text = fs::read_to_string(&path).map_err(|error| of_file(&error))?;
        Self::parse(&text).map_err(|error| of_file(&error).into())
    }

    /// Reads the files of all releases, the newest first.
    ///
    /// # Errors
    ///
    /// If one of them cannot be read, or its name is no version.
    pub(crate) fn all(folder: &Path) -> Result<Vec<Self>> {
        let mut versions = Vec::new();
        for entry in
            fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?
        {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let version = name.strip_suffix(".json").unwrap_or(&name).to_owned();
            let numbers: Option<Vec<u64>> = version.split('.').map(|it| it.parse().ok()).collect();
            let numbers = numbers.ok_or_else(|| format!("{name} is named like no release"))?;
            versions.push((numbers, version));
        }
        versions.sort_by(|left, right| right.cmp(left));
        versions.iter().map(|(_, version)| Self::read(folder, version)).collect()
    }

    fn parse(text: &str) -> Result<Self> {
        let whole: Value = serde_json::from_str(text)?;
        let version = text_of(&whole, "version")?;
        let object = |key: &str| {
            let object = whole.get(key).and_then(Value::as_object);
            object.ok_or_else(|| format!("`{key}` is missing"))
        };
        let mut circumstances = BTreeMap::new();
        for (label, value) in object("circumstances")? {
            circumstances.insert(label, circumstances_of(value)?);
        }
        let mut records = BTreeMap::new();
        for (id, value) in object("figures")? {
            let label = text_of(value, "in").map_err(|error| format!("{id}: {error}"))?;
            let circumstances = circumstances.get(&label);
            let circumstances = circumstances.ok_or_else(|| format!("{id}: no `{label}`"))?.clone();
            let number = |key: &str| value.get(key).and_then(Value::as_f64).unwrap_or(0.0);
            let mut values = BTreeMap::new();
            for (part, list) in value.get("values").and_then(Value::as_object).into_iter().flatten()
            {
                let list = list.as_array().ok_or_else(|| format!("{id}, {part}: no list"))?;
                let numbers: Option<Vec<f64>> = list.iter().map(Value::as_f64).collect();
                let numbers = numbers.ok_or_else(|| format!("{id}, {part}: no numbers"))?;
                values.insert(part.clone(), numbers);
            }
            let not_run = value.get("not_run").and_then(Value::as_str).map(str::to_owned);
            let (load, others) = (number("load"), number("others"));
            records.insert(id.clone(), Record { circumstances, load, others, values, not_run });
        }
        Ok(Self { version, records })
    }

    /// Returns the circumstances of its records with a letter each, in their order.
    pub(crate) fn circumstances(&self) -> BTreeMap<&Circumstances, String> {
        let all: BTreeSet<_> = self.records.values().map(|record| &record.circumstances).collect();
        all.into_iter().zip(1..).map(|(it, number): (_, u32)| (it, letters(number))).collect()
    }

    /// Returns the names that circumstances have in its file. They follow from the date and the commit, so that
    /// a new record leaves the lines of others as they are.
    fn keys(&self) -> BTreeMap<&Circumstances, String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let name = |it: &Circumstances| format!("{} {}", it.date, it.commit);
        let all = self.circumstances().into_keys().map(|it| {
            let count = counts.entry(name(it)).or_default();
            *count += 1;
            (it, if *count == 1 { name(it) } else { format!("{} {count}", name(it)) })
        });
        all.collect()
    }

    /// Returns the text of its file.
    pub(crate) fn text(&self) -> String {
        let labels = self.keys();
        let line = |(key, value): (String, Value)| format!("    {}: {value}", json!(key));
        let circumstances = labels.iter().map(|(it, label)| {
            let Circumstances { date, commit, profile, cpu, cores, memory, kernel } = it;
            let value = json!({
                "date": date, "commit": commit, "profile": profile, "cpu": cpu, "cores": cores,
                "memory": memory, "kernel": kernel,
            });
            line((label.clone(), value))
        });
        let figures = self.records.iter().map(|(id, record)| {
            let Record { circumstances, load, others, values, not_run } = record;
            let mut value = Map::new();
            let label = labels.get(circumstances).cloned().unwrap_or_default();
            value.insert("in".into(), label.into());
            value.insert("load".into(), kept(*load).into());
            value.insert("others".into(), others.round().into());
            let list = |numbers: &Vec<f64>| numbers.iter().map(|it| kept(*it)).collect::<Vec<_>>();
            let values: Map<String, Value> =
                values.iter().map(|(part, numbers)| (part.clone(), list(numbers).into())).collect();
            if !values.is_empty() {
                value.insert("values".into(), values.into());
            }
            if let Some(reason) = not_run {
                value.insert("not_run".into(), reason.as_str().into());
            }
            line((id.clone(), value.into()))
        });
        let (circumstances, figures): (Vec<_>, Vec<_>) =
            (circumstances.collect(), figures.collect());
        format!(
            "{{\n  \"version\": {},\n  \"circumstances\": {{\n{}\n  }},\n  \"figures\": {{\n{}\n  }}\n}}\n",
            json!(self.version),
            circumstances.join(",\n"),
            figures.join(",\n")
        )
    }
}

/// Returns `A` to `Z`, then `AA`: the letters of a number from 1.
fn letters(number: u32) -> String {
    let (more, last) = ((number - 1) / 26, (number - 1) % 26);
    let last = char::from_digit(last + 10, 36).unwrap_or('?').to_ascii_uppercase();
    let mut text = if more > 0 { letters(more) } else { String::new() };
    text.push(last);
    text
}

fn circumstances_of(value: &Value) -> Result<Circumstances> {
    Ok(Circumstances {
        date: text_of(value, "date")?,
        commit: text_of(value, "commit")?,
        profile: text_of(value, "profile")?,
        cpu: text_of(value, "cpu")?,
        cores: text_of(value, "cores")?,
        memory: text_of(value, "memory")?,
        kernel: text_of(value, "kernel")?,
    })
}

fn text_of(value: &Value, key: &str) -> Result<String> {
    let text = value.get(key).and_then(Value::as_str);
    Ok(text.ok_or_else(|| format!("`{key}` is missing"))?.to_owned())
}
