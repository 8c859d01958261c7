#!/usr/bin/env bash
# Prints what one number changes: in a copy of examples/homelab the prompt `firewall` is raised from priority 8 to 10.
#
#     examples/diff/firewall.sh [OPTIONS]
#
# OPTIONS are those of `relay diff`, such as `--format markdown`.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/copies.sh"
copies_of homelab
sed -i 's/prompt firewall priority=8/prompt firewall priority=10/' after/policies/network.kdl

diff -U0 before/policies/network.kdl after/policies/network.kdl | tail -n 2 || true
echo
relay diff before after "$@"
