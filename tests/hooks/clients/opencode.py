"""OpenCode. Its hook is a plugin: a program in JavaScript that starts relay and throws where relay denies."""

import json
from pathlib import Path

from model import Call

from . import HOOK_S_MAX, write_json

NAME = "opencode"
PACKAGE = "opencode-ai@1.18.33"
# See `clients`: a file of a project, and the file in the home.
SETTINGS = ".opencode/plugins/more.js"

# The plugin that `relay hook install opencode` writes.
PLUGIN = Path(__file__).parents[3] / "compiler/cli/src/hook/opencode.js"
INSTALLED = ".config/opencode/plugins/relay.js"


def hook(stage):
    plugin = stage.home / INSTALLED
    plugin.parent.mkdir(parents=True)
    words = ", ".join(json.dumps(word) for word in stage.hook)
    text = PLUGIN.read_text(encoding="utf-8").replace("PROGRAM_JSON", words)
    plugin.write_text(text.replace("TIMEOUT_MS = 10000", f"TIMEOUT_MS = {HOOK_S_MAX * 1000}"), encoding="utf-8")


def write(stage):
    folder = stage.home / ".config/opencode"
    limit = {"context": 1_000_000, "output": 4096}
    write_json(
        folder / "opencode.json",
        {
            "autoupdate": False,
            "share": "disabled",
            "model": "mock/mock",
            "small_model": "mock/mock",
            "permission": {"bash": "allow", "edit": "allow", "webfetch": "allow"},
            "provider": {
                "mock": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "mock",
                    "options": {"baseURL": f"http://127.0.0.1:{stage.port}/v1", "apiKey": "none"},
                    "models": {"mock": {"name": "mock", "tool_call": True, "limit": limit}},
                }
            },
            "mcp": {"notes": {"type": "local", "command": stage.server, "enabled": True}},
        },
    )


def command(stage):
    variables = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}
    return [stage.program("opencode-linux-ARCH/bin/opencode"), "run", "do it"], stage.environment(**variables)


def is_main(told):
    return "bash" in told.tools


CALLS = {
    "shell": lambda _stage, text: Call("bash", {"command": text, "description": "a step"}),
    "file": lambda stage, path, text: Call("write", {"filePath": str(stage.project / path), "content": text}),
    "mcp": lambda _stage, tool, arguments: Call(f"notes_{tool}", arguments),
    "fetch": lambda _stage, url, text: Call("webfetch", {"url": f"{url}?{text}", "format": "text"}),
}

OUTCOMES = {}
ALONE = frozenset()
FETCHED = None

EVENT = {"hook": "tool.execute.before", "sessionID": "s", "callID": "c", "directory": "/"}
UNJUDGED = set()


def tool(name):
    return {"tool": name, "args": {}}
