#!/bin/bash
# osprof attach: how much of what read calls return is in the page cache, within 1 %, on file systems of different kinds, of
# whole files and parts, cold and warm, as fincore(1) knows it.
# shellcheck disable=SC2119 # "watched" takes options of osprof attach
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need python3 fincore mkfs.ext4

fs=$scratch/fs
mkdir fs

# sum_of KIND PROFILE: of the whole
sum_of() {
    sed -n "/^# cache_$1: /{s///p;q}" "$2"
}

# cached_line PROFILE: the sentence of the page, in a line
cached_line() {
    COLUMNS=200 "$OSPROF" show "$1" | sed -n '/^cached  */{s///;p}'
}

# is_near NUMBER WANTED OF: within 1 % of OF
is_near() {
    local difference=$(($1 - $2))
    [ "$((${difference#-} * 100))" -le "$3" ]
}

# also what the kernel takes back for want of memory
cache_drops() {
    grep -E '^(drop_|pgsteal_)' /proc/vmstat
}

# undisturbed COMMAND...: while no test drops caches; again, if they have been emptied since the last one, as by others
drops=$(cache_drops)
undisturbed() {
    local before=unknown
    until [ "$before" = "$drops" ]; do
        before=$drops
        with_caches "$@"
        drops=$(cache_drops)
    done
}

read_file() {
    python3 "$tests_dir/../cli/reads.py" "$fs/dir/file" "$1" >known
}

# count_reads KIND...: one after the other, in a window of their own
count_reads() {
    local kind
    "$OSPROF" ctl "$fs" reset
    for kind; do
        read_file "$kind"
    done
    "$OSPROF" save "$fs" -o now
}

# reads KIND: and compares what is counted with what is known
reads() {
    local hits of read missed
    undisturbed count_reads "$1"
    read -r hits of <known
    read=$(sum_of read now) missed=$(sum_of missed now)
    [ "$hits" != - ] || {
        assert_eq "0 0 $size" "$read $missed $(sum_of unjudged now)" "bytes of $1 on $fs: read, missed, not judged"
        return
    }
    assert_eq "$of" "$read" "bytes that $1 reads on $fs"
    is_near $((read - missed)) "$hits" "$of" || fail "$1 on $fs: $((read - missed)) of $of bytes are hits, not $hits"
    [ "$(sum_of unjudged now)" = 0 ] || fail "$1 on $fs: some are not judged"
}

# by_file PROFILE FILE: in percent
by_file() {
    COLUMNS=120 "$OSPROF" show --by file "$1" | awk -v file="$2" '$NF == file { print $(NF - 2) }'
}

# mounted TYPE IMAGE_SIZE: with a file
mounted() {
    truncate -s "$2" image
    "mkfs.$1" -q image >mkfs 2>&1 || fail "mkfs.$1: $(<mkfs)"
    mount -o loop image "$fs" || return 1
    rm image # the loop device has it
    make_file
}

size=6000123
make_file() {
    mkdir "$fs/dir"
    head -c "$size" /dev/urandom >"$fs/dir/file"
    sync "$fs/dir/file"
}

stopped() {
    kill -INT "$watcher"
    ended 0
}

mounted ext4 40M || skip "no loop devices"

# ---- One file system in detail

watched
for kind in cold warm in_pieces warm at_once half at_random at_random_twice again_and_again two_files threads mapped direct; do
    reads "$kind"
done

# Sentences and files
read_two_files() {
    "$OSPROF" ctl "$fs" reset
    read_file cold
    head -c 65536 "$fs/dir/file" >"$fs/dir/small"
    cat "$fs/dir/small" >"$scratch/copy"
    "$OSPROF" save "$fs" -o now
}
undisturbed read_two_files
assert_eq "0.0 100.0" "$(by_file now /dir/file | sed 's/^0\.[0-9]$/0.0/; s/^1\.[0-9]$/0.0/') $(by_file now /dir/small)" "hits of a cold file, and of one that has just been written"
cached_line now | grep -Eq '^[0-3]\.[0-9] % of the 5\.8[0-9] MiB that read calls returned$' || fail "of the whole: $(cached_line now)"
COLUMNS=120 "$OSPROF" show --by directory now | grep -Eq ' [0-3]\.[0-9] %  /dir$' || fail "of the directory: $("$OSPROF" show --by directory now)"
"$OSPROF" show "$fs" | grep -Eq '^cached ' || fail "osprof show DIR does not say it"
"$OSPROF" show --check now >&2 || fail "osprof show --check finds fault"

# Each window has its own.
read_in_two_windows() {
    rm -f first
    read_two_files
    read_file warm
    "$OSPROF" save --rotate "$fs" -o first
    read_file warm
    "$OSPROF" save "$fs" -o second
}
undisturbed read_in_two_windows
assert_eq "all of the 5.72 MiB that read calls returned" "$(cached_line second)" "after a rotation"
assert_eq "100.0" "$(by_file second /dir/file)" "of the file, after a rotation"
assert_eq $((2 * size + 2 * 65536)) "$(sum_of read first)" "bytes before the rotation"

# O_DIRECT beside reads by way of the cache; nothing of what only writes, and copies in the kernel.
undisturbed count_reads warm direct
beside='(O_DIRECT, DAX, tmpfs, FUSE, overlayfs and the like)'
assert_eq "all of the 5.72 MiB that read calls returned; not judged: 5.72 MiB $beside" "$(cached_line now)" "with O_DIRECT"
"$OSPROF" ctl "$fs" reset
echo line >"$fs/dir/written"
python3 -c 'import os, sys
a, b = (os.open(sys.argv[1] + name, os.O_RDWR | os.O_CREAT) for name in ("/dir/file", "/dir/copy"))
os.sendfile(b, a, 0, 100000)' "$fs"
"$OSPROF" save "$fs" -o now
assert_eq "" "$(cached_line now)" "without read calls"

# What a live file keeps
count_reads half
kill -KILL "$watcher"
wait "$watcher" 2>/dev/null || true
watcher=
"$OSPROF" save -o recovered --remove "$(find "$XDG_RUNTIME_DIR/osprof" -name '*-*.live')"
assert_eq "$(grep '^# cache_' now | head -n 3)" "$(grep '^# cache_' recovered)" "what is recovered of one that was killed"
umount "$fs"

# ---- Others: large folios; several disks; in memory

for type in xfs btrfs; do
    have "mkfs.$type" || continue
    mounted "$type" 320M || continue
    watched
    for kind in cold warm in_pieces at_once half at_random threads; do
        reads "$kind"
    done
    stopped
    umount "$fs"
done

# is_not_judged WHERE
is_not_judged() {
    watched
    read_file warm
    stopped
    assert_eq "not judged: 5.72 MiB $beside" "$(cached_line profile)" "$1"
    tr -s '\n ' ' ' <out | grep -qF "cached not judged: 5.72 MiB $beside" || fail "$1, the page does not say so: $(<out)"
}

mount -t tmpfs tmpfs fs
make_file
is_not_judged "in memory"
umount "$fs"

fs=$lower make_file
mkdir empty
if mount -t overlay overlay -o "lowerdir=$lower:empty" fs 2>/dev/null; then
    is_not_judged "on overlayfs"
    umount "$fs"
fi
if [ -w /dev/fuse ]; then
    mount_osproffs -o profile=/dev/null "$lower" "$mnt"
    fs=$mnt
    is_not_judged "on FUSE"
    unmount_osproffs "$mnt"
fi
