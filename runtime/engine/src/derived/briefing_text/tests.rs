use relay_bundle::ArgumentKind::{Choice, Text};
use relay_bundle::{Blob, Place};

use super::*;

fn literal(text: &str) -> PartContent {
    PartContent::Text(vec![Segment::Literal(text.into())])
}

fn said(role: Role, parts: Vec<PartContent>) -> Message {
    let part = |content| Part { content, at: Place::default() };
    Message { role, parts: parts.into_iter().map(part).collect(), at: Place::default() }
}

/// A prompt of one message.
fn plain(parts: Vec<PartContent>) -> Rendering {
    Rendering { arguments: Vec::new(), variants: vec![vec![said(Role::User, parts)]] }
}

fn argument(name: &str, kind: ArgumentKind, stride: u32) -> Argument {
    Argument {
        name: name.into(),
        description: None,
        required: false,
        default: None,
        kind,
        stride,
        only_printed: false,
        at: Place::default(),
    }
}

fn choice(name: &str, values: &[&str], stride: u32) -> Argument {
    argument(name, Choice(values.iter().map(|value| (*value).into()).collect()), stride)
}

/// A prompt whose variants are named by their numbers.
fn steered(arguments: Vec<Argument>, variants: usize) -> Rendering {
    let variant = |number| vec![said(Role::User, vec![literal(&format!("variant {number}"))])];
    Rendering { arguments, variants: (0..variants).map(variant).collect() }
}

fn check(rendering: &Rendering, body: &str, own: &str) {
    assert_eq!(of(rendering), body);
    assert_eq!(without_frame(rendering), own);
}

#[test]
fn one_literal_is_the_body() {
    check(&plain(vec![literal("As it is.\n")]), "As it is.\n", "As it is.\n");
    check(&plain(vec![PartContent::Text(Vec::new())]), "", "");
}

#[test]
fn parts_are_joined_by_a_blank_line() {
    check(
        &plain(vec![literal("One\n"), literal(""), literal("Two\n")]),
        "One\n\nTwo\n",
        "One\n\nTwo\n",
    );
    let two = vec![said(Role::User, vec![literal("One")]), said(Role::User, vec![literal("Two")])];
    let rendering = Rendering { arguments: Vec::new(), variants: vec![two] };
    check(&rendering, "One\n\nTwo", "One\n\nTwo");
}

#[test]
fn an_assistant_is_distinguished_from_the_user() {
    let talk = vec![
        said(Role::User, vec![literal("Hello?"), literal("Anyone?\n\n")]),
        said(Role::Assistant, vec![literal("Yes.")]),
    ];
    let rendering = Rendering { arguments: Vec::new(), variants: vec![talk] };
    check(
        &rendering,
        "[user]\nHello?\n\nAnyone?\n\n[assistant]\nYes.",
        "Hello?\n\nAnyone?\n\nYes.",
    );
    let alone = vec![said(Role::Assistant, vec![literal("Yes.")])];
    check(&Rendering { arguments: Vec::new(), variants: vec![alone] }, "[assistant]\nYes.", "Yes.");
}

#[test]
fn what_is_no_text_is_named() {
    let uri = || vec![Segment::Literal("relay://a".into())];
    let blob = |bytes: &[u8]| Blob(bytes.into());
    let text = vec![Segment::Literal("Held.".into())];
    let binary = |mime: Option<&str>| PartContent::ResourceBlob {
        uri: uri(),
        mime: mime.map(Into::into),
        bytes: blob(b"12345"),
    };
    let rendering = plain(vec![
        PartContent::Image { mime: "image/png".into(), bytes: blob(b"123") },
        PartContent::Audio { mime: "audio/ogg".into(), bytes: blob(b"1234") },
        PartContent::ResourceText { uri: uri(), mime: Some("text/plain".into()), text },
        binary(Some("application/pdf")),
        binary(None),
        literal("Own."),
    ]);
    check(
        &rendering,
        "[image: image/png, 3 bytes]\n\n[audio: audio/ogg, 4 bytes]\n\n[resource: relay://a]\nHeld.\n\n\
         [resource: relay://a, application/pdf, 5 bytes]\n\n[resource: relay://a, 5 bytes]\n\nOwn.",
        "Own.",
    );
}

