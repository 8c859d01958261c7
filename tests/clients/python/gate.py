"""Drives gated sessions of relay-serve with the official Python client: both protocols, both transports.

Each scenario is a promise of the gate, named by its function, and has servers of its own.

    gate.py RELAY_SERVE BUNDLES [argument for relay-serve ...]

BUNDLES is a folder with the editions of ../gate/project.kdl: intercept, refuse, hidden and changed.
"""

import hashlib
import json
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import scenarios
from mcp.client import Client
from report import INVALID_PARAMS, STEP_S_MAX, Skip, refused, until, want
from results import BRIEFING_META_KEY, briefing, handle, texts
from serving import MODES, every, exchange, http_server, http_target, stdio_server

# How long something that must not come is waited for.
SILENCE_S = 0.3
ERROR_CHARS_MAX = 300

TOOLS = ["begin_session", "read_prompts", "server_info", "audit_tail", "explain_context"]
BODIES = {
    "common-mistakes": "Never guess.",
    "security": "Close every port.",
    "architecture": "Zigbee it is.",
    "server-audit": "Look before you leap.",
    "naming": "Names are kebab-case.",
    "onboarding": "Welcome.",
}
CALLERS = {"ann": "secret-of-ann", "bob": "secret-of-bob"}


class House:
    """What one server has to itself: the bundle that it serves, configuration, state and audit."""

    def __init__(self, folder: Path, bundle: Path, keys: tuple[int, ...], callers: bool):
        self.folder = folder
        self.served = folder / "served.relay"
        self.bundles = bundle.parent
        shutil.copyfile(bundle, self.served)
        config = '[watch]\npoll-ms = 50\n[audit]\npath = "audit.jsonl"\n'
        for key in keys:
            secret = folder / f"key-{key}"
            secret.touch(mode=0o600)
            secret.write_text(f"{key:02x}" * 32)
            config += f'[[briefing.keys]]\nid = {key}\nkey-file = "key-{key}"\n'
        for name, secret in CALLERS.items() if callers else ():
            sha256 = hashlib.sha256(secret.encode()).hexdigest()
            config += f'[[auth.api-keys]]\nid = "{name}"\nsha256 = "{sha256}"\nprincipal = "{name}"\n'
        (folder / "server.toml").write_text(config)

    def arguments(self) -> list[str]:
        return [str(self.served), "--config", str(self.folder / "server.toml"), "--state", str(self.folder / "state")]

    def exchange(self, edition: str) -> None:
        exchange(self.served, self.bundles / f"{edition}.relay")

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "audit.jsonl").read_text().splitlines()]


@dataclass
class Server:
    """How clients reach what serves a house: `url` over HTTP; on stdio each starts `command`."""

    house: House
    command: list[str]
    url: str | None


class Agent:
    """A connected client, and how it asks."""

    def __init__(self, client: Client, house: House):
        self.client = client
        self.house = house

    async def call(self, tool: str, **arguments: Any) -> types.CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def begin(self, *tags: str) -> types.CallToolResult:
        return await self.call("begin_session", tags=list(tags))

    async def read(self, briefing: str, *tags: str) -> types.CallToolResult:
        return await self.call("read_prompts", tags=list(tags), briefing=briefing)

    async def tools(self) -> list[types.Tool]:
        # A client may keep a list; here the server is asked.
        return await every(lambda cursor: self.client.list_tools(cursor=cursor, cache_mode="bypass"), "tools")

    async def tool_names(self) -> list[str]:
        return [tool.name for tool in await self.tools()]


