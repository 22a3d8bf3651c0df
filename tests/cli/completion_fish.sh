#!/bin/bash
# The fish completions, asked by fish's own "complete -C".
. "$(dirname "$0")/completion_lib.sh"

need fish

# fish offers whole words: with what stands before the last "=", "," or "+", and descriptions behind a tab.
expect_offers() {
    local offered before=${1##* }
    before=$(grep -o '^.*[=,+]' <<<"$before") || before=
    # shellcheck disable=SC2016,SC2154 # for fish; set by completion_lib.sh
    offered=$(PATH=$PWD/programs:$PATH HOME=$PWD fish --no-config -c 'source $argv[1]/osprof.fish
        source $argv[1]/osproffs.fish
        complete -C $argv[2]' "$completions" "$1" 2>err) || fail "fish: $1: $(<err)"
    [ ! -s err ] || fail "fish complains at: $1: $(<err)"
    offered=$(sed '/^$/d; s/\t.*//' <<<"$offered" | while read -r word; do
        [[ $word == "$before"* ]] || echo "not at the end of the line:"
        word=${word#"$before"}
        echo "${word%/}"
    done | sort -u | paste -sd ' ')
    assert_eq "$2" "$offered" "completion of: $1"
}

expect_all_offers
