"""OpenCode. Its hook is a plugin: a program in JavaScript that starts relay and throws where relay denies."""

import json

from model import Call

from . import HOOK_S_MAX, write_json

NAME = "opencode"
PACKAGE = "opencode-ai@1.18.33"
# A file of a project that decides about hooks.
SETTINGS = ".opencode/plugins/more.js"

PLUGIN = """import { spawnSync } from "node:child_process";

const [program, ...args] = HOOK;

// Returns the reason of a denial; only an allow has none.
function denial(event) {
    const done = spawnSync(program, args, { input: JSON.stringify(event), timeout: TIMEOUT, killSignal: "SIGKILL" });
    let answer;
    try {
        answer = JSON.parse(String(done.stdout));
    } catch {
        return "relay did not answer";
    }
    return done.status === 0 && answer.decision === "allow" ? null : answer.reason || "relay did not answer";
}

export default {
    id: "relay",
    server: async (context) => ({
        "tool.execute.before": async (input, output) => {
            const reason = denial({ hook: "tool.execute.before", ...input, args: output.args, directory: context.directory });
            if (reason !== null) throw new Error(reason);
        },
    }),
};
"""


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
    plugin = folder / "plugins/relay.js"
    plugin.parent.mkdir()
    plugin.write_text(PLUGIN.replace("HOOK", json.dumps(stage.hook)).replace("TIMEOUT", str(HOOK_S_MAX * 1000)), encoding="utf-8")


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
