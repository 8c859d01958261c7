"""The rows of the failure matrix: a state of the machine, a call, and the outcome that it must have.

A row of a hook that works expects `ran`, `denied` or `asked`. A row of a failure expects `closed`. A client that
makes something else of a row has that in its `OUTCOMES`, so that a change of the client is noticed:
  `open`     the call runs, since the client takes this failure for no objection;
  `held`     the call does not run, and the model is told words of the client instead of the reason;
  `refused`  the client itself refuses the call, before it asks the hook.
"""

from collections.abc import Callable
from dataclasses import dataclass

from place import Place


@dataclass(frozen=True)
class Row:
    name: str
    # The call of each kind of tool: see `session.Session.call`.
    call: str
    expect: str
    harm: Callable[[Place], None] | None = None
    # The model reads the file and the line of the rule, or in a failure of relay this word.
    reason: str | None = None
    # Whether the row leaves a record.
    record: bool = True
    kinds: tuple[str, ...] = ("shell", "file", "mcp", "fetch")
    # The client, as relay spells it, if the row is of one client.
    only: str | None = None
    # Whether a file that the row before wrote stays.
    keeps_settings: bool = False


RULE = r"project\.kdl:\d+"

ROWS = [
    Row("allow", "plain", "ran"),
    Row("allow, tier 2", "recorded", "ran"),
    Row("deny", "denied", "denied", reason=RULE),
    Row("deny, other client named", "denied", "denied", Place.name_other_client, reason=RULE),
    Row("approve", "approved", "asked", reason=RULE),
    Row("settings of the client", "settings", "asked", reason="person", kinds=("shell", "file")),
    Row("settings written by code", "code", "asked", reason="person", kinds=("shell",)),
    Row("files of relay", "own", "asked", reason="person", kinds=("shell", "file")),
    # What is typed into a running program later fires no hook in Codex.
    Row("a shell to type into", "typed", "denied", reason="typed", kinds=("shell",), only="codex"),
    Row("no machine file", "plain", "closed", Place.lose_machine_file, "hook.toml", record=False),
    Row("unknown key", "plain", "closed", Place.add_unknown_key, "budgets", record=False),
    Row("machine file open to others", "plain", "closed", Place.open_machine_file, "hook.toml", record=False),
    Row("no bundle", "plain", "closed", Place.lose_bundle, "team.relay"),
    Row("corrupt bundle", "plain", "closed", Place.corrupt_bundle, "team.relay"),
    Row("corrupt copy of the bundle", "plain", "closed", Place.corrupt_copy, "corrupt"),
    Row("unsigned bundle", "plain", "closed", Place.use_unsigned_bundle, "team.relay"),
    Row("revoked bundle", "plain", "closed", Place.revoke_bundle, "revoked"),
    Row("no audit, tier 2", "recorded", "closed", Place.lose_audit, "audit", record=False),
    Row("no audit, tier 1", "plain", "ran", Place.lose_audit, record=False),
    Row("no hook", "plain", "closed", Place.lose_hook, record=False),
    Row("hook not executable", "plain", "closed", Place.forbid_hook, record=False),
    Row("status 1", "plain", "closed", Place.end_badly, record=False),
    Row("SIGKILL", "plain", "closed", Place.kill_hook, record=False),
    Row("SIGSEGV", "plain", "closed", Place.crash_hook, "time", record=False),
    Row("event without an end", "plain", "closed", Place.withhold_event, "time", record=False),
    Row("records locked, tier 2", "recorded", "closed", Place.lock_audit, "time", record=False),
    Row("client's time limit", "plain", "closed", Place.stop_hook, record=False),
    # Claude Code reads its settings again at once.
    Row("settings written by a script", "script", "ran", kinds=("shell",), only="claude-code"),
    Row("deny, after that script", "denied", "denied", Place.let_settle, reason=RULE, only="claude-code", keeps_settings=True),
    # The last, since the clients carry it along in the conversation.
    Row("too large", "large", "closed", reason="4194304", record=False),
]
