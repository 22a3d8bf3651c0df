# shellcheck shell=bash
# Harness of the tests of the command osprof. A test begins with
#
#     . "$(dirname "$0")/lib.sh"
#
# and has everything of tests/mount/lib.sh, such as the private directory. The functions here run osprof and compare its
# output. Golden outputs are tests/data/show-*.txt; after an intended change run the tests with GOLDEN_WRITE=1 and read
# the difference.

# shellcheck source=../mount/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../mount/lib.sh"

# shellcheck disable=SC2154 # set by the harness
data=$(realpath -- "$tests_dir/../data")
export TZ=UTC LC_ALL=C.UTF-8
unset COLUMNS NO_COLOR

without='this osprof is built without'

# If the osprof of expect() lacked a part
skip_if_without() {
    ! grep -q "$without" "$scratch/err" || skip "$(<"$scratch/err")"
}

# expect STATUS ARGUMENT...: runs osprof with them; its output is in $scratch/out, its messages in $scratch/err. Skips the rest
# of the test if osprof is built without what it needs for them.
expect() {
    local wanted=$1 status=0
    shift
    "$OSPROF" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    [ "$status" = "$wanted" ] || {
        skip_if_without
        cat "$scratch/out" "$scratch/err" >&2
        fail "exit status $status, not $wanted, of: osprof $*"
    }
}

# expect_trouble MESSAGE ARGUMENT...: osprof must say MESSAGE in one line, print nothing, and end with 2
expect_trouble() {
    local message=$1
    shift
    expect 2 "$@"
    case $message in
    *"$without"*) ;;
    *) skip_if_without ;;
    esac
    assert_eq "$message" "$(<"$scratch/err")" "message of: osprof $*"
    [ ! -s "$scratch/out" ] || fail "prints something: osprof $*"
}

# expect_golden NAME ARGUMENT...: osprof's output must be that of tests/data/NAME.txt
expect_golden() {
    local golden=$data/$1.txt
    shift
    expect 0 "$@"
    [ -z "${GOLDEN_WRITE:-}" ] || cp "$scratch/out" "$golden"
    diff -u "$golden" "$scratch/out" >&2 || fail "prints something else: osprof $*"
    [ ! -s "$scratch/err" ] || fail "complains: osprof $*"
}

# keep_result FILE: as if a run had kept that profile, the last
keep_result() {
    mkdir -p "$XDG_STATE_HOME/osprof"
    rm -f "$XDG_STATE_HOME"/osprof/*.osprof
    cp "$1" "$XDG_STATE_HOME/osprof/20260101T000000.000000000Z.osprof"
}

# within_memory COMMAND...: runs it with at most 400 MB, so that a failure does not use up the machine's memory.
# Sanitizers need more: with them there is no limit.
within_memory() {
    (
        (ulimit -v 400000 && "$OSPROF" --help >/dev/null 2>&1) && ulimit -v 400000
        "$@"
    )
}
