"""Starts relay-serve for the official client, and follows its lists."""

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from httpx2 import AsyncClient
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from report import want

TRANSPORTS = ("stdio", "http")
PROTOCOLS = ("legacy", "modern")
# What the client calls the way it negotiates.
MODES = {"legacy": "legacy", "modern": "auto"}
MODERN = "2026-07-28"
READY_S_MAX = 15
# No shorter than any check, since a check that takes too long says which one it is.
HTTP_S_MAX = 60
PAGES_MAX = 100


def want_protocol(client: Client, protocol: str) -> None:
    want((client.protocol_version == MODERN) == (protocol == "modern"), f"got {client.protocol_version}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(folder: Path | None) -> dict[str, str]:
    """What a server gets; with a folder, the programs that it starts keep their settings and histories there."""
    return {**os.environ, **({"HOME": str(folder)} if folder else {})}


@contextmanager
def http_server(command: list[str], folder: Path | None = None) -> Iterator[str]:
    """Runs a server in a folder while it is needed; gives the URL that clients ask."""
    address = f"127.0.0.1:{free_port()}"
    command = [*command, "--http", address]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, cwd=folder, env=environment(folder))
    try:
        deadline = time.monotonic() + READY_S_MAX
        while True:
            if process.poll() is not None:
                raise RuntimeError(f"relay-serve ended with {process.returncode} before it was ready")
            try:
                urllib.request.urlopen(f"http://{address}/readyz", timeout=1).close()
                break
            except (urllib.error.URLError, OSError):
                if time.monotonic() > deadline:
                    raise RuntimeError(f"relay-serve was not ready after {READY_S_MAX} s") from None
                time.sleep(0.05)
        yield f"http://{address}/mcp"
    finally:
        process.kill()
        process.wait()


@asynccontextmanager
async def http_target(url: str, credential: str = "", on_response: Any = None) -> AsyncIterator[Any]:
    """A server that the client asks with this credential; `on_response` gets each answer."""
    headers = {"Authorization": f"Bearer {credential}"} if credential else {}
    hooks = {"response": [on_response] if on_response else []}
    async with AsyncClient(headers=headers, event_hooks=hooks, timeout=HTTP_S_MAX) as web:
        yield streamable_http_client(url, http_client=web)


def stdio_server(command: list[str], folder: Path | None = None) -> StdioServerParameters:
    """A server that the client starts itself, in a folder."""
    # The client passes on almost nothing of the environment, and the server finds its keys there.
    arguments = [*command[1:], "--stdio"]
    return StdioServerParameters(command=command[0], args=arguments, env=environment(folder), cwd=folder)


def exchange(served: Path, bundle: Path) -> None:
    """Puts another bundle in the place of the one that is served, in one step."""
    changed = served.with_suffix(".changed")
    shutil.copyfile(bundle, changed)
    os.replace(changed, served)


async def every(page: Callable[[str | None], Awaitable[Any]], items: str) -> list[Any]:
    """Follows cursors to the end."""
    found: list[Any] = []
    cursor = None
    for _ in range(PAGES_MAX):
        result = await page(cursor)
        found += getattr(result, items)
        cursor = result.next_cursor
        if cursor is None:
            return found
    raise AssertionError(f"more than {PAGES_MAX} pages")
