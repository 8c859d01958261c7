//! Scripts of sed.

use super::finding::{Finding, What, computed};
use crate::effect::Touch;
use crate::value::is_hole;

/// Returns the effects of a script beyond printing.
pub(crate) fn findings(text: &[u8]) -> Vec<Finding> {
    let mut script = Script { text, at: 0, findings: computed(text) };
    while script.at < text.len() {
        let start = script.at;
        if script.command().is_none() {
            let is_hidden = text.get(start..).unwrap_or(&[]).iter().any(|byte| is_hole(*byte));
            if is_hidden {
                let what = What::Unknown("this script is not literal");
                for what in [what, What::ReadsAny, What::TouchesAny(Touch::Write)] {
                    script.findings.push(Finding::new(start, text.len(), what));
                }
            } else {
                let what = What::Opaque("this script is not understood");
                script.findings.push(Finding::new(script.at.min(text.len()), text.len(), what));
            }
            break;
        }
    }
    script.findings
}

struct Script<'t> {
    text: &'t [u8],
    at: usize,
    findings: Vec<Finding>,
}

impl Script<'_> {
    fn byte(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn skip(&mut self, is_skipped: impl Fn(u8) -> bool) {
        while self.at < self.text.len() && is_skipped(self.byte()) {
            self.at += 1;
        }
    }

    /// Reads one command, if it is known.
    fn command(&mut self) -> Option<()> {
        self.skip(|byte| byte.is_ascii_whitespace() || matches!(byte, b';' | b'}'));
        if self.at >= self.text.len() {
            return Some(());
        }
        if self.address()? {
            self.skip(|byte| byte == b' ');
            if self.byte() == b',' {
                self.at += 1;
                self.skip(|byte| matches!(byte, b' ' | b'+' | b'~'));
                self.address()?;
            }
        }
        self.skip(|byte| matches!(byte, b' ' | b'!'));
        let start = self.at;
        let name = self.byte();
        self.at += 1;
        match name {
            b'{' | b'd' | b'D' | b'g' | b'G' | b'h' | b'H' | b'n' | b'N' | b'p' | b'P' | b'x'
            | b'z' | b'=' | b'F' => {}
            b'l' | b'q' | b'Q' | b'L' => self.skip(|byte| byte == b' ' || byte.is_ascii_digit()),
            b'#' => self.skip(|byte| byte != b'\n'),
            b':' | b'b' | b't' | b'T' | b'v' => {
                self.skip(|byte| !matches!(byte, b';' | b'\n' | b'}'))
            }
            b'a' | b'i' | b'c' => self.text_lines(),
            b'r' | b'R' => self.skip(|byte| byte != b'\n'),
            b'w' | b'W' => self.writes(),
            b'e' => {
                self.skip(|byte| byte == b' ');
                let code = self.at;
                self.skip(|byte| byte != b'\n');
                let what = if code == self.at {
                    What::Unknown("it runs what it reads")
                } else {
                    What::Shell
                };
                let from = if code == self.at { start } else { code };
                self.findings.push(Finding::new(from, self.at, what));
            }
            b's' => self.substitute(start)?,
            b'y' => {
                let sign = self.sign()?;
                self.section(sign)?;
                self.section(sign)?;
            }
            _ => {
                self.at = start;
                return None;
            }
        }
        Some(())
    }

    /// Reads an address; returns whether there is one.
    fn address(&mut self) -> Option<bool> {
        match self.byte() {
            b'0'..=b'9' => {
                self.skip(|byte| byte.is_ascii_digit() || byte == b'~');
                Some(true)
            }
            b'$' => {
                self.at += 1;
                Some(true)
            }
            b'/' | b'\\' => {
                if self.byte() == b'\\' {
                    self.at += 1;
                }
                let sign = self.sign()?;
                self.section(sign)?;
                self.skip(|byte| matches!(byte, b'I' | b'M'));
                Some(true)
            }
            // A mark: an unknown number or expression.
            byte if crate::value::is_mark(byte) => {
                self.skip(crate::value::is_mark);
                Some(true)
            }
            _ => Some(false),
        }
    }

    fn sign(&mut self) -> Option<u8> {
        let sign = self.byte();
        self.at += 1;
        (sign != 0 && sign != b'\n' && sign != b'\\').then_some(sign)
    }

    /// Reads up to a sign that is neither escaped nor in brackets.
    fn section(&mut self, sign: u8) -> Option<()> {
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            if byte == b'\\' {
                self.at += 1;
            } else if byte == sign {
                return Some(());
            }
        }
    }

    fn substitute(&mut self, start: usize) -> Option<()> {
        let sign = self.sign()?;
        self.section(sign)?;
        self.section(sign)?;
        loop {
            match self.byte() {
                b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9' => self.at += 1,
                b'e' => {
                    self.at += 1;
                    let what = What::Unknown("it runs what it replaces");
                    self.findings.push(Finding::new(start, self.at, what));
                }
                b'w' => {
                    self.at += 1;
                    self.writes();
                    return Some(());
                }
                _ => return Some(()),
            }
        }
    }

    fn writes(&mut self) {
        self.skip(|byte| byte == b' ');
        let start = self.at;
        self.skip(|byte| byte != b'\n');
        self.findings.push(Finding::new(start, self.at, What::Touches(Touch::Write)));
    }

    /// Skips the text of `a`, `i` and `c`, whose lines may be continued.
    fn text_lines(&mut self) {
        loop {
            let start = self.at;
            self.skip(|byte| byte != b'\n');
            let line = self.text.get(start..self.at).unwrap_or(&[]);
            if !line.ends_with(b"\\") || self.at >= self.text.len() {
                return;
            }
            self.at += 1;
        }
    }
}
