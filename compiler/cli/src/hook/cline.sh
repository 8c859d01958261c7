#!/bin/sh
# Written by `relay hook install cline`; `relay hook install cline --remove` takes it away.
# MARK
#
# Cline looks at no exit code, and takes a hook without an answer for none: so the answer to a failure
# is written here.
answer=$(COMMAND) || answer=
case $answer in
'{'*'}') printf '%s\n' "$answer" ;;
*) printf '%s\n' '{"cancel":true,"errorMessage":"[DENIED: relay-hook did not answer]"}' ;;
esac
