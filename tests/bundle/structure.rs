//! Bundles of a wrong build under a good signature: the structure is checked for itself.

use relay_bundle::{Corrupt, Kind, OpenError, Who, encode, trust};

use super::raw::{Raw, Row};
use super::{raw, sample};

const DAMAGED: &str = "fetch or build it again";
const NEWER: &str = "use a newer relay-serve";

#[test]
fn an_unchanged_bundle_is_accepted() {
    for contents in [sample::tiny(), sample::rich(), sample::large()] {
        let bytes = Raw::of(&encode(&contents).unwrap()).sealed();
        let bundle = accepted(&bytes);
        assert_eq!(bundle.contents().as_ref(), Ok(&contents));
    }
}

#[test]
fn wrong_headers_and_tables_do_not_open() {
    use OpenError as E;
    let check = |what, edit: fn(&mut Raw), expected, remedy| {
        let mut raw = tiny();
        edit(&mut raw);
        refused(what, &raw.sealed(), &expected, remedy);
    };

    // The header.
    check("magic", |raw| raw.magic[4] = b'i', E::NotABundle, "`relay build` makes one");
    check("newer major", |raw| raw.major = 2, E::Format { found: 2 }, NEWER);
    check("older major", |raw| raw.major = 0, E::Format { found: 0 }, "build the project again");
    let features = 1 << 63;
    check("feature", |raw| raw.features = 1 << 63, E::Features { features }, NEWER);
    check("reserved", |raw| raw.reserved[15] = 1, E::Reserved { what: "the header" }, DAMAGED);

    // The numbers that say how much there is.
    let (length, limit) = (1 << 32, u64::from(u32::MAX));
    let oversize = E::Oversize { length, limit };
    check("over 4 GiB", |raw| raw.content_length = Some(1 << 32), oversize, DAMAGED);
    let too_many = E::TooManySections { count: 257, limit: 256 };
    check("257 sections", |raw| raw.section_count = Some(257), too_many, DAMAGED);
    // 14 sections: header and table have 960 bytes, the whole 2,176.
    let misplaced = E::Misplaced { kind: 1, offset: 960, expected: 896 };
    check("one row less", |raw| raw.section_count = Some(13), misplaced, DAMAGED);
    check("no rows", |raw| raw.section_count = Some(0), E::Trailing { extra: 2112 }, DAMAGED);
    let length = E::SectionLength { kind: 64, length: 48 };
    check("content too short", |raw| raw.content_length = Some(2112), length, DAMAGED);
    check("more bytes", |raw| raw.trailing = vec![0; 64], E::Trailing { extra: 64 }, DAMAGED);

    // The rows of the table. `Strings` is the third, from byte 1,344 on: 16 bytes, then padding.
    let order = E::SectionOrder { kind: 1 };
    check("rows swapped", |raw| raw.rows.swap(0, 1), order.clone(), DAMAGED);
    check("a row twice", |raw| raw.rows.insert(0, raw.rows[0].clone()), order, DAMAGED);
    let unaligned = E::Unaligned { kind: 8, offset: 1345 };
    check("unaligned", |raw| strings(raw).offset = Some(1345), unaligned, DAMAGED);
    let overlap = E::Overlap { kind: 8, offset: 1280, end: 1329 };
    check("overlap", |raw| strings(raw).offset = Some(1280), overlap, DAMAGED);
    let misplaced = E::Misplaced { kind: 8, offset: 1408, expected: 1344 };
    check("a hole", |raw| strings(raw).offset = Some(1408), misplaced, DAMAGED);
    let offset = u64::MAX - 63;
    let misplaced = E::Misplaced { kind: 8, offset, expected: 1344 };
    check("far away", |raw| strings(raw).offset = Some(u64::MAX - 63), misplaced, DAMAGED);
    let length = E::SectionLength { kind: 8, length: u64::MAX };
    check("endless", |raw| strings(raw).length = Some(u64::MAX), length, DAMAGED);
    let length = E::SectionLength { kind: 8, length: 1 << 20 };
    check("longer than all", |raw| strings(raw).length = Some(1 << 20), length, DAMAGED);
    let overlap = E::Overlap { kind: 9, offset: 1408, end: 1409 };
    check("longer by 49 bytes", |raw| strings(raw).length = Some(65), overlap, DAMAGED);
    let length = E::SectionLength { kind: 16, length: 107 };
    check("half a record", |raw| row(raw, Kind::Prompts).length = Some(107), length, DAMAGED);
    let reserved = E::Reserved { what: "the section table" };
    check("unknown flag", |raw| strings(raw).flags |= 2, reserved.clone(), DAMAGED);
    check("row, reserved", |raw| strings(raw).reserved = 1, reserved, DAMAGED);
    check("padding", |raw| raw.patches.push((1407, 1)), E::Padding { offset: 1407 }, DAMAGED);
    let last = E::Padding { offset: 2175 };
    check("the last padding", |raw| raw.patches.push((2175, 0x80)), last, DAMAGED);

    // The sections that must be there, or must be known.
    let missing = |kind| E::MissingSection { kind };
    check("no manifest", |raw| drop(raw.rows.remove(0)), missing("manifest"), DAMAGED);
    check("no messages", |raw| drop(raw.rows.remove(1)), missing("messages"), DAMAGED);
    let unknown = E::UnknownCriticalSection { kind: 15 };
    check("unknown critical", |raw| _ = insert_unknown(1, raw), unknown, NEWER);
}

