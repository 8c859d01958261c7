#!/usr/bin/env bash
# Runs the MCP conformance suite against relay-serve with the bundle of examples/conformance.
#
# relay-serve must be built with the feature `conformance-tools`, or the tools of the suite are missing.
# From the environment: RELAY, RELAY_SERVE (default target/debug/…), PORT.
set -euo pipefail

root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
# shellcheck source=tests/clients/outside.sh
source "$root/tests/clients/outside.sh"

version=0.2.0-alpha.12
port=${PORT:-39410}
address=127.0.0.1:$port
server=

finish() {
    # Waiting keeps bash from reporting that it was killed.
    if [[ -n $server ]]; then { kill -KILL "$server"; wait "$server"; } 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT

need_node
suite=$tools/conformance-$version
entry=$suite/node_modules/@modelcontextprotocol/conformance/dist/index.js
if [[ ! -e $suite/ready ]]; then
    npm install --silent --no-save --no-audit --no-fund --ignore-scripts \
        --prefix "$suite" "@modelcontextprotocol/conformance@$version"
    touch "$suite/ready"
fi

make_key
build "$root/examples/conformance/project.kdl" "$work/conformance.relay"

"$relay_serve" "$work/conformance.relay" --http "$address" --trust "$work/trust.toml" >"$work/server.log" 2>&1 &
server=$!
ready() { curl --silent --fail --max-time 1 "http://$address/readyz" >/dev/null; }
for ((tries = 0; tries < 300; tries++)); do
    kill -0 "$server" 2>/dev/null || { echo "relay-serve ended:" >&2; cat "$work/server.log" >&2; exit 1; }
    ready && break
    sleep 0.05
done
ready || { echo "relay-serve was not ready after 15 s:" >&2; cat "$work/server.log" >&2; exit 1; }
# Another server on this port would have answered; ours would have ended by now.
kill -0 "$server" || { echo "port $port is taken" >&2; exit 1; }

passed=0 failed=0

# suite_run REVISION SCENARIOS: the suite must pass, and as many scored scenarios as the frozen list holds.
suite_run() {
    local log=$work/$1.log ok=yes good bad
    (cd "$work" && timeout 600 "$node22" "$entry" server --url "http://$address/mcp" --requirements "$1") \
        >"$log" 2>&1 || ok=no
    # A scenario is a line of the summary; those that the requirements do not score come again, indented.
    read -r good bad < <(awk '
        /^=== SUMMARY ===/ { summary = 1 }
        summary && /^(✓|✗) / { name = $2; sub(/:$/, "", name); state[name] = $1 }
        summary && /^  (✓|✗) / { delete state[$2] }
        END { for (name in state) { if (state[name] == "✓") good++; else bad++ } print good + 0, bad + 0 }
    ' "$log")
    passed=$((passed + good)) failed=$((failed + bad))
    if [[ $ok = yes && $bad = 0 && $good = "$2" ]]; then
        echo "ok   conformance $1: $good of $2 scenarios"
        return
    fi
    [[ $bad != 0 ]] || failed=$((failed + 1))
    echo "FAIL conformance $1: $good of $2 scenarios; the suite said:"
    sed -n '/=== SUMMARY ===/,$p' "$log" | grep -v ' 0 failed' || cat "$log"
    echo "the server said:"
    tail -n 50 "$work/server.log"
}

# skills_run SCENARIO: every check of a scenario of the skills extension must pass.
skills_run() {
    local log=$work/$1.log
    if (cd "$work" && timeout 600 "$node22" "$entry" server --url "http://$address/mcp" --scenario "$1") >"$log" 2>&1; then
        passed=$((passed + 1))
        echo "ok   conformance $1: $(grep -o 'Passed: [0-9/]*' "$log" | tail -n 1)"
    else
        failed=$((failed + 1))
        echo "FAIL conformance $1; the suite said:"
        tail -n 60 "$log"
    fi
}

suite_run 2026-07-28 37
suite_run 2025-11-25 30
for scenario in enumeration manifest directory; do
    skills_run "sep-2640-skills-$scenario"
done
echo "$passed passed, $failed failed"
[[ $failed = 0 ]]
