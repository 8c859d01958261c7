//! The texts of a prompt or of a URI template, for each combination of its arguments.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use relay_bundle::{
    Argument, ArgumentKind, Digest, Message, Part, PartContent, Rendering, Role, Segment,
};

use crate::finding::{Area, Change, Finding, Findings, Subject};
use crate::text::{Hunk, Piece, PieceKind, hunks};

/// The most combinations of arguments to compare one by one.
const COMBINATIONS_MAX: usize = 1 << 16;

/// Compares the texts of one subject; returns whether they differ.
pub(crate) fn compare(subject: &Subject, a: &Rendering, b: &Rendering, out: &mut Findings) -> bool {
    let (old, new) = (Texts::of(a), Texts::of(b));
    let pairs = pairs(a, b);
    // Equal pairs of texts are compared once, however many combinations have them.
    let mut differing: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    let count = pairs.len();
    for Pair { a, b, when } in pairs {
        if old.meaning(a) != new.meaning(b) {
            differing.entry((old.first(a), new.first(b))).or_default().push(when);
        }
    }
    if differing.is_empty() {
        return false;
    }
    let mut passages = Passages::default();
    let (mut bytes, mut content) = ((0, 0), [Vec::new(), Vec::new()]);
    for ((a, b), when) in differing {
        let (a, b) = (old.get(a), new.get(b));
        let mut each = hunks(&a, &b);
        if each.is_empty() {
            // A value that an argument printed is a fixed text now, or the reverse.
            each = hunks("", &b);
        }
        passages.add(each, &when);
        if b.len().abs_diff(a.len()) > usize::abs_diff(bytes.0, bytes.1) {
            bytes = (a.len(), b.len());
        }
        for (content, text) in content.iter_mut().zip([&a, &b]) {
            content.extend(Digest::of(text.as_bytes()).hex().into_bytes());
        }
    }
    let hunks = passages.hunks(count);
    let [before, after] = content;
    let finding =
        Finding::new(Area::Contexts, subject.kind, subject.name.clone(), Change::Text { hunks })
            .part("text")
            .bytes(bytes.0, bytes.1)
            .content(&before, &after)
            .at(place(a), place(b));
    out.push(finding);
    true
}

/// The differing words of a passage, and its number among the passages of its text with the same
/// words.
type Words = (Vec<Piece>, usize);

/// The passages of many renderings while they are gathered, each with its combinations of
/// arguments. Passages with the same differing words are grouped, even among other words.
#[derive(Default)]
struct Passages(BTreeMap<Words, BTreeMap<Hunk, Vec<String>>>);

impl Passages {
    fn add(&mut self, hunks: Vec<Hunk>, when: &[String]) {
        let mut known: BTreeMap<Vec<Piece>, usize> = BTreeMap::new();
        for hunk in hunks {
            let differ = hunk.pieces.iter().filter(|piece| piece.kind != PieceKind::Same);
            let words: Vec<Piece> = differ.cloned().collect();
            let count = known.entry(words.clone()).or_default();
            let passages = self.0.entry((words, *count)).or_default();
            passages.entry(hunk).or_default().extend(when.iter().cloned());
            *count += 1;
        }
    }

    /// Returns one passage for the same words, in the order of the text; `count` is the number of
    /// all combinations.
    fn hunks(self, count: usize) -> Vec<Hunk> {
        let mut hunks = Vec::new();
        for passages in self.0.into_values() {
            let mut passages: Vec<(Hunk, Vec<String>)> = passages.into_iter().collect();
            // The passage of the most combinations is shown; of several, the first.
            passages.sort_by_key(|(_, variants)| Reverse(variants.len()));
            let mut passages = passages.into_iter();
            let Some((hunk, variants)) = passages.next() else { continue };
            let alike: Vec<String> = passages.flat_map(|(_, variants)| variants).collect();
            let variants = if variants.len() == count { Vec::new() } else { variants };
            hunks.push(Hunk { variants, alike, ..hunk });
        }
        hunks.sort_by(|a, b| (a.line, &a.variants).cmp(&(b.line, &b.variants)));
        hunks
    }
}

/// Returns the place of the first text.
fn place(rendering: &Rendering) -> Option<&relay_bundle::Place> {
    rendering.variants.first()?.first()?.parts.first().map(|part| &part.at)
}

