#!/usr/bin/env bash
# Prints the review of a small change that lets agents do more: in a copy of examples/shop a path pattern is widened and a rule is
# taken out of a prompt.
#
#     examples/diff/loosens.sh [OPTIONS]
#
# OPTIONS are those of `relay diff`, such as `--format markdown`.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/copies.sh"
copies_of shop
sed -i -e 's|scratch "/srv/build/|scratch "/srv/|' -e 's/Never deploy on a Friday. //' after/project.kdl

relay diff before after "$@"
