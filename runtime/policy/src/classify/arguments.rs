//! The words of a program -> options, operands, sub-commands.

use super::classifier::{Classifier, SHORTENED_STEPS};
use super::expand::Field;
use super::hit::Cause;
use crate::facts::{Arity, FlagRow, NameId, NodeBit, NodeId, NodeRow, Role, Style};
use crate::span::Span;
use crate::text::{MADE, NAME, STAR};
use crate::tier::{Floor, Tier};

/// The words of a program, taken apart.
#[derive(Debug)]
pub(super) struct Call<'c> {
    /// The program and its sub-commands.
    pub(super) chain: Vec<NodeRow>,
    /// Their words.
    pub(super) span: Span,
    /// Which words are the sub-commands.
    pub(super) subs: Vec<usize>,
    pub(super) given: Vec<Given<'c>>,
    pub(super) operands: Vec<Field<'c>>,
    /// From which operand on no word can be an option, because of `--`.
    pub(super) dashes: Option<usize>,
    /// Whether there was an option that no fact declares.
    pub(super) has_unknown: bool,
    /// The word after the first such option, which may be its value.
    pub(super) doubt: Option<usize>,
    /// Whether a sub-command is not known, so that nothing is known of what follows.
    pub(super) is_lost: bool,
}

/// An option that was given.
#[derive(Debug)]
pub(super) struct Given<'c> {
    /// Who declares it.
    pub(super) owner: NodeId,
    pub(super) flag: FlagRow,
    /// The name that facts give it; `None` of `--help`, which they need not declare.
    pub(super) name: Option<NameId>,
    pub(super) span: Span,
    pub(super) value: Option<Field<'c>>,
    /// The words of a command that ends with `;`.
    pub(super) words: Vec<Field<'c>>,
    /// Whether the name is whole: a shortened one never lowers anything.
    pub(super) is_whole: bool,
}

/// An option as its facts declare it.
#[derive(Debug, Clone, Copy)]
struct Declared {
    /// Which program or sub-command declares it.
    owner: NodeId,
    flag: FlagRow,
    name: NameId,
}

/// The words that are still to be read.
struct Words<'w, 'c> {
    fields: &'w [Field<'c>],
    at: usize,
}

impl<'w, 'c> Words<'w, 'c> {
    fn next(&mut self) -> Option<&'w Field<'c>> {
        let field = self.fields.get(self.at)?;
        self.at += 1;
        Some(field)
    }
}