class Setting(scenarios.Setting):
    """One protocol over one transport, and its servers."""

    @contextmanager
    def serving(self, edition: str, keys: tuple[int, ...] = (1,), callers: bool = False) -> Iterator[Server]:
        """A server that seals with the first of `keys` and opens with all; with `callers` each has an API key."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            over_http = self.transport == "http"
            house = House(folder, self.bundles / f"{edition}.relay", keys, callers and over_http)
            command = [self.relay_serve, *house.arguments(), *self.extra]
            url = stack.enter_context(http_server(command)) if over_http else None
            yield Server(house, command, url)

    @asynccontextmanager
    async def connected(self, server: Server, caller: str = "", heard: list[str] | None = None) -> AsyncIterator[Agent]:
        """A client of `server`, which gets the caller in the way of the transport."""

        async def hear(message: Any) -> None:
            if heard is not None and isinstance(message, types.ToolListChangedNotification):
                heard.append(message.method)

        async with AsyncExitStack() as stack:
            if server.url is None:
                target: Any = stdio_server([*server.command, *(["--principal", caller] if caller else [])])
            else:
                credential = f"rk_{caller}_{CALLERS[caller]}" if caller else ""
                target = await stack.enter_async_context(http_target(server.url, credential))
            mode = MODES[self.protocol]
            client = Client(target, mode=mode, message_handler=hear, read_timeout_seconds=STEP_S_MAX)
            await stack.enter_async_context(client)
            if heard is not None and self.is_modern:
                # The stream is not iterated: `hear` gets its messages, too.
                await stack.enter_async_context(client.listen(tools_list_changed=True))
            yield Agent(client, server.house)

    @asynccontextmanager
    async def agent(
        self, edition: str, keys: tuple[int, ...] = (1,), heard: list[str] | None = None
    ) -> AsyncIterator[Agent]:
        """A server of its own, and a client of it."""
        with self.serving(edition, keys) as server:
            async with self.connected(server, heard=heard) as agent:
                yield agent


def want_sent(result: types.CallToolResult, *names: str) -> None:
    """Wants these prompts in full, in this order, and no other."""
    want(briefing(result)["full"] == list(names), f"sent {briefing(result)['full']}, not {names}")
    said = texts(result)[0]
    found = sorted((said.index(body), name) for name, body in BODIES.items() if body in said)
    want([name for _, name in found] == list(names), f"the text holds {found}, not {names}: {said}")


def want_plain(result: types.CallToolResult) -> dict[str, Any]:
    """Wants the tool's own result and nothing else; returns it."""
    want(not result.is_error, f"refused: {texts(result)}")
    want(len(texts(result)) == 1, f"not only the result: {texts(result)}")
    want(BRIEFING_META_KEY not in (result.meta or {}), f"a briefing came with it: {result.meta}")
    return json.loads(texts(result)[0])


def want_refused(result: types.CallToolResult, *words: str) -> str:
    """Wants a tool error that says what to do, in calm words."""
    said = "\n".join(texts(result))
    want(result.is_error, f"not refused: {said:.300}")
    want(BRIEFING_META_KEY not in (result.meta or {}), "a denial has no briefing")
    for word in words:
        want(word in said, f"the denial does not say {word}: {said:.600}")
    inner = re.fullmatch(r"\[ERROR: (.*)\]", said)
    want(inner and len(said) <= ERROR_CHARS_MAX, f"no short [ERROR: ...]: {said:.600}")
    want(not re.search(r"!|[A-Z]{4}", inner[1]), f"it shouts: {said}")
    return said


async def the_instructions_tell_of_the_gate_and_what_is_behind_it(setting: Setting) -> None:
    async with setting.agent("intercept") as agent:
        told_first = agent.client.instructions or ""
        for part in ("begin_session", "common-mistakes: Mistakes", "onboarding: First day"):
            want(part in told_first, f"{part} is missing: {told_first}")
        want("{{" not in told_first, f"a variable was not filled: {told_first}")


async def obeying_gives_what_matters_and_plain_results_afterwards(setting: Setting) -> None:
    async with setting.agent("intercept") as agent:
        begun = await agent.begin("zigbee", " MQTT ", "lights")
        want_sent(begun, "common-mistakes", "architecture", "naming")
        said = texts(begun)[0]
        want("onboarding, security, server-audit" in said, f"the others are not named: {said}")
        want("read_prompts" in said, f"nothing says how to ask for more: {said}")
        want(said.splitlines()[-1].endswith(handle(begun)), f"the last line does not end with the handle: {said}")
        info = want_plain(await agent.call("server_info", briefing=handle(begun)))
        want(info["transport"] == setting.transport, f"server_info says {info['transport']}")
        want(info["gate"]["unlock"] == "intercept", f"server_info says {info['gate']}")


