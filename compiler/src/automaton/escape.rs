//! Escapes and classes, as Python reads them.

use super::fault::RegexFault;
use super::syntax::{ByteSet, Form, Look, Node};

/// An element of a class, or an escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Character(char),
    /// `\d` and the like.
    Set(ByteSet),
    Look(Look),
}

/// A class during reading.
#[derive(Default)]
pub(super) struct Class {
    ascii: ByteSet,
    /// The ranges beyond ASCII.
    others: Vec<(char, char)>,
}

/// Reads the escape at the start of `text`, after its `\`; returns it with its length.
pub(super) fn escape(text: &str, in_class: bool) -> Result<(Element, usize), RegexFault> {
    let letter = text.chars().next().ok_or(RegexFault::Escape)?;
    let set = |set: ByteSet| Ok((Element::Set(set), 1));
    let sign = |sign: char| Ok((Element::Character(sign), 1));
    match letter {
        'd' => set(ByteSet::DIGITS),
        'D' => set(ByteSet::DIGITS.not()),
        's' => set(ByteSet::SPACES),
        'S' => set(ByteSet::SPACES.not()),
        'w' => set(ByteSet::WORD),
        'W' => set(ByteSet::WORD.not()),
        'a' => sign('\x07'),
        'b' if in_class => sign('\x08'),
        'f' => sign('\x0c'),
        'n' => sign('\n'),
        'r' => sign('\r'),
        't' => sign('\t'),
        'v' => sign('\x0b'),
        'x' => code(text, 2, 16),
        'u' => code(text, 4, 16),
        'U' => code(text, 8, 16),
        '0'..='9' => number(text, in_class),
        'A'..='Z' | 'a'..='z' if in_class => Err(RegexFault::Escape),
        'A'..='Z' | 'a'..='z' => look(text),
        other => Ok((Element::Character(other), other.len_utf8())),
    }
}

fn look(text: &str) -> Result<(Element, usize), RegexFault> {
    // The longest first.
    let known = [
        ("b{start-half}", Look::WordStartHalf),
        ("b{end-half}", Look::WordEndHalf),
        ("b{start}", Look::WordStart),
        ("b{end}", Look::WordEnd),
        ("b", Look::Word),
        ("B", Look::NotWord),
        ("A", Look::Start),
        ("Z", Look::End),
        ("z", Look::End),
    ];
    let found = known.into_iter().find(|(name, _)| text.starts_with(name));
    found.map(|(name, look)| (Element::Look(look), name.len())).ok_or(RegexFault::Escape)
}

/// Reads `digits` digits after the first letter.
fn code(text: &str, digits: usize, radix: u32) -> Result<(Element, usize), RegexFault> {
    let written = text.get(1..=digits).filter(|written| written.chars().all(|c| c.is_digit(radix)));
    let value = written.and_then(|written| u32::from_str_radix(written, radix).ok());
    let character = value.and_then(char::from_u32).ok_or(RegexFault::Escape)?;
    if digits == 2 && !character.is_ascii() {
        return Err(RegexFault::ByteOrCharacter);
    }
    Ok((Element::Character(character), digits + 1))
}

/// Reads digits: an octal number, or a reference to a group.
fn number(text: &str, in_class: bool) -> Result<(Element, usize), RegexFault> {
    let octal =
        |digits: &str| digits.bytes().take(3).take_while(|c| (b'0'..b'8').contains(c)).count();
    let length = octal(text);
    if !(text.starts_with('0') || length == 3 || in_class) {
        return Err(RegexFault::Backreference);
    }
    let value = text.get(..length).and_then(|digits| u32::from_str_radix(digits, 8).ok());
    let value = value.filter(|value| *value <= 0o377).and_then(char::from_u32);
    let character = value.ok_or(RegexFault::Escape)?;
    if !character.is_ascii() {
        return Err(RegexFault::ByteOrCharacter);
    }
    Ok((Element::Character(character), length))
}

