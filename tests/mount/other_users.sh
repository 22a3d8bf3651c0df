#!/bin/bash
# Another user who may use the mount (allow_other) does not learn from the profile which files others use, nor do profiles
# that are saved tell him.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need flock
waiter=
before_cleanup() {
    [ -z "$waiter" ] || { kill "$waiter" && wait "$waiter"; } 2>/dev/null || true
}

# One who waits for a lock is a call in flight.
begin_to_wait() {
    exec {held}<"$lower/private/secret"
    flock "$held"
    flock "$mnt/private/secret" true {held}<&- &
    waiter=$!
    wait_until 20 grep -q 'in_flight: SETLKW .* path .*/secret$' "$mnt/.osprof" || fail "nobody waits for the lock"
}

end_waiting() {
    exec {held}<&-
    wait_for_end "$waiter" 20 || fail "the lock is not given"
    waiter=
}

hides_paths_from_others() {
    local file
    for file in .osprof .osprof.json; do
        grep -q secret "$mnt/$file" || fail "$file hides a path from the owner"
        as_user cat "$mnt/$file" >"$scratch/shown"
        ! grep secret "$scratch/shown" || fail "$file shows a path to another user"
        grep -q SETLKW "$scratch/shown" || fail "$file hides the call itself"
    done
    as_user "$OSPROF" show "$mnt" >"$scratch/shown" || fail "osprof show by another user"
    ! grep secret "$scratch/shown" || fail "osprof show shows a path to another user"
    as_user cat "$mnt/.osprof.metrics" >"$scratch/shown"
    ! grep secret "$scratch/shown" || fail ".osprof.metrics shows a path"
}

assert_mode() {
    assert_eq "$1" "$(stat -c %a "$2")" "mode of $2"
}

saves_paths_for_the_owner() {
    echo old >"$scratch/dumped"
    chmod 0666 "$scratch/dumped"
    command_control "dump $scratch/dumped"
    grep -q secret "$scratch/dumped" || fail "no path in a dump"
    assert_mode 600 "$scratch/dumped"
    command_control dump
    assert_mode 600 "$scratch/out"
    "$OSPROF" merge -o "$scratch/merged" "$scratch/dumped"
    grep -q secret "$scratch/merged" || fail "no path in a merged profile"
    assert_mode 600 "$scratch/merged"
}

saves_the_rest_for_all() {
    command_control "dump $scratch/dumped"
    assert_mode 644 "$scratch/dumped"
    "$OSPROF" merge -o "$scratch/merged" "$scratch/dumped"
    assert_mode 644 "$scratch/merged"
    unmount_osproffs "$mnt"
    assert_mode 644 "$scratch/out"
}

mkdir -m 0700 "$lower/private"
echo text >"$lower/private/secret"
mount_osproffs -o "allow_other,flock,profile=$scratch/out" "$lower" "$mnt"
begin_to_wait
hides_paths_from_others
saves_paths_for_the_owner
end_waiting
saves_the_rest_for_all
