"""Drives commands, terminals and approvals of relay-serve with the official Python client: both protocols, both transports.

Each scenario is a promise, named by its function, and has a server and a folder of its own. Those of terminals are in
terminals.py.

    shell.py RELAY_SERVE BUNDLES [argument for relay-serve ...]

BUNDLES is a folder with the projects of ../shell: tools and approvals.
"""

import json
import sys
from typing import Any

import anyio
import mcp_types as types
import scenarios
import terminals
from mcp.shared.exceptions import MCPError
from operating import Operator, Setting
from report import Skip, describe, until, want
from results import texts
from serving import every

TOOLS = [
    *("shell_exec", "shell_script"),
    *("shell_spawn", "session_send", "session_recv", "session_resize", "session_kill", "session_list"),
    *("server_info", "audit_tail", "explain_context"),
]
# The rule of ../shell/approvals, at its line.
RULE = "(project.kdl:7)"
ASKED = "tier 2 (STATEFUL): removals: OPS-3"
UNABLE = f"[CONFIRM REQUIRED {ASKED} {RULE}]"
YES = types.ElicitResult(action="accept", content={"decision": "run once"})


async def the_tools_are_listed(setting: Setting) -> None:
    async with setting.operator("tools") as operator:
        tools = await every(lambda cursor: operator.client.list_tools(cursor=cursor), "tools")
        want([tool.name for tool in tools] == TOOLS, f"listed {[tool.name for tool in tools]}")
        required = {tool.name: tool.input_schema.get("required", []) for tool in tools}
        want(required["shell_exec"] == ["command"], f"required: {required}")
        want(required["session_send"] == ["session_id", "data"], f"required: {required}")


async def a_command_returns_its_exit_and_output(setting: Setting) -> None:
    async with setting.operator("tools") as operator:
        for command, wanted in (
            ("true", "[exit 0]\n"),
            ("printf a; printf b >&2; exit 3", "[exit 3]\nab"),
            ("kill -KILL $$", "[exit -9]\n"),
            ("pwd", f"[exit 0]\n{operator.folder}\n"),
            ("echo kept > file; cat file", "[exit 0]\nkept\n"),
        ):
            said = await operator.run(command)
            want(said == wanted, f"{command}: {said}")
        want((operator.folder / "file").read_text() == "kept\n", "the file is another")


async def a_command_gets_what_the_call_says(setting: Setting) -> None:
    async with setting.operator("tools") as operator:
        (operator.folder / "below").mkdir()
        for command, more, wanted in (
            ("cat", {"stdin": "first\nsecond"}, "[exit 0]\nfirst\nsecond"),
            ("wc -c", {"stdin": "x" * 300_000}, "[exit 0]\n300000\n"),
            ("echo e >&2; echo o", {"merge_stderr": False}, "[exit 0]\no\ne\n"),
            ("printf '%s|' 'a b' $X", {"use_shell": False}, "[exit 0]\na b|$X|"),
            ("basename \"$PWD\"; echo $GIVEN", {"cwd": "below", "env_json": '{"GIVEN": 7}'}, "[exit 0]\nbelow\n7\n"),
        ):
            said = await operator.run(command, **more)
            want(said == wanted, f"{command}: {said:.300}")


async def long_output_is_cut_and_says_its_length(setting: Setting) -> None:
    async with setting.operator("tools") as operator:
        said = await operator.run("head -c 200000 /dev/zero | tr '\\0' a", max_output=2048)
        wanted = f"[exit 0]\n{'a' * 2048}\n\n[TRUNCATED - 200000 bytes total, 2048 shown]"
        want(said == wanted, f"{len(said)} characters, which end with {said[-80:]}")


async def a_call_ends_at_its_time(setting: Setting) -> None:
    async with setting.operator("tools") as operator:
        said = await operator.run("sleep 30; touch late", timeout=1)
        want(said == "[TIMEOUT after 1s]", f"it says {said}")
        (record,) = operator.records("shell_exec")
        want(record["action"] == "timed_out", f"recorded as {record}")


