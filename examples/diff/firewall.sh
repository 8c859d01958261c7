#!/usr/bin/env bash
# Prints what one number changes: in a copy of examples/homelab the prompt `firewall` is raised from priority 8 to 10.
#
#     examples/diff/firewall.sh [OPTIONS]
#
# OPTIONS are those of `relay diff`, such as `--format markdown`. Uses the `relay` of the PATH, or builds it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if ! command -v relay > /dev/null; then
    cargo build --release --quiet --manifest-path "$root/Cargo.toml" --package relay-cli
    PATH=$root/target/release:$PATH
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -r "$root/examples/homelab" "$dir/before"
cp -r "$root/examples/homelab" "$dir/after"
cd "$dir"
sed -i 's/prompt firewall priority=8/prompt firewall priority=10/' after/policies/network.kdl

diff -U0 before/policies/network.kdl after/policies/network.kdl | tail -n 2 || true
echo
relay diff before after "$@"
