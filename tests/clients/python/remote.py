"""Drives commands, terminals and files on other hosts with the official Python client: both protocols, both transports.

Each scenario is a promise, named by its function, and has a server of its own; the hosts are those of ../sshd.sh. Those
of terminals are in remote_terminals.py, and those of forwards in tunnels.py.

    remote.py RELAY_SERVE FOLDER [argument for relay-serve ...]

FOLDER is what ../sshd.sh made: the project and the list of hosts.
"""

import json
import os
import sys
from pathlib import Path

import anyio
import remote_terminals
import scenarios
import tunnels
from fleet import FROZEN, Setting, is_root
from operating import Operator
from report import want

HOSTS = ["web", "db", "far"]
CHANGED = "the host key has CHANGED"


async def on(operator: Operator, host: str, command: str, **more: object) -> str:
    return await operator.call("ssh_exec", host=host, command=command, **more)


async def the_hosts_are_listed(setting: Setting) -> None:
    async with setting.fleet() as operator:
        listed = json.loads(await operator.call("ssh_hosts"))
        found = {host["name"]: (host["hostname"], host["port"], host["jump"], host["groups"]) for host in listed}
        ports = {name: host.port for name, host in setting.hosts().items()}
        wanted = {
            "web": ("127.0.0.1", ports["web"], "", ["edge"]),
            "db": ("127.0.0.1", ports["db"], "", ["core"]),
            "far": ("127.0.0.1", ports["far"], "web", ["core"]),
            "swapped": ("127.0.0.1", ports["web"], "", ["lost"]),
            "gone": ("127.0.0.2", 1, "", ["lost"]),
        }
        want(found == wanted, f"listed {listed}")


async def a_command_runs_on_its_host(setting: Setting) -> None:
    async with setting.fleet() as operator:
        for host, command, wanted in (
            ("web", "echo on $RELAY_HOST", "[exit 0]\non web\n"),
            ("db", "echo on $RELAY_HOST", "[exit 0]\non db\n"),
            ("WEB", "printf a; printf b >&2; exit 3", "[exit 3]\nab"),
            ("web", "kill -KILL $$", "[exit -9]\n"),
            ("web", "cat; tty", "[exit 1]\nnot a tty\n"),
            ("db", "exit 255", "[exit 255]\n"),
        ):
            said = await on(operator, host, command)
            want(said == wanted, f"{host}: {command}: {said}")
        said = await on(operator, "web", "head -c 200000 /dev/zero | tr '\\0' a", max_output=2048)
        wanted = f"[exit 0]\n{'a' * 2048}\n\n[TRUNCATED - 200000 bytes total, 2048 shown]"
        want(said == wanted, f"{len(said)} characters, which end with {said[-80:]}")
        commands = [record["args"]["command"] for record in operator.records("ssh_exec")]
        want(len(commands) == 7, f"recorded {commands}")
        last = operator.records("ssh_exec")[-2]
        want((last["args"]["host"], last["exit_code"]) == ("db", 255), f"recorded {last}")


async def a_jump_carries_the_connection(setting: Setting) -> None:
    web, far = (setting.hosts()[name] for name in ("web", "far"))
    before = web.reached("127.0.0.1", far.port)
    async with setting.fleet() as operator:
        for _ in range(2):
            said = await on(operator, "far", "echo on $RELAY_HOST")
            want(said == "[exit 0]\non far\n", f"it says {said}")
        carried = web.reached("127.0.0.1", far.port) - before
        want(carried == 1, f"web passed on {carried} connections to far")


async def a_denied_command_runs_on_no_host(setting: Setting) -> None:
    async with setting.fleet() as operator:
        kept = operator.folder / "kept"
        kept.write_text("content")
        command = f"truncate -s 0 {kept}"
        for host in ("web", "someone@web", "127.0.0.1"):
            said = await on(operator, host, command)
            want(said.startswith("[DENIED tier 2 (STATEFUL): frozen: WEB-7"), f"{host}: {said}")
        said = await operator.call("ssh_fanout", command=command, hosts="db web")
        want(said == FROZEN, f"a fan-out with web says {said}")
        said = await on(operator, "web", "echo x > /etc/relay-check/none")
        want(said.startswith("[DENIED ") and "WEB-8" in said, f"a write says {said}")
        said = await on(operator, "localhost", "true")
        want(said.startswith("[DENIED ") and "a host that the project does not list" in said, f"outside: {said}")
        want(kept.read_text() == "content", "it ran")
        records = operator.records("ssh_exec")
        want([record["action"] for record in records] == ["refused"] * 5, f"recorded {records}")
        said = await on(operator, "db", command)
        want((said, kept.read_text()) == ("[exit 0]\n", ""), f"db, which no rule denies, says {said}")


