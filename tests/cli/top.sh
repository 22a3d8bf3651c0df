#!/bin/bash
# osprof top: as text, and on the screen of a real terminal, which tmux is. Mounts that hang, are reset, and end.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=top_terminal.sh
. "$(dirname "$0")/top_terminal.sh"

need_fuse
hung_pid=
hung_daemon=
caller_pid=

before_cleanup() {
    [ -z "$caller_pid" ] || kill "$caller_pid" 2>/dev/null
    [ -z "$hung_daemon" ] || kill -CONT "$hung_daemon" 2>/dev/null
    end_terminal
    [ -z "$hung_pid" ] || wait "$hung_pid"
}

# ---- The terminal

# drive_summary ARGUMENT...: runs osprof top on a cleared screen, and waits for it
drive_summary() {
    rm -f modes-before modes-after
    keys "clear; bash drive $*" Enter
    wait_shows '1 summary|^[Pp]rocess|^h help'
}

# drive ARGUMENT...: the same, then chooses the operations
drive() {
    drive_summary "$@"
    keys 2
    wait_shows '(operation .*max|No operation)'
}

# calls_shown OP: its number of calls
calls_shown() {
    shown | awk -v op="$1" '$1 == op && $3 == "%" { print $4; found = 1 } END { if (!found) print 0 }'
}

shows_calls() {
    [ "$(calls_shown "$1")" = "$2" ]
}

# expect_calls OP COUNT
expect_calls() {
    wait_until 30 shows_calls "$1" "$2" || {
        shown >&2
        fail "$(calls_shown "$1") calls of $1 are shown, not $2"
    }
}

# ---- What cannot be watched

expect_trouble "osprof: cannot watch no/such: No such file or directory; a mount point of osproffs or the live file of \
one that runs is expected" top --batch no/such
mkfifo fifo
for other in lower fifo /dev/null "$data/show-grep.osprof"; do
    expect_trouble "osprof: cannot watch $other: it is not the mount point of an osproffs, nor the live file of one \
that runs" top --batch "$other"
done

# top_alone ARGUMENT...: osprof top where no live files are found but those of this test
top_alone() {
    if is_root; then
        # shellcheck disable=SC2016 # for the shell inside
        unshare --mount --propagation private -- sh -c 'mount -t tmpfs tmpfs /run && exec "$OSPROF" top "$@"' - "$@"
    else
        [ ! -e "/tmp/osprof-$(id -u)" ] || skip "there may be other live files, in /tmp/osprof-$(id -u)"
        "$OSPROF" top "$@"
    fi
}

# refused_alone MESSAGE: osprof top without an argument says so, in its first line
refused_alone() {
    local status=0
    top_alone --batch >out 2>err || status=$?
    assert_eq 2 "$status" "exit status of osprof top without an argument"
    assert_eq "$1" "$(head -n 1 err)" "message of osprof top without an argument"
    [ ! -s out ] || fail "osprof top without an argument prints something"
}

export OSPROF
refused_alone "osprof: nothing is profiled here; osproffs LOWER MNT or osprof attach DIR begins it, osprof top -a shows all threads; of another user's, name the live file"

# ---- As text

mount_osproffs "$lower" "$mnt"
expect_trouble "osprof: cannot draw on this terminal: standard output is none; with --batch text is printed \
instead" top mnt

# Every call is in exactly one report.
# sum_reported OP: its calls in all reports
sum_reported() {
    awk -v op="$1" '$1 == op && $3 == "%" { calls += $4 } END { print calls + 0 }' reports
}

all_reported() {
    [ "$(sum_reported RMDIR)" = 5 ]
}

before_end=(true) # a command

# watch_to_end ARGUMENT...: reports while a known load goes on, until the mount has ended
watch_to_end() {
    rm -f reports
    "$OSPROF" top --batch --delay 0.1 "$@" >reports &
    local watcher=$!
    wait_until 30 grep -q 'in all' reports || fail "no report"
    known_load "$mnt"
    "${before_end[@]}" || fail "not all calls were reported"
    unmount_osproffs "$mnt"
    wait_for_end "$watcher" 30 || {
        kill "$watcher"
        fail "goes on after the mount has ended"
    }
    wait "$watcher" || fail "status $? after the mount has ended"
    assert_eq 7 "$(sum_reported MKDIR)" "calls of MKDIR in all reports"
    assert_eq 5 "$(sum_reported RMDIR)" "calls of RMDIR in all reports"
    assert_eq 1 "$(grep -c 'The profile has ended' reports)" "times that the end is told"
    rmdir "$lower"/known-*
}

