//! Changes of a project's nodes by those of a `when`, setting by setting.
//!
//! A patch holds only the differences. All other settings stay, a setting is patched once in an
//! environment, and an idle patch is reported.

mod message;
mod report;

use hashbrown::HashMap;

use self::report::{AlreadyThere, OutsideWhen, PatchedTwice, PatchesNothing, UnknownName};
use crate::ast::{self, Body, ToolGroup, ToolGroupSettings};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Kind, Rule};
use crate::language::argument::ARG;
use crate::language::gate::GATE;
use crate::language::hosts::{HOST, HOSTS};
use crate::language::limits::LIMITS;
use crate::language::policy::POLICY;
use crate::language::prompt::PROMPT;
use crate::language::prompts::COMMANDS;
use crate::language::readers::FOR;
use crate::language::resource::RESOURCE;
use crate::language::roles::ROLE;
use crate::language::shared::{TEMPLATE, allowing};
use crate::language::skills::{META, SKILL, SKILLS};
use crate::language::tools::TOOLS;
use crate::language::users::USER;
use crate::model::Gate;
use crate::setting::{Setting, Settings, Slot};
use crate::source::{Span, Spanned};
use relay_engine::nearest::nearest;

/// The patches of one environment that were applied so far.
#[derive(Default)]
pub(super) struct Patches {
    /// The environment; empty if none was chosen, so that no patch applies.
    environment: String,
    /// The place of the patch of each setting of each node.
    taken: HashMap<(String, String), Span>,
}

impl Patches {
    pub(super) fn new(environment: &str) -> Self {
        Self { environment: environment.into(), taken: HashMap::new() }
    }

    /// Begins to patch the node with the name `what`.
    fn node<'p>(&'p mut self, what: String, out: &'p mut Diagnostics) -> NodePatch<'p> {
        NodePatch { patches: self, what, says: false, out }
    }

    pub(super) fn prompt(
        &mut self,
        base: &mut ast::Prompt,
        patch: ast::Prompt,
        out: &mut Diagnostics,
    ) {
        let ast::Prompt {
            name,
            new: _,
            settings,
            about,
            arguments,
            body,
            messages,
            readers,
            allowed,
        } = patch;
        let Some(name) = name else { return };
        let mut node = self.node(format!("prompt `{}`", name.value), out);
        node.settings(&PROMPT, &mut base.settings, &settings);
        node.settings(&PROMPT, &mut base.about, &about);
        node.setting(TEMPLATE.name, &mut base.body.template, body.template.clone());
        node.body(Some(&mut base.messages), &mut base.body, messages, body);
        node.arguments(&mut base.arguments, arguments);
        node.readers(&mut base.readers, readers);
        node.allowed(&mut base.allowed, allowed);
        node.finish(name.at);
    }

    pub(super) fn resource(
        &mut self,
        base: &mut ast::Resource,
        patch: ast::Resource,
        out: &mut Diagnostics,
    ) {
        let ast::Resource { uri, new: _, settings, about, arguments, body, readers, allowed } =
            patch;
        let Some(uri) = uri else { return };
        let mut node = self.node(format!("resource `{}`", uri.value), out);
        node.settings(&RESOURCE, &mut base.settings, &settings);
        node.settings(&RESOURCE, &mut base.about, &about);
        node.setting(TEMPLATE.name, &mut base.body.template, body.template.clone());
        node.body(None, &mut base.body, Vec::new(), body);
        node.arguments(&mut base.arguments, arguments);
        node.readers(&mut base.readers, readers);
        node.allowed(&mut base.allowed, allowed);
        node.finish(uri.at);
    }

    /// Patches the limits of skills.
    pub(super) fn skill_limits(
        &mut self,
        base: &mut ast::Skills,
        patch: &ast::Skills,
        out: &mut Diagnostics,
    ) {
        let mut node = self.node("the skills".into(), out);
        node.settings(&SKILLS, &mut base.limits, &patch.limits);
    }