impl Classifier<'_> {
    /// Takes the words of a program apart.
    pub(super) fn arguments<'c>(
        &mut self,
        node: NodeRow,
        name: Span,
        fields: &[Field<'c>],
    ) -> Call<'c> {
        let mut call = Call {
            chain: vec![node],
            span: name,
            subs: Vec::new(),
            given: Vec::new(),
            operands: Vec::with_capacity(fields.len()),
            dashes: None,
            has_unknown: false,
            doubt: None,
            is_lost: false,
        };
        let mut words = Words { fields, at: 0 };
        let mut options = true;
        // The operands of the sub-command that is being read.
        let mut count = 0usize;
        while let Some(field) = words.next() {
            if self.is_spent() {
                break;
            }
            let Some(row) = self.last(&call) else { return call };
            let style = row.style;
            let bytes = &*field.text.bytes;
            let is_first = words.at == 1 && call.chain.len() == 1;
            if options && style != Style::None {
                if bytes == b"--" && !matches!(style, Style::Key | Style::Letters) {
                    options = false;
                    call.dashes = Some(call.operands.len());
                    continue;
                }
                if self.option(field, &row, style, is_first, &mut words, &mut call) {
                    continue;
                }
                if style != Style::Letters && is_made_option(field) {
                    self.any_option(field, &mut call);
                }
            }
            count += 1;
            if row.has_subs() && count == usize::from(row.sub_at) {
                if self.is_script(field, &row) {
                    options = false;
                    call.operands.push(field.clone());
                    continue;
                }
                count = 0;
                if !self.descend(field, &row, &mut call) {
                    return call;
                }
                call.subs.push(words.at - 1);
                continue;
            }
            call.operands.push(field.clone());
            if row.stop > 0 && count >= usize::from(row.stop) {
                options = false;
            }
        }
        call
    }

    /// Judges a word that the text makes and that may be any option.
    fn any_option(&mut self, field: &Field<'_>, call: &mut Call<'_>) {
        let span = field.text.span;
        if !self.step(SHORTENED_STEPS, span) {
            return;
        }
        call.has_unknown = true;
        // At least it may be one that no fact declares.
        let mut worst = self.rules.floors.tier(Floor::UnknownFlag);
        let mut is_own = true;
        for row in call.chain.iter().rev() {
            for flag in self.facts.flags(row).filter(|flag| is_own || flag.is_everywhere) {
                let values = self.facts.values(flag.values).map(|value| value.tier).max();
                let role = match flag.role {
                    role if role.is_code() => self.rules.floors.tier(Floor::UnknownWord),
                    Role::Config => self.rules.floors.tier(Floor::OpaqueCode),
                    Role::Read | Role::RemoteRead => Tier::ReadOnly,
                    role if role.is_path() => Tier::Stateful,
                    _ => Tier::ReadOnly,
                };
                worst = worst.max(flag.tier).max(role).max(values.unwrap_or_default());
            }
            is_own = false;
        }
        let reason = "this word is made by the text and may be an option";
        self.hit(worst, span, Cause::Floor { floor: Floor::UnknownFlag, reason });
    }

    /// Returns the innermost sub-command.
    fn last(&self, call: &Call<'_>) -> Option<NodeRow> {
        call.chain.last().copied()
    }

    /// Returns whether a word is no sub-command, but the script that an interpreter runs.
    fn is_script(&self, field: &Field<'_>, row: &NodeRow) -> bool {
        let is_plain =
            field.text.is_literal() && !field.spread && !field.text.bytes.starts_with(b"-");
        is_plain
            && self.facts.operands(row.operands).next().is_some_and(|row| row.role == Role::Script)
            && self.facts.sub(row, &field.text.bytes).is_none()
    }

    /// Goes to a sub-command; returns whether it is known.
    fn descend<'c>(&mut self, field: &Field<'c>, row: &NodeRow, call: &mut Call<'c>) -> bool {
        if !field.text.is_literal() || field.spread {
            self.floor(Floor::UnknownWord, field.text.span, "the sub-command is not literal");
            call.is_lost = true;
            return false;
        }
        match self.facts.sub(row, &field.text.bytes).and_then(|sub| self.facts.node(sub)) {
            Some(sub) => {
                call.chain.push(sub);
                call.span = call.span.to(field.text.span);
                true
            }
            None => {
                self.floor(
                    Floor::UnknownProgram,
                    field.text.span,
                    "no fact describes this sub-command",
                );
                call.is_lost = true;
                false
            }
        }
    }

    /// Reads a word as an option; returns whether it is one.
    fn option<'c>(
        &mut self,
        field: &Field<'c>,
        row: &NodeRow,
        style: Style,
        is_first: bool,
        words: &mut Words<'_, 'c>,
        call: &mut Call<'c>,
    ) -> bool {
        let bytes = &*field.text.bytes;
        match (style, bytes) {
            (Style::None, _) => false,
            (Style::Key, _) => self.key(field, call),
            (Style::Letters, [b'-', letters @ ..]) => {
                let is_declared = |byte: &u8| self.lookup(call, &[b'-', *byte]).is_some();
                let is_option = !letters.is_empty() && letters.iter().all(is_declared);
                if is_option {
                    self.bundle(field, 1, false, words, call);
                }
                is_option
            }
            (Style::Letters, _) => false,
            (_, [b'-', b'-', ..]) => {
                self.long(field, 2, style, words, call);
                true
            }
            (_, [b'-']) => false,
            (_, [b'-', ..]) if self.exact(field, call, words) => true,
            (Style::Single, [b'-', rest @ ..]) => {
                let is_number = row.has(NodeBit::Numbers) && is_number(rest);
                if !is_number {
                    self.long(field, 1, style, words, call);
                }
                true
            }
            (_, [b'-', rest @ ..]) => {
                if !(row.has(NodeBit::Numbers) && is_number(rest)) {
                    self.bundle(field, 1, false, words, call);
                }
                true
            }
            (_, [b'+', ..]) => self.exact(field, call, words),
            (_, [first, ..])
                if is_first && row.has(NodeBit::BundleFirst) && first.is_ascii_alphabetic() =>
            {
                self.bundle(field, 0, true, words, call);
                true
            }
            _ => false,
        }
    }

    /// Returns who declares an option that a call may have: the innermost sub-command, or one around it
    /// whose options hold everywhere.
    fn lookup(&self, call: &Call<'_>, name: &[u8]) -> Option<Declared> {
        let name = self.facts.name_id(name)?;
        let mut is_own = true;
        for row in call.chain.iter().rev() {
            if let Some(flag) = self.facts.own_flag(row, name)
                && (is_own || flag.is_everywhere)
            {
                return Some(Declared { owner: row.id, flag, name });
            }
            is_own = false;
        }
        None
    }

    /// Reads a word that is the name of an option as a whole.
    fn exact<'c>(
        &mut self,
        field: &Field<'c>,
        call: &mut Call<'c>,
        words: &mut Words<'_, 'c>,
    ) -> bool {
        let Some(declared) = self.lookup(call, &field.text.bytes) else { return false };
        self.give(declared, field.text.span, None, true, words, call);
        true
    }

    /// Reads `--name`, `--name=value`, or the same with one dash.
    fn long<'c>(
        &mut self,
        field: &Field<'c>,
        dashes: usize,
        style: Style,
        words: &mut Words<'_, 'c>,
        call: &mut Call<'c>,
    ) {
        let bytes = &*field.text.bytes;
        let equals = bytes.iter().position(|byte| *byte == b'=');
        let name = bytes.get(..equals.unwrap_or(bytes.len())).unwrap_or(bytes);
        let value = equals.map(|at| Field { text: field.text.after(at + 1), ..field.clone() });
        let span = field.text.span;
        if let Some(declared) = self.lookup(call, name) {
            return self.give(declared, span, value, true, words, call);
        }
        // One-dash programs take two dashes too.
        if style == Style::Single
            && dashes == 2
            && let Some(declared) = self.lookup(call, name.get(1..).unwrap_or(name))
        {
            return self.give(declared, span, value, true, words, call);
        }
        // After an operand it may be an option with a value: the version of what is named.
        let is_version = name == b"--version" && call.operands.is_empty();
        if (name == b"--help" || is_version) && value.is_none() {
            return self.help(field, call);
        }
        let mut is_own = true;
        for at in (0..call.chain.len()).rev() {
            let Some(row) = call.chain.get(at) else { continue };
            if let Some((flag, name)) = self.facts.flag_pattern(row, name)
                && (is_own || flag.is_everywhere)
            {
                let declared = Declared { owner: row.id, flag, name };
                return self.give(declared, span, value, true, words, call);
            }
            is_own = false;
        }
        if style == Style::Gnu && name.len() > 2 && self.shortened(name, span, &value, words, call)
        {
            return;
        }
        self.unknown(field, value.is_some(), words, call);
    }

    /// Reads a shortened long option: whatever it may stand for counts.
    fn shortened<'c>(
        &mut self,
        name: &[u8],
        span: Span,
        value: &Option<Field<'c>>,
        words: &mut Words<'_, 'c>,
        call: &mut Call<'c>,
    ) -> bool {
        let mut found: Vec<Declared> = Vec::new();
        if !self.step(SHORTENED_STEPS, span) {
            return false;
        }
        let mut is_own = true;
        for row in call.chain.iter().rev() {
            let own = self.facts.flags_from(row, name).into_iter();
            let holding = own.filter(|(flag, _)| is_own || flag.is_everywhere);
            found.extend(holding.map(|(flag, name)| Declared { owner: row.id, flag, name }));
            is_own = false;
        }
        let after = words.at;
        let mut end = after;
        for declared in &found {
            words.at = after;
            self.give(*declared, span, value.clone(), false, words, call);
            end = end.max(words.at);
        }
        words.at = end;
        !found.is_empty()
    }

    /// Reads `-abc`, or `abc` of a program whose first word needs no dash.
    fn bundle<'c>(
        &mut self,
        field: &Field<'c>,
        start: usize,
        is_old: bool,
        words: &mut Words<'_, 'c>,
        call: &mut Call<'c>,
    ) {
        let bytes = field.text.bytes.clone();
        let is_go = self.last(call).is_some_and(|row| row.style == Style::Go);
        for at in start..bytes.len() {
            let Some(byte) = bytes.get(at) else { break };
            let name = [b'-', *byte];
            let span = field.text.place(if at == 1 { 0 } else { at }, at + 1);
            let Some(declared) = self.lookup(call, &name) else {
                return self.unknown(field, false, words, call);
            };
            let arity = declared.flag.arity;
            let rest = at + 1 < bytes.len();
            let attached = rest && arity != Arity::None && !is_old;
            // Go takes `-o=value` as `-o value`.
            let equals = usize::from(is_go && bytes.get(at + 1) == Some(&b'='));
            let value = attached
                .then(|| Field { text: field.text.after(at + 1 + equals), ..field.clone() });
            self.give(declared, span, value, true, words, call);
            if attached {
                return;
            }
        }
    }

    /// Reads `key=value`.
    fn key<'c>(&mut self, field: &Field<'c>, call: &mut Call<'c>) -> bool {
        let bytes = &*field.text.bytes;
        let Some(equals) = bytes.iter().position(|byte| *byte == b'=') else {
            return if bytes.starts_with(b"--") {
                let mut none = Words { fields: &[], at: 0 };
                self.long(field, 2, Style::Key, &mut none, call);
                true
            } else {
                false
            };
        };
        let name = bytes.get(..=equals).unwrap_or(bytes);
        let Some(declared) = self.lookup(call, name) else {
            self.floor(Floor::UnknownFlag, field.text.span, "no fact declares this key");
            call.has_unknown = true;
            return true;
        };
        let value = Field { text: field.text.after(equals + 1), ..field.clone() };
        let mut none = Words { fields: &[], at: 0 };
        self.give(declared, field.text.span, Some(value), true, &mut none, call);
        true
    }

    /// Notes an option, with its value.
    fn give<'c>(
        &mut self,
        declared: Declared,
        span: Span,
        attached: Option<Field<'c>>,
        is_whole: bool,
        words: &mut Words<'_, 'c>,
        call: &mut Call<'c>,
    ) {
        let Declared { owner, flag, name } = declared;
        let mut given =
            Given { owner, flag, name: Some(name), span, value: None, words: Vec::new(), is_whole };
        match flag.arity {
            Arity::None => {
                if attached.is_some() {
                    self.floor(Floor::UnknownFlag, span, "this option takes no value");
                    call.has_unknown = true;
                }
            }
            Arity::Attached => given.value = attached,
            Arity::Required if flag.role == Role::EndedCommand => {
                given.words.extend(attached);
                while let Some(word) = words.next() {
                    // A `+` ends it only after the sign for what was found.
                    let is_last = given.words.last().is_some_and(|last| &*last.text.bytes == b"{}");
                    match &*word.text.bytes {
                        b";" => break,
                        b"+" if is_last => break,
                        _ => given.words.push(word.clone()),
                    }
                }
            }
            Arity::Required => {
                given.value = attached.or_else(|| words.next().cloned());
                // It may be more than one word.
                if let Some(value) = given.value.as_ref().filter(|value| value.spread) {
                    let value = value.clone();
                    if is_made_option(&value) {
                        self.any_option(&value, call);
                    }
                }
            }
        }
        call.given.push(given);
    }

    /// Notes `--help` or `--version`, which every program may have: nothing else is done then.
    fn help<'c>(&mut self, field: &Field<'c>, call: &mut Call<'c>) {
        call.given.push(Given {
            owner: call.chain.last().map_or(NodeId::MAX, |row| row.id),
            flag: FlagRow::HELP,
            name: None,
            span: field.text.span,
            value: None,
            words: Vec::new(),
            is_whole: true,
        });
    }

    fn unknown<'c>(
        &mut self,
        field: &Field<'c>,
        has_value: bool,
        words: &mut Words<'_, 'c>,
        call: &mut Call<'c>,
    ) {
        self.floor(Floor::UnknownFlag, field.text.span, "no fact declares this option");
        call.has_unknown = true;
        if !has_value && call.doubt.is_none() && words.at < words.fields.len() {
            call.doubt = Some(words.at);
        }
    }
}

/// Returns whether a word may be an option that the text does not show.
fn is_made_option(field: &Field<'_>) -> bool {
    let bytes = &*field.text.bytes;
    bytes.first() == Some(&MADE) || (field.spread && bytes.contains(&MADE))
}

fn is_number(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes.iter().all(|byte| byte.is_ascii_digit() || *byte == NAME || *byte == STAR)
}