watch_to_end mnt
mount_osproffs -o live=none "$lower" "$mnt"
before_end=(wait_until 30 all_reported) # a control file is gone at the end, and so is what it would have said
watch_to_end "$mnt"
before_end=(true)
mount_osproffs -o control=.profile "$lower" "$mnt"
live=$(live_file)
watch_to_end "$live"
expect_trouble "osprof top: --delay 99ms: must be a time from 100ms to 24h, such as 10s or 5m; see 'osprof help top'" \
    top --batch --delay 99ms mnt
expect_trouble "osprof: cannot watch $live: No such file or directory; a mount point of osproffs or the live file of \
one that runs is expected" top --batch "$live"

# One line for each op, in the order asked for; so many reports and no more.
mount_osproffs "$lower" "$mnt"
live=$(live_file)
top_alone --batch --count 1 --delay 0.1 >out || fail "the only mount is not found"
assert_eq "$mnt" "$(awk 'NR == 1 { print $NF }' out)" "the only mount"
expect 0 top --batch --count 3 --delay 100ms --ascii mnt
assert_eq 3 "$(grep -c "the last [0-9.]* ms  $mnt\$" "$scratch/out")" "reports"
[ "$(grep -c 'No operation was called' "$scratch/out")" -ge 2 ] || fail "the reports are not of intervals"
"$OSPROF" top --batch --count 1 mnt >/dev/full 2>err && fail "cannot write, and does not say so"
assert_eq "osprof: cannot write standard output: No space left on device" "$(<err)" "message about a full disk"

# ---- On the screen

start_terminal
# refused REASON VARIABLES [REDIRECTION]: osprof top in the terminal does not start, with these variables set
refused() {
    rm -f messages refusal
    keys "clear; $2 $OSPROF top mnt ${3:-} 2>messages; echo \$? >refusal" Enter
    wait_until 30 test -s refusal || fail "does not end: $1"
    assert_eq "2 osprof: cannot draw on this terminal: $1; with --batch text is printed instead" \
        "$(<refusal) $(<messages)" "status and message"
}
refused "TERM is 'dumb', which cannot place its cursor" TERM=dumb
refused "TERM is not set" TERM=
refused "TERM is 'no-such-terminal', of which nothing is known here" TERM=no-such-terminal
refused "standard input is none" "" "</dev/null"

# A snapshot only when a key asks for it.
known_load "$mnt"
drive --delay 3600 mnt
expect_calls MKDIR 7
expect_calls RMDIR 5
shows "^[0-9]{4}-[0-9-]+ [0-9:]+ UTC  .* since [0-9:]+  ${mnt:0:12}" || fail "heading: $(shown | head -n 1)"
rmdir "$mnt"/known-6
keys Space
expect_calls RMDIR 1
expect_calls MKDIR 0
keys a
expect_calls RMDIR 6
expect_calls MKDIR 7
keys n
wait_shows '^h help'
first_op() {
    shown | awk 'found { print $1; exit } $1 == "operation" { found = 1 }'
}
names_in_order() {
    [[ $(first_op) < MKDIR ]]
}
wait_until 30 names_in_order || fail "by name, $(first_op) is not the first"
keys c
mkdir "$mnt"/more-{1..43}
keys Space
expect_calls MKDIR 50
shown | awk 'found && !NF { exit } found { print $4 } $1 == "operation" { found = 1 }' | tr -d , >order
sort -c -r -n order || fail "not in the order of calls"
keys r
wait_shows 'No operation was called'
rmdir "$mnt"/more-{1..11}
keys Space
expect_calls RMDIR 11
keys a
expect_calls RMDIR 11
rmdir "$mnt"/more-{12..14}
keys Space
expect_calls RMDIR 3
keys a
expect_calls RMDIR 14

# Somebody resets the profile: more calls than before, so that the counts alone do not tell.
"$OSPROF" ctl mnt reset
mkdir "$mnt"/again-{1..53}
keys Space
wait_shows 'The profile has begun anew'
expect_calls MKDIR 53
keys Space
shows_no_more 'begun anew' || fail "it begins anew for ever"