    /// Patches a skill; `label` holds its block and name.
    pub(super) fn skill(
        &mut self,
        label: &str,
        base: &mut ast::Skill,
        patch: ast::Skill,
        out: &mut Diagnostics,
    ) {
        let ast::Skill { name, new: _, settings, meta, selectors, body, allowed } = patch;
        let Some(name) = name else { return };
        let mut node = self.node(format!("skill `{label}`"), out);
        node.settings(&SKILL, &mut base.settings, &settings);
        node.settings(&SKILL, &mut base.selectors, &selectors);
        node.setting(META.name, &mut base.meta, meta);
        node.body(None, &mut base.body, Vec::new(), body);
        node.allowed(&mut base.allowed, allowed);
        node.finish(name.at);
    }

    pub(super) fn folder(
        &mut self,
        kind: &'static str,
        base: &mut ast::Folder,
        patch: ast::Folder,
        out: &mut Diagnostics,
    ) {
        let ast::Folder { path, new: _, settings, readers, allowed } = patch;
        let Some(path) = path else { return };
        let mut node = self.node(format!("{kind} `{}`", path.value), out);
        node.settings(&COMMANDS, &mut base.settings, &settings);
        node.readers(&mut base.readers, readers);
        node.allowed(&mut base.allowed, allowed);
        node.finish(path.at);
    }

    pub(super) fn message(
        &mut self,
        base: &mut ast::SystemMessage,
        patch: ast::SystemMessage,
        out: &mut Diagnostics,
    ) {
        let ast::SystemMessage { name, body } = patch;
        let mut node = self.node(format!("message `{}`", name.value.word()), out);
        node.body(None, &mut base.body, Vec::new(), body);
        node.finish(name.at);
        // Its text now comes from the patch, and so does its place.
        base.name.at = name.at;
    }

    pub(super) fn role(&mut self, base: &mut ast::Role, patch: ast::Role, out: &mut Diagnostics) {
        let ast::Role { name, new: _, settings } = patch;
        let Some(name) = name else { return };
        let mut node = self.node(format!("role `{}`", name.value), out);
        node.settings(&ROLE, &mut base.settings, &settings);
        node.finish(name.at);
    }

    /// Patches a `user`, `group` or `anyone`, which is identified by its id and its tenant.
    pub(super) fn user(
        &mut self,
        what: String,
        base: &mut ast::User,
        mut patch: ast::User,
        out: &mut Diagnostics,
    ) {
        patch.settings.tenant = None;
        let mut node = self.node(what, out);
        node.settings(&USER, &mut base.settings, &patch.settings);
        node.finish(patch.at);
    }

    /// Patches the settings of `hosts`.
    pub(super) fn hosts(
        &mut self,
        base: &mut ast::Hosts,
        patch: &ast::HostsSettings,
        out: &mut Diagnostics,
    ) {
        self.node("the hosts".into(), out).settings(&HOSTS, &mut base.settings, patch);
    }

    pub(super) fn host(&mut self, base: &mut ast::Host, patch: ast::Host, out: &mut Diagnostics) {
        let ast::Host { alias, new: _, settings } = patch;
        let Some(alias) = alias else { return };
        let mut node = self.node(format!("host `{}`", alias.value), out);
        node.settings(&HOST, &mut base.settings, &settings);
        node.finish(alias.at);
    }

    /// Reports a patch of a node that has no settings.
    pub(super) fn nothing(&mut self, what: String, at: Span, out: &mut Diagnostics) {
        self.node(what, out).finish(at);
    }

