"""Codex CLI. Its hooks have no setting for a failure; the wrapper in the command line makes one of every exit status."""

from model import Call

from . import HOOK_S_MAX, shell_line, write_json

NAME = "codex"
PACKAGE = "@openai/codex@0.169.0"

# See `clients`: a file of a project, and the file in the home.
SETTINGS = ".codex/hooks.json"
INSTALLED = ".codex/hooks.json"


def hook(stage):
    entry = {"type": "command", "command": shell_line(stage.hook), "timeout": HOOK_S_MAX}
    hooks = {"PreToolUse": [{"matcher": "*", "hooks": [entry]}], "SessionStart": [{"hooks": [entry]}]}
    write_json(stage.home / INSTALLED, {"hooks": hooks})


def write(stage):
    server = ", ".join(f"'{argument}'" for argument in stage.server[1:])
    path = stage.home / ".codex/config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        f"""model = "gpt-5.5"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
web_search = "disabled"
[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:{stage.port}/v1"
env_key = "MOCK_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
[mcp_servers.notes]
command = "{stage.server[0]}"
args = [{server}]
default_tools_approval_mode = "approve"
""",
        encoding="utf-8",
    )


def command(stage):
    arguments = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "do it"]
    return [stage.program(".bin/codex"), *arguments], stage.environment(MOCK_KEY="none")


def is_main(told):
    return bool(told.tools)


CALLS = {
    "shell": lambda _stage, text: Call("exec_command", {"cmd": text}),
    "file": lambda _stage, path, text: Call("apply_patch", f"*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch\n"),
    "mcp": lambda _stage, tool, arguments: Call(tool.replace("-", "_"), arguments, namespace="mcp__notes"),
}

# It passes over a hook that does not answer in time.
OUTCOMES = {"client's time limit": "open"}
ALONE = frozenset()
FETCHED = None

EVENT = {"session_id": "s", "turn_id": "t", "model": "m", "cwd": "/", "hook_event_name": "PreToolUse", "tool_use_id": "t"}
# The second has another name in events, and the others have none.
UNJUDGED = {"exec", "exec_command", "write_stdin"}


def tool(name):
    return {"tool_name": name, "tool_input": {}}
