#!/bin/sh
# The profile of three latencies that are known; no profile of what is no number.
# Usage: test_latencies.sh PROGRAM
set -eu

profile=$(printf '5\n6\n100\n' | "$1" jbd2 COMMIT)
echo "$profile"
[ "$profile" = '# osprof 1
# layer: jbd2
# clock: monotonic 1000000000 Hz
# resolution: 1
# longest: COMMIT 100 object 0
OP_COMMIT 3 111
 0 0 2 0 0 0 1' ]
! printf '5\nsix\n' | "$1" jbd2 COMMIT >/dev/null 2>&1 || exit 1
