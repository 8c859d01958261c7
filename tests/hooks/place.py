"""The files of relay on a machine: what is there when the hook works, and how each row breaks it."""

import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

# The clients' own limit is 3 s, so that relay answers first where it can.
BUDGET = "1s"


@dataclass
class Parts:
    """Made once for all sessions: the binary and the bundles, and the trust files that fit and that revoke."""

    hook: Path
    bundle: Path
    unsigned: Path
    trust: Path
    revoked: Path


class Place:
    """The files of one session."""

    def __init__(self, folder, client, parts):
        self.folder = folder
        self.client = client
        self.parts = parts
        self.program = folder / "bin/relay-hook"
        self.machine = folder / "hook.toml"
        self.bundle = folder / "team.relay"
        self.trust = folder / "trust.toml"
        self.audit = folder / "hook.jsonl"
        self.command = [str(self.program), client, "--config", str(self.machine)]
        self.program.parent.mkdir(parents=True)
        # A pipe that no one writes to and that never ends.
        self.endless = folder / "endless"
        os.mkfifo(self.endless)
        self.restore()

    def restore(self):
        """Puts back all that a row may have broken; the records stay."""
        self.put(self.parts.hook, self.program)
        self.put(self.parts.bundle, self.bundle)
        self.put(self.parts.trust, self.trust)
        self.configure()

    def put(self, source, target):
        """Copies by rename, since the program may be running."""
        new = target.with_name(target.name + ".new")
        shutil.copy2(source, new)
        new.replace(target)

    def configure(self, extra="", **changes):
        settings = {
            "bundle": self.bundle,
            "trust": self.trust,
            "principal": "os-user",
            "audit": self.audit,
            "state": self.folder / "state",
            "budget": BUDGET,
        } | changes
        lines = [f'{key} = "{value}"\n' for key, value in settings.items()]
        new = self.machine.with_name("hook.toml.new")
        new.write_text("".join(lines) + extra, encoding="utf-8")
        new.chmod(0o600)
        new.replace(self.machine)

    def wrap(self, script):
        """Puts a shell script in the place of the hook; `$hook` in it is the real one, and `$endless` the pipe."""
        new = self.program.with_name("relay-hook.new")
        new.write_text(f"#!/bin/sh\nhook='{self.parts.hook}'\nendless='{self.endless}'\n{script}\n", encoding="utf-8")
        new.chmod(0o755)
        new.replace(self.program)

    # What the rows do.

    def lose_machine_file(self):
        self.machine.unlink()

    def add_unknown_key(self):
        self.configure(extra='budgets = "2s"\n')

    def open_machine_file(self):
        self.machine.chmod(0o666)

    def lose_bundle(self):
        self.bundle.unlink()

    def corrupt_bundle(self):
        data = bytearray(self.bundle.read_bytes())
        data[len(data) // 2] ^= 1
        self.bundle.write_bytes(data)

    def use_unsigned_bundle(self):
        self.put(self.parts.unsigned, self.bundle)

    def revoke_bundle(self):
        self.put(self.parts.revoked, self.trust)

    def lose_audit(self):
        """A file in the place of the folder stops root too."""
        self.configure(audit=self.machine / "hook.jsonl")

    def lose_hook(self):
        self.program.unlink()

    def forbid_hook(self):
        self.program.chmod(self.program.stat().st_mode & ~(stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH))

    def kill_hook(self):
        self.signal("KILL")

    def crash_hook(self):
        self.signal("SEGV")

    def signal(self, name):
        """The hook gets the signal while it waits for the rest of the event. The shell that sends it must not hold the answer open."""
        self.wrap(f'(sleep 0.2; kill -{name} $$) >/dev/null 2>&1 &\nexec "$hook" "$@" 0<>"$endless"')

    def end_badly(self):
        self.wrap("exit 1")

    def withhold_event(self):
        """The hook waits for an event until its own limit."""
        self.wrap('exec "$hook" "$@" 0<>"$endless"')

    def stop_hook(self):
        """A stopped hook cannot keep its own limit, so the client's counts."""
        self.wrap('(sleep 0.1; kill -STOP $$; sleep 6; kill -KILL $$) >/dev/null 2>&1 &\nexec "$hook" "$@" 0<>"$endless"')

    def name_other_client(self):
        """The settings of one client name another one. The event says who asks."""
        other = "gemini" if self.client != "gemini" else "claude-code"
        self.wrap(f'shift\nexec "$hook" {other} "$@"')
