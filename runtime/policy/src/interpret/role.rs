//! Operands and values of options, by their role.

use std::net::Ipv6Addr;
use std::rc::Rc;

use super::machine::{Lookup, Machine, NESTING_MAX};
use super::output::formatted;
use super::own::{Own, Program};
use super::{arithmetic, code, each, mount, path, pinned, variables};
use crate::effect::{Act, Hidden, Sent, Touch, What};
use crate::facts::{NodeBit, Output, Role, Special};
use crate::language;
use crate::paths;
use crate::span::Span;
use crate::state::{Dialect, Frame};
use crate::value::{Content, Field, Mark, Stream, Text, TextBuilder, may_be_option};

/// The longest IPv6 address as text.
const IPV6_BYTES_MAX: usize = 45;

/// Interprets a value by its role.
pub(super) fn role(
    run: &mut Machine<'_>,
    role: Role,
    field: &Field<'_>,
    program: &Program<'_, '_>,
    own: &mut Own,
) {
    let text = &field.text;
    match role {
        Role::Text | Role::Folder | Role::Placeholder => {}
        // `-` means standard input or output.
        Role::Read | Role::Write | Role::Append if &*text.bytes == b"-" => {}
        Role::Read => read(run, field, own),
        Role::Write => {
            let folder = &own.frame.state.folder;
            own.written.push(paths::normalised(&text.bytes, folder, run.ground));
            path::own_path(run, Touch::Write, text, own);
        }
        Role::Append => path::own_path(run, Touch::Append, text, own),
        Role::Remove => path::own_path(run, Touch::Remove, text, own),
        Role::Empty => path::own_path(run, Touch::Empty, text, own),
        Role::Change => path::own_path(run, Touch::Change, text, own),
        Role::ChangeTree => path::own_path(run, Touch::ChangeTree, text, own),
        Role::Take => path::own_path(run, Touch::Take, text, own),
        Role::Script => script(run, field, program, own),
        Role::Config => config(run, text, own),
        Role::Shell => {
            let dialect = match program.node.special {
                Special::Shell => Dialect::of_shell(program.name),
                _ if program.node.has(NodeBit::Builtin) => own.frame.dialect,
                _ => Dialect::Other,
            };
            code::other(run, text, &Frame { dialect, ..own.frame.clone() }, program.input);
        }
        Role::RemoteShell => remote_shell(run, text, &own.frame),
        Role::Secret => own.secret = true,
        Role::Command
        | Role::EnvironmentCommand
        | Role::EachCommand
        | Role::EndedCommand
        | Role::ParallelCommand
        | Role::ShellWords => {
            each::words(run, role, std::slice::from_ref(field), program, own);
        }
        Role::Sql
        | Role::Sed
        | Role::Awk
        | Role::Crontab
        | Role::Python
        | Role::Perl
        | Role::Ruby
        | Role::Javascript
        | Role::Php
        | Role::Code => language(run, role, field, own),
        Role::Arithmetic => arithmetic::evaluate(run, text, &mut own.frame),
        Role::Name => name(run, text, program, &mut own.frame),
        Role::Environment => variables::environment(run, text, own),
        Role::Host => host(run, field, program, own),
        Role::Url => url(run, field, own),
        Role::RemoteRead => match remote(&text.bytes) {
            Some(host) => connects(run, host, text.span, own),
            None => read(run, field, own),
        },
        Role::RemoteWrite => match remote(&text.bytes) {
            Some(host) => {
                connects(run, host, text.span, own);
                own.sends = Some(text.span);
                own.sends(Sent::File, text.span);
            }
            None => path::own_path(run, Touch::Write, text, own),
        },
        Role::Send => send(run, field, program.input, own),
        Role::SendFile => {
            if &*text.bytes == b"-" {
                own.secret |= program.input.is_secret;
            } else {
                read(run, field, own);
            }
            own.sends = Some(text.span);
        }
        Role::Refspec => refspec(text, own),
        Role::Revision => revision(field, program, own),
        Role::Process => process(text, own),
        Role::Listen => listens(run, text, own),
        Role::Mount => mount::mount(run, text, own),
        Role::Mode => mode(text, own),
        Role::User => escalates(run, text, program, own),
    }
}

/// Interprets a configuration loaded from a file or a server.
fn config(run: &mut Machine<'_>, text: &Text<'_>, own: &mut Own) {
    if &*text.bytes == b"/dev/null" {
        return;
    }
    own.runs(Hidden::Opaque, text.span, "it loads another configuration");
    if text.bytes.starts_with(b"http://") || text.bytes.starts_with(b"https://") {
        connects(run, host_of(&text.bytes), text.span, own);
    }
}

