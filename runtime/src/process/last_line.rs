//! The last line of a terminal's output: a question for a secret ends there.

/// The most bytes of the line that are kept: its end.
const BYTES_MAX: usize = 256;
/// The words in a question for a secret, in lower case.
const SECRETS: [&str; 14] = [
    "password",
    "passphrase",
    "passwd",
    "passcode",
    "pass phrase",
    "pin",
    "otp",
    "one-time",
    "verification code",
    "token",
    "secret",
    "api key",
    "private key",
    "2fa",
];
/// The ends of a question.
const ENDS: [char; 3] = [':', '?', '>'];

/// The last line of a terminal's output, without its line end.
#[derive(Debug, Default)]
pub(super) struct LastLine(Vec<u8>);

impl LastLine {
    /// Adds output.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let line = match bytes.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')) {
            Some(end) => {
                self.0.clear();
                bytes.get(end + 1..).unwrap_or_default()
            }
            None => bytes,
        };
        let kept = line.len().saturating_sub(BYTES_MAX);
        self.0.extend_from_slice(line.get(kept..).unwrap_or_default());
        let over = self.0.len().saturating_sub(BYTES_MAX);
        self.0.drain(..over);
    }

    /// Returns whether it looks like a question for a secret.
    pub(super) fn asks_for_secret(&self) -> bool {
        let line = String::from_utf8_lossy(&self.0).to_lowercase();
        let line = line.trim_end();
        line.ends_with(ENDS) && SECRETS.iter().any(|word| has_word(line, word))
    }
}

/// Returns whether a word is in a line, with no letter beside it.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        ![before, after].into_iter().flatten().any(char::is_alphabetic)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(parts: &[&str]) -> bool {
        let mut line = LastLine::default();
        parts.iter().for_each(|part| line.add(part.as_bytes()));
        line.asks_for_secret()
    }

    #[test]
    fn a_question_for_a_secret_is_the_last_line() {
        for question in [
            "Password:",
            "[sudo] password for ann: ",
            "Enter passphrase for key '/home/ann/.ssh/id_ed25519': ",
            "Enter host password for user 'ann':",
            "Vault token (will be hidden): ",
            "Verification code: ",
            "New PIN? ",
            "mysql Enter password:",
        ] {
            assert!(asks(&[question]), "{question}");
            assert!(asks(&["line\r\n", question]), "{question}");
            let (front, end) = question.split_at(4);
            assert!(asks(&[front, end]), "{question}");
            assert!(!asks(&[question, "\r\n", "$ "]), "{question}");
        }
        for other in
            ["$ ", "ann@host:~$ ", "password changed", "spinning: ", "Continue? ", "shopping:"]
        {
            assert!(!asks(&[other]), "{other}");
        }
        assert!(asks(&[&"x".repeat(100_000), " password: "]));
    }
}