async def a_call_that_the_client_gives_up_is_ended(setting: Setting) -> None:
    async with setting.operator("tools") as operator:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(operator.run, "touch begun; sleep 3; touch late")
            await until((operator.folder / "begun").exists, lambda: "it never began")
            tasks.cancel_scope.cancel()
        await until(lambda: operator.records("shell_exec") != [], lambda: "it goes on")
        want(operator.records("shell_exec")[0]["action"] == "cancelled", f"recorded {operator.records('shell_exec')}")
        await anyio.sleep(3)
        want(not (operator.folder / "late").exists(), "it ran to its end")


async def a_long_call_reports_its_progress(setting: Setting) -> None:
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with setting.operator("tools") as operator:
        # It reports every five seconds.
        result = await operator.client.call_tool("shell_exec", {"command": "sleep 6"}, progress_callback=hear)
        want(texts(result) == ["[exit 0]\n"], f"it says {texts(result)}")
        want(heard[:1] == [5.0], f"heard {heard}")


async def a_script_runs_in_its_interpreter(setting: Setting) -> None:
    async with setting.operator("tools") as operator:
        for script, more, wanted in (
            ("for i in 1 2; do\n    echo $i\ndone\nfalse\necho after", {}, "[exit 1]\n1\n2\n"),
            ("false\necho after", {"strict": False}, "[exit 0]\nafter\n"),
            ("[ -z \"$BASH_VERSION\" ] && echo sh", {"interpreter": "sh", "strict": False}, "[exit 0]\nsh\n"),
            ("import sys\nfor i in range(2):\n    print(i)\nsys.exit(4)", {"interpreter": "python"}, "[exit 4]\n0\n1\n"),
        ):
            said = await operator.call("shell_script", script=script, **more)
            want(said == wanted, f"{script}: {said}")
        wrong = await operator.call("shell_script", script="x", interpreter="perl")
        want(wrong.startswith("[ERROR: unsupported interpreter"), f"perl: {wrong}")


async def the_diagnostics_tell_of_commands(setting: Setting) -> None:
    async with setting.operator("tools") as operator:
        await operator.run("exit 3", stdin="password=hunter2")
        (line,) = (await operator.call("audit_tail", tool="shell_exec")).splitlines()
        record = json.loads(line)
        found = (record["principal"], record["action"], record["exit_code"], record["args"]["stdin"])
        want(found == ("op", "served", 3, "password=[redacted]"), f"recorded as {record}")
        info = json.loads(await operator.call("server_info"))
        want(info["transport"] == setting.transport, f"server_info says {info}")


class Person:
    """Who is asked, with what is answered; keeps the questions."""

    def __init__(self, answer: types.ElicitResult | types.ErrorData, after_s: float = 0):
        self.answer = answer
        self.after_s = after_s
        self.questions: list[types.ElicitRequestParams] = []

    async def __call__(self, params: types.ElicitRequestParams) -> types.ElicitResult | types.ErrorData:
        self.questions.append(params)
        await anyio.sleep(self.after_s)
        return self.answer


def want_approvals(operator: Operator, *words: str) -> None:
    """Wants records of commands with these answers, and for the modern protocol one of the question before each."""
    found = [record.get("approval", record["action"]) for record in operator.records("shell_exec")]
    want(found == list(words), f"recorded {found}, not {list(words)}")


async def remove(operator: Operator) -> str:
    (operator.folder / "victim").touch()
    return await operator.run("rm -v victim")


def has_victim(operator: Operator) -> bool:
    return (operator.folder / "victim").exists()


