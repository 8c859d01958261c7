"""Drives relay-serve with the official Python client: both protocols, both transports.

What is asked for comes from what the server lists, so the checks hold for any bundle. Where a bundle has
nothing for a check, the check is skipped, unless `must` of the expectations names it. Prompts under `leave` are
those of a server built for the conformance suite; they ask for input, which these checks do not give.

    check.py RELAY_SERVE BUNDLE_A BUNDLE_B EXPECT.json [argument for relay-serve ...]

BUNDLE_B is the same project with one more prompt and one more resource.
"""

import base64
import json
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated
from report import INVALID_PARAMS, RESOURCE_NOT_FOUND, STEP_S_MAX, Report, Skip, refused, describe, until, want
from serving import PROTOCOLS, MODES, TRANSPORTS, every, exchange, http_server, stdio_server, want_protocol

MARKER = "relay-check"


class Checks:
    """The checks of one connection."""

    def __init__(self, client: Client, protocol: str, report: Report, expect: dict[str, Any]):
        self.client = client
        self.protocol = protocol
        self.report = report
        self.expect = expect
        self.heard: list[tuple[str, str]] = []

    async def hear(self, message: Any) -> None:
        """Takes the notifications of a legacy session."""
        match message:
            case types.PromptListChangedNotification():
                self.heard.append(("prompts", ""))
            case types.ResourceListChangedNotification():
                self.heard.append(("resources", ""))
            case types.ResourceUpdatedNotification(params=params):
                self.heard.append(("updated", str(params.uri)))

    async def prompts(self) -> list[types.Prompt]:
        return await every(lambda cursor: self.client.list_prompts(cursor=cursor), "prompts")

    async def resources(self) -> list[types.Resource]:
        return await every(lambda cursor: self.client.list_resources(cursor=cursor), "resources")

    async def templates(self) -> list[types.ResourceTemplate]:
        return await every(lambda cursor: self.client.list_resource_templates(cursor=cursor), "resource_templates")

    async def choices(self, prompt: str, argument: str, value: str = "") -> list[str]:
        reference = types.PromptReference(type="ref/prompt", name=prompt)
        result = await self.client.complete(reference, {"name": argument, "value": value})
        return result.completion.values

    async def expanded(self, template: str) -> str:
        """The template with a known value or the marker for each variable."""
        uri = template
        for variable in re.findall(r"\{([^}]*)\}", template):
            reference = types.ResourceTemplateReference(type="ref/resource", uri=template)
            result = await self.client.complete(reference, {"name": variable, "value": ""})
            uri = uri.replace(f"{{{variable}}}", next(iter(result.completion.values), MARKER))
        return uri

    async def filled(self, prompt: types.Prompt) -> tuple[dict[str, str], list[str]]:
        """Values for the required arguments, and those of them that are free text."""
        arguments, markers = {}, []
        for argument in prompt.arguments or []:
            if argument.required:
                choices = await self.choices(prompt.name, argument.name)
                if not choices:
                    markers.append(f"{MARKER}-{argument.name}")
                arguments[argument.name] = choices[0] if choices else markers[-1]
        return arguments, markers

    async def identity(self) -> None:
        want_protocol(self.client, self.protocol)
        info = self.client.server_info
        want(info and info.version, "no serverInfo")
        want(info.name == self.expect["server"], f"the server calls itself {info.name}")

    async def instructions(self) -> None:
        want(self.client.instructions, "no instructions")

    async def tools(self) -> None:
        tools = await every(lambda cursor: self.client.list_tools(cursor=cursor), "tools")
        want(len({tool.name for tool in tools}) == len(tools), "a tool is listed twice")

    async def listed_prompts(self) -> list[types.Prompt]:
        prompts = await self.prompts()
        want(prompts, "no prompt is listed")
        want(len({prompt.name for prompt in prompts}) == len(prompts), "a prompt is listed twice")
        return [prompt for prompt in prompts if prompt.name not in self.expect.get("leave", [])]

    async def get_prompts(self, prompts: list[types.Prompt]) -> None:
        for prompt in prompts:
            arguments, markers = await self.filled(prompt)
            result = await self.client.get_prompt(prompt.name, arguments)
            want(result.messages, f"{prompt.name} has no message")
            text = result.model_dump_json()
            for marker in markers:
                want(marker in text, f"{prompt.name} does not print {marker}")

    async def missing_argument(self, prompts: list[types.Prompt]) -> None:
        prompt = next((prompt for prompt in prompts if any(a.required for a in prompt.arguments or [])), None)
        if prompt is None:
            raise Skip("no prompt has a required argument")
        await refused(self.client.get_prompt(prompt.name, {}), INVALID_PARAMS)

    async def unknown_prompt(self) -> None:
        await refused(self.client.get_prompt(f"no-such-{MARKER}", {}), INVALID_PARAMS)

    async def complete(self, prompts: list[types.Prompt]) -> None:
        found = False
        for prompt in prompts:
            for argument in prompt.arguments or []:
                choices = await self.choices(prompt.name, argument.name)
                want(len(choices) <= 100, f"{prompt.name} offers more than 100 values")
                if choices and choices[0]:
                    found = True
                    start = choices[0][0]
                    some = await self.choices(prompt.name, argument.name, start)
                    want(choices[0] in some, f"{prompt.name} does not complete {start}")
                    none = await self.choices(prompt.name, argument.name, f"{MARKER}-nothing-starts-so")
                    want(not none, f"{prompt.name} completes what nothing starts with")
        if not found:
            raise Skip("no argument has known values")

    async def wrong_choice(self, prompts: list[types.Prompt]) -> None:
        for prompt in prompts:
            for argument in prompt.arguments or []:
                if await self.choices(prompt.name, argument.name):
                    arguments, _ = await self.filled(prompt)
                    arguments[argument.name] = f"no-such-{MARKER}"
                    await refused(self.client.get_prompt(prompt.name, arguments), INVALID_PARAMS)
                    return
        raise Skip("no argument has known values")

    async def complete_unknown(self) -> None:
        await refused(self.choices(f"no-such-{MARKER}", "argument"), INVALID_PARAMS)

    async def listed_resources(self) -> list[types.Resource]:
        resources = await self.resources()
        want(len({str(resource.uri) for resource in resources}) == len(resources), "a resource is listed twice")
        return resources

    async def read(self, resources: list[types.Resource], kind: str) -> None:
        found = False
        for resource in resources:
            contents = (await self.client.read_resource(str(resource.uri))).contents
            want(contents, f"{resource.uri} is empty")
            want(str(contents[0].uri) == str(resource.uri), f"{resource.uri} is answered as {contents[0].uri}")
            want(contents[0].mime_type == resource.mime_type, f"{resource.uri} is listed with another MIME type")
            body = getattr(contents[0], kind, None)
            if body is None:
                continue
            found = True
            raw = base64.b64decode(body, validate=True) if kind == "blob" else body.encode()
            want(resource.size in (None, len(raw)), f"{resource.uri} has {len(raw)} bytes, {resource.size} are listed")
        if not found:
            raise Skip(f"no resource is a {kind}")

    async def read_templates(self) -> None:
        templates = await self.templates()
        if not templates:
            raise Skip("no template is listed")
        for template in templates:
            uri = await self.expanded(template.uri_template)
            contents = (await self.client.read_resource(uri)).contents
            want(contents and str(contents[0].uri) == uri, f"{uri} is not answered")
            printed = MARKER not in uri or MARKER in getattr(contents[0], "text", MARKER)
            want(printed, f"{uri} does not print its variable")

    async def unknown_resource(self) -> None:
        uri = f"{MARKER}://no-such-resource"
        code = INVALID_PARAMS if self.protocol == "modern" else RESOURCE_NOT_FOUND
        error = await refused(self.client.read_resource(uri), code)
        want((error.data or {}).get("uri") == uri, f"the error names no uri: {error.data}")

    async def texts(self, resources: list[types.Resource]) -> dict[str, str]:
        contents = {}
        for resource in resources:
            result = await self.client.read_resource(str(resource.uri), cache_mode="bypass")
            contents[str(resource.uri)] = result.model_dump_json(include={"contents"})
        return contents

    async def until_heard(self, wanted: Callable[[], bool], what: str) -> None:
        await until(wanted, lambda: f"{what} was not heard; heard {self.heard}")

    async def run(self, replace: Callable[[], None]) -> None:
        check = self.report.check
        await check("server information", self.identity)
        await check("instructions", self.instructions)
        await check("list tools", self.tools)
        prompts = await check("list prompts", self.listed_prompts) or []
        await check("get every prompt", lambda: self.get_prompts(prompts))
        await check("a missing argument is refused", lambda: self.missing_argument(prompts), "required")
        await check("an unknown prompt is refused", self.unknown_prompt)
        await check("complete arguments", lambda: self.complete(prompts), "choice")
        await check("a value that is no choice is refused", lambda: self.wrong_choice(prompts), "choice")
        await check("completion of an unknown prompt is refused", self.complete_unknown)
        resources = await check("list resources", self.listed_resources) or []
        await check("read text resources", lambda: self.read(resources, "text"), "text")
        await check("read binary resources", lambda: self.read(resources, "blob"), "binary")
        await check("read resource templates", self.read_templates, "template")
        await check("an unknown resource is refused", self.unknown_resource)
        uris = [str(resource.uri) for resource in resources]
        if self.protocol == "modern":
            await self.listening(uris, lambda: self.replaced(prompts, resources, replace))
        else:
            await check("ping", self.client.send_ping)
            await check("subscribe", lambda: self.subscribe(uris))
            await self.replaced(prompts, resources, replace)

    async def subscribe(self, uris: list[str]) -> None:
        for uri in uris:
            await self.client.subscribe_resource(uri)

    async def listening(self, uris: list[str], then: Callable[[], Awaitable[None]]) -> None:
        async with anyio.create_task_group() as group:
            opened = anyio.Event()

            async def listen() -> None:
                stream = self.client.listen(
                    prompts_list_changed=True, resources_list_changed=True, resource_subscriptions=uris
                )
                async with stream as events:
                    self.honored = events.honored
                    opened.set()
                    async for event in events:
                        match event:
                            case PromptsListChanged():
                                self.heard.append(("prompts", ""))
                            case ResourcesListChanged():
                                self.heard.append(("resources", ""))
                            case ResourceUpdated(uri=uri):
                                self.heard.append(("updated", uri))

            async def honored() -> None:
                group.start_soon(listen)
                await opened.wait()
                want(self.honored.prompts_list_changed, "prompt list changes are not honored")
                want(self.honored.resources_list_changed, "resource list changes are not honored")

            await self.report.check("listen", honored)
            await then()
            group.cancel_scope.cancel()

    async def replaced(
        self, prompts: list[types.Prompt], resources: list[types.Resource], replace: Callable[[], None]
    ) -> None:
        check = self.report.check
        before = await check("read what may change", lambda: self.texts(resources)) or {}
        replace()

        async def heard_lists() -> None:
            await self.until_heard(lambda: ("prompts", "") in self.heard, "a changed prompt list")
            await self.until_heard(lambda: ("resources", "") in self.heard, "a changed resource list")

        async def new_prompts() -> None:
            now = {prompt.name for prompt in await self.prompts()}
            added = now - {prompt.name for prompt in prompts} - set(self.expect.get("leave", []))
            want(added, "the list is the old one")
            for name in added:
                await self.client.get_prompt(name, {})

        async def new_resources() -> None:
            now = {str(resource.uri) for resource in await self.resources()}
            added = now - before.keys()
            want(added, "the list is the old one")
            for uri in added:
                await self.client.read_resource(uri)

        async def heard_updates() -> None:
            after = await self.texts([resource for resource in await self.resources() if str(resource.uri) in before])
            changed = [uri for uri, text in after.items() if text != before[uri]]
            if not changed:
                raise Skip("no content differs")
            declared = self.client.server_capabilities.resources
            if not (declared and declared.subscribe):
                raise Skip("the server does not declare subscriptions")
            for uri in changed:
                await self.until_heard(lambda: ("updated", uri) in self.heard, f"a change of {uri}")

        await check("list changes are heard", heard_lists)
        await check("the new prompts are listed", new_prompts)
        await check("the new resources are listed", new_resources)
        await check("changed contents are heard", heard_updates, "updated")