    pub(super) fn tools(
        &mut self,
        base: &mut ast::Tools,
        patch: ast::Tools,
        out: &mut Diagnostics,
    ) {
        for ast::ToolChoice { group, settings } in patch.groups {
            let mut node = self.node("the tools".into(), out);
            let known = base.groups.iter_mut().find(|known| known.group.value == group.value);
            // A group is offered if it is named.
            let offered = |group: &Spanned<ToolGroup>, settings: &ToolGroupSettings| Setting {
                value: settings.enabled.value,
                at: settings.enabled.at.or(Some(group.at)),
            };
            let mut before = match &known {
                Some(known) => offered(&known.group, &known.settings),
                None => Setting { value: false, at: None },
            };
            let rule = group.value.rule();
            let after = offered(&group, &settings);
            // A group that is offered already may be named for its settings.
            let is_named_for_more = settings.enabled.at.is_none() && settings.says_more(rule);
            if before.value != after.value || !is_named_for_more {
                node.slot(rule.name, Kind::Boolean, &mut before, &after);
            }
            match known {
                Some(known) => {
                    known.settings.enabled = before.clone();
                    let own = ToolGroupSettings { enabled: before, ..settings };
                    self.node(format!("`{}`", rule.name), out).settings(
                        rule,
                        &mut known.settings,
                        &own,
                    );
                }
                None => {
                    let settings = ToolGroupSettings { enabled: before, ..settings };
                    base.groups.push(ast::ToolChoice { group, settings });
                }
            }
        }
        // A list of arguments is replaced together with their effects.
        if patch.settings.other.is_some() {
            base.effects = patch.effects;
        }
        let mut node = self.node("the tools".into(), out);
        node.settings(&TOOLS, &mut base.settings, &patch.settings);
    }

    /// Patches the mode and the limits of a policy.
    pub(super) fn policy(
        &mut self,
        base: &mut ast::Policy,
        patch: &ast::Policy,
        out: &mut Diagnostics,
    ) {
        let mut node = self.node("the policy".into(), out);
        node.settings(&POLICY, &mut base.settings, &patch.settings);
        node.settings(&LIMITS, &mut base.limits, &patch.limits);
        node.finish(patch.at);
        base.limits.at = base.limits.at.or(patch.limits.at);
    }

    pub(super) fn gate(&mut self, base: &mut Gate, mut patch: Gate, out: &mut Diagnostics) {
        let Some(at) = patch.at else { return };
        let mut node = self.node("the gate".into(), out);
        let word = &patch.on;
        let says_more = !patch.first_settings.is_empty() || !patch.empty.is_empty();
        if says_more && base.on.value == word.value {
            // The word is required, so an equal one leaves the base as it is.
            node.says = true;
            patch.on = base.on.clone();
        }
        node.settings(&GATE, base, &patch);
        node.finish(at);
        base.at = base.at.or(Some(at));
        base.first_settings.append(&mut patch.first_settings);
        base.empty.append(&mut patch.empty);
    }

    /// Reports a patch of an unknown node.
    pub(super) fn report_unknown<'k>(
        &self,
        kind: &'static str,
        name: Spanned<String>,
        known: impl IntoIterator<Item = &'k str>,
        out: &mut Diagnostics,
    ) {
        report_unknown(&self.environment, format!("{kind} `{}`", name.value), name, known, out);
    }

    /// Reports a new node whose name is known.
    pub(super) fn report_known(
        &self,
        kind: &'static str,
        Spanned { value: name, at }: Spanned<&str>,
        first_at: Span,
        out: &mut Diagnostics,
    ) {
        out.report(at, AlreadyThere { what: format!("{kind} `{name}`"), first_at, at });
    }
}

fn report_unknown<'k>(
    environment: &str,
    what: String,
    Spanned { value, at }: Spanned<String>,
    known: impl IntoIterator<Item = &'k str>,
    out: &mut Diagnostics,
) {
    let help = match nearest(&value, known) {
        Some(near) => format!("did you mean `{near}`? `new=#true` adds one in this environment"),
        None => "`new=#true` adds it in this environment".into(),
    };
    out.report(at, UnknownName { environment: environment.into(), what, help, at });
}

/// Reports `new` outside a `when`, or inside a node that is new as a whole.
pub(super) fn report_new(new: Option<&Spanned<bool>>, out: &mut Diagnostics) {
    if let Some(new) = new {
        out.report(new.at, OutsideWhen { at: new.at });
    }
}

/// Returns the name of a setting in reports; a setting of an inner node has that node's name.
fn setting_name(rule: &'static Rule, field: &'static Field, is_within: bool) -> String {
    match (field.is_property(), is_within) {
        (true, false) => field.name.to_owned(),
        (true, true) => format!("{} {}", rule.name, field.name),
        (false, true) => rule.name.to_owned(),
        (false, false) => "on".to_owned(),
    }
}

