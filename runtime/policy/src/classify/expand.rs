//! Words -> fields: what a shell makes of quotes, braces, variables, substitutions and patterns.

use super::braces::{Atom, atoms, braces};
use super::classifier::{Classifier, Code, READING_STEPS, READINGS_MAX};
use super::stream::{Content, Stream};
use crate::shell::Frame;
use crate::span::Span;
use crate::syntax::{Parameter, Part, Word};
use crate::text::{
    ELEMENT, HOLE, MADE, NAME, OUTPUT, QUERY, SECRET, STAR, Text, TextBuilder, cut_of, is_hole,
    is_mark,
};
use crate::tier::Floor;

/// A word as a program gets it.
#[derive(Debug, Clone)]
pub(super) struct Field<'c> {
    pub(super) text: Text<'c>,
    /// Whether it may be any number of words.
    pub(super) spread: bool,
    /// What a process substitution gives.
    pub(super) stream: Option<Box<Stream>>,
}

impl<'c> Field<'c> {
    pub(super) fn new(text: Text<'c>) -> Self {
        Self { text, spread: false, stream: None }
    }

    /// Returns a field of which nothing is known.
    pub(super) fn unknown(span: Span, spread: bool) -> Self {
        Self { spread, ..Self::new(Text::from_span(vec![HOLE], span)) }
    }
}

/// Which values variables have in the reading that is being expanded.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// The number of this reading; each variable takes its share of it.
    rest: usize,
    /// How many readings there are.
    pub(super) readings: usize,
    chosen: Vec<(String, usize)>,
}

impl Choice {
    /// Returns the choice of one reading.
    pub(super) fn of(reading: usize) -> Self {
        Self { rest: reading, readings: 1, chosen: Vec::new() }
    }

    /// Returns which of its values a variable has in this reading.
    pub(super) fn choose(&mut self, name: &str, count: usize) -> usize {
        if let Some((_, index)) = self.chosen.iter().find(|(chosen, _)| chosen == name) {
            return *index;
        }
        if count <= 1 {
            return 0;
        }
        let index = self.rest % count;
        self.rest /= count;
        self.readings = self.readings.saturating_mul(count);
        self.chosen.push((name.to_owned(), index));
        index
    }
}

/// The fields that are being made of a word.
pub(super) struct Fields<'c> {
    done: Vec<Field<'c>>,
    open: Option<TextBuilder>,
    word: Span,
    pub(super) spread: bool,
    stream: Option<Box<Stream>>,
}

impl Fields<'_> {
    pub(super) fn builder(&mut self) -> &mut TextBuilder {
        let word = self.word;
        self.open.get_or_insert_with(|| TextBuilder::new(word))
    }

    /// Ends the field that is open.
    pub(super) fn cut(&mut self) {
        let spread = std::mem::take(&mut self.spread);
        let stream = self.stream.take();
        if let Some(open) = self.open.take() {
            self.done.push(Field { text: open.finish(), spread, stream });
        }
    }

    /// Adds a value of an expansion; outside of quotes it is split, and may be a pattern.
    pub(super) fn value(&mut self, value: &[u8], span: Span, quoted: bool) {
        if quoted {
            self.builder().push_made(value, span);
            return;
        }
        for byte in value {
            match *byte {
                b' ' | b'\t' | b'\n' => self.cut(),
                b'*' => self.builder().push_byte(STAR, span),
                b'?' | b'[' => self.builder().push_byte(QUERY, span),
                other => {
                    self.spread |= is_hole(other);
                    self.builder().push_byte(other, span);
                }
            }
        }
    }
}

