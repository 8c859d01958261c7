//! The standard output of programs, as far as it is known.

use super::machine::Machine;
use super::own::Program;
use crate::facts::{Output, Role};
use crate::invocation::{Given, Invocation};
use crate::state::Frame;
use crate::value::{Content, Field, Mark, Stream, Text, TextBuilder, may_be_option, part_of};

/// Returns the standard output of a program. With `makes`, it is made from the text.
pub(super) fn of(
    run: &Machine<'_>,
    kind: Output,
    program: &Program<'_, '_>,
    makes: bool,
    frame: &Frame,
) -> Stream {
    let Program { call, input, .. } = *program;
    let made = |bytes: &[u8]| Stream::literal(Text::from_span(bytes.to_vec(), call.span));
    match kind {
        Output::Opaque => match &input.content {
            _ if makes => Stream::of(Content::Made),
            // An unknown program may turn a literal text into any other.
            Content::Literal(text) if !text.bytes.is_empty() => Stream::of(Content::Made),
            Content::Made => Stream::of(Content::Made),
            _ => Stream::of(Content::Opaque),
        },
        Output::Words => {
            let values = call.given.iter().filter_map(|given| given.value.as_ref());
            let mut words = values.chain(&call.operands);
            let is_made = words.any(|field| Mark::Made.is_in(&part_of(&field.text.bytes)));
            Stream::of(if is_made { Content::Made } else { Content::Opaque })
        }
        Output::Name => match call.operands.iter().any(|field| may_be_option(&field.text.bytes)) {
            true => Stream::of(Content::Made),
            false => made(Mark::Name.text()),
        },
        Output::Filter => filtered(call, input, makes),
        Output::Nothing => made(b""),
        // A format may begin with a dash.
        Output::Word if call.operands.iter().any(|field| field.text.bytes.starts_with(b"+-")) => {
            Stream::of(Content::Made)
        }
        Output::Word => made(Mark::Name.text()),
        Output::Scratch => made(&[b"/tmp/".as_slice(), Mark::Name.text()].concat()),
        Output::Here => made(&frame.state.folder.path()),
        Output::Network => Stream::of(Content::Network),
        Output::Secret => Stream { content: Content::Opaque, is_secret: true },
        Output::Operands => echoed(run, call, frame.dialect.is_bash()),
        Output::Format => match formatted(call) {
            Some(text) => Stream::literal(text),
            None => Stream::of(Content::Made),
        },
        Output::Input => {
            let is_null = |field: &Field<'_>| &*field.text.bytes == b"/dev/null";
            match call.operands.as_slice() {
                [] => input.clone(),
                all if all.iter().all(|field| &*field.text.bytes == b"-") => input.clone(),
                all if all.iter().all(is_null) => made(b""),
                _ if makes => Stream::of(Content::Made),
                _ => Stream::of(Content::Opaque),
            }
        }
        Output::Base64 | Output::Hex | Output::Reversed => decoded(kind, call, input),
    }
}

/// Spends the cost of a decoder, if this is one.
pub(super) fn decodes(
    run: &mut Machine<'_>,
    kind: Output,
    call: &Invocation<'_>,
    input: &Stream,
) -> bool {
    match (kind, &input.content) {
        (Output::Base64 | Output::Hex | Output::Reversed, Content::Literal(text)) => {
            run.expands(&text.bytes, call.span)
        }
        _ => true,
    }
}

/// Returns the output of `echo`. In bash, it keeps backslashes and takes `-e`.
fn echoed(run: &Machine<'_>, call: &Invocation<'_>, is_bash: bool) -> Stream {
    let mut builder = TextBuilder::new(call.span);
    for (number, field) in call.operands.iter().enumerate() {
        if field.spread && field.text.bytes.len() > 1 {
            let is_option = may_be_option(&field.text.bytes);
            return Stream::of(if is_option { Content::Made } else { Content::Opaque });
        }
        if number > 0 {
            builder.push_byte(b' ', call.span);
        }
        builder.push_text(&field.text);
    }
    let is_cut = |given: &Given<'_>| given.name.is_some() && given.name == run.facts.name_id(b"-n");
    let drops_newline = call.given.iter().any(is_cut);
    // With `-e`, backslashes are escapes, which stay as they are here. In other shells they always
    // may be, and these shells may print the options too.
    let has_options = !call.given.is_empty();
    let is_other = !is_bash && call.given.iter().any(|given| !is_cut(given));
    if is_other || (has_options || !is_bash) && builder.bytes().contains(&b'\\') {
        return Stream::of(Content::Made);
    }
    if !drops_newline {
        builder.push_byte(b'\n', call.span);
    }
    Stream::literal(builder.finish())
}

