#!/bin/bash
# The commands of docs/ci.md work as they stand there, and find what the new version does more often.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"
# shellcheck source=run_lib.sh
. "$tests_dir/../cli/run_lib.sh"
need jq
export XDG_STATE_HOME=$scratch/state

# The page's blocks of shell, one after the other
# shellcheck disable=SC2016 # of Markdown
sed -n '/^```sh$/,/^```$/ { /^```/d; p }' "$tests_dir/../../docs/ci.md" >page
grep -q '^osprof run ' page || fail "docs/ci.md has no commands"
mkdir bin
ln -s "$OSPROF" bin
PATH=$scratch/bin:$PATH bash -euo pipefail page >out 2>err || fail "a command of the page fails: $(tail -n 20 err)"

# The new version reads each file three times as often as the old one.
grep -Eq '^[|] READ [|] ([a-z (0-9),]*, )?more calls[, ]' verdict.md || fail "no row of READ: $(<verdict.md)"
assert_eq "status 1" "$(grep '^status ' out)" "status of the gate"
[ -e runs-again ] || fail "it is not tried again"
grep -Eq '^READ  *([a-z (0-9),]*, )?more calls[, ]' out || fail "the stored baseline does not tell: $(<out)"
