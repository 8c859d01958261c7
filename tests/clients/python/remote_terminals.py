"""What remote.py does with programs in terminals of hosts. Each scenario is a promise, named by its function."""

from pathlib import Path
from typing import Any

from fleet import FROZEN, Setting, is_root
from operating import Operator
from report import Skip, until, want
from terminals import UNKNOWN, Terminal, sessions


def need_terminals() -> None:
    if not is_root():
        raise Skip("OpenSSH that is not root hands out no terminals")


async def terminal(operator: Operator, **arguments: Any) -> Terminal:
    return await Terminal.begin(operator, tool="ssh_spawn", **arguments)


async def a_shell_on_a_host_is_driven_to_its_end(setting: Setting) -> None:
    need_terminals()
    async with setting.fleet() as operator:
        shell = await terminal(operator, host="web", cols=100, rows=30)
        await shell.type("stty size; tty; echo $TERM on $RELAY_HOST")
        await shell.shows(r"[\r\n]30 100\r\n/dev/pts/\d+\r\nxterm-256color on web\r\n")
        resized = await operator.call("session_resize", session_id=shell.session, cols=80, rows=25)
        want(resized == f"resized {shell.session} to 80x25", f"not resized: {resized}")
        await shell.type("stty size")
        await shell.shows(r"[\r\n]25 80\r\n")
        (listed,) = await sessions(operator)
        found = (listed["id"], listed["kind"], listed["title"], listed["size"])
        want(found == (shell.session, "ssh", "web: login shell", "80x25"), f"listed as {listed}")
        # Nothing is typed but the key: OpenSSH passes on no signals to programs of root.
        await shell.type("echo begun; sleep 1000")
        await shell.shows(r"[\r\n]begun\r\n")
        signalled = await shell.kill(signal_name="INT", close=False)
        want(signalled == f"sent SIGINT to {shell.session}", f"not signalled: {signalled}")
        await shell.type("echo status=$?")
        await shell.shows(r"[\r\n]status=130\r\n")
        await shell.type("exit 3")
        await shell.ends(3)
        (record,) = operator.records("ssh_spawn")
        want(record["args"]["host"] == "web", f"recorded {record}")


async def typed_text_is_decided_by_its_host(setting: Setting) -> None:
    need_terminals()
    async with setting.fleet() as operator:
        kept = operator.folder / "kept"
        kept.write_text("content")
        for host in ("web", "far"):
            shell = await terminal(operator, host=host, command="bash --norc --noprofile")
            said = await operator.call("session_send", session_id=shell.session, data=f"truncate -s 0 {kept}")
            await shell.type("echo on $RELAY_HOST")
            await shell.shows(rf"[\r\n]on {host}\r\n")
            sent = f"sent {len(str(kept)) + 15} bytes to {shell.session}"
            wanted = (FROZEN, "content") if host == "web" else (sent, "")
            want((said, kept.read_text()) == wanted, f"{host}: {said}, and the file has {kept.read_text()!r}")
            await shell.type("exit")
            await shell.ends(0)


async def a_terminal_that_is_closed_ends_its_program(setting: Setting) -> None:
    need_terminals()
    async with setting.fleet() as operator:
        program = await terminal(operator, host="web", command="echo process=$$; exec sleep 1000")
        await program.shows(r"process=\d+\r\n")
        process = int(program.raw.split("process=")[1].split()[0])
        killed = await program.kill()
        want(killed.startswith(f"killed and closed {program.session}"), f"not killed: {killed}")
        await until(lambda: not Path(f"/proc/{process}").exists(), lambda: "it goes on")
        want(await program.receive() == UNKNOWN, "it is known after its end")


SCENARIOS = (
    a_shell_on_a_host_is_driven_to_its_end,
    typed_text_is_decided_by_its_host,
    a_terminal_that_is_closed_ends_its_program,
)
