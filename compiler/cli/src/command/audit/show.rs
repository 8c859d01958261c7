//! `relay audit show`: the matching records of an audit file, as a table or unchanged.
//!
//! Records are printed as they are read, so the size of a file is unlimited.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use relay_bundle::trust::Time;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::event::{cef, leef};
use super::lines::Lines;
use crate::args::{AuditFormat, AuditShowArgs};
use crate::environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bad, bold};
use crate::text::{padded, printable, shown_path};

/// The interval at which a followed file is read again.
const POLL: Duration = Duration::from_millis(250);
/// The widths of the columns before the last one.
const WIDTHS: [usize; 4] = [24, 9, 24, 32];

/// The searched and drawn part of a record.
#[derive(Deserialize)]
struct Record {
    ts: String,
    tool: String,
    tier: u8,
    denied: bool,
    principal: String,
    rule: String,
    action: String,
    #[serde(default)]
    prompts: Vec<String>,
    #[serde(default)]
    observed: Vec<String>,
    /// Only records of hooks have it.
    client: Option<String>,
}

/// The wanted records.
struct Filter<'a> {
    prompt: Option<&'a str>,
    principal: Option<&'a str>,
    client: Option<&'a str>,
    tool: Option<&'a str>,
    rule: Option<&'a str>,
    /// The wanted tiers; all if it is empty.
    tiers: &'a [u8],
    /// In the form of records, which have one width and one offset for all times.
    since: Option<String>,
    /// The end of the wanted time, in the same form.
    until: Option<String>,
    denied: bool,
}

pub(super) fn run(arguments: &AuditShowArgs, output: &mut Output) -> Result<Exit, Failure> {
    let AuditShowArgs {
        files,
        prompt,
        principal,
        client,
        tool,
        rule,
        tier,
        since,
        until,
        denied,
        follow,
        format,
    } = arguments;
    let filter = Filter {
        prompt: prompt.as_deref(),
        principal: principal.as_deref(),
        client: client.as_deref(),
        tool: tool.as_deref(),
        rule: rule.as_deref(),
        tiers: tier,
        since: since.as_deref().map(since_text).transpose()?,
        until: until.as_deref().map(since_text).transpose()?,
        denied: *denied,
    };
    let mut printer = Printer { filter, format: format.chosen(), records: 0, others: 0, output };
    printer.head()?;
    let mut last = None;
    for path in files {
        let mut lines = Lines::open(path)?;
        printer.print(path, &mut lines)?;
        last = Some((path, lines));
    }
    if printer.records == 0 && printer.others > 0 && !follow {
        let files: Vec<String> =
            files.iter().map(|file| format!("`{}`", shown_path(file))).collect();
        let files = files.join(", ");
        return Err(Failure::error(format!("no line of {files} is an audit record")).help(
            "give the file of the server's --audit, by default ~/.local/state/relay/audit.jsonl",
        ));
    }
    while let (true, Some((path, lines))) = (*follow, &mut last) {
        let path: &Path = path;
        thread::sleep(POLL);
        printer.print(path, lines)?;
        if printer.output.is_closed() {
            break;
        }
        // A server opens its file anew after a rotation, or empties it.
        let has_new = std::fs::metadata(path)
            .is_ok_and(|now| now.ino() != lines.inode() || now.len() < lines.taken());
        if has_new && let Ok(new) = Lines::open(path) {
            // The last records of the old file may have come since.
            printer.print(path, lines)?;
            printer.others += u64::from(lines.ends_within_a_line());
            *lines = new;
        }
    }
    printer.end();
    Ok(Exit::Yes)
}

/// Returns a time of the command line in the form of records.
pub(crate) fn since_text(text: &str) -> Result<String, Failure> {
    let time =
        Time::parse(text).or_else(|| Some(Time(environment::now().checked_sub(ago(text)?)?)));
    let time = time.ok_or_else(|| {
        Failure::error(format!("`{text}` is not a time"))
            .help("write a date such as 2027-01-01, 2027-01-01T08:00:00Z, or 90m, 2h or 7d for so long ago")
    })?;
    Ok(time.to_string().replace('Z', ".000Z"))
}

/// Reads a number with a unit, as seconds.
fn ago(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit_s: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit_s)
}

