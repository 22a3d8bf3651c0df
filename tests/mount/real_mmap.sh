#!/bin/bash
# What programs write through shared mappings arrives below, moves the modification time, agrees with read(2) and
# write(2) on the same file, and is there after a remount. With cache=none since Linux 6.6: earlier kernels share no
# mappings of files that they must not cache.
. "$(dirname "$0")/lib.sh"

mapper() {
    "$TEST_PROGRAMS/mmap_writer" "$@"
}

caches=(auto always)
! kernel_is_from 6.6 || caches+=(none)
for cache in "${caches[@]}"; do
    mount_osproffs -o "cache=$cache" "$lower" "$mnt"
    file=mapped-$cache

    mapper write "$mnt/$file" 1031 7
    mapper verify "$lower/$file" 1031 7
    mapper verify "$mnt/$file" 1031 7

    touch -d @1000000000 "$mnt/$file"
    mapper update "$mnt/$file" 1031 11
    [ "$(stat -c %Y "$mnt/$file")" -gt 1000000000 ] || fail "a mapped write did not move the modification time"
    mapper verify "$lower/$file" 1031 11
    mapper coherent "$mnt/coherent-$cache"

    assert_same_view "$lower" "$mnt"
    unmount_osproffs "$mnt"
    assert_profiled WRITE READ FSYNC SETATTR

    mount_osproffs -o "cache=$cache" "$lower" "$mnt"
    mapper verify "$mnt/$file" 1031 11
    unmount_osproffs "$mnt"
    assert_profiled READ
done
