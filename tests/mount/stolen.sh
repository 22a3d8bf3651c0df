#!/bin/bash
# Stolen time: as /proc/stat has it, since the last reset or rotation, without pauses. /proc/stat is a file of the test's in
# a mount namespace of its own.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need_fuse
need unshare
if [ -z "${IN_PRIVATE_NAMESPACE:-}" ]; then
    unshare --mount --propagation private true 2>/dev/null || skip "cannot make a mount namespace"
    status=0
    IN_PRIVATE_NAMESPACE=1 unshare --mount --propagation private -- bash "$this_test" || status=$?
    exit "$status"
fi
cpus=$(getconf _NPROCESSORS_ONLN)
ticks=$(getconf CLK_TCK)
seconds=0

# steal SECONDS: so much is stolen from each CPU, from now on
steal() {
    seconds=$((seconds + $1))
    echo "cpu  9 9 9 9 9 9 9 $((1000 + seconds * ticks * cpus)) 9 9" >"$scratch/stat"
}

# expect_stolen SECONDS [PROFILE]
expect_stolen() {
    assert_eq "$(($1 * 1000000000))" "$(sed -n 's/^# stolen: //p' "${2:-$mnt/.osprof}")" "stolen time"
}

steal 0
mount --bind "$scratch/stat" /proc/stat
mount_osproffs "$lower" "$mnt"
steal 2
expect_stolen 2
command_control pause
steal 3
expect_stolen 2
command_control resume
steal 1
expect_stolen 3
"$OSPROF" show "$mnt" >shown
grep -Eq '^stolen +3\.00 s, [0-9.]+ % of the time: the hypervisor ran others$' shown || fail "show does not tell: $(<shown)"
grep -q '"stolen_seconds": 3,' "$mnt/.osprof.json" || fail "JSON does not tell: $(<"$mnt/.osprof.json")"
command_control "rotate $scratch/rotated"
expect_stolen 3 rotated
steal 5
expect_stolen 5
command_control reset
expect_stolen 0
"$OSPROF" show "$mnt" >shown
! grep -q '^stolen' shown || fail "show tells of what does not matter: $(<shown)"
steal 4
unmount_osproffs "$mnt"
expect_stolen 4 "$final_profile"
umount /proc/stat
