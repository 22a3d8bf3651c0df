#!/bin/bash
# osprof attach --layers fuse: a mount that is there already, whatever its daemon is, profiled from outside until it is unmounted
# or a signal asks to end. Meanwhile its profile is that of the mount to all commands, and counts exactly.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need_fuse
need_part bpf
tracer=
tracer2=
raw=
before_cleanup() {
    local pid
    for pid in $tracer $tracer2; do
        kill -KILL "$pid" 2>/dev/null || true
    done
    ! mountpoint -q "$mnt" || umount -l "$mnt"
    [ -z "$raw" ] || kill -KILL "$raw" 2>/dev/null || true
}

# is_attached PID FILE: it traces, or has ended
is_attached() {
    grep -qs 'are counted until it is unmounted' "$2" || ! kill -0 "$1" 2>/dev/null
}

# attached [OPTION]...: when it counts
attached() {
    rm -f profile err
    "$OSPROF" attach --layers fuse "$mnt" -o profile --label rack=7 "$@" 2>err >page &
    tracer=$!
    wait_until 60 is_attached "$tracer" err || fail "it does not begin to trace"
    grep -q 'are counted until it is unmounted' err || {
        grep -Eq 'no tracepoint|vmlinux is missing' err && skip "$(<err)"
        fail "not attached: $(<err)"
    }
}

# ended STATUS
ended() {
    local status=0
    wait "$tracer" || status=$?
    tracer=
    assert_eq "$1" "$status" "exit status: $(<err)"
    assert_eq "" "$(find "$XDG_RUNTIME_DIR/osprof" -name '*-*.*')" "what is left of it"
}

# calls OP [PROFILE]
calls() {
    awk -v op="OP_$1" '$1 == op { found = $2 } END { print found + 0 }' "${2:-profile}"
}

# live OP [MOUNT]: its calls so far
live() {
    "$OSPROF" save "${2:-$mnt}" -o "$scratch/now"
    calls "$1" "$scratch/now"
}

# has_live COUNT OP
has_live() {
    [ "$(live "$2")" -eq "$1" ]
}

# ---- A mount of osproffs: its own profile is shown as before, and the other one by its socket

for i in $(seq 7); do
    echo line >"$lower/file$i"
done
mount_osproffs -o profile=/dev/null "$lower" "$mnt"
attached
socket=$(sed -n 's/.*this one is \(.*\.sock\) to .*/\1/p' err)
[ -S "$socket" ] || fail "no socket is told of: $(<err)"
cat "$mnt"/file[1-5] >/dev/null
all_are_closed() {
    "$OSPROF" show "$mnt" | grep -Eq '^RELEASE +5 '
}
wait_until 10 all_are_closed || fail "not all files are closed"
! "$OSPROF" show "$mnt" | grep -Eq '^layer +fuse$' || fail "osproffs's profile is not shown any more"
"$OSPROF" show "$socket" | grep -Eq '^layer +fuse$' || fail "the profile is not shown by its socket"
assert_eq 5 "$(live OPEN "$socket")" "OPEN by the socket"
kill -INT "$tracer"
ended 0
assert_eq "5 5 5" "$(calls OPEN) $(calls READ) $(calls RELEASE)" "OPEN, READ and RELEASE until SIGINT"
grep -q '^# layer: fuse$' profile || fail "the layer is another"
grep -q '^# label rack: 7$' profile || fail "the label is missing"
! grep '^# mount:' profile || fail "the profile displaces that of osproffs"
grep -Eq 'elapsed; calls to .*/mnt took ' page || fail "no page is printed: $(<page)"
! grep -E '^cost ' page || fail "what system calls cost is told of requests"
"$OSPROF" save @1 2>/dev/null | cmp - profile || fail "the result is not kept"
[ ! -e osprof.out ] || fail "a profile that nobody asked for"
"$OSPROF" show --check profile >&2 || fail "osprof show --check finds fault"

unmount_osproffs "$mnt"

# ---- A mount of another daemon: all commands know it by its mount point

"$TEST_PROGRAMS/raw_daemon" plain "$mnt" &
raw=$!
wait_until 20 mountpoint -q "$mnt" || fail "raw_daemon does not mount"

# read_file TIMES: each is OPEN, READ, FLUSH and RELEASE
read_file() {
    for _ in $(seq "$1"); do
        assert_eq 12345 "$(dd if="$mnt/file" bs=5 count=1 status=none)" "what the file holds"
    done
}

