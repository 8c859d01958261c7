//! Decisions by the rules of a policy: what runs, for whom, and why.

mod doubt;
mod hosts;
mod index;
mod inline;
mod model;
mod no_policy;
mod order;
mod random;
mod record;
mod shipped;
mod ways;
mod words;

use relay_bundle::{Bundle, encode};
use relay_compiler::Options;
use relay_engine::authority::Authority;
use relay_engine::decide::{Call, Decision, Door, decide};
use relay_engine::place::{Identity, preview};
use relay_engine::view::View;
use relay_policy::location::Location;
use serde_json::{Map, Value, json};

use crate::support::{Memory, compiled, contents};

/// A bundle with its policy.
pub(crate) struct Judged {
    bundle: Bundle,
    authority: Authority,
}

/// Who asks: a tenant and a role; empty for none.
pub(crate) type Who<'w> = (&'w str, &'w str);

impl Judged {
    /// Compiles a project of these nodes.
    pub(crate) fn of(nodes: &str) -> Self {
        Self::made(nodes).unwrap_or_else(|report| panic!("{report}\n{nodes}"))
    }

    /// Compiles a project of these nodes, if the build takes it.
    pub(crate) fn try_of(nodes: &str) -> Option<Self> {
        Self::made(nodes).ok()
    }

    fn made(nodes: &str) -> Result<Self, String> {
        let text = format!("project demo epoch=1\n{nodes}\n");
        let files = Memory::of(&[("project.kdl", &text)]);
        let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
        let contents = contents(&compiled).ok_or(report)?;
        let bytes = encode(&contents).expect("it can be encoded");
        let bundle = Bundle::open(Box::new(bytes)).expect("a bundle");
        let authority = Authority::of(&bundle).expect("a policy");
        Ok(Self { bundle, authority })
    }

    /// Decides a call of a tool.
    pub(crate) fn call(
        &self,
        who: Who<'_>,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Decision {
        self.call_from(who, None, tool, arguments)
    }

    /// Decides a call of a tool by anyone, in a folder and a home.
    pub(crate) fn at(
        &self,
        place: (&str, &str),
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Decision {
        self.at_as(None, place, tool, arguments)
    }

    /// Decides a call of a tool by a role, in a folder and a home.
    pub(crate) fn at_as(
        &self,
        role: Option<&str>,
        (cwd, home): (&str, &str),
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Decision {
        let identity = Identity { role, ..Identity::default() };
        let placement = preview(&self.bundle, &identity).unwrap().unwrap();
        let view = View::of(&self.bundle, &placement).unwrap();
        let location = Location::new(Some(cwd), Some(home)).unwrap();
        let (client, door) = (None, Door::Elsewhere);
        let call = Call { tool, arguments, client, location: &location, door };
        decide(&view, &self.authority, &call).unwrap()
    }

    /// Decides a call of a tool by a client.
    pub(crate) fn call_from(
        &self,
        who: Who<'_>,
        client: Option<&str>,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Decision {
        let text = |text: &'_ str| (!text.is_empty()).then(|| text.to_owned());
        let (tenant, role) = (text(who.0), text(who.1));
        let identity =
            Identity { tenant: tenant.as_deref(), role: role.as_deref(), ..Identity::default() };
        let placement = preview(&self.bundle, &identity).unwrap().unwrap();
        let view = View::of(&self.bundle, &placement).unwrap();
        let location = Location::default();
        let call = Call { tool, arguments, client, location: &location, door: Door::Elsewhere };
        decide(&view, &self.authority, &call).unwrap()
    }

    /// Decides a command.
    pub(crate) fn command(&self, who: Who<'_>, command: &str) -> Decision {
        self.call(who, "shell_exec", json!({ "command": command }).as_object().unwrap())
    }

    /// Returns the outcome of a command and its rule, in words.
    pub(crate) fn told(&self, who: Who<'_>, command: &str) -> String {
        let decision = self.command(who, command);
        format!("{} {}", decision.outcome.word(), decision.rule_name())
    }
}
