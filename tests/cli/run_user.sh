#!/bin/bash
# osprof run by an ordinary user, without privilege: who the command is, what it may do, that nothing is left; and what
# is said where the kernel does not allow it.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=run_lib.sh
. "$tests_dir/../cli/run_lib.sh"

need_user_mounts "$@"
user_uid=65533 user_gid=65533 # 65534 is what those without a number are shown as
as_user unshare --user --mount true 2>/dev/null || skip "user namespaces are not allowed here"
chown "$user_uid:$user_gid" "$scratch"/*-user
chown "$user_uid:12345" "$lower"
export TMPDIR=$scratch/home-user

# expect_as_user STATUS ARGUMENT...: as expect, by the user, who is also in group 12345
expect_as_user() {
    local wanted=$1 status=0
    shift
    as_ids "$user_uid" "$user_gid" 12345 "$OSPROF" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    [ "$status" = "$wanted" ] || {
        cat "$scratch/out" "$scratch/err" >&2
        fail "exit status $status, not $wanted, of: osprof $*"
    }
}

profile=$scratch/home-user/profile

# ---- Who the command is

cd "$lower"
# shellcheck disable=SC2016
identity='id -u; id -g; pwd; umask; grep -E "^(Uid|Gid|Cap|NoNewPrivs)" /proc/self/status; stat -f -c %T .'
expect_as_user 0 run --layers fs -q -o "$profile" -- sh -c "$identity"
mv "$scratch/out" "$scratch/seen"
as_ids "$user_uid" "$user_gid" 12345 sh -c "$identity" >"$scratch/expected"
diff "$scratch/expected" "$scratch/seen" >"$scratch/differences" || true
assert_eq "$(printf '< %s\n> fuseblk\n' "$(tail -n 1 "$scratch/expected")")" \
    "$(sed -n 's/^> fuse$/> fuseblk/; /^[<>]/p' "$scratch/differences")" "what differs from outside: the file system alone"
assert_nothing_left

# ---- Files of others can be written where the modes allow it, by group and by everybody

mkdir "$scratch/shared" "$scratch/shared/sticky"
echo text >"$scratch/shared/for-group"
echo text >"$scratch/shared/for-all"
echo text >"$scratch/shared/for-root"
echo text >"$scratch/shared/sticky/not-ours"
chown root:12345 "$scratch/shared" "$scratch/shared/for-group"
chmod 2775 "$scratch/shared"
chmod 1777 "$scratch/shared/sticky"
chmod 0664 "$scratch/shared/for-group"
chmod 0666 "$scratch/shared/for-all" "$scratch/shared/sticky/not-ours"
cd "$scratch/shared"
expect_as_user 0 run --layers fs -q -o "$profile" -- sh -c 'set -e
    echo more >>for-group; echo more >>for-all; ! echo more >>for-root; ! chmod 0777 for-root
    mkdir new; echo new >new/file; ! rm sticky/not-ours; ! chown 0 for-all; rm for-all'
assert_eq "12345 $user_uid" "$(stat -c %g new) $(stat -c %u new/file)" "owners of what is new"
assert_eq "root 664" "$(stat -c '%U %a' for-group)" "an owner that has no number in the namespace"
assert_eq "2 1" "$(wc -l <for-group) $(wc -l <for-root)" "lines"
cd "$scratch"

# ---- Counts, several directories, the profile within, one within another

cd "$lower"
expect_as_user 0 run --layers fs --mount-option cache=none -o ./profile -- sh -c 'mkdir known-1 known-2 known-3 known-4 known-5 known-6 known-7; rmdir known-1 known-2 known-3 known-4 known-5'
assert_known_load profile
assert_eq "$user_uid" "$(stat -c %u profile)" "the profile's owner"
rmdir known-6 known-7
# Two commands in turn: mounts are made and unmade several times in one namespace.
expect_as_user 0 run --layers fs --mount-option cache=none -o ./runs --repeat 2 --vs 'mkdir a && rmdir a && id -u' -- sh -c 'mkdir b && rmdir b'
for run in a-01 a-02 b-01 b-02; do
    assert_eq "1 $user_uid" "$(profile_calls MKDIR "runs/$run.osprof") $(stat -c %u "runs/$run.osprof")" "MKDIR of $run, and whose it is"
done
rm -r runs
mkdir a b
chown "$user_uid" a b
expect_as_user 0 run --layers fs -d a -d b -o "$profile" -- mkdir a/1 a/2 b/1
assert_eq "2 1" "$(profile_calls MKDIR "$profile.1") $(profile_calls MKDIR "$profile.2")" "MKDIR in two directories"
expect_as_user 0 run --layers fs -d a -o "$profile" -- "$OSPROF" run --layers fs -d a -o "$profile.inner" -- mkdir a/3
assert_eq "1 1" "$(profile_calls MKDIR "$profile") $(profile_calls MKDIR "$profile.inner")" "MKDIR of a run within a run"
expect_as_user 137 run --layers fs -q -o "$profile" -- sh -c 'kill -KILL $$'
cd "$scratch"
assert_nothing_left

# ---- Where it is not allowed

chmod 0600 /dev/fuse # of this namespace
expect_as_user 125 run --layers fs -d "$lower" true
assert_eq "osprof: cannot mount: /dev/fuse is not for this user; as root, chmod 666 /dev/fuse" "$(<err)" "without /dev/fuse"
chmod 0666 /dev/fuse

# The limit of a namespace binds those within; without capabilities there only another one would help.
# shellcheck disable=SC2016
as_user unshare --user --map-root-user sh -c 'echo 0 >/proc/sys/user/max_user_namespaces
    exec setpriv --bounding-set -all --inh-caps -all "$@"' - "$OSPROF" run --layers fs -d "$lower" true >out 2>err && fail "not refused" || status=$?
assert_eq 125 "$status" "status where user namespaces are refused"
assert_eq "osprof: cannot make a user namespace: /proc/sys/user/max_user_namespaces is 0 here; let root raise it, run as root, or mount with osproffs(1)" \
    "$(<err)" "message"

# Whom the container does not let have capabilities gets none in the namespace either.
as_user unshare --user --map-root-user setpriv --bounding-set -all,+setfcap --inh-caps -all \
    "$OSPROF" run --layers fs -d "$lower" -q -o "$profile" -- grep -E '^Cap(Prm|Eff|Bnd)' /proc/self/status >out
assert_eq "0000000080000000" "$(awk '{ print $2 }' out | sort -u)" "capabilities of a root that has few"
assert_nothing_left
