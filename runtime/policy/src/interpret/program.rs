//! A program with its words -> its effects and its output.

use super::builtin;
use super::each;
use super::machine::{Machine, WRAPPERS_MAX};
use super::operand::{self, Valued};
use super::output;
use super::own::{Own, Program, describe};
use super::{mount, path, project, role, variables};
use crate::effect::{CallId, Cap, Fact, Hidden, Sent, TYPED, Touch, What};
use crate::facts::{
    FormRow, NameList, NodeBit, NodeRow, Output, Role, Special, matches, program_name,
};
use crate::invocation::{self, Invocation};
use crate::language;
use crate::state::{Folder, Frame, Parameters};
use crate::tier::Floor;
use crate::value::{Content, Field, Mark, Stream, Text};

/// The variable that ends options at the first operand.
const OPTIONS_FIRST: &str = "POSIXLY_CORRECT";

/// Interprets a described program.
pub(super) fn program(
    run: &mut Machine<'_>,
    (id, node): (CallId, NodeRow),
    (name, words): (&Field<'_>, &[Field<'_>]),
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    let is_posix = run.variables.is_assigned(OPTIONS_FIRST);
    let place = (name.text.span, words);
    let call = invocation::read(node, place, is_posix, (run.facts, &mut run.fuel));
    describe(run, id, &call, words);
    let output = match call.chain.last().copied() {
        Some(node) => {
            let name = program_name(&name.text.bytes);
            let program = Program { id, node, name, words, call: &call, input };
            run.within(id, |run| interpret(run, &program, frame))
        }
        None => Stream::default(),
    };
    // The word after an unknown option may be its value, so the words after it have a second
    // reading.
    if let Some(at) = call.doubt
        && at < words.len()
        && takes_code(run, &call)
        && frame.wrappers < WRAPPERS_MAX
    {
        let mut rest = words.to_vec();
        rest.drain(at - 1..=at);
        let mut inner = Frame { wrappers: frame.wrappers + 4, ..frame.clone() };
        let again = run.effects.begin(&name.text.bytes, name.text.span);
        program(run, (again, node), (name, &rest), &mut inner, input);
    }
    output
}

/// Returns whether a program runs code from its words, so that their roles matter.
fn takes_code(run: &Machine<'_>, call: &Invocation<'_>) -> bool {
    call.chain.iter().any(|row| {
        row.has_subs() || run.facts.operands(row.operands).any(|operand| operand.role.is_code())
    })
}

