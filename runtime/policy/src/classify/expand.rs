//! Words -> fields: what a shell makes of quotes, braces, variables, substitutions and patterns.

use std::rc::Rc;

use super::classifier::{Classifier, Code, READINGS_MAX};
use super::stream::{Content, Stream};
use crate::shell::{Frame, Held};
use crate::span::Span;
use crate::syntax::{Parameter, Part, Word};
use crate::text::{ELEMENT, HOLE, HOME, NAME, QUERY, STAR, Text, TextBuilder};

/// The most words that braces may make of one.
const BRACES_MAX: usize = 64;

/// A word as a program gets it.
#[derive(Debug, Clone)]
pub(super) struct Field<'c> {
    pub(super) text: Text<'c>,
    /// Whether it may be any number of words.
    pub(super) spread: bool,
    /// What may be in it that the text does not show.
    pub(super) leak: Leak,
    /// What a process substitution gives.
    pub(super) stream: Option<Box<Stream>>,
}

/// What output of other commands is in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Leak {
    /// None, or what only names something.
    #[default]
    None,
    /// Some.
    Output,
    /// Some that may be secret.
    Secret,
}

impl<'c> Field<'c> {
    pub(super) fn new(text: Text<'c>) -> Self {
        Self { text, spread: false, leak: Leak::None, stream: None }
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

    fn choose(&mut self, name: &str, count: usize) -> usize {
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
struct Fields<'c> {
    done: Vec<Field<'c>>,
    open: Option<TextBuilder>,
    word: Span,
    spread: bool,
    leak: Leak,
    stream: Option<Box<Stream>>,
}

impl Fields<'_> {
    fn builder(&mut self) -> &mut TextBuilder {
        let word = self.word;
        self.open.get_or_insert_with(|| TextBuilder::new(word))
    }

    /// Ends the field that is open.
    fn cut(&mut self) {
        let leak = std::mem::take(&mut self.leak);
        let spread = std::mem::take(&mut self.spread);
        let stream = self.stream.take();
        if let Some(open) = self.open.take() {
            self.done.push(Field { text: open.finish(), spread, leak, stream });
        }
    }

    /// Adds a value of an expansion; outside of quotes it is split, and may be a pattern.
    fn value(&mut self, value: &[u8], span: Span, quoted: bool) {
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
                    self.spread |= other == HOLE;
                    self.builder().push_byte(other, span);
                }
            }
        }
    }
}

