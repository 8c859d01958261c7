//! Processes as `/proc` describes them, and the keeper's family among them.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use super::reap;
use crate::job::MARK;

/// The most processes that one look at a family visits. Later rounds see the rest.
pub(super) const PROCESSES_MAX: usize = 65_536;

/// The most bytes of an environment that are searched for a mark; the kernel's own limit is 6 MiB.
const ENVIRONMENT_BYTES_MAX: u64 = 6 << 20;

/// The most times that a look at orphans begins again because one ended meanwhile.
const LOOKS_MAX: usize = 16;

/// A process at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: Pid,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// The time of its start in clock ticks, which tells it from an earlier one of the same id.
    pub(super) started: u64,
    pub(super) alive: bool,
}

/// Reads a process; `None` if it is gone.
pub(super) fn read(pid: Pid) -> Option<Process> {
    parse(pid, &fs::read(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?)
}

fn parse(pid: Pid, stat: &[u8]) -> Option<Process> {
    // The name is in parentheses and may hold any byte.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = str::from_utf8(stat.get(end + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<i64>().ok();
    // A process whose first thread ended looks like a zombie, and has the other threads still.
    let ended = matches!(*fields.first()?, "Z" | "X" | "x") && number(17)? <= 1;
    Some(Process {
        pid,
        parent: number(1)?.try_into().ok()?,
        group: number(2)?.try_into().ok()?,
        session: number(3)?.try_into().ok()?,
        started: fields.get(19)?.parse().ok()?,
        alive: !ended,
    })
}

/// Returns the mark in the environment of a process.
pub(super) fn mark(pid: Pid) -> Mark {
    let folder = PathBuf::from(format!("/proc/{}", pid.as_raw_pid()));
    let of_process = mark_in(&folder);
    if of_process != Mark::Unknown {
        return of_process;
    }
    // After the end of its first thread, the environment of a process is that of the others.
    let Ok(threads) = fs::read_dir(folder.join("task")) else { return of_process };
    let mut others = threads.flatten().take(PROCESSES_MAX).map(|thread| mark_in(&thread.path()));
    others.find(|mark| *mark != Mark::Unknown).unwrap_or(of_process)
}

/// Returns the mark in an environment. Without one it has to have the length that the kernel names: while a
/// process comes to another program, a part of it is read, or nothing.
fn mark_in(folder: &Path) -> Mark {
    let mut bytes = Vec::new();
    let Ok(file) = File::open(folder.join("environ")) else { return Mark::Unknown };
    // The bytes that were read count, also when an error ended the reading.
    let _ = file.take(ENVIRONMENT_BYTES_MAX).read_to_end(&mut bytes);
    let name = format!("{MARK}=");
    let entries = bytes.split_inclusive(|byte| *byte == 0);
    let mut values =
        entries.filter_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_suffix(b"\0"));
    if let Some(value) = values.next() {
        return Mark::Of(value.to_vec());
    }
    let length = fs::read(folder.join("stat")).ok().and_then(|stat| environment_bytes(&stat));
    match length {
        Some(length) if length.min(ENVIRONMENT_BYTES_MAX) == bytes.len() as u64 => Mark::None,
        _ => Mark::Unknown,
    }
}

/// Returns the length of an environment; `None` until a program has begun, and where its memory is hidden
/// (`proc_pid_stat(5)`, fields 26, 50 and 51).
fn environment_bytes(stat: &[u8]) -> Option<u64> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    // The first word is the end of field 2.
    let fields: Vec<&str> =
        str::from_utf8(stat.get(name_end..)?).ok()?.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field - 2)?.parse::<u64>().ok();
    let (code, start, end) = (number(26)?, number(50)?, number(51)?);
    // The kernel writes where the code is after all of the rest, and shows 0 for all that is hidden.
    if code == 0 || end == 0 { None } else { end.checked_sub(start) }
}

/// Lists all processes of the machine.
pub(super) fn all() -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let number = |entry: io::Result<fs::DirEntry>| {
        entry.ok()?.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)
    };
    entries.filter_map(number).take(PROCESSES_MAX).collect()
}

