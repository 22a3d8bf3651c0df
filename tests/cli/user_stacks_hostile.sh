#!/bin/bash
# Programs that keep osprof attach --stacks from reading others: their names or unwind tables take long to read, they map many
# files, or their file system hangs. Callers of others are found meanwhile, and osprof show and the end do not wait.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need_fuse
need_part stacks
need python3 pgrep pkill setpriv strip unshare
mkdir fs programs below inner outer
mount -t tmpfs tmpfs fs
fs=$scratch/fs
export XDG_STATE_HOME=$scratch/state
chmod 755 "$scratch"
chmod 1777 fs

stopped=
before_cleanup() {
    [ -z "$stopped" ] || kill -CONT "$stopped"
    kill_watchers
}

# known PROGRAM: "CALLS CALLER" lines
known() {
    "$OSPROF" why --json "$fs" | python3 -c '
import json, sys
for caller in json.load(sys.stdin).get("slow_callers", []):
    if caller["program"] == sys.argv[1]:
        print(caller["calls"], caller["function"])' "$1"
}
# expect_known: all calls of an honest program
cp "$TEST_PROGRAMS/slow_pointers" programs/honest
is_counted() {
    known honest | grep -q "^$1 "
}
honest_calls=0
expect_known() {
    honest_calls=$((honest_calls + 5))
    programs/honest "$fs/honest" 5 0 </dev/null || fail "the honest program fails"
    wait_until 60 is_counted "$honest_calls" || fail "callers $1 are not found: $("$OSPROF" why "$fs")"
    assert_eq "$honest_calls commit_row" "$(known honest)" "callers $1"
}
# hostile NAME CALLS: as somebody else
hostile() {
    setpriv --reuid "$user_uid" --clear-groups "programs/$1" "$fs/$1" "$2" 0 </dev/null || fail "the program $1 fails"
}
# lasts SECONDS COMMAND...: fails if it takes longer
lasts() {
    local limit_ms=$(($1 * milliseconds_per_second)) begin took_ms
    shift
    begin=$(date +%s%N)
    "$@"
    took_ms=$((($(date +%s%N) - begin) / 1000000))
    [ "$took_ms" -le "$limit_ms" ] || fail "$* waits for what reads programs, $took_ms ms"
}
end_watcher() {
    kill -INT "$watcher"
    ended 0
    honest_calls=0
}

# ---- 2,000 functions at one address, whose names are those that begin in 64 MiB without an end

cp "$TEST_PROGRAMS/slow_fixed" programs/names
strip programs/names
python3 - programs/names <<'CODE'
import struct, sys
FUNCTIONS, NAMES = 2000, 64 << 20
path = sys.argv[1]
elf = bytearray(open(path, "rb").read())
(entry,), (headers,) = struct.unpack_from("<Q", elf, 24), struct.unpack_from("<Q", elf, 40)
(header_bytes, count) = struct.unpack_from("<HH", elf, 58)
kept = elf[headers:headers + count * header_bytes]
elf += bytes(-len(elf) % 16)
symbols = len(elf)
for i in range(FUNCTIONS):
    elf += struct.pack("<IBBHQQ", 1 + i, 0x12, 0, 1, entry + 1, 1 << 20)
names = len(elf)
elf += b"\0" + b"_" * (NAMES - 1)
struct.pack_into("<Q", elf, 40, len(elf))
struct.pack_into("<H", elf, 60, count + 2)
elf += kept
elf += struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, symbols, 24 * FUNCTIONS, count + 1, 0, 8, 24)
elf += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, names, NAMES, 0, 0, 1, 0)
open(path, "wb").write(elf)
CODE
watched --slow 10ms --stacks
hostile names 2
expect_known "beside huge names"
[[ "$(known names)" =~ ^2\ _{92}\.\.\.$ ]] || fail "names: $(known names)"
end_watcher

# ---- Unwind tables of millions of instructions: each call takes long, and then the file is not read any more

cp "$TEST_PROGRAMS/slow_tables" programs/tables
watched --slow 10ms --stacks
hostile tables 40 &
others+=("$!")
wait_until 60 grep -q . <(known tables) || true
lasts 3 "$OSPROF" show "$fs" >&2
expect_known "beside long unwind tables"
wait "${others[0]}" || fail "the hostile program fails"
others=()
is_left_alone() {
    hostile tables 10
    known tables | grep -Eq "\(not known: (its program cannot be read|its user's programs take too long to read)\)$"
}
wait_until 60 is_left_alone || fail "a file that takes long is read for ever: $(known tables)"
expect_known "of a user whose programs do not take long"
lasts 5 end_watcher

