//! Versions of clients.

use std::fmt;

/// A version of a client: three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) [u32; 3]);

impl Version {
    /// A version that is newer than every other one.
    pub(crate) const NEWEST: Self = Self([u32::MAX; 3]);

    /// Returns the first version in the output of `PROGRAM --version`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        text.split(|letter: char| !letter.is_ascii_digit() && letter != '.').find_map(|word| {
            let mut numbers = word.split('.').map(|number| number.parse().ok());
            let version = [numbers.next()??, numbers.next()??, numbers.next()??];
            Some(Self(version))
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn the_version_is_found_in_what_clients_print() {
        for (text, version) in [
            ("2.1.331 (Claude Code)\n", "2.1.331"),
            ("codex-cli 0.169.0", "0.169.0"),
            ("GitHub Copilot CLI 1.0.102.\nCommit: a1b2", "1.0.102"),
            ("1.18.33\n", "1.18.33"),
        ] {
            assert_eq!(Version::parse(text).map(|it| it.to_string()).as_deref(), Some(version));
        }
        assert_eq!(Version::parse("no such option"), None);
        assert!(Version([2, 1, 295]) > Version([2, 1, 99]));
    }
}
