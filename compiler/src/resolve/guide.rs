//! The guide to the tools of `shell` and `sessions`: the prompt `operating_guide`, and the short form of
//! it in the instructions (message `tool-guidance`).
//!
//! Both are made of the groups that the project offers, so no text is about a missing tool. Callers
//! who lack one of these tools get neither, since they would read its name.

use relay_bundle::{Message, Part, PartContent, Rendering, Role, Segment, SharedText};

use crate::ast::{PromptSettings, ToolChoice, ToolGroup};
use crate::measure::DURATION;
use crate::model::{Prompt, Readers, Setting};
use crate::source::{Sources, Span, Spanned};

/// The name of the prompt, as callers of the peer know it (ADR 0008 of relay-shell).
pub(super) const NAME: &str = "operating_guide";

const TITLE: &str = "Operating guide";
const DESCRIPTION: &str = "How to choose and use the tools that run commands and programs here.";

const SHELL: &str = "\
## Commands

- `shell_exec` runs a command that ends by itself and returns `[exit N]` and its output. `shell_script` \
does the same for a script of several lines in bash, sh or python.
- Each call starts afresh: a `cd`, a variable or a function lasts for one call. Give the folder as `cwd` \
and variables as `env_json`.
- A command has no terminal, so it cannot ask you anything. Give its input as `stdin`, and options such \
as `--yes`.
- The command and all that it started end with the call, and after `timeout` seconds at the latest.
- Ask for the output that you need. A longer one is cut at `max_output` bytes, and \
`[TRUNCATED - N bytes total, M shown]` says so.";

const SSH: &str = "\
## Other hosts

- `ssh_hosts` lists the hosts that you may name. Name one by its alias: its address, user, key and way are \
set already.
- `ssh_exec(host, command)` runs a command there and returns `[exit N]` and its output. For the same \
command on many hosts, `ssh_check` shows which can be reached, and `ssh_fanout` runs it on all at once.
- `ssh_upload` and `ssh_download` copy files and folders between this server and a host.
- `ssh_forward(host, spec=\"L:0:localhost:5432\")` opens a port of this server that leads to one of the host, \
and returns its number. `ssh_forward_close` closes it.
- The policy decides a command by its text and by the host that it runs on.
- A lost connection or a timeout says whether the command may still run there. Look before you run it again.";

const WHICH: &str = "\
## Which tool

- A command that ends by itself: `shell_exec`.
- Several statements, or another language: `shell_script`.
- A program that you type into, watch or leave running (a REPL, an editor, a pager, a password prompt, a \
server): a session. `shell_spawn` and the `session_` tools are one workflow.";

const ANSWERS: &str = "\
## When a call has no result

A policy decides every call before anything runs, and every call is recorded.

- `[DENIED tier N (NAME): reason]`: the policy refuses it. The tier says how far the effects go, from 0 \
(it only reads) to 3 (it cannot be undone). Another spelling with the same effects is refused too. Do \
what the reason leaves open, or tell the person who gave you the task.
- `[CONFIRM REQUIRED tier N (NAME): reason]`: a person has to approve it, and none could be asked here. \
Nothing ran. Ask for it in your answer.
- `[TIMEOUT after Ns]`: the time was over, and the command was ended. Part of its work may be done.
- `[ERROR: …]`: the call itself failed; the text says why. After `[ERROR: busy …]`, wait and call again.";

/// The groups whose tools the guide is about, as a project offers them.
struct Guided<'t> {
    shell: Option<&'t ToolChoice>,
    sessions: Option<&'t ToolChoice>,
    ssh: Option<&'t ToolChoice>,
}

impl<'t> Guided<'t> {
    fn of(tools: &'t [ToolChoice]) -> Self {
        let offered = |group| tools.iter().find(|choice| choice.group.value == group);
        Self {
            shell: offered(ToolGroup::Shell),
            sessions: offered(ToolGroup::Sessions),
            ssh: offered(ToolGroup::Ssh),
        }
    }

    /// Returns the place of the first node that offers one of the groups.
    fn at(&self) -> Option<Span> {
        self.shell.or(self.sessions).or(self.ssh).map(|choice| choice.group.at)
    }
}

