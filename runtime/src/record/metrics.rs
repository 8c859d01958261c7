//! Counters of the server: requests, their times, denials, connections and reloads.
//!
//! Every label is a variant of a type here, so the number of series is fixed when the server starts
//! and free of texts of callers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[cfg(feature = "ssh")]
use crate::hosts::HostSource;

/// The upper bounds of the ranges of the histogram.
const BOUNDS: [Duration; 11] = [
    Duration::from_micros(100),
    Duration::from_micros(250),
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_micros(2500),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(50),
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(10),
];

/// The label of a system call without a name.
#[cfg(feature = "seccomp")]
const UNKNOWN_CALL: &str = "unknown";

/// Declares the values of a label, each with its text.
macro_rules! label {
    ($(#[$comment:meta])* $name:ident { $($(#[$about:meta])* $value:ident = $text:literal,)* }) => {
        $(#[$comment])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum $name {
            $($(#[$about])* $value,)*
        }

        impl $name {
            /// Every value.
            pub(crate) const ALL: &[Self] = &[$(Self::$value,)*];

            /// Returns the text of the label.
            pub(crate) fn text(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)*
                }
            }
        }
    };
}

label! {
    /// The method of a request.
    Method {
        CompletionComplete = "completion/complete",
        PromptsGet = "prompts/get",
        PromptsList = "prompts/list",
        ResourcesDirectoryRead = "resources/directory/read",
        ResourcesList = "resources/list",
        ResourcesRead = "resources/read",
        ResourcesSubscribe = "resources/subscribe",
        ResourcesTemplatesList = "resources/templates/list",
        ResourcesUnsubscribe = "resources/unsubscribe",
        ServerDiscover = "server/discover",
        SkillsGet = "skills/get",
        SkillsList = "skills/list",
        SubscriptionsListen = "subscriptions/listen",
        ToolsCall = "tools/call",
        ToolsList = "tools/list",
        /// An unknown method, or parameters of a wrong form.
        Malformed = "malformed",
    }
}

label! {
    /// The outcome of a request.
    Outcome {
        Answered = "answered",
        /// A tool answered with an error, or its call was denied.
        ToolError = "tool_error",
        /// The request was rejected, or its client disconnected.
        Rejected = "rejected",
    }
}

label! {
    /// The result of a reload.
    Reload {
        Ok = "ok",
        Failed = "failed",
    }
}

label! {
    /// The result of a fetch of a key set.
    Fetch {
        Ok = "ok",
        Failed = "failed",
    }
}

label! {
    /// The protocol in which a gateway asks for a decision.
    Port {
        Authzen = "authzen",
        ExtAuthz = "ext_authz",
    }
}

label! {
    /// The decision for a gateway.
    Ruled {
        Allow = "allow",
        Approve = "approve",
        Deny = "deny",
        /// The tool, prompt or resource does not exist for the subject.
        Reject = "reject",
        /// There was nothing to decide, which denies.
        Error = "error",
    }
}

#[cfg(feature = "ssh")]
label! {
    /// The kind of a transfer, by its end.
    Transfer {
        Uploaded = "uploaded",
        Downloaded = "downloaded",
        Failed = "failed",
    }
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

/// A number of things that exist now.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gauge(Arc<AtomicU64>);

/// A thing that counts until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted(Gauge);

/// The times of requests.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    /// The requests in each range; those over the last bound are only in `count`.
    ranges: [Counter; BOUNDS.len()],
    count: Counter,
    nanoseconds: Counter,
}

/// The counters of the server.
#[derive(Debug)]
pub(crate) struct Metrics {
    pub(crate) requests: BTreeMap<(Method, Outcome), Counter>,
    pub(crate) times: BTreeMap<Method, Histogram>,
    pub(crate) reloads: BTreeMap<Reload, Counter>,
    pub(crate) key_fetches: BTreeMap<Fetch, Counter>,
    /// Decisions for gateways.
    pub(crate) rulings: BTreeMap<(Port, Ruled), Counter>,
    pub(crate) connections: Gauge,
    /// Connections closed at once.
    pub(crate) closed_connections: Counter,
    /// Unauthenticated HTTP requests.
    pub(crate) unauthenticated: Counter,
    /// Transfers of files, and their bytes.
    #[cfg(feature = "ssh")]
    pub(crate) transfers: BTreeMap<(HostSource, Transfer), (Counter, Counter)>,
    /// Observed system calls by their names; those without a name are `unknown`.
    #[cfg(feature = "seccomp")]
    pub(crate) observed_calls: BTreeMap<&'static str, Counter>,
    /// Jobs of which more system calls were made than recorded.
    #[cfg(feature = "seccomp")]
    pub(crate) observed_overflows: Counter,
}

/// A request being answered, which is counted when this is dropped.
#[derive(Debug)]
pub(crate) struct Timer<'a> {
    metrics: &'a Metrics,
    method: Method,
    begun: Instant,
    pub(crate) outcome: Outcome,
}

