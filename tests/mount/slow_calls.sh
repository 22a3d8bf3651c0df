# shellcheck shell=bash
# Calls that are slow, for tests of what is reported about them: the FUSE daemon of the lower directory is stopped for a while.
# Source after lib.sh and helpers.sh. A test has $live, the live file of the daemon under test, mounted with cache=none.
# shellcheck disable=SC2154 # assigned there

stopped=

mount_slow_lower() {
    mkdir disk
    mount_osproffs -o control=.below disk "$lower"
    slow_pid=$daemon_pid
}

resume() {
    [ -z "$stopped" ] || kill -CONT "$stopped"
    stopped=
}

# be_slow COUNT: so many LOOKUPs at the same time, each of more than 0.1 s
be_slow() {
    local number callers=()
    stat "$mnt" >/dev/null # before the first answer of a mount the kernel knows not what it can do
    stopped=$slow_pid
    hang_daemon "$stopped"
    for ((number = 0; number < $1; number++)); do
        stat "$mnt/missing-$RANDOM-$number" >"$scratch/stat" 2>&1 &
        callers+=($!)
    done
    wait_until 20 are_in_flight "$1" || fail "$1 calls are not in flight: $(<"$scratch/in-flight")"
    nap 150
    resume
    wait "${callers[@]}" || true # there is no such file
}

are_in_flight() {
    "$OSPROF" why "$live" >"$scratch/in-flight" 2>&1 || return 1
    [ "$(grep -Ec '^ +[0-9.]+ m?s +[0-9]+  LOOKUP ' "$scratch/in-flight")" -eq "$1" ]
}