async def connection(target: str | StdioServerParameters, protocol: str, report: Report, expect: Any, replace: Any) -> None:
    checks: Checks

    async def hear(message: Any) -> None:
        await checks.hear(message)

    try:
        with anyio.fail_after(STEP_S_MAX * 20):
            async with Client(target, mode=MODES[protocol], message_handler=hear, read_timeout_seconds=STEP_S_MAX) as client:
                checks = Checks(client, protocol, report, expect)
                await checks.run(replace)
    except Exception as error:
        report.fail("connection", describe(error))


def main() -> int:
    relay_serve, bundle_a, bundle_b, expect_file, *extra = sys.argv[1:]
    expect = json.loads(Path(expect_file).read_text())
    # This checks both protocols, so calls that only the legacy one has are intended.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    report = Report(expect["must"])
    for transport in TRANSPORTS:
        for protocol in PROTOCOLS:
            report.where = f"python {transport} {protocol}"
            with tempfile.TemporaryDirectory() as folder:
                served = Path(folder, "served.relay")
                shutil.copyfile(bundle_a, served)

                def replace() -> None:
                    exchange(served, Path(bundle_b))

                command = [relay_serve, str(served), *extra]
                if transport == "http":
                    try:
                        with http_server(command) as url:
                            anyio.run(connection, url, protocol, report, expect, replace)
                    except RuntimeError as error:
                        report.fail("start", str(error))
                else:
                    anyio.run(connection, stdio_server(command), protocol, report, expect, replace)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