/// The texts of all variants.
struct Texts<'r> {
    rendering: &'r Rendering,
    /// The digest of each variant's meaning: texts that look alike may differ.
    meanings: Vec<Digest>,
    /// The first variant of each meaning.
    firsts: BTreeMap<[u8; 32], usize>,
}

impl<'r> Texts<'r> {
    fn of(rendering: &'r Rendering) -> Self {
        let Rendering { arguments, variants } = rendering;
        let exact =
            |messages: &Vec<Message>| Digest::of(flat(messages, arguments, Form::Exact).as_bytes());
        let meanings: Vec<Digest> = variants.iter().map(exact).collect();
        let mut firsts = BTreeMap::new();
        for (variant, meaning) in meanings.iter().enumerate() {
            firsts.entry(meaning.0).or_insert(variant);
        }
        Self { rendering, meanings, firsts }
    }

    fn meaning(&self, variant: usize) -> Option<&Digest> {
        self.meanings.get(variant)
    }

    /// Returns the text of a variant in the form for people.
    fn get(&self, variant: usize) -> String {
        let Rendering { arguments, variants } = self.rendering;
        variants
            .get(variant)
            .map_or(String::new(), |messages| flat(messages, arguments, Form::Shown))
    }

    /// Returns the first variant with the same meaning.
    fn first(&self, variant: usize) -> usize {
        let first = self.meaning(variant).and_then(|meaning| self.firsts.get(&meaning.0));
        first.copied().unwrap_or(variant)
    }
}

/// The written form of a text.
#[derive(Clone, Copy)]
enum Form {
    /// For people.
    Shown,
    /// Unambiguous: different texts always differ.
    Exact,
}

/// Returns messages as one text. A single text of the user stays as it is; otherwise a line before
/// each part names it.
fn flat(messages: &[Message], arguments: &[Argument], form: Form) -> String {
    if let [Message { role: Role::User, parts, at: _ }] = messages
        && let [Part { content: PartContent::Text(segments), at: _ }] = parts.as_slice()
    {
        return filled(segments, arguments, form);
    }
    let mut out = String::new();
    for Message { role, parts, at: _ } in messages {
        let role = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        for Part { content, at: _ } in parts {
            let (what, text) = described(content, arguments, form);
            out.push_str(&format!("[{role}: {what}]\n{text}\n"));
        }
    }
    out
}

fn described(content: &PartContent, arguments: &[Argument], form: Form) -> (String, String) {
    let binary =
        |bytes: &[u8]| format!("{} bytes, sha256 {}", bytes.len(), Digest::of(bytes).hex());
    let of = |mime: Option<&str>| mime.map_or(String::new(), |mime| format!(" of {mime}"));
    match content {
        PartContent::Text(segments) => ("text".into(), filled(segments, arguments, form)),
        PartContent::Image { mime, bytes } => (format!("image of {mime}"), binary(&bytes.0)),
        PartContent::Audio { mime, bytes } => (format!("audio of {mime}"), binary(&bytes.0)),
        PartContent::ResourceText { uri, mime, text } => {
            let what = format!("resource {}{}", filled(uri, arguments, form), of(mime.as_deref()));
            (what, filled(text, arguments, form))
        }
        PartContent::ResourceBlob { uri, mime, bytes } => {
            let what = format!("resource {}{}", filled(uri, arguments, form), of(mime.as_deref()));
            (what, binary(&bytes.0))
        }
    }
}

/// Returns a text with the names of arguments in place of their values.
fn filled(segments: &[Segment], arguments: &[Argument], form: Form) -> String {
    let segment = |segment: &Segment| match (segment, form) {
        (Segment::Literal(text), Form::Shown) => text.to_string(),
        // An unescaped `[` at the beginning of a line would look like the line that names a part.
        (Segment::Literal(text), Form::Exact) => text.replace('\\', "\\\\").replace('[', "\\["),
        (Segment::Slot(index), form) => {
            let name = arguments.get(*index as usize).map_or("", |argument| argument.name.as_str());
            match form {
                Form::Shown => format!("\u{2039}{name}\u{203a}"),
                Form::Exact => format!("\\{{{name}}}"),
            }
        }
    };
    segments.iter().map(segment).collect()
}

/// A combination of arguments, and the variant that it selects on each side.
struct Pair {
    a: usize,
    b: usize,
    /// The arguments, in the form for people.
    when: String,
}

