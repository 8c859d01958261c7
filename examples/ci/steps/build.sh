#!/usr/bin/env bash
# Builds the bundle, without a signature: sign.sh adds it, on main alone.
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source-path=SCRIPTDIR source=settings.sh
. "$here/settings.sh"

# Servers refuse a lower epoch than the one they serve. It is the number of commits, so all must be here.
is_shallow && stop 'this clone is shallow, so the number of commits is not known' \
    'git fetch --unshallow; in GitHub Actions fetch-depth: 0, in GitLab GIT_DEPTH: 0'
epoch=$(git rev-list --count HEAD)
relay build "$project" --unsigned --epoch "$epoch" --provenance -o "$bundle"
