//! Projects of any size, always the same.

use std::fs;
use std::path::Path;

use relay_bundle::{
    Argument, ArgumentKind, Contents, Manifest, Message, MessagePiece, Messages, Part, PartContent,
    Place, Prompt, Rendering, Role, Segment, Setting,
};

use relay_engine::derived::{briefing_text, pages};

use crate::Result;

const WORDS: &[&str] = &[
    "access",
    "backup",
    "broker",
    "certificate",
    "change",
    "cluster",
    "deploy",
    "device",
    "firewall",
    "gateway",
    "house",
    "incident",
    "key",
    "light",
    "message",
    "network",
    "owner",
    "policy",
    "queue",
    "restart",
    "route",
    "sensor",
    "service",
    "switch",
    "ticket",
    "topic",
    "update",
    "volume",
    "window",
    "zone",
];

/// The most common words of a vocabulary, the commonest first.
const COMMON: &[&str] = &[
    "zigbee",
    "lights",
    "mqtt",
    "pairing",
    "automation",
    "security",
    "firewall",
    "vpn",
    "deploy",
    "kubernetes",
    "database",
    "migration",
    "backup",
    "network",
    "segment",
    "policy",
    "naming",
    "convention",
    "service",
    "resource",
    "standard",
    "review",
    "logging",
    "metric",
    "alert",
    "incident",
    "runbook",
    "tenant",
    "billing",
    "invoice",
    "payment",
    "gdpr",
    "privacy",
    "token",
    "session",
    "cache",
    "queue",
    "worker",
    "schema",
    "index",
];

/// The syllables of the other words.
const SYLLABLES: &[&str] = &[
    "ka", "lo", "mi", "ter", "sen", "dor", "vex", "qui", "pra", "zun", "hol", "eth", "ion", "ber",
    "gra", "sti",
];

/// The name of a prompt; in the order of the numbers.
pub(crate) fn name(index: usize) -> String {
    format!("team-{:03}/prompt-{index:06}", index / 1000)
}

/// About 4 KB of text.
pub(crate) fn text(index: usize) -> String {
    let mut state = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
    let mut text = String::with_capacity(4200);
    while text.len() < 4000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = WORDS.get((state >> 33) as usize % WORDS.len()).copied().unwrap_or_default();
        text.push_str(word);
        text.push(if text.len() % 80 < 8 { '\n' } else { ' ' });
    }
    text
}

/// Contents with so many prompts, each with a free-text argument.
pub(crate) fn contents(count: usize) -> Contents {
    let prompts: Vec<Prompt> = (0..count).map(prompt).collect();
    let prompt_pages = pages::pages(prompts.iter().map(pages::prompt));
    Contents {
        epoch: 1,
        manifest: Manifest {
            project: Setting::default_of("bench".into()),
            compiler: "bench".into(),
            ..Manifest::default()
        },
        messages: Messages {
            session_greeting: Setting::default_of(vec![MessagePiece::Literal(
                "A bundle for figures.".into(),
            )]),
            ..Messages::default()
        },
        prompt_pages,
        prompts,
        provenance: "{}".into(),
        ..Contents::default()
    }
}

fn prompt(index: usize) -> Prompt {
    let at = || Place { file: format!("prompts/{index}.md"), line: 1, column: 1 };
    let written = |value: String| Setting { value, at: Some(at()) };
    let segments = vec![Segment::Literal(text(index).into()), Segment::Slot(0)];
    let part = Part { content: PartContent::Text(segments), at: at() };
    let rendering = Rendering {
        arguments: vec![Argument {
            name: "arguments".into(),
            description: None,
            required: false,
            default: None,
            kind: ArgumentKind::Text { chars_max: 10_000 },
            stride: 0,
            only_printed: false,
            at: at(),
        }],
        variants: vec![vec![Message { role: Role::User, parts: vec![part], at: at() }]],
    };
    Prompt {
        name: name(index),
        title: None,
        description: Some(written(format!("What to do about matter {index}"))),
        summary: Some(written(format!("What to do about matter {index}"))),
        chapters: Vec::new(),
        priority: Setting::default_of(5),
        briefing: Setting::default_of(true),
        meta: None,
        body: Setting { value: briefing_text::of(&rendering), at: Some(at()) },
        rendering,
        at: at(),
    }
}