async def ignoring_the_gate_puts_a_briefing_before_the_result(setting: Setting) -> None:
    async with setting.agent("intercept") as agent:
        first = await agent.call("server_info")
        want_sent(first, "common-mistakes", "server-audit")
        want(len(texts(first)) == 2, f"not briefing and result: {texts(first)}")
        want("begin_session" in texts(first)[0], f"it does not name begin_session: {texts(first)[0]}")
        want(json.loads(texts(first)[1])["name"] == "gated", "the result is not as it would be without the gate")
        second = await agent.call("server_info")
        if setting.is_modern:
            want_sent(second, "common-mistakes", "server-audit")
        else:
            want_plain(second)
        want_plain(await agent.call("server_info", briefing=handle(first)))


async def where_the_gate_refuses_nothing_runs_before_a_briefing(setting: Setting) -> None:
    async with setting.agent("refuse") as agent:
        for tool in ("server_info", "audit_tail"):
            want_refused(await agent.call(tool), "begin_session")
            record = agent.house.records()[-1]
            want((record["tool"], record["denied"]) == (tool, True), f"recorded as {record}")
        begun = await agent.begin("vpn")
        dropped = await agent.call("server_info")
        if setting.is_modern:
            want_refused(dropped, "begin_session")
        else:
            want_plain(dropped)
        want_plain(await agent.call("server_info", briefing=handle(begun)))
        record = agent.house.records()[-1]
        want((record["tool"], record["denied"]) == ("server_info", False), f"recorded as {record}")


async def read_prompts_gives_the_first_briefing_wherever_the_gate_refuses(setting: Setting) -> None:
    async with setting.agent("refuse") as agent:
        want_sent(await agent.call("read_prompts", tags=["vpn"]), "common-mistakes", "security")


async def one_conversation_does_not_open_the_gate_for_another(setting: Setting) -> None:
    if setting.transport == "stdio":
        raise Skip("a process on stdio has one client")
    with setting.serving("refuse") as server:
        async with setting.connected(server) as one, setting.connected(server) as other:
            await one.begin("vpn")
            want_refused(await other.call("server_info"), "begin_session")


async def asking_for_more_repeats_nothing(setting: Setting) -> None:
    async with setting.agent("intercept") as agent:
        first = await agent.begin("zigbee")
        want_sent(first, "common-mistakes", "architecture")
        second = await agent.read(handle(first), "vpn", "zigbee")
        want_sent(second, "security")
        third = await agent.read(handle(second), "vpn", "lights")
        want_sent(third, "naming")
        want_sent(await agent.read(handle(third), "vpn", "lights", "zigbee"))
        # An older handle means at worst that something comes again; a session knows better.
        again = await agent.read(handle(first), "vpn")
        want_sent(again, *(["security"] if setting.is_modern else []))


async def beginning_again_gives_everything_again(setting: Setting) -> None:
    async with setting.agent("intercept") as agent:
        for _ in range(2):
            want_sent(await agent.begin("vpn"), "common-mistakes", "security")


async def two_servers_with_one_key_serve_one_conversation(setting: Setting) -> None:
    async with setting.agent("refuse") as one, setting.agent("refuse") as other:
        first = await one.begin("zigbee")
        want_sent(first, "common-mistakes", "architecture")
        second = await other.read(handle(first), "zigbee", "vpn")
        want_sent(second, "security")
        third = await one.read(handle(second), "zigbee", "vpn", "lights")
        want_sent(third, "naming")
        want_sent(await other.read(handle(third), "zigbee", "vpn", "lights", "mistakes"))
        for agent in (one, other):
            want_plain(await agent.call("server_info", briefing=handle(third)))


