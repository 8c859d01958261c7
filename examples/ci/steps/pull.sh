#!/usr/bin/env bash
# Finds the pull request that a run on GitHub was of, and fetches its commit, without a checkout.
#
#     pull.sh RUN COMMIT     prints `number=N` and `base=BRANCH`, for the steps after it
#
# The run's artifact is of someone who may be hostile: a fork's pull request can change the workflow that made it. So one file of it
# is read, its first bytes, as a number, and it must be an open pull request whose last commit is the one that the run was of.
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source-path=SCRIPTDIR source=settings.sh
. "$here/settings.sh"
# shellcheck source-path=SCRIPTDIR source=api.sh
. "${RELAY_API:-$here/api.sh}"

run=${1-} commit=${2-}
[[ $run =~ ^[1-9][0-9]{0,18}$ ]] || stop 'the id of the run is missing or malformed'
[[ $commit =~ ^[0-9a-f]{40}$ ]] || stop 'the commit is missing or malformed'
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT

api GET "repos/$GITHUB_REPOSITORY/actions/runs/$run/artifacts?name=relay-diff" >"$own/list"
read -r id bytes < <(jq -er '.artifacts[0] | "\(.id) \(.size_in_bytes)"' <"$own/list") || stop 'the run has no artifact relay-diff'
[[ $id =~ ^[0-9]+$ && $bytes =~ ^[0-9]+$ ]] || stop 'the answer has a malformed id'
((bytes <= 1048576)) || stop 'the artifact is too large'
api GET "repos/$GITHUB_REPOSITORY/actions/artifacts/$id/zip" >"$own/zip"
number=$( (unzip -p "$own/zip" number 2>/dev/null || true) | head -c 12)
[[ $number =~ ^[1-9][0-9]{0,8}$ ]] || stop 'the number of the pull request is malformed'

api GET "repos/$GITHUB_REPOSITORY/pulls/$number" >"$own/pull"
found=$(jq -r '"\(.state) \(.head.sha)"' <"$own/pull")
[[ $found = "open $commit" ]] || stop "pull request $number is not open, or its last commit is another than that of the run"
git fetch --quiet --no-tags origin "refs/pull/$number/head"
[[ $(git rev-parse FETCH_HEAD) = "$commit" ]] || stop "pull request $number has changed since the run"
branch=$(jq -r .base.ref <"$own/pull")
[[ $branch =~ ^[A-Za-z0-9_][A-Za-z0-9._/-]*$ ]] || stop "the base of pull request $number has an unusual name"
printf 'number=%s\nbase=origin/%s\n' "$number" "$branch"
