#!/bin/bash
# Slow calls: osprof why tells what they wait for while they hang, after they have ended, and after SIGKILL. The lower
# file system is an ext4 that is frozen. Others learn what they waited for, not of the calls themselves.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need mkfs.ext4 fsfreeze
maker=

before_cleanup() {
    thaw
    [ -z "$maker" ] || wait "$maker" || true
}

# make DIRECTORY: in the background, while it hangs
make() {
    timeout -s KILL 60 mkdir "$mnt/$1" 2>/dev/null &
    maker=$!
}

# tells_why SOURCE LINE: osprof why has such a line, as a regular expression
tells_why() {
    timeout 20 "$OSPROF" why "$1" >"$scratch/why" 2>"$scratch/err" || return 1
    grep -Eq "$2" "$scratch/why"
}

expect_why() {
    wait_until 20 tells_why "$@" || fail "osprof why $1 does not say '$2': $(cat "$scratch/why" "$scratch/err")"
}

truncate -s 32M image
mkfs.ext4 -q image
mount -o loop image "$lower" 2>/dev/null || skip "no loop devices"
chmod 777 "$lower"
cause="waiting for a frozen file system"

mount_osproffs -o slow=20ms,allow_other "$lower" "$mnt"
live=$(live_file)
! tells_why "$mnt" "MKDIR" || fail "knows of slow calls before there are any: $(<"$scratch/why")"
freeze "$lower"
make first
expect_why "$live" "^ +[0-9.]+ m?s +[0-9]+  MKDIR +$cause$"
expect_why "$mnt" "MKDIR +$cause$"
"$OSPROF" why --stacks --width 1000 "$live" >"$scratch/why"
grep -Eq "^ +$lower$" "$scratch/why" || fail "not what the call in flight works on: $(<"$scratch/why")"
grep -Eq "^ +percpu_rwsem_wait < " "$scratch/why" || fail "not where it waits: $(<"$scratch/why")"
sleep 0.5
thaw
wait "$maker"

# Afterwards all of its latency has that cause, to within what the call takes by itself.
expect_why "$mnt" "^ +[0-9.]+ % +[0-9.]+ m?s +1 +[0-9.]+ m?s  MKDIR +$cause$"
"$OSPROF" why --by program --width 100 "$mnt" >"$scratch/why"
grep -Eq "^ +100.0 % +[0-9.]+ m?s +1 +[0-9.]+ m?s  mkdir +MKDIR: $cause$" "$scratch/why" ||
    fail "not whose the slow call was: $(<"$scratch/why")"
"$OSPROF" show --op mkdir "$mnt" >"$scratch/why"
grep -Eq "^  peak at [0-9.]+ m?s: of its [0-9]+ calls? 100.0 % $cause$" "$scratch/why" || fail "its peak is not explained: $(<"$scratch/why")"
cat "$mnt/.osprof" >"$scratch/profile"
"$OSPROF" show --check "$scratch/profile" >"$scratch/checked" || fail "osprof show --check: $(<"$scratch/checked")"
awk '/^# cause: MKDIR / { all += $7; if (/waiting\\040for\\040a\\040frozen/) seen += $7 }
    $1 == "OP_MKDIR" { total = $3 }
    END { exit !(all == total && seen >= 0.95 * all) }' "$scratch/profile" ||
    fail "the latency is not the cause's: $(grep -E -A 1 'cause|OP_MKDIR' "$scratch/profile")"
grep -Eq "^# call: MKDIR latency .* path /.* process [1-9][0-9]* program mkdir .* stack 1( link .*)?$" "$scratch/profile" ||
    fail "no slow call with its stack, its program and its path: $(grep '^# call' "$scratch/profile")"
grep -Eq "^# stack: .*percpu_rwsem_wait < .*mkdir.* < " "$scratch/profile" || fail "not where it waited"
as_user cat "$mnt/.osprof" >"$scratch/others"
grep -q "^# cause: MKDIR .*${cause// /.040}" "$scratch/others" || fail "another user is not told causes"
! grep -Eq "^# (call: [^ ]+ latency|stack)" "$scratch/others" || fail "another user is told of slow calls: $(<"$scratch/others")"

# A reset forgets, off looks no more, and a wrong time is refused.
command_control reset
status=0
timeout 20 "$OSPROF" why "$mnt" >"$scratch/why" 2>"$scratch/err" || status=$?
grep -qx "No call that has ended took 20.0 ms or longer" "$scratch/why" || fail "a reset does not forget: $(<"$scratch/why")"
assert_eq 1 "$status" "status of osprof why where no call was slow"
command_control "slow off"
freeze "$lower"
make second
sleep 0.3
thaw
wait "$maker"
status=0
"$OSPROF" why "$mnt" >"$scratch/why" 2>"$scratch/err" || status=$?
assert_eq 2 "$status" "status of osprof why where nobody looks: $(<"$scratch/err")"
! command_control "slow 1us" 2>/dev/null || fail "takes a threshold that cannot be kept up with"

# It is there after SIGKILL, also what the call in flight waits for.
command_control "slow 0.02s"
freeze "$lower"
make third
expect_why "$live" "MKDIR +$cause$"
nap 500
kill -KILL "$daemon_pid"
thaw # before that it cannot die
wait "$daemon_pid" || true
wait "$maker" || true
maker=
"$OSPROF" save "$live" >"$scratch/recovered"
expect_why "$scratch/recovered" "^ +([4-9][0-9][0-9] ms|[0-9.]+ s) +[0-9]+  MKDIR +$cause$" # how old it was
rm "$live"
umount "$mnt"

# Causes of one's own come first, and their mistakes are reported.
echo 'my words: ^percpu_rwsem_wait' >"$scratch/causes"
mount_osproffs -o slow=20ms,causes="$scratch/causes" "$lower" "$mnt"
freeze "$lower"
make fourth
expect_why "$(live_file)" "MKDIR +my words$"
thaw
wait "$maker"
unmount_osproffs "$mnt"
expect_why "$final_profile" "MKDIR +my words$"
printf 'fine: a\nwrong\n' >"$scratch/causes"
assert_refused "causes=$scratch/causes: line 2: expected CAUSE: [^]FUNCTION [< FUNCTION]..., found no colon" \
    "$OSPROFFS" -o causes="$scratch/causes" "$lower" "$mnt"
printf 'fine: a\0wrong\n' >"$scratch/causes"
assert_refused "causes=$scratch/causes: cannot read it: it is not a text" \
    "$OSPROFFS" -o causes="$scratch/causes" "$lower" "$mnt"
mkfifo "$scratch/fifo" # nobody is waited for
mount_osproffs -o causes="$scratch/fifo" "$lower" "$mnt"
unmount_osproffs "$mnt"
umount "$lower"
