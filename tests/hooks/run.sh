#!/usr/bin/env bash
# Tries relay in the hooks of the real Claude Code, Codex, Gemini CLI, Copilot CLI and OpenCode, which have a model on loopback:
#   calls that the policy allows, denies, and would ask a person about, of a shell, a file, an MCP and a fetch tool;
#   the same calls while something of relay is missing, broken or stopped: no client may run them where it can be closed.
# Prints a table and names each failure. Arguments go to check.py, such as `--client gemini --row approve`.
#
# From the environment: RELAY, RELAY_SERVE, RELAY_HOOK (default target/debug/…), PYTHON (default python3; 3.11 or newer).
set -euo pipefail

root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
here=$root/tests/hooks
# shellcheck source=tests/clients/outside.sh
source "$root/tests/clients/outside.sh"
trap 'rm -rf "$work"' EXIT

relay_hook=$(realpath "${RELAY_HOOK:-$target/debug/relay-hook}")
[[ -x $relay_hook ]] || { echo "no binary $relay_hook: build it, or set RELAY_HOOK" >&2; exit 2; }

# Gemini CLI, and the scripts that start Codex and Copilot CLI, run with it. On an older Node than 22, npm takes an old Claude Code.
need_node
PATH=$(dirname "$node22"):$PATH
# Python leaves nothing among the sources.
export PYTHONDONTWRITEBYTECODE=1

# The packages with their versions, each in a folder of its own. Their programs come along in packages of the platform, so none needs
# its install script.
for package in $("${PYTHON:-python3}" "$here/check.py" --packages); do
    folder=$tools/hooks/$package
    [[ ! -e $folder/ready ]] || continue
    rm -rf "$folder"
    mkdir -p "$folder"
    npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix "$folder" "$package"
    touch "$folder/ready"
done

"${PYTHON:-python3}" "$here/check.py" --relay "$relay" --hook "$relay_hook" --tools "$tools/hooks" --node "$node22" "$@"
