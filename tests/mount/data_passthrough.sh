#!/bin/bash
# data=passthrough: the kernel reads and writes lower files by itself. Contents agree, also among files that are open
# several times and mapped; opens are in the profile, reads and writes are not; files that the kernel does not take are
# served as ever; without the privilege, or with an older libfuse, mounting fails and says why.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
# refused OPTIONS REASON
refused() {
    local message
    ! message=$("$OSPROFFS" -f -o "data=passthrough,$1" "$lower" "$mnt" 2>&1) || fail "data=passthrough,$1 mounts"
    [[ $message == *"data=passthrough: $2"* ]] || fail "data=passthrough,$1: $message"
}
refused cache=none "the kernel uses the cache of the lower files, so leave out cache=none"
refused joint=write:size "the kernel's reads and writes are not profiled, so leave out joint of them"
refused joint=read:size "the kernel's reads and writes are not profiled, so leave out joint of them"
if ! "$OSPROFFS" -V | grep -q +passthrough; then
    message=$("$OSPROFFS" -f -o data=passthrough "$lower" "$mnt" 2>&1) && fail "data=passthrough without libfuse 3.17"
    [[ $message == *"it takes 3.17"* ]] || fail "does not say what it takes: $message"
    skip "this libfuse has no passthrough"
fi

start_daemon "$OSPROFFS" -f -o data=passthrough "$lower" "$mnt"
pid_of[$mnt]=$daemon_pid
if ! wait_until 10 is_mounted "$mnt" || grep -q 'this kernel cannot' "$daemon_log"; then
    skip "this kernel has no passthrough: $(cat "$daemon_log")"
fi

head -c 5000001 /dev/urandom >"$mnt/random"
cmp "$lower/random" "$mnt/random"
cp "$mnt/random" "$mnt/copy"
cmp "$lower/random" "$lower/copy"

exec {reading}<"$mnt/copy" # one inode, opened three times
exec {writing}>>"$mnt/copy"
printf 'the end' >&"$writing"
assert_eq "the end" "$(tail -c 7 "$mnt/copy")" "what was appended, through another file"
assert_eq 5000008 "$(stat -c %s "$mnt/copy")" "size after appending"
exec {reading}<&- {writing}>&-

"$TEST_PROGRAMS/mmap_writer" write "$mnt/mapped" 1031 7
"$TEST_PROGRAMS/mmap_writer" verify "$lower/mapped" 1031 7
"$TEST_PROGRAMS/mmap_writer" coherent "$mnt/coherent"

for number in $(seq 100); do # each lets its backing file go again
    printf '%s' "$number" >"$mnt/small-$number"
    assert_eq "$number" "$(cat "$mnt/small-$number")" "small file"
done
grep -q '^# data: passthrough$' "$mnt/.osprof" || fail "the profile does not name the mode"
command_control reset
assert_same_view "$lower" "$mnt"
unmount_osproffs "$mnt"
assert_profiled OPEN RELEASE
assert_eq 0 "$(profile_calls READ "$final_profile")" "reads that the profiler saw"
assert_eq 0 "$(profile_calls WRITE "$final_profile")" "writes that the profiler saw"

# reads_of DIRECTORY: READs of that mount are counted, or none
reads_of() {
    local reads
    reads=$(profile_calls READ "$1/.osprof-$2")
    [ "${reads:-0}" -eq 0 ] || echo some
}

# through_both: in both mounts everything is as ever
through_both() {
    cmp "$lower/random" "$mnt/random"
    cmp "$lower/copy" "$mnt/copy"
    printf 'through both' >"$mnt/both"
    assert_eq "through both" "$(cat "$lower/both")" "written through both mounts"
}

# Another FUSE mount below: the kernel takes files of one that copies, and none of one that has data=passthrough itself. That
# is said once, and these are profiled.
mkdir middle
for data in copy passthrough; do
    mount_osproffs -o "data=$data,control=.osprof-middle" "$lower" "$scratch/middle"
    mount_osproffs -o data=passthrough,control=.osprof-top "$scratch/middle" "$mnt"
    through_both
    if [ "$data" = copy ]; then
        assert_eq ", some" "$(reads_of "$mnt" top), $(reads_of "$scratch/middle" middle)" "who sees reads over a mount that copies"
        [ ! -s "$daemon_log" ] || fail "complains: $(<"$daemon_log")"
    else
        assert_eq "some, " "$(reads_of "$mnt" top), $(reads_of "$scratch/middle" middle)" "who sees reads over passthrough"
        assert_eq "osproffs: data=passthrough: the kernel does not take a file of this file system; what it does not take is served, and profiled, as without" \
            "$(<"$daemon_log")" "messages"
    fi
    unmount_osproffs "$mnt"
    unmount_osproffs "$scratch/middle"
done

need setpriv
status=0
message=$(timeout 20 setpriv --bounding-set=-sys_admin "$OSPROFFS" -f -o data=passthrough "$lower" "$mnt" 2>&1) || status=$?
[ "$status" -ne 0 ] || fail "data=passthrough without CAP_SYS_ADMIN"
assert_unmounted "$mnt"
