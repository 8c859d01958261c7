"""What shell.py does with programs in a terminal, and remote.py uses. Each scenario is a promise, named by its function."""

import json
import re
import shutil
from typing import Any

from operating import Operator, Setting
from report import WAIT_S_MAX, Skip, want

PROMPT = r"bash-[\d.]+[#$] "
# Colours, places of the cursor, titles and modes: all that a terminal does not print.
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P][^\x07\x1b]*(?:\x07|\x1b\\)|[()*+][\w]|[=>78MDEHc])")
UNKNOWN = "[ERROR: unknown session; session_list names yours]"


class Terminal:
    """A session, and what it has shown."""

    def __init__(self, operator: Operator, session: str):
        self.operator = operator
        self.session = session
        self.raw = ""
        # Up to where the printed text was looked at.
        self.read_to = 0

    @classmethod
    async def begin(cls, operator: Operator, tool: str = "shell_spawn", **arguments: Any) -> "Terminal":
        started = await operator.call(tool, **arguments)
        found = re.fullmatch(r"session (s?sh-\S+) started \((.*)\); use session_send and session_recv with this id", started)
        want(found, f"not started: {started}")
        return cls(operator, found[1])

    async def type(self, data: str, enter: bool = True) -> None:
        sent = await self.operator.call("session_send", session_id=self.session, data=data, enter=enter)
        size = len(data.encode()) + enter
        want(sent == f"sent {size} bytes to {self.session}", f"not sent: {sent}")

    async def receive(self) -> str:
        return await self.operator.call("session_recv", session_id=self.session, timeout=0.5)

    async def shows(self, pattern: str) -> None:
        """Waits until the pattern is printed after what was waited for before."""
        for _ in range(WAIT_S_MAX * 2):
            printed = ESCAPES.sub("", self.raw)
            if found := re.compile(pattern).search(printed, self.read_to):
                self.read_to = found.end()
                return
            more = await self.receive()
            want(not more.startswith("[session "), f"it ended without {pattern}: {more}: {self.raw!r}")
            self.raw += more
        raise AssertionError(f"it does not show {pattern}: {self.raw!r}")

    async def ends(self, exit_code: int) -> None:
        for _ in range(WAIT_S_MAX * 2):
            more = await self.receive()
            if more.startswith(f"[session {self.session} ended"):
                want(more == f"[session {self.session} ended, exit={exit_code}]", f"not with {exit_code}: {more}")
                return
            self.raw += more
        raise AssertionError(f"it does not end: {self.raw!r}")

    async def kill(self, **arguments: Any) -> str:
        return await self.operator.call("session_kill", session_id=self.session, **arguments)


async def sessions(operator: Operator) -> list[dict[str, Any]]:
    return json.loads(await operator.call("session_list"))


def program(*names: str) -> str:
    for name in names:
        if shutil.which(name):
            return name
    raise Skip(f"{' or '.join(names)} is not installed")


async def a_shell_prompts_and_runs_and_tells_its_exit_status(setting: Setting) -> None:
    async with setting.operator("tools") as operator:
        shell = await Terminal.begin(operator)
        await shell.shows(PROMPT)
        await shell.type("echo sum=$((40 + 2)) in $(basename \"$PWD\")")
        await shell.shows(f"sum=42 in {operator.folder.name}\r\n")
        await shell.shows(PROMPT)
        await shell.type("false")
        await shell.shows(PROMPT)
        await shell.type("exit $(($? + 6))")
        await shell.ends(7)
        typed = await operator.call("session_send", session_id=shell.session, data="echo more")
        want(typed == "[ERROR: the session has ended]", f"typed after the end: {typed}")


async def python_evaluates_and_defines_until_the_end_of_its_input(setting: Setting) -> None:
    async with setting.operator("tools") as operator:
        # The REPL of newer versions draws its own lines, and indents by itself.
        python = await Terminal.begin(operator, command="python3 -i -q", env_json='{"PYTHON_BASIC_REPL": "1"}')
        await python.shows(">>> ")
        await python.type("6 * 7")
        await python.shows("\n42\r\n>>> ")
        await python.type("def double(number):\n    return 2 * number\n")
        await python.shows(r"\.\.\. [^>]*>>> ")
        await python.type("double(21) + 1")
        await python.shows("\n43\r\n>>> ")
        await python.type("\x04", enter=False)
        await python.ends(0)


