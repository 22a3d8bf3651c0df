#!/bin/bash
# osprof attach: a directory on a file system that a daemon serves. One that is not there is refused, symbolic links are
# followed, /proc/PID/root names it too, and a daemon that does not answer, or has ended, hinders nothing.
# shellcheck disable=SC2119 # "watched" takes options of osprof attach
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need_fuse
need pgrep

# attached NAME WORDS: it is counted, with these words about what
attached() {
    "$OSPROF" attach -q --for 100ms "$1" 2>err || fail "$1 is not counted: $(<err)"
    grep -qF "osprof: $2 are counted for 0.1 s" err || fail "$1: $(<err)"
}

mkdir "$lower/dir"
touch "$lower/file"
mount_osproffs -o profile=/dev/null,cache=none "$lower" "$mnt"
daemon=$daemon_pid
ln -s "$mnt/dir" link
of_mount="calls of all programs on $mnt (fuse.osproffs)"
of_all="calls of all programs on all of $mnt (fuse.osproffs)"

# ---- The daemon answers

attached "$mnt" "$of_mount"
attached "$mnt/dir" "$mnt/dir is no mount point: $of_all"
attached link "$mnt/dir is no mount point: $of_all"
attached "/proc/$$/root$mnt" "$of_mount"
attached "/proc/$$/root$mnt/dir" "/proc/$$/root$mnt/dir is no mount point: $of_all"
! grep 'does not answer' err || fail "the daemon has answered"
for name in "$mnt/none" "/proc/$$/root$mnt/none" "$mnt/none/deep"; do
    assert_refused "cannot watch $name: No such file or directory" "$OSPROF" attach --for 100ms "$name"
done
assert_refused "cannot watch $mnt/file: Not a directory" "$OSPROF" attach --for 100ms "$mnt/file"

# ---- It stands still: nothing waits for longer than is said, and nobody is left who waits

kill -STOP "$daemon"
for name in "$mnt/dir" "/proc/$$/root$mnt/dir"; do
    begin=$SECONDS
    attached "$name" "$name is no mount point: $of_all"
    [ $((SECONDS - begin)) -lt 60 ] || fail "it waited for $((SECONDS - begin)) s"
    assert_eq "osprof: $name does not answer within 3 s: whether it is there is not known, and its name is taken as it stands" \
        "$(head -n 1 err)" "what is said of $name"
done
nobody_asks() {
    ! pgrep -f "attach -q --for 100ms .*$mnt" >/dev/null
}
wait_until 20 nobody_asks || fail "a process is left that asks: $(pgrep -af "$mnt")"
kill -CONT "$daemon"
attached "$mnt/dir" "$mnt/dir is no mount point: $of_all"

# ---- It has ended

kill -KILL "$daemon"
wait "$daemon" 2>/dev/null || true
attached "$mnt/dir" "$mnt/dir is no mount point: $of_all"
assert_eq "osprof: $mnt/dir does not answer (Transport endpoint is not connected): whether it is there is not known, and its name is taken as it stands" \
    "$(head -n 1 err)" "what is said of a daemon that has ended"
umount "$mnt"
