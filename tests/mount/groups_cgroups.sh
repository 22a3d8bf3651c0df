#!/bin/bash
# Cgroups: the calls of those in one are together, and others do not learn of it.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need perl
top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
[ -n "$top" ] || skip "no cgroup2 is mounted"
cgroup=osproffs-test-$$
mkdir "$top/$cgroup" 2>/dev/null || skip "no cgroup can be made in $top"
reader=
before_cleanup() {
    if [ -n "$reader" ]; then
        kill "$reader" 2>/dev/null || true
        wait "$reader" 2>/dev/null || true
    fi
    rmdir "$top/$cgroup" || true
}

echo content >"$lower/file"
chmod 755 "$lower"

mount_osproffs -o cache=none,allow_other,by=cgroup+uid "$lower" "$mnt"
(
    echo 0 >"$top/$cgroup/cgroup.procs"
    exec perl -e 'for (1 .. 13) { open(F, $ARGV[0]); close(F) } sleep(600)' "$mnt/file"
) &
reader=$!
files_opened() {
    cat "$mnt/.osprof" >"$scratch/profile"
    awk -v cgroup="/$cgroup" '/^#/ { found = $2 == "cgroup:" && $3 ~ cgroup "$" } found && $1 == "OP_OPEN" { print $2 }' \
        "$scratch/profile"
}
has_opened_all() {
    [ "$(files_opened)" = 13 ]
}
wait_until 60 has_opened_all || fail "files opened in the cgroup: expected 13, found '$(files_opened)'"
"$OSPROF" show --check "$scratch/profile" >/dev/null
"$OSPROF" show --by cgroup "$scratch/profile" | grep -q "$cgroup " || fail "show --by cgroup has no row of $cgroup"

# Of the profile that others read cgroups are no part, users are.
for file in .osprof .osprof.json .osprof.metrics; do
    as_user cat "$mnt/$file" >"$scratch/shown"
    ! grep -q cgroup "$scratch/shown" || fail "$file shows cgroups to another user"
done
as_user cat "$mnt/.osprof" | grep -q '^# uid: ' || fail "another user is shown no users"
command_control "dump $scratch/dumped"
grep -q "^# cgroup: .*/$cgroup\$" "$scratch/dumped" || fail "no cgroup in a dump"
assert_eq 600 "$(stat -c %a "$scratch/dumped")" "mode of a dump"
kill "$reader"
wait "$reader" || true
reader=
unmount_osproffs "$mnt"
