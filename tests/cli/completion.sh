#!/bin/bash
# The bash completions, asked as readline asks them.
. "$(dirname "$0")/lib.sh"

completions=$tests_dir/../../completions
# shellcheck source=../../completions/osprof
. "$completions/osprof"
# shellcheck source=../../completions/osproffs
. "$completions/osproffs"
compopt() { # only readline has the real one
    :
}

# expect_completion FUNCTION EXPECTED WORD...: what is offered for the last of the words; an order is not promised. bash
# passes the command as it was typed.
expect_completion() {
    local function=$1 expected=$2 program=$OSPROF
    shift 2
    [ "$function" = _osprof ] || program=$OSPROFFS
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    "$function" "$program"
    assert_eq "$expected" "$(printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ' ')" "completion of: $*"
}

expect_completion _osprof "report" osprof re
expect_completion _osprof "compare ctl" osprof c
expect_completion _osprof "save serve show" osprof s
expect_completion _osprof "--help --version" osprof --
expect_completion _osprof "--output" osprof save --o
expect_completion _osprof "--force --help" osprof ctl -
expect_completion _osprof "" osprof show --width ""
expect_completion _osprof "GROUPLAT GROUPOPS" osprof compare --method G
expect_completion _osprof "EARTHMOVER" osprof compare --method = E
keep_result "$data/show-grep.osprof"
expect_completion _osprof "READ READDIR READDIRPLUS" osprof show --op READ
cp "$data/show-bare.osprof" bare.osprof
expect_completion _osprof "READ READDIR READDIRPLUS" osprof plot --op READ
expect_completion _osprof "WRITE_SUPER" osprof show bare.osprof --op ""
expect_completion _osprof "bare.osprof" osprof show ba
for command in show "show --check" why plot compare save outliers; do
    # shellcheck disable=SC2086 # words
    expect_completion _osprof "@1" osprof $command @
done
expect_completion _osprof "@1" osprof save bare.osprof @
expect_completion _osprof "" osprof ctl @
expect_completion _osprof "" osprof top @
expect_completion _osprof "lower" osprof ctl lo
expect_completion _osprof "lower" osprof ctl --force lo
expect_completion _osprof "reset resume" osprof ctl mnt re
expect_completion _osprof "events" osprof ctl --force mnt ev
expect_completion _osprof "bare.osprof" osprof ctl mnt events ba
expect_completion _osprof "off" osprof ctl mnt groups ""
expect_completion _osprof "" osprof ctl mnt reset ""
expect_completion _osprof "lower" osprof doctor --calibrate lo
expect_completion _osprof "lower" osprof run -d lo
expect_completion _osprof "mnt" osprof run -o mn
expect_completion _osprof "lower" osprof run --directory lo
expect_completion _osprof "mnt" osprof save -o mn
expect_completion _osprof "--remove --rotate" osprof save --r
expect_completion _osprof "none" osprof attach --by n
expect_completion _osprof "process+file process+filesystem" osprof attach --by process+fi
expect_completion _osprof "process+file process+filesystem" osprof run --by = process+fi
expect_completion _osprof "uid" osprof fuse --by = u
expect_completion _osprof "file+program" osprof events profile --by file+prog
expect_completion _osprof "cache host lower mount" osprof outliers --by ""
expect_completion _osprof "--ascii --at-least" osprof outliers --a
expect_completion _osprof "bare.osprof" osprof outliers --json ba
expect_completion _osprof "--label" osprof run --lab
expect_completion _osprof "--quiet" osprof compare --all --q
expect_completion _osprof "sha256sum" osprof run -- sha256su
expect_completion _osprof "sha256sum" osprof run --vs sha256su
expect_completion _osprof "root" osprof run --user roo
# shellcheck disable=SC2258 # the comma is meant
for before in "" "1,"; do # others may begin so too
    COMP_WORDS=(osprof attach --pid "$before$$") COMP_CWORD=3 COMPREPLY=()
    _osprof "$OSPROF"
    printf '%s\n' "${COMPREPLY[@]}" | grep -x "$before$$" >/dev/null || fail "process $$ is not offered after '$before'"
    ! printf '%s\n' "${COMPREPLY[@]}" | grep -v "^$before$$" || fail "others are offered after '$before'"