async def keys_can_change_one_server_after_the_other(setting: Setting) -> None:
    old, both, new = (1,), (2, 1), (2,)
    async with (
        setting.agent("refuse", old) as first,
        setting.agent("refuse", both) as second,
        setting.agent("refuse", new) as third,
    ):
        of_old = handle(await first.begin("vpn"))
        want_plain(await second.call("server_info", briefing=of_old))
        want_refused(await third.call("server_info", briefing=of_old), "key 1", "begin_session")
        of_new = handle(await second.begin("vpn"))
        want_plain(await third.call("server_info", briefing=of_new))
        want_refused(await first.call("server_info", briefing=of_new), "key 2", "begin_session")


async def another_bundle_ends_a_briefing_and_says_so(setting: Setting) -> None:
    async with setting.agent("intercept") as agent:
        begun = await agent.begin("vpn")
        want_plain(await agent.call("server_info", briefing=handle(begun)))
        agent.house.exchange("changed")
        await until_said(agent, "Always ask.")
        want_refused(await agent.call("server_info", briefing=handle(begun)), "changed", "begin_session")
        want_refused(await agent.read(handle(begun), "vpn"), "changed", "begin_session")
        # What a session remembers of the old bundle is no briefing of the new one.
        dropped = await agent.call("server_info")
        want("Always ask." in texts(dropped)[0], f"not briefed anew: {texts(dropped)}")
        begun = await agent.begin("vpn")
        want("Always ask." in texts(begun)[0], f"not the new text: {texts(begun)}")
        want_plain(await agent.call("server_info", briefing=handle(begun)))


async def until_said(agent: Agent, text: str) -> None:
    """Waits until a prompt, which is not gated, has this text."""
    said = ""
    for _ in range(200):
        said = (await agent.client.get_prompt("common-mistakes")).model_dump_json()
        if text in said:
            return
        await anyio.sleep(0.05)
    raise AssertionError(f"the new bundle never came into force: {said}")


async def lists_never_change_by_a_call(setting: Setting) -> None:
    heard: list[str] = []
    async with setting.agent("intercept", heard=heard) as agent:
        before = await agent.tools()
        want([tool.name for tool in before] == TOOLS, f"listed {[tool.name for tool in before]}")
        for tool in before:
            schema = tool.input_schema
            optional = "briefing" in schema.get("properties", {}) and "briefing" not in schema.get("required", [])
            want(optional == (tool.name != "begin_session"), f"{tool.name} takes {schema}")
        await agent.call("server_info")
        begun = await agent.begin("vpn")
        await agent.read(handle(begun), "zigbee")
        await agent.call("audit_tail", briefing=handle(begun))
        want(await agent.tools() == before, "the list changed")
        await anyio.sleep(SILENCE_S)
        want(not heard, f"the client was notified of a change: {heard}")
        # It would have heard: this bundle has another list for some.
        agent.house.exchange("hidden")
        await until(lambda: bool(heard), lambda: "the client was not notified of a change")


async def hidden_tools_show_to_a_session_that_was_briefed(setting: Setting) -> None:
    heard: list[str] = []
    async with setting.agent("hidden", heard=heard) as agent:
        # Lists of the modern protocol never depend on earlier calls.
        before, after = (TOOLS, TOOLS) if setting.is_modern else (TOOLS[:1], TOOLS[1:])
        want(await agent.tool_names() == before, f"listed {await agent.tool_names()}, not {before}")
        await agent.begin("vpn")
        if not setting.is_modern:
            await until(lambda: len(heard) == 1, lambda: "the session was not notified of the other tools")
        want(await agent.tool_names() == after, f"listed {await agent.tool_names()}, not {after}")
        again = await agent.begin("vpn")
        want_plain(await agent.call("server_info", briefing=handle(again)))
        await anyio.sleep(SILENCE_S)
        want(len(heard) == (0 if setting.is_modern else 1), f"notified without a change: {heard}")


