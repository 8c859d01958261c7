"""Drives one server of examples/platform with the official Python client, for callers that may see different things.

Who the callers are and what each must get is in ../expect/callers.json; credentials.py makes FOLDER.

    callers.py RELAY_SERVE BUNDLE EXPECT.json FOLDER [argument for relay-serve ...]
"""

import json
import sys
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.client import Client
from mcp.shared.exceptions import MCPDeprecationWarning
from report import INVALID_PARAMS, RESOURCE_NOT_FOUND, STEP_S_MAX, Report, describe, refused, want
from results import handle, texts
from serving import MODES, PROTOCOLS, every, http_server, http_target, want_protocol

CONTEXT_META_KEY = "dev.relay/skill-context"
KINDS = ("prompts", "resources", "tools")


class Checks:
    """The checks of one caller over one connection."""

    def __init__(self, client: Client, protocol: str, name: str, expect: dict[str, Any]):
        self.client = client
        self.protocol = protocol
        self.tool = expect["tool"]
        self.own = expect["callers"][name]
        # What others see and this caller does not.
        self.hidden = {
            kind: sorted({seen for other in expect["callers"].values() for seen in other[kind]} - set(self.own[kind]))
            for kind in KINDS
        }

    def want_no_trace(self, text: str) -> None:
        for name in (name for kind in KINDS for name in self.hidden[kind]):
            want(name not in text, f"{name} is hidden and appears: {text:.2000}")

    async def prompts(self) -> list[types.Prompt]:
        return await every(lambda cursor: self.client.list_prompts(cursor=cursor), "prompts")

    async def resources(self) -> list[types.Resource]:
        return await every(lambda cursor: self.client.list_resources(cursor=cursor), "resources")

    async def tools(self) -> list[types.Tool]:
        return await every(lambda cursor: self.client.list_tools(cursor=cursor), "tools")

    async def lists(self) -> None:
        want_protocol(self.client, self.protocol)
        listed = {
            "prompts": [prompt.name for prompt in await self.prompts()],
            "resources": [str(resource.uri) for resource in await self.resources()],
            "tools": [tool.name for tool in await self.tools()],
        }
        for kind in KINDS:
            want(listed[kind] == self.own[kind], f"listed {listed[kind]}, not {self.own[kind]}")

    async def instructions(self) -> None:
        said = self.client.instructions or ""
        want(self.own["instructions"] in said, f"{self.own['instructions']} is missing: {said}")
        index = [line[2:].split(":")[0] for line in said.splitlines() if line.startswith("- ")]
        want(index == self.own["index"], f"the index has {index}, not {self.own['index']}")
        self.want_no_trace(said)

    async def listed_is_answered(self) -> None:
        for prompt in await self.prompts():
            if not any(argument.required for argument in prompt.arguments or []):
                want((await self.client.get_prompt(prompt.name)).messages, f"{prompt.name} has no message")
        for resource in await self.resources():
            want((await self.client.read_resource(str(resource.uri))).contents, f"{resource.uri} is empty")

    def want_context(self, result: types.CallToolResult, blocks: int) -> None:
        """Wants this many blocks, the first of them with the text and the names of the skills that apply."""
        want(not result.is_error, f"refused: {texts(result)}")
        want(len(result.content) == blocks, f"{len(result.content)} blocks, not {blocks}: {texts(result)}")
        context = result.content[0]
        want(isinstance(context, types.TextContent), f"the first block is {context!r:.300}")
        want(context.text == "\n".join(self.own["context"]), f"the context is {context.text}")
        want(context.annotations and context.annotations.audience == ["assistant"], f"it is for {context.annotations}")
        meta = {CONTEXT_META_KEY: {"skills": self.own["skills"]}}
        want(context.meta == meta, f"its _meta is {context.meta}")
        self.want_no_trace(result.model_dump_json())

    def want_caller(self, result: types.CallToolResult) -> None:
        """Wants this caller in the last block, which is the result of server_info."""
        caller = json.loads(texts(result)[-1])["caller"]
        found = {key: caller[key] for key in ("id", "tenant", "role", "issuer") if key in caller}
        wanted = {"id": self.own["principal"], "tenant": self.own["tenant"], "role": self.own["role"]}
        if "issuer" in self.own["by"]:
            wanted["issuer"] = self.own["by"]["issuer"]
        want(found == wanted, f"server_info says {found}, not {wanted}")

    async def contexts(self) -> None:
        # The gate intercepts: what it sends comes between the context and the result.
        first = await self.client.call_tool(self.tool, {})
        self.want_context(first, 3)
        want("common-mistakes" in texts(first)[1], f"the second block is no briefing: {texts(first)[1]}")
        self.want_caller(first)
        begun = await self.client.call_tool("begin_session", {"tags": ["orders", "contract"]})
        self.want_context(begun, 2)
        second = await self.client.call_tool(self.tool, {"briefing": handle(begun)})
        self.want_context(second, 2)
        self.want_caller(second)

    async def explained(self) -> None:
        asked = {"tool": self.tool, "user": self.own["principal"]}
        answer = json.loads(texts(await self.client.call_tool("explain_context", asked))[-1])
        want(answer["resolved_context"] == "\n".join(self.own["context"]), f"announced: {answer['resolved_context']}")

    async def subscriptions(self) -> None:
        asked = [*self.hidden["resources"], *self.own["resources"]]
        async with self.client.listen(resource_subscriptions=asked) as events:
            honored = sorted(events.honored.resource_subscriptions or [])
        want(honored == sorted(self.own["resources"]), f"honored {honored}, not {self.own['resources']}")

    async def complete(self, prompt: str) -> Any:
        return await self.client.complete(types.PromptReference(type="ref/prompt", name=prompt), {"name": "a", "value": ""})

    async def hidden_is_unknown(self, kind: str, unknown: str, *asks: Callable[[str], Awaitable[Any]]) -> None:
        for ask in asks:
            expected = await error_without_name(ask, unknown)
            for name in self.hidden[kind]:
                error = await error_without_name(ask, name)
                want(error == expected, f"{name} is answered by {error}, an unknown one by {expected}")

    async def run(self, report: Report) -> None:
        check = report.check
        client = self.client
        await check("lists", self.lists)
        await check("instructions", self.instructions)
        await check("what is listed is answered", self.listed_is_answered)
        await check("calls begin with the context", self.contexts)
        if "explain_context" in self.own["tools"]:
            await check("explain_context announces the context", self.explained)
        if self.protocol == "modern":
            await check("only what is listed is subscribed to", self.subscriptions)
        prompts = (client.get_prompt, self.complete)
        resources = (client.read_resource, *([client.subscribe_resource] if self.protocol == "legacy" else []))
        for kind, unknown, asks in (
            ("prompts", "no-such-prompt", prompts),
            ("resources", "halden://no-such-resource", resources),
            ("tools", "no_such_tool", (client.call_tool,)),
        ):
            if self.hidden[kind]:
                name = f"hidden {kind} are answered as unknown ones"
                await check(name, lambda: self.hidden_is_unknown(kind, unknown, *asks))


