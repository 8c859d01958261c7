//! Words -> fields: the expansion of quotes, braces, variables, substitutions and patterns.

use super::braces::{Atom, atoms, braces};
use super::choice::Choice;
use super::fields::Fields;
use super::machine::{Code, Machine, READINGS_MAX, Reading};
use super::{arithmetic, parameter};
use crate::effect::Hidden;
use crate::fuel::READING_STEPS;
use crate::span::Span;
use crate::state::Frame;
use crate::syntax::{List, Parameter, Part, Word};
use crate::value::{
    Content, Field, Mark, Stream, Text, TextBuilder, cut_of, is_mark, join_elements,
};

/// Expands words to fields.
pub(super) fn fields<'c>(
    run: &mut Machine<'_>,
    reading: &mut Reading<'_, 'c>,
    words: &'c [Word],
) -> Vec<Field<'c>> {
    let mut fields = Vec::with_capacity(words.len());
    for word in words {
        expand(run, reading, word, &mut fields);
    }
    fields
}

/// Expands a word to one text for each of its readings, or to one unknown text for too many
/// readings.
pub(super) fn readings<'c>(
    run: &mut Machine<'_>,
    code: &Code<'c>,
    word: &'c Word,
    frame: &mut Frame,
) -> Vec<Field<'c>> {
    let mut fields = Vec::new();
    let mut reading = 0;
    loop {
        let mut choice = Choice::of(reading);
        let field =
            single(run, &mut Reading { code, frame, choice: &mut choice }, &word.parts, word.span);
        fields.push(field);
        reading += 1;
        let is_last = reading >= choice.readings.min(READINGS_MAX);
        if is_last || !run.step(READING_STEPS, code.place(word.span)) {
            return fields;
        }
    }
}

/// Expands parts to one text in one reading.
pub(super) fn single<'c>(
    run: &mut Machine<'_>,
    reading: &mut Reading<'_, 'c>,
    parts: &'c [Part],
    span: Span,
) -> Field<'c> {
    let code = reading.code;
    let place = code.place(span);
    match parts {
        [Part::Bare(only) | Part::Quoted(only)] => {
            return Field::new(code.place.part(only.start as usize, only.end as usize));
        }
        [] => return Field::new(Text::from_span(Vec::new(), place)),
        _ => {}
    }
    let mut done = Vec::new();
    let mut fields = Fields::of(place, &mut done);
    fields.builder();
    for part in parts {
        part_of_word(run, reading, part, true, &mut fields);
    }
    fields.cut();
    let mut made = done.into_iter();
    let Some(mut first) = made.next() else {
        return Field::new(Text::from_span(Vec::new(), place));
    };
    // `"$@"` makes several fields; they are joined here.
    if made.len() > 0 {
        let mut builder = TextBuilder::new(place);
        builder.push_text(&first.text);
        for next in made {
            builder.push_byte(b' ', place);
            builder.push_text(&next.text);
        }
        first.text = builder.finish();
    }
    first.spread = false;
    first
}

fn expand<'c>(
    run: &mut Machine<'_>,
    reading: &mut Reading<'_, 'c>,
    word: &'c Word,
    done: &mut Vec<Field<'c>>,
) {
    let code = reading.code;
    let has_brace = |span: Span| code.slice(span).as_bytes().contains(&b'{');
    if let [Part::Bare(span)] = word.parts.as_slice()
        && !has_brace(*span)
    {
        done.push(Field::new(code.place.part(span.start as usize, span.end as usize)));
        return;
    }
    let place = code.place(word.span);
    if let Some(span) = only_quoted(&word.parts) {
        let text = code.place.part(span.start as usize, span.end as usize);
        done.push(Field::new(text.within(place)));
        return;
    }
    let bare = |part: &Part| matches!(part, Part::Bare(span) if has_brace(*span));
    if word.parts.iter().any(bare) {
        if joins_name(code, &word.parts) {
            run.visit(code, &word.parts, reading.frame);
            done.push(Field {
                spread: true,
                ..Field::new(Text::from_span(Mark::Made.text(), place))
            });
            return;
        }
        let Some(words) = braces(atoms(code, &word.parts)) else {
            run.unparsed(place, "these braces are too many words");
            done.push(Field::unknown(place, true));
            return;
        };
        if !run.step(words.len(), place) {
            return;
        }
        for atoms in words {
            finish_word(run, reading, &atoms, place, done);
        }
        return;
    }
    let mut fields = Fields::of(place, done);
    for part in &word.parts {
        part_of_word(run, reading, part, false, &mut fields);
    }
    fields.cut();
}

