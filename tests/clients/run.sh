#!/usr/bin/env bash
# Drives relay-serve with the official MCP clients and FastMCP, by each protocol:
#   two example projects, over each transport, with the Python and the TypeScript client;
#   a gated project, over each transport, with the Python client;
#   agent skills, over each transport, with the skills clients of the TypeScript client and of FastMCP;
#   callers of examples/platform that may see different things, over HTTP, with both clients;
#   commands and terminals, over each transport, with the Python client, and approvals with both clients;
#   commands, terminals, files and forwards on other hosts, which are OpenSSH servers here, over each transport, with the
#   Python client.
#
# From the environment: RELAY, RELAY_SERVE (default target/debug/…), PYTHON (default python3; 3.11 or newer).
set -euo pipefail

root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
here=$root/tests/clients
# shellcheck source=tests/clients/outside.sh
source "$here/outside.sh"
# shellcheck source=tests/clients/sshd.sh
source "$here/sshd.sh"
trap 'stop_hosts; rm -rf "$work"' EXIT

need_node

venv=$tools/python-$(cksum <"$here/python/requirements.txt" | cut -d' ' -f1)
if [[ ! -e $venv/ready ]]; then
    "${PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/python/requirements.txt"
    touch "$venv/ready"
fi

# Node looks for packages beside the script, so it is run from where they are installed.
typescript=$tools/typescript-$(cksum <"$here/typescript/package-lock.json" | cut -d' ' -f1)
mkdir -p "$typescript"
cp "$here"/typescript/{package.json,package-lock.json,*.mjs} "$typescript"
if [[ ! -e $typescript/ready ]]; then
    npm ci --silent --no-audit --no-fund --ignore-scripts --prefix "$typescript"
    touch "$typescript/ready"
fi

make_key

# The second edition of a project: one prompt and one resource more, and one text changed where the
# project has a resource for that.
second_edition() {
    cp -r "$root/examples/$1" "$work/$1-second"
    sed -i \
        -e '0,/^prompts {/s//prompts {\n    prompt relay-check-added { summary "Added"; text "Added." }/' \
        -e '0,/^resources {/s//resources {\n    resource "relay-check:\/\/added" mime="text\/plain" { text "Added." }/' \
        -e 's/This content changes when the bundle does\./This content has changed./' \
        "$work/$1-second/project.kdl"
    grep -q 'prompt relay-check-added' "$work/$1-second/project.kdl"
    grep -q 'relay-check://added' "$work/$1-second/project.kdl"
}

# The editions of a gated project; the one that replaces another is newer.
gate_editions() {
    local edition
    mkdir "$work/gate"
    build "$here/gate/project.kdl" "$work/gate/intercept.relay"
    for edition in refuse hidden changed; do
        build "$here/gate/project.kdl" "$work/gate/$edition.relay" --env "$edition" --epoch 2
    done
}

# Python leaves nothing among the sources.
export PYTHONDONTWRITEBYTECODE=1

passed=0 failed=0

# drive COMMAND ...: runs one client, and adds what it counted.
drive() {
    local status=0 counts good bad
    timeout 600 "$@" | tee "$work/log" || status=$?
    counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$work/log" | tail -n 1 || true)
    if [[ -z $counts ]]; then
        echo "FAIL $1 ended with $status before it had counted"
        failed=$((failed + 1))
        return
    fi
    read -r good _ bad _ <<<"$counts"
    passed=$((passed + good)) failed=$((failed + bad))
    if [[ $status != 0 && $bad = 0 ]]; then
        echo "FAIL $1 ended with $status"
        failed=$((failed + 1))
    fi
}

for project in conformance homelab; do
    build "$root/examples/$project/project.kdl" "$work/$project-a.relay"
    second_edition "$project"
    build "$work/$project-second/project.kdl" "$work/$project-b.relay"
    arguments=("$relay_serve" "$work/$project-a.relay" "$work/$project-b.relay"
        "$here/expect/$project.json" --trust "$work/trust.toml")
    echo "== $project"
    drive "$venv/bin/python" "$here/python/check.py" "${arguments[@]}"
    drive "$node22" "$typescript/check.mjs" "${arguments[@]}"
done

gate_editions
echo "== gate"
drive "$venv/bin/python" "$here/python/gate.py" "$relay_serve" "$work/gate" --trust "$work/trust.toml"

echo "== skills"
build "$here/skills" "$work/skills.relay"
arguments=("$relay_serve" "$work/skills.relay" "$here/expect/skills.json" --trust "$work/trust.toml")
drive "$venv/bin/python" "$here/python/skills.py" "${arguments[@]}"
drive "$node22" "$typescript/skills.mjs" "${arguments[@]}"

# One caller has an API key, and each of the others a token of another issuer.
echo "== callers"
build "$root/examples/platform" "$work/platform.relay"
mkdir "$work/callers"
expect=$here/expect/callers.json
"$venv/bin/python" "$here/python/credentials.py" "$relay" "$root/examples/platform/server.toml" "$expect" "$work/callers"
arguments=("$relay_serve" "$work/platform.relay" "$expect" "$work/callers" --trust "$work/trust.toml")
drive "$venv/bin/python" "$here/python/callers.py" "${arguments[@]}"
drive "$node22" "$typescript/callers.mjs" "${arguments[@]}"

echo "== shell"
mkdir "$work/shell"
for project in tools approvals; do build "$here/shell/$project" "$work/shell/$project.relay"; done
arguments=("$relay_serve" "$work/shell" --trust "$work/trust.toml")
drive "$venv/bin/python" "$here/python/shell.py" "${arguments[@]}"
drive "$node22" "$typescript/shell.mjs" "${arguments[@]}"

echo "== ssh"
start_hosts "$work/ssh"
drive "$venv/bin/python" "$here/python/remote.py" "$relay_serve" "$work/ssh" --trust "$work/trust.toml"

echo "clients: $passed passed, $failed failed"
[[ $failed = 0 ]]