echo pause >"$mnt/.osprof"
keys Space
wait_shows 'Counting is paused: calls are not measured\.'
echo resume >"$mnt/.osprof"
keys Space
shows_no_more 'Counting is paused: calls are not measured\.' || fail "paused for ever"

keys 3
wait_shows 'No call is in flight'
keys h
wait_shows 'orders operations and callers by mean'
keys h
wait_shows 'No call is in flight'
keys 2
expect_calls MKDIR 53
keys p
wait_shows 'This screen is paused'
keys p
shows_no_more 'This screen is paused' || fail "it does not go on"

# Any size will do; in the end all is there again.
for size in "1 1" "20 5" "5 3" "300 2" "2 60" "39 9" "500 100"; do
    # shellcheck disable=SC2086 # width and height
    resize $size
    kill -0 "$(<top.pid)" || fail "it has ended at $size"
done
resize 80 24
expect_calls MKDIR 53
resize 30 6
wait_shows '^ *lines 1-'
keys Down
wait_shows '^ *lines 2-'
keys NPage NPage NPage NPage Up Up
keys PPage PPage PPage PPage
wait_shows '^ *lines 1-'
resize 80 24
expect_calls MKDIR 53

# Stopped and continued, by key and from outside.
is_stopped() {
    grep -q '^State:.T' "/proc/$(<top.pid)/status"
}
keys C-z
wait_until 30 is_stopped || fail "does not stop"
! shows '^h help' || fail "stopped, the page is still there"
keys fg Enter
wait_shows '^h help'
kill -STOP "$(<top.pid)"
kill -CONT "$(<top.pid)"
keys h
wait_shows 'orders operations and callers by mean'
keys q
ended 0

# It refreshes by itself.
drive --delay 0.1 "$live"
mkdir "$mnt"/self-{1..3}
keys a
expect_calls MKDIR 56
rmdir "$mnt"/self-{1..3}
expect_calls RMDIR 3
keys q
ended 0

# Ended by a signal: as the signal says, and the terminal is given back.
for signal in TERM HUP INT; do
    drive --delay 3600 mnt
    kill "-$signal" "$(<top.pid)"
    ended $((128 + $(kill -l "$signal")))
    : >messages
done

# The mount ends: the last picture stays.
drive --delay 0.1 mnt
mkdir "$mnt"/last-{1..3}
unmount_osproffs "$mnt"
wait_shows 'The profile has ended'
keys a
expect_calls MKDIR 59
expect_calls RMDIR 3
resize 30 6
wait_shows '^ *lines 1-1 of'
resize 80 24
expect_calls RMDIR 3
keys q
ended 0

# ---- The first view is the page that answers, with what the mount tells

mount_osproffs -o by=file+program "$lower" "$mnt"
drive_summary --delay 3600 mnt
head -c 64M /dev/zero | cat >"$mnt/summarised" # more time than making it, on any machine
cat "$mnt/summarised" >/dev/null
keys Space
wait_shows '^[0-9.]+ m?s elapsed; '
wait_shows ' spent in  *calls  .*p50'
wait_shows '^file  .*/summarised'
wait_shows '^program  .*cat'
wait_shows '^next  *osprof show --op [A-Z]+ '
keys s # orders are of the operations
wait_shows '^operation .*p99.9 +max'
keys 1
wait_shows '^file  .*/summarised'
rm "$mnt/summarised"
keys q
ended 0
# The same in a report, which does not ask the mount.
expect 0 top --batch --count 1 --delay 0.1 --ascii mnt
grep -q '^[0-9.]* ms elapsed; ' "$scratch/out" || fail "a report does not begin with the page that answers"
grep -q '^operation .*p99.9 *max\|^No operation was called' "$scratch/out" || fail "a report without operations"
unmount_osproffs "$mnt"

# ---- Whose calls they are

mount_osproffs "$lower" "$mnt"
expect 0 top --batch --by process --delay 0.1 --count 1 mnt # nobody knows yet
stat "$mnt/none" 2>/dev/null || true
for by in process uid; do
    expect 1 top --batch --by "$by" mnt
    assert_eq "osprof: no calls by $by in $mnt/.osprof; osproffs -o by=$by records them; from now on: 'osprof ctl $mnt groups $by'" "$(<"$scratch/err")" \
        "message about a mount that records no callers"
