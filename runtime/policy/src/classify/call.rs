//! A program with its words -> what it does.

use std::sync::Arc;

use super::arguments::{Call, Given};
use super::classifier::{Classifier, WRAPPERS_MAX};
use super::expand::Field;
use super::hit::{Cause, Effect, Hit};
use super::run::program_name;
use super::stream::{Content, Stream};
use crate::facts::{
    Extent, FlagId, FormRow, NameList, NodeBit, NodeId, NodeRow, OperandRow, Output, Place,
    Position, Role, Special, matches,
};
use crate::paths::PathClass;
use crate::shell::{Folder, Frame, Parameters};
use crate::span::Span;
use crate::text::Text;
use crate::tier::{Floor, Tier};

/// The longest name of a program with its sub-commands that is shown as it was called.
const CALLED_BYTES_MAX: usize = 64;

/// What a program itself does, before a dry run caps it.
#[derive(Default)]
pub(super) struct Own {
    pub(super) hits: Vec<Hit>,
    /// The most that it is, by each option that says so; of one option the last word counts.
    caps: Vec<(FlagId, Option<Tier>)>,
    /// The option that is being judged.
    flag: Option<FlagId>,
    /// Options that load code before a dry run or a check begins: no cap covers what they do.
    runs: Vec<Span>,
    /// Whether code was named: then standard input is data.
    pub(super) has_code: bool,
    /// The files that it writes.
    pub(super) written: Vec<Vec<u8>>,
    /// Whether a secret was read.
    pub(super) secret: bool,
    /// What sends data over a network.
    pub(super) sends: Option<Span>,
    /// The positional parameters of code on standard input.
    pub(super) parameters: Option<Parameters>,
    /// Whether what it writes is made of the text: of a file that the text writes, or by code of a language.
    pub(super) makes: bool,
}

impl Own {
    pub(super) fn hit(&mut self, tier: Tier, span: Span, cause: Cause) {
        if tier > Tier::ReadOnly {
            self.hits.push(Hit { tier, span, cause, place: None, called: None });
        }
    }

    /// Notes the most that the command is with an option.
    fn cap(&mut self, flag: FlagId, cap: Option<Tier>) {
        match self.caps.iter_mut().find(|(capped, _)| *capped == flag) {
            Some((_, before)) => *before = cap,
            None => self.caps.push((flag, cap)),
        }
    }

    fn cap_of_all(&self) -> Option<Tier> {
        self.caps.iter().filter_map(|(_, cap)| *cap).min()
    }

    /// Forgets the most that the command is.
    pub(super) fn uncap(&mut self) {
        self.caps.clear();
    }

    /// Notes where the fact was written that raised the hits since there were `count`.
    fn written(&mut self, count: usize, place: Place) {
        for hit in self.hits.iter_mut().skip(count) {
            hit.place.get_or_insert(place);
        }
    }
}

/// What takes a value: an option or an operand.
#[derive(Clone, Copy)]
struct Valued {
    /// Which program or sub-command declares it.
    owner: NodeId,
    role: Role,
    values: Extent,
}

impl Valued {
    const fn operand(owner: NodeId, row: &OperandRow) -> Self {
        Self { owner, role: row.role, values: row.values }
    }
}

/// Whose operands and options are judged, and what they come with.
pub(super) struct Judged<'j, 'c> {
    pub(super) node: NodeRow,
    /// The name of the program, as it was called.
    pub(super) name: &'j [u8],
    pub(super) call: &'j Call<'c>,
    pub(super) input: &'j Stream,
}

