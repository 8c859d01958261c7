//! `relay hook install`: writes the machine file, and relay's entries into a client's own files.

use std::fs;

use relay_hook::read_machine_file;

use super::{bundle, versions};
use crate::args::{HookInstallArgs, ScopeName};
use crate::environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hook::{
    Change, MachineChange, Part, Place, Scope, Setup, TARGETS, Target, Version, Wanted,
    hook_program, is_own_machine_file, machine_path, read, restored, switched_off, target,
};
use crate::output::{Output, bold};
use crate::text::{shown_path, wrapped};

/// The changes of an installation, and the facts about it.
struct Plan<'p> {
    target: &'static Target,
    setup: Setup<'p>,
    changes: Vec<Change>,
}

pub(super) fn run(arguments: &HookInstallArgs, output: &mut Output) -> Result<Exit, Failure> {
    let target = target(&arguments.client)?;
    let place = Place::find(arguments.place.root.as_deref())?;
    warn_of_other_home(arguments, &place, output);
    if arguments.remove {
        return remove(arguments, target, &place, output);
    }
    let plan = plan(arguments, target, &place, output)?;
    if arguments.dry_run {
        print_changes(&plan.changes, output)?;
        return Ok(Exit::Yes);
    }
    for change in &plan.changes {
        write(change, output)?;
    }
    if !plan.changes.iter().any(Change::is_change) {
        output.result(format_args!("{}: nothing to change\n", target.title()))?;
    }
    check_machine_file(&plan.setup)?;
    report(&plan, output)?;
    Ok(Exit::Yes)
}

/// Reads the machine file as `relay-hook` does, which looks at owners and modes too.
fn check_machine_file(setup: &Setup<'_>) -> Result<(), Failure> {
    let read = read_machine_file(&setup.config, setup.place.user());
    read.map(drop).map_err(|error| {
        Failure::error(format!("every call would be denied: {error}"))
            .help("correct it, then run `relay hook test` for the client")
    })
}

/// Makes a change and prints it.
fn write(change: &Change, output: &mut Output) -> Result<(), Failure> {
    if !change.is_change() {
        return Ok(());
    }
    let had_backup = change.backup().exists();
    change.write()?;
    let path = shown_path(&change.path);
    let done = match (&change.old, &change.new) {
        (None, _) => format!("wrote   {path}\n"),
        (Some(_), None) => format!("removed {path}\n"),
        (Some(_), Some(_)) if !had_backup && change.backup().exists() => {
            format!("changed {path}, and kept a copy: {}\n", shown_path(change.backup()))
        }
        (Some(_), Some(_)) => format!("changed {path}\n"),
    };
    output.result(done)
}

fn print_changes(changes: &[Change], output: &mut Output) -> Result<(), Failure> {
    for change in changes.iter().filter(|change| change.is_change()) {
        output.text(change.diff().trim_end_matches('\n'))?;
    }
    if !changes.iter().any(Change::is_change) {
        output.note("nothing to change");
    }
    Ok(())
}

/// Prepares an installation; nothing is written.
fn plan<'p>(
    arguments: &HookInstallArgs,
    target: &'static Target,
    place: &'p Place,
    output: &mut Output,
) -> Result<Plan<'p>, Failure> {
    let scope = scope_of(arguments);
    let program = hook_program(arguments.place.any_program)?;
    let config = machine_path(place, scope, arguments.config.as_deref())?;
    let wanted = Wanted {
        bundle: arguments.bundle.clone(),
        trust: arguments.trust.clone(),
        principal: arguments.principal.clone(),
        tenant: arguments.tenant.clone(),
        groups: arguments.group.clone(),
        role: arguments.role.clone(),
    };
    let machine = prepare_machine(place, scope, &config, &wanted, arguments)?;
    check_bundle(&machine, place, output)?;
    let version = versions::of(target);
    check_version(target, version, output)?;
    let grants = machine.file.allow == relay_hook::Allow::Grant;
    let setup = Setup { place, scope, program, config, grants, version };
    let mut changes = vec![machine.change];
    for part in parts(target, &setup)? {
        let mut change = change_of(&part, place, scope)?;
        let text = change.old.as_deref().unwrap_or_default();
        // Only a text free of relay's entries is the file before relay came in.
        change.keeps_copy = part.own(text).is_ok_and(|own| own.is_empty());
        let is_current =
            change.old.as_deref().is_some_and(|old| target.is_current(&setup, &part, old));
        if !is_current {
            let new = part.installed(change.old.as_deref());
            change.new = Some(new.map_err(|reason| unusable(&part, &reason))?);
        }
        changes.push(change);
    }
    Ok(Plan { target, setup, changes })
}

