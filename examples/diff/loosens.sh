#!/usr/bin/env bash
# Prints the review of a small change that lets agents do more: in a copy of examples/shop a path pattern is widened and a rule is
# taken out of a prompt.
#
#     examples/diff/loosens.sh [OPTIONS]
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
cp -r "$root/examples/shop" "$dir/before"
cp -r "$root/examples/shop" "$dir/after"
cd "$dir"
sed -i -e 's|scratch "/srv/build/|scratch "/srv/|' -e 's/Never deploy on a Friday. //' after/project.kdl

relay diff before after "$@"