#[test]
fn a_slot_is_its_default_or_its_name() {
    let name = argument("name", Text { chars_max: 0 }, 0);
    let where_ =
        Argument { default: Some("home".into()), ..argument("where", Text { chars_max: 0 }, 0) };
    let segments =
        vec![Segment::Slot(0), Segment::Literal(" at ".into()), Segment::Slot(1), Segment::Slot(7)];
    let variants = vec![vec![said(Role::User, vec![PartContent::Text(segments)])]];
    check(
        &Rendering { arguments: vec![name, where_], variants },
        "{name} at home",
        "{name} at home",
    );
}

#[test]
fn a_choice_that_steers_is_reported() {
    let values = ["staging", "production"];
    let default =
        |value: &str| Argument { default: Some(value.into()), ..choice("env", &values, 1) };
    check(
        &steered(vec![default("staging")], 2),
        "[shown for env=staging; also: production]\nvariant 0",
        "variant 0",
    );
    check(
        &steered(vec![default("production")], 2),
        "[shown for env=production; also: staging]\nvariant 1",
        "variant 1",
    );
    let required = Argument { required: true, ..choice("env", &values, 1) };
    check(
        &steered(vec![required], 2),
        "[shown for env=staging; also: production]\nvariant 0",
        "variant 0",
    );
    check(
        &steered(vec![choice("env", &values, 1)], 3),
        "[shown for no env; also: staging, production]\nvariant 2",
        "variant 2",
    );
    // The text is independent of this choice.
    check(&steered(vec![choice("env", &values, 0)], 1), "variant 0", "variant 0");
}

#[test]
fn several_choices_are_reported_in_one_line() {
    let dry = Argument { default: Some("true".into()), ..choice("dry", &["true", "false"], 3) };
    let note = argument("note", Text { chars_max: 0 }, 6);
    let rendering = steered(vec![choice("env", &["a", "b"], 1), dry, note], 12);
    check(
        &rendering,
        "[shown for no env, dry=true; also: env=a, env=b, dry=false]\nvariant 8",
        "variant 8",
    );
}

#[test]
fn the_report_of_choices_is_one_short_line() {
    let long = "x".repeat(1000);
    let body = of(&steered(vec![choice("env", &["a\nb", &long], 1)], 3));
    let (line, rest) = body.split_once('\n').unwrap();
    assert!(
        line.starts_with("[shown for no env; also: a b, xxx") && line.ends_with("x…]"),
        "{line}"
    );
    assert_eq!(line.chars().count(), CHOICES_CHARS_MAX + 2);
    assert_eq!(rest, "variant 2");
}

#[test]
fn a_text_that_steers_counts_as_absent_unless_it_must_be_given() {
    let note = argument("note", Text { chars_max: 0 }, 1);
    check(&steered(vec![note.clone()], 2), "variant 1", "variant 1");
    check(&steered(vec![Argument { required: true, ..note.clone() }], 2), "variant 0", "variant 0");
    check(
        &steered(vec![Argument { default: Some("d".into()), ..note }], 2),
        "variant 0",
        "variant 0",
    );
}

#[test]
fn slots_of_a_small_bundle_make_no_text_without_end() {
    let mut long = argument("text", Text { chars_max: 0 }, 0);
    long.default = Some("x".repeat(1024));
    let slots = |count| {
        let mut rendering = plain(vec![PartContent::Text(vec![Segment::Slot(0); count])]);
        rendering.arguments = vec![long.clone()];
        rendering
    };
    let text = "x".repeat(2048);
    assert!(is(&slots(2), &text));
    assert!(!is(&slots(3), &text));
    // A gibibyte and more if it were made.
    assert!(!is(&slots(1 << 20), &text));
    let long = "x".repeat(65_537 * 1024);
    assert!(is(&slots(65_537), &long), "a long text is compared as every other one");
}
