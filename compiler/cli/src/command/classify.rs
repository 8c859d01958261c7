//! `relay classify`: the tiers of commands, and the reasons.

mod words;

use std::io::{self, BufRead, BufReader, IsTerminal, Read};

use relay_bundle::Tier;
use relay_engine::invisible::visible_json;
use relay_policy::classify::{Rules, Verdict, classify_at, classify_bytes};
use relay_policy::facts::Facts;
use relay_policy::location::Location;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::FORMAT_VERSION;
use crate::answer::effect::{Called, Done};
use crate::answer::hit::{Raised, is_zero};
use crate::answer::verdict;
use crate::args::{AnswerFormat, ClassifyArgs};
use crate::exit::Exit;
use crate::failure::{Failure, reason};
use crate::judge::{self, Chosen};
use crate::output::Output;

/// The most bytes of an input line: the longest text with every byte escaped.
const LINE_BYTES_MAX: usize = 512 * 1024;

/// An output line of `relay classify --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Classified {
    /// The tier, calls and effects of a command.
    Answer(Answer),
    /// The input line is malformed.
    Error(Rejected),
}

/// The tier, calls and effects of a command.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// The version of this JSON format.
    format_version: u32,
    /// The command.
    command: String,
    /// The number of its input line, from 1.
    line: usize,
    /// How hard the worst of its effects is to undo: 0 to 3.
    tier: Tier,
    /// The tier's name.
    name: &'static str,
    /// The programs that it may run, in the order in which they begin.
    calls: Vec<Called>,
    /// Its effects, in order; those of a call follow those of the code that it runs.
    effects: Vec<Done>,
    /// The effects that raised the tier, the highest first; empty exactly for tier 0.
    hits: Vec<Raised>,
    /// How many further hits there are.
    #[serde(skip_serializing_if = "is_zero")]
    omitted: usize,
}

/// A malformed input line.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Rejected {
    /// The version of this JSON format.
    format_version: u32,
    /// The error in it.
    error: String,
}

/// An input line of `relay classify --json`.
#[derive(Deserialize)]
struct Asked {
    command: String,
}

pub(crate) fn run(arguments: &ClassifyArgs, output: &mut Output) -> Result<Exit, Failure> {
    let judge = match judge::choose(arguments.policy.as_deref(), output)? {
        Chosen::Judge(judge) => judge,
        Chosen::Ended(exit) => return Ok(exit),
    };
    let facts = judge.facts()?;
    let form = arguments.format.chosen();
    let location = arguments.location.location()?;
    let most = arguments.max_tier.and_then(Tier::from_number).unwrap_or(Tier::Irreversible);
    let judged = Judged { facts: &facts, rules: &judge.rules, location: &location };
    let mut answers = Answers { judged, form, most, exit: Exit::Yes };
    if arguments.words.is_empty() {
        if io::stdin().is_terminal() {
            output.note("reading commands from the terminal, one a line; Ctrl+D ends it");
        }
        answers.lines(&mut BufReader::new(io::stdin().lock()), output)?;
    } else {
        answers.print(&words::text(&arguments.words)?, output)?;
    }
    Ok(answers.exit)
}

/// Everything that commands are judged by.
struct Judged<'f> {
    facts: &'f Facts<'f>,
    rules: &'f Rules,
    location: &'f Location,
}

impl Judged<'_> {
    fn verdict(&self, text: &str) -> Verdict {
        classify_at(text, self.location, self.facts, self.rules)
    }
}

struct Answers<'f> {
    judged: Judged<'f>,
    form: AnswerFormat,
    /// The highest tier that counts as success.
    most: Tier,
    /// Whether every command so far is within that tier, and every input line is understood.
    exit: Exit,
}