impl Classifier<'_> {
    /// Expands words to fields.
    pub(super) fn fields<'c>(
        &mut self,
        code: &Code<'c>,
        words: &'c [Word],
        frame: &mut Frame,
        choice: &mut Choice,
    ) -> Vec<Field<'c>> {
        let mut fields = Vec::with_capacity(words.len());
        for word in words {
            self.expand(code, word, frame, choice, &mut fields);
        }
        fields
    }

    /// Expands a word to one text in each of its readings; to one that is not known if there are too many.
    pub(super) fn readings<'c>(
        &mut self,
        code: &Code<'c>,
        word: &'c Word,
        frame: &mut Frame,
    ) -> Vec<Field<'c>> {
        let mut fields = Vec::new();
        let mut reading = 0;
        loop {
            let mut choice = Choice::of(reading);
            let field = self.single_reading(code, &word.parts, word.span, frame, &mut choice);
            fields.push(field);
            reading += 1;
            let is_last = reading >= choice.readings.min(READINGS_MAX);
            if is_last || !self.step(READING_STEPS, code.place(word.span)) {
                return fields;
            }
        }
    }

    /// Expands parts to one text in one reading.
    pub(super) fn single_reading<'c>(
        &mut self,
        code: &Code<'c>,
        parts: &'c [Part],
        span: Span,
        frame: &mut Frame,
        choice: &mut Choice,
    ) -> Field<'c> {
        let place = code.place(span);
        match parts {
            [Part::Bare(only) | Part::Quoted(only)] => {
                return Field::new(code.place.part(only.start as usize, only.end as usize));
            }
            [] => return Field::new(Text::from_span(Vec::new(), place)),
            _ => {}
        }
        let mut fields = Fields {
            done: Vec::new(),
            open: Some(TextBuilder::new(place)),
            word: place,
            spread: false,
            stream: None,
        };
        for part in parts {
            self.part(code, part, true, frame, choice, &mut fields);
        }
        fields.cut();
        let mut made = fields.done.into_iter();
        let Some(mut first) = made.next() else {
            return Field::new(Text::from_span(Vec::new(), place));
        };
        // `"$@"` between quotes makes several fields; here they are one text.
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
        &mut self,
        code: &Code<'c>,
        word: &'c Word,
        frame: &mut Frame,
        choice: &mut Choice,
        done: &mut Vec<Field<'c>>,
    ) {
        let has_brace = |span: Span| code.slice(span).as_bytes().contains(&b'{');
        if let [Part::Bare(span)] = word.parts.as_slice()
            && !has_brace(*span)
        {
            done.push(Field::new(code.place.part(span.start as usize, span.end as usize)));
            return;
        }
        let place = code.place(word.span);
        let bare = |part: &Part| matches!(part, Part::Bare(span) if has_brace(*span));
        if word.parts.iter().any(bare) {
            if joins_name(code, &word.parts) {
                self.visit(code, &word.parts, frame);
                done.push(Field { spread: true, ..Field::new(Text::from_span(vec![MADE], place)) });
                return;
            }
            let Some(words) = braces(atoms(code, &word.parts)) else {
                self.unparsed(place, "these braces are too many words");
                done.push(Field::unknown(place, true));
                return;
            };
            if !self.step(words.len(), place) {
                return;
            }
            for atoms in words {
                self.finish_word(code, &atoms, place, frame, choice, done);
            }
            return;
        }
        let mut fields = self.begin(place);
        for part in &word.parts {
            self.part(code, part, false, frame, choice, &mut fields);
        }
        fields.cut();
        done.append(&mut fields.done);
    }

    fn begin<'c>(&self, word: Span) -> Fields<'c> {
        Fields { done: Vec::new(), open: None, word, spread: false, stream: None }
    }

    fn finish_word<'c>(
        &mut self,
        code: &Code<'c>,
        atoms: &[Atom<'c>],
        place: Span,
        frame: &mut Frame,
        choice: &mut Choice,
        done: &mut Vec<Field<'c>>,
    ) {
        let mut fields = self.begin(place);
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
                Atom::Part(part) => self.part(code, part, false, frame, choice, &mut fields),
            }
        }
        fields.cut();
        done.append(&mut fields.done);
    }

    /// Adds a part of a word.
    fn part<'c>(
        &mut self,
        code: &Code<'c>,
        part: &'c Part,
        quoted: bool,
        frame: &mut Frame,
        choice: &mut Choice,
        fields: &mut Fields<'c>,
    ) {
        match part {
            Part::Bare(span) | Part::Quoted(span) => {
                fields.builder().push_part(code.place, span.start as usize, span.end as usize);
            }
            Part::Decoded(bytes, span) => {
                let place = code.place(*span);
                let builder = fields.builder();
                for byte in bytes {
                    // What is no UTF-8 could look like a mark.
                    builder.push_byte(if is_mark(*byte) { MADE } else { *byte }, place);
                }
            }
            Part::Glob(span) => {
                let place = code.place(*span);
                let is_star = code.slice(*span) == "*";
                fields.builder().push_byte(if is_star { STAR } else { QUERY }, place);
            }
            Part::ExtendedGlob(parts, span) => {
                // zsh runs code that a pattern ends with: `*(e:'code':)`, `*(+function)`.
                if !frame.dialect.is_bash() && code.slice(*span).contains(['e', '+']) {
                    let place = code.place(*span);
                    self.floor(
                        Floor::UnknownWord,
                        place,
                        "some shells run what is in this pattern",
                    );
                }
                self.visit(code, parts, frame);
                fields.builder().push_byte(STAR, code.place(*span));
            }
            Part::Tilde(span) => self.tilde(code, *span, frame, choice, fields),
            Part::Double(parts, _) => {
                // `"$@"` of nothing is no word at all.
                let is_list =
                    |part: &Part| matches!(part, Part::Parameter(one) if is_all(code, one));
                if parts.is_empty() || !parts.iter().all(is_list) {
                    fields.builder();
                }
                for part in parts {
                    self.part(code, part, true, frame, choice, fields);
                }
            }
            Part::Parameter(parameter) => {
                self.parameter(code, parameter, quoted, frame, choice, fields);
            }
            Part::Substitution(list, span) => {
                let place = code.place(*span);
                let stream = self.substitution(code, list, frame, &Stream::default());
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
                    self.substitution(&inner, &nested.script.body, frame, &Stream::default());
                substituted(&stream, place, quoted, fields);
            }
            Part::Arithmetic(parts, span) => {
                self.arithmetic(code, parts, *span, frame);
                fields.builder().push_byte(NAME, code.place(*span));
            }
            // Of no commands, bash makes nothing at all.
            Part::Process(list, _) if list.is_empty() => {}
            Part::Process(list, span) => {
                // `>( … )` reads what is written to it.
                let input = match code.slice(*span).starts_with('>') {
                    true => Stream::of(Content::Opaque),
                    false => Stream::default(),
                };
                let stream = self.substitution(code, list, frame, &input);
                let place = code.place(*span);
                let builder = fields.builder();
                builder.push_made(b"/dev/fd/63", place);
                fields.stream = Some(Box::new(stream));
            }
            Part::Array(words, span) => {
                let value = self.array(code, words, frame, choice);
                fields.builder().push_made(&value, code.place(*span));
            }
        }
    }

    /// Returns the elements of an array as a variable holds them; a mark if it is not known which there
    /// are.
    pub(super) fn array<'c>(
        &mut self,
        code: &Code<'c>,
        words: &'c [Word],
        frame: &mut Frame,
        choice: &mut Choice,
    ) -> Vec<u8> {
        let fields = self.fields(code, words, frame, choice);
        // `[key]=value` says itself which element it is.
        let has_key = |word: &Word| {
            let written = code.slice(word.span);
            written.starts_with('[') && (written.contains("]=") || written.contains("]+="))
        };
        let has_keys = words.iter().any(has_key);
        if has_keys {
            for field in &fields {
                let end = field.text.bytes.iter().position(|byte| *byte == b'=').unwrap_or(0);
                self.evaluate(&field.text.part(0, end), frame);
            }
        }
        let is_known = !fields.iter().any(|field| field.spread) && !has_keys;
        let texts: Vec<_> = fields.into_iter().map(|field| field.text.bytes).collect();
        let value = texts.join(&ELEMENT);
        if is_known { value } else { cut_of(&value) }
    }

    /// Classifies everything in parts whose text does not matter.
    pub(super) fn visit<'c>(&mut self, code: &Code<'c>, parts: &'c [Part], frame: &mut Frame) {
        let mut fields = self.begin(Span::default());
        for part in parts {
            self.part(code, part, true, frame, &mut Choice::of(0), &mut fields);
        }
    }

    fn tilde(
        &mut self,
        code: &Code<'_>,
        span: Span,
        frame: &Frame,
        choice: &mut Choice,
        fields: &mut Fields<'_>,
    ) {
        let place = code.place(span);
        let user = code.slice(span).get(1..).unwrap_or("");
        match user {
            "" => {
                let home = self.value_of("HOME", place, frame, choice);
                fields.builder().push_made(&home, place);
            }
            "+" => fields.builder().push_made(&frame.folder.path(), place),
            "-" => fields.builder().push_byte(HOLE, place),
            "root" => fields.builder().push_made(b"/root", place),
            _ => {
                fields.builder().push_made(b"/home/", place);
                fields.builder().push_made(user.as_bytes(), place);
            }
        }
    }

    /// Classifies what a substitution runs, and returns its output.
    fn substitution(
        &mut self,
        code: &Code<'_>,
        list: &crate::syntax::List,
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        let mut inner = frame.clone();
        let mark = self.shell.enter();
        let stream = self.list(code, list, &mut inner, input);
        self.shell.leave(mark);
        stream
    }
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

/// Returns whether this is `$@` or `${name[@]}`, which in quotes makes a word of each element.
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
fn substituted(stream: &Stream, place: Span, quoted: bool, fields: &mut Fields<'_>) {
    match &stream.content {
        Content::Literal(text) => {
            let end = text.bytes.iter().rposition(|byte| *byte != b'\n').map_or(0, |at| at + 1);
            let value = text.bytes.get(..end).unwrap_or(&[]);
            if quoted {
                fields.builder();
            }
            fields.value(value, place, quoted);
            if stream.is_secret && !value.contains(&SECRET) {
                fields.builder().push_byte(SECRET, place);
            }
        }
        content => {
            let written = if stream.is_secret { SECRET } else { OUTPUT };
            fields.spread |= !quoted;
            if matches!(content, Content::Made) {
                fields.builder().push_byte(MADE, place);
            }
            fields.builder().push_byte(written, place);
        }
    }
}
