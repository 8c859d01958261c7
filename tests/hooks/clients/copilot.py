"""Copilot CLI. It takes a crash, an exit status and a missing program of a hook as a denial, but not its own time-out."""

from model import Call

from . import HOOK_S_MAX, shell_line, write_json

NAME = "copilot"
PACKAGE = "@github/copilot@1.0.102"

# See `clients`: a file of a project, and the file in the home.
SETTINGS = ".github/hooks/more.json"
INSTALLED = ".copilot/hooks/relay.json"


def hook(stage):
    entry = {"type": "command", "bash": shell_line(stage.hook), "timeoutSec": HOOK_S_MAX}
    write_json(stage.home / INSTALLED, {"version": 1, "hooks": {"preToolUse": [entry], "sessionStart": [entry]}})


def write(stage):
    server = {"type": "local", "command": stage.server[0], "args": stage.server[1:], "tools": ["*"]}
    write_json(stage.home / ".copilot/mcp-config.json", {"mcpServers": {"notes": server}})


def command(stage):
    arguments = ["-p", "do it", "--allow-all", "--no-color"]
    variables = {
        "COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{stage.port}/v1",
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_MODEL": "gpt-4.1",
        "COPILOT_AUTO_UPDATE": "false",
    }
    return [stage.program(".bin/copilot"), *arguments], stage.environment(**variables)


def is_main(told):
    return "bash" in told.tools


CALLS = {
    "shell": lambda _stage, text: Call("bash", {"command": text, "description": "a step"}),
    "file": lambda stage, path, text: Call("create", {"path": str(stage.project / path), "file_text": text}),
    "mcp": lambda _stage, tool, arguments: Call(f"notes-{tool}", arguments),
    "fetch": lambda _stage, url, text: Call("web_fetch", {"url": f"{url}?{text}"}),
}

# It passes over a hook that does not answer in time.
OUTCOMES = {"client's time limit": "open"}
ALONE = frozenset()
FETCHED = "resolves to blocked address"

EVENT = {"sessionId": "s", "timestamp": 1, "cwd": "/"}
UNJUDGED = set()


def tool(name):
    return {"toolName": name, "toolArgs": {}}