/// Signals the process group of each of these processes; returns to how many groups.
///
/// A group is signalled in one step, so its processes gain nothing by forking. Every group here was made
/// by a job, hence holds processes of that job alone.
pub(super) fn signal_groups(members: &[Process], signals: &[Signal]) -> Result<u32, Errno> {
    let (mut reached, mut error) = (BTreeSet::new(), Errno::SRCH);
    for member in members {
        let Some(group) = Pid::from_raw(member.group) else { continue };
        // The process must be the one that was seen: it keeps the number of its group from reuse.
        let same = |now: Process| now.started == member.started && now.group == member.group;
        if reached.contains(&member.group) || !read(member.pid).is_some_and(same) {
            continue;
        }
        for signal in signals {
            match rustix::process::kill_process_group(group, *signal) {
                Ok(()) => _ = reached.insert(member.group),
                Err(errno) => error = errno,
            }
        }
    }
    if reached.is_empty() {
        Err(error)
    } else {
        Ok(u32::try_from(reached.len()).unwrap_or(u32::MAX))
    }
}

/// The descendants of the keeper.
pub(super) struct Family {
    root: Pid,
    /// The kernel lists the children of a process; else every process is asked for its parent.
    has_lists: bool,
}

/// The mark in the environment of a process.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Of(Vec<u8>),
    None,
    /// The process is about to run another program, or its memory is hidden.
    Unknown,
}

/// A child of the keeper that it adopted.
pub(super) struct Orphan {
    pub(super) process: Process,
    /// Read when it is first asked for.
    mark: OnceCell<Mark>,
}

impl Family {
    /// An error means that `/proc` is missing or describes other processes.
    pub(super) fn new(root: Pid) -> io::Result<Self> {
        // A folder of another space of processes would name the wrong ones.
        let own = fs::read_link("/proc/self")?;
        if own.as_os_str() != root.as_raw_pid().to_string().as_str() {
            return Err(Errno::NOSYS.into());
        }
        let id = root.as_raw_pid();
        Ok(Self { root, has_lists: fs::exists(format!("/proc/{id}/task/{id}/children"))? })
    }

    /// Lists the children of the keeper, zombies included.
    fn own_children(&self) -> Vec<Pid> {
        self.look().children(self.root)
    }

    /// Reaps the adopted children of the keeper that ended.
    pub(super) fn reap_orphans(&self, leaders: &[Pid]) {
        let children = self.own_children().into_iter();
        children.filter(|pid| !leaders.contains(pid)).for_each(reap::reap);
    }

    /// Lists all living descendants of the keeper.
    pub(super) fn descendants(&self) -> Vec<Process> {
        let look = self.look();
        look.walk(look.children(self.root))
    }

    /// Lists the living adopted children of the keeper, and reaps those that ended.
    pub(super) fn orphans(&self, leaders: &[Pid]) -> Vec<Orphan> {
        let mut orphans = Vec::new();
        for _ in 0..LOOKS_MAX {
            let children = self.own_children().into_iter();
            let others = children.filter(|pid| !leaders.contains(pid));
            let (living, ended): (Vec<_>, Vec<_>) =
                others.filter_map(read).partition(|process| process.alive);
            orphans = living.into_iter().map(Orphan::new).collect();
            if ended.is_empty() {
                break;
            }
            // The children of one that ended may have come to the keeper after the look.
            ended.iter().for_each(|process| reap::reap(process.pid));
        }
        orphans
    }

    /// Takes one look at who is whose child.
    pub(super) fn look(&self) -> Look {
        let mut parents: BTreeMap<i32, Vec<Pid>> = BTreeMap::new();
        if self.has_lists {
            return Look { parents: None };
        }
        for process in all().into_iter().filter_map(read) {
            parents.entry(process.parent).or_default().push(process.pid);
        }
        Look { parents: Some(parents) }
    }
}

/// Who is whose child. With the kernel's lists it is always of the present.
pub(super) struct Look {
    parents: Option<BTreeMap<i32, Vec<Pid>>>,
}