async def a_host_with_another_key_gets_nothing(setting: Setting) -> None:
    async with setting.fleet() as operator:
        said = await on(operator, "swapped", f"touch {operator.folder}/ran")
        want(said.startswith("[ERROR: ") and CHANGED in said, f"it says {said}")
        said = await on(operator, "gone", f"touch {operator.folder}/ran")
        want(said.startswith("[ERROR: gone ") and "cannot connect" in said, f"gone says {said}")
        want(not (operator.folder / "ran").exists(), "it ran")


async def a_command_ends_at_its_time(setting: Setting) -> None:
    async with setting.fleet() as operator:
        # Commands of root get no signal from OpenSSH.
        said = await on(operator, "web", "echo begun; sleep 9", timeout=1)
        note = " It may still run on the host, which does not end commands of this user." if is_root() else ""
        want(said == f"[TIMEOUT after 1s]{note}\nbegun\n", f"it says {said}")


async def a_command_that_took_too_long_is_recorded_as_such(setting: Setting) -> None:
    async with setting.fleet() as operator:
        await on(operator, "web", "sleep 2", timeout=1)
        (record,) = operator.records("ssh_exec")
        want(record["action"] == "timed_out", f"recorded as {record['action']}")


async def many_commands_run_at_once(setting: Setting) -> None:
    said: list[str] = []

    async def run(operator: Operator, number: int) -> None:
        said.append(await on(operator, HOSTS[number % 3], f"sleep 0.5; echo {number}"))

    async with setting.fleet() as operator:
        async with anyio.create_task_group() as tasks:
            for number in range(24):
                tasks.start_soon(run, operator, number)
        want(sorted(said) == sorted(f"[exit 0]\n{number}\n" for number in range(24)), f"they say {said}")


async def a_fan_out_has_an_answer_of_each_host(setting: Setting) -> None:
    async with setting.fleet() as operator:
        said = json.loads(await operator.call("ssh_fanout", command="echo on $RELAY_HOST; [ $RELAY_HOST != db ]"))
        want((said["host_count"], said["concurrency"]) == (5, 8), f"it says {said}")
        codes = {result["host"]: result["exit_code"] for result in said["results"]}
        want(codes == {"web": 0, "db": 1, "far": 0, "swapped": None, "gone": None}, f"codes: {codes}")
        outputs = {result["host"]: result["output"] for result in said["results"]}
        for host in HOSTS:
            want(outputs[host] == f"[exit {codes[host]}]\non {host}\n", f"{host}: {outputs[host]}")
        want(CHANGED in outputs["swapped"] and "cannot connect" in outputs["gone"], f"outputs: {outputs}")


async def a_check_tells_which_hosts_answer(setting: Setting) -> None:
    async with setting.fleet() as operator:
        lines = (await operator.call("ssh_check")).splitlines()
        states = dict(line.split(": ", 1) for line in lines)
        want({name for name in states if states[name] == "ok"} == set(HOSTS), f"it says {lines}")
        want(states["swapped"].startswith("UNREACHABLE (") and CHANGED in states["swapped"], f"it says {lines}")
        want(states["gone"].startswith("UNREACHABLE ("), f"it says {lines}")


async def a_scan_returns_the_keys_of_the_hosts(setting: Setting) -> None:
    hosts = setting.hosts()
    async with setting.fleet() as operator:
        lines = (await operator.call("ssh_keyscan", hosts="web, far")).splitlines()
        keys = [line for line in lines if not line.startswith("#")]
        wanted = [f"[127.0.0.1]:{hosts[name].port} {hosts[name].key}" for name in ("web", "far")]
        want(keys == wanted, f"it says {lines}")
        (record,) = operator.records("ssh_keyscan")
        want(record["args"]["hosts"] == "web, far", f"recorded {record}")


def listing(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    """What a folder has: the mode of each entry and the content of each file."""
    found = sorted(folder.rglob("*"))
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in found
    }