fn read(run: &mut Machine<'_>, field: &Field<'_>, own: &mut Own) {
    if let Some(stream) = &field.stream {
        own.secret |= stream.is_secret;
        return;
    }
    let path = path::own_read(run, &field.text, own);
    own.secret |= path.is_secret;
    own.makes |= run.files.is_made(&path.bytes);
}

fn connects(run: &mut Machine<'_>, host: &[u8], span: Span, own: &mut Own) {
    let host = What::Connects(run.effects.value(host));
    own.add(host, span);
}

/// Adds that a program, and its command with it, takes the rights of a user.
pub(super) fn escalates(
    run: &mut Machine<'_>,
    user: &Text<'_>,
    program: &Program<'_, '_>,
    own: &mut Own,
) {
    let what = What::Escalates(run.effects.value(&user.bytes));
    run.effects.gives(program.id, what);
    own.add(what, user.span);
}

/// Adds that a program opens a port; the port is hidden unless the word is a path or holds a digit.
pub(super) fn listens(run: &mut Machine<'_>, port: &Text<'_>, own: &mut Own) {
    let address = port.bytes.split(|byte| *byte == b',').next().unwrap_or_default();
    let is_shown = address.iter().any(|byte| byte.is_ascii_digit() || *byte == b'/');
    let value = if is_shown { address } else { Mark::Hole.text() };
    let what = What::Listens(run.effects.value(value));
    own.add(what, port.span);
    if let Some(host) = forwarded(&port.bytes) {
        let what = What::Connects(run.effects.value(host));
        own.add(what, port.span);
    }
}

/// Returns the host of `PORT:HOST:PORT`, to which a port that is opened leads. ssh also takes `/` between the
/// parts.
fn forwarded(bytes: &[u8]) -> Option<&[u8]> {
    let has_slashes = bytes.first().is_some_and(u8::is_ascii_digit);
    // The file of options has a blank after the port.
    let is_end = |byte: &u8| matches!(*byte, b':' | b' ') || (has_slashes && *byte == b'/');
    let is_port = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let end = bytes.iter().rposition(is_end)?;
    if !is_port(bytes.get(end + 1..)?) {
        return None;
    }
    let before = bytes.get(..end)?;
    if before.ends_with(b"]") {
        let begin = before.iter().rposition(|byte| *byte == b'[').filter(|begin| *begin > 0)?;
        return before.get(begin..);
    }
    let begin = before.iter().rposition(is_end)?;
    before.get(begin + 1..).filter(|host| !host.is_empty() && !is_port(host))
}

/// Interprets a file of code.
fn script(run: &mut Machine<'_>, field: &Field<'_>, program: &Program<'_, '_>, own: &mut Own) {
    let bytes = &*field.text.bytes;
    let is_input = matches!(bytes, b"-" | b"/dev/stdin" | b"/dev/fd/0" | b"/proc/self/fd/0");
    let stream = match &field.stream {
        Some(stream) => Some((**stream).clone()),
        None if is_input => Some(program.input.clone()),
        None => None,
    };
    let language = match program.node.stdin {
        Role::Text => Role::Shell,
        language => language,
    };
    let span = field.text.span;
    let not_shown = "it runs code that the text does not show";
    match stream.map(|stream| stream.content) {
        Some(Content::Literal(text)) => {
            let field = Field::new((*text).clone());
            role(run, language, &field, program, own);
        }
        Some(Content::Network) => own.runs(Hidden::Network, span, "runs code from a network"),
        Some(Content::Opaque | Content::Made) => own.runs(Hidden::Made, span, not_shown),
        Some(Content::Terminal | Content::File) | None => {
            if bytes.starts_with(b"/dev/fd/") || bytes.starts_with(b"/proc/self/fd/") {
                let reason = "it runs code from a descriptor, which the text does not show";
                own.runs(Hidden::Made, span, reason);
            }
            let path = path::own_read(run, &field.text, own);
            if run.files.is_fetched(&path.bytes) {
                own.runs(Hidden::Network, span, "runs code from a network");
            }
            if run.files.is_made(&path.bytes) && run.files.made_texts(&path.bytes).is_empty() {
                let reason = "it runs code that the text makes and does not show";
                own.runs(Hidden::Made, span, reason);
            }
            for text in run.files.made_texts(&path.bytes) {
                let field = Field::new((*text).clone());
                role(run, language, &field, program, own);
            }
            own.runs(Hidden::Opaque, span, not_shown);
        }
    }
}

