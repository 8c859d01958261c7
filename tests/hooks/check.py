"""Tries relay in the hooks of real clients: every client, every row, every kind of tool. The model and the network are loopback."""

import argparse
import importlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from clients import Stage, install
from place import Parts, Place
from rows import ROWS, Row
from session import TEXTS, Session, Step

HERE = Path(__file__).resolve().parent
# In the order of the table; those that take longest first, since four run at a time, which mostly wait.
CLIENTS = ["gemini", "opencode", "copilot", "claude_code", "codex", "codex_code_mode"]
KINDS = ["shell", "file", "mcp", "fetch"]
DECISIONS = {"ran": "allow", "denied": "deny", "asked": "approve", "held": "approve", "closed": "deny"}


class Packages(argparse.Action):
    """Prints the packages of the clients and ends, for the script that installs them."""

    def __call__(self, parser, *_):
        clients = [importlib.import_module(f"clients.{name}") for name in CLIENTS]
        print("\n".join(dict.fromkeys(client.PACKAGE for client in clients)))
        parser.exit()


def relay(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    if done.returncode:
        sys.exit(f"relay {arguments[0]} ended with {done.returncode}\n{done.stderr}")
    return done.stdout


def make_parts(program, hook, folder):
    """Makes a key, the bundle with and without a signature, and the trust files."""
    folder.mkdir()
    entry = relay(program, "keygen", "-o", folder / "check")
    shutil.copy2(hook, folder / "relay-hook")
    parts = Parts(folder / "relay-hook", folder / "team.relay", folder / "unsigned.relay", folder / "trust.toml", folder / "revoked.toml")
    parts.trust.write_text(entry if entry.startswith("version") else f"version = 1\n{entry}", encoding="utf-8")
    relay(program, "build", HERE, "-o", parts.bundle, "--key", folder / "check.key", "-q")
    relay(program, "build", HERE, "-o", parts.unsigned, "--unsigned", "-q")
    parts.revoked.write_text(parts.trust.read_text(encoding="utf-8"), encoding="utf-8")
    relay(program, "trust", "revoke", parts.revoked, parts.bundle)
    return parts


class Column:
    """All rows of one client."""

    def __init__(self, name, rows, options, parts, work):
        self.name = name
        self.client = importlib.import_module(f"clients.{name}")
        self.rows = [row for row in rows if row.only in (None, self.client.NAME)]
        self.options = options
        self.parts = parts
        self.folder = work / name
        self.passed = 0
        self.failures = []
        self.cells = {}
        self.seconds = 0.0
        self.outside = set()
        self.tools = {}

    def run(self):
        start = time.monotonic()
        try:
            self.try_client()
        except Exception:  # A fault of the check is a failure of this client's rows.
            self.fail(traceback.format_exc())
        self.seconds = time.monotonic() - start

    def try_client(self):
        place = Place(self.folder / "relay", self.client.NAME, self.parts)
        stage = self.stage(place)
        stage.home.mkdir(parents=True)
        stage.project.mkdir()
        if self.options.install:
            place.add_relay(self.options.relay)
            self.client.write(stage)
            install(stage, self.client, place.program.with_name("relay"))
        else:
            self.client.hook(stage)
        kinds = [kind for kind in KINDS if kind in self.client.CALLS]
        steps = [Step(row, kind, f"{number:02}-{kind}") for number, row in enumerate(self.rows) for kind in kinds if kind in row.kinds]
        together = [step for step in steps if step.row.name not in self.client.ALONE]
        for part in [together] * bool(together) + [[step] for step in steps if step not in together]:
            self.session(place, part)
        for step in steps:
            self.check(step.kind in self.cells.get(step.row.name, {}), step, "was not tried")
        self.compare_tools(place)

    def compare_tools(self, place):
        """Relay knows the tools that the client offers to the model, but for those that the client's file names."""
        place.restore()
        names = {name.split("/")[-1] for name in self.tools}
        # Those of the test server end with the names that it gives them.
        names = {name for name in names if not re.search("note[_-][a-z]+$", name)}
        tools = {name: self.tool_of(name, place) for name in names}
        unknown = {name for name, tool in tools.items() if tool == "tool:unknown"}
        if "hook" in tools.values():
            self.fail("relay could not decide about the tools of the client")
        if unknown != self.client.UNJUDGED & names:
            self.fail(f"relay does not know the tools {sorted(unknown)}, and not {sorted(self.client.UNJUDGED & names)}")
        else:
            self.passed += 1

    def tool_of(self, name, place):
        """Returns the tool in relay's record of a call."""
        event = json.dumps(self.client.EVENT | self.client.tool(name)).encode()
        before = place.audit.stat().st_size if place.audit.exists() else 0
        subprocess.run([self.parts.hook, *place.command[1:]], input=event, capture_output=True, timeout=60)
        with place.audit.open(encoding="utf-8") as file:
            file.seek(before)
            return json.loads(file.read())["tool"]

    def stage(self, place):
        server = [sys.executable, str(HERE / "server.py"), str(self.folder / "notes")]
        package = self.options.tools / self.client.PACKAGE
        return Stage(self.folder / "root", self.folder / "project", package, self.options.node, 0, place.command, server)

    def session(self, place, steps):
        session = Session(self.client, self.stage(place), place, steps)
        status, output = session.run()
        self.outside |= set(session.model.outside)
        self.tools |= session.model.tools
        (self.folder / f"output-{steps[0].name}").write_text(output, encoding="utf-8")
        if len(session.outcomes) < len(steps) and len(steps) > 1:
            self.fail(f"the session ended with {status} after {len(session.outcomes)} of {len(steps)} calls:\n{output[-2000:]}")
        for problem in session.model.problems:
            self.fail(f"of the model: {problem}")
        for outcome in session.outcomes:
            self.judge(outcome)
        for step in steps[len(session.outcomes) :]:
            self.judge(session.without_result(step))
        # The file of settings is written by several rows.
        for outcome in [outcome for outcome in session.outcomes if outcome.step.row.call not in ("settings", "code", "script")]:
            self.check(outcome.ran or not session.left_a_trace(outcome.step), outcome.step, "ran after its result")
        for name in TEXTS if len(steps) > 1 and self.options.row is None else ():
            told = session.heard.get(name, "FAIL")
            self.cells[name] = {"": told}
            self.check(told == "told", Step(Row(name, "", ""), "", ""), "never reached the model")
        if "fetch" not in self.client.CALLS:
            self.check(not any("url" in names for names in session.model.tools.values()), steps[0], "has a tool that takes a URL")

    def judge(self, outcome):
        row = outcome.step.row
        outcomes = self.client.OUTCOMES
        expect = outcomes.get((row.name, outcome.step.kind)) or outcomes.get(row.name) or row.expect
        before = len(self.failures)
        self.check(outcome.ran == (expect in ("ran", "open")), outcome.step, "ran" if outcome.ran else f"did not run: {outcome.result}")
        if row.reason and outcome.result is not None and expect in ("denied", "asked", "closed"):
            found = re.search(row.reason, outcome.result)
            self.check(found, outcome.step, f"the model was not told `{row.reason}` but: {outcome.result[:600]}")
        if row.record and expect in DECISIONS:
            self.record(outcome, DECISIONS[expect])
        word = expect if len(self.failures) == before else "FAIL"
        self.cells.setdefault(row.name, {})[outcome.step.kind] = word

    def record(self, outcome, decision):
        """Each call leaves one record, with the client and the decision; of a rule, also with its place."""
        found = [(record.get("client"), record.get("decision"), record.get("denied")) for record in outcome.records]
        # A client that asks a person is answered `ask`, which denies nothing.
        asks = any(record.get("answered") == "ask" for record in outcome.records)
        expected = (self.client.NAME, decision, decision == "deny" or decision == "approve" and not asks)
        self.check(found == [expected], outcome.step, f"has the records {outcome.records}")
        if outcome.step.row.reason and decision != "allow" and outcome.records:
            rule = outcome.records[-1].get("rule", "")
            self.check(re.search(outcome.step.row.reason, rule), outcome.step, f"is recorded with the rule `{rule}`")

    def check(self, holds, step, problem):
        if holds:
            self.passed += 1
        else:
            self.fail(f"{step.row.name}, {step.kind}: {problem}")

    def fail(self, text):
        self.failures.append(f"{self.name}: {text}")

    def cell(self, name):
        """Returns the outcome of a row, or of each kind of tool where they differ."""
        words = self.cells.get(name, {})
        unlike = set(words.values())
        return unlike.pop() if len(unlike) == 1 else "-" if not words else " ".join(f"{kind}:{word}" for kind, word in words.items())


def table(columns, rows):
    head = ["row", *(column.name.replace("_", " ") for column in columns)]
    lines = [head] + [[name, *(column.cell(name) for column in columns)] for name in rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(head))]
    for line in lines:
        print("  ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", action=Packages, nargs=0, help="print the packages to install")
    parser.add_argument("--relay", type=Path, required=True)
    parser.add_argument("--hook", type=Path, required=True, help="the binary relay-hook")
    parser.add_argument("--install", action="store_true", help="install by `relay hook install`, not by hand")
    parser.add_argument("--tools", type=Path, required=True, help="the folder of the installed clients")
    parser.add_argument("--node", type=Path, required=True)
    parser.add_argument("--client", help="only this client")
    parser.add_argument("--row", help="only this row")
    parser.add_argument("--work", type=Path, help="keep the files of the sessions in this new folder")
    options = parser.parse_args()
    for value, all_values in ((options.client, CLIENTS), (options.row, [row.name for row in ROWS])):
        if value not in (None, *all_values):
            parser.error(f"`{value}` is none of: {', '.join(all_values)}")
    if Path("/etc/relay/hook.toml").exists():
        sys.exit("/etc/relay/hook.toml would decide here; run this on a machine without it")

    with tempfile.TemporaryDirectory(prefix="relay-hooks.") as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        parts = make_parts(options.relay, options.hook, work / "parts")
        chosen = [name for name in CLIENTS if options.client in (None, name)]
        rows = [row for row in ROWS if options.row in (None, row.name)]
        columns = [Column(name, rows, options, parts, work) for name in chosen]
        with ThreadPoolExecutor(max_workers=4) as pool:
            list(pool.map(Column.run, columns))
    table(columns, [row.name for row in rows] + list(TEXTS) * (options.row is None))
    for column in columns:
        outside = f"; refused it: {', '.join(sorted(column.outside))}" if column.outside else ""
        print(f"{column.name}: {column.client.PACKAGE}, {column.seconds:.0f} s{outside}")
    failures = [failure for column in columns for failure in column.failures]
    for failure in failures:
        print(f"FAIL {failure}")
    print(f"{sum(column.passed for column in columns)} passed, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
