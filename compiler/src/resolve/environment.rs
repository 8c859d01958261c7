//! Documents joined, and `--env` applied: a `when` replaces the named nodes whole.

use miette::Diagnostic;
use thiserror::Error;

use crate::ast::{self, Ast, Item, PromptsItem};
use crate::diagnostic::Diagnostics;
use crate::model::When;
use crate::nearest::nearest;
use crate::source::{FileId, Span, Spanned};

/// The nodes of all documents, by kind, in the order of the text.
#[derive(Default)]
pub(super) struct Nodes {
    pub(super) projects: Vec<ast::Project>,
    pub(super) prompts: Vec<PromptsItem>,
    pub(super) resources: Vec<ast::Resource>,
    pub(super) messages: Vec<ast::SystemMessage>,
    pub(super) gates: Vec<ast::Gate>,
    pub(super) tools: Vec<ast::Tools>,
}

/// Joins the documents and applies every `when` of the environment that was asked for.
///
/// A node of a `when` replaces the node of its kind and name; one that has no such node is added.
pub(super) fn choose(
    ast: Ast,
    environment: Option<&str>,
    root: FileId,
    out: &mut Diagnostics,
) -> (Nodes, Vec<When>) {
    let mut nodes = Nodes::default();
    let mut whens = Vec::new();
    for item in ast.documents.into_iter().flat_map(|document| document.items) {
        match item {
            Item::When(when) => whens.push(when),
            item => nodes.add(item),
        }
    }
    let mut reported = Vec::new();
    // A project has one of each, so all that the environment has take their place together.
    let (mut gates, mut tools) = (Vec::new(), Vec::new());
    for when in whens {
        let Some(name) = when.environment else { continue };
        let mut replacing = Nodes::default();
        when.items.into_iter().for_each(|item| replacing.add(item));
        reported.push(When {
            at: when.at,
            environment: name.clone(),
            nodes: replacing.count(),
            gates: replacing.gates.iter().any(|gate| gate.on.value),
        });
        if environment == Some(name.value.as_str()) {
            gates.append(&mut replacing.gates);
            tools.append(&mut replacing.tools);
            nodes.replace(replacing);
        }
    }
    if !gates.is_empty() {
        nodes.gates = gates;
    }
    if !tools.is_empty() {
        nodes.tools = tools;
    }
    if let Some(environment) = environment {
        report_unknown(environment, &reported, root, out);
    }
    (nodes, reported)
}

impl Nodes {
    fn add(&mut self, item: Item) {
        match item {
            Item::Project(project) => self.projects.push(project),
            Item::Prompts(items) => self.prompts.extend(items),
            Item::Messages(messages) => self.messages.extend(messages),
            Item::Resources(resources) => self.resources.extend(resources),
            Item::Gate(gate) => self.gates.push(gate),
            Item::Tools(tools) => self.tools.push(tools),
            // The grammar has no `when` inside a `when`.
            Item::When(_) => {}
        }
    }

    fn replace(&mut self, with: Self) {
        // Gate and tools are taken out before.
        let Self { projects: _, prompts, resources, messages, gates: _, tools: _ } = with;
        replace(&mut self.prompts, prompts, prompts_name);
        replace(&mut self.resources, resources, |resource| value(resource.uri.as_ref()));
        replace(&mut self.messages, messages, |message| Some(message.name.value.word().to_owned()));
    }

    fn count(&self) -> usize {
        let Self { projects: _, prompts, resources, messages, gates, tools } = self;
        prompts.len() + resources.len() + messages.len() + gates.len() + tools.len()
    }
}

fn replace<T>(base: &mut Vec<T>, with: Vec<T>, name: impl Fn(&T) -> Option<String>) {
    // Only what was there before is replaced: two equal names in one `when` are still a duplicate.
    let before = base.len();
    let mut replaced = vec![false; before];
    for node in &with {
        let wanted = name(node);
        for (old, replaced) in base.iter().zip(&mut replaced) {
            *replaced |= wanted.is_some() && name(old) == wanted;
        }
    }
    let mut keep = replaced.iter().map(|replaced| !replaced);
    base.retain(|_| keep.next().unwrap_or(true));
    base.extend(with);
}

/// The kind and name of a node of `prompts`.
fn prompts_name(item: &PromptsItem) -> Option<String> {
    match item {
        PromptsItem::Prompt(prompt) => value(prompt.name.as_ref()).map(|name| format!("p {name}")),
        PromptsItem::Folder(folder) => value(folder.path.as_ref()).map(|path| format!("f {path}")),
        PromptsItem::Commands(folder) => {
            value(folder.path.as_ref()).map(|path| format!("c {path}"))
        }
    }
}

fn value(name: Option<&Spanned<String>>) -> Option<String> {
    name.map(|name| name.value.clone())
}

fn report_unknown(environment: &str, whens: &[When], root: FileId, out: &mut Diagnostics) {
    let mut known: Vec<&str> = whens.iter().map(|when| when.environment.value.as_str()).collect();
    known.sort_unstable();
    known.dedup();
    if known.contains(&environment) {
        return;
    }
    let help = match nearest(environment, known.iter().copied()) {
        Some(near) => format!("did you mean `--env {near}`?"),
        None if known.is_empty() => "the project has no `when`; leave `--env` out".into(),
        None => format!("known environments: {}", known.join(", ")),
    };
    let at = root.span(0, 0);
    out.report(at, UnknownEnvironment { environment: environment.into(), help, at });
}

#[derive(Debug, Error, Diagnostic)]
#[error("unknown environment `{environment}`")]
#[diagnostic(code(when::unknown_environment))]
struct UnknownEnvironment {
    environment: String,
    #[help]
    help: String,
    #[label(primary, "no `when` of this project has that name")]
    at: Span,
}