async def handles_that_are_no_good_are_refused_calmly(setting: Setting) -> None:
    async with setting.agent("intercept") as agent:
        good = handle(await agent.begin("vpn"))
        altered = [good[:at] + ("A" if good[at] != "A" else "B") + good[at + 1 :] for at in range(len(good))]
        # A good one is at hand in the session; what is sent counts.
        for wrong in (*altered, good[1:], good[:-1], good * 2, "junk", "päng 💥", "null", "A" * (1 << 19)):
            want_refused(await agent.call("server_info", briefing=wrong), "begin_session")
            want_refused(await agent.read(wrong, "vpn"), "begin_session")
        for wrong in (7, True, [good], {"briefing": good}):
            want_refused(await agent.call("server_info", briefing=wrong), "`briefing` must be a string")
        want_plain(await agent.call("server_info", briefing=good))


async def the_handle_of_another_caller_is_refused(setting: Setting) -> None:
    with setting.serving("intercept", callers=True) as server:
        async with setting.connected(server, "ann") as ann, setting.connected(server, "bob") as bob:
            of_ann = handle(await ann.begin("vpn"))
            want_refused(await bob.call("server_info", briefing=of_ann), "another caller", "begin_session")
            of_bob = handle(await bob.begin("vpn"))
            want_refused(await ann.read(of_bob, "zigbee"), "another caller", "begin_session")
            want_plain(await ann.call("server_info", briefing=of_ann))
            want_plain(await bob.call("server_info", briefing=of_bob))


async def tags_that_are_not_right_cost_nothing(setting: Setting) -> None:
    async with setting.agent("intercept") as agent:
        eleven = [f"tag{number}" for number in range(11)]
        error = await refused(agent.begin(*eleven), INVALID_PARAMS)
        want("10" in error.message and "11" in error.message, f"it does not say how many: {error.message}")
        for tags in ("vpn", ["vpn", 7], ["vpn", None], [["vpn"]], {"vpn": True}, ["x" * (1 << 19)]):
            want_refused(await agent.call("begin_session", tags=tags), "tag")
        want_refused(await agent.call("begin_session"), "`tags` is required")
        want_sent(await agent.begin(), "common-mistakes")
        want_sent(await agent.begin(*eleven[:10]), "common-mistakes")
        want_sent(await agent.begin("", " ", "VPN", "vpn", ".*", "("), "common-mistakes", "security")


async def the_audit_shows_a_caller_its_own_records(setting: Setting) -> None:
    if setting.transport == "stdio":
        raise Skip("a process on stdio has one caller")
    with setting.serving("intercept", callers=True) as server:
        async with setting.connected(server, "ann") as ann, setting.connected(server, "bob") as bob:
            of_ann = handle(await ann.begin("vpn"))
            await bob.begin("zigbee")
            await ann.call("server_info", briefing=of_ann)
            await bob.call("server_info")
            tail = await ann.call("audit_tail", briefing=of_ann)
            records = [json.loads(line) for line in texts(tail)[0].splitlines()]
            want({record["principal"] for record in records} == {"ann"}, f"found: {records}")
            found = [record["tool"] for record in records]
            want(found == ["begin_session", "server_info"], f"found: {found}")
        everyone = {record["principal"] for record in server.house.records()}
        want(everyone == {"ann", "bob"}, f"the file has records of {everyone}")


SCENARIOS = (
    the_instructions_tell_of_the_gate_and_what_is_behind_it,
    obeying_gives_what_matters_and_plain_results_afterwards,
    ignoring_the_gate_puts_a_briefing_before_the_result,
    where_the_gate_refuses_nothing_runs_before_a_briefing,
    read_prompts_gives_the_first_briefing_wherever_the_gate_refuses,
    one_conversation_does_not_open_the_gate_for_another,
    asking_for_more_repeats_nothing,
    beginning_again_gives_everything_again,
    two_servers_with_one_key_serve_one_conversation,
    keys_can_change_one_server_after_the_other,
    another_bundle_ends_a_briefing_and_says_so,
    lists_never_change_by_a_call,
    hidden_tools_show_to_a_session_that_was_briefed,
    handles_that_are_no_good_are_refused_calmly,
    the_handle_of_another_caller_is_refused,
    tags_that_are_not_right_cost_nothing,
    the_audit_shows_a_caller_its_own_records,
)


if __name__ == "__main__":
    sys.exit(scenarios.play("gate", Setting, SCENARIOS))