done
drive --delay 3600 mnt
keys 4
wait_shows "^ *osprof ctl $mnt groups process\$"
keys q
ended 0
unmount_osproffs "$mnt"

mount_osproffs -o by=process "$lower" "$mnt"
live=$(live_file)
expect 0 top --batch --by process --delay 0.1 --count 1 --ascii mnt
grep -q '^Nobody has called' "$scratch/out" || fail "somebody has called"
stat "$mnt/none" 2>/dev/null || true
expect 1 top --by uid mnt
assert_eq "osprof: no calls by uid in $mnt/.osprof; osproffs -o by=uid records them; from now on: 'osprof ctl $mnt groups off && osprof ctl $mnt groups uid'" "$(<"$scratch/err")" \
    "message about a mount that records other callers"
expect 0 ctl mnt groups off
expect 0 ctl mnt groups uid
stat "$mnt/none" 2>/dev/null || true
expect 0 top --batch --by uid --delay 0.1 --count 1 mnt
expect 0 ctl mnt groups off
expect 0 ctl mnt groups process

# A process that makes a file for each line, and has a name that may harm terminals.
cp "$(command -v bash)" $'ev\033[7mil'
mkfifo lines
# shellcheck disable=SC2016 # for the shell inside
./$'ev\033[7mil' -c 'while read -r name; do : >"$0/$name"; done' "$mnt" <lines &
caller_pid=$!
exec 7>lines

# caller_calls: of that process, in all rows of standard input that have a share before the calls
caller_calls() {
    awk -v pid="$caller_pid" '
        { for (i = 1; i + 3 <= NF; i++) if ($i == pid && $(i + 2) == "%") { gsub(",", "", $(i + 3)); calls += $(i + 3) } }
        END { print calls + 0 }'
}

# What the mount has counted for it.
caller_calls_recorded() {
    "$OSPROF" show --by process mnt | awk -v pid="$caller_pid" '{ for (i = 1; i < 3; i++) if ($i == pid) print $(i + 1) }'
}

# Every call is in exactly one report.
"$OSPROF" top --batch --by process --delay 0.1 "$live" >reports &
watcher=$!
wait_until 30 grep -q 'Calls by process, the last' reports || fail "no report of callers"
printf 'file-%s\n' {1..53} >&7
all_callers_reported() {
    [ -e "$lower/file-53" ] && [ "$(caller_calls_recorded)" -ge 106 ] &&
        [ "$(caller_calls <reports)" = "$(caller_calls_recorded)" ]
}
wait_until 30 all_callers_reported ||
    fail "$(caller_calls <reports) calls of $caller_pid are reported, not $(caller_calls_recorded)"
grep -Eq "^ev\?\[7mil +$caller_pid " reports || fail "its name is not shown: $(<reports)"
! grep -q $'\033' reports || fail "its name is shown as it is"
kill "$watcher"
wait "$watcher" || true

# On the screen: the view asks the mount at once, and then with each snapshot.
drive --delay 3600 mnt
keys 4
wait_shows '^Calls by process, [0-9.]+ m?s since '
wait_shows "^ev\?\[7mil +$caller_pid +[0-9.]+ % "
printf 'then-%s\n' {1..7} >&7
wait_until 30 test -e "$lower/then-7" || fail "no more files are made"
shows_caller_calls() {
    [ "$(shown | caller_calls)" = "$1" ]
}
before=$(shown | caller_calls)
after=$(caller_calls_recorded)
more_recorded() {
    after=$(caller_calls_recorded)
    [ "$after" -ge $((before + 14)) ]
}
wait_until 30 more_recorded || fail "its calls are not recorded"
keys Space
wait_until 30 shows_caller_calls $((after - before)) ||
    fail "$(shown | caller_calls) calls are shown of $((after - before))"
wait_shows '^Calls by process, the last '
keys n
wait_shows '^process .* top operations'
keys a
wait_until 30 shows_caller_calls "$after" || fail "$(shown | caller_calls) calls are shown of $after"
keys a

