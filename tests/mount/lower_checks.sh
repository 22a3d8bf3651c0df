#!/bin/bash
# With no_default_permissions the lower file system checks, as the caller: another user gets no further than below,
# whatever the kernel leaves to us or never asks about.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need setpriv python3

mkdir -m 0755 "$lower/dir"
mkdir -m 0777 "$lower/dir/everybodys"
echo secret >"$lower/dir/secret" && chmod 0600 "$lower/dir/secret"
echo readable >"$lower/dir/readable"
cp /usr/bin/true "$lower/dir/hidden-program" && chmod 0711 "$lower/dir/hidden-program"
cp /usr/bin/true "$lower/dir/no-program" && chmod 0744 "$lower/dir/no-program"
mkfifo -m 0600 "$lower/dir/fifo"
mkfifo -m 0666 "$lower/dir/open-fifo"
mknod -m 0600 "$lower/dir/zero" c 1 5
mknod -m 0666 "$lower/dir/open-zero" c 1 5
mknod -m 0644 "$lower/dir/half-open-zero" c 1 5
python3 - "$lower/dir" <<'PYTHON'
import os, socket, sys
os.chdir(sys.argv[1])
socket.socket(socket.AF_UNIX).bind("socket")
os.chmod("socket", 0o600)
PYTHON

# open_with ACCESS-MODE FILE: prints OK, or the error
cat >"$scratch/open_with.py" <<'PYTHON'
import errno, os, sys
try:
    os.close(os.open(sys.argv[2], int(sys.argv[1]) | os.O_NONBLOCK))
    print("OK")
except OSError as error:
    print(errno.errorcode[error.errno])
PYTHON
open_with() {
    as_user python3 "$scratch/open_with.py" "$@"
}

# open_all ERROR-OF-DEVICES: what the kernel opens by itself is found by nobody who may not read and write it, except
# devices where nobody can open them.
open_all() {
    local file mode
    for file in secret fifo zero half-open-zero; do
        for mode in 0 1 2 3; do
            [ "$file$mode" != half-open-zero0 ] || continue
            assert_eq EACCES "$(open_with "$mode" "$above/$file")" "$file opened with access mode $mode"
        done
    done
    assert_eq OK "$(open_with 0 "$above/open-fifo")"
    assert_eq "$1" "$(open_with 2 "$above/open-zero")" "a device that everybody may use"
}

above=$mnt/dir
mknod -m 0600 "$lower/dir/everybodys/zero" c 1 5
mount_osproffs -o allow_other,no_default_permissions,dev "$lower" "$mnt"
open_all OK
assert_refused 'Permission denied' as_user stat "$above/zero"
assert_refused 'Permission denied' as_user rm -f "$above/everybodys/zero"
remount_osproffs -o allow_other,no_default_permissions "$lower" "$mnt"
open_all EACCES

# A device is a name like others then.
assert_eq '1:5 600' "$(as_user stat -c '%t:%T %a' "$above/zero")" "a device of root's"
assert_refused 'Operation not permitted' as_user chmod 0666 "$above/zero"
assert_refused 'Permission denied' as_user rm -f "$above/zero"
as_user mv "$above/everybodys/zero" "$above/everybodys/moved"
as_user rm -f "$above/everybodys/moved"
assert_eq "" "$(ls "$lower/dir/everybodys")" "what is left below"
mknod -m 0600 "$lower/dir/everybodys/own" c 1 5
chown "$user_uid" "$lower/dir/everybodys/own"
as_user chmod 0640 "$above/everybodys/own"
assert_eq 640 "$(stat -c %a "$lower/dir/everybodys/own")" "mode of an own device"
assert_eq EACCES "$(open_with 0 "$above/everybodys/own")" "an own device"
rm "$lower/dir/everybodys/own"
# Remounted with dev: hidden again.
export LIBMOUNT_FORCE_MOUNT2=always # by fsconfig(2), as mount(8) has it since 2.41, FUSE allows no change
mount -i -o remount,dev "$mnt"
assert_refused 'Permission denied' as_user stat "$above/zero"
open_all OK
mount -i -o remount,nodev "$mnt"
as_user stat "$above/zero" >"$scratch/out"

# By path, by a descriptor, and while opening: for writing, or only for reading.
for file in secret readable; do
    assert_refused "Permission denied: '$above/$file'" as_user python3 -c "import os; os.truncate('$above/$file', 0)"
    assert_refused 'Permission denied' as_user truncate -s 0 "$above/$file"
    assert_refused 'Permission denied' as_user bash -c "true >$above/$file"
    assert_refused "Permission denied: '$above/$file'" \
        as_user python3 -c "import os; os.open('$above/$file', os.O_RDONLY | os.O_TRUNC)"
done
assert_eq 'secret readable' "$(cat "$lower/dir/secret" "$lower/dir/readable" | paste -sd ' ')" "files of root"

# the access mode 3 asks for both
assert_eq OK "$(open_with 0 "$above/readable")"
assert_eq EACCES "$(open_with 3 "$lower/dir/readable")"
assert_eq EACCES "$(open_with 3 "$above/readable")" "a readable file opened with access mode 3"
as_user touch "$above/everybodys/own"
assert_eq OK "$(open_with 3 "$above/everybodys/own")" "an own file opened with access mode 3"

as_user "$above/hidden-program" || fail "a program that may be run but not read does not run"
assert_refused 'Permission denied' as_user cat "$above/hidden-program"
assert_refused 'Permission denied' as_user "$above/no-program"

# What a caller's own capabilities allow, and root without them.
with_capability() {
    setpriv --reuid "$user_uid" --regid "$user_gid" --clear-groups --inh-caps "+$1" --ambient-caps "+$1" -- "${@:2}"
}
assert_eq secret "$(with_capability dac_read_search cat "$above/secret")" "read with CAP_DAC_READ_SEARCH"
assert_refused 'Permission denied' with_capability chown cat "$above/secret"
with_capability dac_override truncate -s 3 "$above/secret"
with_capability chown chown 1234 "$above/secret"
assert_eq '1234 3' "$(stat -c '%u %s' "$lower/dir/secret")" "after truncate and chown by capability"
chmod 0600 "$lower/dir/secret"
powerless() {
    setpriv --bounding-set=-all --inh-caps=-all -- "$@"
}
assert_refused 'Permission denied' powerless cat "$above/secret"
assert_refused 'Permission denied' powerless truncate -s 0 "$above/secret"
assert_refused 'Operation not permitted' powerless chown 0 "$above/secret"
# Root of a user namespace of its own has all capabilities, but there only.
assert_refused 'Permission denied' unshare -U cat "$above/secret"
assert_refused 'Permission denied' unshare -Ur cat "$above/secret"
unmount_osproffs "$mnt"
