#!/bin/bash
# File systems through which the kernel is looked at and controlled judge by the process that has opened a file, which is the daemon:
# to a mount for others they are empty directories, unless root asks for them.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need setpriv

mkdir "$lower/proc" "$lower/sys" "$lower/devpts" "$lower/tmp"
touch "$lower/status"
mount -t proc proc "$lower/proc"
mount -t sysfs sysfs "$lower/sys"
mount -t devpts devpts "$lower/devpts"
mount -t tmpfs tmpfs "$lower/tmp"
mount --bind "$lower/proc/self/status" "$lower/status" # a single file of one
echo text >"$lower/tmp/file"

assert_empty() {
    assert_eq '' "$(listed "$1")" "names in $1"
    assert_eq directory "$(stat -c %F "$1")"
    assert_refused 'No such file or directory' as_user cat "$1/version"
    ! mkdir "$1/made" 2>/dev/null || fail "a directory can be made in $1"
    ! touch "$1/made" 2>/dev/null || fail "a file can be made in $1"
    as_user ls -la "$1" >"$scratch/out" || fail "$1 cannot be listed"
    stat -f "$1" >"$scratch/out"
}

for options in allow_other allow_other,no_default_permissions; do
    mount_osproffs -o "$options" "$lower" "$mnt"
    for name in proc sys devpts; do
        assert_empty "$mnt/$name"
    done
    assert_refused 'Permission denied' as_user cat "$mnt/status"
    assert_refused 'Permission denied' cat "$mnt/status"
    assert_eq text "$(as_user cat "$mnt/tmp/file")" "a file of an ordinary lower mount"
    unmount_osproffs "$mnt"
done

# Over the whole system a stranger gets neither at the kernel's addresses nor at other cgroups.
mount_osproffs -o allow_other / "$mnt"
assert_refused 'No such file or directory' as_user cat "$mnt/proc/kallsyms"
assert_refused 'No such file or directory' as_user cat "$mnt/proc/self/maps"
[ ! -e "$mnt/sys/fs/cgroup" ] || fail "cgroups are reached through the mount"
unmount_osproffs "$mnt"

# As the lower directory itself it is refused, in a line that says why.
! "$OSPROFFS" -f -o allow_other /proc "$mnt" 2>"$scratch/message" || fail "/proc is shown to others"
grep -q 'cannot show /proc to others.*pseudofs' "$scratch/message" || fail "no reason: $(cat "$scratch/message")"

# Who mounts for himself sees what he sees below; others do where root asks for it.
mount_osproffs -o cache=none "$lower" "$mnt" # files of proc have no size, so the kernel must ask for each read
assert_eq "$(cat /proc/version)" "$(cat "$mnt/proc/version")" "a file of proc"
unmount_osproffs "$mnt"
mount_osproffs -o allow_other,pseudofs,cache=none "$lower" "$mnt"
assert_eq "$(cat /proc/version)" "$(as_user cat "$mnt/proc/version")" "a file of proc, by another user"
unmount_osproffs "$mnt"
! as_user "$OSPROFFS" -f -o allow_other,pseudofs "$lower" "$mnt" 2>"$scratch/message" || fail "a user shows proc"
grep -q 'pseudofs: only root' "$scratch/message" || fail "no reason: $(cat "$scratch/message")"
