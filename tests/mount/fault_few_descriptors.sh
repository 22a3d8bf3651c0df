#!/bin/bash
# 64 descriptors, and 30,011 files in one directory: as root everything works, because file handles stand for inodes;
# to open more files than there are descriptors gives EMFILE or ENFILE. The daemon never crashes.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

files=30011

# limited COMMAND...: its hard limit too, which the daemon would otherwise raise itself to
limited() {
    ulimit -n 64
    exec "$@"
}

mount_with_few_descriptors() {
    start_daemon limited "$OSPROFFS" -f "$lower" "$mnt"
    pid_of[$mnt]=$daemon_pid
    wait_for_mount "$mnt"
    assert_eq 64 "$(awk '/^Max open files/ { print $5 }' "/proc/$daemon_pid/limits")" "the daemon's limit"
}

read_all_files() {
    mount_with_few_descriptors
    assert_eq "$files" "$(timeout 100 ls -f "$mnt/many" | grep -c '^[0-9]')" "ls -f"
    assert_eq "$files" "$(timeout 100 find "$mnt/many" -type f -size 0 | wc -l)" "find, with a stat of each"
    assert_eq "$files" "$(timeout 100 ls -l "$mnt/many" | grep -c '^-')" "ls -l"
    timeout 20 cat "$mnt/many/1" "$mnt/many/$files" || fail "cannot open"
    open_too_many
    unmount_osproffs "$mnt"
    assert_profiled READDIRPLUS LOOKUP OPEN
}

# The 64 are enough for some opens; what is beyond fails as the system itself fails, and all is well afterwards.
open_too_many() {
    local message try
    for try in {1..5}; do
        message=$(bash -c 'for ((i = 1; i <= 100; i++)); do exec {fd}<"$1/many/$i" || exit; done' - "$mnt" 2>&1) &&
            fail "100 files are open through 64 descriptors"
        # a second after it was looked up, the kernel asks for a name again: that fails in another way
        [[ $message == *"Cannot allocate memory"* ]] || break
    done
    [[ $message == *"Too many open files"* ]] || fail "opening too many files, try $try: $message"
    kill -0 "$daemon_pid" || fail "the daemon is gone"
    timeout 20 cat "$mnt/many/77" || fail "cannot open any more"
}

# What is mounted on a name stays when the name cannot be looked up for a while.
nothing_is_unmounted_without_descriptors() {
    mkdir "$lower/over"
    mount_with_few_descriptors
    mount -t tmpfs tmpfs "$mnt/over"
    echo text >"$mnt/over/file"
    bash -c 'for ((i = 1; i <= 100; i++)); do exec {fd}<"$1/many/$i" || break; done
        sleep 1.5 # the kernel asks again
        cat "$1/over/file"' - "$mnt" >refused 2>&1 || true
    grep -q "Cannot allocate memory" refused || fail "a name can be looked up without descriptors: $(<refused)"
    assert_eq text "$(cat "$mnt/over/file")" "the file on the mount over a name"
    umount "$mnt/over"
    unmount_osproffs "$mnt"
}

need_root
mount -t tmpfs tmpfs "$lower" # a disk would take long to create them
mkdir "$lower/many"
(cd "$lower/many" && seq "$files" | xargs touch)
read_all_files
nothing_is_unmounted_without_descriptors