attached
! grep -q sock err || fail "it is told of by another name: $(<err)"
read_file 7
assert_eq 7 "$(live READ)" "READ while it is traced"
"$OSPROF" show "$mnt" | grep -Eq '^READ +7 ' || fail "osprof show does not show what was just read"
"$OSPROF" show "$mnt" | grep -Eq '^layer +fuse$' || fail "osprof show shows another profile"
"$OSPROF" show --check now >&2 || fail "osprof show --check finds fault with what is dumped"
grep -qx "# mount: $mnt" now || fail "the mount is not in the profile"
grep -q '^# longest' now || fail "the longest call is not told"

"$OSPROF" top --batch --ascii --delay 1 --count 3 "$mnt" >top.txt &
top=$!
wait_until 20 test -s top.txt || fail "osprof top prints nothing"
read_file 3
wait "$top"
assert_eq 3 "$(awk '/^READ / { n += $4 } END { print n + 0 }' top.txt)" "READ in osprof top"

wait_until 20 has_live 10 RELEASE || fail "not all files are closed"
"$OSPROF" ctl "$mnt" reset
"$OSPROF" save "$mnt" -o now
! grep '^OP_' now || fail "something is left after a reset"
read_file 5
"$OSPROF" save --rotate "$mnt" -o rotated
assert_eq 5 "$(calls READ rotated)" "READ until the rotation"
assert_refused "osprof: $mnt: rotate $mnt/now: the file lies in the mount itself" "$OSPROF" save --rotate "$mnt" -o "$mnt/now"
read_file 3
"$OSPROF" save --rotate "$mnt" -o rotated
assert_eq "3 5" "$(calls READ rotated) $(calls READ rotated.old)" "READ until the next rotation, and before"
read_file 2
assert_eq 2 "$(live READ)" "READ since the rotation"

# It is no profile of what the daemon does, and slow calls are not seen.
assert_refused "mnt lies on no mount that osprof fuse profiles" "$OSPROF" run --layers daemon -d "$mnt" -o none -- true
"$OSPROF" why "$mnt" 2>why.txt && fail "osprof why says something"
grep -q "nobody looked for slow calls" why.txt || fail "osprof why: $(<why.txt)"

# ---- Another one at the same mount

rm -f err2
"$OSPROF" attach --layers fuse "$mnt" -q -o profile2 2>err2 &
tracer2=$!
wait_until 60 is_attached "$tracer2" err2 || fail "the second one does not begin to trace"
read_file 3
socket=$(sed -n 's/.*this one is \(.*\.sock\) to .*/\1/p' err2)
assert_eq "3 5" "$(live READ "$socket") $(live READ)" "READ of both"
"$OSPROF" ctl "$socket" reset
assert_eq "0 5" "$(live READ "$socket") $(live READ)" "READ of both after a reset of the second"
kill -TERM "$tracer2"
wait "$tracer2" || fail "exit status of the second one: $(<err2)"
tracer2=

# ---- Others may not look, nor change anything

assert_eq "600 600" "$(stat -c %a "$XDG_RUNTIME_DIR"/osprof/*-*.live "$XDG_RUNTIME_DIR"/osprof/*-*.sock | xargs)" "modes"
provide_programs
as_root_sees() {
    as_user env XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" "$@"
}
! as_root_sees "$OSPROF" ctl "$mnt" reset 2>/dev/null || fail "another user has reset the profile"
! as_root_sees "$OSPROF" show "$mnt" 2>/dev/null || fail "another user has seen the profile"
assert_eq 5 "$(live READ)" "READ after another user has tried"

# ---- Killed: what was counted is in the live file

live_file=$(find "$XDG_RUNTIME_DIR/osprof" -name '*-*.live')
kill -KILL "$tracer"
wait "$tracer" 2>/dev/null || true
tracer=
"$OSPROF" save -o recovered --remove "$live_file"
assert_eq 5 "$(calls READ recovered)" "READ in what is recovered"
assert_eq "" "$(ls "$XDG_RUNTIME_DIR/osprof")" "what is left of what was recovered"

# ---- Of each interval, and of latencies above two seconds

