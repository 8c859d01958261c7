"""What remote.py does with forwards: ports that lead through a host. Each scenario is a promise, named by its function."""

import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream
from fleet import Setting
from operating import Operator
from report import Skip, until, want

CONNECTED, NOT_ALLOWED = 0, 2


@asynccontextmanager
async def echo() -> AsyncIterator[int]:
    """A service on the loopback interface that sends back what it gets, up to the end of it; its port."""

    async def serve(client: SocketStream) -> None:
        async with client:
            async for data in client:
                await client.send(data)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        yield listener.extra(SocketAttribute.local_port)
        tasks.cancel_scope.cancel()


async def want_echo(stream: SocketStream) -> None:
    """Sends much, then the end, and wants all of it back, and the end."""
    content = os.urandom(500_000)

    async def send() -> None:
        await stream.send(content)
        await stream.send_eof()

    async with stream, anyio.create_task_group() as tasks:
        tasks.start_soon(send)
        got = b"".join([data async for data in stream])
    want(got == content, f"{len(got)} bytes came back of {len(content)}")


async def is_open(port: int) -> bool:
    try:
        await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
    except OSError:
        return False
    return True


async def socks(proxy: int, host: str, port: int) -> tuple[int, SocketStream]:
    """Asks a SOCKS5 proxy for a target by its name (RFC 1928): its reply, and the connection."""
    stream = await anyio.connect_tcp("127.0.0.1", proxy)
    await stream.send(b"\x05\x01\x00")
    chosen = await stream.receive(2)
    want(chosen == b"\x05\x00", f"the proxy chooses {chosen}")
    name = host.encode()
    await stream.send(b"\x05\x01\x00\x03" + bytes([len(name)]) + name + port.to_bytes(2))
    answer = b""
    while len(answer) < 10:
        answer += await stream.receive(10 - len(answer))
    return answer[1], stream


async def reply(proxy: int, host: str, port: int) -> int:
    code, stream = await socks(proxy, host, port)
    await stream.aclose()
    return code


async def opened(operator: Operator, host: str, spec: str) -> tuple[str, int]:
    """Opens a forward: its id and its port."""
    said = await operator.call("ssh_forward", host=host, spec=spec)
    found = re.fullmatch(rf"forward (fwd-\S+) active: {spec[0]} {re.escape(spec)} listening on port (\d+)", said)
    want(found, f"not opened: {said}")
    return found[1], int(found[2])


async def forwards(operator: Operator) -> list[dict[str, Any]]:
    return json.loads(await operator.call("ssh_forward_list"))


async def want_closed(operator: Operator, forward: str, port: int) -> None:
    said = await operator.call("ssh_forward_close", forward_id=forward)
    want(said == f"closed forward {forward}", f"not closed: {said}")
    with anyio.fail_after(5):
        while await is_open(port):
            await anyio.sleep(0.05)


async def a_port_here_leads_through_a_host(setting: Setting) -> None:
    async with setting.fleet() as operator, echo() as target:
        spec = f"L:0:localhost:{target}"
        for name in ("web", "far"):
            host = setting.hosts()[name]
            forward, port = await opened(operator, name, spec)
            for _ in range(2):
                await want_echo(await anyio.connect_tcp("127.0.0.1", port))
            want(host.reached("localhost", target) == 2, f"{name} passed on {host.reached('localhost', target)}")
            (listed,) = await forwards(operator)
            found = [listed[key] for key in ("id", "kind", "spec", "host", "port", "served")]
            want(found == [forward, "L", spec, name, port, 2], f"listed as {listed}")
            await want_closed(operator, forward, port)
        want(await forwards(operator) == [], "listed after their end")
        found = [(record["args"]["host"], record["action"]) for record in operator.records("ssh_forward")]
        want(found == [("web", "served"), ("far", "served")], f"recorded {found}")
        said = await operator.call("ssh_forward_close", forward_id=forward)
        want(said.startswith(f"[ERROR: unknown forward: {forward}"), f"closed again: {said}")


