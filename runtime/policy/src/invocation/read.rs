//! The words of a program -> options, operands, sub-commands.

use smallvec::smallvec;

use super::{Given, Invocation};
use crate::effect::What;
use crate::facts::{Arity, Facts, FlagRow, NameId, NodeBit, NodeId, NodeRow, Role, Style};
use crate::fuel::{Fuel, SHORTENED_STEPS, SPENT};
use crate::span::Span;
use crate::tier::Floor;
use crate::value::{Field, Mark};

/// An option as its facts declare it.
#[derive(Debug, Clone, Copy)]
struct Declared {
    /// The program or sub-command that declares it.
    owner: NodeId,
    flag: FlagRow,
    name: NameId,
}

/// Reads the words of a program; `name` is the place of its name. With `is_posix` its options may
/// end at the first operand.
pub(crate) fn read<'c>(
    node: NodeRow,
    (name, words): (Span, &[Field<'c>]),
    is_posix: bool,
    (facts, fuel): (&Facts<'_>, &mut Fuel),
) -> Invocation<'c> {
    let call = Invocation {
        chain: smallvec![node],
        span: name,
        subs: Vec::new(),
        given: Vec::new(),
        operands: Vec::with_capacity(words.len()),
        dashes: None,
        is_posix,
        has_unknown: false,
        doubts: Vec::new(),
        doubt: None,
        is_lost: false,
    };
    let mut reader = Reader { facts, fuel, words, at: 0, call };
    reader.words();
    reader.call
}

/// The remaining words, and the invocation so far.
struct Reader<'r, 'c> {
    facts: &'r Facts<'r>,
    fuel: &'r mut Fuel,
    words: &'r [Field<'c>],
    at: usize,
    call: Invocation<'c>,
}

impl<'r, 'c> Reader<'r, 'c> {
    fn next(&mut self) -> Option<&'r Field<'c>> {
        let field = self.words.get(self.at)?;
        self.at += 1;
        Some(field)
    }

    fn doubt(&mut self, floor: Floor, span: Span, reason: &'static str) {
        self.call.doubts.push((What::Doubt(floor, reason), span));
    }

    /// Spends steps; if they are spent, the text counts as not understood.
    fn step(&mut self, steps: usize, at: Span) -> bool {
        let is_paid = self.fuel.spend(steps);
        if !is_paid {
            self.doubt(Floor::Unparsed, at, SPENT);
        }
        is_paid
    }

    /// Reads every word.
    fn words(&mut self) {
        let mut options = true;
        // The operands of the current sub-command.
        let mut count = 0usize;
        while let Some(field) = self.next() {
            if self.fuel.is_spent() {
                break;
            }
            let Some(row) = self.last() else { return };
            let style = row.style;
            let bytes = &*field.text.bytes;
            let is_first = self.at == 1 && self.call.chain.len() == 1;
            if options && style != Style::None {
                if bytes == b"--" && !matches!(style, Style::Key | Style::Letters) {
                    options = false;
                    self.call.dashes = Some(self.call.operands.len());
                    continue;
                }
                if self.option(field, &row, style, is_first) {
                    // The number of a signal is the last option of `kill`.
                    let is_last = row.has(NodeBit::Builtin) && row.has(NodeBit::Numbers);
                    options = !(is_last && bytes.get(1..).is_some_and(is_number));
                    continue;
                }
                if style != Style::Letters && is_made_option(field) {
                    self.any_option(field);
                }
            }
            count += 1;
            if row.has_subs() && count == usize::from(row.sub_at) {
                if self.is_script(field, &row) {
                    options = false;
                    self.call.operands.push(field.clone());
                    continue;
                }
                count = 0;
                if !self.descend(field, &row) {
                    return;
                }
                self.call.subs.push(self.at - 1);
                continue;
            }
            self.call.operands.push(field.clone());
            let stop = match row.stop {
                // Builtins take options only before their operands, except `test` and `[`, whose
                // options are among them.
                0 if row.has(NodeBit::Builtin) && style != Style::Single => 1,
                stop => usize::from(stop),
            };
            if stop > 0 && count >= stop {
                options = false;
            }
        }
    }

    /// Notes a word made by the text, which may be any option.
    fn any_option(&mut self, field: &Field<'_>) {
        let span = field.text.span;
        if !self.step(SHORTENED_STEPS, span) {
            return;
        }
        self.call.has_unknown = true;
        if let Some(row) = self.last() {
            self.call.doubts.push((What::AnyOption(row.id), span));
        }
    }

