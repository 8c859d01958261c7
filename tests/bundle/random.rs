//! Any contents, within bounds: what the property tests put into bundles.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use relay_bundle::{
    AgentSkill, Argument, ArgumentKind, Audience, Audiences, Blob, CallerRole, Content, Contents,
    Expectation, Gate, IndexSettings, KnownTool, Level, Manifest, Mask, Message, MessagePiece,
    Messages, Page, Part, PartContent, Place, Prompt, Reason, Rendering, Resource,
    ResourceTemplate, Review, Role, Segment, Setting, SharedText, Skill, Suppressed, Suppression,
    Tenant, Tier, Tool, Unlock, UriPiece, User, Visible, Who,
};

/// Contents with a few of everything; prompts and resources have unique names and are sorted.
pub(crate) fn contents() -> impl Strategy<Value = Contents> {
    let lists = (
        btree_map(name(), prompt(), 0..6).prop_map(|prompts| {
            prompts.into_iter().map(|(name, prompt)| Prompt { name, ..prompt }).collect()
        }),
        btree_map(name(), resource(), 0..5).prop_map(|resources| {
            resources.into_iter().map(|(uri, resource)| Resource { uri, ..resource }).collect()
        }),
        vec(template(), 0..3),
    );
    let pages = [(); 4].map(|()| vec(page(), 0..3));
    let gated = (option::of(gate()), vec(tool(), 0..4), access());
    let settings = (any::<u64>(), manifest(), messages());
    let skills = (vec(skill(), 0..6), known_tools(), agent_skills());
    (settings, lists, skills, gated, pages, (text(), text(), review())).prop_map(
        |(
            (epoch, manifest, messages),
            (prompts, resources, templates),
            (skills, known_tools, agent_skills),
            (gate, tools, (tenants, roles, users)),
            pages,
            (canonical, provenance, review),
        )| {
            let [tool_pages, prompt_pages, resource_pages, template_pages] = pages;
            Contents {
                epoch,
                manifest,
                messages,
                gate,
                tools,
                tenants,
                roles,
                users,
                audiences: None,
                tool_pages,
                prompts,
                resources,
                templates,
                agent_skills,
                skills,
                skill_settings: None,
                tool_settings: None,
                hosts: None,
                policy: None,
                facts: Vec::new(),
                rules: Vec::new(),
                automata: Vec::new(),
                known_tools,
                prompt_pages,
                resource_pages,
                template_pages,
                canonical,
                provenance,
                review,
            }
        },
    )
}

/// Contents in which audiences see different rows of the lists.
pub(crate) fn with_audiences() -> impl Strategy<Value = Contents> {
    let masks = vec(vec(any::<[bool; 4]>(), 8), 1..4);
    (contents(), masks, any::<u32>(), text()).prop_map(|(contents, masks, seed, index)| {
        let counts = [
            contents.prompts.len(),
            contents.resources.len(),
            contents.templates.len(),
            contents.tools.len(),
        ];
        let pages = |count: usize, list: &str| {
            let entry = |row| format!("{{\"{list}\":{row}}}");
            let json = format!("[{}]", (0..count).map(entry).collect::<Vec<_>>().join(","));
            Some(Page { first: 0, count: count as u32, json }).filter(|_| count > 0)
        };
        let visible = |mask: &Vec<[bool; 4]>, list: usize| {
            let rows = Mask::of(counts[list], |row| mask[row % mask.len()][list]);
            let seen = (0..counts[list] as u32).filter(|row| rows.contains(*row as usize));
            Visible { pages: seen.step_by(2).collect(), rows }
        };
        let list: Vec<Audience> = masks
            .iter()
            .map(|mask| Audience {
                prompts: visible(mask, 0),
                resources: visible(mask, 1),
                templates: visible(mask, 2),
                tools: visible(mask, 3),
                index: index.clone(),
                listed: (0..counts[0] as u32).collect(),
            })
            .collect();
        let classes = contents.tenants.len() + 1;
        let roles = contents.roles.len().max(1);
        let audiences = Audiences {
            tenant_classes: (0..classes as u32).collect(),
            table: (0..classes * roles)
                .map(|cell| (cell as u32 ^ seed) % list.len() as u32)
                .collect(),
            list,
        };
        Contents {
            prompt_pages: pages(counts[0], "prompt").into_iter().collect(),
            resource_pages: pages(counts[1], "resource").into_iter().collect(),
            template_pages: pages(counts[2], "template").into_iter().collect(),
            tool_pages: pages(counts[3], "tool").into_iter().collect(),
            audiences: Some(audiences),
            ..contents
        }
    })
}

