use libc::{SECCOMP_RET_ALLOW, SECCOMP_RET_USER_NOTIF, sock_filter};
use proptest::prelude::*;

use super::filter::program;
use super::table::{Architecture, TABLE, When, X32, is_foreign};
use super::version;

const BOTH: [Architecture; 2] = [Architecture::X86_64, Architecture::Aarch64];

/// Runs a filter as the kernel does, and returns whether it reports the call.
fn reports(filter: &[sock_filter], audit: u32, number: u32, arguments: [u64; 6]) -> bool {
    let mut data = [number.to_le_bytes(), audit.to_le_bytes(), [0; 4], [0; 4]].concat();
    data.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
    let (mut at, mut accumulator) = (0, 0_u32);
    loop {
        let sock_filter { code, jt, jf, k } = filter[at];
        at += 1;
        let over = |holds: bool| usize::from(if holds { jt } else { jf });
        match code {
            0x20 => {
                let from = k as usize;
                accumulator = u32::from_le_bytes(data[from..from + 4].try_into().unwrap());
            }
            0x15 => at += over(accumulator == k),
            0x35 => at += over(accumulator >= k),
            0x45 => at += over(accumulator & k != 0),
            0x06 => {
                assert!(k == SECCOMP_RET_USER_NOTIF || k == SECCOMP_RET_ALLOW, "{k:#x}");
                return k == SECCOMP_RET_USER_NOTIF;
            }
            other => panic!("{other:#x}"),
        }
    }
}

/// The same answer, from the table.
fn expected(architecture: Architecture, number: u32, arguments: [u64; 6]) -> bool {
    if architecture == Architecture::X86_64 && number >= X32 {
        return true;
    }
    let found = TABLE.iter().find(|observed| observed.number(architecture) == Some(number));
    found.is_some_and(|observed| match observed.when {
        When::Always => true,
        When::AnyBit { argument, bits } => arguments[argument] as u32 & bits != 0,
        When::OneOf { argument, values } => values.contains(&(arguments[argument] as u32)),
    })
}

fn number(architecture: Architecture, name: &str) -> u32 {
    let observed = TABLE.iter().find(|observed| observed.name == name).unwrap();
    observed.number(architecture).unwrap()
}

#[test]
fn every_number_has_the_answer_of_the_table() {
    let flags = [0, 1, 2, 3, 0o100, 0o1000, 0o2000, 0o400_000, 4, 8, 22, 24, 28, 38, 47, u64::MAX];
    for architecture in BOTH {
        let filter = program(architecture);
        for number in (0..1000).chain([X32 - 1, X32, X32 + 59, u32::MAX]) {
            for flag in flags {
                // The kernel reads the lower half alone.
                for upper in [0, 1 << 32] {
                    let arguments = [flag | upper; 6];
                    let reported = reports(&filter, architecture.audit(), number, arguments);
                    let expected = expected(architecture, number, arguments);
                    assert_eq!(reported, expected, "{architecture:?} {number} {flag:#o}");
                }
            }
        }
        assert!(filter.len() < 200, "{} instructions", filter.len());
    }
}

#[test]
fn an_open_is_reported_if_it_may_write() {
    let (read, write, both, create, truncate, append, close) =
        (0, 1, 2, 0o101, 0o1001, 0o2001, 0o2_000_000);
    for architecture in BOTH {
        let filter = program(architecture);
        let opens = |flags: u64| {
            let arguments = [0, 0, flags, 0, 0, 0];
            reports(&filter, architecture.audit(), number(architecture, "openat"), arguments)
        };
        assert!(
            [write, both, create, truncate, append].map(opens).iter().all(|reported| *reported)
        );
        assert!(![read, close, read | 0o2000].map(opens).iter().any(|reported| *reported));
    }
    let filter = program(Architecture::X86_64);
    let open = |flags| reports(&filter, Architecture::X86_64.audit(), 2, [0, flags, 1, 1, 1, 1]);
    assert!(open(write) && !open(read));
    assert!(reports(&filter, Architecture::X86_64.audit(), 85, [0; 6]), "creat");
}

#[test]
fn calls_of_another_architecture_are_reported() {
    for architecture in BOTH {
        let filter = program(architecture);
        for audit in [0x4000_0003, 0x4000_0028, 0xc000_003e, 0xc000_00b7, 0] {
            if audit != architecture.audit() {
                assert!((0..500).all(|number| reports(&filter, audit, number, [0; 6])));
            }
        }
    }
    assert!(is_foreign(0x4000_0003, 11));
    if let Some(own) = Architecture::OWN {
        assert!(!is_foreign(own.audit(), number(own, "execve")));
    }
}

proptest! {
    #[test]
    fn any_call_has_an_answer(audit: u32, number: u32, arguments: [u64; 6]) {
        for architecture in BOTH {
            let filter = program(architecture);
            let own = reports(&filter, architecture.audit(), number, arguments);
            prop_assert_eq!(own, expected(architecture, number, arguments));
            prop_assert!(audit == architecture.audit() || reports(&filter, audit, number, arguments));
        }
    }
}

/// The other architecture's numbers are those of the kernel's table, which this machine has not.
#[test]
fn the_numbers_are_those_of_the_c_library() {
    let known = [
        ("execve", libc::SYS_execve),
        ("execveat", libc::SYS_execveat),
        ("openat", libc::SYS_openat),
        #[cfg(target_arch = "x86_64")]
        ("open", libc::SYS_open),
        #[cfg(target_arch = "x86_64")]
        ("creat", libc::SYS_creat),
        ("openat2", libc::SYS_openat2),
        ("ptrace", libc::SYS_ptrace),
        ("mount", libc::SYS_mount),
        ("umount2", libc::SYS_umount2),
        ("move_mount", libc::SYS_move_mount),
        ("mount_setattr", libc::SYS_mount_setattr),
        ("unshare", libc::SYS_unshare),
        ("setns", libc::SYS_setns),
        ("chroot", libc::SYS_chroot),
        ("pivot_root", libc::SYS_pivot_root),
        ("setuid", libc::SYS_setuid),
        ("setgid", libc::SYS_setgid),
        ("setreuid", libc::SYS_setreuid),
        ("setregid", libc::SYS_setregid),
        ("setresuid", libc::SYS_setresuid),
        ("setresgid", libc::SYS_setresgid),
        ("setfsuid", libc::SYS_setfsuid),
        ("setfsgid", libc::SYS_setfsgid),
        ("setgroups", libc::SYS_setgroups),
        ("capset", libc::SYS_capset),
        ("prctl", libc::SYS_prctl),
    ];
    let Some(own) = Architecture::OWN else { return };
    for (name, libc) in known {
        assert_eq!(i64::from(number(own, name)), libc, "{name}");
    }
    assert_eq!(known.len(), TABLE.iter().filter(|one| one.number(own).is_some()).count());
}

#[test]
fn versions_of_kernels_are_read() {
    assert_eq!(version("6.18.44-cloud"), Some((6, 18)));
    assert_eq!(version("5.9-rc1"), Some((5, 9)));
    assert_eq!(version("4.18.0-553.el8"), Some((4, 18)));
    assert_eq!(version(""), None);
}
