#!/usr/bin/env bash
# Signs the bundle. For builds of main alone: whoever can run this decides what servers serve.
#
# RELAY_KEY is the text of the key. It is in a file of this user for as long as `relay sign` runs, and in no argument.
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source-path=SCRIPTDIR source=settings.sh
. "$here/settings.sh"

[[ -n ${RELAY_KEY-} ]] || stop 'RELAY_KEY is empty' 'store the text of release.key as a secret that only builds of main can read'
umask 077
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT
trap 'exit 1' INT TERM
printf '%s\n' "$RELAY_KEY" >"$own/release.key"
unset RELAY_KEY
relay sign "$bundle" --key "$own/release.key"
