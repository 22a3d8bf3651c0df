#!/bin/bash
# osprof fuse --attach: a mount that is there already, whatever its daemon is, profiled from outside until it is unmounted
# or a signal asks to end.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need_fuse
need bpftrace
tracer=
before_cleanup() {
    [ -z "$tracer" ] || kill -KILL "$tracer" 2>/dev/null || true
    ! mountpoint -q "$mnt" || umount -l "$mnt"
}

# attached: when it traces
attached() {
    rm -f profile
    "$OSPROF" fuse --attach "$mnt" -p profile --label rack=7 2>err &
    tracer=$!
    wait_until 60 grep -q 'is profiled until it is unmounted' err || {
        grep -q 'fuse_request_send' err && skip "this kernel has no tracepoint fuse:fuse_request_send"
        fail "not attached: $(<err)"
    }
}

# ended STATUS
ended() {
    local status=0
    wait "$tracer" || status=$?
    tracer=
    assert_eq "$1" "$status" "exit status: $(<err)"
}

calls() {
    awk -v op="OP_$1" '$1 == op { found = $2 } END { print found + 0 }' profile
}

for i in $(seq 7); do
    echo line >"$lower/file$i"
done
mount_osproffs -o profile=/dev/null "$lower" "$mnt"
attached
cat "$mnt"/file[1-5] >/dev/null
all_are_closed() {
    "$OSPROF" show "$mnt" | grep -Eq '^RELEASE +5 '
}
wait_until 10 all_are_closed || fail "not all files are closed"
kill -INT "$tracer"
ended 0
assert_eq "5 5 5" "$(calls OPEN) $(calls READ) $(calls RELEASE)" "OPEN, READ and RELEASE until SIGINT"
grep -q '^# layer: fuse$' profile || fail "the layer is another"
grep -q '^# label rack: 7$' profile || fail "the label is missing"
"$OSPROF" check profile >&2 || fail "osprof check finds fault"

attached
cat "$mnt"/file[67] >/dev/null
unmount_osproffs "$mnt"
ended 0
assert_eq 2 "$(calls OPEN)" "OPEN until the unmount"

# ---- What cannot be done

assert_refused "is on no FUSE file system, and not profiled as layer fs" "$OSPROF" fuse --attach "$lower" -p profile
assert_refused "see 'osprof help fuse'" "$OSPROF" fuse --attach "$lower" -p profile -- true
assert_refused "see 'osprof help fuse'" "$OSPROF" fuse --attach "$lower" --by uid
provide_programs
assert_refused "only root may trace the kernel" as_user "$OSPROF" fuse --attach "$lower" -p "$scratch/home-user/profile"
