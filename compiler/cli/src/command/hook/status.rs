//! `relay hook status`: for each client, whether relay decides about its tools.

mod human;
mod records;
mod state;

use std::path::{Path, PathBuf};

use relay_hook::{Machine, OsUser, read_machine_file};

use super::{bundle, versions};
use crate::answer::FORMAT_VERSION;
use crate::args::{AnswerFormat, HookStatusArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hook::{
    Found, Part, Place, Scope, Setup, TARGETS, Target, Version, hook_program, machine_path, read,
    switched_off,
};
use crate::output::Output;
use crate::text::shown_path;

use records::Records;
use state::{ClientStatus, Installed, MachineStatus, State};

pub(crate) use state::HookStatus;

pub(super) fn run(arguments: &HookStatusArgs, output: &mut Output) -> Result<Exit, Failure> {
    let place = Place::find(arguments.place.root.as_deref())?;
    let config = match machine_path(&place, Scope::Managed, None)? {
        of_all if of_all.exists() => of_all,
        _ => machine_path(&place, Scope::User, arguments.config.as_deref())?,
    };
    let (machine, machine_status, mut unreadable) = machine(&config)?;
    let records = machine.as_ref().map(|machine| Records::read(&machine.audit));
    let records = records.transpose().unwrap_or_else(|failure| {
        unreadable |= matches!(failure, Failure::Stopped { .. });
        None
    });
    let context = Context {
        place: &place,
        program: hook_program(arguments.place.any_program),
        grants: machine.is_some_and(|machine| machine.file.allow == relay_hook::Allow::Grant),
        records: records.unwrap_or_default(),
    };
    let versions = versions::of_all(&TARGETS);
    let clients: Vec<ClientStatus> = TARGETS
        .into_iter()
        .zip(versions)
        .map(|(target, version)| context.client(target, version))
        .collect();
    let worst = clients.iter().map(|client| client.state).max().unwrap_or(State::Absent);
    let state = match (worst, machine_status.faults.is_empty()) {
        (State::Absent, _) => State::Absent,
        _ if unreadable => State::Unknown,
        (worst, true) => worst,
        (worst, false) => worst.max(State::Faulty),
    };
    let status =
        HookStatus { format_version: FORMAT_VERSION, state, machine: machine_status, clients };
    match arguments.format.chosen() {
        AnswerFormat::Json => output.json(&status)?,
        AnswerFormat::Human => human::print(&status, output)?,
    }
    Ok(match state {
        State::Well => Exit::Yes,
        State::Absent | State::Faulty => Exit::No,
        State::Unknown => Exit::Failed,
    })
}

/// Returns the machine file, its state, and whether something was unreadable.
fn machine(path: &Path) -> Result<(Option<Machine>, MachineStatus, bool), Failure> {
    let mut status =
        MachineStatus { path: shown_path(path), exists: path.exists(), ..MachineStatus::default() };
    let user = OsUser::current();
    let machine = match read_machine_file(path, &user) {
        Ok(machine) => machine,
        Err(error) => {
            status.faults.push(error.to_string());
            return Ok((None, status, false));
        }
    };
    status.valid = true;
    status.principal = Some(machine.principal.clone());
    status.allow = Some(match machine.file.allow {
        relay_hook::Allow::Delegate => "delegate",
        relay_hook::Allow::Grant => "grant",
    });
    status.audit = Some(shown_path(&machine.audit));
    status.bundle = Some(shown_path(&machine.file.bundle));
    let checked = match bundle::check(&machine.file, &user) {
        Ok(checked) => checked,
        Err(failure) => {
            if let Failure::Stopped { message, .. } = failure {
                status.faults.push(message);
            }
            return Ok((Some(machine), status, true));
        }
    };
    status.trusted = Some(checked.untrusted.is_none());
    status.project = Some(checked.project);
    status.digest = Some(checked.digest);
    status.epoch = Some(checked.epoch);
    let untrusted = checked.untrusted.map(|reason| format!("the bundle is not trusted: {reason}"));
    let policy =
        (!checked.has_policy).then(|| "the bundle has no policy, so it decides nothing".to_owned());
    let no_place = checked.no_place.map(|reason| format!("the caller has no place: {reason}"));
    status.faults.extend([untrusted, policy, no_place].into_iter().flatten());
    Ok((Some(machine), status, false))
}

/// The sources of the states of clients.
struct Context<'c> {
    place: &'c Place,
    program: Result<PathBuf, Failure>,
    grants: bool,
    records: Records,
}

