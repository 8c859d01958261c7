//! A program under Valgrind, which counts its instructions.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::agent::is_installed;
use crate::stdio::Session;
use crate::{Result, Setting};

const VALGRIND: &str = "valgrind";

/// Runs programs and counts.
pub(crate) struct Counter<'s> {
    pub(crate) setting: &'s Setting,
    log: PathBuf,
}

impl<'s> Counter<'s> {
    /// Fails if Valgrind is missing.
    pub(crate) fn new(setting: &'s Setting) -> Result<Self> {
        if !is_installed(VALGRIND) {
            return Err("counts need valgrind, which is not in the PATH".into());
        }
        Ok(Self { setting, log: setting.folder.join("valgrind.log") })
    }

    /// Returns a program's instructions with this input, and what it printed; it must end with this code.
    pub(crate) fn process(
        &self,
        command: Command,
        input: &[u8],
        code: i32,
    ) -> Result<(u64, String)> {
        let mut command = self.under(&command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input)?;
        }
        let output = child.wait_with_output()?;
        if output.status.code() != Some(code) {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{command:?} ended with {}: {text}", output.status).into());
        }
        Ok((self.instructions()?, String::from_utf8(output.stdout)?))
    }

    /// Returns the instructions of a server until the end of a conversation.
    pub(crate) fn conversation(
        &self,
        command: Command,
        talk: impl FnOnce(&mut Session) -> Result<()>,
    ) -> Result<u64> {
        let mut session = Session::start(self.under(&command))?;
        talk(&mut session)?;
        session.end()?;
        self.instructions()
    }

    /// Returns the instructions of so many rounds of work in this program, and their operations.
    pub(crate) fn work(&self, id: &str, rounds: usize) -> Result<(u64, u64)> {
        let mut command = harness::command(std::env::current_exe()?, &self.setting.folder);
        command.args([super::WORK, id, &rounds.to_string()]).arg(&self.setting.folder);
        let (instructions, printed) = self.process(command, b"", 0)?;
        Ok((instructions, printed.trim().parse()?))
    }

    fn under(&self, command: &Command) -> Command {
        let folder = command.get_current_dir().unwrap_or(&self.setting.folder);
        let mut under = harness::command(VALGRIND, folder);
        under.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
        under.arg(format!("--log-file={}", self.log.display()));
        under.arg(command.get_program()).args(command.get_args());
        under
    }

    fn instructions(&self) -> Result<u64> {
        let log = fs::read_to_string(&self.log)?;
        let line =
            log.lines().find(|line| line.contains("refs:")).ok_or("Valgrind counted nothing")?;
        let digits: String = line.rsplit(':').next().unwrap_or_default().replace(',', "");
        Ok(digits.trim().parse()?)
    }
}