/// Interprets a remote shell: its words, with a host and a harmless command appended.
fn remote_shell(run: &mut Machine<'_>, text: &Text<'_>, frame: &Frame) {
    let mut code = TextBuilder::new(text.span);
    code.push_text(text);
    code.push_made(b" localhost true", text.span);
    let inner = Frame { dialect: Dialect::Other, ..frame.clone() };
    let mark = run.effects.mark();
    code::other(run, &code.finish(), &inner, &Stream::of(Content::Opaque));
    run.effects.forget_host(mark, b"localhost");
}

/// Interprets code of another language.
fn language(run: &mut Machine<'_>, role: Role, field: &Field<'_>, own: &mut Own) {
    let text = &field.text;
    own.makes |= role.is_shell_code();
    if text.has_hole() && role.is_shell_code() {
        own.runs(Hidden::Made, text.span, "this code is not literal");
    }
    if role == Role::Python {
        modules(run, text, own);
    }
    let findings = match role {
        Role::Sql => language::sql::findings(&text.bytes),
        Role::Sed => language::sed::findings(&text.bytes),
        Role::Awk => language::awk::findings(&text.bytes),
        Role::Crontab => language::crontab::findings(&text.bytes),
        _ => language::general::findings(role, &text.bytes, run.facts),
    };
    for finding in findings {
        let span = text.place(finding.start, finding.end);
        let part = || text.part(finding.start, finding.end);
        let inner = || Frame { dialect: Dialect::Other, ..own.frame.clone() };
        match finding.what {
            language::What::Does(act) => own.add(What::Does(act, Some(role)), span),
            language::What::Opaque(reason) => own.runs(Hidden::Opaque, span, reason),
            language::What::Unknown(reason) => own.runs(Hidden::Made, span, reason),
            language::What::Reads => reads(run, &part(), own),
            language::What::ReadsAny => {
                reads(run, &Text::from_span(Mark::Hole.text(), span), own);
            }
            language::What::Touches(touch) => path::own_path(run, touch, &part(), own),
            language::What::TouchesAny(touch) => {
                let any = Text::from_span(Mark::Hole.text(), span);
                path::own_path(run, touch, &any, own);
            }
            language::What::Shell => {
                code::other(run, &part(), &inner(), &Stream::default());
            }
            language::What::Fed => {
                code::other(run, &part(), &inner(), &Stream::of(Content::Opaque));
            }
            language::What::Words => {
                let words = quoted_words(&part());
                let mut inner = own.frame.clone();
                run.command(&words, &mut inner, &Stream::default(), Lookup::Any);
            }
        }
    }
}

/// Adds a file that code reads.
fn reads(run: &mut Machine<'_>, text: &Text<'_>, own: &mut Own) {
    own.secret |= path::own_read(run, text, own).is_secret;
}

/// Interprets the modules that code of Python imports and that the text writes or fetches: Python
/// searches the folder first.
fn modules(run: &mut Machine<'_>, code: &Text<'_>, own: &mut Own) {
    if own.frame.nesting >= NESTING_MAX {
        run.unparsed(code.span, "code is too deep in other code");
        return;
    }
    for module in language::general::imports(&code.bytes) {
        for file in [format!("{module}.py"), format!("{module}/__init__.py")] {
            let path = paths::normalised(file.as_bytes(), &own.frame.state.folder, run.ground);
            if run.files.is_fetched(&path) {
                own.runs(Hidden::Network, code.span, "runs code from a network");
            }
            for text in run.files.made_texts(&path) {
                own.frame.nesting += 1;
                language(run, Role::Python, &Field::new((*text).clone()), own);
                own.frame.nesting -= 1;
            }
            pinned::imports(run, path, code.span);
        }
    }
}

