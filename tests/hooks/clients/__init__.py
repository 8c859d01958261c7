"""The clients: one module each, of the same form.

A module has
  `NAME`, as relay spells it, and `PACKAGE` with its version;
  `SETTINGS`, a file of a project that decides about its hooks;
  `write(stage)` for the files of a session, and `command(stage)` for its command line and environment;
  `is_main(told)`, which tells requests of the agent from those of its helpers;
  `CALLS`, which makes the model's call of each kind of tool;
  `OUTCOMES`, by row, where the client makes another of it: `open` where it cannot be closed;
  `ALONE`, the rows that end a session, so that each of their calls has a session of its own;
  `FETCHED`, for a client that fetches nothing from loopback: the words in which its own tool says so.
"""

import json
import platform
import shlex
from dataclasses import dataclass
from pathlib import Path

# How long a client waits for its hook: longer than relay waits for an event.
HOOK_S_MAX = 6


@dataclass
class Stage:
    """The places and programs of one session."""

    home: Path
    project: Path
    # The folder into which the client's package was installed, and a Node to run it.
    package: Path
    node: Path
    # The model's port, the hook's program and arguments, the test server's program and arguments.
    port: int
    hook: list[str]
    server: list[str]

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
    return f"{shlex.join(hook)}; case $? in 0) ;; 2) exit 2 ;; *) echo 'relay did not answer' >&2; exit 2 ;; esac"


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