#[test]
fn padding_between_the_levels_of_a_tree_is_checked() {
    let mut raw = Raw::of(&encode(&sample::large()).unwrap());
    let bundle = sample::open(&raw.sealed()).unwrap();
    let bodies = bundle.sections().iter().find(|info| info.kind == Some(Kind::Bodies)).unwrap();
    let end = (bodies.offset + bodies.length) as usize;
    assert_ne!(end % 64, 0, "there is padding after the data");
    raw.patches.push((end, 1));
    refused("padding", &raw.sealed(), &OpenError::Padding { offset: end as u64 }, DAMAGED);
}

#[test]
fn the_envelope_must_match_its_length() {
    let content = tiny().content();
    let with_word =
        |length: u64, envelope: &[u8]| [&content, &length.to_le_bytes()[..], envelope].concat();
    let end = content.len() as u64 + 8;
    let check = |what, bytes: &[u8], expected| refused(what, bytes, &expected, DAMAGED);
    check("no word", &content, OpenError::Envelope);
    check("half a word", &[&content, &[0; 4][..]].concat(), OpenError::Envelope);
    check("an oversize envelope", &with_word(262_145, &[b' '; 262_145]), OpenError::Envelope);
    check("an endless envelope", &with_word(u64::MAX, b"{}"), OpenError::Envelope);
    let truncated = OpenError::Truncated { found: end + 2, expected: end + 3 };
    check("a short envelope", &with_word(3, b"{}"), truncated);
    check("a long envelope", &with_word(1, b"{}"), OpenError::Trailing { extra: 1 });
}

/// A later minor version may add sections that only explain; they are checked all the same.
#[test]
fn an_unknown_section_that_is_not_critical_is_ignored() {
    let mut raw = tiny();
    raw.minor = 9;
    let at = insert_unknown(0, &mut raw);
    let bundle = accepted(&raw.sealed());
    assert_eq!(bundle.format(), (1, 9));
    assert_eq!(bundle.sections()[at].kind, None);
    assert_eq!(bundle.contents(), Ok(sample::tiny()));

    raw.rows[at].digest = Some(relay_bundle::Digest([7; 32]));
    let bundle = sample::open(&raw.sealed()).unwrap();
    assert_eq!(bundle.check_all(), Err(Corrupt::Page { section: "unknown", offset: 0 }));
}

/// Also where data and digest tree fit each other, and only the signed digest is another.
#[test]
fn a_wrong_section_digest_is_noticed() {
    for contents in [sample::tiny(), sample::large()] {
        let good = Raw::of(&encode(&contents).unwrap());
        for (index, row) in good.rows.iter().enumerate() {
            let mut raw = good.clone();
            raw.rows[index].digest = Some(relay_bundle::Digest([0; 32]));
            let section = Kind::from_number(row.kind).unwrap().name();
            assert_eq!(sample::checked(&raw.sealed()), Err(Corrupt::Page { section, offset: 0 }));
        }
    }
}