impl<'f> Classifier<'f> {
    /// Classifies a program that facts describe.
    pub(super) fn program(
        &mut self,
        node: NodeRow,
        name: &Field<'_>,
        words: &[Field<'_>],
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        let call = self.arguments(node, name.text.span, words);
        let output = self.judge(&call, (name, words), frame, input);
        // The word after an option that is not known may be its value: then what follows is read otherwise.
        if let Some(at) = call.doubt
            && at < words.len()
            && self.takes_code(&call)
            && frame.wrappers < WRAPPERS_MAX
        {
            let mut rest = words.to_vec();
            rest.drain(at - 1..=at);
            let mut inner = Frame { wrappers: frame.wrappers + 4, ..frame.clone() };
            self.program(node, name, &rest, &mut inner, input);
        }
        output
    }

    /// Returns whether a program runs what its words say, so that it matters which word is which.
    fn takes_code(&self, call: &Call<'_>) -> bool {
        call.chain.iter().any(|row| {
            row.has_subs()
                || self.facts.operands(row.operands).any(|operand| operand.role.is_code())
        })
    }

    /// Judges a call of a program with these words.
    fn judge(
        &mut self,
        call: &Call<'_>,
        words: (&Field<'_>, &[Field<'_>]),
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        let Some(row) = call.chain.last().copied() else { return Stream::default() };
        self.exports_reach(&row);
        self.takes_input |=
            !row.has(NodeBit::Builtin) || matches!(row.special, Special::Read | Special::ReadLines);
        let mut own = Own::default();
        let name = program_name(&words.0.text.bytes);
        let judged = Judged { node: row, name, call, input };
        let form = if call.is_lost { None } else { self.form(&row, call) };
        if !call.is_lost {
            self.base(form.as_ref(), &judged, &mut own);
        }
        self.folders(call, frame);
        let mut inner = frame.clone();
        if row.special == Special::Nothing {
            inner.wrappers += 1;
            // Code that it runs is no part of this shell.
            inner.parameters = Parameters::Outside;
            inner.zero = None;
        }
        for given in &call.given {
            self.given(given, form.as_ref(), &judged, &mut inner, &mut own);
        }
        own.flag = None;
        let before = self.before_mounts(call);
        let special = row.special;
        let mut output = None;
        if special != Special::Nothing {
            output = self.special(special, &judged, frame, &mut own);
        }
        if !call.is_lost && !special.takes_operands() {
            let rows = match &form {
                Some(form) if !form.operands.is_empty() => form.operands,
                _ => row.operands,
            };
            let ran = self.operands(rows, &judged, &mut inner, &mut own);
            output = output.or(ran);
        }
        if let Some(before) = before {
            self.mounts(call, &before, frame, &mut own);
        }
        let writes = form.map_or(0, |form| form.writes);
        let writes = self.facts.text(if writes == 0 { row.writes } else { writes });
        if !writes.is_empty() {
            let path = Text::from_span(writes.as_bytes().to_vec(), call.span);
            let count = own.hits.len();
            self.own_path(Effect::Write, &path, &inner, &mut own);
            self.written(&mut own, count, row.id, form.map_or(row.line, |form| form.line));
        }
        let stdin = form.and_then(|form| form.stdin).unwrap_or(row.stdin);
        if stdin != Role::Text && !own.has_code && !call.is_lost {
            if let Some(parameters) = own.parameters.take() {
                inner.parameters = parameters;
            }
            self.input_code(stdin, &judged, &mut inner, &mut own);
        }
        self.sends(&row, &judged, &mut own);
        if row.output == Output::Network {
            own.written.drain(..).for_each(|path| self.fetch(path));
        } else {
            own.written.drain(..).for_each(|path| self.make(path, input, false));
        }
        let cap = if self.is_undone(call) { None } else { own.cap_of_all() };
        let is_help = call.given.iter().any(|given| given.name.is_none());
        let called = (!own.hits.is_empty()).then(|| called(call, words)).flatten();
        for hit in own.hits {
            let is_capped = !own.runs.contains(&hit.span) || is_help;
            let cap = cap.filter(|_| is_capped);
            let tier = cap.map_or(hit.tier, |cap| hit.tier.min(cap));
            if tier > Tier::ReadOnly {
                self.keep(Hit { tier, called: called.clone(), ..hit });
            }
        }
        let kind = form.and_then(|form| form.output).unwrap_or(row.output);
        let mut stream = match output {
            // What it runs writes to its output.
            Some(stream) => stream,
            None if !self.decodes(kind, call, input) => Stream::of(Content::Opaque),
            None => {
                let knows_echo = frame.dialect.is_bash();
                self.output(kind, call, input, own.makes, (&frame.folder, knows_echo))
            }
        };
        stream.is_secret |= own.secret;
        stream
    }

