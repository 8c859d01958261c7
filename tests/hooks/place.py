"""The files of relay on a machine: what is there when the hook works, and how each row breaks it."""

import fcntl
import os
import shutil
import stat
import time
from dataclasses import dataclass
from pathlib import Path

# Less than the limit of the clients, so that relay answers first where it can.
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
        self.lock = None
        # Relay's state, and where rows that change it keep it as it was.
        self.state = folder / "state"
        self.spare = folder / "state-before"
        self.state.mkdir()
        self.restore()

    def restore(self):
        """Puts back all that a row may have broken; the records stay."""
        if self.lock:
            self.lock.close()
            self.lock = None
        if self.spare.exists():
            shutil.rmtree(self.state)
            self.spare.rename(self.state)
        self.put_hook()
        self.put(self.parts.bundle, self.bundle)
        self.put(self.parts.trust, self.trust)
        self.configure()

    def put_hook(self):
        """Links the program, which is large."""
        if not (self.program.exists() and self.program.samefile(self.parts.hook)):
            new = self.program.with_name("relay-hook.new")
            new.hardlink_to(self.parts.hook)
            new.replace(self.program)

    def add_relay(self, program):
        """Puts `relay` beside the hook, for its installer."""
        shutil.copy2(program, self.program.with_name("relay"))

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
            "state": self.state,
            "budget": BUDGET,
        } | changes
        lines = [f'{key} = "{value}"\n' for key, value in settings.items()]
        new = self.machine.with_name("hook.toml.new")
        new.write_text("".join(lines) + extra, encoding="utf-8")
        new.chmod(0o600)
        new.replace(self.machine)

    def keep_state(self):
        shutil.copytree(self.state, self.spare)

    def wrap(self, script):
        """Puts a shell script in the place of the hook; `$hook` in it is the real one, and `$endless` the pipe."""
        new = self.program.with_name("relay-hook.new")
        new.write_text(f"#!/bin/sh\nhook='{self.parts.hook}'\nendless='{self.endless}'\n{script}\n", encoding="utf-8")
        new.chmod(0o755)
        new.replace(self.program)

    # What the rows do.

    def let_settle(self):
        """Gives the client the time to see that a file has changed."""
        time.sleep(1.5)

    def lose_machine_file(self):
        self.machine.unlink()

    def add_unknown_key(self):
        self.configure(extra='budgets = "2s"\n')

    def open_machine_file(self):
        self.machine.chmod(0o666)

    def lose_bundle(self):
        self.bundle.unlink()

    def corrupt_bundle(self):
        """Without its checked copy, which relay uses as long as the beginning of the file is the same."""
        self.keep_state()
        shutil.rmtree(self.state / "bundles")
        flip_a_bit(self.bundle)

    def corrupt_copy(self):
        self.keep_state()
        for copy in (self.state / "bundles").iterdir():
            copy.chmod(0o600)
            flip_a_bit(copy)
            copy.chmod(0o400)

    def use_unsigned_bundle(self):
        self.put(self.parts.unsigned, self.bundle)

    def revoke_bundle(self):
        """Relay remembers the version of the trust file, which the revocation raises."""
        self.keep_state()
        self.put(self.parts.revoked, self.trust)

    def lose_audit(self):
        """A file in the place of the folder stops root too."""
        self.configure(audit=self.machine / "hook.jsonl")

    def lock_audit(self):
        """As a writer that never ends would."""
        self.lock = open(self.audit, "a", encoding="utf-8")
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def lose_hook(self):
        self.program.unlink()

    def forbid_hook(self):
        self.put(self.parts.hook, self.program)
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
        self.wrap('(sleep 0.1; kill -STOP $$; sleep 9; kill -KILL $$) >/dev/null 2>&1 &\nexec "$hook" "$@" 0<>"$endless"')

    def name_other_client(self):
        """The settings of one client name another one. The event says who asks."""
        other = "gemini" if self.client != "gemini" else "claude-code"
        self.wrap(f'shift\nexec "$hook" {other} "$@"')


def flip_a_bit(path):
    with open(path, "r+b") as file:
        file.seek(path.stat().st_size // 2)
        (byte,) = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))
