"""What is known of the hosts that ../sshd.sh starts."""

import os
import subprocess
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

import operating

# The rule of ../ssh, at its line.
FROZEN = "[DENIED tier 2 (STATEFUL): frozen: WEB-7 (project.kdl:16)]"


@dataclass
class Host:
    """One server of OpenSSH."""

    port: int
    key: str
    server: str
    log: Path

    def reached(self, target: str, port: int) -> int:
        """How many connections it has passed on to a target."""
        return self.log.read_text().count(f" target {target} port {port}\n")

    def disconnect(self) -> None:
        """Ends its connections, each of which is a process that its server started."""
        subprocess.run(["pkill", "-P", self.server], check=True)


class Setting(operating.Setting):
    def hosts(self) -> dict[str, Host]:
        hosts = {}
        for line in (self.bundles / "hosts").read_text().splitlines():
            name, port, kind, key, server, log = line.split()
            hosts[name] = Host(int(port), f"{kind} {key}", server, Path(log))
        return hosts

    def fleet(self) -> AbstractAsyncContextManager[operating.Operator]:
        return self.operator("fleet")


def is_root() -> bool:
    return os.geteuid() == 0
