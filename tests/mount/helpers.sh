# shellcheck shell=bash
# More helpers, for the tests of this directory that provoke errors and faults. Source after lib.sh,
# whose variables they use.
# shellcheck disable=SC2154 # assigned there

# assert_refused ERROR COMMAND...: it fails, and its last message ends in this error
assert_refused() {
    local error=$1 message
    shift
    ! message=$("$@" 2>&1) || fail "not refused: $*"
    case $message in
    *"$error") ;;
    *) fail "$*: expected '$error', found '$message'" ;;
    esac
}

# wait_until SECONDS COMMAND...: until it succeeds
wait_until() {
    # shellcheck disable=SC2034 # wait_a_little uses them
    local milliseconds_left=$(($1 * milliseconds_per_second)) pause=10
    shift
    until "$@" >/dev/null 2>&1; do
        wait_a_little || return 1
    done
}

# hang_daemon PID: stops it. Its threads stop one after the other, and until then still answer calls.
hang_daemon() {
    kill -STOP "$1"
    wait_until 30 all_threads_stopped "$1" || fail "not all threads of process $1 stop"
}

all_threads_stopped() {
    ! grep -h '^State:' /proc/"$1"/task/*/status | grep -v 'T (stopped)'
}

frozen= # by freeze

# freeze DIRECTORY: all changes of its file system wait until thaw. A test that freezes calls that in
# before_cleanup.
freeze() {
    fsfreeze -f "$1"
    frozen=$1
}

thaw() {
    [ -z "$frozen" ] || fsfreeze -u "$frozen"
    frozen=
}

# command_control TEXT: one write to the control file (the shell's own printf writes each line by itself)
command_control() {
    printf '%s\n' "$1" | dd of="$mnt/.osprof" bs=64K iflag=fullblock conv=notrunc status=none
}

# assert_status STATUS WHAT: the daemon that start_daemon started ends by itself, with this status
assert_status() {
    local status=0
    wait_for_end "$daemon_pid" 30 || fail "osproffs does not end: $2"
    wait "$daemon_pid" || status=$?
    assert_eq "$1" "$status" "exit status of osproffs: $2"
}

# listed DIR: the names in it, in one line, those with a dot too
listed() {
    find "$1" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | paste -sd ' '
}

# The live file of the daemon that start_daemon started.
live_file() {
    echo "$XDG_RUNTIME_DIR/osprof/$daemon_pid.live"
}

# is_mounted PATH: there is a mount at it, also one whose daemon has gone
is_mounted() {
    grep -q " $1 fuse.osproffs " /proc/self/mounts
}

# assert_unmounted PATH
assert_unmounted() {
    ! is_mounted "$1" || fail "$1 is still mounted"
}

# known_load DIR: 7 mkdirs, 5 rmdirs: a profile that cannot come about by chance
known_load() {
    mkdir "$1"/known-{1..7}
    rmdir "$1"/known-{1..5}
}

# assert_known_load PROFILE
assert_known_load() {
    "$OSPROF" show --check "$1" >&2 || fail "osprof show --check finds fault with $1"
    assert_eq "7" "$(profile_calls MKDIR "$1")" "MKDIR in $1"
    assert_eq "5" "$(profile_calls RMDIR "$1")" "RMDIR in $1"
}