/// A node while it is patched.
struct NodePatch<'p> {
    patches: &'p mut Patches,
    /// The name of the node in diagnostics.
    what: String,
    /// Whether the patch has a setting.
    says: bool,
    out: &'p mut Diagnostics,
}

impl NodePatch<'_> {
    /// Takes a setting; returns whether it is the first patch of it.
    fn take(&mut self, setting: &str, at: Span) -> bool {
        self.says = true;
        let key = (self.what.clone(), setting.to_owned());
        if let Some(first_at) = self.patches.taken.get(&key) {
            let (setting, what, first_at) = (setting.to_owned(), self.what.clone(), *first_at);
            let environment = self.patches.environment.clone();
            self.out.report(at, PatchedTwice { setting, what, environment, first_at, at });
            return false;
        }
        self.patches.taken.insert(key, at);
        true
    }

    /// Reports an idle patch.
    fn report_same(&mut self, setting: &str, first_at: Option<Span>, at: Span) {
        let reason = match first_at {
            Some(_) => format!("`{setting}` of {} is the same without it", self.what),
            None => format!("`{setting}` of {} has this value by default", self.what),
        };
        self.out.report(at, PatchesNothing { reason, first_at, at });
    }

    /// Takes a value that no row binds to a setting.
    fn setting<T: PartialEq>(
        &mut self,
        setting: &str,
        base: &mut Option<Spanned<T>>,
        patch: Option<Spanned<T>>,
    ) {
        let Some(patch) = patch else { return };
        if !self.take(setting, patch.at) {
            return;
        }
        if let Some(base) = base.as_ref().filter(|base| base.value == patch.value) {
            self.report_same(setting, Some(base.at), patch.at);
        }
        *base = Some(patch);
    }

    /// Takes a body, which is one unit: a text replaces a file, or messages replace both.
    fn body(
        &mut self,
        base_messages: Option<&mut Vec<ast::Message>>,
        base: &mut Body,
        messages: Vec<ast::Message>,
        patch: Body,
    ) {
        if patch.broken {
            self.says = true;
            base.broken = true;
            return;
        }
        let place = |body: &Body, messages: &[ast::Message]| {
            let text = body.text.as_ref().map(|text| text.at);
            let file = body.file.as_ref().map(|file| file.at);
            text.or(file).or(messages.first().map(|message| message.at))
        };
        let Some(at) = place(&patch, &messages) else { return };
        if !self.take("body", at) {
            return;
        }
        let before = base_messages.as_deref().map_or(&[][..], Vec::as_slice);
        let same_text = |a: &Option<Spanned<String>>, b: &Option<Spanned<String>>| {
            a.as_ref().map(|a| &a.value) == b.as_ref().map(|b| &b.value)
        };
        // Equal paths in documents of two folders are two files, so the patch is a change.
        let same_folder = match (&base.file, &patch.file) {
            (Some(a), Some(b)) => a.at.file == b.at.file,
            _ => true,
        };
        if same_text(&base.text, &patch.text)
            && same_text(&base.file, &patch.file)
            && same_folder
            && message::same(before, &messages)
        {
            self.report_same("body", place(base, before), at);
        }
        base.text = patch.text;
        base.file = patch.file;
        base.broken = false;
        if let Some(base) = base_messages {
            *base = messages;
        }
    }

    fn arguments(&mut self, base: &mut Vec<ast::Argument>, patches: Vec<ast::Argument>) {
        let owner = self.what.clone();
        for patch in patches {
            let Some(name) = patch.name.clone() else { continue };
            self.says = true;
            let named = |known: &&mut ast::Argument| {
                known.name.as_ref().is_some_and(|known| known.value == name.value)
            };
            let what = format!("argument `{}` of {owner}", name.value);
            let is_new = patch.new.as_ref().is_some_and(|new| new.value);
            match base.iter_mut().find(named) {
                None if is_new => base.push(ast::Argument { new: None, ..patch }),
                None => {
                    let known = base.iter().filter_map(|known| known.name.as_ref());
                    let known: Vec<&str> = known.map(|name| name.value.as_str()).collect();
                    report_unknown(&self.patches.environment, what, name, known, self.out);
                }
                Some(known) if is_new => {
                    let first_at = known.name.as_ref().map_or(name.at, |known| known.at);
                    self.out.report(name.at, AlreadyThere { what, first_at, at: name.at });
                }
                Some(known) => {
                    let mut node = self.patches.node(what, self.out);
                    node.argument(known, patch);
                    node.finish(name.at);
                }
            }
        }
    }

    fn argument(&mut self, base: &mut ast::Argument, patch: ast::Argument) {
        let ast::Argument { name: _, new: _, settings, default } = patch;
        self.settings(&ARG, &mut base.settings, &settings);
        self.setting("default", &mut base.default, default);
    }

    fn allowed(&mut self, base: &mut Vec<ast::Allowed>, patches: Vec<ast::Allowed>) {
        for patch in patches {
            let setting = format!("{} {}", allowing(patch.of).name, patch.rule.value);
            if !self.take(&setting, patch.rule.at) {
                continue;
            }
            let named = |known: &&mut ast::Allowed| {
                (known.of, &known.rule.value) == (patch.of, &patch.rule.value)
            };
            match base.iter_mut().find(named) {
                Some(known) => {
                    let reason = |allowed: &ast::Allowed| {
                        allowed.because.as_ref().map(|because| because.value.clone())
                    };
                    if reason(known) == reason(&patch) {
                        self.report_same(&setting, Some(known.rule.at), patch.rule.at);
                    }
                    *known = patch;
                }
                None => base.push(patch),
            }
        }
    }

    /// Takes the `for`s, which are one unit.
    fn readers(&mut self, base: &mut Vec<ast::For>, patch: Vec<ast::For>) {
        let Some(at) = patch.first().map(|first| first.at) else { return };
        if !self.take(FOR.name, at) {
            return;
        }
        let same = base.len() == patch.len()
            && base.iter().zip(&patch).all(|(a, b)| same(&FOR, &a.settings, &b.settings));
        if same {
            self.report_same(FOR.name, base.first().map(|first| first.at), at);
        }
        *base = patch;
    }

    /// Takes the settings of a node and of the nodes in it, each by its row.
    fn settings(&mut self, rule: &'static Rule, base: &mut dyn Settings, patch: &dyn Settings) {
        let within = rule.children.iter().map(|child| (*child, true));
        for (rule, is_within) in [(rule, false)].into_iter().chain(within) {
            for ((name, base), (_, patch)) in base.of_mut(rule).into_iter().zip(patch.of(rule)) {
                if let Some(field) = rule.field(name) {
                    self.slot(&setting_name(rule, field, is_within), field.kind, base, patch);
                }
            }
        }
    }

    /// Takes one setting.
    fn slot(&mut self, setting: &str, kind: Kind, base: &mut dyn Slot, patch: &dyn Slot) {
        // A setting that was not written has no place. A required word that stays, such as the `on`
        // of a gate, has its place in the base.
        let Some(at) = patch.at().filter(|at| base.at() != Some(*at)) else { return };
        if !self.take(setting, at) {
            return;
        }
        if same_values(kind, base, patch) {
            self.report_same(setting, base.at(), at);
        }
        let written = patch.values(kind).into_iter();
        let written = written.map(|(value, place)| Spanned { value, at: place.unwrap_or(at) });
        base.set(&written.collect::<Vec<_>>());
    }

    /// Reports an empty patch.
    fn finish(self, at: Span) {
        if !self.says {
            let reason = format!("it sets nothing of {}", self.what);
            self.out.report(at, PatchesNothing { reason, first_at: None, at });
        }
    }
}

/// Returns whether two nodes of a rule have the same settings.
fn same(rule: &'static Rule, a: &dyn Settings, b: &dyn Settings) -> bool {
    a.of(rule).into_iter().zip(b.of(rule)).all(|((name, a), (_, b))| {
        rule.field(name).is_none_or(|field| same_values(field.kind, a, b))
    })
}

fn same_values(kind: Kind, a: &dyn Slot, b: &dyn Slot) -> bool {
    let (a, b) = (a.values(kind), b.values(kind));
    a.iter().map(|(value, _)| value).eq(b.iter().map(|(value, _)| value))
}