fn prepare_machine(
    place: &Place,
    scope: Scope,
    config: &std::path::Path,
    wanted: &Wanted,
    arguments: &HookInstallArgs,
) -> Result<MachineChange, Failure> {
    // The file of all users is of the system, whichever files a client is installed in; and a file that
    // the command line names may be anywhere.
    let of_all = machine_path(place, Scope::Managed, None)?;
    let (scope, base) = if config == of_all {
        (Scope::Managed, place.base(Scope::Managed))
    } else if arguments.config.is_some() {
        (scope, crate::disk::folder_of(config))
    } else {
        (Scope::User, place.base(Scope::User))
    };
    MachineChange::prepare(config, &base, scope, wanted)
}

fn scope_of(arguments: &HookInstallArgs) -> Scope {
    match (arguments.managed, arguments.scope) {
        (true, _) => Scope::Managed,
        (false, ScopeName::User) => Scope::User,
        (false, ScopeName::Project) => Scope::Project,
    }
}

/// Returns the files of a client in a scope.
fn parts(target: &Target, setup: &Setup<'_>) -> Result<Vec<Part>, Failure> {
    let parts = target.parts(setup);
    if parts.is_empty() {
        return Err(Failure::error(format!(
            "{} has no {} files for hooks",
            target.title(),
            setup.scope.word()
        ))
        .help("install it for the user: leave `--managed` out"));
    }
    Ok(parts)
}

fn change_of(part: &Part, place: &Place, scope: Scope) -> Result<Change, Failure> {
    let change = Change::of(&part.path, &place.base(scope), scope)?;
    Ok(if part.is_program() { change.program() } else { change })
}

fn unusable(part: &Part, reason: &str) -> Failure {
    Failure::error(format!("cannot change `{}`: {reason}", shown_path(&part.path)))
        .help("nothing was changed; correct the file and run the command again")
}

/// Refuses a bundle that `relay-hook` would refuse, since every call would then be denied, and warns of
/// one that decides nothing.
fn check_bundle(
    machine: &MachineChange,
    place: &Place,
    output: &mut Output,
) -> Result<(), Failure> {
    let file = &machine.file;
    let checked = bundle::check(file, place.user())?;
    let path = shown_path(&file.bundle);
    if let Some(reason) = checked.untrusted {
        return Err(Failure::no(format!(
            "the bundle `{path}` is not trusted, and every call would be denied: {reason}"
        ))
        .help("`relay verify BUNDLE --trust FILE` says which signatures count"));
    }
    if !checked.has_policy {
        output.warn(
            &format!("the bundle `{path}` has no policy, so no call of a tool is decided by one"),
            "add `policy use=workstation` to the project and build it again",
        );
    }
    if let Some(reason) = checked.no_place {
        output.warn(
            &format!("the bundle `{path}` gives this caller no place, and every call will be denied: {reason}"),
            "add a line to `users` of the project, or give `--principal`, `--tenant`, `--group` and `--role`",
        );
    }
    Ok(())
}

/// Refuses a version that the client's files are not for, and warns of one with a fault.
fn check_version(
    target: &Target,
    version: Option<Version>,
    output: &mut Output,
) -> Result<(), Failure> {
    let title = target.title();
    let Some(version) = version else {
        if let (Some(program), Some((oldest, why))) = (target.program, target.oldest) {
            output.warn(
                &format!("the version of {title} is unknown: `{program} --version` does not say it"),
                &format!("use {oldest} or newer: {why}; run this command again once `{program}` is in PATH"),
            );
        }
        return Ok(());
    };
    if let Some((first, why)) = target.too_new
        && version >= first
    {
        return Err(Failure::error(format!(
            "{title} {version} cannot be guarded by this version of relay: {why}"
        )));
    }
    if let Some((oldest, why)) = target.oldest
        && version < oldest
    {
        output.warn(
            &format!("{title} is {version}, and {oldest} or newer is needed: {why}"),
            "update it, then run this command again: what is written depends on the version",
        );
    }
    Ok(())
}

/// Prints the steps that are left to a person, and the calls that stay open.
fn report(plan: &Plan<'_>, output: &mut Output) -> Result<(), Failure> {
    let Plan { target, setup, .. } = plan;
    for fault in switched_off(&target.switches(setup.place)) {
        let help = match setup.scope {
            Scope::Managed => {
                "managed hooks hold all the same where the client says so; docs/hooks.md"
            }
            Scope::User | Scope::Project => {
                "take the setting out: relay decides about no call until then"
            }
        };
        output.warn(&fault, help);
    }
    if setup.scope == Scope::Project {
        output.note("the entries name paths of this machine: keep the file out of commits");
    }
    output.result(format_args!("\n{}\n", bold("Next")))?;
    for line in
        [(target.afterwards)(setup.scope).to_owned(), format!("relay hook test {}", target.name)]
    {
        bullet(line.as_ref(), output)?;
    }
    let title = format!("Open in {} all the same", target.title());
    output.result(format_args!("\n{}\n", bold(title)))?;
    for line in target.stays_open {
        bullet(line, output)?;
    }
    if setup.scope != Scope::Managed {
        let line = "the agent runs as you: what the policy lets it write, it can change; `--managed` and files of root are the enforcement";
        bullet(line, output)?;
    }
    if !target.is_tried {
        output.note(format_args!(
            "relay's tests play recorded events of {}; the client itself was not tried",
            target.title()
        ));
    }
    Ok(())
}

