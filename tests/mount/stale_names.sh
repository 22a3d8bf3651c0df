#!/bin/bash
# The kernel lets a caller through by what it knew of a name up to a second ago. Somebody who is root in a user namespace of
# his own must not get at what root has put there since.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need setpriv python3 unshare
as_user unshare -Ur true 2>/dev/null || skip "users cannot make user namespaces"
mkdir -m 1777 "$lower/shared"
mkdir -m 0777 "$scratch/signs"

# Looks at a name, waits until root has put a file there, and tries what it can.
cat >"$scratch/attack.py" <<'PYTHON'
import os, sys, time
how, name, signs = sys.argv[1:]
if how == "unlink":
    open(name, "w").close()
try:
    os.stat(name)
except FileNotFoundError:
    pass
open(signs + "/looked", "w").close()
while not os.path.exists(signs + "/put"):
    time.sleep(0.01)
try:
    if how == "unlink":
        os.unlink(name)
    else:
        os.open(name, os.O_RDWR | os.O_CREAT | (os.O_TRUNC if how == "truncate" else 0))
    print("done")
except OSError as error:
    print(error.strerror)
PYTHON

attack() {
    rm -f "$scratch"/signs/* "$lower/shared/name"
    exec_as "$user_uid" "$user_gid" "" unshare -Ur \
        python3 "$scratch/attack.py" "$1" "$mnt/shared/name" "$scratch/signs" >"$scratch/out" &
    wait_until 30 test -e "$scratch/signs/looked" || fail "$1 does not begin"
    echo secret >"$lower/secret" && chmod 0600 "$lower/secret"
    mv "$lower/secret" "$lower/shared/name"
    touch "$scratch/signs/put"
    wait "$!"
    assert_eq "$2" "$(cat "$scratch/out")" "$1 of root's file"
    assert_eq '0 600 secret' "$(stat -c '%u %a' "$lower/shared/name") $(cat "$lower/shared/name")" "root's file after $1"
}

for options in allow_other allow_other,cache=always; do
    mount_osproffs -o "$options" "$lower" "$mnt"
    attack open 'Permission denied'
    attack truncate 'Permission denied'
    unmount_osproffs "$mnt"
    mount_osproffs -o "$options" "$lower" "$mnt"
    attack unlink 'Operation not permitted'
    unmount_osproffs "$mnt"
done
