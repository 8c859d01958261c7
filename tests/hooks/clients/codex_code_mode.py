"""Codex CLI with a model of its newer kind. Such a model writes JavaScript, and the calls in it are hooked one by one."""

import json

from model import Call

from . import codex

NAME = codex.NAME
PACKAGE = codex.PACKAGE
SETTINGS = codex.SETTINGS
INSTALLED = codex.INSTALLED

hook = codex.hook
command = codex.command
is_main = codex.is_main


def write(stage):
    codex.write(stage)
    path = stage.home / ".codex/config.toml"
    path.write_text(path.read_text(encoding="utf-8").replace('model = "gpt-5.5"', 'model = "gpt-6.1-sol"'), encoding="utf-8")


def script(make):
    """Returns a call of `exec` with the call that `make` gives in it, whose error is text for the model too."""

    def wrapped(*arguments):
        call = make(*arguments)
        name = f"{call.namespace}__{call.tool}" if call.namespace else call.tool
        line = f"await tools.{name}({json.dumps(call.arguments)})"
        return Call("exec", f"try {{ text({line}); }} catch (error) {{ text(String(error)); }}", namespace="functions")

    return wrapped


CALLS = {kind: script(make) for kind, make in codex.CALLS.items()}

OUTCOMES = codex.OUTCOMES
ALONE = codex.ALONE
FETCHED = codex.FETCHED
EVENT = codex.EVENT
UNJUDGED = codex.UNJUDGED
tool = codex.tool