    /// Judges what a program does whatever its options.
    fn base(&mut self, form: Option<&FormRow>, judged: &Judged<'_, '_>, own: &mut Own) {
        let row = judged.node;
        let span = judged.call.span;
        match (form, row.tier) {
            (Some(form), _) => {
                own.hit(form.tier, span, Cause::Form(row.id, form.id));
                self.written(own, 0, row.id, form.line);
            }
            (None, Some(tier)) => {
                own.hit(tier, span, Cause::Program(row.id));
                self.written(own, 0, row.id, row.line);
            }
            (None, None) => self.floor(
                Floor::UnknownProgram,
                span,
                "the facts of this program are not read yet",
            ),
        }
    }

    /// Notes where the fact was written that raised the hits since there were `count`: a line of the
    /// file that describes this node.
    fn written(&self, own: &mut Own, count: usize, node: NodeId, line: u16) {
        if own.hits.len() > count {
            own.written(count, self.facts.place_of(node, line));
        }
    }

    /// Returns the first form that certainly holds.
    fn form(&self, row: &NodeRow, call: &Call<'_>) -> Option<FormRow> {
        self.facts.forms(row).find(|form| self.holds(form, call))
    }

    fn holds(&self, form: &FormRow, call: &Call<'_>) -> bool {
        let is_given = |list: NameList| {
            let mut names = call.given.iter().filter_map(|given| given.name);
            names.any(|name| self.facts.lists(list, name))
        };
        if !form.has.is_empty() && !is_given(form.has) {
            return false;
        }
        if !form.without.is_empty() && (call.has_unknown || is_given(form.without)) {
            return false;
        }
        let is_spread = call.operands.iter().any(|field| field.spread);
        let count = call.operands.len();
        if count < usize::from(form.least) || count > usize::from(form.most) {
            return false;
        }
        if is_spread && form.most < u8::MAX {
            return false;
        }
        form.matching.is_empty()
            || call.operands.iter().all(|field| {
                let mut patterns = self.facts.texts(form.matching);
                patterns.any(|pattern| matches(pattern, &field.text.bytes))
            })
    }

    /// Enters the folders that options name.
    fn folders(&mut self, call: &Call<'_>, frame: &mut Frame) {
        for given in &call.given {
            if given.flag.role == Role::Folder
                && let Some(value) = &given.value
            {
                frame.folder = self.enter(&value.text, &frame.folder);
            }
        }
    }

    /// Judges an option.
    fn given(
        &mut self,
        given: &Given<'_>,
        form: Option<&FormRow>,
        judged: &Judged<'_, '_>,
        frame: &mut Frame,
        own: &mut Own,
    ) {
        let row = given.flag;
        let count = own.hits.len();
        let changed = match (form, given.name) {
            (Some(form), Some(name)) => self.facts.form_role(form, name),
            _ => None,
        };
        // Where a form says what its value is, that is all that the option does.
        if let (Some(name), None) = (given.name, changed) {
            own.hit(row.tier, given.span, Cause::Flag(given.owner, row.id, name));
        }
        own.flag = Some(row.id);
        own.cap(row.id, row.cap.filter(|_| given.is_whole));
        self.written(own, count, given.owner, row.line);
        if row.role == Role::EndedCommand {
            own.has_code = true;
            let outer = frame.folder.clone();
            if given.name.is_some_and(|name| self.facts.name(name).ends_with("dir")) {
                frame.folder = Folder::Unknown;
            }
            self.each(&given.words, None, judged, frame);
            frame.folder = outer;
            return;
        }
        let Some(value) = &given.value else { return };
        let role = changed.unwrap_or(row.role);
        let of = Valued { owner: given.owner, role, values: row.values };
        self.judge_value(of, value, judged, frame, own);
        if matches!(role, Role::Script | Role::Shell | Role::Command | Role::Config) {
            own.runs.push(value.text.span);
        }
        self.written(own, count, given.owner, row.line);
    }

    /// Returns whether words of a call may undo its caps: `--no-dry-run`, `--dry-run false`, or an option that is not
    /// known.
    fn is_undone(&self, call: &Call<'_>) -> bool {
        let is_capped = call.given.iter().any(|given| given.flag.cap.is_some());
        let has_no = || call.operands.iter().any(|field| &*field.text.bytes == b"false");
        let is_negated = |name: String| {
            let name = name.strip_prefix("--no-").map(|name| format!("--{name}"));
            let name = name.and_then(|name| self.facts.name_id(name.as_bytes()));
            name.is_some_and(|name| {
                call.given.iter().any(|given| given.name == Some(name) && given.flag.cap.is_some())
            })
        };
        let has_negated = || {
            let names = call.given.iter().filter_map(|given| given.name);
            names.map(|name| self.facts.name(name)).any(is_negated)
        };
        is_capped && (call.has_unknown || has_no() || has_negated())
    }