/// Interprets a call of a program.
fn interpret(run: &mut Machine<'_>, program: &Program<'_, '_>, frame: &mut Frame) -> Stream {
    let Program { node: row, call, input, .. } = *program;
    variables::exports_reach(run, &row);
    run.takes_input |=
        !row.has(NodeBit::Builtin) || matches!(row.special, Special::Read | Special::ReadLines);
    let form = if call.is_lost { None } else { form(run, &row, call) };
    let mut own = Own::new(frame.clone());
    folders(run, call, &mut own.frame);
    for (what, span) in &call.doubts {
        own.add(*what, *span);
    }
    if !call.is_lost {
        base(form.as_ref(), program, &mut own);
    }
    if row.special == Special::Nothing {
        own.frame.wrappers += 1;
        // Code that a program runs has parameters of its own.
        own.frame.state.parameters = Parameters::Outside;
        own.frame.zero = None;
    }
    for at in 0..call.given.len() {
        given(run, program, at, form.as_ref(), &mut own);
    }
    own.flag = None;
    let mark = (run.effects.mark(), own.effects.len());
    let mut output = match builtin::of(row.special) {
        Some(builtin) => builtin(run, program, frame, &mut own),
        None => None,
    };
    if !call.is_lost && row.special == Special::Nothing {
        let rows = match &form {
            Some(form) if !form.operands.is_empty() => form.operands,
            _ => row.operands,
        };
        let ran = operand::all(run, rows, program, &mut own);
        output = output.or(ran);
    }
    project::runs(run, program, &mut own);
    defaults(run, form.as_ref(), program, &mut own);
    mount::written(run, call, mark, &mut own);
    writes(run, form.as_ref(), program, &mut own);
    let stdin = form.and_then(|form| form.stdin).unwrap_or(row.stdin);
    if stdin != Role::Text && !own.has_code && !call.is_lost {
        if let Some(parameters) = own.parameters.take() {
            own.frame.state.parameters = parameters;
        }
        input_code(run, stdin, program, &mut own);
    }
    sends(run, program, &mut own);
    let is_sent =
        own.effects.iter().any(|effect| matches!(effect.what, What::Connects(_) | What::Sends(_)));
    let is_remote = |row: &NodeRow| row.output == Output::Network || row.has(NodeBit::Sends);
    if is_sent || call.chain.iter().any(is_remote) {
        words_leave(call, &mut own);
    }
    if row.output == Output::Network {
        own.written.drain(..).for_each(|path| run.files.fetch(path));
    } else {
        own.written.drain(..).for_each(|path| run.files.make(path, input, false));
    }
    let (makes, secret) = (own.makes, own.secret);
    let is_undone = is_undone(run, call);
    own.end(run, program, is_undone);
    let kind = form.and_then(|form| form.output).unwrap_or(row.output);
    let mut stream = match output {
        // The output of its command is its own output.
        Some(stream) => stream,
        None if !output::decodes(run, kind, call, input) => Stream::of(Content::Opaque),
        None => output::of(run, kind, program, makes, frame),
    };
    stream.is_secret |= secret;
    stream
}

/// Adds the effects of a program that are the same for all options.
fn base(form: Option<&FormRow>, program: &Program<'_, '_>, own: &mut Own) {
    let (row, span) = (program.node, program.call.span);
    let count = own.effects.len();
    match form {
        Some(form) => {
            if form.acts() {
                own.add(What::Declared(Fact::Form(row.id, form.id)), span);
            }
            own.says(count, row.id, form.line);
        }
        None if row.is_judged() => {
            if row.acts() {
                own.add(What::Declared(Fact::Program(row.id)), span);
            }
            own.says(count, row.id, row.line);
        }
        None => {
            let reason = "the facts of this program are not read yet";
            own.doubt(Floor::UnknownProgram, span, reason);
        }
    }
}

/// Adds the default user and port of a program, used unless an option names another.
fn defaults(
    run: &mut Machine<'_>,
    form: Option<&FormRow>,
    program: &Program<'_, '_>,
    own: &mut Own,
) {
    let (row, span) = (program.node, program.call.span);
    let count = own.effects.len();
    let has = |is: fn(&What) -> bool| own.effects.iter().any(|effect| is(&effect.what));
    // A form that only reads checks a configuration or prints a page.
    let is_quiet = form.is_some_and(|form| !form.acts());
    let listens =
        row.has(NodeBit::Listens) && !is_quiet && !has(|what| matches!(what, What::Listens(_)));
    let user = run.facts.text(row.user);
    let escalates = !user.is_empty() && !has(|what| matches!(what, What::Escalates(_)));
    if listens {
        role::listens(run, &Text::from_span(Mark::Hole.text(), span), own);
    }
    if escalates {
        role::escalates(run, &Text::from_span(user.as_bytes(), span), program, own);
    }
    own.says(count, row.id, row.line);
}

/// Adds the file that a program writes by default.
fn writes(run: &mut Machine<'_>, form: Option<&FormRow>, program: &Program<'_, '_>, own: &mut Own) {
    let row = program.node;
    let (writes, line) = match form {
        Some(form) if form.writes != 0 => (form.writes, form.line),
        Some(form) => (row.writes, form.line),
        None => (row.writes, row.line),
    };
    let writes = run.facts.text(writes);
    if !writes.is_empty() {
        let path = Text::from_span(writes.as_bytes().to_vec(), program.call.span);
        let count = own.effects.len();
        path::own_path(run, Touch::Write, &path, own);
        own.says(count, row.id, line);
    }
}