/// The state of an argument in a call.
#[derive(Clone, PartialEq, Eq)]
enum State<'a> {
    Absent,
    Given,
    Value(&'a str),
}

/// Returns the combinations of arguments that both sides accept.
///
/// Only arguments that select a variant on either side are combined. If there are too many, or each
/// call is rejected by one side, variants of the same number are compared.
fn pairs(a: &Rendering, b: &Rendering) -> Vec<Pair> {
    let mut axes: Vec<(&str, Vec<State<'_>>)> = Vec::new();
    for argument in b.arguments.iter().chain(&a.arguments) {
        let known = axes.iter().any(|(name, _)| *name == argument.name);
        let selects = |side: &Rendering| {
            side.arguments.iter().any(|one| one.name == argument.name && one.stride > 0)
        };
        if !known && (selects(a) || selects(b)) {
            let name = argument.name.as_str();
            axes.push((name, states(find(a, name), find(b, name))));
        }
    }
    let count = axes.iter().try_fold(1usize, |count, (_, states)| count.checked_mul(states.len()));
    let mut pairs = Vec::new();
    let count = count.filter(|count| *count <= COMBINATIONS_MAX).unwrap_or(0);
    for number in 0..count {
        let mut rest = number;
        let mut given = Vec::with_capacity(axes.len());
        for (name, states) in &axes {
            if let Some(state) = states.get(rest % states.len()) {
                given.push((*name, state));
            }
            rest /= states.len();
        }
        if let (Some(a), Some(b)) = (variant(a, &given), variant(b, &given)) {
            pairs.push(Pair { a, b, when: when(&given) });
        }
    }
    if pairs.is_empty() {
        let numbers = 0..a.variants.len().max(b.variants.len());
        let numbered = |number| Pair { a: number, b: number, when: format!("rendering {number}") };
        pairs.extend(numbers.map(numbered));
    }
    pairs
}

fn find<'r>(rendering: &'r Rendering, name: &str) -> Option<&'r Argument> {
    rendering.arguments.iter().find(|argument| argument.name == name)
}

/// Returns the states of an argument that both sides accept, and that one of them distinguishes.
fn states<'r>(a: Option<&'r Argument>, b: Option<&'r Argument>) -> Vec<State<'r>> {
    let choices = |argument: Option<&'r Argument>| match argument {
        Some(Argument { kind: ArgumentKind::Choice(choices), only_printed: false, .. }) => {
            choices.as_slice()
        }
        _ => &[],
    };
    let mut states: Vec<State<'r>> = Vec::new();
    for value in choices(b).iter().chain(choices(a)) {
        let state = State::Value(value);
        if !states.contains(&state) {
            states.push(state);
        }
    }
    if states.is_empty() {
        states.push(State::Given);
    }
    states.push(State::Absent);
    states
}

/// Returns the variant that a call selects; `None` if the call is refused.
fn variant(rendering: &Rendering, given: &[(&str, &State<'_>)]) -> Option<usize> {
    let takes = |(name, state): &(&str, &State<'_>)| {
        **state == State::Absent || find(rendering, name).is_some()
    };
    if !given.iter().all(takes) {
        return None;
    }
    let mut number = 0;
    for argument in &rendering.arguments {
        let state = given.iter().find(|(name, _)| *name == argument.name).map(|(_, state)| *state);
        let value = match state {
            Some(State::Value(value)) => Some(*value),
            Some(State::Given) => first_value(argument),
            Some(State::Absent) | None => argument.default.as_deref(),
        };
        if argument.required && value.is_none() && state.is_some() {
            return None;
        }
        let state = argument.state(value)?;
        number += state * argument.stride as usize;
    }
    Some(number)
}

/// Returns a value that an argument accepts.
fn first_value(argument: &Argument) -> Option<&str> {
    match &argument.kind {
        ArgumentKind::Choice(choices) => choices.first().map(String::as_str),
        ArgumentKind::Text { .. } => Some(""),
    }
}

fn when(given: &[(&str, &State<'_>)]) -> String {
    let state = |(name, state): &(&str, &State<'_>)| match state {
        State::Absent => format!("no {name}"),
        State::Given => format!("{name} given"),
        State::Value(value) => format!("{name}={value}"),
    };
    given.iter().map(state).collect::<Vec<_>>().join(", ")
}
