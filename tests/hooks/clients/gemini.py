"""Gemini CLI. Its hooks have no setting for a failure."""

from model import Call

from . import HOOK_S_MAX, shell_line, write_json

NAME = "gemini"
PACKAGE = "@google/gemini-cli@0.61.0"

# See `clients`: a file of a project, and the file in the home.
SETTINGS = ".gemini/settings.json"
INSTALLED = ".gemini/settings.json"


def hook(stage):
    entry = {"type": "command", "name": "relay", "command": shell_line(stage.hook), "timeout": HOOK_S_MAX * 1000}
    hooks = {
        "BeforeTool": [{"matcher": ".*", "hooks": [entry]}],
        "AfterTool": [{"matcher": ".*", "hooks": [entry]}],
        "SessionStart": [{"hooks": [entry]}],
    }
    write_json(stage.home / INSTALLED, {"hooks": hooks})


def write(stage):
    write_json(
        stage.home / ".gemini/settings.json",
        {
            "mcpServers": {"notes": {"command": stage.server[0], "args": stage.server[1:], "trust": True}},
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "model": {"disableLoopDetection": True},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        },
    )


def command(stage):
    arguments = ["-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", "do it"]
    variables = {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{stage.port}",
        "GEMINI_TELEMETRY_ENABLED": "false",
    }
    return [stage.program(".bin/gemini"), *arguments], stage.environment(**variables)


def is_main(told):
    return "run_shell_command" in told.tools


CALLS = {
    "shell": lambda _stage, text: Call("run_shell_command", {"command": text, "description": "a step"}),
    "file": lambda stage, path, text: Call("write_file", {"file_path": str(stage.project / path), "content": text}),
    "mcp": lambda _stage, tool, arguments: Call(f"mcp_notes_{tool}", arguments),
    "fetch": lambda _stage, url, text: Call("web_fetch", {"prompt": f"What does {url} say? {text}"}),
}

# It passes over a hook that does not answer in time, and writes files in the project only.
OUTCOMES = {"client's time limit": "open", ("files of relay", "file"): "refused"}
# Where the hook asks, it waits for a person even if there is none.
ALONE = frozenset({"approve", "settings of the client", "settings written by code", "files of relay"})
FETCHED = "Blocked Host"

EVENT = {"session_id": "s", "cwd": "/", "hook_event_name": "BeforeTool", "timestamp": "t"}
UNJUDGED = set()


def tool(name):
    return {"tool_name": name, "tool_input": {}}