impl Context<'_> {
    fn client(&self, target: &'static Target, version: Option<Version>) -> ClientStatus {
        let mut status = ClientStatus {
            client: target.name,
            title: target.title(),
            state: State::Absent,
            installed: Vec::new(),
            version: version.map(|version| version.to_string()),
            is_tried: target.is_tried,
            known_from: target.client().map_or("", |client| client.version),
            is_new_enough: target
                .oldest
                .and_then(|(oldest, _)| version.map(|version| version >= oldest)),
            trusted: None,
            other_hooks: 0,
            last_record: self.records.last(target.name),
            unknown_tools: self.records.unknown_tools(target),
            stays_open: target.stays_open,
            faults: Vec::new(),
        };
        let mut is_unknown = false;
        for scope in [Scope::User, Scope::Project, Scope::Managed] {
            for part in target.parts(&self.setup(scope, version, None)) {
                match self.part(target, version, scope, &part, &mut status) {
                    Ok(()) => {}
                    Err(reason) => {
                        is_unknown = true;
                        status.faults.push(format!("`{}`: {reason}", shown_path(&part.path)));
                    }
                }
            }
        }
        if status.installed.is_empty() && status.faults.is_empty() {
            return status;
        }
        self.judge(target, version, &mut status);
        status.state = match (is_unknown, status.faults.is_empty()) {
            (true, _) => State::Unknown,
            (false, false) => State::Faulty,
            (false, true) => State::Well,
        };
        status
    }

    fn setup(&self, scope: Scope, version: Option<Version>, found: Option<&Found>) -> Setup<'_> {
        let of_found = found.and_then(Found::program).unwrap_or_default();
        Setup {
            place: self.place,
            scope,
            program: self.program.as_ref().map_or(of_found, Clone::clone),
            config: found.and_then(Found::config).unwrap_or_default(),
            grants: self.grants,
            version,
        }
    }

    /// Adds a file to the state, if relay is installed in it.
    fn part(
        &self,
        target: &'static Target,
        version: Option<Version>,
        scope: Scope,
        part: &Part,
        status: &mut ClientStatus,
    ) -> Result<(), String> {
        let text = read(&part.path).map_err(|failure| match failure {
            Failure::Stopped { message, .. } => message,
            Failure::ClosedPipe => String::new(),
        })?;
        let Some(text) = text else { return Ok(()) };
        status.other_hooks += part.others(&text, target.before);
        let own = part.own(&text)?;
        let Some((_, found)) = own.iter().find(|(event, _)| event == target.before) else {
            if !own.is_empty() {
                status.faults.push(format!(
                    "`{}` runs relay, but not before each tool: install it again",
                    shown_path(&part.path)
                ));
            }
            return Ok(());
        };
        let differs = !target.is_current(&self.setup(scope, version, Some(found)), part, &text);
        if differs {
            status.faults.push(format!(
                "`{}` is not as `relay hook install` would write it: install it again",
                shown_path(&part.path)
            ));
        }
        if let Some(program) = found.program().filter(|program| !program.is_file()) {
            status.faults.push(format!("`{}` is missing", shown_path(program)));
        }
        if let Some(is_trusted) = target.is_trusted {
            let trusted = is_trusted(self.place, part, &text);
            status.trusted = Some(status.trusted.unwrap_or(true) && trusted);
        }
        let path = shown_path(&part.path);
        status.installed.push(Installed { scope: scope.word(), path, differs });
        Ok(())
    }

    /// Adds the faults of an installed client.
    fn judge(&self, target: &Target, version: Option<Version>, status: &mut ClientStatus) {
        if let Err(Failure::Stopped { message, .. }) = &self.program {
            status.faults.push(message.clone());
        }
        if status.trusted == Some(false) {
            status.faults.push((target.afterwards)(Scope::User).to_owned());
        }
        if let (Some((oldest, why)), Some(false)) = (target.oldest, status.is_new_enough) {
            status.faults.push(format!("{oldest} or newer is needed: {why}"));
        }
        if let (Some((first, why)), Some(version)) = (target.too_new, version)
            && version >= first
        {
            status.faults.push(format!("{version} is not guarded: {why}"));
        }
        // Managed hooks hold against settings of others, where the client says so.
        let is_managed = status.installed.iter().any(|it| it.scope == Scope::Managed.word());
        if !is_managed {
            status.faults.extend(switched_off(&target.switches(self.place)));
        }
    }
}
