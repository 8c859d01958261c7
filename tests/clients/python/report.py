"""Counts what was checked, and says what was wanted and what came instead."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError

INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND = -32002
STEP_S_MAX = 15
# Shorter than a step, so that the failure can say what was heard instead.
WAIT_S_MAX = 10


class Skip(Exception):
    """There is nothing here that this check could ask for."""


class Report:
    """Counts, and prints one line per check."""

    def __init__(self, must: list[str], step_s_max: int = STEP_S_MAX):
        self.must = must
        self.step_s_max = step_s_max
        self.passed = self.failed = 0
        self.where = ""

    async def check(self, name: str, run: Callable[[], Awaitable[Any]], needs: str = "") -> Any:
        """Returns what `run` returned, or None where it failed or had nothing to do."""
        try:
            with anyio.fail_after(self.step_s_max):
                result = await run()
        except Skip as skip:
            if needs not in self.must:
                print(f"skip {self.where}: {name}: {skip}")
                return None
            self.fail(name, f"the bundle must have it: {skip}")
        except Exception as error:
            self.fail(name, describe(error))
        else:
            self.passed += 1
            print(f"ok   {self.where}: {name}")
            return result

    def fail(self, name: str, reason: str) -> None:
        self.failed += 1
        print(f"FAIL {self.where}: {name}: {reason}")

    def close(self) -> int:
        """Prints the counts; returns the exit status."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0


def describe(error: BaseException) -> str:
    """The innermost errors; task groups wrap them without naming them."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(describe(inner) for inner in error.exceptions)
    return f"{type(error).__name__}: {error}"


def want(condition: object, otherwise: str) -> None:
    if not condition:
        raise AssertionError(otherwise)


async def refused(call: Awaitable[Any], *codes: int) -> MCPError:
    """A clean rejection is a JSON-RPC error with one of `codes` and a message."""
    try:
        result = await call
    except MCPError as error:
        want(error.code in codes, f"expected code {codes}, got {error.code}: {error.message}")
        want(error.message, "the error has no message")
        return error
    raise AssertionError(f"expected an error, got {result!r:.200}")


async def until(wanted: Callable[[], bool], otherwise: Callable[[], str]) -> None:
    """Waits for what comes unasked."""
    for _ in range(WAIT_S_MAX * 20):
        if wanted():
            return
        await anyio.sleep(0.05)
    raise AssertionError(otherwise())
