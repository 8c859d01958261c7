//! The `expect`s of a project, as `relay show` writes them.

use super::node::{EffectiveNode, Scalar};
use super::renderer::{Renderer, said};
use crate::ast::{Claim, Expect, ExpectSettings};
use crate::language::expect::EXPECT;
use crate::source::Spanned;

impl Renderer<'_, '_> {
    pub(super) fn expect(&self, expect: &Expect) -> EffectiveNode {
        let Expect {
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
        } = expect;
        let mut node = EffectiveNode {
            arguments: vec![Scalar::Text(question.word().into())],
            at: self.at(*at),
            ..EffectiveNode::of(&EXPECT)
        };
        let settings = ExpectSettings {
            tenant: tenant.clone(),
            role: role.clone(),
            user: user.clone(),
            group: None,
            tool: tool.clone(),
            host: host.clone(),
            client: client.clone(),
            rule: rule.clone(),
            tier: tier.clone(),
            groups: Some(groups.clone()),
            tags: Some(tags.clone()),
        };
        node.settings(&EXPECT, &settings);
        node.nodes(&EXPECT, &settings);
        // INVARIANT: the claims are in the order of their kinds.
        for of_kind in claims.chunk_by(|(a, _), (b, _)| a == b) {
            let Some((claim, _)) = of_kind.first() else { continue };
            node.children.push(claimed(*claim, of_kind));
        }
        node
    }
}

fn claimed(claim: Claim, of_kind: &[(Claim, Spanned<String>)]) -> EffectiveNode {
    EffectiveNode {
        arguments: of_kind.iter().map(|(_, about)| said(about)).collect(),
        ..EffectiveNode::of(claim.rule())
    }
}