async def a_yes_runs_the_command_once(setting: Setting) -> None:
    person = Person(YES, after_s=1)
    async with setting.operator("approvals", person) as operator:
        for _ in range(2):
            said = await remove(operator)
            want(said == "[exit 0]\nremoved 'victim'\n", f"it says {said}")
            want(not has_victim(operator), "it did not run")
        want(len(person.questions) == 2, f"asked {len(person.questions)} times")
        form = person.questions[0]
        wanted = (
            "An agent asks to run this with `shell_exec` on the server of `approvals`:\n\n    rm -v victim\n\n"
            f"Folder: {operator.folder}\nCaller: op\nTier: 2 (STATEFUL)\nAsked because: removals: OPS-3 {RULE}"
        )
        want(form.message == wanted, f"the question is {form.message}")
        schema = form.requested_schema
        want(schema["required"] == ["decision"], f"the form is {schema}")
        decision = schema["properties"]["decision"]
        found = (decision["enum"], decision["default"])
        want(found == (["do not run", "run once"], "do not run"), f"the choice is {decision}")
        want_approvals(operator, *(["asked", "approved"] if setting.is_modern else ["approved"]) * 2)


async def every_other_answer_runs_nothing_and_says_why(setting: Setting) -> None:
    person = Person(YES)
    undecided = "the client approved it without a decision of a person"
    async with setting.operator("approvals", person) as operator:
        for answer, why in (
            (types.ElicitResult(action="decline"), "the person declined it"),
            (types.ElicitResult(action="cancel"), "the person closed the question"),
            (types.ElicitResult(action="accept", content={}), undecided),
            (types.ElicitResult(action="accept"), undecided),
            (types.ElicitResult(action="accept", content={"decision": "do not run"}), "the person declined it"),
            (types.ElicitResult(action="accept", content={"decision": True}), undecided),
        ):
            person.answer = answer
            said = await remove(operator)
            want(said == f"[DENIED {ASKED}; {why} {RULE}]", f"{answer}: {said}")
            want(has_victim(operator), f"{answer} ran it")
        words = ["declined", "closed", "undecided", "undecided", "declined", "undecided"]
        want_approvals(operator, *(word for last in words for word in (["asked", last] if setting.is_modern else [last])))


async def a_client_that_asks_nobody_runs_nothing(setting: Setting) -> None:
    async with setting.operator("approvals") as operator:
        said = await remove(operator)
        want(said == UNABLE, f"it says {said}")
        want(has_victim(operator), "it ran")
        want_approvals(operator, "unable")


async def a_client_that_fails_to_ask_runs_nothing(setting: Setting) -> None:
    failure = types.ErrorData(code=types.INTERNAL_ERROR, message="nobody is here")
    async with setting.operator("approvals", Person(failure)) as operator:
        try:
            said = await remove(operator)
        except MCPError as error:
            # A modern client has the question, and never repeats the call.
            want(setting.is_modern and error.message == failure.message, describe(error))
        else:
            want(not setting.is_modern and said == UNABLE, f"it says {said}")
        want(has_victim(operator), "it ran")
        said = await operator.run("echo goes on")
        want(said == "[exit 0]\ngoes on\n", f"afterwards it says {said}")


async def nobody_is_asked_about_what_runs_or_is_denied_anyway(setting: Setting) -> None:
    person = Person(YES)
    async with setting.operator("approvals", person) as operator:
        said = await operator.run("echo removed")
        want(said == "[exit 0]\nremoved\n", f"it says {said}")
        said = await operator.run("rm -v victim; shutdown now")
        want(said.startswith("[DENIED ") and "never" in said, f"it says {said}")
        want(person.questions == [], f"asked {person.questions}")


async def scripts_and_typed_lines_are_asked_about_too(setting: Setting) -> None:
    person = Person(YES)
    async with setting.operator("approvals", person) as operator:
        (operator.folder / "victim").touch()
        said = await operator.call("shell_script", script="echo begin\nrm victim\necho end")
        want(said == "[exit 0]\nbegin\nend\n", f"it says {said}")
        (operator.folder / "victim").touch()
        shell = await terminals.Terminal.begin(operator)
        await shell.shows(terminals.PROMPT)
        await shell.type("rm -v victim")
        await shell.shows("removed 'victim'\r\n")
        want(len(person.questions) == 2, f"asked {len(person.questions)} times")
        person.answer = types.ElicitResult(action="decline")
        said = await operator.call("session_send", session_id=shell.session, data="rm -v server.toml")
        want(said.startswith("[DENIED ") and "declined" in said, f"it says {said}")
        want((operator.folder / "server.toml").exists(), "it ran")
        await shell.kill()