/// Tenants, roles and users that refer to each other.
fn access() -> impl Strategy<Value = (Vec<Tenant>, Vec<CallerRole>, Vec<User>)> {
    let tenants = btree_map(name(), place(), 0..4);
    let roles = btree_map(name(), (set(tier()), option::of(vec(set(text()), 0..3)), place()), 0..4);
    let who = prop_oneof![Just(Who::User), Just(Who::Group), Just(Who::Anyone)];
    let users = btree_map((who, name(), option::of(0..4u32)), (0..4u32, place()), 0..8);
    (tenants, roles, users).prop_map(|(tenants, roles, users)| {
        let tenants: Vec<Tenant> =
            tenants.into_iter().map(|(name, at)| Tenant { name, at }).collect();
        let first = roles.keys().next().cloned();
        let roles: Vec<CallerRole> = roles
            .into_iter()
            .map(|(name, (tier, tools, at))| CallerRole {
                parent: (first.as_ref() != Some(&name)).then_some(0),
                name,
                tier,
                approve: None,
                decides: None,
                tools,
                at,
            })
            .collect();
        let count = |list: usize| u32::try_from(list).unwrap();
        let mut users: Vec<User> = users
            .into_iter()
            .filter(|((_, _, tenant), (role, _))| {
                tenant.is_none_or(|tenant| tenant < count(tenants.len()))
                    && *role < count(roles.len())
            })
            .map(|((who, id, tenant), (role, at))| User { who, id, tenant, role, at })
            .collect();
        users.sort_by_key(|user| (user.who, user.id.clone(), user.tenant.unwrap_or(u32::MAX)));
        (tenants, roles, users)
    })
}

/// A name of few letters, so that names meet in the hash tables.
pub(crate) fn name() -> impl Strategy<Value = String> {
    "[abä/]{0,3}"
}

/// A short text; often empty, sometimes with characters of several bytes.
pub(crate) fn text() -> impl Strategy<Value = String> {
    "(|[ -~]{0,8}|[\\r\\n\\u{0}äß€😴]{1,4})"
}

/// Words of several scripts, whose letters change in number and in bytes when they are lower-cased,
/// between every kind of white space.
pub(crate) fn topic() -> impl Strategy<Value = String> {
    "([a-bA-B]{0,2}|[ßẞΣσςİıÄäЖжDžǆK漢😴']{1,2}|[ \\t\\r\\n\u{85}\u{a0}\u{2003}\u{2028}\u{3000}]){0,6}"
}

/// Agent skills, sorted by URI.
fn agent_skills() -> impl Strategy<Value = Vec<AgentSkill>> {
    let skill = (text(), text(), text(), place());
    btree_map("[a-c]{0,3}", skill, 0..4).prop_map(|skills| {
        let skill = |(uri, (prompt, frontmatter, manifest, at))| AgentSkill {
            uri,
            prompt,
            frontmatter,
            manifest,
            at,
        };
        skills.into_iter().map(skill).collect()
    })
}

fn maybe() -> impl Strategy<Value = Option<String>> {
    option::of(text())
}

fn set<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Setting<T>> {
    (value, option::of(place())).prop_map(|(value, at)| Setting { value, at })
}

fn maybe_set() -> impl Strategy<Value = Option<Setting<String>>> {
    option::of(set(text()))
}

fn manifest() -> impl Strategy<Value = Manifest> {
    (set(text()), maybe_set(), maybe_set(), maybe_set(), maybe(), text()).prop_map(
        |(project, version, title, owner, environment, compiler)| Manifest {
            project,
            version,
            title,
            owner,
            environment,
            compiler,
        },
    )
}

fn messages() -> impl Strategy<Value = Messages> {
    let message = || set(vec(message_piece(), 0..4));
    let all = (message(), message(), message(), message(), message(), message());
    (all, vec(text(), 0..4)).prop_map(|(all, prompt_index)| Messages {
        session_greeting: all.0,
        tool_guidance: all.1,
        guided_tools: Vec::new(),
        gate_instructions: all.2,
        gate_encouragement: all.3,
        read_prompts_reminder: all.4,
        gate_intercept_preamble: all.5,
        prompt_index,
    })
}

