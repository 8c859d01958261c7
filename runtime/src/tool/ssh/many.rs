//! The hosts of one call, and work for each of them, some at once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use relay_engine::tool::{Time, host_list, reach};
use relay_ssh::Route;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::order::way;
use crate::tool::decide::Permit;
use crate::tool::error::CallError;
use crate::tool::implementation::Run;

/// The time at the end of a call in which its answer is made.
const ANSWER: Duration = Duration::from_secs(10);

/// The hosts of a call.
pub(super) struct Many<'r> {
    pub(super) names: Vec<String>,
    /// The way to each, or why the call does nothing there.
    ways: Vec<Result<Route, String>>,
    permit: &'r Permit,
    run: &'r Run<'r>,
    /// When the answers must be there.
    until: Instant,
}

impl<'r> Many<'r> {
    /// Returns the hosts that a call names, at most `max`, each name once. A tool for a fleet takes all of the
    /// project if it names none: only for those tools do rules judge all of them.
    pub(super) fn of(permit: &'r Permit, run: &'r Run<'r>, max: usize) -> Result<Self, CallError> {
        let written = run.arguments.text("hosts").unwrap_or_default();
        let mut names: Vec<String> = host_list(written).map(ToOwned::to_owned).collect();
        let is_of_fleet = reach(permit.spec().name).is_some_and(|reach| reach.is_of_fleet);
        if names.is_empty() && !is_of_fleet {
            return Err(CallError::Failed("`hosts` names no host".to_owned()));
        }
        if names.is_empty() {
            let hosts = run.call.placed.loaded.fleet().hosts();
            let all = hosts.map_or(&[][..], |hosts| &hosts.hosts);
            names.extend(all.iter().map(|host| host.alias.clone()));
        }
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        if names.len() > max {
            let count = names.len();
            return Err(CallError::Failed(format!(
                "a call takes {max} hosts at most, and these are {count}"
            )));
        }
        let mut first = BTreeMap::new();
        let ways = names.iter().map(|name| {
            let route = way(run, name)?;
            match first.insert(route.key(), name) {
                None => Ok(route),
                Some(other) => {
                    first.insert(route.key(), other);
                    Err(format!("this is the same host as `{other}`, where it was done"))
                }
            }
        });
        let ways = ways.collect();
        let time = match permit.spec().time {
            Time::Seconds(seconds) => Duration::from_secs(seconds.into()),
            Time::Argument(_) | Time::Within(..) => Duration::ZERO,
        };
        let until = Instant::now() + time.saturating_sub(ANSWER);
        Ok(Self { names, ways, permit, run, until })
    }

    /// Does work for each host, at most `at_once` at once, and returns the answers in the order of the hosts.
    /// The caller's share of connections limits it too. Work that is not done in the time of the call is ended.
    pub(super) async fn each<T, F>(
        &self,
        at_once: usize,
        work: impl Fn(Route) -> F,
    ) -> Vec<Result<T, String>>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let over = || Err("the time of the call was over before this host's answer".to_owned());
        let mut answers: Vec<Result<T, String>> = self.names.iter().map(|_| over()).collect();
        let mut waiting = Vec::new();
        for (number, way) in self.ways.iter().enumerate().rev() {
            match (way, answers.get_mut(number)) {
                (Ok(route), _) => waiting.push((number, route.clone())),
                (Err(reason), Some(answer)) => *answer = Err(reason.clone()),
                (Err(_), None) => {}
            }
        }
        let mut running = JoinSet::new();
        loop {
            while running.len() < at_once.max(1) {
                let Some((number, route)) = waiting.pop() else { break };
                let work = work(route);
                let shares = self.run.call.server.remote.shares.clone();
                let (caller, until) = (self.permit.principal().caller_key(), self.until);
                running.spawn(async move {
                    let _share = shares.take_until(caller, until).await;
                    (number, work.await)
                });
            }
            // Dropping the set ends what runs.
            tokio::select! {
                joined = running.join_next() => match joined {
                    Some(Ok((number, done))) => {
                        if let Some(answer) = answers.get_mut(number) {
                            *answer = Ok(done);
                        }
                    }
                    Some(Err(error)) => tracing::error!("work for a host did not end: {error}"),
                    None => return answers,
                },
                () = sleep_until(self.until) => return answers,
            }
        }
    }
}