/// Prints an item of a list.
fn bullet(text: &str, output: &mut Output) -> Result<(), Failure> {
    let lines = wrapped(text, "    ", output.result_look().width);
    output.result(format_args!("  - {}", lines.trim_start()))
}

/// Takes relay's entries out of a client's files.
fn remove(
    arguments: &HookInstallArgs,
    target: &'static Target,
    place: &Place,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let scope = scope_of(arguments);
    let mut setup = Setup {
        place,
        scope,
        program: crate::hook::PROGRAM.into(),
        config: std::path::PathBuf::new(),
        grants: false,
        version: None,
    };
    let mut configs = Vec::new();
    let mut changes = Vec::new();
    let mut backups = Vec::new();
    for part in parts(target, &setup)? {
        let mut change = change_of(&part, place, scope)?;
        let Some(old) = change.old.clone() else { continue };
        let own = part.own(&old).map_err(|reason| unusable(&part, &reason))?;
        let Some((_, found)) = own.first() else { continue };
        if let (Some(program), Some(config)) = (found.program(), found.config()) {
            configs.push(config.clone());
            (setup.program, setup.config) = (program, config);
        }
        let backup = read(&change.backup())?;
        change.new = match backup {
            Some(before) if restored(target, &setup, &part, &old, &before) => {
                backups.push(change.backup());
                Some(before)
            }
            Some(_) => Some(
                part.removed(&old)
                    .map_err(|reason| unusable(&part, &reason))?
                    .unwrap_or_else(|| "{}\n".to_owned()),
            ),
            // The file was missing before.
            None => part.removed(&old).map_err(|reason| unusable(&part, &reason))?,
        };
        changes.push(change);
    }
    configs.dedup();
    for config in configs {
        changes.extend(unused_machine_file(target, place, scope, &config)?);
    }
    if arguments.dry_run {
        print_changes(&changes, output)?;
        return Ok(Exit::Yes);
    }
    for change in &changes {
        write(change, output)?;
    }
    for backup in backups {
        fs::remove_file(&backup).map_err(|error| Failure::file("remove", &backup, &error))?;
    }
    match changes.is_empty() {
        true => output.result(format_args!(
            "{}: relay is not installed in its {} files\n",
            target.title(),
            scope.word()
        ))?,
        false => output.note("a session that runs keeps the hook until it is restarted"),
    }
    Ok(Exit::Yes)
}

/// Returns the removal of a machine file that relay wrote, if no other client is installed with it.
fn unused_machine_file(
    target: &Target,
    place: &Place,
    removed: Scope,
    config: &std::path::Path,
) -> Result<Option<Change>, Failure> {
    let Some(text) = read(config)? else { return Ok(None) };
    if !is_own_machine_file(&text) {
        return Ok(None);
    }
    for other in TARGETS {
        for scope in [Scope::User, Scope::Project, Scope::Managed] {
            let setup = Setup {
                place,
                scope,
                program: crate::hook::PROGRAM.into(),
                config: config.to_owned(),
                grants: false,
                version: None,
            };
            for part in other.parts(&setup) {
                // The files of clients that share one are changed together.
                let is_removed = scope == removed
                    && target.parts(&setup).iter().any(|own| own.path == part.path);
                let Some(text) = read(&part.path)?.filter(|_| !is_removed) else { continue };
                // An unreadable file may name it.
                let own = part.own(&text);
                if own.is_err()
                    || own.is_ok_and(|own| {
                        own.iter().any(|(_, found)| found.config().as_deref() == Some(config))
                    })
                {
                    return Ok(None);
                }
            }
        }
    }
    let mut change = Change::of(config, &crate::disk::folder_of(config), Scope::User)?;
    change.new = None;
    Ok(Some(change))
}

/// Warns if clients take another home than `relay-hook`.
fn warn_of_other_home(arguments: &HookInstallArgs, place: &Place, output: &mut Output) {
    let home = environment::home();
    if let Some(home) =
        home.filter(|home| arguments.place.root.is_none() && *home != place.home_folder())
    {
        output.warn(
            &format!(
                "HOME is `{}`, and the password database says `{}`, where relay installs",
                shown_path(home),
                shown_path(place.home_folder())
            ),
            "run this command as the user whose client it is",
        );
    }
}
