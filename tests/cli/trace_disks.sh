#!/bin/bash
# Which disks osprof run --layers block traces: those that take requests, below partitions and what device mapper makes. What
# sysfs says of devices is made up here, and nothing is counted.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=trace_lib.sh
. "$tests_dir/../cli/trace_lib.sh"

need_root
need unshare
[ "${IN_OWN_NAMESPACE:-}" ] || skip "cannot make a mount namespace"
need_counting block "$scratch"

# device NAME MAJOR:MINOR [WHAT]...: WHAT is "mq", "partition" or a device that it is made of
device() {
    local directory=$scratch/devices/$1 what
    mkdir -p "$directory/slaves"
    echo "$2" >"$directory/dev"
    shift 2
    for what; do
        case $what in
        mq) mkdir "$directory/mq" ;;
        partition) echo 1 >"$directory/partition" ;;
        *) ln -s "$scratch/devices/$what" "$directory/slaves/${what##*/}" ;;
        esac
    done
}

device sdx 250:0 mq
device sdx/sdx1 250:1 partition
device sdx/sdx2 250:2 partition
device sdy 250:16 mq
device dm-0 252:0 dm-1 sdx/sdx2
device dm-1 252:1 sdy
device dm-2 252:2 dm-3
device dm-3 252:3 dm-2
device zramx 253:0
for number in {1..9}; do
    device "sd$number" "251:$number" mq
done
device md9 9:9 sd{1..9}

mkdir disk
mount -t tmpfs tmpfs disk
mount -t tmpfs tmpfs /sys/dev/block

# traces DEVICE: what is counted of a directory on it, by the profile's header
traces() {
    rm -f profile
    ln -sfn "$scratch/devices/$1" "/sys/dev/block/$(mountpoint -d disk)"
    expect 0 run --layers block -d disk -q -o profile -- true
    [ ! -e profile ] || sed -n 's/^# devices: //p' profile
}

assert_eq sdy "$(traces sdy)" "a whole disk"
assert_eq sdx "$(traces sdx/sdx1)" "a partition"
assert_eq "sdx sdy" "$(traces dm-0 | sed 's/, /\n/' | sort | xargs)" "what device mapper makes of another such and a partition"

assert_eq "" "$(traces zramx)" "a device without requests"
assert_eq "osprof: the layer block does not see disk: it lies on zramx, which has no requests that can be traced" "$(<err)" \
    "message of a device without requests"
traces md9 >found
assert_eq 8 "$(tr -d ' ' <found | tr , '\n' | wc -l)" "disks of a device of nine"
assert_eq "osprof: the layer block does not see all of disk: there are more than 8 disks" "$(<err)" "message of too many"
assert_eq "" "$(traces dm-2)" "devices made of each other"
assert_eq "osprof: the layer block does not see disk: its disk cannot be found: Too many levels of symbolic links" "$(<err)" \
    "message of devices made of each other"