pub(crate) fn prompt() -> impl Strategy<Value = Prompt> {
    let texts = (maybe_set(), maybe_set(), option::of(set(topic())), maybe());
    let chapters = vec(set(topic()), 0..3);
    let standing = (set(1..=10u8), set(any::<bool>()));
    (texts, chapters, standing, set(shared("[a-z]{0,12}")), rendering(), place()).prop_map(
        |((title, description, summary, meta), chapters, standing, body, rendering, at)| Prompt {
            name: String::new(),
            title,
            description,
            summary,
            chapters,
            priority: standing.0,
            briefing: standing.1,
            meta,
            body,
            rendering,
            at,
        },
    )
}

pub(crate) fn skill() -> impl Strategy<Value = Skill> {
    let texts = (maybe_set(), maybe_set(), option::of(set(name())), maybe());
    let tools = btree_map(name(), option::of(place()), 0..4)
        .prop_map(|tools| tools.into_iter().map(|(value, at)| Setting { value, at }).collect());
    let selectors = (option::of(set(name())), tools, option::of(set(name())));
    let level = proptest::sample::select(&Level::ALL[..]);
    (name(), level, set(any::<u8>()), texts, selectors, set(text()), place()).prop_map(
        |(name, level, priority, texts, (tenant, tools, user), text, at)| {
            let (title, description, topic, meta) = texts;
            Skill {
                name,
                level,
                priority,
                topic,
                title,
                description,
                meta,
                tenant,
                tools,
                user,
                text,
                at,
            }
        },
    )
}

fn known_tools() -> impl Strategy<Value = Vec<KnownTool>> {
    let tools = btree_map(name(), option::of(vec(any::<u32>(), 0..4)), 0..4);
    tools.prop_map(|tools| {
        tools.into_iter().map(|(name, patterns)| KnownTool { name, patterns }).collect()
    })
}

fn gate() -> impl Strategy<Value = Gate> {
    let unlock = set(prop_oneof![Just(Unlock::Intercept), Just(Unlock::Refuse)]);
    let number = || set(any::<u32>());
    let numbers = (number(), number(), number(), number(), number());
    (unlock, set(any::<bool>()), numbers, place()).prop_map(|(unlock, hide_tools, numbers, at)| {
        Gate {
            unlock,
            hide_tools,
            tags_ask: numbers.0,
            tags_max: numbers.1,
            budget_bytes: numbers.2,
            repeat_bytes: numbers.3,
            remaining_bytes: numbers.4,
            at,
        }
    })
}

fn message_piece() -> impl Strategy<Value = MessagePiece> {
    prop_oneof![
        text().prop_map(MessagePiece::Literal),
        Just(MessagePiece::Matched),
        Just(MessagePiece::Remaining),
    ]
}

fn tier() -> impl Strategy<Value = Tier> {
    prop::sample::select(Tier::ALL.as_slice())
}

fn tool() -> impl Strategy<Value = Tool> {
    (text(), any::<bool>(), tier(), place()).prop_map(|(name, gated, tier, at)| Tool {
        name,
        gated,
        tier,
        at,
    })
}

fn resource() -> impl Strategy<Value = Resource> {
    let content =
        set(prop_oneof![shared(text()).prop_map(Content::Text), blob().prop_map(Content::Blob)]);
    (set(text()), maybe_set(), maybe_set(), set(text()), content, place()).prop_map(
        |(name, title, description, mime, content, at)| Resource {
            uri: String::new(),
            name,
            title,
            description,
            mime,
            content,
            at,
        },
    )
}

fn template() -> impl Strategy<Value = ResourceTemplate> {
    let piece = prop_oneof![
        text().prop_map(UriPiece::Literal),
        any::<u16>().prop_map(|argument| UriPiece::Variable(argument.into())),
    ];
    let texts = (text(), set(text()), maybe_set(), maybe_set(), set(text()));
    (texts, vec(piece, 0..4), rendering(), place()).prop_map(
        |((uri_template, name, title, description, mime), pieces, rendering, at)| {
            ResourceTemplate { uri_template, pieces, name, title, description, mime, rendering, at }
        },
    )
}

