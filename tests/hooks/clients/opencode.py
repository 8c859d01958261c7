"""OpenCode. Its hook is a plugin: a program in JavaScript that starts relay and throws where relay denies."""

import json

from model import Call

from . import HOOK_S_MAX, write_json

NAME = "opencode"
PACKAGE = "opencode-ai@1.18.33"
# See `clients`: a file of a project, and the file in the home.
SETTINGS = ".opencode/plugins/more.js"

PLUGIN = """import { spawnSync } from "node:child_process";

const [program, ...args] = HOOK;
const contexts = new Map();

// Returns relay's answer; only an allow lets a call run.
function ask(event) {
    const done = spawnSync(program, args, { input: JSON.stringify(event), timeout: TIMEOUT, killSignal: "SIGKILL" });
    try {
        const answer = JSON.parse(String(done.stdout));
        if (done.status === 0 || answer.decision === "deny") return answer;
    } catch {}
    return { decision: "deny", reason: "relay did not answer" };
}

export default {
    id: "relay",
    server: async ({ directory }) => ({
        "tool.execute.before": async (input, output) => {
            const answer = ask({ hook: "tool.execute.before", ...input, args: output.args, directory });
            if (answer.decision !== "allow") throw new Error(answer.reason);
            contexts.set(input.callID, answer.context);
        },
        "tool.execute.after": async (input, output) => {
            const context = contexts.get(input.callID);
            // An MCP server's answer is a list of parts.
            if (context && typeof output.output === "string") output.output += `\\n${context}`;
            contexts.delete(input.callID);
        },
        "experimental.chat.system.transform": async (_, output) => {
            const { context } = ask({ hook: "session.start", directory });
            if (context) output.system.push(context);
        },
    }),
};
"""


INSTALLED = ".config/opencode/plugins/relay.js"


def hook(stage):
    plugin = stage.home / INSTALLED
    plugin.parent.mkdir(parents=True)
    text = PLUGIN.replace("HOOK", json.dumps(stage.hook)).replace("TIMEOUT", str(HOOK_S_MAX * 1000))
    plugin.write_text(text, encoding="utf-8")


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
