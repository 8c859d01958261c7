# shellcheck shell=bash disable=SC2034 # read by the steps
# Read by every step: what a job may set, and what the steps share.
#
#   RELAY_PROJECT   the project's folder or document; the current folder if absent
#   RELAY_OUT       the folder for what the steps write; relay-ci if absent
#   RELAY_BASE      the branch to compare with; origin/main if absent
#   RELAY_HEAD      a commit to compare instead of the work tree
#   RELAY_FAIL_ON   which findings fail the diff; loosens if absent
#   RELAY_ACCEPTED  the file of accepted findings; relay-accepted.toml in the project's folder if absent
#   RELAY_TRUST     the trust file of the servers
#   RELAY_KEY       the text of the release key, for sign.sh alone
set -euo pipefail

project=${RELAY_PROJECT:-.}
folder=$project
[[ -d $folder ]] || folder=$(dirname "$project")
out=${RELAY_OUT:-relay-ci}
base=${RELAY_BASE:-origin/main}
bundle=$out/bundle.relay
mkdir -p "$out"
# What is here is no change of the repository, so the provenance does not call it one.
printf '*\n' >"$out/.gitignore"

say() { printf '%s\n' "$*" >&2; }
stop() { say "error: $1"; [[ -z ${2-} ]] || say "  help: $2"; exit 2; }
is_shallow() { [[ $(git rev-parse --is-shallow-repository) = true ]]; }
