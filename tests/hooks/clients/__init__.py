"""The clients: one module each, of the same form.

A module has
  `NAME`, as relay spells it, and `PACKAGE` with its version;
  `SETTINGS`, a file of a project that decides about its hooks;
  `INSTALLED`, the file in the home that the hook is installed in, and `hook(stage)`, which writes it as a person would by hand;
  `write(stage)` for all other settings, and `command(stage)` for the command line and the environment;
  `is_main(told)`, which tells requests of the agent from those of its helpers;
  `CALLS`, which makes the model's call of each kind of tool;
  `OUTCOMES`, by row, where the client makes another of it: `open` where it cannot be closed;
  `ALONE`, the rows that end a session, so that each of their calls has a session of its own;
  `FETCHED`, for a client that fetches nothing from loopback: the words in which its own tool says so;
  `EVENT` and `tool(name)`, the members of an event before a call, and `UNJUDGED`, the offered tools that relay does not know.
"""

import json
import os
import platform
import pwd
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

# How long a client waits for its hook: longer than relay waits for an event.
HOOK_S_MAX = 6


@dataclass
class Stage:
    """The places and programs of one session."""

    # The folder that the home is below, at its path in the password database.
    root: Path
    project: Path
    # The folder into which the client's package was installed, and a Node to run it.
    package: Path
    node: Path
    # The model's port, the hook's program and arguments, the test server's program and arguments.
    port: int
    hook: list[str]
    server: list[str]

    @property
    def home(self):
        return self.root / pwd.getpwuid(os.getuid()).pw_dir.lstrip("/")

    def program(self, path):
        """Returns the path of an installed program; `ARCH` in it is the platform's name in npm."""
        arch = {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]
        return str(self.package / "node_modules" / path.replace("ARCH", arch))

    def environment(self, **variables):
        """Returns the environment of a client: nothing of the person who runs this, and the model as the proxy to all other hosts."""
        proxy = f"http://127.0.0.1:{self.port}"
        own = {
            "HOME": str(self.home),
            "PATH": f"{self.node.parent}:/usr/local/bin:/usr/bin:/bin",
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "HTTP_PROXY": proxy,
            "HTTPS_PROXY": proxy,
            "NO_PROXY": "127.0.0.1,127.0.0.2,127.0.0.3,127.0.0.4,localhost",
        }
        return own | variables


def shell_line(hook):
    """Returns the command line for a client that runs it in a shell: every end but an answer of relay is a denial with a reason."""
    script = '"$0" "$@"; case $? in 0) ;; 2) exit 2 ;; *) echo "relay did not answer" >&2; exit 2 ;; esac'
    return shlex.join(["/bin/sh", "-c", script, *hook])


def install(stage, client, relay):
    """Has `relay hook install` install the hook, and shortens the time that the client waits for it."""
    # As tests must, below another root: the installer takes the home from the password database.
    arguments = ["hook", "install", client.NAME, "--config", stage.hook[-1], "--root", str(stage.root), "--any-program"]
    path = f"{Path(client.command(stage)[0][0]).parent}:{stage.environment()['PATH']}"
    done = subprocess.run(
        [relay, *arguments],
        cwd=stage.project,
        env=stage.environment(PATH=path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    if done.returncode:
        raise OSError(f"relay {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    path = stage.home / client.INSTALLED
    text, count = re.subn(r"(?i)(\btimeout\w*\W+)10(?=(000)?\b)", rf"\g<1>{HOOK_S_MAX}", path.read_text(encoding="utf-8"))
    if count == 0:
        raise OSError(f"{path} has no limit of 10 s")
    path.write_text(text, encoding="utf-8")


def write_json(path, value):
    """Writes the members of an object into a file; its others stay."""
    path.parent.mkdir(parents=True, exist_ok=True)
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps(old | value, indent=1), encoding="utf-8")
