#!/usr/bin/env bash
# Checks the SARIF of `relay check` and `relay diff` against the schema of SARIF 2.1.0.
#
# From the environment: RELAY, RELAY_SERVE (default target/debug/…).
set -euo pipefail

root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
here=$root/tests/sarif
# shellcheck source=tests/clients/outside.sh
source "$root/tests/clients/outside.sh"
trap 'rm -rf "$work"' EXIT

# The first package has the schema, whose draft of JSON Schema the second and third know.
schema_version=1.0.0-beta.0 ajv_version=8.20.0 draft_version=1.0.0 formats_version=3.0.1
need_node
packages=$tools/sarif-$schema_version-$ajv_version-$draft_version-$formats_version
if [[ ! -e $packages/ready ]]; then
    npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix "$packages" \
        "@microsoft/jest-sarif@$schema_version" "ajv@$ajv_version" "ajv-draft-04@$draft_version" "ajv-formats@$formats_version"
    touch "$packages/ready"
fi

logs=$work/logs
mkdir -p "$logs" "$work/pairs"
cd "$work/pairs"

# log NAME STATUS ARGUMENT ...: keeps what relay prints as SARIF; it must end with the status.
log() {
    local name=$1 status=0 expected=$2
    "$relay" "${@:3}" --format sarif >"$logs/$name.sarif" 2>"$logs/$name.err" || status=$?
    [[ $status = "$expected" ]] || { echo "relay ${*:3}: status $status" >&2; cat "$logs/$name.err" >&2; exit 1; }
}

for example in "$root"/examples/*/project.kdl; do
    name=$(basename "$(dirname "$example")")
    cp -r "$(dirname "$example")" "$name"
    log "check-$name" 0 check "$name"
    log "new-$name" 0 diff /dev/null "$name"
    log "gone-$name" 0 diff "$name" /dev/null
    log "same-$name" 0 diff "$name" "$name"
done
printf 'project p version="1.0.0"\npromts\nprompts { prompt a { arg b; text "A" }; prompt "x y" file="no.md" }\n' >wrong.kdl
log check-errors 1 check wrong.kdl

base=$root/tests/cli/diff/base
cp -r "$base" "a [b] %41 ü"
changed="a [b] %41 ü/project.kdl"
sed -i 's/else=refuse/else=intercept/; s/in February/[in](http:\/\/x) {0} March/; s/arg grams/arg grams required=#true/' "$changed"
log changed 0 diff "$base" "a [b] %41 ü"
log authority 0 diff "$base" "a [b] %41 ü" --only authority
log several 0 diff homelab "$base"
fingerprint=$("$relay" diff "$base" "a [b] %41 ü" --json | grep -m 1 '"fingerprint"' | cut -d'"' -f4)
printf '[[accepted]]\nfingerprint = "%s"\nreason = "%s"\n' "$fingerprint" wanted 0000000000000000 gone >accepted.toml
log accepted 0 diff "$base" "a [b] %41 ü" --accepted accepted.toml
grep -q '"suppressions"' "$logs/accepted.sarif"

NODE_PATH=$packages/node_modules "$node22" "$here/check.cjs" "$logs"/*.sarif
