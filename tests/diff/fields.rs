//! Every value of a bundle is compared, but those that decide nothing or follow from others.

use proptest::prelude::*;
use proptest::sample::Index;
use relay_bundle::{
    Argument, ArgumentKind, Audiences, Contents, Mask, MessagePiece, PartContent, Rendering,
    Segment, User, encode,
};
use serde_json::{Value, json};

use super::findings;
use crate::bundle::meaning::{change, find_leaves};
use crate::bundle::{random, sample};

/// Values that answers ignore, or that follow from others that are compared: a pattern each, in
/// which `*` is a number.
const IGNORED: [&str; 24] = [
    // Where it comes from. A lower epoch is reported, a higher one is ignored.
    "/epoch",
    "/manifest/compiler",
    "/canonical",
    // It is found in advance, and answers are the same if it is missing.
    "/known_tools",
    "/provenance",
    // Derived from prompts, resources, templates, tools: see `derived.rs`.
    "/prompt_pages",
    "/resource_pages",
    "/template_pages",
    "/agent_skills/*/manifest",
    "/tool_pages",
    "/audiences/list/*/*/pages",
    "/messages/prompt_index",
    // The index that was made with them is compared.
    "/review/index",
    // They are an author's words; what the facts say is compared.
    "/review/reasons",
    "/templates/*/pieces",
    // They are compared by what they say of programs: `cli::policy`.
    "/facts",
    "/policy/facts",
    // They follow from the selectors of rules.
    "/rules/*/keys",
    "/rules/*/conditions/*/automaton",
    "/automata",
    // How a text depends on arguments is seen in the texts.
    "/prompts/*/rendering/arguments/*/stride",
    "/prompts/*/rendering/arguments/*/only_printed",
    "/templates/*/rendering/arguments/*/stride",
    "/templates/*/rendering/arguments/*/only_printed",
];

#[test]
fn a_change_of_any_value_of_a_rich_bundle_is_found() {
    let contents = sound(sample::rich());
    let value = serde_json::to_value(&contents).unwrap();
    let mut leaves = Vec::new();
    find_leaves(&value, "", &mut leaves);
    let mut compared = 0;
    for path in leaves.iter().filter(|path| !is_ignored(path)) {
        let mut value = value.clone();
        change(value.pointer_mut(path).unwrap());
        let Ok(changed) = serde_json::from_value::<Contents>(value) else { continue };
        if changed != contents && encode(&changed).is_ok() && is_sound(&changed) {
            assert!(!findings(&contents, &changed).is_empty(), "{path}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared} of {} values were changed", leaves.len());
}

#[test]
fn what_is_missing_from_a_rich_bundle_is_found() {
    let contents = sound(sample::rich());
    let value = serde_json::to_value(&contents).unwrap();
    let mut paths = Vec::new();
    find_removable(&value, "", &mut paths);
    let mut compared = 0;
    for path in paths.iter().filter(|path| !is_ignored(path)) {
        let mut value = value.clone();
        remove(&mut value, path);
        let Ok(changed) = serde_json::from_value::<Contents>(value) else { continue };
        if changed != contents && encode(&changed).is_ok() && is_sound(&changed) {
            assert!(!findings(&contents, &changed).is_empty(), "{path} is gone");
            assert!(!findings(&changed, &contents).is_empty(), "{path} is new");
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared} of {} things were removed", paths.len());
}

#[test]
fn the_order_of_arguments_is_found() {
    let with = |names: [&str; 2]| {
        let mut contents = sound(sample::rich());
        for prompt in &mut contents.prompts {
            let argument = |name: &str| Argument {
                name: name.into(),
                description: None,
                required: false,
                default: None,
                kind: ArgumentKind::Text { chars_max: 0 },
                stride: 0,
                only_printed: true,
                at: prompt.at.clone(),
            };
            prompt.rendering.arguments = names.map(argument).to_vec();
            prompt.rendering.variants.truncate(1);
            each_slot(&mut prompt.rendering, |segment| *segment = Segment::Literal("x".into()));
        }
        contents
    };
    let (a, b) = (with(["first", "second"]), with(["second", "first"]));
    let found = findings(&a, &b);
    assert!(found.iter().all(|one| one.part == "order of arguments"), "{found:?}");
    assert_eq!(found.len(), a.prompts.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_change_of_any_value_is_found(contents in random::contents().prop_map(sound), leaf in any::<Index>()) {
        let mut value = serde_json::to_value(&contents).unwrap();
        let mut leaves = Vec::new();
        find_leaves(&value, "", &mut leaves);
        leaves.retain(|path| !is_ignored(path));
        let path = &leaves[leaf.index(leaves.len())];
        change(value.pointer_mut(path).unwrap());
        // Some values take only certain texts and numbers.
        let Ok(changed) = serde_json::from_value::<Contents>(value) else { return Ok(()) };
        prop_assume!(changed != contents && encode(&changed).is_ok() && is_sound(&changed));
        prop_assert!(!findings(&contents, &changed).is_empty(), "{}", path);
        prop_assert!(!findings(&changed, &contents).is_empty(), "{}, reversed", path);
    }

    #[test]
    fn what_is_equal_has_no_findings(contents in random::contents().prop_map(sound)) {
        prop_assert_eq!(findings(&contents, &contents), []);
    }
}

/// Finds the items of lists, and the values that may be absent.
fn find_removable(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                // A rendering has a variant, or an argument that selects one.
                let selects = item.get("stride").is_some_and(|stride| *stride != 0);
                // An empty message is useless to a client.
                let says_nothing = item.get("parts").is_some_and(|parts| parts == &json!([]));
                if !path.ends_with("/variants") && !selects && !says_nothing {
                    out.push(format!("{path}/{number}"));
                }
                find_removable(item, &format!("{path}/{number}"), out);
            }
        }
        Value::Object(members) => {
            for (name, item) in members {
                out.push(format!("{path}/{name}"));
                find_removable(item, &format!("{path}/{name}"), out);
            }
        }
        _ => {}
    }
}

fn remove(value: &mut Value, path: &str) {
    let (parent, name) = path.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Array(items) => drop(items.remove(name.parse().unwrap())),
        Value::Object(members) => drop(members.insert(name.into(), Value::Null)),
        _ => {}
    }
}

