#!/bin/bash
# A hundred rotations under a load of two callers: op by op, the spans and the final profile add up exactly to what the
# kernel sent.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/two_callers.sh"
. "$tests_dir/tracing.sh"

need_root
need tar
rotations=100

# In a process whose own requests can be told apart from those of the load. The control file stays open, so there is a write for
# each rotation, and nothing else that is asked for later and by others.
rotate_often() {
    local number
    echo "$BASHPID" >"$scratch/rotator"
    exec {control}>>"$mnt/.osprof"
    for ((number = 1; number <= rotations; number++)); do
        echo "rotate $scratch/spans/$number" >&"$control"
        nap 20
    done
}

# assert_exact OPTIONS
assert_exact() {
    mkdir "$lower/copy" "$scratch/spans"
    cp -r "$scratch/tree" "$lower/tree"
    mount_osproffs -o "$1" "$lower" "$mnt"
    local connection readers writers
    connection=$(mountpoint -d "$mnt")
    touch "$scratch/go-on"
    read_on &
    readers=$!
    write_on &
    writers=$!
    (rotate_often) || fail "a rotation failed"
    rm "$scratch/go-on"
    wait "$readers" "$writers"
    wait_until 20 all_are_closed "$scratch"/spans/* || fail "a file is not closed"
    unmount_osproffs "$mnt"
    traced_calls "${connection#*:}" "$daemon_pid" "$(<"$scratch/rotator")" >"$scratch/traced"
    profiled_calls "$scratch"/spans/* "$final_profile" >"$scratch/profiled"
    assert_eq 0 "$(lost_events)" "trace events lost"
    assert_eq "$rotations" "$(find "$scratch/spans" -type f | wc -l)" "spans"
    for span in "$scratch"/spans/*; do
        "$OSPROF" show --check "$span" >/dev/null || fail "osprof show --check finds fault with $span: $("$OSPROF" show --check "$span")"
    done
    diff "$scratch/traced" "$scratch/profiled" >&2 || fail "the spans (>) differ from the kernel's trace (<) with $1"
    echo "$1: $(awk '{ calls += $2 } END { print calls }' "$scratch/profiled") calls in $rotations spans and the rest"
    rm -r "$scratch/spans"
    find "$lower" -mindepth 1 -delete
    echo >"$instance/trace"
}

mkdir "$scratch/tree"
for number in {1..97}; do
    echo "$number" >"$scratch/tree/$number"
done
start_trace
assert_exact cache=auto
assert_exact cache=none,by=uid,joint=lookup:error,interval=0.05