/// Returns the text of a word that is quoted as a whole: `'text'` or `"text"`.
fn only_quoted(parts: &[Part]) -> Option<Span> {
    match parts {
        [Part::Quoted(span)] => Some(*span),
        [Part::Double(inside, _)] => only_quoted(inside),
        _ => None,
    }
}

fn finish_word<'c>(
    run: &mut Machine<'_>,
    reading: &mut Reading<'_, 'c>,
    atoms: &[Atom<'c>],
    place: Span,
    done: &mut Vec<Field<'c>>,
) {
    let code = reading.code;
    let mut fields = Fields::of(place, done);
    for atom in atoms {
        match atom {
            Atom::Byte(byte, at) => {
                let span = code.place(Span { start: *at, end: at + 1 });
                fields.builder().push(&[*byte], span);
            }
            Atom::Made(byte, span) => {
                let span = code.place(*span);
                fields.builder().push_byte(*byte, span);
            }
            Atom::Mark(mark, span) => fields.builder().push_mark(*mark, code.place(*span)),
            Atom::Part(part) => part_of_word(run, reading, part, false, &mut fields),
        }
    }
    fields.cut();
}

/// Adds a part of a word.
fn part_of_word<'c>(
    run: &mut Machine<'_>,
    reading: &mut Reading<'_, 'c>,
    part: &'c Part,
    quoted: bool,
    fields: &mut Fields<'_, 'c>,
) {
    let code = reading.code;
    match part {
        Part::Bare(span) | Part::Quoted(span) => {
            fields.builder().push_part(code.place, span.start as usize, span.end as usize);
        }
        Part::Decoded(bytes, span) => {
            let place = code.place(*span);
            let builder = fields.builder();
            for byte in bytes {
                // A byte outside of UTF-8 could look like a mark.
                match is_mark(*byte) {
                    true => builder.push_mark(Mark::Made, place),
                    false => builder.push_byte(*byte, place),
                }
            }
        }
        Part::Glob(span) => {
            let place = code.place(*span);
            let is_star = code.slice(*span) == "*";
            fields.builder().push_mark(if is_star { Mark::Star } else { Mark::Query }, place);
        }
        Part::ExtendedGlob(parts, span) => {
            // zsh runs code at the end of a pattern: `*(e:'code':)`, `*(+function)`.
            let inside = code.slice(*span).get(1..).unwrap_or_default();
            if !reading.frame.dialect.is_bash() && inside.contains(['e', '+']) {
                let place = code.place(*span);
                run.runs(Hidden::Made, place, "some shells run what is in this pattern");
            }
            run.visit(code, parts, reading.frame);
            // Unlike `*`, it matches a dot at the beginning of a name if it has one.
            let may_be_hidden = !parts.is_empty() || inside.contains('.');
            let mark = if may_be_hidden { Mark::Hole } else { Mark::Star };
            fields.builder().push_mark(mark, code.place(*span));
        }
        Part::Tilde(span) => tilde(run, reading, *span, fields),
        Part::Double(parts, _) => {
            // `"$@"` without parameters expands to zero words.
            let is_list = |part: &Part| matches!(part, Part::Parameter(one) if is_all(code, one));
            if parts.is_empty() || !parts.iter().all(is_list) {
                fields.builder();
            }
            for part in parts {
                part_of_word(run, reading, part, true, fields);
            }
        }
        Part::Parameter(parameter) => {
            parameter::add(run, reading, parameter, quoted, fields);
        }
        Part::Substitution(list, span) => {
            let place = code.place(*span);
            let stream = substitution(run, code, list, reading.frame, &Stream::default());
            substituted(&stream, place, quoted, fields);
        }
        Part::Backtick(nested) => {
            let place = code.place(nested.span);
            let mut text = TextBuilder::new(place);
            for (number, (from, at)) in nested.runs.iter().enumerate() {
                let next = nested.runs.get(number + 1);
                let to = next.map_or(nested.text.len(), |(next, _)| *next as usize);
                let bytes = nested.text.as_bytes().get(*from as usize..to).unwrap_or(&[]);
                let start = *at as usize;
                text.push(bytes, code.place(Span::new(start, start + bytes.len())));
            }
            let text = text.finish();
            let inner = Code { text: &nested.text, place: &text, script: &nested.script };
            let stream =
                substitution(run, &inner, &nested.script.body, reading.frame, &Stream::default());
            substituted(&stream, place, quoted, fields);
        }
        Part::Arithmetic(parts, span) => {
            arithmetic::arithmetic(run, code, parts, *span, reading.frame);
            fields.builder().push_mark(Mark::Name, code.place(*span));
        }
        // bash expands an empty process substitution to nothing.
        Part::Process(list, _) if list.is_empty() => {}
        Part::Process(list, span) => {
            // `>( … )` reads the text written to it.
            let input = match code.slice(*span).starts_with('>') {
                true => Stream::of(Content::Opaque),
                false => Stream::default(),
            };
            let stream = substitution(run, code, list, reading.frame, &input);
            let place = code.place(*span);
            let builder = fields.builder();
            builder.push_made(b"/dev/fd/63", place);
            fields.stream = Some(Box::new(stream));
        }
        Part::Array(words, span) => {
            let value = array(run, reading, words);
            fields.builder().push_made(&value, code.place(*span));
        }
    }
}