done
expect_completion _osprof "calls" osprof top --sort c
expect_completion _osprof "uid" osprof top --by u
expect_completion _osprof "export profile show" osprof events ""
expect_completion _osprof "chrome csv perfetto" osprof events export --format ""
expect_completion _osprof "--slow --span" osprof events profile --s
expect_completion _osprof "bare.osprof" osprof events show ba

expect_completion _osprof "cache= causes= control=" osprof run --mount-option c
expect_completion _osprof "none,resolution=" osprof run --mount-option cache = none,res
expect_completion _osprof "process+file" osprof run -d lower --mount-option by = process+f
expect_completion _osprof "lower" osprof run --mount-option cache = none -d lo
expect_completion _osprof "auto" osprof run --mount-option cache = au
mkdir -p "place/.a mount"
if ! fuse_missing >/dev/null; then
    mount_osproffs "$lower" "$PWD/place/.a mount"
    expect_completion _osprof "$PWD/place/.a mount" osprof unmount "$PWD/place/"
    COMP_WORDS=(osprof show "") COMP_CWORD=2 COMPREPLY=()
    _osprof "$OSPROF"
    printf '%s\n' "${COMPREPLY[@]}" | grep -qxF "$PWD/place/.a mount" || fail "the mount is not offered: ${COMPREPLY[*]}"

    # All that the control file accepts, except numbers.
    "$OSPROF" ctl "$PWD/place/.a mount" nonsense 2>err && fail "a mount takes any command"
    sed -n "s/.* accepted are//p" err | tr ',' '\n' | sed -n 's/^ \([a-z]*\).*/\1/p' | sed '/^$/d' | sort | paste -sd ' ' >documented
    expect_completion _osprof "$(<documented)" osprof ctl "$PWD/place/.a mount" ""
fi

expect_completion _osproffs "lower" osproffs lo
expect_completion _osproffs "lower" osproffs -o cache = none lo
expect_completion _osproffs "cache= causes= control=" osproffs -o c
expect_completion _osproffs "always auto none" osproffs -o cache =
expect_completion _osproffs "auto" osproffs -o cache = au
expect_completion _osproffs "none,resolution=" osproffs -o cache = none,res
expect_completion _osproffs "1 2 4 8" osproffs -o cache = none,resolution =
expect_completion _osproffs "uid" osproffs -o by = u
expect_completion _osproffs "process+file" osproffs -o by = process+f
expect_completion _osproffs "none" osproffs -o live = no
expect_completion _osproffs "lower" osproffs -o live = lo
expect_completion _osproffs "" osproffs -o label = ""
expect_completion _osproffs "--help --version" osproffs --
expect_completion _osproffs "lower" osproffs -o profile = lo

# Every option that the programs' own help names is offered.
"$OSPROFFS" --complete | sed '/^[*-]/d; s/[ =].*//' | sort -u >completed
"$OSPROFFS" -h | sed -n 's/^    -o \([a-z_]*\).*/\1/p' | sort -u >documented
[ "$(wc -l <documented)" -gt 20 ] || fail "few options in osproffs -h: $(<documented)"
! grep -vxFf completed documented || fail "osproffs -h names options that are not completed"
"$OSPROF" help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p' | sed '/^help$/d' | sort | paste -sd ' ' >documented
[ "$(wc -w <documented)" -gt 10 ] || fail "few commands in osprof help: $(<documented)"
expect_completion _osprof "$(<documented)" osprof help ""
for command in $("$OSPROF" --complete); do
    "$OSPROF" help "$command" | sed -n 's/^  \(-., \)\{0,1\}\(--[a-z0-9-]*\).*/\2/p' >documented
    [ -s documented ] || fail "no options in the help of $command"
    expect_completion _osprof "$(sort documented | paste -sd ' ')" osprof "$command" -
done
expect 2 --complete nonsense
