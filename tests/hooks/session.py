"""One session of a client with the model, in lock step: each row is set up before the model asks for its call, and judged when the
model is told the result."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from model import Model

SESSION_S_MAX = 300
# The same for a session of one call.
ALONE_S_MAX = 60
# How long a client may wait for a person before it counts as asking.
ASK_S_MAX = 3
# An event of more than 4 MiB is refused.
LARGE = 5 << 20


class Pages:
    """Listens on the addresses that the rows fetch from, and counts who connects."""

    ADDRESSES = {"plain": "127.0.0.1", "large": "127.0.0.1", "denied": "127.0.0.2", "approved": "127.0.0.3", "recorded": "127.0.0.4"}

    def __init__(self):
        self.count = 0
        self.sockets = {address: socket.create_server((address, 0)) for address in set(self.ADDRESSES.values())}
        for listener in self.sockets.values():
            threading.Thread(target=self.serve, args=[listener], daemon=True).start()

    def serve(self, listener):
        page = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nConnection: close\r\n\r\npage\n"
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.count += 1
            with connection:
                try:
                    connection.settimeout(2)
                    connection.recv(1 << 16)
                    connection.sendall(page)
                except OSError:
                    pass

    def url(self, call, path):
        address = self.ADDRESSES[call]
        return f"http://{address}:{self.sockets[address].getsockname()[1]}/{path}"

    def close(self):
        for listener in self.sockets.values():
            listener.close()


# Python that switches hooks off. A policy reads it in the command itself, and not in the file of a script.
SWITCH_OFF = """open("{}", "w").write(chr(123) + chr(34) + "disableAllHooks" + chr(34) + ": true" + chr(125))"""
# The texts of project.kdl that reach the model through the hook.
TEXTS = {"prompts at the start": "How to write release notes", "skill with a call": "Write plain words."}
# The events before a call, of all clients.
BEFORE = {"PreToolUse", "BeforeTool", "preToolUse", "tool.execute.before"}


@dataclass
class Step:
    row: object
    kind: str
    name: str


@dataclass
class Outcome:
    step: Step
    ran: bool
    # None if the session ended without one.
    result: str | None
    records: list[dict] = field(default_factory=list)


class Session:
    """Runs the steps; `outcomes` has one for each that the client carried out."""

    TOOLS = {"plain": "note-add", "large": "note-add", "denied": "note-drop", "approved": "note-send", "recorded": "note-keep"}

    def __init__(self, client, stage, place, steps):
        self.client = client
        self.stage = stage
        self.place = place
        self.steps = steps
        self.notes = Path(stage.server[-1])
        self.outcomes = []
        self.asks_person = steps[0].row.expect == "asked" and steps[0].row.name in client.ALONE
        self.asked = 0
        self.asked_at = None
        self.lines = 0
        self.connections = 0
        # The texts of relay, by the words in them, that the model was told.
        self.heard = {}
        self.pages = Pages()
        self.model = Model(self.ask, client.is_main)
        stage.port = self.model.port
        for folder in ("plain", "denied", "approved", "recorded", "large", "typed", str(Path(client.SETTINGS).parent)):
            (stage.project / folder).mkdir(parents=True, exist_ok=True)

    def run(self):
        """Returns the exit status and the output of the client; None if it had to be ended."""
        self.drop_settings()
        self.client.write(self.stage)
        arguments, environment = self.client.command(self.stage)
        process = subprocess.Popen(
            arguments,
            cwd=self.stage.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        output = []
        reader = threading.Thread(target=lambda: output.append(process.stdout.read()), daemon=True)
        reader.start()
        status = self.wait(process)
        reader.join(5)
        self.model.close()
        self.pages.close()
        return status, "".join(output)

    def wait(self, process):
        """Waits for the client, and for one that waits for a person only as long as an answer takes."""
        end = time.monotonic() + (SESSION_S_MAX if len(self.steps) > 1 else ALONE_S_MAX)
        status = None
        while time.monotonic() < end and status is None:
            try:
                status = process.wait(timeout=0.2)
            except subprocess.TimeoutExpired:
                if self.asks_person and self.asked_at and time.monotonic() > self.asked_at + ASK_S_MAX:
                    break
        # Its servers and helpers too.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return status

    def without_result(self, step):
        """Returns the outcome of a step that ended the session."""
        ran = self.pages.count > self.connections if step.kind == "fetch" else self.left_a_trace(step)
        return Outcome(step, ran, None, self.records()[self.lines :])

    def drop_settings(self):
        """Removes the settings of the project that a row may have written."""
        (self.stage.project / self.client.SETTINGS).unlink(missing_ok=True)

    def ask(self, told):
        """Judges the step whose result came last, and sets up the next one. A repeated request gets the same call."""
        done = len(told.results)
        for name, words in TEXTS.items():
            if any(words in text for text in told.texts + told.results):
                self.heard[name] = "told"
        if done and done > len(self.outcomes):
            self.judge(self.steps[done - 1], told.results[done - 1])
        if done >= len(self.steps):
            return None
        step = self.steps[done]
        if done >= self.asked:
            self.asked = done + 1
            self.place.restore()
            if not step.row.keeps_settings:
                self.drop_settings()
            self.lines = len(self.records())
            self.connections = self.pages.count
            if step.row.harm:
                step.row.harm(self.place)
        self.asked_at = time.monotonic()
        return self.call(step)

    def judge(self, step, result):
        ran = self.fetched(result) if step.kind == "fetch" else self.left_a_trace(step)
        self.outcomes.append(Outcome(step, ran, result, self.records()[self.lines :]))

    def call(self, step):
        make, call, path = self.client.CALLS[step.kind], step.row.call, self.path(step)
        large = "x" * LARGE if call == "large" else ""
        match step.kind:
            case "shell":
                return make(self.stage, self.command(call, path))
            case "file":
                return make(self.stage, path, large or "a line")
            case "mcp":
                return make(self.stage, self.TOOLS[call], {"name": path} | ({"env": large} if large else {}))
            case "fetch":
                return make(self.stage, self.pages.url(call, path), large)

    def command(self, call, path):
        """Returns the command that changes a path."""
        code = SWITCH_OFF.format(path)
        match call:
            case "code":
                return f"python3 -c '{code}'"
            case "script":
                (self.stage.project / "tidy.py").write_text(code, encoding="utf-8")
                return "python3 tidy.py"
            case "typed":
                return f"touch {path}; sh"
            case "large":
                return f"touch {path} # {'x' * LARGE}"
        return f"touch {path}"

    def path(self, step):
        """Returns the path that a call writes, from the project; for a fetch it is a name only."""
        match step.row.call:
            case "settings" | "code" | "script":
                return self.client.SETTINGS
            case "own":
                return os.path.relpath(self.place.state / step.name, self.stage.project)
            case folder:
                return f"{folder}/{step.name}"

    def left_a_trace(self, step):
        if step.kind == "mcp":
            notes = self.notes.read_text(encoding="utf-8") if self.notes.exists() else ""
            return f"{self.TOOLS[step.row.call]} {self.path(step)}\n" in notes
        return (self.stage.project / self.path(step)).exists()

    def fetched(self, result):
        """A client that fetches nothing from loopback says so itself, and that is its tool at work."""
        refusal = self.client.FETCHED
        return re.search(refusal, result) is not None if refusal else self.pages.count > self.connections

    def records(self):
        """Returns the records of calls."""
        if not self.place.audit.is_file():
            return []
        records = [json.loads(line) for line in self.place.audit.read_text(encoding="utf-8").splitlines()]
        return [record for record in records if record.get("event") in BEFORE]
