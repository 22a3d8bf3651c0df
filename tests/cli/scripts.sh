#!/bin/bash
# scripts/check and scripts/demo: wrong arguments are told at once, and --help does nothing else.
. "$(dirname "$0")/lib.sh"

scripts=$tests_dir/../../scripts

# refused MESSAGE SCRIPT [ARGUMENT]...
refused() {
    local status=0
    timeout 20 "$scripts/$2" "${@:3}" >out 2>err || status=$?
    assert_eq "1 $2: $1" "$status $(<err)" "scripts/$2 ${*:3}"
    [ ! -s out ] || fail "scripts/$2 ${*:3} does something: $(<out)"
}

# helps SCRIPT OPTION TEXT
helps() {
    timeout 20 "$scripts/$1" "$2" >out 2>err || fail "scripts/$1 $2: status $?"
    grep -qF -e "$3" out || fail "scripts/$1 $2 does not tell $3: $(<out)"
    [ ! -s err ] || fail "scripts/$1 $2: $(<err)"
}

steps=$("$scripts/check" --help | sed -n 's/^Steps: //p')
[[ $steps == "format contracts shell "*" newer" ]] || fail "steps: $steps"
refused "no such step: ''; there are: $steps" check ''
refused "no such step: 'nosuch'; there are: $steps" check python nosuch
refused "no such step: 'python format'; there are: $steps" check 'python format'
helps check --help "scripts/check [STEP]..."
helps check -h "Steps: "
refused "takes no arguments, not ''; see scripts/demo --help" demo ''
refused "takes no arguments, not 'fast'; see scripts/demo --help" demo fast
helps demo --help "scripts/demo [--help]"
helps demo -h "builds it, mounts a source tree"