/// Interprets the name of a variable that a builtin sets or tests.
fn name(run: &mut Machine<'_>, text: &Text<'_>, program: &Program<'_, '_>, frame: &mut Frame) {
    let bytes = &*text.bytes;
    let value: Rc<[u8]> = match program.node.output {
        Output::Format => match formatted(program.call) {
            Some(text) => text.bytes.as_ref().into(),
            None => Mark::Made.text().into(),
        },
        _ => {
            let mut given = program.call.operands.iter().skip(2);
            let is_option = given.any(|field| may_be_option(&field.text.bytes));
            let mark = if is_option { Mark::Made } else { frame.state.parameters.mark() };
            mark.text().into()
        }
    };
    let end = bytes.iter().position(|byte| *byte == b'[').unwrap_or(bytes.len());
    match str::from_utf8(bytes.get(..end).unwrap_or(bytes)) {
        Ok(name) if !name.is_empty() => {
            variables::exported(run, name, text.span, false);
            variables::prompts(run, name, &value, text.span, frame);
            run.variables.assign(name, Rc::clone(&value));
            // `getopts` also sets `OPTARG`.
            run.variables.assign("OPTARG", value);
        }
        _ => run.variables.lose(),
    }
    if end < bytes.len() {
        arithmetic::evaluate(run, text, frame);
    }
}

fn host(run: &mut Machine<'_>, field: &Field<'_>, program: &Program<'_, '_>, own: &mut Own) {
    leaks(field, own);
    // Some options take a list.
    for named in field.text.bytes.split(|byte| *byte == b',') {
        // `::HOST:PORT` of curl is an address too, if the host has only the letters of one.
        if let Some(rest) = named.strip_prefix(b"::")
            && let Some(colon) = rest.iter().position(|byte| *byte == b':')
            && rest.get(colon + 1..).is_some_and(|port| port.iter().all(u8::is_ascii_digit))
        {
            let host = What::Connects(run.effects.value(rest.get(..colon).unwrap_or(rest)));
            own.add(host, field.text.span);
        }
        let host = What::Connects(run.effects.value(named_host(named)));
        run.effects.gives(program.id, host);
        own.add(host, field.text.span);
    }
}

fn url(run: &mut Machine<'_>, field: &Field<'_>, own: &mut Own) {
    let span = field.text.span;
    let bytes = &*field.text.bytes;
    if bytes.contains(&b' ') {
        // Load generators accept `URL POST data`.
        own.sends(Sent::Body, span);
    }
    let scheme = scheme_of(bytes);
    let rest = bytes.get(scheme..).unwrap_or(bytes);
    leaks(field, own);
    commands(field, scheme, own);
    if bytes.starts_with(b"file://") {
        own.secret |= path::own_read(run, &field.text.after(scheme), own).is_secret;
        return;
    }
    // A download that names no output gets the last part of the address.
    let path = rest
        .split(|byte| matches!(*byte, b'?' | b'#') || Mark::Query.is(*byte))
        .next()
        .unwrap_or(rest);
    if let Some(slash) = path.iter().rposition(|byte| *byte == b'/')
        && slash + 1 < path.len()
    {
        let name = path.get(slash + 1..).unwrap_or(&[]);
        let folder = &own.frame.state.folder;
        own.written.push(paths::normalised(name, folder, run.ground));
    }
    connects(run, host_of(bytes), span, own);
}

/// Returns the host of an argument: of `USER@HOST`, `HOST:PORT`, `SCHEME://HOST:PORT`, and the last one of
/// `HOST:PORT:OTHER:PORT`.
fn named_host(bytes: &[u8]) -> &[u8] {
    if scheme_of(bytes) > 0 {
        return host_of(bytes);
    }
    let host = bytes.rsplit(|byte| *byte == b'@').next().unwrap_or(bytes);
    if let Some(begin) = host.iter().rposition(|byte| *byte == b'[') {
        let rest = host.get(begin..).unwrap_or(host);
        let end = rest.iter().position(|byte| *byte == b']').map_or(rest.len(), |at| at + 1);
        return rest.get(..end).unwrap_or(rest);
    }
    // An address without brackets, perhaps after `HOST:PORT:`.
    let begins = host.iter().enumerate().filter(|(_, byte)| **byte == b':').map(|(at, _)| at + 1);
    let rests = [0].into_iter().chain(begins).filter_map(|begin| host.get(begin..));
    let mut addresses = rests.filter(|rest| is_ipv6(rest));
    if let Some(address) = addresses.next() {
        // A port before it looks like a part of it.
        return if address.len() < host.len() {
            addresses.next().unwrap_or(address)
        } else {
            address
        };
    }
    let is_port = |part: &&[u8]| part.iter().all(u8::is_ascii_digit);
    let named = host.rsplit(|byte| *byte == b':').find(|part| !is_port(part));
    named.filter(|_| host.contains(&b':')).unwrap_or(host)
}

