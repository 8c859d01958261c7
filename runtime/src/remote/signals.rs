//! The signals of SSH: their names there, and their numbers here.

/// The names of RFC 4254, section 6.10, with the numbers of Linux.
const SIGNALS: [(&str, i32); 13] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("ABRT", 6),
    ("FPE", 8),
    ("KILL", 9),
    ("USR1", 10),
    ("SEGV", 11),
    ("USR2", 12),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
];

/// Returns the number of a signal by its name.
pub(crate) fn signal_number(name: &str) -> Option<i32> {
    SIGNALS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
}

/// Returns the name of a signal by its number, if SSH has it.
pub(super) fn signal_name(number: i32) -> Option<&'static str> {
    SIGNALS.iter().find(|(_, known)| *known == number).map(|(name, _)| *name)
}
