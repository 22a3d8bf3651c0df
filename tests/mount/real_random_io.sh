#!/bin/bash
# Random reads, writes, mappings, truncations, holes and copies in one file give what a model in memory predicts, and the
# lower file holds it in the end.
. "$(dirname "$0")/lib.sh"

# exercise CACHE [unmapped]
exercise() {
    local cache=$1 seed
    mount_osproffs -o "cache=$cache" "$lower" "$mnt"
    for seed in 2 3 5; do
        run_seed "$cache" "$seed" ${2:+"$2"}
    done
    assert_same_view "$lower" "$mnt"
    unmount_osproffs "$mnt"
    assert_profiled READ WRITE FALLOCATE COPY_FILE_RANGE LSEEK SETATTR
}

run_seed() {
    local cache=$1 seed=$2 file=random-$1-$2 status=0
    "$TEST_PROGRAMS/random_io" "$mnt/$file" 1999 "$seed" ${3:+"$3"} >expected || status=$?
    [ "$status" -ne 77 ] || skip "the file system here cannot punch holes or zero ranges"
    [ "$status" -eq 0 ] || fail "cache=$cache, seed $seed"
    cmp expected "$lower/$file" || fail "cache=$cache, seed $seed: the lower file differs"
}

exercise auto
exercise always
exercise none unmapped # uncached files cannot be mapped shared