/// Returns whether a text is an IPv6 address, perhaps with a zone.
fn is_ipv6(bytes: &[u8]) -> bool {
    let address = bytes.split(|byte| *byte == b'%').next().unwrap_or(bytes);
    // A longer one would make the work of a text quadratic.
    address.len() <= IPV6_BYTES_MAX
        && str::from_utf8(address).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok())
}

/// Returns the length of the scheme of a URL, `://` included.
fn scheme_of(bytes: &[u8]) -> usize {
    bytes.windows(3).position(|part| part == b"://").map_or(0, |at| at + 3)
}

/// Returns the host of a URL.
fn host_of(bytes: &[u8]) -> &[u8] {
    let scheme = scheme_of(bytes);
    let rest = bytes.get(scheme..).unwrap_or(bytes);
    // The brackets of an address may be a pattern for the shell.
    if Mark::Query.begins(rest) {
        return Mark::Hole.text();
    }
    let host = rest
        .split(|byte| matches!(*byte, b'/' | b'?' | b'#') || Mark::Query.is(*byte))
        .next()
        .unwrap_or(rest);
    let host = host.rsplit(|byte| *byte == b'@').next().unwrap_or(host);
    if host.starts_with(b"[") {
        let end = host.iter().position(|byte| *byte == b']').map_or(host.len(), |at| at + 1);
        return host.get(..end).unwrap_or(host);
    }
    host.split(|byte| *byte == b':').next().unwrap_or(host)
}

/// Adds the commands of URLs whose path is sent verbatim: `dict://HOST/COMMAND`,
/// `gopher://HOST/_COMMAND`.
fn commands(field: &Field<'_>, scheme: usize, own: &mut Own) {
    let span = field.text.span;
    let is_raw =
        [b"dict://".as_slice(), b"gopher://", b"gophers://", b"telnet://"].iter().any(|raw| {
            field.text.bytes.get(..scheme).is_some_and(|written| written.eq_ignore_ascii_case(raw))
        });
    if !is_raw {
        return;
    }
    own.does(Act::OpensConnection, span);
    let rest = field.text.bytes.get(scheme..).unwrap_or(&[]);
    let Some(slash) = rest.iter().position(|byte| *byte == b'/') else { return };
    let sent = decoded(rest.get(slash + 1..).unwrap_or(&[]));
    // The first letter of a path of gopher is its type; `:` separates the words of dict.
    for sent in [sent.as_slice(), sent.get(1..).unwrap_or(&[])] {
        let line: Vec<u8> =
            sent.iter().map(|byte| if *byte == b':' { b' ' } else { *byte }).collect();
        if let Some(act) = language::wire::act(&line) {
            own.does(act, span);
        }
    }
}

/// Returns a path with `%XX` decoded.
fn decoded(path: &[u8]) -> Vec<u8> {
    let mut written = Vec::with_capacity(path.len());
    let mut at = 0;
    while let Some(byte) = path.get(at).copied() {
        let digits = path.get(at + 1..at + 3).and_then(|digits| str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| byte == b'%')
        {
            Some(decoded) => {
                written.push(decoded);
                at += 3;
            }
            None => {
                written.push(byte);
                at += 1;
            }
        }
    }
    written
}

/// Adds secrets, and output of other commands, that a host receives. A credential in front of the
/// `@` of a host is its user, which is not a leak.
fn leaks(field: &Field<'_>, own: &mut Own) {
    let bytes = &field.text.bytes;
    let scheme = scheme_of(bytes);
    let rest = bytes.get(scheme..).unwrap_or(&[]);
    let authority = rest.split(|byte| matches!(*byte, b'/' | b'?' | b'#')).next().unwrap_or(rest);
    let user = authority.iter().rposition(|byte| *byte == b'@').unwrap_or(0);
    let seen = rest.get(user..).unwrap_or(rest);
    if Mark::Secret.is_in(bytes) || Mark::Credential.is_in(seen) {
        own.sends(Sent::Secret, field.text.span);
    } else if Mark::Output.is_in(bytes) {
        own.sends(Sent::Output, field.text.span);
    }
}

/// Adds data to send.
fn send(run: &mut Machine<'_>, field: &Field<'_>, input: &Stream, own: &mut Own) {
    own.sends = Some(field.text.span);
    own.secret |= Mark::Secret.is_in(&field.text.bytes);
    let bytes = &*field.text.bytes;
    let Some(at) = bytes.iter().position(|byte| *byte == b'@') else { return };
    let path = field.text.after(at + 1);
    if &*path.bytes == b"-" {
        own.secret |= input.is_secret;
    } else {
        own.secret |= path::own_read(run, &path, own).is_secret;
    }
}