fn rendering() -> impl Strategy<Value = Rendering> {
    (vec(argument(), 0..3), vec(vec(message(), 0..3), 0..3))
        .prop_map(|(arguments, variants)| Rendering { arguments, variants })
}

fn argument() -> impl Strategy<Value = Argument> {
    let kind = prop_oneof![
        vec(text(), 0..4).prop_map(ArgumentKind::Choice),
        any::<u32>().prop_map(|chars_max| ArgumentKind::Text { chars_max }),
    ];
    (text(), maybe(), any::<bool>(), maybe(), kind, any::<u32>(), any::<bool>(), place()).prop_map(
        |(name, description, required, default, kind, stride, only_printed, at)| Argument {
            name,
            description,
            required,
            default,
            kind,
            stride,
            only_printed,
            at,
        },
    )
}

fn message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    (role, vec(part(), 0..3), place()).prop_map(|(role, parts, at)| Message { role, parts, at })
}

fn part() -> impl Strategy<Value = Part> {
    let content = prop_oneof![
        segments().prop_map(PartContent::Text),
        (shared(text()), blob()).prop_map(|(mime, bytes)| PartContent::Image { mime, bytes }),
        (shared(text()), blob()).prop_map(|(mime, bytes)| PartContent::Audio { mime, bytes }),
        (segments(), option::of(shared(text())), segments())
            .prop_map(|(uri, mime, text)| PartContent::ResourceText { uri, mime, text }),
        (segments(), option::of(shared(text())), blob())
            .prop_map(|(uri, mime, bytes)| PartContent::ResourceBlob { uri, mime, bytes }),
    ];
    (content, place()).prop_map(|(content, at)| Part { content, at })
}

fn segments() -> impl Strategy<Value = Vec<Segment>> {
    let segment = prop_oneof![
        shared(text()).prop_map(Segment::Literal),
        any::<u16>().prop_map(|argument| Segment::Slot(argument.into())),
    ];
    vec(segment, 0..3)
}

fn shared(text: impl Strategy<Value = String>) -> impl Strategy<Value = SharedText> {
    text.prop_map(SharedText::from)
}

fn blob() -> impl Strategy<Value = Blob> {
    vec(any::<u8>(), 0..6).prop_map(|bytes| Blob(bytes.into()))
}

fn page() -> impl Strategy<Value = Page> {
    (any::<u32>(), any::<u32>(), text()).prop_map(|(first, count, json)| Page {
        first,
        count,
        json,
    })
}

fn review() -> impl Strategy<Value = Review> {
    let names = || vec(text(), 0..3);
    let of =
        prop_oneof![Just(Suppressed::Secret), Just(Suppressed::Invisible), Just(Suppressed::Mark)];
    let suppression = (of, text(), text(), names(), names(), names(), place()).prop_map(
        |(of, rule, because, prompts, resources, skills, at)| Suppression {
            of,
            rule,
            because,
            prompts,
            resources,
            skills,
            at,
        },
    );
    let index = (any::<u32>(), any::<u8>(), any::<u32>(), any::<u32>()).prop_map(
        |(cap, over_cap_priority, entry_chars, instructions_chars)| IndexSettings {
            cap,
            over_cap_priority,
            entry_chars,
            instructions_chars,
        },
    );
    let reason = (text(), text(), text(), text(), place())
        .prop_map(|(kind, name, part, because, at)| Reason { kind, name, part, because, at });
    let switched_off = [(); 2].map(|()| vec(set(text()), 0..3));
    let expectation = (text(), vec(text(), 0..3), place())
        .prop_map(|(question, claims, at)| Expectation { question, claims, at });
    let lists = (vec(suppression, 0..3), vec(reason, 0..3), vec(expectation, 0..3));
    (switched_off, lists, option::of(index)).prop_map(
        |([switched_off, switched_off_skills], (suppressions, reasons, expectations), index)| {
            Review { switched_off, switched_off_skills, suppressions, reasons, index, expectations }
        },
    )
}

fn place() -> impl Strategy<Value = Place> {
    (text(), any::<u32>(), any::<u32>()).prop_map(|(file, line, column)| Place {
        file,
        line,
        column,
    })
}