async def calls_wait_for_their_own_answers(setting: Setting) -> None:
    async def decide(params: types.ElicitRequestParams) -> types.ElicitResult:
        is_first = "rm -v first" in params.message
        # The second is answered while the first waits.
        await anyio.sleep(1.5 if is_first else 0.2)
        return YES if is_first else types.ElicitResult(action="decline")

    said: dict[str, str] = {}

    async def run(operator: Operator, name: str) -> None:
        (operator.folder / name).touch()
        said[name] = await operator.run(f"rm -v {name}")

    async with setting.operator("approvals", decide) as operator:
        async with anyio.create_task_group() as tasks:
            for name in ("first", "second"):
                tasks.start_soon(run, operator, name)
        want(said["first"] == "[exit 0]\nremoved 'first'\n", f"the first says {said['first']}")
        want("the person declined it" in said["second"], f"the second says {said['second']}")
        want(list(said) == ["second", "first"], f"they ended in the order {list(said)}")


async def a_call_that_is_given_up_takes_its_question_along(setting: Setting) -> None:
    person = Person(YES, after_s=scenarios.SCENARIO_S_MAX)
    async with setting.operator("approvals", person) as operator:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(remove, operator)
            await until(lambda: person.questions != [], lambda: "nobody is asked")
            tasks.cancel_scope.cancel()
        # A modern client has the question already, and does not repeat the call.
        word = "asked" if setting.is_modern else "cancelled"
        await until(lambda: operator.records("shell_exec") != [], lambda: "it goes on")
        want_approvals(operator, word)
        want(has_victim(operator), "it ran")
        said = await operator.run("echo goes on")
        want(said == "[exit 0]\ngoes on\n", f"afterwards it says {said}")


async def a_yes_counts_once_and_for_its_call(setting: Setting) -> None:
    if not setting.is_modern:
        raise Skip("a call is not repeated")
    async with setting.operator("approvals", Person(YES)) as operator:
        (operator.folder / "victim").touch()
        (operator.folder / "other").touch()

        async def call(command: str, **more: Any) -> types.CallToolResult | types.InputRequiredResult:
            session = operator.client.session
            return await session.call_tool("shell_exec", {"command": command}, allow_input_required=True, **more)

        asked = await call("rm -v victim")
        want(isinstance(asked, types.InputRequiredResult), f"not asked: {asked}")
        answered = {"request_state": asked.request_state, "input_responses": {"approve": YES}}
        for command, wanted in (
            ("rm -v other", "the yes is for another call"),
            ("rm -v victim", "[exit 0]\nremoved 'victim'\n"),
            ("rm -v victim", "this yes was used already, and counts once"),
        ):
            said = texts(await call(command, **answered))[0]
            want(wanted in said, f"{command}: {said}")
        want((operator.folder / "other").exists(), "the other call ran")


SCENARIOS = (
    the_tools_are_listed,
    a_command_returns_its_exit_and_output,
    a_command_gets_what_the_call_says,
    long_output_is_cut_and_says_its_length,
    a_call_ends_at_its_time,
    a_call_that_the_client_gives_up_is_ended,
    a_long_call_reports_its_progress,
    a_script_runs_in_its_interpreter,
    the_diagnostics_tell_of_commands,
    *terminals.SCENARIOS,
    a_yes_runs_the_command_once,
    every_other_answer_runs_nothing_and_says_why,
    a_client_that_asks_nobody_runs_nothing,
    a_client_that_fails_to_ask_runs_nothing,
    nobody_is_asked_about_what_runs_or_is_denied_anyway,
    scripts_and_typed_lines_are_asked_about_too,
    calls_wait_for_their_own_answers,
    a_call_that_is_given_up_takes_its_question_along,
    a_yes_counts_once_and_for_its_call,
)


if __name__ == "__main__":
    sys.exit(scenarios.play("shell python", Setting, SCENARIOS))