impl Answers<'_> {
    /// Answers every line of the input, as soon as it is read.
    fn lines(
        &mut self,
        input: &mut BufReader<impl Read>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let mut line = Vec::new();
        let mut answers = String::new();
        let mut number = 0;
        loop {
            line.clear();
            let is_whole = read_line(input, &mut line).map_err(|error| {
                Failure::error(format!("cannot read standard input: {}", reason(&error)))
            })?;
            let Some(is_whole) = is_whole else { break };
            number += 1;
            match self.form {
                AnswerFormat::Json => {
                    let answer = self.answer(&line, number, is_whole);
                    if matches!(answer, Classified::Error(_)) {
                        self.exit = Exit::No;
                    }
                    answers.push_str(&visible_json(&serde_json::to_string(&answer)?));
                    answers.push('\n');
                }
                AnswerFormat::Human => {
                    let verdict = classify_bytes(
                        &line,
                        self.judged.location,
                        self.judged.facts,
                        self.judged.rules,
                    );
                    self.note(&verdict);
                    let text = String::from_utf8_lossy(&line);
                    answers.push_str(&self.drawn(&text, &verdict, output));
                }
            }
            // Callers get their answers before more input is read; lines that are there already are
            // answered together.
            if answers.len() > 64 * 1024 || !input.buffer().contains(&b'\n') {
                self.flush(&mut answers, output)?;
            }
        }
        self.flush(&mut answers, output)
    }

    fn flush(&self, answers: &mut String, output: &mut Output) -> Result<(), Failure> {
        if !answers.is_empty() {
            match self.form {
                AnswerFormat::Json => output.verbatim(answers)?,
                AnswerFormat::Human => output.result(&*answers)?,
            }
            answers.clear();
        }
        if output.is_closed() { Err(Failure::ClosedPipe) } else { Ok(()) }
    }

    fn print(&mut self, text: &str, output: &mut Output) -> Result<(), Failure> {
        match self.form {
            AnswerFormat::Json => {
                let line = serde_json::to_string(&self.classified(text, 1))?;
                let mut line = visible_json(&line).into_owned();
                line.push('\n');
                output.verbatim(&line)
            }
            AnswerFormat::Human => {
                let verdict = self.judged.verdict(text);
                self.note(&verdict);
                let drawn = self.drawn(text, &verdict, output);
                output.result(drawn)
            }
        }
    }

    /// Records whether a command is within the highest tier.
    fn note(&mut self, verdict: &Verdict) {
        if verdict.tier > self.most {
            self.exit = Exit::No;
        }
    }

    fn drawn(&self, text: &str, verdict: &Verdict, output: &Output) -> String {
        verdict::drawn(text, verdict, self.judged.facts, output.result_look().width)
    }

    fn answer(&mut self, line: &[u8], number: usize, is_whole: bool) -> Classified {
        let rejected =
            |error: String| Classified::Error(Rejected { format_version: FORMAT_VERSION, error });
        if !is_whole {
            return rejected(format!("the line has more than {LINE_BYTES_MAX} bytes"));
        }
        match serde_json::from_slice::<Asked>(line) {
            Ok(asked) => self.classified(&asked.command, number),
            Err(error) => rejected(format!("the line is not {{\"command\":TEXT}}: {error}")),
        }
    }

    fn classified(&mut self, command: &str, line: usize) -> Classified {
        let verdict = &self.judged.verdict(command);
        let facts = self.judged.facts;
        self.note(verdict);
        Classified::Answer(Answer {
            format_version: FORMAT_VERSION,
            command: command.to_owned(),
            line,
            tier: verdict.tier,
            name: verdict.tier.name(),
            calls: Called::all(verdict, facts),
            effects: Done::all(verdict, facts),
            hits: Raised::all(verdict, facts),
            omitted: verdict.omitted,
        })
    }
}

/// Reads a line up to its end; `None` at the end of the input, else whether all of it was kept.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    let limit = LINE_BYTES_MAX as u64 + 1;
    let read = input.by_ref().take(limit).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Some(true));
    }
    if line.len() <= LINE_BYTES_MAX {
        return Ok(Some(true));
    }
    // The rest of the line is skipped, piece by piece.
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(Some(false));
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(buffer.len(), |at| at + 1);
        input.consume(length);
        if end.is_some() {
            return Ok(Some(false));
        }
    }
}
