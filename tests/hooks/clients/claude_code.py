"""Claude Code. Each of its hooks may say that a failure blocks the call."""

from model import Call

from . import HOOK_S_MAX, write_json

NAME = "claude-code"
PACKAGE = "@anthropic-ai/claude-code@2.1.331"
PROGRAM = "@anthropic-ai/claude-code-linux-ARCH/claude"

# See `clients`: a file of a project, and the file in the home.
SETTINGS = ".claude/settings.local.json"
INSTALLED = ".claude/settings.json"


def hook(stage):
    entry = {"type": "command", "command": stage.hook[0], "args": stage.hook[1:], "timeout": HOOK_S_MAX}
    closed = entry | {"onFailure": "block"}
    hooks = {
        "PreToolUse": [{"matcher": "*", "hooks": [closed]}],
        "SessionStart": [{"hooks": [entry]}],
        "ConfigChange": [{"hooks": [entry]}],
    }
    write_json(stage.home / INSTALLED, {"hooks": hooks})


def write(stage):
    write_json(
        stage.home / ".claude/settings.json",
        {
            "permissions": {"allow": ["Bash", "Read", "Edit", "Write", "WebFetch", "mcp__notes"]},
            "skipWebFetchPreflight": True,
        },
    )
    write_json(stage.home / "mcp.json", {"mcpServers": {"notes": {"command": stage.server[0], "args": stage.server[1:]}}})


def command(stage):
    arguments = ["-p", "do it", "--mcp-config", str(stage.home / "mcp.json"), "--strict-mcp-config", "--output-format", "json"]
    variables = {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{stage.port}",
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
        # All tools are offered from the start.
        "ENABLE_TOOL_SEARCH": "false",
    }
    return [stage.program(PROGRAM), *arguments], stage.environment(**variables)


def is_main(told):
    """A request of the agent itself, not of a helper with tools of its own."""
    return "Bash" in told.tools


CALLS = {
    "shell": lambda _stage, text: Call("Bash", {"command": text, "description": "a step"}),
    "file": lambda stage, path, text: Call("Write", {"file_path": str(stage.project / path), "content": text}),
    "mcp": lambda _stage, tool, arguments: Call(f"mcp__notes__{tool}", arguments),
    "fetch": lambda _stage, url, text: Call("WebFetch", {"url": url, "prompt": f"What does it say? {text}"}),
}

# Where a person must be asked about its settings, it says so in its own words.
OUTCOMES = {"settings of the client": "held"}
# A conversation with such a call is too long for the next one.
ALONE = frozenset({"too large"})
FETCHED = None

EVENT = {"session_id": "s", "cwd": "/", "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_use_id": "t"}
# Their calls may do anything, so relay treats them as unknown.
UNJUDGED = {"ExitWorktree", "Workflow"}


def tool(name):
    return {"tool_name": name, "tool_input": {}}