async def an_editor_writes_a_file(setting: Setting) -> None:
    editor = program("vi", "vim", "vim.tiny")
    async with setting.operator("tools") as operator:
        screen = await Terminal.begin(operator, command=f"{editor} note", cols=80, rows=24)
        await screen.shows('"note"')
        await screen.type("ia line that was typed", enter=False)
        await screen.shows("a line that was typed")
        await screen.type("\x1b", enter=False)
        await screen.type(":wq")
        await screen.ends(0)
        written = (operator.folder / "note").read_text()
        want(written == "a line that was typed\n", f"the file has {written!r}")


async def a_screen_is_drawn_again_in_its_new_size(setting: Setting) -> None:
    top = program("top")
    async with setting.operator("tools") as operator:
        # It draws once a minute, so what comes sooner is due to the new size.
        screen = await Terminal.begin(operator, command=f"{top} -d 60", cols=100, rows=30)
        await screen.shows("top - ")
        await screen.shows("PID +USER")
        resized = await operator.call("session_resize", session_id=screen.session, cols=90, rows=24)
        want(resized == f"resized {screen.session} to 90x24", f"not resized: {resized}")
        await screen.shows("top - ")
        await screen.shows("PID +USER")
        size = (await sessions(operator))[0]["size"]
        want(size == "90x24", f"its size is {size}")
        await screen.type("q", enter=False)
        await screen.ends(0)


async def sessions_are_listed_signalled_and_ended(setting: Setting) -> None:
    async with setting.operator("tools") as operator:
        want(await sessions(operator) == [], "a session before the first")
        echo = await Terminal.begin(operator, command="cat -u", cols=70, rows=20)
        waiting = await Terminal.begin(operator, command="sleep 600")
        listed = {session["id"]: session for session in await sessions(operator)}
        want(set(listed) == {echo.session, waiting.session}, f"listed {listed}")
        found = listed[echo.session]
        want((found["title"], found["size"], found["closed"]) == ("cat -u", "70x20", False), f"listed as {found}")
        await echo.type("echoed")
        await echo.shows("echoed\r\nechoed\r\n")
        signalled = await waiting.kill(signal_name="INT", close=False)
        want(signalled == f"sent SIGINT to {waiting.session}", f"not signalled: {signalled}")
        await waiting.ends(-2)
        ended = next(session for session in await sessions(operator) if session["id"] == waiting.session)
        want((ended["closed"], ended["exit_code"]) == (True, -2), f"listed as {ended}")
        for terminal in (echo, waiting):
            killed = await terminal.kill()
            want(killed == f"killed and closed {terminal.session}", f"not killed: {killed}")
            want(await terminal.receive() == UNKNOWN, "it is known after its end")
        want(await sessions(operator) == [], "listed after their end")


async def a_session_belongs_to_its_caller_on_each_of_its_connections(setting: Setting) -> None:
    if setting.transport == "stdio":
        raise Skip("a process on stdio has one caller and one connection")
    async with setting.serving("tools") as server:
        async with setting.connected(server) as first:
            shell = await Terminal.begin(first)
            await shell.shows(PROMPT)
        async with setting.connected(server) as again, setting.connected(server, "eve") as other:
            want(await sessions(other) == [], "another caller sees it")
            received = await other.call("session_recv", session_id=shell.session)
            want(received == UNKNOWN, f"another caller reads it: {received}")
            shell.operator = again
            await shell.type("exit 3")
            await shell.ends(3)


SCENARIOS = (
    a_shell_prompts_and_runs_and_tells_its_exit_status,
    python_evaluates_and_defines_until_the_end_of_its_input,
    an_editor_writes_a_file,
    a_screen_is_drawn_again_in_its_new_size,
    sessions_are_listed_signalled_and_ended,
    a_session_belongs_to_its_caller_on_each_of_its_connections,
)
