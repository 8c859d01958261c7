#!/usr/bin/env bash
# Compares what relay and Jinja2 make of random templates: run.sh [COUNT [SEED]].
#
# From the environment: RELAY, RELAY_SERVE (default target/debug/…), PYTHON (default python3).
set -euo pipefail

root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
here=$root/tests/jinja
# shellcheck source=tests/clients/outside.sh
source "$root/tests/clients/outside.sh"
trap 'rm -rf "$work"' EXIT

venv=$tools/python-$(cksum <"$here/requirements.txt" | cut -d' ' -f1)
if [[ ! -e $venv/ready ]]; then
    "${PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    touch "$venv/ready"
fi

make_key 2>"$work/keygen.log"

# Python leaves nothing among the sources.
export PYTHONDONTWRITEBYTECODE=1
"$venv/bin/python" "$here/check.py" "$relay" "$relay_serve" "$work" --trust "$work/trust.toml" --key "$work/check.key" \
    --count "${1:-400}" --seed "${2:-1}" "${@:3}"