    /// Returns the innermost sub-command.
    fn last(&self) -> Option<NodeRow> {
        self.call.chain.last().copied()
    }

    /// Returns whether a word is a script for an interpreter instead of a sub-command.
    fn is_script(&self, field: &Field<'_>, row: &NodeRow) -> bool {
        let is_plain =
            field.text.is_literal() && !field.spread && !field.text.bytes.starts_with(b"-");
        is_plain
            && self.facts.operands(row.operands).next().is_some_and(|row| row.role == Role::Script)
            && self.facts.sub(row, &field.text.bytes).is_none()
    }

    /// Goes to a sub-command; returns whether it is known.
    fn descend(&mut self, field: &Field<'c>, row: &NodeRow) -> bool {
        if !field.text.is_literal() || field.spread {
            self.doubt(Floor::UnknownWord, field.text.span, "the sub-command is not literal");
            self.call.is_lost = true;
            return false;
        }
        match self.facts.sub(row, &field.text.bytes).and_then(|sub| self.facts.node(sub)) {
            Some(sub) => {
                // Programs of Go may read the options before a sub-command and go on:
                // `docker-compose -v down`.
                if row.style == Style::Go {
                    let facts = self.facts;
                    let versions =
                        self.call.given.iter_mut().filter(|given| may_ask_version(facts, given));
                    versions.for_each(|given| given.is_whole = false);
                }
                self.call.chain.push(sub);
                self.call.span = self.call.span.to(field.text.span);
                true
            }
            None => {
                self.doubt(
                    Floor::UnknownProgram,
                    field.text.span,
                    "no fact describes this sub-command",
                );
                self.call.is_lost = true;
                false
            }
        }
    }

    /// Reads a word as an option; returns whether it is one.
    fn option(&mut self, field: &Field<'c>, row: &NodeRow, style: Style, is_first: bool) -> bool {
        let bytes = &*field.text.bytes;
        match (style, bytes) {
            (Style::None, _) => false,
            (Style::Key, _) => self.key(field),
            (Style::Letters, [b'-', letters @ ..]) => {
                let is_declared = |byte: &u8| self.lookup(&[b'-', *byte]).is_some();
                let is_option = !letters.is_empty() && letters.iter().all(is_declared);
                if is_option {
                    self.bundle(field, 1, false);
                }
                is_option
            }
            (Style::Letters, _) => false,
            (_, [b'-', b'-', ..]) => {
                self.long(field, 2, style);
                true
            }
            (_, [b'-']) => false,
            (_, [b'-', ..]) if self.exact(field) => true,
            (Style::Single, [b'-', rest @ ..]) => {
                let is_number = row.has(NodeBit::Numbers) && is_number(rest);
                if !is_number {
                    self.long(field, 1, style);
                }
                true
            }
            (_, [b'-', rest @ ..]) => {
                if !(row.has(NodeBit::Numbers) && is_number(rest)) {
                    self.bundle(field, 1, false);
                }
                true
            }
            (_, [b'+', ..]) => self.exact(field),
            (_, [first, ..])
                if is_first && row.has(NodeBit::BundleFirst) && first.is_ascii_alphabetic() =>
            {
                self.bundle(field, 0, true);
                true
            }
            _ => false,
        }
    }

    /// Returns the owner of an option that a call may have: the innermost sub-command, or one
    /// around it whose options are inherited.
    fn lookup(&self, name: &[u8]) -> Option<Declared> {
        let name = self.facts.name_id(name)?;
        let mut is_own = true;
        for row in self.call.chain.iter().rev() {
            if let Some(flag) = self.facts.own_flag(row, name)
                && (is_own || flag.is_everywhere)
            {
                return Some(Declared { owner: row.id, flag, name });
            }
            is_own = false;
        }
        None
    }

    /// Reads a word that equals the whole name of an option.
    fn exact(&mut self, field: &Field<'c>) -> bool {
        let Some(declared) = self.lookup(&field.text.bytes) else { return false };
        self.give(declared, field.text.span, None, true);
        true
    }