/// Returns the first form whose conditions certainly hold.
fn form(run: &Machine<'_>, row: &NodeRow, call: &Invocation<'_>) -> Option<FormRow> {
    run.facts.forms(row).find(|form| holds(run, form, call))
}

fn holds(run: &Machine<'_>, form: &FormRow, call: &Invocation<'_>) -> bool {
    let is_given = |list: NameList| {
        let mut names = call.given.iter().filter_map(|given| given.name);
        names.any(|name| run.facts.lists(list, name))
    };
    let is_on = |list: NameList| {
        let given = call.given.iter().filter(|given| !given.is_off);
        let mut names = given.filter(|given| given.is_whole || !call.is_posix);
        names.any(|given| given.name.is_some_and(|name| run.facts.lists(list, name)))
    };
    if !form.has.is_empty() && !is_on(form.has) {
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
            let mut patterns = run.facts.texts(form.matching);
            patterns.any(|pattern| matches(pattern, &field.text.bytes))
        })
}

/// Enters the folders named by options.
fn folders(run: &mut Machine<'_>, call: &Invocation<'_>, frame: &mut Frame) {
    for given in &call.given {
        if given.flag.role == Role::Folder
            && let Some(value) = &given.value
        {
            frame.state.folder = path::enter(run, &value.text, &frame.state.folder);
        }
    }
}

/// Interprets an option.
fn given(
    run: &mut Machine<'_>,
    program: &Program<'_, '_>,
    at: usize,
    form: Option<&FormRow>,
    own: &mut Own,
) {
    let Some(given) = program.call.given.get(at) else { return };
    let row = given.flag;
    let count = own.effects.len();
    let changed = match (form, given.name) {
        (Some(form), Some(name)) => run.facts.form_role(form, name),
        _ => None,
    };
    // A role from the form replaces all other effects of the option.
    if let (Some(name), None) = (given.name, changed)
        && row.acts()
        && !(given.is_off && given.is_whole)
    {
        own.add(What::Declared(Fact::Flag(given.owner, row.id, name)), given.span);
    }
    own.flag = Some(row.id);
    let cap = match given.name {
        Some(_) => Cap::Flag(row.id),
        None => Cap::Help,
    };
    let is_capped = row.cap.is_some() && given.is_whole && !given.is_off;
    own.cap(row.id, Some(cap).filter(|_| is_capped));
    own.says(count, given.owner, row.line);
    if row.role == Role::EndedCommand {
        own.has_code = true;
        let outer = own.frame.state.folder.clone();
        if given.name.is_some_and(|name| run.facts.name(name).ends_with("dir")) {
            own.frame.state.folder = Folder::Unknown;
        }
        each::each(run, &given.words, None, program, &own.frame);
        own.frame.state.folder = outer;
        return;
    }
    let role = changed.unwrap_or(row.role);
    let Some(value) = &given.value else {
        if role == Role::Listen {
            let hidden = Text::from_span(Mark::Hole.text(), given.span);
            role::listens(run, &hidden, own);
            own.says(count, given.owner, row.line);
        }
        return;
    };
    let of = Valued { owner: given.owner, role, values: row.values };
    operand::value(run, of, value, program, own);
    if role == Role::Config || role.is_shell_code() {
        own.loads.push(value.text.span);
    }
    if matches!(role, Role::Script | Role::Shell | Role::Command | Role::Config) {
        own.runs.push(value.text.span);
    }
    own.says(count, given.owner, row.line);
}