fn is_ignored(path: &str) -> bool {
    let fits = |pattern: &&str| {
        let (mut names, mut wanted) = (path.split('/'), pattern.split('/'));
        let same = |(name, wanted): (&str, &str)| wanted == "*" || name == wanted;
        path.split('/').count() >= pattern.split('/').count()
            && names.by_ref().zip(wanted.by_ref()).all(same)
    };
    path.split('/').any(|name| name == "at") || IGNORED.iter().any(fits)
}

/// Turns impossible contents into possible ones: a named project, unique names, numbers of variants
/// that fit the arguments.
fn sound(mut contents: Contents) -> Contents {
    contents.manifest.project.value.insert(0, 'p');
    for (number, tool) in contents.tools.iter_mut().enumerate() {
        tool.name.insert_str(0, &number.to_string());
    }
    for (number, template) in contents.templates.iter_mut().enumerate() {
        template.uri_template.insert_str(0, &number.to_string());
        rendered(&mut template.rendering);
    }
    contents.prompts.iter_mut().for_each(|prompt| rendered(&mut prompt.rendering));
    // Patterns of which none matches all others.
    for pattern in contents.roles.iter_mut().filter_map(|role| role.tools.as_mut()).flatten() {
        pattern.value.insert(0, 't');
    }
    // Each audience has an index of its own.
    if contents.audiences.is_some() {
        contents.messages.session_greeting.value.push(MessagePiece::Index);
    }
    contents
}

