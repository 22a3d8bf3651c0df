#!/bin/bash
# The zsh completions, asked as zsh's line editor asks them.
. "$(dirname "$0")/completion_lib.sh"

need zsh

expect_offers() {
    local offered
    # shellcheck disable=SC2154 # set by completion_lib.sh
    offered=$(zsh -f "$tests_dir/../cli/complete.zsh" "$completions" "$PWD/programs" "$1") || fail "zsh: $1"
    assert_eq "$2" "$offered" "completion of: $1"
}

expect_all_offers
