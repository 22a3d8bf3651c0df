#!/bin/bash
# The zsh completions, asked as zsh's line editor asks them.
. "$(dirname "$0")/completion_lib.sh"

need zsh

# All are asked at once: starting zsh's completion takes long.
lines=()
expected=()
expect_offers() {
    lines+=("$1")
    expected+=("$2")
}

expect_all_offers
# shellcheck disable=SC2154 # set by completion_lib.sh
zsh -f "$tests_dir/../cli/complete.zsh" "$completions" "$PWD/programs" "${lines[@]}" >answers || fail "zsh: see above"
mapfile -t answers <answers
assert_eq "${#lines[@]}" "${#answers[@]}" "answers"
for i in "${!lines[@]}"; do
    assert_eq "${expected[i]}" "${answers[i]}" "completion of: ${lines[i]}"
done
