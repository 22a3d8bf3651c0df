#!/bin/bash
# What the daemon's threads had read from storage is in the profile, and tells whether a peak of reads that takes as long as
# a disk read is one. The disk is an image in a directory that slow_osproffs shows: each read takes 3 ms longer.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need_fuse
need mkfs.ext4 losetup

loop=
before_cleanup() {
    ! mountpoint -q "$mnt" || unmount_osproffs "$mnt"
    ! mountpoint -q "$lower" || umount "$lower" || umount -l "$lower"
    [ -z "$loop" ] || losetup -d "$loop"
    ! mountpoint -q below || unmount_osproffs below
}

# storage_read [PROFILE]: so many bytes
storage_read() {
    sed -n 's/^# storage_read: //p' "${1:-$mnt/.osprof}"
}

# read_blocks COUNT [FLAG]: of the file through the mount, each from where the last one ended
read_blocks() {
    dd if="$mnt/file" of=/dev/null bs=4k count="$1" ${2:+iflag="$2"} status=none
}

# calibrate_reads: as if the disk took for a read just what most READs of the profile took
calibrate_reads() {
    awk -v device="$loop" -v host="$(sed -n 's/^# host: //p' profile)" '
        /^# clock: / { clock = substr($0, 10); hz = $4 }
        /^OP_READ / { getline; for (b = 1; b <= NF; b++) if ($b > most) { most = $b; bucket = b - 1 } }
        END {
            ns = int(1.5 * 2 ^ bucket / hz * 1e9)
            print "# osprof calibration 1\n# host: " host "\n# clock: " clock
            print "device_read", ns, ns, ns, 9, 5, device
        }' profile >"$XDG_STATE_HOME/osprof/$(sed -n 's/^# host: //p' profile).calibration"
}

# names OP: of its peaks
names() {
    cp "$mnt/.osprof" profile
    calibrate_reads
    "$OSPROF" show --ascii --charts --op "$1" profile >shown
    sed -n 's/^  peak at [^:]*: //p' shown
}

export XDG_STATE_HOME=$scratch/state
mkdir -p "$XDG_STATE_HOME/osprof"
mkdir image below
truncate -s 64M image/image
mkfs.ext4 -q -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 image/image
profiled=$OSPROFFS
OSPROFFS=${OSPROFFS%src/fuse/osproffs}bench/slow_osproffs
SLOW_OSPROFFS=READ:3000000:1 mount_osproffs -o control=.below,cache=none image below
OSPROFFS=$profiled
loop=$(losetup -f --show below/image 2>/dev/null) || skip "no loop devices"
mount -o noatime "$loop" "$lower"
reads=211
head -c $(((reads + 1) * 4096)) /dev/urandom >"$lower/file"
sync -f "$lower"
mount_osproffs -o cache=none "$lower" "$mnt"

# From memory: LOOKUP, OPEN and READ may take as long as they like, none is a disk read.
cat "$lower/file" >/dev/null
read_blocks "$reads"
command_control reset
read_blocks "$reads"
assert_eq 0 "$(storage_read)" "bytes read from storage, of a file in memory"
! names READ | grep -v '^page cache hits$' >&2 || fail "reads from memory are called otherwise"
assert_eq ext4 "$(sed -n 's/^# fstype: //p' profile)" "file systems below"
! names LOOKUP | grep disk >&2 || fail "a lookup in memory is called a disk read"

# Past the cache: each of them reads a block.
command_control reset
read_blocks "$reads" direct
bytes=$(storage_read)
[ "$bytes" -ge $((reads * 4096)) ] || fail "only $bytes bytes read from storage by $reads reads of 4096"
[ "$bytes" -le $((reads * 4096 + 1048576)) ] || fail "$bytes bytes read from storage by $reads reads of 4096"
assert_eq "one disk read" "$(names READ | sort -u)" "names of peaks of reads of the disk"
"$OSPROF" show --ascii profile >shown
grep -q ' READ .* one disk read' shown || fail "nor on the first page: $(<shown)"
! grep -q 'one disk read?' shown || fail "it is in doubt on the first page: $(<shown)"
"$OSPROF" show --json profile >shown
grep -q "\"storage_read_bytes\": $(storage_read profile)," shown || fail "JSON does not tell"

# The same calls, had less been read than they need; and had nobody looked.
sed "s/^# storage_read: .*/# storage_read: $((reads * 128))/" profile >less
! "$OSPROF" show --ascii --charts --op READ less | grep ': .*disk' >&2 || fail "what has not read is called a disk read"
sed '/^# storage_read: /d' profile >unknown
"$OSPROF" show --ascii --charts --op READ unknown >shown
grep -q '^  peak at [^:]*: may be one disk read$' shown ||
    fail "what nobody has seen is certain"

# Reads of no bytes, at the end of the file.
command_control reset
for ((i = 0; i < 11; i++)); do
    dd if="$mnt/file" of=/dev/null bs=4k skip=$((reads + 1)) count=1 status=none
done
! names READ | grep . >&2 || fail "reads of no bytes have a name"

# A rotation takes what belongs to its time, and what was read while nothing is recorded belongs to none.
command_control reset
read_blocks 101 direct
command_control "rotate $scratch/rotated"
[ "$(storage_read rotated)" -ge $((101 * 4096)) ] || fail "the rotated profile does not have what was read"
assert_eq 0 "$(storage_read)" "bytes after a rotation"
command_control pause
read_blocks 101 direct
command_control resume
assert_eq 0 "$(storage_read)" "bytes read during a pause"
unmount_osproffs "$mnt"

# At the layer user it is the program's own; none is known where a mount is between.
OSPROF_LIBRARIES=${OSPROF_LIBRARIES%/fuse}/posix
! grep -q '__[at]san_init' "$OSPROF_LIBRARIES/libosprof_posix.so" || exit 0 # a sanitizer's cannot be preloaded
# storage_read_of LAYER
storage_read_of() {
    awk -v layer="$1" '/^# layer: / { is_it = $3 == layer } is_it && /^# storage_read: / { print $3 }' recording
}
"$OSPROF" run --layers user -d "$lower" -q -o recording -- dd if="$lower/file" of=/dev/null bs=4k count=101 iflag=direct status=none
bytes=$(storage_read_of user)
if [ "$bytes" -lt $((101 * 4096)) ] || [ "$bytes" -gt $((101 * 4096 + 1048576)) ]; then
    fail "$bytes bytes read by a program that read 101 blocks"
fi
"$OSPROF" run --layers user,fs -d "$lower" -q -o recording -- dd if="$lower/file" of=/dev/null bs=4k count=101 iflag=direct status=none
assert_eq "" "$(storage_read_of user)" "bytes read above a mount"
[ "$(storage_read_of fs)" -ge $((101 * 4096)) ] || fail "the layer fs does not have what was read"
