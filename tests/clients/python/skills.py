"""Drives a server of agent skills with the skills client of FastMCP, over both transports.

The client checks each file against its entry in the list: size, digest, and front matter of its own parser. It has skills by the
modern protocol alone, and does not read folders.

    skills.py RELAY_SERVE BUNDLE EXPECT.json [argument for relay-serve ...]
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.skills import SkillsClientExtension
from report import INVALID_PARAMS, Report, describe, refused, want
from serving import MODERN, http_server


def root_of(uri: str) -> str:
    return uri.removesuffix("/SKILL.md")


class Checks:
    """The checks of one connection."""

    def __init__(self, client: Client, expect: dict[str, Any]):
        self.client = client
        self.expect = expect

    async def lists(self) -> None:
        want(self.client.protocol_version == MODERN, f"got {self.client.protocol_version}")
        listed = await self.client.list_skills()
        found = [skill.uri for skill in listed]
        want(found == list(self.expect["skills"]), f"listed {found}")
        for skill in listed:
            own = self.expect["skills"][skill.uri]
            want(skill.frontmatter.root == own["frontmatter"], f"front matter {skill.frontmatter.root}")
            files = [file.uri for file in skill.resources]
            want(files == [f"{root_of(skill.uri)}/{file}" for file in own["files"]], f"files {files}")

    async def entries(self) -> None:
        for listed in await self.client.list_skills():
            got = await self.client.get_skill(listed.uri)
            want(got == listed, f"the entry {got!r} is not the listed one")

    async def files(self) -> None:
        for listed in await self.client.list_skills():
            skill = await self.client.read_skill(listed.uri)
            want(skill.name == listed.frontmatter.name, f"{listed.uri} is named {skill.name}")

    async def unknown(self) -> None:
        for uri in self.expect["unknown"]:
            await refused(self.client.get_skill(uri), INVALID_PARAMS)

    async def run(self, report: Report) -> None:
        await report.check("the list has front matter and complete files", self.lists)
        await report.check("an entry equals the one in the list", self.entries)
        await report.check("each file is the one in the entry", self.files)
        await report.check("unknown skills are refused", self.unknown)


async def play(transport: Any, where: str, expect: dict[str, Any], report: Report) -> None:
    report.where = f"skills fastmcp {where}"
    try:
        async with Client(transport, extensions=[SkillsClientExtension()]) as client:
            await Checks(client, expect).run(report)
    except Exception as error:
        report.fail("connection", describe(error))


async def main(relay_serve: str, bundle: str, expect_file: str, *extra: str) -> int:
    expect = json.loads(Path(expect_file).read_text())
    command = [relay_serve, bundle, *extra]
    report = Report([])
    # The client passes on almost nothing of the environment, and the server finds its folders there.
    stdio = StdioTransport(relay_serve, [*command[1:], "--stdio"], env=dict(os.environ))
    await play(stdio, "stdio", expect, report)
    with http_server(command) as url:
        await play(StreamableHttpTransport(url), "http", expect, report)
    return report.close()


if __name__ == "__main__":
    sys.exit(anyio.run(main, *sys.argv[1:]))