/// Returns whether words of a call may undo its caps: `--no-dry-run`, `--dry-run false`, `SHELL=…`
/// for a `make` whose dry run still runs some lines, or an unknown option.
fn is_undone(run: &Machine<'_>, call: &Invocation<'_>) -> bool {
    let is_capped = call.given.iter().any(|given| given.flag.cap.is_some());
    let names_program = || {
        let mut words = call.operands.iter().filter_map(|field| {
            let name = field.text.bytes.split(|byte| *byte == b'=').next()?;
            (name.len() < field.text.bytes.len()).then_some(name)
        });
        words.any(|name| str::from_utf8(name).is_ok_and(variables::changes_code))
    };
    let has_no = || call.operands.iter().any(|field| &*field.text.bytes == b"false");
    let is_negated = |name: String| {
        let name = name.strip_prefix("--no-").map(|name| format!("--{name}"));
        let name = name.and_then(|name| run.facts.name_id(name.as_bytes()));
        name.is_some_and(|name| {
            call.given.iter().any(|given| given.name == Some(name) && given.flag.cap.is_some())
        })
    };
    let has_negated = || {
        let names = call.given.iter().filter_map(|given| given.name);
        names.map(|name| run.facts.name(name)).any(is_negated)
    };
    let has_off = || call.given.iter().any(|given| given.is_off && given.flag.cap.is_some());
    is_capped && (call.has_unknown || has_no() || has_off() || has_negated() || names_program())
}

/// Runs standard input as code.
fn input_code(run: &mut Machine<'_>, role: Role, program: &Program<'_, '_>, own: &mut Own) {
    let span = program.call.span;
    let not_shown = "it runs code that the text does not show";
    match &program.input.content {
        Content::Literal(text) => {
            let field = Field::new((**text).clone());
            role::role(run, role, &field, program, own);
        }
        Content::Terminal => {
            own.runs(Hidden::Opaque, span, TYPED);
        }
        Content::File => own.runs(Hidden::Opaque, span, "it runs code from a file"),
        Content::Network => own.runs(Hidden::Network, span, "runs code from a network"),
        Content::Opaque if !role.is_shell_code() => own.runs(Hidden::Opaque, span, not_shown),
        Content::Opaque | Content::Made => own.runs(Hidden::Made, span, not_shown),
    }
}

/// Adds secrets in the words of a program that sends them to a remote.
fn words_leave(call: &Invocation<'_>, own: &mut Own) {
    let values = call.given.iter().filter_map(|given| given.value.as_ref());
    let words = values.chain(&call.operands);
    for field in words.filter(|field| Mark::Secret.is_in(&field.text.bytes)) {
        own.sends(Sent::Secret, field.text.span);
    }
}

/// Adds the requests on the standard input of a program that only forwards it to a host.
fn by_hand(run: &Machine<'_>, program: &Program<'_, '_>, own: &mut Own) {
    let row = program.node;
    // An address of `socat` may listen.
    let is_end = |values| run.facts.values(values).any(|value| value.role == Role::Listen);
    let mut operands = run.facts.operands(row.operands);
    let is_raw = row.output == Output::Network
        && (program.call.given.iter().any(|given| given.flag.role == Role::Host)
            || operands.any(|operand| operand.role == Role::Host || is_end(operand.values)));
    match &program.input.content {
        Content::Literal(text) if is_raw => {
            own.secret |= Mark::Credential.is_in(&text.bytes);
            if let Some(act) = language::wire::act(&text.bytes) {
                own.does(act, program.call.span);
            }
        }
        Content::Made if is_raw => own.sends(Sent::Output, program.call.span),
        _ => {}
    }
}

/// Adds data sent to other hosts.
fn sends(run: &Machine<'_>, program: &Program<'_, '_>, own: &mut Own) {
    let mut sends = own.sends;
    if program.node.has(NodeBit::Sends) {
        sends = Some(program.call.span);
        own.secret |= program.input.is_secret;
        by_hand(run, program, own);
    }
    if let Some(span) = sends {
        own.sends(if own.secret { Sent::Secret } else { Sent::Data }, span);
    }
}
