//! The system calls that are observed, with their numbers.

/// The version of this table, for readers of records.
pub(crate) const VERSION: u32 = 1;

/// A processor and its calling convention, by the kernel's number of it (`AUDIT_ARCH_…`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Architecture {
    X86_64,
    Aarch64,
}

/// The bit of a number that marks a call of the x32 convention.
pub(crate) const X32: u32 = 0x4000_0000;

/// The kernel's numbers of architectures, with their names in records.
const ARCHITECTURES: [(u32, &str); 4] = [
    (Architecture::X86_64.audit(), "x86_64"),
    (Architecture::Aarch64.audit(), "aarch64"),
    (0x4000_0003, "i386"),
    (0x4000_0028, "arm"),
];

impl Architecture {
    /// The architecture of this program, if it has a table.
    pub(crate) const OWN: Option<Self> = if cfg!(target_arch = "x86_64") {
        Some(Self::X86_64)
    } else if cfg!(target_arch = "aarch64") {
        Some(Self::Aarch64)
    } else {
        None
    };

    /// Returns the kernel's number of it.
    pub(crate) const fn audit(self) -> u32 {
        match self {
            Self::X86_64 => 0xc000_003e,
            Self::Aarch64 => 0xc000_00b7,
        }
    }
}

/// A system call that is observed.
#[derive(Debug)]
pub(crate) struct Observed {
    pub(crate) name: &'static str,
    /// Its number on x86-64 and on aarch64, which lacks some.
    numbers: (u32, Option<u32>),
    pub(crate) when: When,
}

/// The arguments with which a call is observed. The filter sees the lower 32 bits, which are all that the
/// kernel reads of these.
#[derive(Clone, Copy, Debug)]
pub(crate) enum When {
    /// With any.
    Always,
    /// If this argument, counted from 0, has one of these bits.
    AnyBit { argument: usize, bits: u32 },
    /// If this argument is one of these values.
    OneOf { argument: usize, values: &'static [u32] },
}

impl Observed {
    /// Returns its number on an architecture.
    pub(crate) fn number(&self, architecture: Architecture) -> Option<u32> {
        match architecture {
            Architecture::X86_64 => Some(self.numbers.0),
            Architecture::Aarch64 => self.numbers.1,
        }
    }
}

/// The flags of an open that may write: access other than read, creation, truncation. Both
/// architectures have the same.
const WRITE_FLAGS: u32 = 0o3 | 0o100 | 0o1000;

/// The options of `prctl` that change privileges or hide from observers: `PR_SET_DUMPABLE`,
/// `PR_SET_KEEPCAPS`, `PR_SET_SECCOMP`, `PR_CAPBSET_DROP`, `PR_SET_SECUREBITS`, `PR_SET_NO_NEW_PRIVS`,
/// `PR_CAP_AMBIENT`.
const PRIVILEGES: &[u32] = &[4, 8, 22, 24, 28, 38, 47];

const fn always(name: &'static str, x86_64: u32, aarch64: u32) -> Observed {
    Observed { name, numbers: (x86_64, Some(aarch64)), when: When::Always }
}

/// The observed system calls. A new one, or other arguments, is a new [`VERSION`].
///
/// `openat2` has its flags in memory, which is left unread, so it is always observed. The calls of the
/// newer way to mount (`move_mount`, `mount_setattr`) are what `mount` uses today.
pub(crate) const TABLE: &[Observed] = &[
    always("execve", 59, 221),
    always("execveat", 322, 281),
    Observed {
        name: "openat",
        numbers: (257, Some(56)),
        when: When::AnyBit { argument: 2, bits: WRITE_FLAGS },
    },
    Observed {
        name: "open",
        numbers: (2, None),
        when: When::AnyBit { argument: 1, bits: WRITE_FLAGS },
    },
    Observed { name: "creat", numbers: (85, None), when: When::Always },
    always("openat2", 437, 437),
    always("ptrace", 101, 117),
    always("mount", 165, 40),
    always("umount2", 166, 39),
    always("move_mount", 429, 429),
    always("mount_setattr", 442, 442),
    always("unshare", 272, 97),
    always("setns", 308, 268),
    always("chroot", 161, 51),
    always("pivot_root", 155, 41),
    always("setuid", 105, 146),
    always("setgid", 106, 144),
    always("setreuid", 113, 145),
    always("setregid", 114, 143),
    always("setresuid", 117, 147),
    always("setresgid", 119, 149),
    always("setfsuid", 122, 151),
    always("setfsgid", 123, 152),
    always("setgroups", 116, 159),
    always("capset", 126, 91),
    Observed {
        name: "prctl",
        numbers: (157, Some(167)),
        when: When::OneOf { argument: 0, values: PRIVILEGES },
    },
];

/// Returns the name of a call, if this program has a name for it.
pub(crate) fn name(audit: u32, number: u32) -> Option<&'static str> {
    let own = Architecture::OWN.filter(|own| own.audit() == audit)?;
    let found = TABLE.iter().find(|observed| observed.number(own) == Some(number));
    found.map(|observed| observed.name)
}

/// Returns whether a call is of another architecture than this program's, or of x32.
pub(crate) fn is_foreign(audit: u32, number: u32) -> bool {
    let is_own = Architecture::OWN.is_some_and(|own| own.audit() == audit);
    !is_own || is_x32(audit, number)
}

fn is_x32(audit: u32, number: u32) -> bool {
    audit == Architecture::X86_64.audit() && number & X32 != 0
}

/// Returns the name of the architecture of a call.
pub(crate) fn architecture_name(audit: u32, number: u32) -> &'static str {
    if is_x32(audit, number) {
        return "x32";
    }
    let known = ARCHITECTURES.iter().find(|(known, _)| *known == audit);
    known.map_or("unknown", |(_, name)| name)
}
