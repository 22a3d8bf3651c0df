#!/bin/bash
# A mount over the directory itself: the processes that are there already, or have files open there, are named, and no others.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

users=()
before_cleanup() {
    local pid
    for pid in ${users[@]+"${users[@]}"}; do
        kill -KILL "$pid" 2>/dev/null || true
    done
}

# mount_over MESSAGE [LOWER]: what is said, and is profiled nevertheless
mount_over() {
    "$OSPROFFS" -o profile="$scratch/profile" "${2:-$lower}" "${2:-$lower}" 2>err || fail "does not mount: $(<err)"
    assert_eq "$1" "$(<err)" "messages"
    ls "$lower" >/dev/null
    end_mount
}

# The daemon has the directory open until it has ended.
end_mount() {
    local live pid
    live=$(echo "$XDG_RUNTIME_DIR"/osprof/*.live)
    pid=$(basename "$live" .live)
    unmount_below "$lower"
    wait_for_end "$pid" 20 || fail "osproffs does not end"
    rm profile
}

# begin COMMAND...: a process that waits
begin() {
    "$@" &
    users+=("$!")
    wait_until 20 is_asleep "$!"
}

is_asleep() {
    [ "$(<"/proc/$1/comm")" = sleep ]
}

mkdir "$lower/deep" "$lower-beside"
echo text >"$lower/deep/file"
begin env --chdir="$lower-beside" sleep 1000
mount_over ""

begin env --chdir="$lower/deep" sleep 1000
mount_over "osproffs: note: process ${users[1]} is in $lower already, or has a file open there: what it does by that is not \
profiled, until it goes there anew"
mount_over "osproffs: note: process ${users[1]} is in $lower already, or has a file open there: what it does by that is not \
profiled, until it goes there anew" "$scratch/./lower"

sleep 1000 7<"$lower/deep/file" &
users+=("$!")
wait_until 20 is_asleep "$!"
"$OSPROFFS" -o profile="$scratch/profile" "$lower" "$lower" 2>err
grep -qE "^osproffs: note: 2 processes, (${users[1]}|${users[2]}) for one, are in $lower already, or have files open there: " err ||
    fail "two users: $(<err)"
unmount_below "$lower"
wait_until 20 test -e profile

# Elsewhere nobody is hidden.
"$OSPROFFS" -o profile="$scratch/profile" "$lower" "$mnt" 2>err
assert_eq "" "$(<err)" "messages of a mount beside the directory"
unmount_below "$mnt"

# What is in the mount point is hidden, unless it is the directory that is mounted.
echo hidden >"$mnt/hidden"
"$OSPROFFS" -o profile="$scratch/profile" "$lower" "$mnt" 2>err
assert_eq "osproffs: warning: $mnt is not empty: what is in it is hidden until osproffs is unmounted" "$(<err)" \
    "messages of a mount over files"
[ ! -e "$mnt/hidden" ] || fail "it is not hidden"
unmount_below "$mnt"
wait_until 20 test -e "$mnt/hidden"
