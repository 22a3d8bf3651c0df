#!/bin/bash
# Another user who may use the mount (allow_other) does not learn from the profile which files others use, nor do profiles
# that are saved tell him. Nor can he use up the daemon's memory by opening the control file many times.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need flock python3
waiter=
opener=
before_cleanup() {
    local pid
    for pid in $waiter $opener; do
        { kill "$pid" && wait "$pid"; } 2>/dev/null || true
    done
}

# One who waits for a lock is a call in flight.
begin_to_wait() {
    exec {held}<"$lower/private/secret"
    flock "$held"
    flock "$mnt/private/secret" true {held}<&- &
    waiter=$!
    wait_until 20 grep -q '# call: SETLKW age .* path [^ ]*/secret ' "$mnt/.osprof" || fail "nobody waits for the lock"
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
    as_user "$OSPROF" save "$mnt" >"$scratch/shown" || fail "osprof save by another user"
    ! grep secret "$scratch/shown" || fail "osprof save tells a path to another user"
    grep -q '^OP_SETLKW ' "$scratch/shown" || fail "osprof save hides the call itself"
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
    "$OSPROF" save -o "$scratch/saved" "$mnt"
    grep -q secret "$scratch/saved" || fail "no path in what osprof save takes from a mount"
    assert_mode 600 "$scratch/saved"
    "$OSPROF" save -o "$scratch/merged" "$scratch/dumped" "$scratch/saved"
    grep -q secret "$scratch/merged" || fail "no path in a sum"
    assert_mode 600 "$scratch/merged"
}

saves_the_rest_for_all() {
    command_control "dump $scratch/dumped"
    assert_mode 644 "$scratch/dumped"
    "$OSPROF" save -o "$scratch/saved" "$scratch/dumped"
    assert_mode 644 "$scratch/saved"
    "$OSPROF" save -o "$scratch/merged" "$scratch/dumped" "$scratch/saved"
    assert_mode 644 "$scratch/merged"
    unmount_osproffs "$mnt"
    assert_mode 644 "$scratch/out"
}

daemon_mb() {
    awk '/^VmRSS:/ { print int($2 / 1024) }' "/proc/$daemon_pid/status"
}

# Opens it until that is refused, or COUNT times, says so, and keeps all open until its input ends.
open_many='
import errno, os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
count, why = 0, "not refused"
while count < int(sys.argv[2]):
    try:
        os.open(sys.argv[1], os.O_RDONLY)
    except OSError as error:
        why = errno.errorcode[error.errno]
        break
    count += 1
print(count, why, flush=True)
sys.stdin.read()
'

many_ops='
import os, sys, time
os.chdir(sys.argv[1])
end = time.monotonic() + 4
while time.monotonic() < end:
    os.mkdir("d")
    os.rename("d", "e")
    os.rmdir("e")
    os.symlink("nowhere", "s")
    os.readlink("s")
    os.unlink("s")
    with open("f", "w") as file:
        file.write("text")
    os.listdir(".")
    os.truncate("f", 1)
    os.unlink("f")
'

# A text of some hundred KB: many intervals with many ops.
make_long_profile() {
    python3 -c "$many_ops" "$mnt"
    [ "$(wc -c <"$mnt/.osprof.json")" -gt 100000 ] || fail "the profile is too short for this test"
}

bounds_texts_of_others() {
    local before_mb went
    before_mb=$(daemon_mb)
    mkfifo "$scratch/end"
    exec_as "$user_uid" "$user_gid" "" python3 -c "$open_many" "$mnt/.osprof.json" 2000 <"$scratch/end" >"$scratch/opened" &
    opener=$!
    exec {end}>"$scratch/end"
    wait_until 100 test -s "$scratch/opened" || fail "opening many times does not end"
    went=$(cat "$scratch/opened")
    case $went in
    *" ENFILE") ;;
    *) fail "opening many times ends with: $went" ;;
    esac
    [ "${went% *}" -ge 8 ] || fail "refused after $went"
    [ -n "${ASAN_OPTIONS:-}" ] || [ "$(daemon_mb)" -le $((before_mb + 128)) ] || fail "osproffs has grown from $before_mb to $(daemon_mb) MB"
    assert_refused "Too many open files in system" as_user cat "$mnt/.osprof"
    grep -q '^OP_MKDIR ' "$mnt/.osprof" || fail "the owner is refused"
    exec {end}>&-
    wait "$opener"
    opener=
    wait_until 20 as_user cat "$mnt/.osprof" || fail "still refused when all are closed"
}

mkdir -m 0700 "$lower/private"
echo text >"$lower/private/secret"
mount_osproffs -o "allow_other,flock,profile=$scratch/out" "$lower" "$mnt"
begin_to_wait
hides_paths_from_others
saves_paths_for_the_owner
end_waiting
saves_the_rest_for_all
mount_osproffs -o allow_other,interval=0.01,resolution=4 "$lower" "$mnt"
make_long_profile
bounds_texts_of_others
unmount_osproffs "$mnt"