impl Look {
    fn children(&self, pid: Pid) -> Vec<Pid> {
        match &self.parents {
            Some(parents) => parents.get(&pid.as_raw_pid()).cloned().unwrap_or_default(),
            None => listed_children(pid),
        }
    }

    /// Reads these processes and all their descendants; the living ones are returned.
    pub(super) fn walk(&self, mut open: Vec<Pid>) -> Vec<Process> {
        let (mut living, mut seen) = (Vec::new(), BTreeSet::new());
        while let Some(pid) = open.pop() {
            if seen.len() >= PROCESSES_MAX || !seen.insert(pid.as_raw_pid()) {
                continue;
            }
            open.extend(self.children(pid));
            living.extend(read(pid).filter(|process| process.alive));
        }
        living
    }
}

/// Reads the kernel's lists, one for each thread.
fn listed_children(pid: Pid) -> Vec<Pid> {
    let mut children = Vec::new();
    let Ok(threads) = fs::read_dir(format!("/proc/{}/task", pid.as_raw_pid())) else {
        return children;
    };
    for thread in threads.flatten().take(PROCESSES_MAX) {
        let list = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        let numbers = list.split_ascii_whitespace().filter_map(|number| number.parse().ok());
        children.extend(numbers.filter_map(Pid::from_raw));
    }
    children
}

impl Orphan {
    fn new(process: Process) -> Self {
        Self { process, mark: OnceCell::new() }
    }

    /// Returns a process whose mark was read.
    #[cfg(test)]
    pub(super) fn marked(process: Process, mark: Mark) -> Self {
        Self { process, mark: OnceCell::from(mark) }
    }

    /// Returns the mark that it carries.
    pub(super) fn mark(&self) -> &Mark {
        self.mark.get_or_init(|| mark(self.process.pid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything_and_threads_keep_a_process_alive() {
        let pid = Pid::from_raw(7).unwrap();
        let stat = |name: &str, state: char, threads: u32| {
            let rest = "3 4 5 0 -1 4194560 0 0 0 0 0 0 0 0 20 0";
            parse(pid, format!("7 ({name}) {state} {rest} {threads} 0 99 0").as_bytes())
        };
        for name in ["sh", "a) R 1 (b", ")", "\u{e4}\n)"] {
            let expected =
                Process { pid, parent: 3, group: 4, session: 5, started: 99, alive: true };
            assert_eq!(stat(name, 'S', 1), Some(expected), "{name}");
        }
        assert!(!stat("sh", 'Z', 1).unwrap().alive);
        assert!(stat("sh", 'Z', 2).unwrap().alive);
        assert_eq!(parse(pid, b"7 (sh) S"), None);
        assert_eq!(parse(pid, b""), None);
    }

    #[test]
    fn an_environment_has_a_length_after_its_program_has_begun() {
        let stat = |code: u64, start: u64, end: u64| {
            let rest = "0 ".repeat(22);
            environment_bytes(
                format!("7 (a) b) S {rest}{code} {}{start} {end} 0", "0 ".repeat(23)).as_bytes(),
            )
        };
        assert_eq!(stat(4096, 100, 130), Some(30));
        assert_eq!(stat(4096, 100, 100), Some(0));
        for (code, start, end) in [(0, 0, 0), (0, 100, 100), (0, 100, 130), (1, 0, 0), (4096, 9, 8)]
        {
            assert_eq!(stat(code, start, end), None);
        }
        let own = fs::read("/proc/self/stat").unwrap();
        let length = fs::read("/proc/self/environ").unwrap().len() as u64;
        assert_eq!(environment_bytes(&own), Some(length));
        assert_eq!(environment_bytes(b""), None);
    }

    #[test]
    fn both_ways_to_find_children_agree() {
        let own = rustix::process::getpid();
        #[expect(clippy::disallowed_methods, reason = "a child to find")]
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_child(&child);
        for has_lists in [true, false] {
            let family = Family { root: own, has_lists };
            assert!(family.own_children().contains(&pid), "{has_lists}");
            assert!(family.descendants().iter().any(|process| process.pid == pid), "{has_lists}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