fn rendered(rendering: &mut Rendering) {
    let mut count = 1;
    for (number, argument) in rendering.arguments.iter_mut().enumerate() {
        argument.name.insert_str(0, &number.to_string());
        if let ArgumentKind::Choice(choices) = &mut argument.kind {
            let numbered = (0..).zip(choices.iter_mut());
            numbered
                .for_each(|(number, choice): (u32, _)| choice.insert_str(0, &number.to_string()));
        }
        if let ArgumentKind::Choice(choices) = &argument.kind {
            let is_some = argument.default.is_some();
            argument.default = choices.first().filter(|_| is_some).cloned();
            if choices.is_empty() {
                argument.kind = ArgumentKind::Text { chars_max: 0 };
            }
        }
        argument.stride = if argument.stride % 3 == 0 { 0 } else { count };
        if argument.stride > 0 {
            count *= states(argument);
        }
    }
    let known = std::mem::take(&mut rendering.variants);
    let cycle = known.into_iter().chain([Vec::new()]).cycle();
    rendering.variants = cycle.take(count as usize).collect();
    let arguments = rendering.arguments.len() as u32;
    each_slot(rendering, |segment| match (segment.clone(), arguments) {
        (Segment::Slot(_), 0) => *segment = Segment::Literal("none".into()),
        (Segment::Slot(slot), arguments) => *segment = Segment::Slot(slot % arguments),
        (Segment::Literal(_), _) => {}
    });
}

fn states(argument: &Argument) -> u32 {
    let absent = u32::from(!argument.required && argument.default.is_none());
    match &argument.kind {
        ArgumentKind::Choice(choices) if !argument.only_printed => choices.len() as u32 + absent,
        _ => 1 + absent,
    }
}

fn is_sound(contents: &Contents) -> bool {
    if !refers(contents) {
        return false;
    }
    let mut contents = contents.clone();
    let is_priority = |priority: u8| (1..=10).contains(&priority);
    if !contents.prompts.iter().all(|prompt| is_priority(prompt.priority.value)) {
        return false;
    }
    let of_prompts = contents.prompts.iter_mut().map(|prompt| &mut prompt.rendering);
    let of_templates = contents.templates.iter_mut().map(|template| &mut template.rendering);
    of_prompts.chain(of_templates).all(|rendering| {
        let (count, mut fits) = (rendering.arguments.len() as u32, true);
        each_slot(rendering, |segment| {
            fits &= !matches!(segment, Segment::Slot(slot) if *slot >= count);
        });
        fits
    })
}

/// Returns whether users and audiences refer to what there is.
fn refers(contents: &Contents) -> bool {
    let (tenants, roles) = (contents.tenants.len(), contents.roles.len());
    let is_user = |User { tenant, role, .. }: &User| {
        (*role as usize) < roles && tenant.is_none_or(|tenant| (tenant as usize) < tenants)
    };
    let Some(Audiences { tenant_classes, table, list }) = &contents.audiences else {
        return contents.users.iter().all(is_user);
    };
    let classes = table.len() / roles.max(1);
    let fits = |rows: &Mask, count: usize| {
        let words = serde_json::to_value(rows).unwrap();
        words.as_array().map(Vec::len) == Some(count.div_ceil(64))
    };
    contents.users.iter().all(is_user)
        && tenant_classes.len() == tenants + 1
        && tenant_classes.iter().all(|class| (*class as usize) < classes)
        && table.iter().all(|number| (*number as usize) < list.len())
        && list.iter().all(|audience| {
            audience.listed.iter().all(|row| (*row as usize) < contents.prompts.len())
                && fits(&audience.prompts.rows, contents.prompts.len())
                && fits(&audience.resources.rows, contents.resources.len())
                && fits(&audience.templates.rows, contents.templates.len())
                && fits(&audience.tools.rows, contents.tools.len())
        })
}

fn each_slot(rendering: &mut Rendering, mut visit: impl FnMut(&mut Segment)) {
    let messages = rendering.variants.iter_mut().flatten();
    for part in messages.flat_map(|message| &mut message.parts) {
        let lists: [&mut [Segment]; 2] = match &mut part.content {
            PartContent::Text(segments) => [segments, &mut []],
            PartContent::ResourceText { uri, text, .. } => [uri, text],
            PartContent::ResourceBlob { uri, .. } => [uri, &mut []],
            PartContent::Image { .. } | PartContent::Audio { .. } => [&mut [], &mut []],
        };
        lists.into_iter().flatten().for_each(&mut visit);
    }
}
