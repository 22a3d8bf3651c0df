#!/bin/bash
# A lower directory that is read-only: the mount says so as it does, unless something below it can be written to or rw is
# given; and one that becomes read-only later.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_user_mounts "$@"
need python3

# What statvfs(3), access(2) and writing say of a directory and of a file in it.
ask='
import errno, os, sys
directory = sys.argv[1]
file = os.path.join(directory, "file")

def outcome(call):
    try:
        return call() or "done"
    except OSError as error:
        return errno.errorcode[error.errno]

print("ST_RDONLY", bool(os.statvfs(directory).f_flag & os.ST_RDONLY), bool(os.statvfs(file).f_flag & os.ST_RDONLY))
for place in (directory, file):
    print("access", os.access(place, os.R_OK), os.access(place, os.W_OK))
print("open", outcome(lambda: os.close(os.open(file, os.O_WRONLY))))
print("create", outcome(lambda: os.close(os.open(file + ".new", os.O_CREAT | os.O_WRONLY, 0o644))))
print("chmod", outcome(lambda: os.chmod(file, 0o644)))
print("mkdir", outcome(lambda: os.mkdir(file + ".directory")))
print("remove", outcome(lambda: os.rmdir(file + ".directory")), outcome(lambda: os.unlink(file + ".new")))
print("unlink", outcome(lambda: os.unlink(file + ".missing")))
'

# assert_same BELOW ABOVE
assert_same() {
    python3 -c "$ask" "$1" >"$scratch/below"
    python3 -c "$ask" "$2" >"$scratch/above"
    diff "$scratch/below" "$scratch/above" >&2 || fail "$options: $2 is not as $1"
}

assert_read_only() {
    findmnt -no OPTIONS "$mnt" | grep -q '^ro,' || fail "$options: not ro: $(findmnt -no OPTIONS "$mnt")"
    grep -qx 'ST_RDONLY True True' "$scratch/above" || fail "$options: not read-only"
}

assert_writable() {
    findmnt -no OPTIONS "$mnt" | grep -q '^rw,' || fail "$options: not rw: $(findmnt -no OPTIONS "$mnt")"
}

mount -t tmpfs -o mode=0755,size=1m tmpfs "$lower"
mkdir "$lower/sub"
echo text >"$lower/file"
mount -o remount,ro "$lower"

for options in default_permissions no_default_permissions allow_other; do
    mount_osproffs -o "${options/#no/allow_other,no}" "$lower" "$mnt"
    assert_same "$lower" "$mnt"
    assert_read_only
    unmount_osproffs "$mnt"
done
chown "$user_uid" "$mnt"
options=user
mount_osproffs_as_user "$lower" "$mnt"
findmnt -no OPTIONS "$mnt" | grep -q '^ro,' || fail "the mount of an ordinary user is not ro"
unmount_osproffs "$mnt"

# As soon as it can be written to, the mount can be commanded.
options=remounted
mount_osproffs -o allow_other "$lower" "$mnt"
mount -o remount,rw "$lower"
assert_refused 'Read-only file system' touch "$mnt/file"
"$OSPROFFS" -o remount,rw "$lower" "$mnt"
assert_same "$lower" "$mnt"
touch "$mnt/file"
# It becomes read-only later, when the daemon has closed the file too: what is written fails as below.
becomes_read_only() {
    mount -o remount,ro "$lower" 2>/dev/null
}
wait_until 20 becomes_read_only || fail "it cannot be made read-only"
assert_refused 'Read-only file system' touch "$mnt/file"
assert_refused 'Read-only file system' mkdir "$mnt/directory"
assert_refused 'Read-only file system' bash -c "echo >>'$mnt/file'"
unmount_osproffs "$mnt"
options=no_default_permissions
mount_osproffs -o "rw,allow_other,$options" "$lower" "$mnt"
[ ! -w "$mnt/file" ] || fail "access(2) says that a file can be written, whose file system is read-only"
assert_writable
echo reset >"$mnt/.osprof" || fail "with rw the control file takes no commands"
unmount_osproffs "$mnt"

# A mount below it that can be written to stays so, and only one that can.
options=submount
mount -t tmpfs -o mode=0755,size=1m tmpfs "$lower/sub"
echo text >"$lower/sub/file"
mount_osproffs -o allow_other "$lower" "$mnt"
assert_writable
assert_same "$lower/sub" "$mnt/sub"
assert_refused 'Read-only file system' touch "$mnt/file"
unmount_osproffs "$mnt"
mount -o remount,ro,bind "$lower/sub"
mount_osproffs -o allow_other "$lower" "$mnt"
assert_same "$lower/sub" "$mnt/sub"
assert_read_only
unmount_osproffs "$mnt"
umount "$lower/sub"

# Programs are profiled there too.
"$OSPROF" run --layers fs -d "$lower" -q -o "$scratch/recording" -- cat "$lower/file" >"$scratch/out"
grep -qx text "$scratch/out" || fail "osprof run over a directory that is read-only"
"$OSPROF" show --check "$scratch/recording" >&2
umount "$lower"