/// Returns the output of `printf`; `None` if its format holds more than text, `%s` and newlines.
pub(super) fn formatted(call: &Invocation<'_>) -> Option<Text<'static>> {
    let (format, mut values) = call.operands.split_first()?;
    let mut builder = TextBuilder::new(call.span);
    let names_only = call.given.iter().all(|given| given.flag.role == Role::Name);
    if call.operands.iter().any(|field| field.spread) || !names_only {
        return None;
    }
    loop {
        let before = values.len();
        let mut bytes = format.text.bytes.iter().copied().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'%' => match bytes.next()?.1 {
                    b's' => {
                        if let Some((value, rest)) = values.split_first() {
                            builder.push_text(&value.text);
                            values = rest;
                        }
                    }
                    b'%' => builder.push_byte(b'%', call.span),
                    _ => return None,
                },
                b'\\' => match bytes.next()?.1 {
                    b'n' => builder.push_byte(b'\n', call.span),
                    b't' => builder.push_byte(b'\t', call.span),
                    b'r' => builder.push_byte(b'\r', call.span),
                    b'\\' => builder.push_byte(b'\\', call.span),
                    _ => return None,
                },
                _ => builder.push_part(&format.text, at, at + 1),
            }
        }
        if values.is_empty() {
            return Some(builder.finish());
        }
        if values.len() == before {
            return None;
        }
    }
}

/// Returns the output of a filter. Any text that it adds is in its words.
fn filtered(call: &Invocation<'_>, input: &Stream, makes: bool) -> Stream {
    let values = call.given.iter().filter_map(|given| given.value.as_ref());
    let mut words = values.chain(&call.operands).map(|field| &*field.text.bytes);
    let is_outside = matches!(input.content, Content::Opaque | Content::File | Content::Network);
    let says_options = |word: &[u8]| {
        let says = |pair: &[u8]| match pair {
            [b'-', next] => next.is_ascii_alphabetic() || *next == b'-',
            pair => pair == b"%c",
        };
        let is_said = word.windows(2).any(says) && (may_be_option(word) || word.contains(&b'%'));
        is_said || (!is_outside && (may_be_option(word) || word.contains(&b'\\')))
    };
    let is_made = makes
        || match &input.content {
            Content::Made => true,
            Content::Literal(text) => Mark::Made.is_in(&part_of(&text.bytes)),
            _ => false,
        };
    let content = match &input.content {
        _ if is_made || words.any(says_options) => Content::Made,
        Content::Network => Content::Network,
        _ => Content::Opaque,
    };
    Stream { content, is_secret: input.is_secret }
}

/// Returns the output of a decoder.
fn decoded(kind: Output, call: &Invocation<'_>, input: &Stream) -> Stream {
    let Content::Literal(text) = &input.content else {
        let content = match &input.content {
            Content::Made => Content::Made,
            _ => Content::Opaque,
        };
        return Stream { content, is_secret: input.is_secret };
    };
    let is_named = call.operands.iter().any(|field| &*field.text.bytes != b"-");
    let bytes = if is_named || !text.is_literal() { None } else { decode(kind, &text.bytes) };
    match bytes {
        Some(bytes) => Stream::literal(Text::from_span(bytes, text.span)),
        None => Stream::of(Content::Made),
    }
}

fn decode(kind: Output, text: &[u8]) -> Option<Vec<u8>> {
    let bytes = match kind {
        Output::Reversed => {
            let text = str::from_utf8(text).ok()?;
            let lines = text.split('\n').map(|line| line.chars().rev().collect::<String>());
            lines.collect::<Vec<_>>().join("\n").into_bytes()
        }
        Output::Hex => {
            let digits: Vec<u8> = text
                .iter()
                .filter(|byte| !byte.is_ascii_whitespace())
                .map(|byte| {
                    char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
                })
                .collect::<Option<_>>()?;
            digits
                .chunks_exact(2)
                .map(|pair| pair.iter().fold(0, |high, low| high << 4 | low))
                .collect()
        }
        _ => base64(text)?,
    };
    // Bytes outside of UTF-8 would look like marks.
    str::from_utf8(&bytes).ok()?;
    Some(bytes)
}

fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut held, mut is_ended) = (0u32, 0u32, false);
    for byte in text.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            // Some programs decode text after the end of a block as another block.
            b'=' => {
                is_ended = true;
                continue;
            }
            _ => return None,
        };
        if is_ended {
            return None;
        }
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).ok()?);
        }
        // Fewer than eight bits are still held; the mask keeps `bits` from overflowing.
        bits &= 0xffff;
    }
    Some(bytes)
}