attached --interval 100ms --resolution 2
read_file 2
sleep 0.3
read_file 1
kill -STOP "$raw"
{ dd if="$mnt/file" bs=5 count=1 status=none >late & } 2>/dev/null
reader=$!
sleep 3
kill -CONT "$raw"
wait "$reader"
assert_eq 12345 "$(<late)" "what the file holds"
assert_eq 2 "$("$OSPROF" save "$mnt" -o now; sed -n 's/^# resolution: //p' now)" "resolution"
kill -TERM "$tracer"
ended 0
intervals=$(sed -n 's/^# borders: //p' profile | wc -w)
[ "$intervals" -ge 25 ] || fail "$intervals intervals of 100 ms in 3.3 s"
longest_ns=$(sed -n 's/^# longest: [A-Z]* \([0-9]*\) .*/\1/p' profile | sort -n | tail -n 1)
[ "$longest_ns" -ge 2500000000 ] || fail "the request that waited for 3 s took $longest_ns ns"
"$OSPROF" show --check profile >&2 || fail "osprof show --check finds fault"

# ---- The mount has gone: who looks at the profile then waits until it is there

attached
read_file 2
umount "$mnt"
"$OSPROF" show profile | grep -Eq '^READ +2 ' || fail "the final profile is not waited for"
ended 0
wait "$raw"
raw=

# ---- The number and the place of a mount that has ended are given to another one at once

start_raw() {
    "$TEST_PROGRAMS/raw_daemon" plain "$mnt" &
    raw=$!
    wait_until 20 mountpoint -q "$mnt" || fail "raw_daemon does not mount"
}

start_raw
attached
umount "$mnt"
wait "$raw"
start_raw
ended 0
! grep '^OP_\(INIT\|READ\) ' profile || fail "calls of another mount are counted"

# ---- A daemon that hangs: who attaches to a path below its mount can be ended, and to the mount is not hindered

is_dead() {
    ! kill -0 "$1" 2>/dev/null
}

kill -STOP "$raw"
attached
"$OSPROF" show "$mnt" | grep -Eq '^layer +fuse$' || fail "the profile of a mount that hangs is not shown"
kill -TERM "$tracer"
ended 0
for path in "-o profile $mnt/below" "-o $mnt/below/profile $mnt"; do
    # shellcheck disable=SC2086 # options
    "$OSPROF" attach --layers fuse $path 2>/dev/null >&2 &
    tracer=$!
    sleep 0.5
    kill -TERM "$tracer"
    wait_until 10 is_dead "$tracer" || fail "osprof attach --layers fuse $path cannot be ended"
    wait "$tracer" || true
    tracer=
done
kill -CONT "$raw"
umount "$mnt"
wait "$raw"
raw=

# ---- What cannot be done

assert_refused "No such file or directory" "$OSPROF" attach --layers fuse "$lower/none" -o profile
assert_refused "; leave out --layers fuse" "$OSPROF" attach --layers fuse "$lower" -o profile
assert_refused "the mount must be given; see 'osprof help attach'" "$OSPROF" attach --layers fuse
assert_refused "see 'osprof help attach'" "$OSPROF" attach --layers fuse "$lower" -o profile -- true
assert_refused "see 'osprof help attach'" "$OSPROF" attach --layers fuse "$lower" --by process
assert_refused "see 'osprof help attach'" "$OSPROF" attach --layers fuse "$lower" --slow 10ms
assert_refused "see 'osprof help attach'" "$OSPROF" attach --layers fuse "$lower" --resolution 8
assert_refused "cannot watch $lower: this takes root, or the capabilities CAP_BPF and CAP_PERFMON; try sudo ('osprof doctor' lists what works here)" \
    as_user "$OSPROF" attach --layers fuse "$lower" -o "$scratch/home-user/profile"
mount_osproffs -o profile=/dev/null "$lower" "$mnt"
assert_refused "it lies in the mount itself; name another file with -o" "$OSPROF" attach --layers fuse "$mnt" -o "$mnt/profile"
rm -f err profile
XDG_RUNTIME_DIR=/proc "$OSPROF" attach --layers fuse "$mnt" -o profile 2>err &
tracer=$!
wait_until 60 is_attached "$tracer" err || fail "it does not begin to trace"
grep -q "has no live profile, only a final one: nothing can be made in /proc/osprof" err || fail "no directory: $(<err)"
cat "$mnt"/file[1-3] >/dev/null
kill -TERM "$tracer"
ended 0
assert_eq 3 "$(calls OPEN)" "OPEN without a live profile"
unmount_osproffs "$mnt"
