//! The list of calls and effects, as it grows.

use std::borrow::Cow;

use super::{Argument, ArgumentKind, Call, CallId, Cap, Effect, Value, What};
use crate::facts::{NodeId, program_name};
use crate::span::Span;
use crate::value::{display, is_exact, is_hole};

/// The calls and effects of a text, in order. The steps of a text limit its size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    /// The bytes of all values; unknown parts are marks.
    bytes: Vec<u8>,
    calls: Vec<Call>,
    arguments: Vec<Argument>,
    caps: Vec<Cap>,
    effects: Vec<Effect>,
    /// The call whose code is being read.
    current: Option<CallId>,
}

/// Reading.
impl Effects {
    /// Returns the calls, in the order in which they begin.
    #[must_use]
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Returns the effects, in order; those of a call come when it ends.
    #[must_use]
    pub fn all(&self) -> &[Effect] {
        &self.effects
    }

    /// Returns the programs, functions and aliases that run, by the names in the text.
    pub fn programs(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.calls.iter().map(|call| self.display(call.program))
    }

    /// Returns the id of the call with this number.
    pub(crate) fn call_id(&self, number: usize) -> Option<CallId> {
        (number < self.calls.len()).then(|| CallId(index(number)))
    }

    /// Returns a call.
    #[must_use]
    pub fn call(&self, id: CallId) -> Option<&Call> {
        self.calls.get(id.0 as usize)
    }

    /// Returns the words of a call: options first, then operands.
    #[must_use]
    pub fn arguments(&self, call: &Call) -> &[Argument] {
        slice(&self.arguments, &call.arguments)
    }

    /// Returns the sub-commands of a call, as written in the text.
    pub fn subs<'e>(&'e self, call: &'e Call) -> impl Iterator<Item = Cow<'e, str>> {
        let subs = self.arguments(call).iter().filter(|word| word.kind == ArgumentKind::Sub);
        subs.filter_map(|sub| Some(self.display(sub.value?)))
    }

    /// Returns the program of a call and its sub-commands, as written in the text, without a system
    /// folder.
    #[must_use]
    pub fn command(&self, call: &Call) -> String {
        self.command_words(call).collect::<Vec<_>>().join(" ")
    }

    /// Returns the words of `command`.
    pub(crate) fn command_words<'e>(
        &'e self,
        call: &'e Call,
    ) -> impl Iterator<Item = Cow<'e, str>> {
        let program = display(program_name(self.bytes_of(call.program)));
        std::iter::once(program).chain(self.subs(call))
    }

    /// Returns whether a call is under a dry run, a check or a help.
    #[must_use]
    pub fn is_capped(&self, call: &Call) -> bool {
        !call.caps.is_empty()
    }

    /// Returns whether the dry run, check or help of its call covers an effect.
    #[must_use]
    pub fn is_covered(&self, effect: &Effect) -> bool {
        let call = effect.by.and_then(|id| self.call(id));
        effect.is_capped && call.is_some_and(|call| self.is_capped(call))
    }

    pub(crate) fn caps(&self, call: &Call) -> &[Cap] {
        slice(&self.caps, &call.caps)
    }

    /// Returns a value for people, with `…` for each unknown part.
    #[must_use]
    pub fn display(&self, value: Value) -> Cow<'_, str> {
        display(self.bytes_of(value))
    }

    /// Returns whether a value is known completely. Any other value stands for every text that fits
    /// it.
    #[must_use]
    pub fn is_exact(&self, value: Value) -> bool {
        is_exact(self.bytes_of(value))
    }

    /// Returns whether a part of a value may be any text, slashes included.
    #[must_use]
    pub fn is_open(&self, value: Value) -> bool {
        self.bytes_of(value).iter().any(|byte| is_hole(*byte))
    }

    /// Returns the user that a call runs as, if the text names one.
    #[must_use]
    pub fn user(&self, call: &Call) -> Option<Value> {
        self.wrappers(call).find_map(|wrapper| wrapper.gives_user)
    }

    /// Returns the host that a call runs on, if it is another host.
    #[must_use]
    pub fn host(&self, call: &Call) -> Option<Value> {
        self.wrappers(call).find_map(|wrapper| wrapper.gives_host)
    }

    /// Returns the calls around a call, the innermost first.
    pub fn wrappers<'e>(&'e self, call: &'e Call) -> impl Iterator<Item = &'e Call> {
        std::iter::successors(call.wrapper, |id| self.call(*id)?.wrapper)
            .filter_map(|id| self.call(id))
    }

    pub(crate) fn bytes_of(&self, value: Value) -> &[u8] {
        self.bytes.get(value.start as usize..value.end as usize).unwrap_or(&[])
    }
}

