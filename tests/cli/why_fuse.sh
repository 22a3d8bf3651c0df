#!/bin/bash
# osprof why -a, and osprof attach --slow: whose daemon a thread waits for that follows a name, and has no descriptor yet. Two
# daemons stand still, or one.
# Then a wait that has no cause by name.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"

need_root
need_fuse
need python3
"$OSPROF" why -a --for 100ms >/dev/null 2>"$scratch/err" || skip "$(cat "$scratch/err")"

daemons=()
started=()
before_cleanup() {
    [ ${#daemons[@]} = 0 ] || kill -CONT "${daemons[@]}" 2>/dev/null || true
    [ ${#started[@]} = 0 ] || kill -KILL "${started[@]}" 2>/dev/null || true
    wait "${started[@]}" 2>/dev/null || true
}

mkdir lower_a lower_b a b
echo text >lower_a/file
ln -s "$scratch/b" lower_a/to_b
ln -s "$scratch/b" link
for view in a b; do
    mount_osproffs -o profile=/dev/null,cache=none "$scratch/lower_$view" "$scratch/$view"
    daemons+=("$daemon_pid")
done

grep -qs fuse_connection /proc/"$daemon_pid"/fdinfo/* || skip "this kernel does not tell whose a FUSE mount is"

# The calls: a directory of b is open, which absolute names have nothing to do with.
cat >call.py <<'END'
import os, sys
directory = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
print("ready", flush=True)
sys.stdin.readline()
try:
    if sys.argv[2] == "open":
        os.open(sys.argv[3], os.O_RDONLY, dir_fd=directory)
    else:
        os.stat(sys.argv[3], dir_fd=directory)
except FileNotFoundError:
    pass
END

# begin CALL NAME: when it may call; sets caller
begin() {
    rm -f go ready
    mkfifo go ready
    python3 call.py "$scratch/b" "$@" <go >ready &
    caller=$!
    started+=("$caller")
    exec {go}>go
    gos+=("$go")
    read -r _ <ready
}

# It waits where requests to daemons do.
waits_for_daemon() {
    grep -q fuse "/proc/$1/stack"
}

# says CALLER VIEW DAEMON
says() {
    expect 0 why -a --width 1000 --pid "$1" --for 300ms
    grep -qE "$1 waits for the FUSE file system $scratch/$2, served by osproffs $3, which is stopped\$" out ||
        fail "it is not $2's daemon, $3: $(<out)"
    says_not "$scratch/$([ "$2" = a ] && echo b || echo a),"
}

says_not() {
    ! grep -qE -- "$1" out || fail "says: $1: $(<out)"
}

# ---- Both stand still: which one it is, is known by where the name has led

gos=()
callers=()
calls=("open $scratch/a/one" "stat $scratch/a/two" "open three" "stat four" "open $scratch/link/five" "open $scratch/b/six/seven")
views=(a a b b b b)
for call in "${calls[@]}"; do
    read -r what name <<<"$call"
    begin "$what" "$name"
    callers+=("$caller")
done
"$OSPROF" attach -q --slow 500ms --slowlog slow.log --pid "$(IFS=, && echo "${callers[*]}")" 2>attach.log &
watcher=$!
started+=("$watcher")
wait_until 60 grep -qs 'are counted ' attach.log || fail "osprof attach does not begin: $(<attach.log)"
for daemon in "${daemons[@]}"; do hang_daemon "$daemon"; done
for go in "${gos[@]}"; do echo >&"$go"; done
for i in "${!callers[@]}"; do
    wait_until 60 waits_for_daemon "${callers[i]}" || fail "${calls[i]} does not wait"
done
for i in "${!callers[@]}"; do
    [ "${views[i]}" = a ] && daemon=${daemons[0]} || daemon=${daemons[1]}
    says "${callers[i]}" "${views[i]}" "$daemon"
done
kill -CONT "${daemons[@]}"
for caller in "${callers[@]}"; do wait "$caller" || fail "a call fails"; done
wait "$watcher" || fail "osprof attach fails: $(<attach.log)"

# osprof attach has looked at each in its turn, and says of none that it waits for the other daemon.
for i in "${!callers[@]}"; do
    [ "${views[i]}" = a ] && daemon=${daemons[0]} || daemon=${daemons[1]}
    holder=$(sed -n 's/.* "pid": '"${callers[i]}"',.*"holder": "\([^"]*\)".*/\1/p' slow.log)
    assert_eq "the FUSE file system $scratch/${views[i]}, served by osproffs $daemon, which is stopped" "$holder" \
        "${calls[i]} in the log of osprof attach: $(<slow.log)"
done

# ---- One stands still: a link in the other view leads to it, and the other is never named

gos=()
begin open "$scratch/a/to_b/none"
hang_daemon "${daemons[1]}"
echo >&"${gos[0]}"
wait_until 60 waits_for_daemon "$caller" || fail "it does not wait"
says "$caller" b "${daemons[1]}"
kill -CONT "${daemons[1]}"
wait "$caller" || fail "the call fails"

# ---- A second look-up of a name waits for the first, which the table of causes does not have: its function stands there, and its share

waits_for_look_up() {
    grep -q d_alloc_parallel "/proc/$1/stack"
}

gos=()
begin open "$scratch/a/same"
first=$caller
begin open "$scratch/a/same"
second=$caller
hang_daemon "${daemons[0]}"
echo >&"${gos[0]}"
wait_until 60 waits_for_daemon "$first" || fail "it does not wait"
echo >&"${gos[1]}"
wait_until 60 waits_for_look_up "$second" || skip "two look-ups of a name do not wait for each other here"
sees() { # PID...
    local pids
    pids=$(IFS=, && echo "$*")
    expect 0 why -a --width 1000 --pid "$pids" --for 300ms
}
sees "$second"
grep -qE '^All of that time it was waiting in the kernel function d_alloc_parallel: ' out || fail "no function: $(<out)"
grep -qE '^ +100\.0 % .* waiting in the kernel function d_alloc_parallel \(1 still\)$' out || fail "no row: $(<out)"
grep -qE '^100\.0 % of it has no cause by name, only the kernel'"'"'s function\.$' out || fail "no share: $(<out)"
sees "$first"
says_not 'no cause by name|in the kernel function'
sees "$first" "$second"
grep -qE '^(49|50|51)\.[0-9] % of it has no cause by name, only the kernel'"'"'s function\.$' out || fail "no half: $(<out)"
kill -CONT "${daemons[0]}"
for caller in "$first" "$second"; do wait "$caller" || fail "a call fails"; done

# ---- None does: who waits for something else waits for no daemon

sleep 60 &
started+=("$!")
expect 0 why -a --width 1000 --pid "$!" --for 300ms
says_not 'FUSE'
for view in a b; do unmount_osproffs "$scratch/$view"; done
daemons=()
