#!/bin/bash
# The live file of an osprof run --layers user that was killed is reported once, kept for a week at least, and then removed if
# ten newer ones are there.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

have gcc || skip "gcc is not installed"
echo line >"$lower/file"
places=$XDG_RUNTIME_DIR/osprof

# The clock of osprof goes wrong by so many seconds.
cat >later.c <<'END'
#include <stdlib.h>
#include <time.h>
time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += atoi(getenv("LATER"));
    if (to)
        *to = now.tv_sec;
    return now.tv_sec;
}
END
gcc -shared -fPIC -o later.so later.c

# killed_run: an osprof that is killed, and its command too; its live file is $live
killed_run() {
    rm -f "$scratch/started"
    # shellcheck disable=SC2016 # for the shell inside
    (cd "$lower" && exec "$OSPROF" run -d . -- sh -c 'cat file >/dev/null; echo $$ >"$0.new"; mv "$0.new" "$0"; exec sleep 60' "$scratch/started") 2>/dev/null &
    local run_pid=$!
    wait_until 20 test -e "$scratch/started" || fail "the command does not begin"
    live=$places/$run_pid-user-0.live
    kill -KILL "$run_pid" "$(<"$scratch/started")"
    wait "$run_pid" 2>/dev/null || true
}

# said_at SECONDS: what a run says so much later
said_at() {
    LATER=$1 LD_PRELOAD=$scratch/later.so user_run 0 cat file
    sed 's/^osprof: //' err
}

# kept: how many files there are
kept() {
    find "$places" -name '*.live' | wc -l
}

week=$((7 * 24 * 60 * 60))

assert_eq "" "$(said_at 0)" "what is said when nothing was killed"
killed_run
first=$live
assert_eq "the profile of a run whose osprof was killed is kept; 'osprof save --list' lists it" "$(said_at 0)" "what is said of one"
assert_eq "" "$(said_at 0)" "what is said of it again"
expect 0 save --list
grep -q "^ *[0-9]*  dead .* $first " out || fail "'osprof save --list' does not list it: $(<out)"
killed_run
second=$live
killed_run
chmod -t "$second" # the third run has reported it
assert_eq "the profiles of 2 runs whose osprof was killed are kept; 'osprof save --list' lists them" "$(said_at 0)" "what is said of two"

# ---- A run that goes on is neither reported nor removed

mkfifo begun
(cd "$lower" && exec "$OSPROF" run -d . -q -o "$scratch/other" -- sh -c 'echo >../begun; while [ ! -e end ]; do sleep 0.02; done; cat file') >/dev/null &
going=$!
before_cleanup() {
    : >"$lower/end"
    wait "$going" || true
}
read -r <begun
assert_eq "" "$(said_at $((week + 100)))" "what is said while another run goes on"
assert_eq 4 "$(kept)" "files then"

# ---- The ten newest stay whatever their age; the others for a week after they were reported

for _ in 1 2 3 4 5 6 7 8; do
    killed_run
done
assert_eq "the profile of a run whose osprof was killed is kept; 'osprof save --list' lists it" "$(said_at $((week - 100)))" \
    "what is said of the last of 11, when the others were reported"
assert_eq 12 "$(kept)" "files before a week is over"
chmod -t "$first" # as if it had not been reported
assert_eq "the profile of a run whose osprof was killed is kept; 'osprof save --list' lists it" "$(said_at $((week + 100)))" \
    "what is said of one that is old, and was not reported"
assert_eq 12 "$(kept)" "files when it was reported"
assert_eq "removed the profile of a run whose osprof was killed more than a week ago" "$(said_at $((week + 100)))" "what is said of the oldest"
[ ! -e "$first" ] || fail "another than the oldest is removed"
assert_eq "" "$(said_at $((week + 100)))" "what is said of the ten newest"
assert_eq 11 "$(kept)" "files after a week"
killed_run
last=$live
killed_run
assert_eq "the profile of a run whose osprof was killed is kept; 'osprof save --list' lists it" "$(said_at 0)" "what is said of the last"
assert_eq "removed the profiles of 2 runs whose osprof was killed more than a week ago" "$(said_at $((week + 100)))" "what is said of two"

# ---- What was kept is whole

expect 0 save -o "$scratch/profile" --remove "$last"
assert_eq "1 2" "$(calls OPEN) $(calls READ)" "calls in what was kept"
: >"$lower/end"
wait "$going" || fail "the run that went on fails"
mv other profile
[ "$(calls OPEN)" -ge 1 ] || fail "the run that went on has lost its profile"
