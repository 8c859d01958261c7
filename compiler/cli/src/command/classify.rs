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
use crate::crew;
use crate::exit::Exit;
use crate::failure::{Failure, reason};
use crate::judge::{self, Chosen};
use crate::output::Output;

/// The most bytes of an input line: the longest text with every byte escaped.
const LINE_BYTES_MAX: usize = 512 * 1024;
/// The bytes of input that are read at once, as many as a pipe holds.
const INPUT_BYTES: usize = 64 * 1024;
/// The most lines that are answered together.
const LINES_MAX: usize = 1024;

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
    let width = output.result_look().width;
    let answers = Answers { judged, form, most, width };
    if !arguments.words.is_empty() {
        let Answered { text, exit } = answers.of_words(&words::text(&arguments.words)?)?;
        answers.print(&text, output)?;
        return Ok(exit);
    }
    if io::stdin().is_terminal() {
        output.note("reading commands from the terminal, one a line; Ctrl+D ends it");
    }
    answers.lines(&mut BufReader::with_capacity(INPUT_BYTES, io::stdin().lock()), output)
}

/// Everything that commands are judged by.
#[derive(Clone, Copy)]
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

/// The form of the answers, and how they are found.
struct Answers<'f> {
    judged: Judged<'f>,
    form: AnswerFormat,
    /// The highest tier that counts as success.
    most: Tier,
    /// The columns of a person's terminal.
    width: usize,
}

/// The answer to a command.
struct Answered {
    text: String,
    /// [`Exit::No`] if the tier is too high, or the input line is malformed.
    exit: Exit,
}

/// A line of the input.
struct Line {
    bytes: Vec<u8>,
    /// Whether it is not too long, so that `bytes` are all of it.
    is_whole: bool,
}

impl Answers<'_> {
    /// Answers every line of the input, as soon as it is read. Lines that are there already are answered
    /// together, on all cores.
    fn lines(
        mut self,
        input: &mut BufReader<impl Read>,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let mut exit = Exit::Yes;
        let mut before = 0;
        loop {
            let lines = read_lines(input).map_err(|error| {
                Failure::error(format!("cannot read standard input: {}", reason(&error)))
            })?;
            if lines.is_empty() {
                return Ok(exit);
            }
            // The terminal may have another size by now.
            self.width = output.result_look().width;
            let answers = crew::map(&lines, |index, line| self.of_line(line, before + index + 1));
            let mut text = String::new();
            for answered in answers {
                let answered = answered?;
                text.push_str(&answered.text);
                if answered.exit == Exit::No {
                    exit = Exit::No;
                }
            }
            self.print(&text, output)?;
            if output.is_closed() {
                return Err(Failure::ClosedPipe);
            }
            before += lines.len();
        }
    }

    fn print(&self, text: &str, output: &mut Output) -> Result<(), Failure> {
        match self.form {
            AnswerFormat::Json => output.verbatim(text),
            AnswerFormat::Human => output.result(text),
        }
    }

    /// Answers the command of the command line.
    fn of_words(&self, command: &str) -> Result<Answered, serde_json::Error> {
        let verdict = self.judged.verdict(command);
        let exit = self.exit(&verdict);
        let text = match self.form {
            AnswerFormat::Json => json_line(&self.classified(command, 1, &verdict))?,
            AnswerFormat::Human => self.drawn(command, &verdict),
        };
        Ok(Answered { text, exit })
    }

    /// Answers the input line with this number.
    fn of_line(&self, line: &Line, number: usize) -> Result<Answered, serde_json::Error> {
        let Line { bytes, is_whole } = line;
        let Judged { facts, rules, location } = self.judged;
        match self.form {
            AnswerFormat::Json => {
                let (answer, exit) = match asked(bytes, *is_whole) {
                    Ok(Asked { command }) => {
                        let verdict = self.judged.verdict(&command);
                        (self.classified(&command, number, &verdict), self.exit(&verdict))
                    }
                    Err(error) => {
                        let format_version = FORMAT_VERSION;
                        (Classified::Error(Rejected { format_version, error }), Exit::No)
                    }
                };
                Ok(Answered { text: json_line(&answer)?, exit })
            }
            AnswerFormat::Human => {
                let verdict = classify_bytes(bytes, location, facts, rules);
                let text = self.drawn(&String::from_utf8_lossy(bytes), &verdict);
                Ok(Answered { text, exit: self.exit(&verdict) })
            }
        }
    }

    /// Returns whether a command is within the highest tier.
    fn exit(&self, verdict: &Verdict) -> Exit {
        if verdict.tier > self.most { Exit::No } else { Exit::Yes }
    }

    fn drawn(&self, text: &str, verdict: &Verdict) -> String {
        verdict::drawn(text, verdict, self.judged.facts, self.width)
    }

    fn classified(&self, command: &str, line: usize, verdict: &Verdict) -> Classified {
        let facts = self.judged.facts;
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

/// Returns the question of an input line, or its error.
fn asked(line: &[u8], is_whole: bool) -> Result<Asked, String> {
    if !is_whole {
        return Err(format!("the line has more than {LINE_BYTES_MAX} bytes"));
    }
    serde_json::from_slice(line)
        .map_err(|error| format!("the line is not {{\"command\":TEXT}}: {error}"))
}

fn json_line(answer: &Classified) -> Result<String, serde_json::Error> {
    let mut line = visible_json(&serde_json::to_string(answer)?).into_owned();
    line.push('\n');
    Ok(line)
}

/// Reads the next line, and those after it that are there already; none at the end of the input.
fn read_lines(input: &mut BufReader<impl Read>) -> io::Result<Vec<Line>> {
    let mut lines = Vec::new();
    loop {
        let mut bytes = Vec::new();
        let Some(is_whole) = read_line(input, &mut bytes)? else { return Ok(lines) };
        lines.push(Line { bytes, is_whole });
        if lines.len() == LINES_MAX || !input.buffer().contains(&b'\n') {
            return Ok(lines);
        }
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
