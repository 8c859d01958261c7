//! `/metrics`: the metrics in the text format of Prometheus.

use std::fmt::{Display, Write as _};

use axum::http::header;
use axum::response::{IntoResponse as _, Response};

use relay_bundle::trust::Time;

use super::jwt::{KeySetState, KeySetStatus};
#[cfg(feature = "ssh")]
use crate::hosts::HostSource;
use crate::mcp::Open;
use crate::record::audit::Health;
#[cfg(feature = "ssh")]
use crate::record::metrics::Transfer;
use crate::server::Server;

/// The type of the text format.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A page of metrics, family by family.
struct Page(String);

impl Page {
    /// Begins a family; its samples follow.
    fn family(&mut self, name: &'static str, kind: &str, help: &str) -> Family<'_> {
        // Writing to a string always succeeds.
        _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        Family { page: self, name }
    }
}

struct Family<'a> {
    page: &'a mut Page,
    name: &'static str,
}

impl Family<'_> {
    fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.part("", labels, value);
    }

    /// Writes a sample whose name has a suffix, such as those of histograms.
    fn part(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        let page = &mut self.page.0;
        _ = write!(page, "{}{suffix}", self.name);
        for (index, (label, text)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            _ = write!(page, "{before}{label}=\"{}\"", escaped(text));
        }
        let after = if labels.is_empty() { "" } else { "}" };
        _ = writeln!(page, "{after} {value}");
    }
}

/// Escapes the text of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Answers with all metrics; `open` is the number of sessions and streams in MCP.
pub(super) fn answer(server: &Server, open: Open, key_sets: &[KeySetStatus]) -> Response {
    let mut page = Page(String::new());
    requests(&mut page, server);
    state(&mut page, server, open);
    keys(&mut page, server, key_sets);
    bundle(&mut page, server);
    #[cfg(feature = "ssh")]
    remote(&mut page, server);
    #[cfg(feature = "seccomp")]
    observed(&mut page, server);
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], page.0).into_response()
}

fn requests(page: &mut Page, server: &Server) {
    let metrics = &server.metrics;
    let mut family = page.family("relay_requests_total", "counter", "Requests by method, ended.");
    for ((method, outcome), count) in &metrics.requests {
        family.sample(&[("method", method.text()), ("outcome", outcome.text())], count.get());
    }
    let mut family =
        page.family("relay_request_seconds", "histogram", "The time to answer a request.");
    for (method, histogram) in &metrics.times {
        let method = ("method", method.text());
        let (bounds, sum) = histogram.cumulative();
        for (bound, count) in &bounds {
            let bound = bound.map_or("+Inf".to_owned(), |bound| bound.as_secs_f64().to_string());
            family.part("_bucket", &[method, ("le", &bound)], count);
        }
        family.part("_sum", &[method], sum.as_secs_f64());
        family.part("_count", &[method], bounds.last().map_or(0, |(_, count)| *count));
    }
    let help = "Audit records of requests that were rejected or denied.";
    page.family("relay_denials_total", "counter", help).sample(&[], server.audit.denials());
    let help = "Decisions for other gateways, by protocol and outcome.";
    let mut family = page.family("relay_port_decisions_total", "counter", help);
    for ((port, ruled), count) in &metrics.rulings {
        family.sample(&[("port", port.text()), ("decision", ruled.text())], count.get());
    }
    let help = "HTTP requests without valid credentials.";
    let count = metrics.unauthenticated.get();
    page.family("relay_unauthenticated_total", "counter", help).sample(&[], count);
}

fn state(page: &mut Page, server: &Server, open: Open) {
    let metrics = &server.metrics;
    let Open { sessions, streams } = open;
    for (name, help, count) in [
        ("relay_sessions", "Sessions of legacy clients.", sessions as u64),
        ("relay_streams", "Open streams of changes.", streams as u64),
        ("relay_connections", "Open HTTP connections.", metrics.connections.get()),
    ] {
        page.family(name, "gauge", help).sample(&[], count);
    }
    let help = "Connections that were closed at once, since there were too many.";
    let count = metrics.closed_connections.get();
    page.family("relay_closed_connections_total", "counter", help).sample(&[], count);
    let mut family = page.family("relay_reloads_total", "counter", "Reloads by result.");
    for (result, count) in &metrics.reloads {
        family.sample(&[("result", result.text())], count.get());
    }
    let help = "The state of the audit: 1 for the one that it is in.";
    let mut family = page.family("relay_audit_state", "gauge", help);
    for (state, text) in [(Health::Ok, "ok"), (Health::Failing, "failing"), (Health::Off, "off")] {
        family.sample(&[("state", text)], u8::from(server.audit.health() == state));
    }
}

