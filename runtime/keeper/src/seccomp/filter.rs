//! The program of the filter: instructions of the kernel's packet filter (BPF) over one system call.
//!
//! Each ends in one of two answers: report the call, or let it run. A call of another architecture has
//! other numbers, so all of those are reported.

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_USER_NOTIF, sock_filter,
};

use super::table::{Architecture, TABLE, When, X32};

/// The places of the fields of `seccomp_data`.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;
const ARGUMENT_BYTES: u32 = 8;

/// Returns the filter for programs of an architecture. Both are little-endian, so the lower half of an
/// argument comes first.
pub(crate) fn program(architecture: Architecture) -> Vec<sock_filter> {
    let mut program = vec![load(ARCHITECTURE_AT)];
    // Over the report, if it is the own one.
    program.extend([jump(BPF_JEQ, architecture.audit(), 1, 0), report(), load(NUMBER_AT)]);
    if architecture == Architecture::X86_64 {
        program.extend([jump(BPF_JGE, X32, 0, 1), report()]);
    }
    for observed in TABLE {
        let Some(number) = observed.number(architecture) else { continue };
        let rest = rest(observed.when);
        // A rest has a few instructions, and a jump may pass over 255.
        let length = u8::try_from(rest.len()).unwrap_or(u8::MAX);
        program.push(jump(BPF_JEQ, number, 0, length));
        program.extend(rest);
    }
    program.push(allow());
    program
}

/// Returns the instructions for one call whose number fits.
fn rest(when: When) -> Vec<sock_filter> {
    match when {
        When::Always => vec![report()],
        When::AnyBit { argument, bits } => {
            vec![load_argument(argument), jump(BPF_JSET, bits, 0, 1), report(), allow()]
        }
        When::OneOf { argument, values } => {
            let mut rest = vec![load_argument(argument)];
            let each = |value: &u32| [jump(BPF_JEQ, *value, 0, 1), report()];
            rest.extend(values.iter().flat_map(each));
            rest.push(allow());
            rest
        }
    }
}

fn load_argument(argument: usize) -> sock_filter {
    let number = u32::try_from(argument).unwrap_or_default();
    load(ARGUMENTS_AT + ARGUMENT_BYTES * number)
}

fn load(at: u32) -> sock_filter {
    instruction(BPF_LD | BPF_W | BPF_ABS, at)
}

fn jump(condition: u32, value: u32, over_if_true: u8, over_if_false: u8) -> sock_filter {
    let jump = instruction(BPF_JMP | condition | BPF_K, value);
    sock_filter { jt: over_if_true, jf: over_if_false, ..jump }
}

fn report() -> sock_filter {
    instruction(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)
}

fn allow() -> sock_filter {
    instruction(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
}

fn instruction(code: u32, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt: 0, jf: 0, k }
}