    /// Reads `--name`, `--name=value`, or the same with one dash.
    fn long(&mut self, field: &Field<'c>, dashes: usize, style: Style) {
        let bytes = &*field.text.bytes;
        let equals = bytes.iter().position(|byte| *byte == b'=');
        let name = bytes.get(..equals.unwrap_or(bytes.len())).unwrap_or(bytes);
        let value = equals.map(|at| Field { text: field.text.after(at + 1), ..field.clone() });
        let span = field.text.span;
        if let Some(declared) = self.lookup(name) {
            return self.give(declared, span, value, true);
        }
        // Programs with one-dash options accept two dashes too.
        if style == Style::Single
            && dashes == 2
            && let Some(declared) = self.lookup(name.get(1..).unwrap_or(name))
        {
            return self.give(declared, span, value, true);
        }
        // After an operand it may be an option with a value: the version of the named item.
        let is_version = name == b"--version" && self.call.operands.is_empty();
        if (name == b"--help" || is_version) && value.is_none() {
            return self.help(field);
        }
        let mut is_own = true;
        for at in (0..self.call.chain.len()).rev() {
            let Some(row) = self.call.chain.get(at) else { continue };
            if let Some((flag, name)) = self.facts.flag_pattern(row, name)
                && (is_own || flag.is_everywhere)
            {
                let declared = Declared { owner: row.id, flag, name };
                return self.give(declared, span, value, true);
            }
            is_own = false;
        }
        if style == Style::Gnu && name.len() > 2 && self.shortened(name, span, &value) {
            return;
        }
        self.unknown(field, value.is_some());
    }

    /// Reads a shortened long option: all of its possible meanings count.
    fn shortened(&mut self, name: &[u8], span: Span, value: &Option<Field<'c>>) -> bool {
        let mut found: Vec<Declared> = Vec::new();
        if !self.step(SHORTENED_STEPS, span) {
            return false;
        }
        let mut is_own = true;
        for row in self.call.chain.iter().rev() {
            let own = self.facts.flags_from(row, name).into_iter();
            let holding = own.filter(|(flag, _)| is_own || flag.is_everywhere);
            found.extend(holding.map(|(flag, name)| Declared { owner: row.id, flag, name }));
            is_own = false;
        }
        let after = self.at;
        let mut end = after;
        for declared in &found {
            self.at = after;
            self.give(*declared, span, value.clone(), false);
            end = end.max(self.at);
        }
        self.at = end;
        !found.is_empty()
    }

    /// Reads `-abc`, or `abc` as the first word of a program that allows it.
    fn bundle(&mut self, field: &Field<'c>, start: usize, is_old: bool) {
        let bytes = field.text.bytes.clone();
        let is_go = self.last().is_some_and(|row| row.style == Style::Go);
        for at in start..bytes.len() {
            let Some(byte) = bytes.get(at) else { break };
            let name = [b'-', *byte];
            let span = field.text.place(if at == 1 { 0 } else { at }, at + 1);
            let Some(declared) = self.lookup(&name) else {
                return self.unknown(field, false);
            };
            let arity = declared.flag.arity;
            let rest = at + 1 < bytes.len();
            let attached = rest && arity != Arity::None && !is_old;
            // Go reads `-o=value` as `-o value`, and accepts `-n=false`.
            let equals = is_go && bytes.get(at + 1) == Some(&b'=');
            let has_value = attached || (equals && rest);
            let start = at + 1 + usize::from(equals);
            let value = has_value.then(|| Field { text: field.text.after(start), ..field.clone() });
            self.give(declared, span, value, true);
            if has_value {
                return;
            }
        }
    }

    /// Reads `key=value`.
    fn key(&mut self, field: &Field<'c>) -> bool {
        let bytes = &*field.text.bytes;
        let Some(equals) = bytes.iter().position(|byte| *byte == b'=') else {
            return if bytes.starts_with(b"--") {
                self.without_rest(|reader| reader.long(field, 2, Style::Key));
                true
            } else {
                false
            };
        };
        let name = bytes.get(..=equals).unwrap_or(bytes);
        let Some(declared) = self.lookup(name) else {
            self.doubt(Floor::UnknownFlag, field.text.span, "no fact declares this key");
            self.call.has_unknown = true;
            return true;
        };
        let value = Field { text: field.text.after(equals + 1), ..field.clone() };
        self.without_rest(|reader| reader.give(declared, field.text.span, Some(value), true));
        true
    }

