//! Projects of any size, always the same.

use std::fs;
use std::path::Path;

use relay_bundle::{
    Argument, ArgumentKind, Contents, Generated, Manifest, Message, Page, Part, Place, Prompt,
    Rendering, Role, Segment,
};

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

/// The name of a prompt; in the order of the numbers.
pub(crate) fn name(index: usize) -> String {
    format!("team-{:03}/prompt-{index:06}", index / 1000)
}

/// About 4 KB of text.
pub(crate) fn text(index: usize) -> String {
    let mut state = index as u64 * 0x9e37_79b9_7f4a_7c15 + 1;
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
    let prompt_pages = pages(&prompts);
    Contents {
        manifest: Manifest {
            project: "bench".into(),
            compiler: "bench".into(),
            epoch: 1,
            instructions: "A bundle for figures.".into(),
            ..Manifest::default()
        },
        prompt_pages,
        prompts,
        provenance: "{}".into(),
        ..Contents::default()
    }
}

fn prompt(index: usize) -> Prompt {
    let segments = vec![Segment::Literal(text(index)), Segment::Slot(0)];
    Prompt {
        name: name(index),
        title: None,
        description: Some(format!("What to do about matter {index}")),
        summary: Some(format!("What to do about matter {index}")),
        chapters: Vec::new(),
        priority: 5,
        generated: Generated::default(),
        meta: None,
        body: Some(text(index)),
        rendering: Rendering {
            arguments: vec![Argument {
                name: "arguments".into(),
                description: None,
                required: false,
                default: None,
                kind: ArgumentKind::Text { chars_max: 10_000 },
                stride: 0,
            }],
            variants: vec![vec![Message { role: Role::User, parts: vec![Part::Text(segments)] }]],
        },
        at: Place { file: "project.kdl".into(), line: 1, column: 1 },
    }
}

fn pages(prompts: &[Prompt]) -> Vec<Page> {
    let mut pages = Vec::new();
    for (number, prompts) in prompts.chunks(100).enumerate() {
        let list: Vec<_> = prompts
            .iter()
            .map(|prompt| serde_json::json!({ "name": prompt.name, "description": prompt.description }))
            .collect();
        pages.push(Page {
            first: u32::try_from(number * 100).unwrap_or(u32::MAX),
            count: u32::try_from(prompts.len()).unwrap_or(u32::MAX),
            json: serde_json::Value::from(list).to_string(),
        });
    }
    pages
}

/// Writes a project of so many markdown prompts into `folder`.
pub(crate) fn project(folder: &Path, count: usize) -> Result<()> {
    for index in 0..count {
        let path = folder.join("prompts").join(format!("{}.md", name(index)));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let body = text(index);
        let front = format!(
            "---\ndescription: What to do about matter {index}\npriority: {}\n---\n",
            index % 9 + 1
        );
        fs::write(path, format!("{front}# Matter {index}\n\n{body}\n"))?;
    }
    let project = "project bench version=\"1\" epoch=1\nmessages { session-greeting \"Figures.\" }\nprompts { folder \"prompts\" }\n";
    fs::write(folder.join("project.kdl"), project)?;
    Ok(())
}