impl Filter<'_> {
    fn wants(&self, record: &Record) -> bool {
        let Self { prompt, principal, client, tool, rule, tiers, since, until, denied } = self;
        let is_prompt = |name: &str| {
            let requested = record.tool.split_once("prompt:").map(|(_, name)| name);
            requested == Some(name) || record.prompts.iter().any(|sent| sent == name)
        };
        prompt.is_none_or(is_prompt)
            && principal.is_none_or(|principal| record.principal == principal)
            && client.is_none_or(|client| record.client.as_deref() == Some(client))
            && tool.is_none_or(|tool| record.tool == tool)
            && rule.is_none_or(|rule| {
                is_rule(&record.rule, rule) || record.observed.iter().any(|it| is_rule(it, rule))
            })
            && (tiers.is_empty() || tiers.contains(&record.tier))
            && since.as_ref().is_none_or(|since| record.ts >= *since)
            && until.as_ref().is_none_or(|until| record.ts < *until)
            && (!denied || record.denied)
    }
}

/// Returns whether a rule of a record is `wanted`: the name of a rule, or the place of a declaration.
///
/// A record has `policy.NAME: reason (file:line)` or `policy.NAME (file:line)` for a rule of the
/// policy, and `file:line` for a declaration.
fn is_rule(recorded: &str, wanted: &str) -> bool {
    let place = recorded.rsplit_once('(').and_then(|(_, place)| place.strip_suffix(')'));
    let name = |text: &str| text.strip_prefix("policy.").unwrap_or(text).to_owned();
    let recorded_name = recorded.split([':', ' ']).next().unwrap_or_default();
    recorded == wanted
        || place == Some(wanted)
        || (recorded.starts_with("policy.") && name(recorded_name) == name(wanted))
}

struct Printer<'a> {
    filter: Filter<'a>,
    format: AuditFormat,
    /// The number of records, printed or not.
    records: u64,
    /// The number of lines other than records.
    others: u64,
    output: &'a mut Output,
}

impl Printer<'_> {
    fn head(&mut self) -> Result<(), Failure> {
        if self.format != AuditFormat::Human {
            return Ok(());
        }
        let head = row(["time", "action", "principal", "request"], "rule");
        self.output.result(format_args!("{}\n", bold(head)))
    }

    /// Prints the records from where `lines` is to the end of the file.
    fn print(&mut self, path: &Path, lines: &mut Lines) -> Result<(), Failure> {
        while let Some(line) = lines.next(path)? {
            let Ok(record) = serde_json::from_slice::<Record>(&line) else {
                self.others += u64::from(!line.trim_ascii().is_empty());
                continue;
            };
            self.records += 1;
            if !self.filter.wants(&record) {
                continue;
            }
            match self.format {
                AuditFormat::Json => self.output.verbatim(&String::from_utf8_lossy(&line))?,
                AuditFormat::Cef => self.event(&line, cef)?,
                AuditFormat::Leef => self.event(&line, leef)?,
                AuditFormat::Human => {
                    let Record { ts, tool, denied, principal, rule, action, client, .. } = &record;
                    let request = match client {
                        Some(client) => format!("{client}: {tool}"),
                        None => tool.clone(),
                    };
                    let row = row([ts, action, principal, &request].map(String::as_str), rule);
                    match denied {
                        true => self.output.result(format_args!("{}\n", bad(row)))?,
                        false => self.output.result(format_args!("{row}\n"))?,
                    }
                }
            }
        }
        Ok(())
    }

    fn event(
        &mut self,
        line: &[u8],
        form: impl FnOnce(&Map<String, Value>) -> String,
    ) -> Result<(), Failure> {
        // It was read as a record already.
        let record = serde_json::from_slice(line).unwrap_or_default();
        self.output.verbatim(&(form(&record) + "\n"))
    }

    fn end(&mut self) {
        match self.others {
            0 => {}
            1 => self.output.note("1 line is no record"),
            others => self.output.note(format_args!("{others} lines are no records")),
        }
    }
}

fn row(columns: [&str; 4], last: &str) -> String {
    let columns = columns.iter().zip(WIDTHS);
    let mut row: String =
        columns.map(|(text, width)| padded(&printable(text), width) + "  ").collect();
    row.push_str(&printable(last));
    row
}