    /// Judges operands; returns the output of what they run.
    fn operands(
        &mut self,
        rows: Extent,
        judged: &Judged<'_, '_>,
        frame: &mut Frame,
        own: &mut Own,
    ) -> Option<Stream> {
        let operands = &judged.call.operands;
        if operands.is_empty() {
            return None;
        }
        let declared: Vec<OperandRow> = self.facts.operands(rows).collect();
        let at_position = |position| declared.iter().filter(move |row| row.position == position);
        let rest = at_position(Position::Rest).next();
        let last = at_position(Position::Last).next();
        let mut next = at_position(Position::Next);
        let mut is_shifted = false;
        for (at, operand) in operands.iter().enumerate() {
            let is_last = at + 1 == operands.len() && operands.len() > 1;
            let row = match (last, next.next()) {
                (Some(last), _) if is_last => Some(last),
                (_, Some(next)) => Some(next),
                // What the rest is not about was about a row that is lost.
                _ => rest
                    .filter(|rest| at + 1 >= usize::from(rest.from) && !(rest.not_last && is_last))
                    .or(if at == 0 { last } else { None }),
            };
            let Some(row) = row else {
                self.floor(Floor::UnknownFlag, operand.text.span, "no fact declares this operand");
                continue;
            };
            let role = row.role;
            if role.takes_rest() {
                own.has_code = true;
                let words = operands.get(at..).unwrap_or(&[]);
                return self.words(role, words, judged, frame, own);
            }
            let count = own.hits.len();
            self.judge_value(Valued::operand(judged.node.id, row), operand, judged, frame, own);
            if row.role == Role::Write && row.position == Position::Last && is_last {
                self.lands_in(operands.get(..at).unwrap_or(&[]), operand, frame, own);
            }
            self.written(own, count, judged.node.id, row.line);
            // After any number of words it is not known which operand is which.
            if is_shifted {
                for other in declared.iter().filter(|other| other.role != role) {
                    if !other.role.takes_rest() {
                        let of = Valued::operand(judged.node.id, other);
                        self.judge_value(of, operand, judged, frame, own);
                    }
                }
            }
            is_shifted |= operand.spread && declared.len() > 1;
        }
        None
    }

