//! `shell_exec` and `shell_script`: one command of a caller, from its start to its output.

use relay_engine::tool::{plain_words, split_words};
use relay_keeper::{Ended, Job, StartError};

use super::decide::Permit;
use super::error::CallError;
use super::implementation::{Outcome, Run, Running, Tool};
use super::observed;
use crate::process::{Captured, Command, Folder, Interpreter, capture, locate, open_streams};

/// `shell_exec`.
pub(super) struct ShellExec;

/// `shell_script`.
pub(super) struct ShellScript;

impl Tool for ShellExec {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let arguments = &run.arguments;
            let text = arguments.text("command").unwrap_or_default();
            let input = arguments.text("stdin").unwrap_or_default().to_owned();
            let merges = arguments.boolean("merge_stderr").unwrap_or(true);
            let in_bash = |input| Interpreter::Bash.command(text.to_owned(), input);
            if arguments.boolean("use_shell") == Some(false) {
                let words = split_words(text).ok_or_else(|| {
                    CallError::Failed("`command` is empty, or a quote is left open".to_owned())
                })?;
                return execute(permit, &run, Command { words, input }, merges).await;
            }
            // A command that bash would only start is started without it, which means the same.
            if let Some(words) = plain_words(text) {
                let command = Command { words, input: input.clone() };
                match execute(permit, &run, command, merges).await {
                    Err(CallError::NotStarted) => {}
                    done => return done,
                }
            }
            execute(permit, &run, in_bash(input), merges).await
        })
    }
}

impl Tool for ShellScript {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let arguments = &run.arguments;
            let script = arguments.text("script").unwrap_or_default();
            let name = arguments.text("interpreter").unwrap_or("bash");
            let interpreter = Interpreter::named(name).ok_or_else(|| {
                CallError::Failed(
                    "unsupported interpreter; there are bash, sh and python".to_owned(),
                )
            })?;
            let strict = match arguments.boolean("strict").unwrap_or(true) {
                true => interpreter.strict(),
                false => "",
            };
            let command = interpreter.command(format!("{strict}{script}"), String::new());
            execute(permit, &run, command, true).await
        })
    }
}

/// Runs a command and returns its exit and output.
async fn execute(
    permit: &Permit,
    run: &Run<'_>,
    command: Command,
    merges: bool,
) -> Result<Outcome, CallError> {
    let failed = |error: &dyn ToString| CallError::Failed(error.to_string());
    let processes = &run.call.server.processes;
    let Some(Folder { path: cwd, .. }) = permit.folder().cloned() else {
        return Err(CallError::Failed("the folder of the call is unknown".to_owned()));
    };
    let settings = run.call.placed.loaded.shell();
    let json = run.arguments.text("env_json").unwrap_or_default();
    let environment = processes.variables(&settings, json).map_err(|error| failed(&error))?;
    let Command { words, input } = command;
    let name = words.first().map(String::as_str).unwrap_or_default();
    let program = locate(name, &cwd, &environment).ok_or(CallError::NotStarted)?;
    let _place =
        processes.place(permit.principal().caller_key()).await.map_err(|error| failed(&error))?;
    let keeper = processes.keeper().await.map_err(|error| failed(&error))?;
    let (streams, ours) = open_streams(input, merges).map_err(|error| failed(&error))?;
    let argv = words.into_iter().map(Into::into).collect();
    let job = Job { program, argv, environment, cwd, streams };
    let (running, recorded) = match observed::spawn(run.call, keeper, job).await {
        Ok(started) => started,
        Err(StartError::Exec(_)) => return Err(CallError::NotStarted),
        Err(error) => return Err(failed(&error)),
    };
    let bytes_max = run.arguments.integer("max_output").unwrap_or_default();
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    let captured = capture(ours, bytes_max, running.exit()).await;
    // Ends all processes that the command left behind.
    drop(running);
    recorded.complete().await;
    Ok(outcome(&captured))
}

/// Returns the answer: the exit code, the output, and a note on bytes that are left out.
fn outcome(captured: &Captured) -> Outcome {
    let Captured { kept, bytes, ended } = captured;
    let (exit_code, head) = match ended {
        Ended::Code(code) => (Some(*code), format!("[exit {code}]\n")),
        // As Python numbers the death by a signal.
        Ended::Signal(signal) => (Some(-signal), format!("[exit -{signal}]\n")),
        Ended::Lost => {
            (None, "[ERROR: the process was lost, so its outcome is unknown]\n".to_owned())
        }
    };
    let mut text = head;
    kept.iter().map(|part| String::from_utf8_lossy(part)).for_each(|part| text.push_str(&part));
    let shown: usize = kept.iter().map(Vec::len).sum();
    if *bytes > shown as u64 {
        text.push_str(&format!("\n\n[TRUNCATED - {bytes} bytes total, {shown} shown]"));
    }
    Outcome { text, exit_code, is_error: *ended == Ended::Lost, ..Outcome::default() }
}