/// A byte of a word without quotes, or a part of it.
#[derive(Clone, Copy)]
enum Atom<'c> {
    Byte(u8, u32),
    Made(u8, Span),
    Part(&'c Part),
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

    /// Expands a word to one text, as where no splitting happens: in assignments and redirections.
    pub(super) fn single<'c>(
        &mut self,
        code: &Code<'c>,
        word: &'c Word,
        frame: &mut Frame,
    ) -> Field<'c> {
        let mut choice = Choice::of(0);
        let field = self.single_reading(code, &word.parts, word.span, frame, &mut choice);
        if choice.readings <= 1 {
            return field;
        }
        // Several values: what they have in common is not worth more than a doubt.
        Field { leak: field.leak, ..Field::unknown(field.text.span, false) }
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
            if reading >= choice.readings.min(READINGS_MAX) {
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
            leak: Leak::None,
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
                first.leak = first.leak.max(next.leak);
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
            let Some(words) = braces(atoms(code, &word.parts)) else {
                done.push(Field::unknown(place, true));
                return;
            };
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
        Fields { done: Vec::new(), open: None, word, spread: false, leak: Leak::None, stream: None }
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
                    builder.push_byte(if *byte >= ELEMENT { HOLE } else { *byte }, place);
                }
            }
            Part::Glob(span) => {
                let place = code.place(*span);
                let is_star = code.slice(*span) == "*";
                fields.builder().push_byte(if is_star { STAR } else { QUERY }, place);
            }
            Part::ExtendedGlob(parts, span) => {
                self.visit(code, parts, frame);
                fields.builder().push_byte(STAR, code.place(*span));
            }
            Part::Tilde(span) => self.tilde(code, *span, fields),
            Part::Double(parts, _) => {
                fields.builder();
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
                if stream.is_secret {
                    fields.leak = fields.leak.max(Leak::Secret);
                }
                fields.stream = Some(Box::new(stream));
            }
        }
    }

    /// Classifies everything in parts whose text does not matter.
    pub(super) fn visit<'c>(&mut self, code: &Code<'c>, parts: &'c [Part], frame: &mut Frame) {
        let mut fields = self.begin(Span::default());
        for part in parts {
            self.part(code, part, true, frame, &mut Choice::of(0), &mut fields);
        }
    }

    fn tilde(&mut self, code: &Code<'_>, span: Span, fields: &mut Fields<'_>) {
        let place = code.place(span);
        let user = code.slice(span).get(1..).unwrap_or("");
        let builder = fields.builder();
        match user {
            "" => builder.push_byte(HOME, place),
            "+" => builder.push_byte(b'.', place),
            "root" => builder.push_made(b"/root", place),
            _ => {
                builder.push_made(b"/home/", place);
                builder.push_made(user.as_bytes(), place);
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

    fn parameter<'c>(
        &mut self,
        code: &Code<'c>,
        parameter: &'c Parameter,
        quoted: bool,
        frame: &mut Frame,
        choice: &mut Choice,
        fields: &mut Fields<'c>,
    ) {
        let name = code.slice(parameter.name);
        let span = code.place(parameter.span);
        let subscript = parameter.subscript.as_deref();
        if let Some(parts) = subscript {
            self.late_parts(code, parts, parameter.span, frame);
        }
        let operation = parameter.operation.as_ref();
        if let Some(operation) = operation {
            match operation.operator {
                b':' => self.arithmetic(code, &operation.parts, parameter.span, frame),
                b'=' => {
                    let value =
                        self.single_reading(code, &operation.parts, parameter.span, frame, choice);
                    self.shell.assign(name, Some(Rc::from(&*value.text.bytes)));
                    self.shell.assign(name, None);
                }
                b'@' => {
                    self.late_values(name, span, frame);
                    self.visit(code, &operation.parts, frame);
                }
                _ => self.visit(code, &operation.parts, frame),
            }
        }
        if parameter.length {
            fields.builder().push_byte(NAME, span);
            return;
        }
        if parameter.indirect {
            // The value is a name, whose subscript is evaluated.
            let values = self.shell.literals(name).to_vec();
            for value in values {
                if !self.expands(&value, span) {
                    break;
                }
                self.evaluate(&Text::from_span(&*value, span), frame);
            }
            fields.spread |= !quoted;
            fields.builder().push_byte(HOLE, span);
            return;
        }
        let is_all = matches!(name, "@" | "*")
            || subscript.is_some_and(
                |parts| matches!(parts, [Part::Quoted(at)] if matches!(code.slice(*at), "@" | "*")),
            );
        let operator = operation.map(|operation| operation.operator);
        if let Some(operator) = operator {
            let kept = self.operated(code, parameter, operator, choice);
            fields.spread |= !quoted && kept.contains(&HOLE);
            fields.builder().push_made(&kept, span);
            return;
        }
        match name {
            "@" | "*" => {
                let Some(all) = frame.parameters.clone() else {
                    fields.spread = true;
                    fields.builder().push_byte(HOLE, span);
                    return;
                };
                for (number, text) in all.iter().enumerate() {
                    if !self.step(1, span) || !self.expands(&text.bytes, span) {
                        fields.spread = true;
                        fields.builder().push_byte(HOLE, span);
                        return;
                    }
                    if number > 0 {
                        if name == "*" && quoted {
                            fields.builder().push_byte(b' ', span);
                        } else {
                            fields.cut();
                        }
                    }
                    fields.value(&text.bytes, span, quoted);
                }
            }
            "?" | "#" | "$" | "!" | "-" => fields.builder().push_byte(NAME, span),
            _ if name.bytes().all(|byte| byte.is_ascii_digit()) => {
                let number: usize = name.parse().unwrap_or(usize::MAX);
                let all = frame.parameters.as_ref();
                match (all, number.checked_sub(1)) {
                    (Some(all), Some(at)) => {
                        if let Some(text) = all.get(at) {
                            if self.expands(&text.bytes, span) {
                                fields.value(&text.bytes, span, quoted);
                            } else {
                                fields.spread |= !quoted;
                                fields.builder().push_byte(HOLE, span);
                            }
                        }
                    }
                    _ => {
                        fields.spread |= !quoted;
                        fields.builder().push_byte(HOLE, span);
                    }
                }
            }
            _ => {
                let value = self.chosen(name, choice, span);
                let index = match subscript {
                    Some([Part::Quoted(at)]) => code.slice(*at).parse::<usize>().ok(),
                    Some(_) => None,
                    None => Some(0),
                };
                let is_element = subscript.is_none() || index.is_some() || is_all;
                let is_split = |value: &Rc<[u8]>| quoted || self.step(blanks(value), span);
                let value = value.filter(|value| **value != [HOLE] && is_element);
                let Some(value) = value.filter(is_split) else {
                    fields.spread |= !quoted || is_all;
                    fields.builder().push_byte(HOLE, span);
                    return;
                };
                let mut elements = value.split(|byte| *byte == ELEMENT);
                if is_all {
                    for (number, element) in elements.enumerate() {
                        if number > 0 {
                            fields.cut();
                        }
                        fields.value(element, span, quoted);
                    }
                } else {
                    let element = elements.nth(index.unwrap_or(0)).unwrap_or(b"");
                    fields.value(element, span, quoted);
                }
            }
        }
    }

    /// Returns the value of a variable in this reading; `None` if it is not known.
    fn chosen(&mut self, name: &str, choice: &mut Choice, span: Span) -> Option<Rc<[u8]>> {
        let value = match self.shell.held(name) {
            Held::Unknown => None,
            Held::Given(value) => Some(value.into()),
            Held::Values(values) if choice.readings <= READINGS_MAX => {
                let index = choice.choose(name, values.len());
                values.get(index).cloned()
            }
            Held::Values(_) => None,
        };
        let value = value.filter(|_| choice.readings <= READINGS_MAX)?;
        self.expands(&value, span).then_some(value)
    }

    /// Returns what an operator leaves of a value.
    fn operated(
        &mut self,
        code: &Code<'_>,
        parameter: &Parameter,
        operator: u8,
        choice: &mut Choice,
    ) -> Vec<u8> {
        let name = code.slice(parameter.name);
        let is_name = name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
        let place = code.place(parameter.span);
        let value = if is_name { self.chosen(name, choice, place) } else { None };
        let is_one = |value: &Rc<[u8]>| !value.contains(&HOLE) && !value.contains(&ELEMENT);
        let Some(value) = value.filter(is_one) else { return vec![HOLE] };
        let operation = parameter.operation.as_ref();
        let pattern = match operation.map(|operation| operation.parts.as_slice()) {
            Some([Part::Glob(_), Part::Bare(slash) | Part::Quoted(slash)]) => code.slice(*slash),
            _ => "",
        };
        let folder = value.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        match operator {
            // A default only counts if there is no value.
            b'-' | b'=' | b'?' if !value.is_empty() => value.to_vec(),
            // What is cut off at the end leaves the folder.
            b'%' => {
                let mut kept = value.get(..folder).unwrap_or(&[]).to_vec();
                kept.push(NAME);
                kept
            }
            // `##*/` leaves the name.
            b'#' if matches!(pattern, "/" | "#*/") => vec![NAME],
            b'#' if folder == 0 => vec![NAME],
            _ => vec![HOLE],
        }
    }
}

/// Returns how many bytes of a value may split it.
fn blanks(value: &[u8]) -> usize {
    value.iter().filter(|byte| matches!(byte, b' ' | b'\t' | b'\n')).count()
}

/// Adds the output of a substitution.
fn substituted(stream: &Stream, place: Span, quoted: bool, fields: &mut Fields<'_>) {
    if stream.is_secret {
        fields.leak = fields.leak.max(Leak::Secret);
    }
    match &stream.content {
        Content::Literal(text) => {
            let end = text.bytes.iter().rposition(|byte| *byte != b'\n').map_or(0, |at| at + 1);
            let value = text.bytes.get(..end).unwrap_or(&[]);
            if value.contains(&HOLE) {
                fields.leak = fields.leak.max(Leak::Output);
            }
            if quoted {
                fields.builder();
            }
            fields.value(value, place, quoted);
        }
        Content::Terminal | Content::Opaque | Content::File | Content::Network => {
            fields.leak = fields.leak.max(Leak::Output);
            fields.spread |= !quoted;
            fields.builder().push_byte(HOLE, place);
        }
    }
}

fn atoms<'c>(code: &Code<'c>, parts: &'c [Part]) -> Vec<Atom<'c>> {
    let mut atoms = Vec::new();
    for part in parts {
        match part {
            Part::Bare(span) => {
                let bytes = code.slice(*span).bytes();
                atoms.extend((span.start..).zip(bytes).map(|(at, byte)| Atom::Byte(byte, at)));
            }
            other => atoms.push(Atom::Part(other)),
        }
    }
    atoms
}

/// Expands the braces of a word; `None` if there are too many.
fn braces(word: Vec<Atom<'_>>) -> Option<Vec<Vec<Atom<'_>>>> {
    let mut done = Vec::new();
    let mut open = vec![word];
    let mut work = 0;
    while let Some(word) = open.pop() {
        work += word.len();
        if done.len() + open.len() > BRACES_MAX || work > BRACES_MAX * 256 {
            return None;
        }
        let Some((start, end, alternatives)) = first_brace(&word) else {
            done.push(word);
            continue;
        };
        let (before, after) = (word.get(..start)?, word.get(end..)?);
        if alternatives.len() > BRACES_MAX {
            return None;
        }
        // The last one is taken next, so that the order is kept.
        for alternative in alternatives.into_iter().rev() {
            let mut made = before.to_vec();
            made.extend(alternative);
            made.extend(after);
            open.push(made);
        }
    }
    Some(done)
}

/// Where a brace expression begins and ends, and what it stands for.
type Braces<'c> = (usize, usize, Vec<Vec<Atom<'c>>>);

/// Returns the first brace expression of a word.
fn first_brace<'c>(word: &[Atom<'c>]) -> Option<Braces<'c>> {
    let byte = |at: usize| match word.get(at) {
        Some(Atom::Byte(byte, _)) => *byte,
        _ => 0,
    };
    // Where the open braces begin, and where their commas are.
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut first: Option<(usize, usize, Vec<usize>)> = None;
    for at in 0..word.len() {
        match byte(at) {
            b'{' => open.push((at, vec![at])),
            b',' => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            b'}' => {
                let Some((start, commas)) = open.pop() else { continue };
                let inside = word.get(start + 1..at).unwrap_or(&[]);
                if commas.len() > 1 || range(inside).is_some() {
                    // One inside another is not the first.
                    first.take_if(|(inner, ..)| *inner > start);
                    first.get_or_insert((start, at, commas));
                }
            }
            _ => {}
        }
        // None that is still to end can begin before it.
        if first.is_some() && open.is_empty() {
            break;
        }
    }
    let (start, end, mut commas) = first?;
    if commas.len() == 1 {
        return Some((start, end + 1, range(word.get(start + 1..end)?)?));
    }
    commas.push(end);
    let between = commas.iter().zip(commas.iter().skip(1));
    let alternatives =
        between.filter_map(|(from, to)| Some(word.get(from + 1..*to)?.to_vec())).collect();
    Some((start, end + 1, alternatives))
}