async def a_file_goes_there_and_comes_back(setting: Setting) -> None:
    async with setting.fleet() as operator:
        source, there, back = (operator.folder / name for name in ("source", "there", "back"))
        content = os.urandom(3_000_000)
        source.write_bytes(content)
        source.chmod(0o640)
        said = await operator.call("ssh_upload", host="web", local_path=str(source), remote_path=str(there))
        want(said == f"uploaded {source} -> web:{there} (3000000 bytes)", f"it says {said}")
        want(there.read_bytes() == content, "the bytes are others there")
        said = await operator.call("ssh_download", host="far", remote_path=str(there), local_path=str(back))
        want(said == f"downloaded far:{there} -> {back} (3000000 bytes)", f"it says {said}")
        want(back.read_bytes() == content, "the bytes are others here")
        modes = [path.stat().st_mode & 0o777 for path in (there, back)]
        want(modes == [0o640, 0o640], f"the modes are {modes}")
        for tool, host in (("ssh_upload", "web"), ("ssh_download", "far")):
            (record,) = operator.records(tool)
            want((record["args"]["host"], record["action"]) == (host, "served"), f"recorded {record}")
        none = "/etc/relay-check/none"
        said = await operator.call("ssh_upload", host="db", local_path=str(source), remote_path=none)
        want(said.startswith("[DENIED ") and "WEB-8" in said, f"a denied path says {said}")
        said = await operator.call("ssh_download", host="db", remote_path=f"{there}-none", local_path=str(back))
        want(said.startswith("[ERROR: ") and "-none" in said, f"a missing file says {said}")
        want(back.read_bytes() == content, "the file of the failed transfer is another")


async def a_folder_goes_there_and_comes_back(setting: Setting) -> None:
    async with setting.fleet() as operator:
        tree, copy, back = (operator.folder / name for name in ("tree", "copy", "back"))
        (tree / "deep" / "deeper").mkdir(parents=True)
        (tree / "empty folder").mkdir(mode=0o750)
        for name, content, mode in (
            ("script.sh", b"#!/bin/sh\n", 0o755),
            ("deep/secret", os.urandom(70_000), 0o600),
            ("deep/deeper/none", b"", 0o644),
            ("deep/Grüße 'und' \"mehr\"\n", b"x", 0o644),
        ):
            (tree / name).write_bytes(content)
            (tree / name).chmod(mode)
        files, folders, size = 4, 4, 10 + 70_000 + 1
        counts = f"({files} files, {folders} folders, {size} bytes)"
        paths = {"local_path": str(tree), "remote_path": str(copy)}
        said = await operator.call("ssh_upload", host="far", recursive=True, **paths)
        want(said == f"uploaded {tree} -> far:{copy} {counts}", f"it says {said}")
        want(listing(copy) == listing(tree), f"there it is another: {listing(copy)}")
        paths = {"local_path": str(back), "remote_path": str(copy)}
        said = await operator.call("ssh_download", host="web", recursive=True, **paths)
        want(said == f"downloaded web:{copy} -> {back} {counts}", f"it says {said}")
        want(listing(back) == listing(tree), f"here it is another: {listing(back)}")


async def each_call_is_recorded_with_its_host(setting: Setting) -> None:
    async with setting.fleet() as operator:
        file = str(operator.folder / "server.toml")
        copy = str(operator.folder / "copy")
        for tool, where, more, action in (
            ("ssh_exec", {"host": "web"}, {"command": "true"}, "served"),
            ("ssh_exec", {"host": "swapped"}, {"command": "true"}, "refused"),
            ("ssh_exec", {"host": "web"}, {"command": "truncate x"}, "refused"),
            ("ssh_fanout", {"hosts": "db,far"}, {"command": "true"}, "served"),
            ("ssh_check", {"hosts": "gone"}, {}, "served"),
            ("ssh_keyscan", {"hosts": "db"}, {}, "served"),
            ("ssh_upload", {"host": "db"}, {"local_path": file, "remote_path": copy}, "served"),
            ("ssh_download", {"host": "far"}, {"local_path": copy, "remote_path": file}, "served"),
            ("ssh_forward", {"host": "far"}, {"spec": "D:0"}, "served"),
            ("ssh_forward", {"host": "far"}, {"spec": "L:0:gone:1"}, "refused"),
        ):
            said = await operator.call(tool, **where, **more)
            record = operator.records(tool)[-1]
            found = (record["args"].items() >= where.items(), record["action"], record["denied"])
            want(found == (True, action, action == "refused"), f"{said}: recorded {record}")
            want(record["output_len"] == len(said.encode()), f"{said}: recorded {record}")


SCENARIOS = (
    the_hosts_are_listed,
    a_command_runs_on_its_host,
    a_jump_carries_the_connection,
    a_denied_command_runs_on_no_host,
    a_host_with_another_key_gets_nothing,
    a_command_ends_at_its_time,
    a_command_that_took_too_long_is_recorded_as_such,
    many_commands_run_at_once,
    a_fan_out_has_an_answer_of_each_host,
    a_check_tells_which_hosts_answer,
    a_scan_returns_the_keys_of_the_hosts,
    a_file_goes_there_and_comes_back,
    a_folder_goes_there_and_comes_back,
    each_call_is_recorded_with_its_host,
    *remote_terminals.SCENARIOS,
    *tunnels.SCENARIOS,
)


if __name__ == "__main__":
    sys.exit(scenarios.play("ssh python", Setting, SCENARIOS))