/// Contents with so many prompts whose summaries and chapters, 32 words together, are drawn from
/// a vocabulary of so many words as a language would: the more common, the more often.
pub(crate) fn summaries(count: usize, words: usize) -> Contents {
    let vocabulary = vocabulary(words);
    let mut random = Random(12_345);
    let prompts = (0..count).map(|index| {
        let mut words = |count: usize| {
            let words: Vec<String> = (0..count).map(|_| random.word(&vocabulary)).collect();
            words.join(" ")
        };
        let summary = Some(Setting::default_of(words(20)));
        let chapters = (0..4).map(|_| Setting::default_of(words(3))).collect();
        // A few that every agent reads, and bodies from 200 bytes up to 6 KB.
        let always = index % (count / 3) == 1;
        let priority = Setting::default_of(if always { 10 } else { random.below(9) as u8 + 1 });
        let bytes = if always { 500 } else { 200 * (1 + random.below(30)) };
        let body = Setting::default_of("x".repeat(bytes).into());
        let rendering = Rendering::default();
        Prompt { summary, chapters, priority, body, rendering, ..prompt(index) }
    });
    Contents { prompts: prompts.collect(), ..contents(0) }
}

fn vocabulary(words: usize) -> Vec<String> {
    let mut vocabulary: Vec<String> = COMMON.iter().map(|word| (*word).to_owned()).collect();
    let mut random = Random(77);
    while vocabulary.len() < words {
        let count = 2 + random.below(3);
        let syllables = (0..count).filter_map(|_| SYLLABLES.get(random.below(SYLLABLES.len())));
        vocabulary.push(syllables.copied().collect());
    }
    vocabulary
}

/// Numbers that look random and are always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// Draws a word by Zipf's law; one of five has a capital.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is an index")]
    fn word(&mut self, vocabulary: &[String]) -> String {
        let part = self.below(1_000_000) as f64 / 1e6;
        let place = (vocabulary.len() as f64).powf(part) as usize - 1;
        let word = vocabulary.get(place).cloned().unwrap_or_default();
        if self.below(5) > 0 {
            return word;
        }
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
    }
}

/// A document that declares so many prompts, each with a summary, chapters and a text.
pub(crate) fn declarations(prompts: usize) -> String {
    let mut document = String::from("project declarations version=\"1.0.0\" epoch=1\nprompts {\n");
    for number in 0..prompts {
        let priority = number % 9 + 1;
        document.push_str(&format!(
            "    prompt p{number:05} priority={priority} {{\n        \
             summary \"Rules of service {number} and its neighbours\"\n        \
             chapters Firewall VPN\n        \
             text \"Names of service {number} are kebab-case. Keep them short.\"\n    }}\n"
        ));
    }
    document.push_str("}\n");
    document
}

/// Writes a project of so many markdown prompts into `folder`.
pub(crate) fn project(folder: &Path, count: usize) -> Result<()> {
    for index in 0..count {
        prompt_file(folder, index, "What to do about", &text(index))?;
    }
    let project = "project bench version=\"1\" epoch=1\nmessages { session-greeting \"Figures.\" }\nprompts { folder \"prompts\" }\n";
    fs::write(folder.join("project.kdl"), project)?;
    Ok(())
}

/// Changes a word in the text of every 33rd prompt of such a project, and in the description of every
/// 99th; returns how many prompts that are.
pub(crate) fn change(folder: &Path, count: usize) -> Result<usize> {
    let changed = (0..count).step_by(33);
    for index in changed.clone() {
        let about = if index % 99 == 0 { "What is known of" } else { "What to do about" };
        let text = text(index).replacen("service", "system", 1);
        prompt_file(folder, index, about, &text)?;
    }
    Ok(changed.count())
}

fn prompt_file(folder: &Path, index: usize, about: &str, text: &str) -> Result<()> {
    let path = folder.join("prompts").join(format!("{}.md", name(index)));
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let priority = index % 9 + 1;
    let front = format!("---\ndescription: {about} matter {index}\npriority: {priority}\n---\n");
    fs::write(path, format!("{front}# Matter {index}\n\n{text}\n"))?;
    Ok(())
}

/// A document of a usual mix: so many prompts, skills and rules each, tenants, roles and users.
pub(crate) fn mixed(count: usize) -> String {
    let mut document = declarations(count);
    document.push_str(
        "tenants { tenant north; tenant south }\nroles { role operator tier=2; role reader }\n",
    );
    document.push_str("users { group ops role=operator; anyone role=reader }\n");
    document.push_str(
        "tools { diagnostics; other \"api-*\" \"db-*\" { arg path writes } }\nskills {\n",
    );
    for number in 0..count {
        let tenant = if number % 2 == 0 { "north" } else { "south" };
        let priority = number % 101;
        document.push_str(&format!(
            "    tenant {tenant} {{ skill s{number} priority={priority} tools=\"api-*-{number}\" \"Rule {number}.\" }}\n"
        ));
    }
    document.push_str("}\npolicy guarded {\n");
    for number in 0..count {
        let rule = match number % 3 {
            0 => format!("program git; sub push; operands \"b-{number}\""),
            1 => format!("writes \"/srv/app-{number}/**\""),
            _ => format!("connects \"h{number}.corp.example\""),
        };
        document.push_str(&format!("    deny r{number} {{ {rule} }}\n"));
    }
    document.push_str("}\n");
    document
}