async def error_without_name(ask: Callable[[str], Awaitable[Any]], name: str) -> str:
    """The error for a name, in the form that it has for every other name."""
    error = await refused(ask(name), INVALID_PARAMS, RESOURCE_NOT_FOUND)
    text = error.error.model_dump_json()
    want(name in text, f"the error does not name {name}: {text}")
    return text.replace(name, "NAME")


@asynccontextmanager
async def connected(url: str, protocol: str, credential: str, on_response: Any = None) -> AsyncIterator[Client]:
    async with http_target(url, credential, on_response) as target:
        async with Client(target, mode=MODES[protocol], read_timeout_seconds=STEP_S_MAX) as client:
            yield client


async def turned_away(url: str, protocol: str, credential: str, reason: str) -> None:
    """Wants status 401 for all that a client tries. The client does not report the status, so the responses do."""
    answers: list[tuple[int, str]] = []

    async def keep(response: Any) -> None:
        answers.append((response.status_code, response.headers.get("WWW-Authenticate", "")))

    is_in = False
    try:
        async with connected(url, protocol, credential, keep):
            is_in = True
    except Exception as error:
        want(answers, describe(error))
    want(not is_in, "the caller was let in")
    for status, challenge in answers:
        want(status == 401, f"answered with {status}")
        want(f'error_description="{reason}"' in challenge, f"the challenge is {challenge}")


async def play(url: str, protocol: str, expect: dict[str, Any], folder: Path, report: Report) -> None:
    credentials = {file.stem: file.read_text() for file in folder.glob("*.credential")}
    async with AsyncExitStack() as stack:
        # All are connected at once, so that what one gets cannot come from what another left.
        clients = {
            name: await stack.enter_async_context(connected(url, protocol, credentials[name]))
            for name in expect["callers"]
        }
        for name, client in clients.items():
            report.where = f"callers python {protocol} {name}"
            await Checks(client, protocol, name, expect).run(report)
    for name, caller in expect["refused"].items():
        report.where = f"callers python {protocol} {name}"
        await report.check("status 401", lambda: turned_away(url, protocol, credentials[name], caller["reason"]))


def main() -> int:
    relay_serve, bundle, expect_file, folder, *extra = sys.argv[1:]
    expect = json.loads(Path(expect_file).read_text())
    # This checks both protocols, so calls that only the legacy one has are intended.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    report = Report([])
    try:
        with http_server([relay_serve, bundle, "--config", str(Path(folder, "server.toml")), *extra]) as url:
            for protocol in PROTOCOLS:
                report.where = f"callers python {protocol}"
                anyio.run(play, url, protocol, expect, Path(folder), report)
    except Exception as error:
        report.fail("connection", describe(error))
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
