#!/usr/bin/env bash
# Compares with the last commit that this branch and the base have in common, and writes the markdown of a comment.
#
# Exits with 1 if a finding of RELAY_FAIL_ON is not accepted, and with 2 if nothing can be compared.
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source-path=SCRIPTDIR source=settings.sh
. "$here/settings.sh"

head=${RELAY_HEAD:-HEAD}
rm -f "$out/diff.md"
# Not the base itself: what others merged there since would look as if this branch undid it.
if ! common=$(git merge-base "$base" "$head" 2>/dev/null); then
    help="git fetch origin ${base#origin/}; the branch must be fetched, too"
    is_shallow && help='git fetch --unshallow; in GitHub Actions fetch-depth: 0, in GitLab GIT_DEPTH: 0'
    stop "no commit of this clone is in both $base and $head" "$help"
fi

common=$(git rev-parse --short=12 "$common")
# A path in a revision begins at the root, or with `./` here.
a=$common:./$project
b=$project
[[ -z ${RELAY_HEAD-} ]] || b=$head:./$project
options=(--fail-on "${RELAY_FAIL_ON:-loosens}")
accepted=${RELAY_ACCEPTED:-$folder/relay-accepted.toml}
[[ ! -e $accepted ]] || options+=(--accepted "$accepted")

status=0
relay diff "$a" "$b" --format markdown --max-chars 60000 "${options[@]}" >"$out/diff.md.new" || status=$?
((status < 2)) || exit "$status"
mv "$out/diff.md.new" "$out/diff.md"
[[ -z ${GITHUB_STEP_SUMMARY-} ]] || cat "$out/diff.md" >>"$GITHUB_STEP_SUMMARY"
# The same at the changed lines. Its exit code is the one above.
[[ ${GITHUB_ACTIONS-} != true || -n ${RELAY_HEAD-} ]] || relay diff "$a" "$b" --format github "${options[@]}" || true
relay diff "$a" "$b" >&2
exit "$status"