fn slice<'a, T>(all: &'a [T], range: &std::ops::Range<u32>) -> &'a [T] {
    all.get(range.start as usize..range.end as usize).unwrap_or(&[])
}

/// The usual number of bytes for values that are not words of the text, such as its folder.
const WORDS_BYTES: usize = 64;
/// The usual length of a word of the text, with the blank after it.
const WORD_BYTES: usize = 8;
/// The most words of calls for which memory is reserved at once.
const ARGUMENTS_MAX: usize = 20;
/// The most bytes reserved for values at once.
const VALUE_BYTES_MAX: usize = 4096;

/// Returns a count as an index. Steps keep every list far below the maximum.
fn index(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Writing.
impl Effects {
    /// Returns an empty list for a text of this many bytes.
    pub(crate) fn for_text(bytes: usize) -> Self {
        // Values are mostly the words of the text.
        let arguments = Vec::with_capacity((bytes / WORD_BYTES).min(ARGUMENTS_MAX));
        let bytes = Vec::with_capacity(bytes.saturating_add(WORDS_BYTES).min(VALUE_BYTES_MAX));
        Self { bytes, arguments, ..Self::default() }
    }

    /// Forgets everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        let Self { bytes, calls, arguments, caps, effects, current } = self;
        bytes.clear();
        calls.clear();
        arguments.clear();
        caps.clear();
        effects.clear();
        *current = None;
    }

    pub(crate) fn value(&mut self, bytes: &[u8]) -> Value {
        let start = index(self.bytes.len());
        self.bytes.extend_from_slice(bytes);
        Value { start, end: index(self.bytes.len()) }
    }

    /// Begins a call in the current one.
    pub(crate) fn begin(&mut self, program: &[u8], span: Span) -> CallId {
        let program = self.value(program);
        let id = CallId(index(self.calls.len()));
        self.calls.push(Call {
            span,
            wrapper: self.current,
            program,
            node: None,
            gives_user: None,
            gives_host: None,
            has_doubt: false,
            arguments: 0..0,
            caps: 0..0,
        });
        id
    }

    /// Enters the code of a call; returns the outer call, for `leave`.
    #[must_use]
    pub(crate) fn enter(&mut self, call: CallId) -> Option<CallId> {
        self.current.replace(call)
    }

    /// Returns the call whose code is being read.
    pub(crate) fn current(&self) -> Option<CallId> {
        self.current
    }

    pub(crate) fn leave(&mut self, outer: Option<CallId>) {
        self.current = outer;
    }

    /// Gives a call the node that describes it; the words of the call follow.
    pub(crate) fn describe(&mut self, call: CallId, node: NodeId, span: Span, has_doubt: bool) {
        let start = index(self.arguments.len());
        if let Some(call) = self.calls.get_mut(call.0 as usize) {
            call.node = Some(node);
            call.span = span;
            call.has_doubt = has_doubt;
            call.arguments = start..start;
        }
    }

    /// Begins the words of an undescribed call, in which any word may be an option.
    pub(crate) fn leave_undescribed(&mut self, call: CallId) {
        let start = index(self.arguments.len());
        if let Some(call) = self.calls.get_mut(call.0 as usize) {
            call.has_doubt = true;
            call.arguments = start..start;
        }
    }

    /// Adds a word to the call that was described last.
    pub(crate) fn argument(&mut self, call: CallId, argument: Argument) {
        self.arguments.push(argument);
        let end = index(self.arguments.len());
        if let Some(call) = self.calls.get_mut(call.0 as usize) {
            call.arguments.end = end;
        }
    }

    /// Gives an operand of a call its role.
    pub(crate) fn operand_role(&mut self, call: CallId, at: usize, role: crate::facts::Role) {
        let Some(call) = self.calls.get(call.0 as usize) else { return };
        let range = call.arguments.start as usize..call.arguments.end as usize;
        let arguments = self.arguments.get_mut(range).unwrap_or(&mut []);
        // Operands are the last words. A call may have thousands, so the first is found by
        // bisection.
        let is_other =
            |argument: &Argument| !matches!(argument.kind, super::ArgumentKind::Operand(_));
        let first = arguments.partition_point(is_other);
        if let Some(operand) = arguments.get_mut(first + at) {
            operand.kind = super::ArgumentKind::Operand(Some(role));
        }
    }

    /// Notes the user or host that a call gives to its command.
    pub(crate) fn gives(&mut self, call: CallId, what: What) {
        let Some(call) = self.calls.get_mut(call.0 as usize) else { return };
        match what {
            What::Escalates(user) => call.gives_user = Some(user),
            What::Connects(host) => call.gives_host = Some(host),
            _ => {}
        }
    }

    /// Ends a call: its own effects follow those of its command.
    pub(crate) fn end(
        &mut self,
        call: CallId,
        effects: Vec<Effect>,
        caps: impl Iterator<Item = Cap>,
    ) {
        let start = index(self.caps.len());
        self.caps.extend(caps);
        let end = index(self.caps.len());
        if let Some(call) = self.calls.get_mut(call.0 as usize) {
            call.caps = start..end;
        }
        self.effects.extend(effects);
    }

    /// Adds an effect of the shell itself.
    pub(crate) fn add(&mut self, what: What, span: Span) {
        let by = self.current;
        self.effects.push(Effect { by, ..Effect::of_shell(what, span) });
    }

    /// Adds an effect that a rule of the project gives to a call, or to the text.
    pub(crate) fn raised(&mut self, what: What, span: Span, by: Option<CallId>) {
        self.effects.push(Effect { by, is_own: true, ..Effect::of_shell(what, span) });
    }

    /// Returns a mark of the current end of the list, for `split_at`.
    pub(crate) fn mark(&self) -> usize {
        self.effects.len()
    }

    /// Returns the effects up to a mark, and those after it.
    pub(crate) fn split_at(&self, mark: usize) -> (&[Effect], &[Effect]) {
        self.effects.split_at_checked(mark).unwrap_or((&self.effects, &[]))
    }

    /// Drops connections to a host after a mark, for a host that the text does not name.
    pub(crate) fn forget_host(&mut self, mark: usize, host: &[u8]) {
        let Self { bytes, effects, .. } = self;
        let is_it = |effect: &Effect| match effect.what {
            What::Connects(value) => {
                bytes.get(value.start as usize..value.end as usize) == Some(host)
            }
            _ => false,
        };
        let kept: Vec<Effect> =
            effects.drain(mark.min(effects.len())..).filter(|effect| !is_it(effect)).collect();
        effects.extend(kept);
    }

    /// Moves every span to character boundaries of the text.
    pub(crate) fn place(&mut self, within: impl Fn(Span) -> Span) {
        let spans = self.calls.iter_mut().map(|call| &mut call.span);
        let spans = spans.chain(self.arguments.iter_mut().map(|argument| &mut argument.span));
        for span in spans.chain(self.effects.iter_mut().map(|effect| &mut effect.span)) {
            *span = within(*span);
        }
    }

    /// Adds the calls and effects of an earlier round.
    pub(crate) fn append(&mut self, other: &Self) {
        let (bytes, calls) = (index(self.bytes.len()), index(self.calls.len()));
        let (arguments, caps) = (index(self.arguments.len()), index(self.caps.len()));
        let value = |value: Value| Value { start: value.start + bytes, end: value.end + bytes };
        let id = |id: CallId| CallId(id.0 + calls);
        self.bytes.extend_from_slice(&other.bytes);
        self.calls.extend(other.calls.iter().map(|call| Call {
            span: call.span,
            wrapper: call.wrapper.map(id),
            program: value(call.program),
            node: call.node,
            gives_user: call.gives_user.map(value),
            gives_host: call.gives_host.map(value),
            has_doubt: call.has_doubt,
            arguments: call.arguments.start + arguments..call.arguments.end + arguments,
            caps: call.caps.start + caps..call.caps.end + caps,
        }));
        self.arguments.extend(
            other.arguments.iter().map(|one| Argument { value: one.value.map(value), ..*one }),
        );
        self.caps.extend_from_slice(&other.caps);
        self.effects.extend(other.effects.iter().map(|effect| {
            let what = match effect.what {
                What::Path { touch, path, class, is_many, is_tree, is_secret } => {
                    What::Path { touch, path: value(path), class, is_many, is_tree, is_secret }
                }
                What::Connects(host) => What::Connects(value(host)),
                What::Listens(port) => What::Listens(value(port)),
                What::Escalates(user) => What::Escalates(value(user)),
                what => what,
            };
            Effect { what, by: effect.by.map(id), ..*effect }
        }));
    }
}