/// Returns the elements of an array as a variable holds them; a mark if the elements are unknown.
pub(super) fn array<'c>(
    run: &mut Machine<'_>,
    reading: &mut Reading<'_, 'c>,
    words: &'c [Word],
) -> Vec<u8> {
    let code = reading.code;
    let fields = fields(run, reading, words);
    // `[key]=value` names its element itself.
    let has_key = |word: &Word| {
        let written = code.slice(word.span);
        written.starts_with('[') && (written.contains("]=") || written.contains("]+="))
    };
    let has_keys = words.iter().any(has_key);
    if has_keys {
        for field in &fields {
            let end = field.text.bytes.iter().position(|byte| *byte == b'=').unwrap_or(0);
            arithmetic::evaluate(run, &field.text.part(0, end), reading.frame);
        }
    }
    let is_known = !fields.iter().any(|field| field.spread) && !has_keys;
    let texts: Vec<_> = fields.into_iter().map(|field| field.text.bytes).collect();
    let value = join_elements(&texts);
    if is_known { value } else { cut_of(&value) }
}

fn tilde(
    run: &mut Machine<'_>,
    reading: &mut Reading<'_, '_>,
    span: Span,
    fields: &mut Fields<'_, '_>,
) {
    let code = reading.code;
    let place = code.place(span);
    let user = code.slice(span).get(1..).unwrap_or("");
    match user {
        "" => {
            let home = parameter::value_of(run, reading, "HOME", place);
            fields.builder().push_made(&home, place);
        }
        "+" => fields.builder().push_made(&reading.frame.state.folder.path(), place),
        "-" => fields.builder().push_mark(Mark::Hole, place),
        "root" => fields.builder().push_made(b"/root", place),
        _ => {
            fields.builder().push_made(b"/home/", place);
            fields.builder().push_made(user.as_bytes(), place);
        }
    }
}

/// Interprets the list of a substitution, and returns its output.
fn substitution(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    list: &List,
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    let mut inner = frame.clone();
    run.perhaps(|run| run.list(code, list, &mut inner, input))
}

/// Returns whether braces follow a name: `$X{a,b}` is `$Xa $Xb`.
fn joins_name(code: &Code<'_>, parts: &[Part]) -> bool {
    parts.windows(2).any(|pair| match pair {
        [Part::Parameter(parameter), Part::Bare(next)] => {
            let is_plain = !code.slice(parameter.span).starts_with("${");
            is_plain && code.slice(*next).starts_with('{')
        }
        _ => false,
    })
}

/// Returns whether this is `$@` or `${name[@]}`, which expands to a word for each element in
/// quotes.
fn is_all(code: &Code<'_>, parameter: &Parameter) -> bool {
    let Parameter { name, indirect, length, subscript, operation, .. } = parameter;
    let is_list = match subscript.as_deref() {
        Some([Part::Quoted(at)]) => code.slice(*at) == "@",
        Some(_) => false,
        None => code.slice(*name) == "@",
    };
    is_list && !indirect && !length && operation.is_none()
}

/// Adds the output of a substitution.
fn substituted(stream: &Stream, place: Span, quoted: bool, fields: &mut Fields<'_, '_>) {
    match &stream.content {
        Content::Literal(text) => {
            let end = text.bytes.iter().rposition(|byte| *byte != b'\n').map_or(0, |at| at + 1);
            let value = text.bytes.get(..end).unwrap_or(&[]);
            if quoted {
                fields.builder();
            }
            fields.value(value, place, quoted);
            if stream.is_secret && !Mark::Secret.is_in(value) {
                fields.builder().push_mark(Mark::Secret, place);
            }
        }
        content => {
            let written = if stream.is_secret { Mark::Secret } else { Mark::Output };
            fields.spread |= !quoted;
            if matches!(content, Content::Made) {
                fields.builder().push_mark(Mark::Made, place);
            }
            fields.builder().push_mark(written, place);
        }
    }
}
