//! `skills { global { … }; tenant NAME { … }; tool PATTERN… { … }; user ID { … } }`

use super::shared::{ALLOW_INVISIBLE, ALLOW_SECRET, ENABLED, FILE, NEW, TEXT};
use relay_bundle::Repeat;

use crate::grammar::{Field, Form, Kind, Literal, Rule, Scalar as _, words};
use crate::setting::{Setting, settings};
use crate::source::Spanned;

words!(Repeat {
    "always" = Repeat::Always,
    "once" = Repeat::Once,
});

pub(crate) static SKILLS: Rule = Rule {
    name: "skills",
    what: "skills",
    meaning: "Texts that a call of a tool is given, by tenant, tool and user: level by level, the widest first. A project may have any number of such nodes.",
    fields: &[
        Field::property(
            "limit",
            Kind::Chars { low: 1, high: 100_000 },
            "The most characters of one skill.",
        )
        .or(Literal::Number(2000)),
        Field::property(
            "merged",
            Kind::bytes(0, 1024 * 1024),
            "The most bytes that any call is given, whatever tenant, tool and user meet.",
        )
        .or(Literal::Number(8 * 1024)),
        Field::property(
            "repeat",
            Kind::Words(Repeat::WORDS),
            "`once` gives a text once to callers with a session or a briefing, and then the names of the skills.",
        )
        .or(Literal::Word("always")),
    ],
    children: &[&GLOBAL, &TENANT, &TOOL, &USER],
    example: include_str!("../reference/skills.kdl"),
};

pub(crate) static GLOBAL: Rule = Rule {
    name: "global",
    what: "a block of skills",
    meaning: "Skills for every call.",
    fields: &[],
    children: &[&SKILL],
    example: "",
};

pub(crate) static TENANT: Rule = Rule {
    name: "tenant",
    meaning: "Skills for a tenant.",
    fields: &[Field::argument("a name", Kind::Name("text"), "The tenant.")],
    ..GLOBAL
};

pub(crate) static TOOL: Rule = Rule {
    name: "tool",
    meaning: "Skills for the tools that one of the patterns matches.",
    fields: &[Field::arguments("a pattern", Kind::Name("pattern"), "A pattern.")],
    ..GLOBAL
};

pub(crate) static USER: Rule = Rule {
    name: "user",
    meaning: "Skills for a user.",
    fields: &[Field::argument("an id", Kind::Name("text"), "The user, as authentication says.")],
    ..GLOBAL
};

pub(crate) static SKILL: Rule = Rule {
    name: "skill",
    what: "a skill",
    meaning: "A skill. Its text is its second argument, a `text`, or a `file=`; it is plain text, never a template. Each selector that its block does not say may narrow it.",
    fields: &[
        Field::argument("a name", Kind::Text("text"), "Its name, once in its block."),
        Field::optional("a text", Kind::Text("text"), "Its text."),
        FILE,
        ENABLED,
        Field::property(
            "priority",
            Kind::Number { low: 0, high: 100 },
            "Inside a level, a higher one comes later; equal ones go by name.",
        )
        .or(Literal::Number(50)),
        Field::either("topic", "Of the matched skills of one topic only the last one is applied."),
        Field::title("title", "Its name for people."),
        Field::either("description", "What it is for."),
        Field::property("tenant", Kind::Name("text"), "Only for this tenant."),
        Field::property(
            SKILL_TOOLS.name,
            Kind::Name("pattern"),
            "Only for tools that the pattern matches.",
        ),
        Field::property("user", Kind::Name("text"), "Only for this user."),
        NEW,
    ],
    children: &[&SKILL_TOOLS, &META, &TEXT, &ALLOW_SECRET, &ALLOW_INVISIBLE],
    example: include_str!("../reference/skill.kdl"),
};

pub(crate) static SKILL_TOOLS: Rule = Rule::leaf(
    "tools",
    "tools",
    "Only for tools that one of the patterns matches.",
    &[Field::arguments("a pattern", Kind::Name("pattern"), "A pattern.")],
);

pub(crate) static META: Rule = Rule::leaf(
    "meta",
    "meta",
    "Further facts about it, for people and reports.",
    &[Field {
        name: "a key",
        form: Form::Keys,
        kind: Kind::Text("text, number or boolean"),
        default: None,
        meaning: "A fact.",
    }],
);

settings! {
    /// The limits of all skills, and when a caller gets a text again.
    struct SkillLimits {}
    SKILLS {
        limit: Setting<u32> = "limit",
        merged: Setting<u32> = "merged",
        repeat: Setting<Repeat> = "repeat",
    }
}

settings! {
    /// The settings of a skill.
    struct SkillSettings {}
    SKILL {
        enabled: Setting<bool> = ENABLED.name,
        priority: Setting<u8> = "priority",
        topic: Option<Spanned<String>> = "topic",
        title: Option<Spanned<String>> = "title",
        description: Option<Spanned<String>> = "description",
    }
}

settings! {
    /// The selectors of a skill, beside those of its block.
    struct SkillSelectors {}
    SKILL {
        tenant: Option<Spanned<String>> = "tenant",
        user: Option<Spanned<String>> = "user",
    }
    SKILL_TOOLS {
        tools: Option<Vec<Spanned<String>>> = "a pattern",
    }
}