/// Returns the host of `HOST:PATH`; `None` for a local path.
fn remote(bytes: &[u8]) -> Option<&[u8]> {
    let user = bytes.iter().position(|byte| *byte == b'@').map_or(0, |at| at + 1);
    for begin in [0, user] {
        let rest = bytes.get(begin..).unwrap_or_default();
        // The brackets of an address may be a pattern for the shell.
        if Mark::Query.begins(rest) && rest.contains(&b':') {
            return Some(Mark::Hole.text());
        }
        if rest.starts_with(b"[")
            && let Some(end) = rest.iter().position(|byte| *byte == b']')
            && rest.get(end + 1) == Some(&b':')
        {
            return rest.get(..=end);
        }
    }
    let colon = bytes.iter().position(|byte| *byte == b':')?;
    let host = bytes.get(..colon)?;
    if host.is_empty() || host.contains(&b'/') {
        return None;
    }
    let at = host.iter().rposition(|byte| *byte == b'@').map_or(0, |at| at + 1);
    host.get(at..)
}

fn refspec(text: &Text<'_>, own: &mut Own) {
    let act = match text.bytes.first() {
        Some(first) if *first == b'+' || Mark::Made.is(*first) => Act::RewritesHistory,
        Some(b':') => Act::DeletesRemote,
        _ => return,
    };
    own.does(act, text.span);
}

/// Interprets the operand of a checkout: a revision, or paths whose changes are dropped.
fn revision(field: &Field<'_>, program: &Program<'_, '_>, own: &mut Own) {
    let text = &field.text;
    let bytes = &*text.bytes;
    let is_path = program.call.dashes.is_some_and(|dashes| {
        let before = program.call.operands.get(..dashes).unwrap_or(&[]);
        !before.as_ptr_range().contains(&std::ptr::from_ref(field))
    });
    let is_folder = matches!(bytes, b"." | b"./" | b":/" | b"*" | b"..") || bytes.ends_with(b"/");
    let is_pattern = bytes.iter().any(|byte| *byte == b'*' || Mark::Star.is(*byte));
    let name = bytes.rsplit(|byte| *byte == b'/').next().unwrap_or(bytes);
    let extension = name.iter().rposition(|byte| *byte == b'.').and_then(|dot| name.get(dot + 1..));
    let is_file = extension.is_some_and(|extension| {
        (1..=5).contains(&extension.len()) && extension.iter().all(u8::is_ascii_alphabetic)
    });
    if is_folder || is_pattern {
        own.does(Act::DropsChanges, text.span);
    } else if is_path || is_file {
        own.does(Act::DropsFileChanges, text.span);
    }
}

fn process(text: &Text<'_>, own: &mut Own) {
    let act = match &*text.bytes {
        b"-1" => Act::EndsEveryProcess,
        b"1" => Act::EndsFirstProcess,
        [first, ..] if Mark::Made.is(*first) => Act::EndsHiddenProcesses,
        _ => return,
    };
    own.does(act, text.span);
}

fn mode(text: &Text<'_>, own: &mut Own) {
    let bytes = &*text.bytes;
    if Mark::Made.is_in(bytes) {
        own.does(Act::HidesMode, text.span);
    }
    let is_octal = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
    let gives = if is_octal {
        bytes.len() >= 4 && matches!(bytes.get(bytes.len() - 4), Some(b'2'..=b'7'))
    } else {
        bytes.split(|byte| *byte == b',').any(|clause| {
            let sign = clause.iter().position(|byte| matches!(byte, b'+' | b'='));
            sign.is_some_and(|at| clause.get(at..).unwrap_or(&[]).contains(&b's'))
        })
    };
    if gives {
        let act = Act::GivesRights;
        own.does(act, text.span);
    }
}

/// Returns the quoted texts as words.
fn quoted_words<'t>(text: &Text<'t>) -> Vec<Field<'t>> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.bytes.get(at).copied() {
        at += 1;
        if !matches!(byte, b'\'' | b'"') {
            continue;
        }
        let rest = text.bytes.get(at..).unwrap_or(&[]);
        let length = rest.iter().position(|other| *other == byte).unwrap_or(rest.len());
        words.push(Field::new(text.part(at, at + length)));
        at += length + 1;
    }
    words
}
