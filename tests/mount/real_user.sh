#!/bin/bash
# An ordinary user mounts with fusermount3, works in the mount with git, sqlite3 and tar, unmounts, and has the profile.
. "$(dirname "$0")/lib.sh"
need_user_mounts "$@"
need git sqlite3 tar

work_with_git() {
    as_user git init --quiet "$mnt/repository"
    as_user cp -R "$scratch/project" "$mnt/repository"
    as_user git -C "$mnt/repository" add --all
    as_user git -C "$mnt/repository" -c user.name=tester -c user.email=tester@example.org commit --quiet -m import
    as_user git clone --quiet --no-local "$mnt/repository" "$mnt/clone"
    as_user git -C "$mnt/clone" fsck --full --strict --no-progress
}

work_with_sqlite() {
    as_user sqlite3 -bail "$mnt/database" 'PRAGMA journal_mode=wal; CREATE TABLE t AS SELECT 41 AS n' >/dev/null
    assert_eq "ok|41" "$(as_user sqlite3 "$mnt/database" 'SELECT integrity_check, n FROM pragma_integrity_check, t')"
}

work_with_tar() {
    as_user tar -C "$mnt" --format=posix -cf "$scratch/home-user/clone.tar" clone
    as_user mkdir "$mnt/unpacked"
    as_user tar -C "$mnt/unpacked" -xf "$scratch/home-user/clone.tar"
}

cp -R "$tests_dir" "$scratch/project" # the second user may not be allowed to read the original
chown "$user_uid:$user_gid" "$lower" "$mnt"
mount_osproffs_as_user "$lower" "$mnt"
work_with_git
work_with_sqlite
work_with_tar
! ls "$mnt" 2>/dev/null || fail "root sees into a mount made without allow_other"
as_user fusermount3 -u "$mnt"
wait "$daemon_pid"

assert_profiled CREATE READ WRITE RENAME LINK
assert_same_tree "$lower/clone" "$lower/unpacked/clone"
assert_eq "" "$(find "$lower" ! -user "$user_uid")" "files of others"
