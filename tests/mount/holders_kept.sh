#!/bin/bash
# Who held what a slow call waited for stays in the profile: of a call in flight, and when it has ended; on the pages, as
# JSON, in the log of slow calls, and for nobody who may not see names.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/causes_lib.sh"
. "$tests_dir/slow_calls.sh"

need_root
declare -A holder=()

before_cleanup() {
    resume
    end_started
}

touch "$lower/a" "$lower/b"
mount_osproffs -o "flock,allow_other,slow=50ms,slowlog=$scratch/slow.log" "$lower" "$mnt"
for file in a b; do
    start flock --no-fork "$lower/$file" sleep 600
    holder[$file]=$waiter
    wait_until 20 is_locked "$lower/$file" || fail "nobody holds $file"
    start flock "$mnt/$file" true
done

# says FILE, in what
says() {
    tr -s '[:space:]' ' ' <"$2" | grep -qF "the flock of $lower/$1, held by sleep ${holder[$1]}"
}

shows_both() {
    "$OSPROF" why --width 200 "$mnt" >causes && says a causes && says b causes
}

wait_until 30 shows_both || fail "calls in flight: $(cat causes)"
"$OSPROF" show --width 200 "$mnt" >page
says a page || says b page || fail "the oldest call in flight: $(cat page)"
as_user cat "$mnt/.osprof" >of_user
! grep -q holder of_user || fail "another user sees who holds what: $(cat of_user)"
nap 100
end_started

is_logged() {
    grep -qF "held by sleep ${holder[a]}" slow.log && grep -qF "held by sleep ${holder[b]}" slow.log
}

wait_until 30 is_logged || fail "log: $(cat slow.log)"
shows_both || fail "calls that have ended: $(cat causes)"
grep -q '^Who held what is as it was seen while a call waited\.$' causes
grep -F "\"holder\": \"the flock of $lower/a, held by sleep ${holder[a]}, which is sleeping\"" slow.log | grep -q '"op": "SETLKW"' ||
    fail "log: $(cat slow.log)"
"$OSPROF" show --json "$mnt" | grep -F "\"holder\": \"the flock of $lower/b, held by sleep ${holder[b]}, which is sleeping\"" >json ||
    fail "not in JSON"
"$OSPROF" show --width 200 "$mnt" >page
grep -qE "^Slow: SETLKW of [0-9.]+ m?s waited for the flock of $lower/[ab], held by sleep [0-9]+, which is sleeping" page || fail "page: $(cat page)"
"$OSPROF" report -o report.html "$mnt"
if ! says a report.html || ! says b report.html; then
    fail "not in the report"
fi

# Without anybody in the way nobody is named.
echo reset >"$mnt/.osprof"
flock "$mnt/a" true
status=0
"$OSPROF" why --width 200 "$mnt" >causes || status=$?
assert_eq 1 "$status" "status of osprof why without a slow call"
! grep -q 'held' causes || fail "a holder of nothing: $(cat causes)"
unmount_osproffs "$mnt"

# A lower file system that is stopped: its daemon is named, and not the mount's own, for which a request waits too.
if uname -r | awk -F. '{ exit !($1 > 6 || $1 == 6 && $2 >= 18) }'; then
    mount_slow_lower
    mount_osproffs -o "cache=none,slow=50ms" "$lower" "$mnt"
    stat "$mnt" >/dev/null
    stopped=$slow_pid
    hang_daemon "$stopped"
    start stat "$mnt/missing"
    names_daemon() {
        "$OSPROF" why --width 200 "$mnt" >causes && tr -s '[:space:]' ' ' <causes |
            grep -qF "the FUSE file system $lower, served by osproffs $slow_pid, which is stopped"
    }
    wait_until 20 names_daemon || fail "whose file system hangs: $(cat causes)"
    resume
    wait "$waiter" || true
    names_daemon || fail "whose file system hung: $(cat causes)"
    unmount_osproffs "$mnt"
fi
