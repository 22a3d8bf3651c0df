#!/bin/bash
# The log of slow calls: a private line of JSON for each, in a file that may be moved away, is rotated by size, and may
# have no room. Calls are made slow by stopping the FUSE daemon of the lower directory for a while.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/slow_calls.sh"

need_root
need python3

before_cleanup() {
    resume
    ! mountpoint -q small || umount small
}

# lines_of FILE: how many it has, each one whole; python refuses what is not JSON
lines_of() {
    python3 -c '
import json, sys
fields = ["time", "mount", "op", "latency_ns", "cause", "cause_id", "cause_class", "path", "inode", "pid", "process", "program", "uid", "error",
          "asked_bytes", "moved_bytes", "offset", "holder", "links", "missing"]
count = 0
for line in open(sys.argv[1]):
    call = json.loads(line)
    assert line.endswith("\n") and list(call) == fields, line
    count += 1
print(count)' "$1"
}

has_lines() {
    [ -e "$2" ] && [ "$(lines_of "$2")" -eq "$1" ]
}

expect_lines() {
    wait_until 20 has_lines "$1" "$2" || fail "$2 has not $1 lines: $(cat "$2")"
}

# field NAME FILE: of its last line
field() {
    tail -n 1 "$2" | python3 -c 'import json, sys; print(json.loads(sys.stdin.read())[sys.argv[1]])' "$1"
}

mount_slow_lower
log=$scratch/slow.log
mount_osproffs -o cache=none,slow=50ms,slowlog=slow.log "$lower" "$mnt"
live=$(live_file)
be_slow 7
expect_lines 7 "$log"
assert_eq "600 0" "$(stat -c '%a %u' "$log")" "mode and owner of the log"
! as_user cat "$log" 2>/dev/null || fail "another user reads the log"
assert_eq LOOKUP "$(field op "$log")" op
assert_eq "$mnt" "$(field mount "$log")" mount
assert_eq 0 "$(field missing "$log")" missing
assert_eq 0 "$(field uid "$log")" uid
assert_eq stat "$(field program "$log")" program
assert_eq "waiting for another FUSE daemon" "$(field cause "$log")" cause
assert_eq 2 "$(field error "$log")" "errno value"
[ "$(field latency_ns "$log")" -ge 100000000 ] || fail "a latency of $(field latency_ns "$log") ns"
[[ $(field time "$log") == "$(date -u +%Y-)"*Z ]] || fail "a time of $(field time "$log")"

# It may be moved away at any time; without a signal the next line is in a new file.
mv "$log" "$log.moved"
be_slow 1
expect_lines 1 "$log"
expect_lines 7 "$log.moved"
rm "$log"
be_slow 2
expect_lines 2 "$log"
assert_eq 600 "$(stat -c %a "$log")" "mode of a new log"

# It is one osproffs's.
mkdir other
assert_refused "slowlog=slow.log: cannot open it: another osproffs logs there; give each mount a file of its own" \
    "$OSPROFFS" -o slow=50ms,slowlog=slow.log "$lower" other
be_slow 3 # not looked at before the mount ends
unmount_osproffs "$mnt"
expect_lines 5 "$log"

# Nothing is written to what others may have made, or may read.
ln -s slow.log link
mkfifo fifo
touch open
while read -r name why; do
    assert_refused "slowlog=$name: cannot open it: $why" "$OSPROFFS" -o slow=50ms,slowlog="$name" "$lower" other
done <<'END'
link it is not a regular file
fifo it is not a regular file
open it may not be written to, or others may read it: chmod it 0600, or choose another file
disk it is not a regular file
no/such No such file or directory
END

# By size: one older file is kept.
mount_osproffs -o cache=none,slow=50ms,slowlog=slow.log,slowlog_size=10K "$lower" "$mnt"
live=$(live_file)
be_slow 11

have_both_lines() {
    [ -e "$log.1" ] && [ $(($(lines_of "$log.1") + $(lines_of "$log"))) -eq "$1" ]
}

wait_until 20 have_both_lines $((5 + 11)) || fail "lines are lost when the file is moved: $(cat "$log.1" "$log")"
if [ "$(stat -c %s "$log")" -gt 10240 ] || [ "$(stat -c %s "$log.1")" -gt 10240 ]; then
    fail "files are too large: $(stat -c '%s %n' "$log" "$log.1")"
fi
assert_eq 600 "$(stat -c %a "$log")" "mode of the next log"
unmount_osproffs "$mnt"

# A full disk is reported once; the mount goes on, and the next line tells how many are missing.
mkdir small
mount -t tmpfs -o size=64K tmpfs small
mount_osproffs -o cache=none,slow=50ms,slowlog=small/log "$lower" "$mnt"
live=$(live_file)
be_slow 1
expect_lines 1 small/log
cat /dev/zero >small/filler 2>/dev/null || true
be_slow 13 # the page of the first line may have room for some of them
be_slow 13
wait_until 20 grep -q "slowlog=small/log: cannot write: No space left" "$daemon_log" ||
    fail "a full disk is not told: $(<"$daemon_log")"
be_slow 2
rm small/filler
be_slow 1

# missing_of FILE: lines that its lines say are missing before them
missing_of() {
    python3 -c 'import json, sys; print(sum(json.loads(line)["missing"] for line in open(sys.argv[1])))' "$1"
}

all_are_told() {
    [ $(($(lines_of small/log) + $(missing_of small/log))) -eq "$1" ]
}

wait_until 20 all_are_told $((1 + 13 + 13 + 2 + 1)) || fail "calls have neither a line nor are missing: $(cat small/log)"
missing=$(missing_of small/log)
[ "$missing" -gt 0 ] || fail "no line is missing on a full disk"
# A line that is shorter than the ones before may still fit: then the disk is full once more.
full=$(grep -c "slowlog=small/log: cannot write" "$daemon_log")
assert_eq "$full" "$(grep -c "slowlog=small/log: can be written again" "$daemon_log")" "ends of a full disk: $(<"$daemon_log")"
[ "$full" -le 3 ] || fail "a full disk is told $full times: $(<"$daemon_log")"
assert_eq "$missing" "$(sed -n 's|.*slowlog=small/log: can be written again; \([0-9]*\) slow calls* .*|\1|p' "$daemon_log" | awk '{ sum += $1 } END { print sum }')" \
    "lines that are missing, as it is told"
unmount_osproffs "$mnt"
umount small
unmount_osproffs "$lower"
