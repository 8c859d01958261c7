#!/usr/bin/env bash
# Prints the review of a small change that lets agents do more: in a copy of examples/shop the exception of a rule is widened, and a
# sentence is dropped from a prompt.
#
#     examples/diff/loosens.sh [OPTIONS]
#
# OPTIONS are those of `relay diff`, such as `--format markdown`.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/copies.sh"
copies_of shop
sed -i -e 's|/.env.example"|/.env.*"|' -e 's/Never deploy on a Friday. //' after/project.kdl

relay diff before after "$@"