/// Returns what `1..5` or `a..e` between braces stands for. A long range of numbers is one number that
/// is not known.
fn range<'c>(inside: &[Atom<'c>]) -> Option<Vec<Vec<Atom<'c>>>> {
    let mut text = Vec::new();
    let mut span = None;
    for atom in inside {
        let Atom::Byte(byte, at) = atom else { return None };
        if matches!(byte, b'{' | b'}') {
            return None;
        }
        text.push(*byte);
        let here = Span { start: *at, end: at + 1 };
        span = Some(span.map_or(here, |span: Span| span.to(here)));
    }
    let text = str::from_utf8(&text).ok()?;
    let mut ends = text.split("..");
    let (low, high) = (ends.next()?, ends.next()?);
    let step = ends.next().map(str::parse::<i64>);
    if ends.next().is_some() || step.is_some_and(|step| step.is_err()) {
        return None;
    }
    let span = span?;
    let made = |text: String| text.bytes().map(|byte| Atom::Made(byte, span)).collect::<Vec<_>>();
    if let (Ok(low), Ok(high)) = (low.parse::<i64>(), high.parse::<i64>()) {
        let count = high.abs_diff(low);
        if count >= 8 {
            return Some(vec![vec![Atom::Made(NAME, span)]]);
        }
        let (from, to) = (low.min(high), low.max(high));
        return Some((from..=to).map(|number| made(number.to_string())).collect());
    }
    let (&[low], &[high]) = (low.as_bytes(), high.as_bytes()) else { return None };
    if !low.is_ascii_alphabetic() || !high.is_ascii_alphabetic() {
        return None;
    }
    let letters = low.min(high)..=low.max(high);
    Some(letters.map(|letter| made(char::from(letter).to_string())).collect())
}