/// Returns the prompt; `None` if the project offers none of its tools.
pub(super) fn prompt(sources: &Sources<'_>, tools: &[ToolChoice]) -> Option<Prompt> {
    let guided = Guided::of(tools);
    let at = guided.at()?;
    let text = SharedText::from(text(&guided));
    let place = sources.place(at);
    let content = PartContent::Text(vec![Segment::Literal(text.clone())]);
    let part = Part { content, at: place.clone() };
    let message = Message { role: Role::User, parts: vec![part], at: place };
    let said = |text: &str| Some(Spanned { value: text.to_owned(), at });
    Some(Prompt {
        name: Spanned { value: NAME.to_owned(), at },
        settings: PromptSettings {
            title: said(TITLE),
            description: said(DESCRIPTION),
            ..PromptSettings::default()
        },
        // An agent asks for it; a briefing is about the project.
        briefing: Setting { value: false, at: None },
        summary: None,
        chapters: Vec::new(),
        meta: None,
        arguments: Vec::new(),
        rendering: Rendering { arguments: Vec::new(), variants: vec![vec![message]] },
        body: Setting { value: text, at: None },
        bodies: Vec::new(),
        included: Vec::new(),
        messages: Vec::new(),
        booleans: Vec::new(),
        readers: Readers::default(),
        allowed: Vec::new(),
        agent_skill: None,
        generated: true,
    })
}

fn text(guided: &Guided<'_>) -> String {
    let both = guided.shell.is_some() && guided.sessions.is_some();
    let parts = [
        both.then(|| WHICH.to_owned()),
        guided.shell.map(|_| SHELL.to_owned()),
        guided.sessions.map(|choice| sessions(choice, guided.ssh.is_some())),
        guided.ssh.map(|_| SSH.to_owned()),
        Some(ANSWERS.to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("# {TITLE}\n\n{}", parts.join("\n\n"))
}

fn sessions(choice: &ToolChoice, has_hosts: bool) -> String {
    let there = if has_hosts { " `ssh_spawn(host)` starts one on another host." } else { "" };
    let settings = &choice.settings;
    let [idle, lifetime] = [&settings.idle_s, &settings.lifetime_s].map(|it| in_words(it.value));
    format!(
        "\
## Sessions

A session is a program in a terminal of its own. It keeps its folder, its variables and its screen from \
call to call.

1. `shell_spawn(command=\"bash\")` starts it and returns its id.{there}
2. `session_send(session_id, data=\"make test\")` types a line and Enter. Keys are control characters \
with `enter=false`: `\\u0003` is Ctrl-C, `\\u0004` is Ctrl-D.
3. `session_recv(session_id, timeout=5)` returns the output since the last call. It is empty if nothing \
came in time; call again for a program that takes longer. `[session ID ended, exit=N]` is the end.
4. `session_kill(session_id)` ends the programs in it and frees the session. `session_list` shows yours.

Send one line and read its output before the next: the policy decides each line by what is typed so far, \
without knowing its folder. Where that matters, write absolute paths, or `cd /srv/app && …` in the line. \
A session ends after {idle} without a call, and after {lifetime} in any case."
    )
}

fn in_words(seconds: u32) -> String {
    let (number, unit) = DURATION.in_largest(seconds.into());
    let word = match unit {
        "m" => "minute",
        "h" => "hour",
        "d" => "day",
        _ => "second",
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {word}{plural}")
}

/// Returns the short form for the instructions: empty if the project offers none of the tools.
pub(super) fn short(tools: &[ToolChoice], prompts: &[Prompt]) -> String {
    let guided = Guided::of(tools);
    if guided.at().is_none() {
        return String::new();
    }
    // The project may have one of its own, and callers that it is not for would look in vain.
    let mut guides = prompts.iter().filter(|prompt| prompt.name.value == NAME);
    let guide = guides.find(|prompt| prompt.readers == Readers::default());
    let sentences = [
        guided.shell.map(|_| {
            "`shell_exec` runs a command that ends by itself, `shell_script` a script of several lines."
                .to_owned()
        }),
        guided.sessions.map(|_| {
            "For a program that you type into or watch, `shell_spawn` starts a session: then \
`session_send` types, `session_recv` reads, and `session_kill` ends it."
                .to_owned()
        }),
        Some("A policy decides each call, and a refusal says why.".to_owned()),
        guide.map(|_| format!("The prompt `{NAME}` explains these tools and their answers.")),
    ];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