    /// Judges what lands in a folder, which has the names of what is copied.
    fn lands_in(
        &mut self,
        sources: &[Field<'_>],
        target: &Field<'_>,
        frame: &Frame,
        own: &mut Own,
    ) {
        for source in sources {
            let bytes = &source.text.bytes;
            let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
            let name = bytes.get(..end).unwrap_or(&[]).rsplit(|byte| *byte == b'/').next();
            let Some(name) =
                name.filter(|name| !name.is_empty() && *name != b"." && *name != b"..")
            else {
                continue;
            };
            let path = [&*target.text.bytes, b"/", name].concat();
            let path = Text::from_span(path, target.text.span);
            let class = self.path_of(&path, frame).class;
            if matches!(class, PathClass::Admits | PathClass::Critical) {
                self.own_path(Effect::Write, &path, frame, own);
            }
        }
    }

    /// Judges the value of an option or an operand.
    fn judge_value(
        &mut self,
        of: Valued,
        field: &Field<'_>,
        judged: &Judged<'_, '_>,
        frame: &mut Frame,
        own: &mut Own,
    ) {
        let Valued { owner, role, values } = of;
        own.has_code |= role.is_code();
        let bytes = &*field.text.bytes;
        let found = self.facts.values(values).find(|row| {
            let pattern = self.facts.text(row.pattern);
            matches(pattern, bytes)
        });
        // Where a value decides, others are declared too: `*` stands for them.
        let other = found.filter(|row| self.facts.text(row.pattern) == "*");
        if found.is_none() || other.is_some() {
            let worst = self.facts.values(values).map(|row| row.tier).max().unwrap_or_default();
            let (span, decides) = (field.text.span, worst >= Tier::Stateful && !role.is_path());
            if decides && !field.text.is_literal() {
                let reason = "this word decides and is not literal";
                own.hit(worst, span, Cause::Floor { floor: Floor::UnknownWord, reason });
            } else if decides && other.is_none() {
                self.floor(Floor::UnknownFlag, span, "no fact declares this value");
            }
        }
        let Some(row) = found else {
            return self.role(role, field, judged, frame, own);
        };
        let count = own.hits.len();
        own.hit(row.tier, field.text.span, Cause::Value(owner, row.id));
        self.written(own, count, owner, row.line);
        if let (Some(cap), Some(flag)) = (row.cap, own.flag) {
            own.cap(flag, Some(cap));
        }
        // A folder of the host stays one, whatever a value says of it.
        if role == Role::Mount && row.role != role {
            self.role(role, field, judged, frame, own);
        }
        if row.role == Role::Text && other.is_some() {
            self.role(role, field, judged, frame, own);
        } else if row.role != Role::Text {
            let pattern = self.facts.text(row.pattern);
            // A value of the role that all have is taken whole, unless its pattern names a key: it only says more about it.
            let taken = match pattern.strip_suffix('*') {
                Some(start) if row.role != role || start.ends_with('=') => taken(start, bytes),
                _ => 0,
            };
            let rest = Field { text: field.text.after(taken), ..field.clone() };
            self.role(row.role, &rest, judged, frame, own);
        }
    }

    /// Runs standard input as code.
    fn input_code(
        &mut self,
        role: Role,
        judged: &Judged<'_, '_>,
        frame: &mut Frame,
        own: &mut Own,
    ) {
        let span = judged.call.span;
        match &judged.input.content {
            Content::Literal(text) => {
                let field = Field::new((**text).clone());
                self.role(role, &field, judged, frame, own);
            }
            Content::Terminal => {
                let tier = self.rules.floors.tier(Floor::OpaqueCode);
                let reason = "it takes commands that the text does not show";
                own.hit(tier, span, Cause::Floor { floor: Floor::OpaqueCode, reason });
            }
            Content::File => self.floor(Floor::OpaqueCode, span, "it runs code from a file"),
            Content::Network => {
                self.hit(Tier::Irreversible, span, Cause::Shell("runs code from a network"));
            }
            Content::Opaque if !role.is_shell_code() => {
                self.floor(Floor::OpaqueCode, span, "it runs code that the text does not show");
            }
            Content::Opaque | Content::Made => {
                self.floor(Floor::UnknownWord, span, "it runs code that the text does not show");
            }
        }
    }

    /// Judges data that leaves the host.
    fn sends(&mut self, row: &NodeRow, judged: &Judged<'_, '_>, own: &mut Own) {
        let mut sends = own.sends;
        if row.has(NodeBit::Sends) {
            sends = Some(judged.call.span);
            own.secret |= judged.input.is_secret;
        }
        if let (Some(span), true) = (sends, own.secret) {
            own.hit(Tier::Irreversible, span, Cause::Shell("sends a secret over a network"));
        }
    }
}

/// Returns how much of a value a pattern takes that ends with `*`: up to what its last star stands for.
fn taken(start: &str, bytes: &[u8]) -> usize {
    match start.rsplit_once('*') {
        Some((_, last)) if !last.is_empty() => {
            let found = bytes.windows(last.len()).rposition(|part| part == last.as_bytes());
            found.map_or(0, |at| at + last.len())
        }
        Some(_) => 0,
        None => start.len(),
    }
}

/// Returns a program and its sub-commands as they were called; `None` if they are too long to be shown.
fn called(call: &Call<'_>, (name, words): (&Field<'_>, &[Field<'_>])) -> Option<Arc<str>> {
    let mut called = str::from_utf8(program_name(&name.text.bytes)).ok()?.to_owned();
    for sub in &call.subs {
        called.push(' ');
        called.push_str(str::from_utf8(&words.get(*sub)?.text.bytes).ok()?);
    }
    let is_plain = called.len() <= CALLED_BYTES_MAX
        && called.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    // A word that holds a blank would be taken for two.
    let is_split = called.bytes().filter(|byte| *byte == b' ').count() == call.subs.len();
    (is_plain && is_split).then(|| called.into())
}
