#!/bin/bash
# Time that is made to pass at one layer is found there by osprof run --layers: in the lower file system, and between the
# kernel and the daemon, which gets no answer out while it is stopped. (At the disk: trace_slow_disk; in another daemon:
# profiled_layers.)
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
# shellcheck source=../cli/trace_lib.sh
. "$tests_dir/../cli/trace_lib.sh"
OSPROF_LIBRARIES=${OSPROF_LIBRARIES%/fuse}/posix
! grep -q '__[at]san_init' "$OSPROF_LIBRARIES/libosprof_posix.so" || skip "built with a sanitizer"

need_fuse
need_counting fuse "$lower"
before_cleanup() {
    [ -z "$daemon_pid" ] || kill -CONT "$daemon_pid" 2>/dev/null || true
}

# ---- In the lower file system: 31 reads of 3 ms

head -c 126976 /dev/zero >"$lower/file"
injected=$((31 * 3000000))
SLOW_OSPROFFS=READ:3000000:1 OSPROFFS=${OSPROFFS%src/fuse/osproffs}bench/slow_osproffs \
    "$OSPROF" run --layers user,fuse,fs --mount-option cache=none -d "$lower" -q -o profile -- dd if="$lower/file" of=/dev/null bs=4k count=31 status=none
split_layers profile
assert_eq 31 "$(profile_calls READ layer.fs | head -n 1)" "reads of the file system"
at_fs=$(layer_total READ fs)
at_user=$(layer_total READ user)
[ $((at_fs * 100)) -ge $((injected * 95)) ] || fail "of $injected ns in the lower file system only $at_fs are at the layer fs"
[ "$at_user" -ge "$at_fs" ] || fail "programs waited for $at_user ns, less than the $at_fs ns of the file system"

# ---- Between kernel and daemon: it is stopped for 400 ms

mount_osproffs -o cache=none "$lower" "$mnt"
cat "$mnt/file" >/dev/null
"$OSPROF" ctl "$mnt" reset
# shellcheck disable=SC2016 # for the shell inside
"$OSPROF" run --layers user,fuse -d "$mnt" -q -o profile -- \
    sh -c 'exec 3<"$1/file"; kill -STOP "$2"; sleep 0.2; (sleep 0.4; kill -CONT "$2") & dd bs=4k count=1 of=/dev/null status=none <&3; wait' sh "$mnt" "$daemon_pid"
unmount_osproffs "$mnt"
split_layers profile
cp "$final_profile" layer.fs
at_fuse=$(layer_total READ fuse)
at_fs=$(layer_total READ fs)
at_user=$(layer_total READ user)
[ "$at_fuse" -ge 250000000 ] || fail "the kernel waited for $at_fuse ns only: the daemon was not stopped in time"
[ $(((at_fuse - at_fs) * 100)) -ge $((at_fuse * 95)) ] ||
    fail "of $at_fuse ns at the layer fuse $at_fs are at fs: not 95 % in between"
[ "$at_user" -ge "$at_fuse" ] || fail "the program waited for $at_user ns, less than the $at_fuse ns of the kernel"