    /// Reads an option that takes no further word.
    fn without_rest(&mut self, read: impl FnOnce(&mut Self)) {
        let words = std::mem::take(&mut self.words);
        let at = std::mem::take(&mut self.at);
        read(self);
        (self.words, self.at) = (words, at);
    }

    /// Notes an option, with its value.
    fn give(
        &mut self,
        declared: Declared,
        span: Span,
        attached: Option<Field<'c>>,
        is_whole: bool,
    ) {
        let Declared { owner, flag, name } = declared;
        let is_whole = is_whole && !self.may_be_operand();
        let mut given = Given {
            owner,
            flag,
            name: Some(name),
            span,
            value: None,
            words: Vec::new(),
            is_whole,
            is_off: false,
            is_undeclared_version: false,
        };
        match flag.arity {
            Arity::None => match attached.as_ref().map(|value| boolean(&value.text.bytes)) {
                None => {}
                Some(Some(is_on)) => {
                    // Programs of Go read it so. Others may reject it, or take the option as given,
                    // so it lowers nothing.
                    let is_go = self.last().is_some_and(|row| row.style == Style::Go);
                    given.is_whole &= is_go;
                    given.is_off = !is_on;
                }
                Some(None) => {
                    self.doubt(Floor::UnknownFlag, span, "this option takes no value");
                    self.call.has_unknown = true;
                }
            },
            Arity::Attached => given.value = attached,
            Arity::Required if flag.role == Role::EndedCommand => {
                given.words.extend(attached);
                while let Some(word) = self.next() {
                    // A `+` ends the command only after `{}`.
                    let is_last = given.words.last().is_some_and(|last| &*last.text.bytes == b"{}");
                    match &*word.text.bytes {
                        b";" => break,
                        b"+" if is_last => break,
                        _ => given.words.push(word.clone()),
                    }
                }
            }
            Arity::Required => {
                given.value = attached.or_else(|| self.next().cloned());
                // The value may expand to more than one word.
                if let Some(value) = given.value.as_ref().filter(|value| value.spread) {
                    let value = value.clone();
                    if is_made_option(&value) {
                        self.any_option(&value);
                    }
                }
            }
        }
        self.call.given.push(given);
    }

    /// Returns whether a word that looks like an option may be an operand.
    fn may_be_operand(&self) -> bool {
        self.call.is_posix && !self.call.operands.is_empty()
    }

    /// Notes `--help` or `--version`, accepted by every program, which then does nothing else.
    fn help(&mut self, field: &Field<'c>) {
        if self.may_be_operand() {
            return self.unknown(field, false);
        }
        self.call.given.push(Given {
            owner: self.call.chain.last().map_or(NodeId::MAX, |row| row.id),
            flag: FlagRow::HELP,
            name: None,
            span: field.text.span,
            value: None,
            words: Vec::new(),
            is_whole: true,
            is_off: false,
            is_undeclared_version: &*field.text.bytes == b"--version",
        });
    }

    fn unknown(&mut self, field: &Field<'c>, has_value: bool) {
        self.doubt(Floor::UnknownFlag, field.text.span, "no fact declares this option");
        self.call.has_unknown = true;
        if !has_value && self.call.doubt.is_none() && self.at < self.words.len() {
            self.call.doubt = Some(self.at);
        }
    }
}

/// Returns whether a word may be a hidden option.
fn is_made_option(field: &Field<'_>) -> bool {
    let bytes = &*field.text.bytes;
    Mark::Made.begins(bytes) || (field.spread && Mark::Made.is_in(bytes))
}

/// Returns whether an option may ask for the version of its program.
fn may_ask_version(facts: &Facts<'_>, given: &Given<'_>) -> bool {
    given.name.map_or(given.is_undeclared_version, |name| {
        matches!(facts.name(name).as_str(), "--version" | "-version" | "-v" | "-V")
    })
}

/// Reads the value of an option without an argument, as programs of Go and of Node.js do.
fn boolean(value: &[u8]) -> Option<bool> {
    match value {
        b"true" | b"True" | b"TRUE" | b"t" | b"T" | b"1" => Some(true),
        b"false" | b"False" | b"FALSE" | b"f" | b"F" | b"0" => Some(false),
        _ => None,
    }
}

fn is_number(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_digit() || Mark::Name.is(*byte) || Mark::Star.is(*byte))
}
