//! `expect context|selection|visible|decision … { … }`: a statement about the bundle that every build
//! proves.

use miette::Diagnostic;
use thiserror::Error;

use super::argument;
use super::node::{Node, Reader};
use crate::ast::{Claim, Expect, ExpectSettings, Question};
use crate::diagnostic::Diagnostics;
use crate::grammar::Scalar as _;
use crate::language::expect::{CLIENT, DECIDED_BY, EXPECT, GROUP, HOST, TAGS, TIER, TOOL_OF_CALL};
use crate::source::{Span, Spanned};

/// Reads an `expect`; `None` if its question is unknown, which is reported.
pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Option<Expect> {
    let mut reader = Reader::new(node, &EXPECT, out);
    let kind = EXPECT.argument(0)?.kind;
    let word = reader.argument(out).and_then(|value| value.literal(kind, out));
    let asked = word.and_then(|word| Some((Question::decode(word.value)?, word.at)));
    let mut settings = ExpectSettings::default();
    reader.settings(&mut settings, out);
    let mut foreign: Vec<Spanned<String>> = Vec::new();
    let tags = reader.children(TAGS.name);
    foreign.extend(tags.filter_map(|child| stray(child, Question::Selection, asked)));
    let mut claims = Vec::new();
    for claim in Claim::ALL.iter().copied() {
        for child in reader.children(claim.word()) {
            let abouts = argument::list(child, claim.rule(), out);
            claims.extend(abouts.into_iter().map(|about| (claim, about)));
            foreign.extend(stray(child, claim.question(), asked));
        }
    }
    reader.finish(out);
    let (question, at) = asked?;
    let named = node.properties.iter().map(|property| &property.name);
    foreign.extend(named.filter(|name| !question.takes_property(&name.value)).cloned());
    // The claims and the properties of another question are dropped here; their names are in
    // `foreign`, which is reported below.
    let ExpectSettings { tenant, role, user, group, tool, host, client, rule, tier, groups, tags } =
        settings;
    let own = |name| question.takes_property(name);
    let (tool, host) = (tool.filter(|_| own(TOOL_OF_CALL)), host.filter(|_| own(HOST)));
    let (client, rule) = (client.filter(|_| own(CLIENT)), rule.filter(|_| own(DECIDED_BY)));
    let tier = tier.filter(|_| own(TIER));
    claims.retain(|(claim, _)| claim.question() == question);
    for Spanned { value: name, at } in foreign {
        let is_tool = node.properties.iter().any(|property| property.name.at == at);
        let help = if is_tool && name == TOOL_OF_CALL {
            format!(
                "whether callers see a tool is a node: `{{ {name} NAME }}`; `{name}=` asks about a call, in `expect context`"
            )
        } else {
            format!("an `expect {}` takes: {}", question.word(), question.takes())
        };
        out.report(at, Foreign { name, question: question.word(), help, at });
    }
    // A mistyped node was meant to say something, and was reported.
    let mut children = node.children.iter().flatten().map(|child| child.name.value.as_str());
    if children.all(|name| [GROUP.name, TAGS.name].contains(&name)) {
        let takes = question.claims().join(", ");
        out.report(at, SaysNothing { question: question.word(), takes, at });
    }
    let groups = group.into_iter().chain(groups.into_iter().flatten()).collect();
    let tags = tags.unwrap_or_default();
    Some(Expect {
        at,
        question,
        tenant,
        role,
        user,
        groups,
        tool,
        host,
        client,
        rule,
        tier,
        tags,
        claims,
    })
}

/// Returns the name of a node that belongs to another question than the asked one.
fn stray(node: &Node, home: Question, asked: Option<(Question, Span)>) -> Option<Spanned<String>> {
    asked.filter(|(question, _)| *question != home).map(|_| node.name.clone())
}

/// An empty expectation passes for every bundle.
#[derive(Debug, Error, Diagnostic)]
#[error("this `expect {question}` expects nothing")]
#[diagnostic(code(expect::empty), help("say what must hold, with one of: {takes}"))]
struct SaysNothing {
    question: &'static str,
    takes: String,
    #[label(primary, "would always hold")]
    at: Span,
}

/// Each question has its own answer, and its expectations are about that answer.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` does not belong in an `expect {question}`")]
#[diagnostic(code(expect::foreign))]
struct Foreign {
    name: String,
    question: &'static str,
    #[help]
    help: String,
    #[label(primary, "not part of this question")]
    at: Span,
}
