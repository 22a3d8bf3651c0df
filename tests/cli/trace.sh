#!/bin/bash
# osprof run --layers all: requests of the kernel to osproffs and to the disk, of one command. The counts of the layers
# fuse and fs are the same, op by op; those of the layer block are the kernel's own events.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=run_lib.sh
. "$tests_dir/../cli/run_lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"
# shellcheck source=trace_lib.sh
. "$tests_dir/../cli/trace_lib.sh"

need_fuse
need mkfs.ext4 losetup tar
need_counting fuse "$lower"

loop=
before_cleanup() {
    ! mountpoint -q "$lower" || umount -l "$lower"
    [ -z "$loop" ] || losetup -d "$loop"
    [ -z "$instance" ] || stop_tracing
}

# The kernel's own events of the disk, in an instance of the test's own, if there are any here.
tracing=/sys/kernel/tracing
instance=
start_tracing() {
    mountpoint -q "$tracing" || mount -t tracefs tracefs "$tracing" 2>/dev/null || return 0
    instance=$tracing/instances/osprof-test-$$
    mkdir "$instance" 2>/dev/null || { instance= && return; }
    echo 4096 >"$instance/buffer_size_kb"
    echo "dev == $(mountpoint -x "$loop" | awk -F: '{ print $1 * 1048576 + $2 }')" >"$instance/events/block/block_rq_issue/filter"
    echo 1 >"$instance/events/block/block_rq_issue/enable"
}

stop_tracing() {
    cp "$instance/trace" "$scratch/events"
    rmdir "$instance"
    instance=
}

truncate -s 128M image
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 image
loop=$(losetup -f --show image) || skip "no loop device"
mount -o noatime "$loop" "$lower"
need_counting block "$lower"
mkdir "$lower/many"
seq 20000 | split -l 100 - "$lower/many/"
sync -f "$lower"
drop_caches 3

cat >load <<END
cat /sys/block/${loop#/dev/}/stat >$scratch/before
tar -cf - many | tar -xf - --transform s/many/copy/
grep -r 777 . | wc -l >$scratch/found
ln -s many link
mv copy/aa copy/moved
for number in \$(seq 13); do
    dd if=/dev/zero of=direct bs=64k count=3 oflag=direct conv=fsync,notrunc status=none
done
rm -r copy
stat link direct many/* >$scratch/attributes
sync -f .
cat /sys/block/${loop#/dev/}/stat >$scratch/after
exit 3
END
# What the run itself reads before it counts is in memory.
run_traced() {
    cd "$lower"
    ls -l >/dev/null
    start_tracing
    expect 3 run --layers all --label rack=7 -q -o "$scratch/profile" -- sh "$scratch/load"
    cd "$scratch"
    [ -z "$instance" ] || stop_tracing
}
with_caches run_traced
# Completions that interrupt the handling of another event are lost, and told.
may_lack=$(sed -n 's/^osprof: the layer block may lack \([0-9]*\) request.*/\1/p' err)
assert_eq "" "$(grep -v '^osprof: the layer block may lack ' err || true)" "messages"
[ "${may_lack:=0}" -lt 100 ] || fail "$(<err)"
assert_nothing_left
[ "$(<found)" -gt 30 ] || fail "the load has found $(<found) lines"

assert_eq $'user\nfuse\nqueue\nfs\nblock' "$(sed -n 's/^# layer: //p' profile)" "layers, the outermost first"
split_layers profile
for layer in user fuse fs block; do
    "$OSPROF" show --check "layer.$layer" >&2 || fail "bad profile of the layer $layer"
    grep -qxF "# command: sh $scratch/load" "layer.$layer" || fail "no command in the profile of the layer $layer"
    grep -qxF "# label rack: 7" "layer.$layer" || fail "no label in the profile of the layer $layer"
done

# ---- fuse and fs

layer_calls fs >calls.fs
layer_calls fuse >calls.fuse
[ "$(wc -l <calls.fs)" -gt 20 ] || fail "the load has few operations: $(<calls.fs)"
diff calls.fs calls.fuse >&2 || fail "the kernel's requests (>) are not osproffs's operations (<)"
while read -r op _; do
    assert_nested "$op" fuse fs
done <calls.fs
for layer in fs fuse; do
    grep -E '^# (bytes|failed): ' "layer.$layer" | sort >outcomes.$layer
done
grep -q '^# failed: LOOKUP ENOENT' outcomes.fs || fail "the load has no failures"
diff outcomes.fs outcomes.fuse >&2 || fail "the kernel's bytes and failures (>) are not osproffs's (<)"

# ---- block, and the kernel's events; what the disk counts, in fields 1, 5 and 16, is a request more or less

assert_eq "${loop#/dev/}" "$(sed -n 's/^# devices: //p' layer.block)" "devices"
# assert_counts WHAT CALLS OTHER ANY: CALLS are as many, less those that may be lacking, and ANY more or less
assert_counts() {
    [ "$3" -gt 12 ] || fail "only $3 $1 of the disk"
    if [ "$2" -gt $(($3 + $4)) ] || [ "$2" -lt $(($3 - may_lack - $4)) ]; then
        fail "$2 $1 of the disk, not $3; $may_lack may be lacking"
    fi
}
for what in 'READ:1:R[A-Z]* [1-9]' 'WRITE:5:F?W[A-Z]* [1-9]' 'FLUSH:16:FF[A-Z]* 0'; do
    IFS=: read -r op field kind <<<"$what"
    calls=$(profile_calls "$op" layer.block)
    assert_counts "$op" "$calls" $(($(awk "{ print \$$field }" after) - $(awk "{ print \$$field }" before))) 8
    [ ! -e events ] || assert_counts "$op" "$calls" \
        "$(sed -n 's/.* block_rq_issue: [0-9,]* \([A-Z]*\) \([0-9]*\) (.*/\1 \2/p' events | grep -cE "^$kind")" 0
done

# ---- The command begins when all is traced, and attaching is not in the time

awk '
    /^# layer: / { layer = $3 }
    /^# clock: / { hz = $4 }
    /^# elapsed: / { elapsed[layer] = $3 / hz }
    END { for (layer in elapsed) if (elapsed[layer] > elapsed["user"] + 1 || elapsed[layer] < elapsed["user"] - 0.1) exit 1 }' profile ||
    fail "layers have other times than user: $(grep -E '^# (layer|clock|elapsed)' profile)"

# ---- Mounts that are there already: those that are named, and no others

mkdir lower-2 lower-3 mnt-2 mnt-3
mkdir "$lower/below"
mount_osproffs "$lower/below" "$mnt"
mount_osproffs lower-2 "$scratch/mnt-2"
mount_osproffs lower-3 "$scratch/mnt-3"
expect 0 run --layers fuse -d mnt -d mnt-2 -q -o profile -- sh -c 'mkdir mnt/1 mnt/2 mnt/3 mnt-2/1 mnt-2/2 mnt-3/1'
assert_eq "" "$(<err)" "messages of mounts"
assert_eq "fuse 5" "$(sed -n 's/^# layer: //p' profile) $(profile_calls MKDIR profile)" "directories that were made in two of three mounts"
unmount_osproffs "$mnt"
unmount_osproffs "$scratch/mnt-2"
unmount_osproffs "$scratch/mnt-3"
umount "$lower"
losetup -d "$loop"
loop=