async def a_port_there_leads_here(setting: Setting) -> None:
    async with setting.fleet() as operator, echo() as target:
        for name in ("db", "far"):
            forward, port = await opened(operator, name, f"R:0:127.0.0.1:{target}")
            await want_echo(await anyio.connect_tcp("127.0.0.1", port))
            await want_closed(operator, forward, port)


async def a_proxy_reaches_what_the_policy_permits(setting: Setting) -> None:
    web = setting.hosts()["web"]
    async with setting.fleet() as operator, echo() as target:
        forward, proxy = await opened(operator, "web", "D:0")
        code, stream = await socks(proxy, "localhost", target)
        want(code == CONNECTED, f"the proxy replies {code}")
        await want_echo(stream)
        want(web.reached("localhost", target) == 1, "web did not pass it on")
        # The alias and the address of a host that a rule denies, and hosts that the project does not list.
        for denied in ("gone", "127.0.0.2", "10.1.2.3", "elsewhere.example"):
            code = await reply(proxy, denied, target)
            want(code == NOT_ALLOWED, f"{denied}: the proxy replies {code}")
            want(web.reached(denied, target) == 0, f"web was asked for {denied}")
        closed = await reply(proxy, "localhost", 1)
        want(closed not in (CONNECTED, NOT_ALLOWED), f"where nobody listens the proxy replies {closed}")
        found = {record["args"]["target"]: record for record in operator.records("forward:target")}
        actions = {name: record["action"] for name, record in found.items()}
        wanted = {f"localhost:{target}": "served", f"gone:{target}": "refused", f"10.1.2.3:{target}": "refused"}
        want(wanted.items() <= actions.items(), f"recorded {actions}")
        want({record["args"]["host"] for record in found.values()} == {"web"}, f"recorded {found}")
        want("NET-4" in found[f"gone:{target}"]["rule"], f"recorded {found}")
        await want_closed(operator, forward, proxy)


async def a_denied_target_gets_no_port(setting: Setting) -> None:
    async with setting.fleet() as operator:
        for spec in ("L:0:gone:22", "L:0:127.0.0.2:22", "R:0:gone:22", "L:0:elsewhere.example:22"):
            said = await operator.call("ssh_forward", host="web", spec=spec)
            want(said.startswith("[DENIED "), f"{spec}: {said}")
            want("elsewhere" in spec or "NET-4" in said, f"{spec}: {said}")
        want(await forwards(operator) == [], "one is open")


async def a_forward_ends_with_its_connection(setting: Setting) -> None:
    async with setting.fleet() as operator, echo() as target:
        _, port = await opened(operator, "far", f"L:0:localhost:{target}")
        setting.hosts()["far"].disconnect()
        await until(lambda: operator.records("forward:ended") != [], lambda: "it goes on")
        want(await forwards(operator) == [] and not await is_open(port), "it is open")


async def forwards_belong_to_their_caller(setting: Setting) -> None:
    if setting.transport == "stdio":
        raise Skip("a process on stdio has one caller and one connection")
    async with setting.serving("fleet") as server, echo() as target:
        async with setting.connected(server) as first:
            forward, port = await opened(first, "web", f"L:0:localhost:{target}")
        async with setting.connected(server) as again, setting.connected(server, "eve") as other:
            want(await forwards(other) == [], "another caller sees it")
            said = await other.call("ssh_forward_close", forward_id=forward)
            want(said.startswith("[ERROR: unknown forward: "), f"another caller closes it: {said}")
            await want_echo(await anyio.connect_tcp("127.0.0.1", port))
            await want_closed(again, forward, port)


SCENARIOS = (
    a_port_here_leads_through_a_host,
    a_port_there_leads_here,
    a_proxy_reaches_what_the_policy_permits,
    a_denied_target_gets_no_port,
    a_forward_ends_with_its_connection,
    forwards_belong_to_their_caller,
)
