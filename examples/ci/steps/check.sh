#!/usr/bin/env bash
# Checks the project. In GitHub Actions, findings are shown at their lines.
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source-path=SCRIPTDIR source=settings.sh
. "$here/settings.sh"

format=human
[[ ${GITHUB_ACTIONS-} != true ]] || format=github
relay check "$project" --strict --format "$format"
