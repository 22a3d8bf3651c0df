#!/bin/bash
# A command beside many live files opens the file that it names, and of each live file reads the head alone.
. "$(dirname "$0")/lib.sh"

need flock
export ASAN_OPTIONS=detect_leaks=0 # a traced process cannot look for them
live_dir=$XDG_RUNTIME_DIR/osprof
count=100
calls_max=16 # for each other live file: opening, its state, and six readings of a few bytes

# shellcheck disable=SC2154 # set by the harness
cd "$scratch"
mkdir -m 0700 "$live_dir"

# calls ARGUMENT...: prints how many system calls osprof makes with them
calls() {
    "$TEST_PROGRAMS/count_syscalls" syscalls "$OSPROF" "$@" >out 2>err || fail "osprof $*: $(<err)"
    cat syscalls
}

# expect_few MAX ALONE NOW WHAT: that makes at most MAX system calls more for each live file, and looks for them at all
expect_few() {
    local each=$((($3 - $2) / count))
    if [ "$each" -le 0 ] || [ "$each" -gt "$1" ]; then
        fail "$4 makes $each system calls for each live file, more than 0 and at most $1 are right"
    fi
}

cp "$data/compare-after.osprof" after.osprof
cp "$data/compare-before.osprof" before.osprof
"$TEST_PROGRAMS/count_syscalls" syscalls true 2>err || skip "programs cannot be traced"
show_alone=$(calls show after.osprof)
cp out shown_alone
save_alone=$(calls save -o sum before.osprof after.osprof)

# Each is locked, as by a recorder, by this shell.
coproc RECORDER { exec "$TEST_PROGRAMS/record" "$scratch/one.live" "$scratch/one" "$scratch/one.sock"; }
# shellcheck disable=SC2153 # set by coproc
recorder_pid=$RECORDER_PID
read -r <&"${RECORDER[0]}"
kill -KILL "$recorder_pid"
wait "$recorder_pid" 2>/dev/null || true
for ((i = 0; i < count; i++)); do
    cp one.live "$live_dir/$i.live"
    exec {fd}<"$live_dir/$i.live"
    flock "$fd"
done
[ "$("$OSPROF" save --list | grep -c "  active     .* $live_dir/[0-9]*\.live  $scratch/one\$")" = "$count" ] ||
    fail "not $count live files of recorders"

expect_few "$calls_max" "$show_alone" "$(calls show after.osprof)" "osprof show of a file"
cmp shown_alone out || fail "shows something else beside live files"
# Live files are looked for twice for each profile: once for one that the name may mean, once as it is loaded. Once would do.
expect_few $((3 * calls_max)) "$save_alone" "$(calls save -o sum before.osprof after.osprof)" "osprof save of two"
# The paths of its calls in flight are asked for where its file says.
expect_few $((2 * calls_max)) "$show_alone" "$(calls show --charts one)" "osprof show of a mount"
grep -q "^mount *$scratch/one\$" out || fail "does not show the mount: $(<out)"