# Somebody resets it: what was before is no part of what follows.
"$OSPROF" ctl mnt reset
keys Space
wait_shows 'begun anew'
wait_until 30 shows_caller_calls 0 || fail "calls from before a reset are shown"
keys q
ended 0
drive_summary --by process --delay 3600 mnt
wait_shows '^(Calls by process, )'
keys r
wait_shows '^Nobody has called\.$'

# The mount hangs: the picture stays, the keys work, and so does quitting.
hung_daemon=${pid_of[$mnt]}
hang_daemon "$hung_daemon"
keys Space
wait_shows "^The mount does not answer: ${mnt:0:12}"
shows '^Nobody has called\.$' || fail "the picture is gone"
keys 2
wait_shows '^(operation|No operation)'
keys 4
wait_shows '^The mount does not answer'
keys q
ended 0
timeout 30 "$OSPROF" top --batch --by process --delay 0.1 --count 2 mnt >out || fail "cannot report what hangs"
assert_eq 2 "$(grep -c 'The mount does not answer' out)" "reports that the mount does not answer"
! grep -q 'Calls by process' out || fail "reports callers of a mount that hangs"
kill -CONT "$hung_daemon"
hung_daemon=

# It ends: a line says so.
exec 7>&-
wait "$caller_pid"
caller_pid=
rm -f reports
"$OSPROF" top --batch --by process --delay 0.1 mnt >reports &
watcher=$!
wait_until 30 grep -q 'Calls by process, the last' reports || fail "no report of callers"
unmount_osproffs "$mnt"
wait "$watcher" || fail "status $? after the mount has ended"
assert_eq 1 "$(grep -c "Whose the last calls were is told by the mount's final profile only" reports)" \
    "times that the end is told"

# Users.
mount_osproffs -o by=uid,live=none "$lower" "$mnt"
stat "$mnt/file-1" >/dev/null
seen_by_uid() {
    stat "$mnt"/file-* >/dev/null
    "$OSPROF" top --batch --by uid --delay 0.5 --count 1 mnt >out &
    local watcher=$!
    sleep 0.1
    stat "$mnt"/file-* >/dev/null
    wait "$watcher"
    grep -Eq "^ +$(id -u) +[0-9.]+ % " out
}
wait_until 30 seen_by_uid || fail "calls by uid are not reported: $(<out)"
rm "$mnt"/file-* "$mnt"/then-*
unmount_osproffs "$mnt"

# ---- Two mounts, of which the lower one hangs

mount_osproffs "$lower" "$mnt"
hung_daemon=$daemon_pid
mkdir upper
mount_osproffs -o by=process "$mnt" upper
refused_alone "osprof: 2 mounts are being profiled; name one of them:"
grep -qx "  $mnt" err || fail "$mnt is not listed: $(<err)"
grep -qx "  $scratch/upper" err || fail "$scratch/upper is not listed: $(<err)"

# The names of processes may hold anything. A name that is not known yet makes it wait in the hung mount.
cp "$(command -v mkdir)" $'ev\033[7mil' # over the other one
stat upper >/dev/null
hang_daemon "$hung_daemon"
./$'ev\033[7mil' upper/hanging &
hung_pid=$!
in_flight() {
    timeout 20 "$OSPROF" top --batch --delay 0.1 --count 1 upper >"$scratch/report" || fail "no report of what hangs"
    grep -Eq "^ +[A-Z]+ +[0-9.]+ m?s +$hung_pid  ev\?\[7mil +\(not known\)\$" "$scratch/report"
}
wait_until 30 in_flight || fail "the call in flight is not reported: $(<report)"
drive_summary --delay 0.1 upper
wait_shows "^In flight: 1 call, the oldest [A-Z]+ by ev"
keys 2
wait_shows "1 in flight, the oldest [A-Z]+ for [0-9.]+ m?s"
keys 4
wait_shows '^(Calls by process, |The mount does not answer: )' # as far as it has to ask the mount below
keys 3
wait_shows "^ +[A-Z]+ +[0-9.]+ m?s +$hung_pid  ev\?\[7mil +\(not known\)\$"
wait_shows "^ +[A-Z]+ +[1-9][0-9.]* s +$hung_pid " # it gets older
kill -CONT "$hung_daemon"
wait "$hung_pid"
hung_pid=
wait_shows 'No call is in flight'
keys q
ended 0
unmount_osproffs upper
unmount_osproffs "$mnt"
hung_daemon=
