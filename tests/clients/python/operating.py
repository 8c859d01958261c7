"""A server of commands for one scenario, in a folder of its own, and the callers that drive it."""

import hashlib
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_types as types
import scenarios
from mcp.client import Client
from report import STEP_S_MAX, want
from results import texts
from serving import MODES, http_server, http_target, stdio_server, want_protocol

CALLERS = {"op": "secret-of-op", "eve": "secret-of-eve"}

# How a client answers a question of the server.
Answer = Callable[[types.ElicitRequestParams], Awaitable[types.ElicitResult | types.ErrorData]]


@dataclass
class Server:
    """What serves: `url` over HTTP; on stdio each client starts `command`. Commands run in `folder`."""

    folder: Path
    command: list[str]
    url: str | None

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "audit.jsonl").read_text().splitlines()]


class Operator:
    """A connected client, and how it calls."""

    def __init__(self, client: Client, server: Server):
        self.client = client
        self.server = server
        self.folder = server.folder

    async def call(self, tool: str, /, **arguments: Any) -> str:
        """The text of a result, which is its only block."""
        result = await self.client.call_tool(tool, arguments)
        want(len(result.content) == 1, f"{len(result.content)} blocks: {texts(result)}")
        text = texts(result)[0]
        is_failure = text.startswith(("[DENIED ", "[CONFIRM REQUIRED ", "[ERROR: ", "[TIMEOUT "))
        want(bool(result.is_error) == is_failure, f"isError is {result.is_error}: {text:.300}")
        return text

    async def run(self, command: str, **more: Any) -> str:
        return await self.call("shell_exec", command=command, **more)

    def records(self, tool: str) -> list[dict[str, Any]]:
        """The records of a tool, without those that only tell that a call began."""
        return [record for record in self.server.records() if record["tool"] == tool and record["action"] != "begun"]


class Setting(scenarios.Setting):
    """One protocol over one transport, and its servers."""

    @asynccontextmanager
    async def serving(self, bundle: str) -> AsyncIterator[Server]:
        over_http = self.transport == "http"
        async with AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory())).resolve()
            config = '[audit]\npath = "audit.jsonl"\n'
            for name, secret in CALLERS.items() if over_http else ():
                sha256 = hashlib.sha256(secret.encode()).hexdigest()
                config += f'[[auth.api-keys]]\nid = "{name}"\nsha256 = "{sha256}"\nprincipal = "{name}"\n'
            (folder / "server.toml").write_text(config)
            files = ["--config", str(folder / "server.toml"), "--state", str(folder / "state")]
            command = [self.relay_serve, str(self.bundles / f"{bundle}.relay"), *files, *self.extra]
            url = stack.enter_context(http_server(command, folder)) if over_http else None
            yield Server(folder, command, url)

    @asynccontextmanager
    async def connected(
        self, server: Server, caller: str = "op", answer: Answer | None = None
    ) -> AsyncIterator[Operator]:
        """A client of `server`; without `answer` it says that it asks nobody."""

        async def ask(_: Any, params: types.ElicitRequestParams) -> types.ElicitResult | types.ErrorData:
            return await answer(params)

        async with AsyncExitStack() as stack:
            if server.url is None:
                target: Any = stdio_server([*server.command, "--principal", caller], server.folder)
            else:
                target = await stack.enter_async_context(http_target(server.url, f"rk_{caller}_{CALLERS[caller]}"))
            client = Client(
                target,
                mode=MODES[self.protocol],
                read_timeout_seconds=STEP_S_MAX,
                elicitation_callback=ask if answer else None,
            )
            await stack.enter_async_context(client)
            want_protocol(client, self.protocol)
            yield Operator(client, server)

    @asynccontextmanager
    async def operator(self, bundle: str, answer: Answer | None = None) -> AsyncIterator[Operator]:
        """A server of its own, and a client of it."""
        async with self.serving(bundle) as server, self.connected(server, answer=answer) as operator:
            yield operator