impl Class {
    /// Adds one element.
    pub(super) fn add(&mut self, element: Element) {
        match element {
            Element::Character(character) => self.add_range(character, character),
            Element::Set(set) => self.ascii = self.ascii.or(set),
            Element::Look(_) => {}
        }
    }

    /// Adds the characters from `first` to `last`.
    pub(super) fn add_range(&mut self, first: char, last: char) {
        if let Ok(low) = u8::try_from(first)
            && low.is_ascii()
        {
            let high = u8::try_from(last).unwrap_or(0x7f).min(0x7f);
            self.ascii = self.ascii.or(ByteSet::of_range(low, high));
        }
        if !last.is_ascii() {
            self.others.push((first.max('\u{80}'), last));
        }
    }

    /// Returns the part of the pattern.
    pub(super) fn form(
        self,
        at: std::ops::Range<usize>,
        is_negated: bool,
        ignores_case: bool,
    ) -> Result<Form, RegexFault> {
        let Self { mut ascii, others } = self;
        if is_negated && !others.is_empty() {
            return Err(RegexFault::NegatedCharacter);
        }
        if ignores_case {
            if others.iter().any(|(first, last)| has_case(*first, *last)) {
                return Err(RegexFault::LetterCase);
            }
            ascii = ascii.with_both_cases();
        }
        if is_negated {
            ascii = ascii.not();
        }
        if others.is_empty() {
            return Ok(Form::Set(ascii));
        }
        let set = |set: ByteSet| Node::new(at.clone(), Form::Set(set));
        let mut sequences = Vec::new();
        for (first, last) in others {
            utf8_ranges(first.into(), last.into(), &mut sequences);
        }
        let mut branches = vec![set(ascii)];
        branches.extend(sequences.into_iter().map(|sequence| {
            let parts = sequence.into_iter().map(|(low, high)| set(ByteSet::of_range(low, high)));
            Node::new(at.clone(), Form::Concat(parts.collect()))
        }));
        Ok(Form::Alternate(branches))
    }
}

/// The characters of a range that are looked at for letters with two cases.
const RANGE_LETTERS_MAX: usize = 256;

/// Returns whether characters of a range have two cases; long ranges count as such.
fn has_case(first: char, last: char) -> bool {
    let is_cased =
        |letter: char| !letter.to_lowercase().eq([letter]) || !letter.to_uppercase().eq([letter]);
    (first..=last).nth(RANGE_LETTERS_MAX).is_some() || (first..=last).any(is_cased)
}

/// Adds the ranges of bytes of the UTF-8 of a range of characters.
fn utf8_ranges(first: u32, last: u32, out: &mut Vec<Vec<(u8, u8)>>) {
    let mut parts = vec![(first, last)];
    'parts: while let Some((first, last)) = parts.pop() {
        if first > last {
            continue;
        }
        // Characters of different lengths, and the gap of the surrogates.
        for (end, next) in [(0x7ff, 0x800), (0xd7ff, 0xe000), (0xffff, 0x1_0000)] {
            if first <= end && last > end {
                parts.extend([(next.max(first), last), (first, end)]);
                continue 'parts;
            }
        }
        // Continuation bytes that do not take all of their values.
        for bits in [6, 12, 18] {
            let low = (1 << bits) - 1;
            if first & !low != last & !low {
                if first & low != 0 {
                    parts.extend([((first | low) + 1, last), (first, first | low)]);
                    continue 'parts;
                }
                if last & low != low {
                    parts.extend([(last & !low, last), (first, (last & !low) - 1)]);
                    continue 'parts;
                }
            }
        }
        let encoded = |code: u32| {
            let mut bytes = [0; 4];
            let character = char::from_u32(code).unwrap_or_default();
            character.encode_utf8(&mut bytes).as_bytes().to_vec()
        };
        out.push(encoded(first).into_iter().zip(encoded(last)).collect());
    }
}