/// Records with dangling references, or with invalid fields.
#[test]
fn impossible_records_are_refused_when_they_are_read() {
    let record = |section, what| Corrupt::Record { section, what };
    let page = |section, offset| Corrupt::Page { section, offset };
    let check = |kind: Kind, at: usize, value: u32, expected: Corrupt| {
        let mut raw = Raw::of(&encode(&sample::rich()).unwrap());
        raw.row(kind).data[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let bundle = accepted(&raw.sealed());
        let what = format!("{} at {at} = {value:#x}", kind.name());
        assert_eq!(bundle.contents().err(), Some(expected.clone()), "{what}");
        let message = expected.to_string();
        let remedy = if matches!(expected, Corrupt::Page { .. }) {
            DAMAGED
        } else {
            "build the project again"
        };
        assert!(message.contains(remedy), "{message}");
    };
    let max = u32::MAX;
    let big = 0x00ff_ffff;
    let used_twice = "range (it is used twice)";

    // The first prompt: its name, then title, description and summary, each a text (offset and
    // length; an offset of all ones means that it is absent) and its place; meta; then ranges of
    // chapters, arguments and variants; its body with its place; the places of priority and prompt.
    check(Kind::Prompts, 0, big, page("strings", 0x00ff_ffff));
    check(Kind::Prompts, 4, max, page("strings", 25));
    check(Kind::Prompts, 0, max, page("strings", 0xffff_ffff));
    check(Kind::Prompts, 16, big, page("places", 0x00ff_ffff * 16));
    check(Kind::Prompts, 52, big, record("chapters", "range"));
    check(Kind::Prompts, 56, max, record("chapters", "range"));
    check(Kind::Prompts, 60, big, record("arguments", "range"));
    check(Kind::Prompts, 72, big, record("variants", "range"));
    check(Kind::Prompts, 76, big, page("bodies", 0x00ff_ffff));
    check(Kind::Prompts, 80, max, page("bodies", 0));
    check(Kind::Prompts, 84, big, page("places", 0x00ff_ffff * 16));
    check(Kind::Prompts, 92, big, page("places", 0x00ff_ffff * 16));
    // The second prompt's summary is `Begrüßung…`: a cut in the middle of `ü` is invalid.
    check(Kind::Prompts, 108 + 36, 5, record("strings", "text (not UTF-8)"));
    check(Kind::Chapters, 0, big, page("strings", 0x00ff_ffff));
    check(Kind::StringLists, 0, big, page("strings", 0x00ff_ffff));
    check(Kind::Arguments, 44, 9, record("arguments", "kind"));
    check(Kind::Arguments, 44, 2 << 8, record("arguments", "required"));
    check(Kind::Arguments, 44, 2 << 16, record("arguments", "only-printed"));
    check(Kind::Arguments, 28, big, record("string-lists", used_twice));
    check(Kind::Arguments, 40, big, page("places", 0x00ff_ffff * 16));
    check(Kind::Variants, 4, big, record("prompt-messages", "range"));
    check(Kind::PromptMessages, 0, big, record("parts", "range"));
    check(Kind::PromptMessages, 4, big, record("parts", used_twice));
    check(Kind::PromptMessages, 8, 2, record("prompt-messages", "role"));
    check(Kind::PromptMessages, 12, big, page("places", 0x00ff_ffff * 16));
    check(Kind::Parts, 0, 5, record("parts", "kind"));
    check(Kind::Parts, 20, big, record("segments", "range"));
    check(Kind::Parts, 24, big, record("segments", used_twice));
    check(Kind::Parts, 36, big, page("places", 0x00ff_ffff * 16));
    check(Kind::Segments, 0, big, page("bodies", 0x00ff_ffff));
    check(Kind::Resources, 72, 2, record("resources", "kind"));
    check(Kind::Resources, 56, big, page("bodies", 0x00ff_ffff));
    check(Kind::Templates, 56, big, record("uri-pieces", "range"));
    check(Kind::UriPieces, 0, big, page("strings", 0x00ff_ffff));
    // The second skill: its name, then title, description and topic with places, meta, tenant and
    // user with places, the range of its tools, its text with its place, places, level.
    check(Kind::Skills, 108, big, page("strings", 0x00ff_ffff));
    check(Kind::Skills, 108 + 76, big, record("skill-tools", "range"));
    check(Kind::Skills, 108 + 76, 2, record("skill-tools", "range"));
    check(Kind::Skills, 108 + 80, max, record("skill-tools", used_twice));
    check(Kind::Skills, 108 + 84, big, page("bodies", 0x00ff_ffff));
    check(Kind::Skills, 108 + 100, big, page("places", 0x00ff_ffff * 16));
    check(Kind::Skills, 108 + 104, 4, record("skills", "level"));
    check(Kind::SkillTools, 0, big, page("strings", 0x00ff_ffff));
    check(Kind::KnownTools, 12, big, page("known-tool-patterns", 0));
    check(Kind::KnownTools, 8, 1, page("known-tool-patterns", 4));
    check(Kind::ToolPages, 8, big, page("page-bytes", 0x00ff_ffff));
    check(Kind::PromptPages, 8, big, page("page-bytes", 0x00ff_ffff));
    check(Kind::Places, 0, big, page("strings", 0x00ff_ffff));
}

/// The rows of an id are complete, and its own: else a caller would have a role that is missing in
/// lists of users.
#[test]
fn an_impossible_run_of_users_is_refused() {
    let check = |at: usize, value: u32, what: &'static str| {
        let mut raw = Raw::of(&encode(&sample::rich()).unwrap());
        raw.row(Kind::Users).data[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let bundle = accepted(&raw.sealed());
        let rows = bundle.users().of(Who::User, "john@acme.example");
        let rows = rows.and_then(|rows| {
            rows.map(|row| bundle.users().row(row)).collect::<Result<Vec<_>, _>>()
        });
        assert_eq!(rows.err(), Some(Corrupt::Record { section: "users", what }), "{at}: {value}");
    };
    // Two rows of john, one of a group, one of anyone: each whom, id, tenant, role, place, rest.
    for rest in [0, 1, 3, 4, 5, u32::MAX] {
        check(24, rest, "run");
    }
    check(28, 1, "run");
    check(28 + 4, 0, "run");
    check(28 + 8, 3, "run");
    check(12, 7, "tenant");
    check(16, 7, "role");
}

/// An index of skills that contradicts itself is refused when a question is asked.
#[test]
fn an_impossible_index_of_skills_is_refused() {
    let check = |kind: Kind, at: usize, value: u32, section: &'static str, what: &'static str| {
        let mut raw = Raw::of(&encode(&sample::rich()).unwrap());
        raw.row(kind).data[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let bundle = accepted(&raw.sealed());
        let found = bundle.skill_index().map(|_| ()).err();
        assert_eq!(found, Some(Corrupt::Record { section, what }), "{} at {at}", kind.name());
    };
    // Three scopes: for all, mary, and acme with john; a list for any tool, one of a pattern in the
    // first.
    check(Kind::SkillScopes, 16, 1, "skill-scopes", "range");
    check(Kind::SkillScopes, 20, u32::MAX, "skill-scopes", "range");
    check(Kind::SkillScopes, 24 + 16, 0, "skill-scopes", "range");
    // Mary's scope, without her a second one of all callers.
    check(Kind::SkillScopes, 24 + 8, u32::MAX, "skill-scopes", "order");
    check(Kind::SkillLists, 4, 1, "skill-lists", "range");
    check(Kind::SkillLists, 8, 0, "skill-lists", "range");
    check(Kind::SkillLists, 0, 3, "skill-lists", "pattern");
    check(Kind::SkillLists, 12, 0, "skill-lists", "pattern");
    check(Kind::SkillPostings, 0, 4, "skill-postings", "skill");
    check(Kind::SkillTopics, 0, 4, "skill-topics", "topic");
    let mut raw = Raw::of(&encode(&sample::rich()).unwrap());
    raw.row(Kind::SkillTopics).data.truncate(12);
    let found = accepted(&raw.sealed()).skill_index().map(|_| ()).err();
    assert_eq!(found, Some(Corrupt::Record { section: "skill-topics", what: "count" }));
}

/// Settings are decoded at once, so a bundle of unknown settings is refused at once.
#[test]
fn settings_that_are_not_known_are_refused() {
    let check = |kind: Kind, edit: &dyn Fn(String) -> String, reason: &str| {
        let mut raw = Raw::of(&encode(&sample::rich()).unwrap());
        let row = raw.row(kind);
        let json = String::from_utf8(row.data.clone()).expect("JSON");
        let edited = edit(json.clone());
        assert_ne!(edited, json, "{reason}");
        row.data = edited.into_bytes();
        match sample::open(&raw.sealed()) {
            Err(OpenError::Settings { section, reason: found }) => {
                assert_eq!(section, kind.name());
                assert!(found.contains(reason), "{found}");
                assert!(found.chars().count() <= 200, "{found}");
            }
            other => panic!("{reason}: {other:?}"),
        }
    };
    let long = format!("{{\"{}\":1,", "x".repeat(5_000));
    check(Kind::Gate, &|json| json.replacen('{', "{\"new\":1,", 1), "unknown field `new`");
    check(Kind::Manifest, &|json| json.replacen('{', &long, 1), "unknown field");
    check(Kind::Gate, &|json| json.replace("refuse", "allow"), "unknown variant `allow`");
    check(Kind::Gate, &|json| json.replace("8192", "-1"), "invalid value: integer `-1`");
    check(Kind::Gate, &|json| json.replace(":60:5", ""), "a place is `file:line:column`");
    check(Kind::Gate, &|json| json.clone() + &json, "trailing characters");
    check(Kind::Gate, &|json| json + " ", "it is not canonical");
    check(Kind::Gate, &|json| json.replace("8192", "8192.0"), "invalid type: floating point");
    check(Kind::Tools, &|json| json.replace("\"tier\":3", "\"tier\":4"), "tier 4");
    check(Kind::Roles, &|json| json.replace("\"value\":1", "\"value\":4"), "tier 4");
    check(Kind::Policy, &|json| json.replace("\"value\":1", "\"value\":4"), "tier 4");
    check(Kind::Tools, &|_| "[]".into(), "it is empty");
    let lost = "a parent is not one of the roles";
    check(Kind::Roles, &|json| json.replace("\"parent\":0", "\"parent\":2"), lost);
    check(
        Kind::Messages,
        &|json| json.replace("remaining_prompts", "all"),
        "unknown variant `all`",
    );
    check(Kind::Messages, &|json| json[5..].to_owned(), "expected value");
    check(Kind::Messages, &|_| "\u{fffd}".into(), "expected value");
}

#[test]
fn settings_have_a_limit() {
    let mut contents = sample::rich();
    let said = |bytes| vec![relay_bundle::MessagePiece::Literal("x".repeat(bytes))];
    contents.messages.gate_encouragement.value = said(1_000_000);
    assert!(sample::open(&encode(&contents).unwrap()).is_ok());
    contents.messages.gate_encouragement.value = said(1 << 20);
    let error = encode(&contents).unwrap_err();
    assert!(error.to_string().contains("over the limit of 1048576"), "{error}");

    let mut raw = Raw::of(&encode(&sample::rich()).unwrap());
    raw.row(Kind::Gate).data = vec![b' '; 1 << 20];
    let error = sample::open(&raw.sealed()).unwrap_err();
    assert!(matches!(error, OpenError::SettingsTooLarge { limit: 1_048_576, .. }), "{error}");
    assert!(error.to_string().contains("build the project again"), "{error}");
}

/// A lookup ends with any contents of the hash table.
#[test]
fn a_bad_hash_table_does_not_block_a_lookup() {
    let with_table = |slots: &[u32]| {
        let mut raw = tiny();
        raw.row(Kind::PromptIndex).data =
            slots.iter().flat_map(|slot| slot.to_le_bytes()).collect();
        accepted(&raw.sealed())
    };
    let find = |slots: &[u32], name: &str| {
        with_table(slots).find_prompt(name).map(|found| found.map(|prompt| prompt.index()))
    };
    assert_eq!(find(&[1, 1, 1, 1], "hello"), Ok(Some(0)));
    assert_eq!(find(&[1, 1, 1, 1], "other"), Ok(None), "no slot is free");
    let odd = Corrupt::Record { section: "prompt-index", what: "number of slots" };
    assert_eq!(find(&[1, 1, 1], "hello"), Err(odd));
    assert_eq!(find(&[0, 0], "hello"), Ok(None));
    assert_eq!(find(&[], "hello"), Ok(None));
    assert_eq!(find(&[9, 9], "hello"), Err(Corrupt::Page { section: "prompts", offset: 8 * 108 }));
    let far = Corrupt::Page { section: "prompts", offset: (u64::from(u32::MAX) - 1) * 108 };
    assert_eq!(find(&[u32::MAX; 4], "hello"), Err(far));
}

/// Records that all refer to the same records leave memory in proportion to the file.
#[test]
fn a_small_bundle_cannot_ask_for_much_memory() {
    let mut raw = tiny();
    let part = raw.row(Kind::Parts).data.clone();
    let segment = raw.row(Kind::Segments).data.clone();
    let message = raw.row(Kind::PromptMessages).data.clone();
    let many = 10_000u32;
    raw.row(Kind::Variants).data = [0u32, many].map(u32::to_le_bytes).concat();
    raw.row(Kind::PromptMessages).data = message.repeat(many as usize);
    raw.row(Kind::Parts).data = part.repeat(many as usize);
    raw.row(Kind::Segments).data = segment.repeat(many as usize);
    for message in raw.row(Kind::PromptMessages).data.chunks_mut(16) {
        message[4..8].copy_from_slice(&many.to_le_bytes());
    }
    for part in raw.row(Kind::Parts).data.chunks_mut(40) {
        part[24..28].copy_from_slice(&many.to_le_bytes());
    }
    let bundle = accepted(&raw.sealed());
    let expected = Corrupt::Record { section: "segments", what: "range (it is used twice)" };
    assert_eq!(bundle.contents(), Err(expected));
}

/// Each audience refers to lists of its own.
#[test]
fn audiences_refer_to_what_is_their_own() {
    for (kind, section) in
        [(Kind::AudiencePages, "audience-pages"), (Kind::AudienceIndex, "audience-index")]
    {
        let mut raw = Raw::of(&encode(&sample::rich()).unwrap());
        let count = u32::try_from(raw.row(kind).data.len() / 4).expect("a small section");
        // The pages of the first list come first, and what the index lists last.
        let at = if kind == Kind::AudiencePages { 0 } else { 64 };
        for row in raw.row(Kind::Audiences).data.chunks_mut(72) {
            row[at..at + 8].copy_from_slice(&[0, count].map(u32::to_le_bytes).concat());
        }
        let bundle = accepted(&raw.sealed());
        let expected = Corrupt::Record { section, what: "range (it is used twice)" };
        assert_eq!(bundle.contents(), Err(expected));
    }
}

fn refused(what: &str, bytes: &[u8], expected: &OpenError, remedy: &str) {
    let error = sample::open(bytes).expect_err(what);
    assert_eq!(error, *expected, "{what}");
    assert!(error.to_string().contains(remedy), "{what}: {error}");
}

/// Opens a bundle whose signature and pages are good.
pub(super) fn accepted(bytes: &[u8]) -> relay_bundle::Bundle {
    let bundle = sample::open(bytes).expect("its header and table are good");
    trust::verify(&bundle, &sample::trust(&[1]), sample::NOW.0).expect("it is signed");
    bundle.check_all().expect("its pages are good");
    bundle
}

fn tiny() -> Raw {
    Raw::of(&encode(&sample::tiny()).unwrap())
}

fn row(raw: &mut Raw, kind: Kind) -> &mut Row {
    raw.row(kind)
}

fn strings(raw: &mut Raw) -> &mut Row {
    raw.row(Kind::Strings)
}

/// Inserts a section of a kind that format 1.0 leaves open; returns where.
fn insert_unknown(flags: u32, raw: &mut Raw) -> usize {
    let data = b"from the future".to_vec();
    let row = Row { kind: 15, flags, offset: None, length: None, digest: None, reserved: 0, data };
    let at = raw.rows.iter().position(|other| other.kind > row.kind).expect("a later section");
    raw.rows.insert(at, row);
    at
}

/// A wrong structure is refused before any signature is read.
#[test]
fn structure_comes_before_signatures() {
    let mut raw = tiny();
    raw.major = 2;
    let unsigned = raw::with_envelope(raw.content(), b"");
    assert_eq!(sample::open(&unsigned).unwrap_err(), OpenError::Format { found: 2 });
}
