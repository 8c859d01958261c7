"""Plays scenarios over each transport and protocol, each with servers of its own."""

import sys
import warnings
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp.shared.exceptions import MCPDeprecationWarning
from report import Report, describe
from serving import PROTOCOLS, TRANSPORTS

# Several servers start in one scenario.
SCENARIO_S_MAX = 60


@dataclass
class Setting:
    """One protocol over one transport."""

    relay_serve: str
    bundles: Path
    extra: list[str]
    transport: str
    protocol: str

    @property
    def is_modern(self) -> bool:
        return self.protocol == "modern"


def play(name: str, setting: type[Setting], scenarios: Sequence[Callable[[Any], Awaitable[None]]]) -> int:
    """Plays all scenarios with what the command line names; returns the exit status."""
    relay_serve, bundles, *extra = sys.argv[1:]
    # This checks both protocols, so calls that only the legacy one has are intended.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    report = Report([], SCENARIO_S_MAX)

    async def all_of(where: Setting) -> None:
        for scenario in scenarios:
            await report.check(scenario.__name__.replace("_", " "), lambda: scenario(where))

    for transport in TRANSPORTS:
        for protocol in PROTOCOLS:
            report.where = f"{name} {transport} {protocol}"
            try:
                anyio.run(all_of, setting(relay_serve, Path(bundles), extra, transport, protocol))
            except Exception as error:
                report.fail("scenarios", describe(error))
    return report.close()
