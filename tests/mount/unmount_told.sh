#!/bin/bash
# osprof unmount says where the final profile is, as the daemon says it, also where the place had no room for it.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root

place=$scratch/place
mkdir "$place"
mount -t tmpfs -o size=64k tmpfs "$place"

# Who asks in vain, since the mount is in use, takes no place of those who ask later.
unmount_in_vain() {
    local i
    for ((i = 0; i < 10; i++)); do
        ! (cd "$mnt" && "$OSPROF" unmount "$mnt" 2>/dev/null) || fail "unmounted in use"
    done
}

# unmount_with OPTIONS: mounts, makes calls, leaves no room where the profile goes, and unmounts; sets status
unmount_with() {
    rm -f "$place"/*
    "$OSPROFFS" -o "profile=$place/out$1" "$lower" "$mnt"
    mkdir "$mnt/x" && rmdir "$mnt/x"
    [ -n "${room:-}" ] || dd if=/dev/zero of="$place/fill" bs=4k status=none 2>/dev/null || true
    unmount_in_vain
    status=0
    "$OSPROF" unmount "$mnt" >"$scratch/out" 2>"$scratch/err" || status=$?
}

room=yes
for options in "" ,by=file; do
    unmount_with "$options"
    assert_eq "0 The profile is in $place/out." "$status $(<"$scratch/out")" "with room, $options"
    assert_eq "" "$(<"$scratch/err")" "complaints with room"
    assert_eq 1 "$(profile_calls MKDIR "$place/out")" MKDIR
done
room=

unmount_with ""
live=$(echo "$XDG_RUNTIME_DIR"/osprof/*.live)
assert_eq "2 " "$status $(<"$scratch/out")" "without room"
assert_eq "osprof: the profile is in $live, since osproffs could not write it; osprof save $live -o FILE saves it" \
    "$(<"$scratch/err")" "what it says of the live file"
"$OSPROF" save --remove -o "$scratch/recovered" "$live"
assert_eq 1 "$(profile_calls MKDIR "$scratch/recovered")" "MKDIR in the live file"

unmount_with ,by=file
assert_eq "2 " "$status $(<"$scratch/out")" "without room, with groups"
second=$(echo "$XDG_RUNTIME_DIR"/osprof/*.osprof)
assert_eq "osprof: the profile is in $second, since osproffs could not write it to $place/out" "$(<"$scratch/err")" \
    "what it says of the second place"
assert_eq 1 "$(profile_calls MKDIR "$second")" "MKDIR in the second place"
grep -q '^# file: ' "$second" || fail "no groups in the second place"
[ ! -e "$place/out" ] || fail "something half done"
wait_until 30 umount "$place" || fail "osproffs does not let go of the place"