# ---- A program that has more files mapped as code than are open at a time

mkdir -m 777 mapped
mkfifo held
cp "$TEST_PROGRAMS/mapped_files" programs/mapped_files
watched --slow 10ms --stacks
setpriv --reuid "$user_uid" --clear-groups programs/mapped_files "$fs/mapped" "$scratch/mapped" 600 <"$scratch/held" &
others=("$!")
exec 8>"$scratch/held"
is_asked_about() {
    known mapped_files | awk '{ calls += $1 } END { exit calls != 3 }'
}
wait_until 60 is_asked_about || fail "the slow calls of the hostile program are not seen: $(known mapped_files)"
expect_known "beside a program of many files"
exec 8>&-
wait "${others[0]}" || fail "the hostile program fails"
others=()
end_watcher

# ---- A program on a file system whose daemon has taken a request, and does not answer: who waits for it cannot be killed

cp "$TEST_PROGRAMS/slow_pointers" below/hung
mount_osproffs below inner
inner=${pid_of[inner]}
mount_osproffs -o allow_other,cache=none inner outer
mkfifo stay
outer/hung "$fs/hung" 400 0 <stay &
hung=$!
exec 7>stay
wait_until 30 test -e fs/hung || fail "the program does not begin"
nap 500 # until it has all its pages
kill -STOP "$inner"
stopped=$inner
watched --slow 10ms --stacks
is_refused() {
    known hung | grep -q '(not known: its program cannot be read)$'
}
wait_until 60 is_refused || fail "what is on a file system that hangs is not left alone: $(known hung)"
# hanging: the names of readers that cannot be killed
hanging() {
    pgrep -P "$(pgrep -P "$watcher" -x osprof-stacks)" | xargs -I {} cat /proc/{}/stat | awk '$3 == "D" { print $2 }' | sort -u
}
assert_eq "(osprof-stacks-1)" "$(hanging)" "readers that hang"
expect_known "beside a file system that hangs"
lasts 5 end_watcher
kill -CONT "$inner"
stopped=
kill "$hung"
exec 7>&-
wait "$hung" || true
unmount_osproffs outer || fail "the daemon of outer fails"
unmount_osproffs inner || fail "the daemon of inner fails"

# ---- The same as root of a container does it, below overlayfs, which asks the daemon as that root: no other program has its reader

cat >container <<'END'
set -e
trap 'kill -CONT $inner && kill $inner $outer' EXIT
mount -t tmpfs tmpfs /mnt
mkdir /mnt/below /mnt/inner /mnt/outer /mnt/empty /mnt/over
cp programs/honest /mnt/below/hidden
"$OSPROFFS" -f -o live=none,profile=/mnt/profile /mnt/below /mnt/inner &
inner=$!
for _ in {1..300}; do ! mountpoint -q /mnt/inner || break; sleep 0.1; done
"$OSPROFFS" -f -o live=none,profile=/mnt/profile,cache=none /mnt/inner /mnt/outer &
outer=$!
for _ in {1..300}; do ! mountpoint -q /mnt/outer || break; sleep 0.1; done
mount -t overlay -o lowerdir=/mnt/outer:/mnt/empty overlay /mnt/over
echo $inner >fs/daemon
/mnt/over/hidden fs/hidden 4000 0 <&8
END
chmod 755 programs programs/honest
exec 8<>stay
setpriv --reuid "$user_uid" --clear-groups unshare --user --map-root-user --mount bash container &
container=$!
has_begun_or_ended() {
    [ -e fs/hidden ] || ! kill -0 "$container" 2>/dev/null
}
wait_until 60 has_begun_or_ended || fail "the container does not begin"
if [ -e fs/hidden ]; then
    nap 500
    stopped=$(<fs/daemon)
    kill -STOP "$stopped"
    watched --slow 10ms --stacks
    is_hidden() {
        known hidden | grep -q '(not known: its program cannot be read)$'
    }
    wait_until 60 is_hidden || fail "the container's program is not left alone: $(known hidden)"
    assert_eq "(osprof-stacks-2)" "$(hanging)" "readers that hang because of the container"
    expect_known "beside a container whose file system hangs"
    lasts 5 end_watcher
    kill -CONT "$stopped"
    stopped=
    pkill -P "$container" hidden
else
    echo "not tested: overlayfs cannot be mounted in a user namespace here"
fi
exec 8>&-
wait "$container" || true