impl Counter {
    /// Adds 1.
    pub(crate) fn increment(&self) {
        self.add(1);
    }

    /// Adds a number.
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns the number.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Gauge {
    /// Counts a thing.
    pub(crate) fn count(&self) -> Counted {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(self.clone())
    }

    /// Returns the number of things.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Histogram {
    fn add(&self, time: Duration) {
        let range = BOUNDS.iter().zip(&self.ranges).find(|(bound, _)| time <= **bound);
        if let Some((_, range)) = range {
            range.increment();
        }
        self.nanoseconds.add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        self.count.increment();
    }

    /// Returns for each bound the number of times up to it, and the sum of all times.
    pub(crate) fn cumulative(&self) -> (Vec<(Option<Duration>, u64)>, Duration) {
        let mut count = 0;
        let mut bounds: Vec<_> = BOUNDS
            .iter()
            .zip(&self.ranges)
            .map(|(bound, range)| {
                count += range.get();
                (Some(*bound), count)
            })
            .collect();
        // Another thread may have counted between the two reads.
        bounds.push((None, self.count.get().max(count)));
        (bounds, Duration::from_nanos(self.nanoseconds.get()))
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let outcomes = |method: &Method| {
            let method = *method;
            Outcome::ALL.iter().map(move |outcome| ((method, *outcome), Counter::default()))
        };
        let rulings = |port: &Port| {
            let port = *port;
            Ruled::ALL.iter().map(move |ruled| ((port, *ruled), Counter::default()))
        };
        #[cfg(feature = "ssh")]
        let transfers = |source: &HostSource| {
            let source = *source;
            Transfer::ALL.iter().map(move |it| ((source, *it), Default::default()))
        };
        let timed = Method::ALL.iter().filter(|method| **method != Method::SubscriptionsListen);
        Self {
            requests: Method::ALL.iter().flat_map(outcomes).collect(),
            // A stream is open for as long as its client wants.
            times: timed.map(|method| (*method, Histogram::default())).collect(),
            reloads: Reload::ALL.iter().map(|result| (*result, Counter::default())).collect(),
            key_fetches: Fetch::ALL.iter().map(|result| (*result, Counter::default())).collect(),
            rulings: Port::ALL.iter().flat_map(rulings).collect(),
            connections: Gauge::default(),
            closed_connections: Counter::default(),
            unauthenticated: Counter::default(),
            #[cfg(feature = "ssh")]
            transfers: HostSource::ALL.iter().flat_map(transfers).collect(),
            #[cfg(feature = "seccomp")]
            observed_calls: relay_keeper::system_call_names()
                .chain([UNKNOWN_CALL])
                .map(|name| (name, Counter::default()))
                .collect(),
            #[cfg(feature = "seccomp")]
            observed_overflows: Counter::default(),
        }
    }
}

impl Metrics {
    /// Begins to answer a request. It is rejected unless another outcome is set.
    pub(crate) fn time(&self, method: Method) -> Timer<'_> {
        Timer { metrics: self, method, begun: Instant::now(), outcome: Outcome::Rejected }
    }

    /// Counts a reload.
    pub(crate) fn count_reload(&self, result: Reload) {
        if let Some(counter) = self.reloads.get(&result) {
            counter.increment();
        }
    }

    /// Counts a decision for a gateway.
    pub(crate) fn count_ruling(&self, port: Port, ruled: Ruled) {
        if let Some(counter) = self.rulings.get(&(port, ruled)) {
            counter.increment();
        }
    }

    /// Counts an observation of system calls.
    #[cfg(feature = "seccomp")]
    pub(crate) fn count_observation(&self, observation: &relay_keeper::Observation) {
        use relay_keeper::Observation;
        match observation {
            Observation::Call(call) => {
                let name = call.name().unwrap_or(UNKNOWN_CALL);
                if let Some(counter) = self.observed_calls.get(name) {
                    counter.increment();
                }
            }
            Observation::Overflow { .. } => self.observed_overflows.increment(),
            Observation::Unobserved(_) => {}
        }
    }

    /// Counts a fetch of a key set.
    pub(crate) fn count_key_fetch(&self, result: Fetch) {
        if let Some(counter) = self.key_fetches.get(&result) {
            counter.increment();
        }
    }
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        if let Some(counter) = self.metrics.requests.get(&(self.method, self.outcome)) {
            counter.increment();
        }
        if let Some(histogram) = self.metrics.times.get(&self.method) {
            histogram.add(self.begun.elapsed());
        }
    }
}