/// The connections to other hosts, by where a host is described.
#[cfg(feature = "ssh")]
fn remote(page: &mut Page, server: &Server) {
    let loaded = server.loaded();
    let connected = server.remote.pool.connected();
    let forwards = server.remote.forwards.all();
    let forwards = forwards.iter().map(|open| open.alias.clone()).collect();
    let families = [
        ("relay_ssh_connections", "Open connections to other hosts.", connected),
        ("relay_ssh_forwards", "Open forwards through other hosts.", forwards),
    ];
    for (name, help, aliases) in families {
        let mut family = page.family(name, "gauge", help);
        for source in HostSource::ALL {
            let of_it = |alias: &&String| loaded.fleet().source(alias) == *source;
            family.sample(&[("source", source.text())], aliases.iter().filter(of_it).count());
        }
    }
    let transfers = &server.metrics.transfers;
    let labels = |(source, transfer): &(HostSource, Transfer)| {
        [("source", source.text()), ("result", transfer.text())]
    };
    let help = "Transfers of files, ended.";
    let mut family = page.family("relay_ssh_transfers_total", "counter", help);
    for (of, (count, _)) in transfers {
        family.sample(&labels(of), count.get());
    }
    let help = "The bytes of files that were transferred.";
    let mut family = page.family("relay_ssh_transferred_bytes_total", "counter", help);
    for (of, (_, bytes)) in transfers {
        family.sample(&labels(of), bytes.get());
    }
}

/// The system calls that processes of tools made.
#[cfg(feature = "seccomp")]
fn observed(page: &mut Page, server: &Server) {
    let metrics = &server.metrics;
    let help = "Observed system calls of processes, by name.";
    let mut family = page.family("relay_observed_syscalls_total", "counter", help);
    for (name, count) in &metrics.observed_calls {
        family.sample(&[("syscall", name)], count.get());
    }
    let help = "Calls and sessions that made more system calls than are recorded.";
    let count = metrics.observed_overflows.get();
    page.family("relay_observed_syscalls_overflows_total", "counter", help).sample(&[], count);
}

fn keys(page: &mut Page, server: &Server, key_sets: &[KeySetStatus]) {
    let help = "Fetches of key sets by result.";
    let mut family = page.family("relay_key_fetches_total", "counter", help);
    for (result, count) in &server.metrics.key_fetches {
        family.sample(&[("result", result.text())], count.get());
    }
    let help = "Key sets that are fetched: in force, in force but not fetched again, or missing.";
    let mut family = page.family("relay_key_sets", "gauge", help);
    for (state, text) in KeySetState::ALL {
        let count = key_sets.iter().filter(|set| set.state == state).count();
        family.sample(&[("state", text)], count);
    }
}

fn bundle(page: &mut Page, server: &Server) {
    let loaded = server.loaded();
    let manifest = loaded.manifest();
    let (digest, epoch) = (loaded.digest().to_string(), loaded.epoch());
    let labels = [
        ("project", manifest.project.value.as_str()),
        ("version", manifest.version.as_ref().map_or("", |version| &version.value)),
        ("digest", &digest),
    ];
    page.family("relay_bundle_info", "gauge", "The bundle in force.").sample(&labels, 1);
    page.family("relay_bundle_epoch", "gauge", "Its epoch.").sample(&[], epoch);
    let help = "1 if a page of it was found that is not what was signed.";
    let damaged = u8::from(loaded.is_damaged());
    page.family("relay_bundle_damaged", "gauge", help).sample(&[], damaged);
    let standing = loaded.standing();
    let revoked = u8::from(standing.revocation().is_some());
    page.family("relay_bundle_revoked", "gauge", "1 if it was revoked, so that nothing is served.")
        .sample(&[], revoked);
    if let Some(Time(end)) = standing.expires() {
        let help = "When a key expires that the bundle needs, in seconds since 1970.";
        page.family("relay_bundle_expiry_timestamp_seconds", "gauge", help).sample(&[], end);
    }
}
