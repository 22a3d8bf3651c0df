#!/bin/bash
# Files that most programs never meet: that can only be appended to, that appear behind a name known to be missing, whose
# last name is gone while somebody holds them, and changes of nothing.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need setpriv python3 chattr

mount_osproffs -o allow_other "$lower" "$mnt"

# ---- Appending only
if touch "$lower/log" && chattr +a "$lower/log" 2>/dev/null; then
    echo one >>"$mnt/log"
    exec 8>>"$mnt/log"
    echo two >&8
    exec 8>&-
    assert_eq 'one two' "$(paste -sd ' ' "$lower/log")" "what was appended"
    assert_refused 'Operation not permitted' bash -c "echo no >$mnt/log"
    assert_refused 'Operation not permitted' truncate -s 0 "$mnt/log"
    assert_refused "Operation not permitted: '$mnt/log'" \
        python3 -c "import os; os.open('$mnt/log', os.O_WRONLY | os.O_APPEND | os.O_TRUNC)"
    assert_refused 'Permission denied' as_user bash -c "echo no >>$mnt/log"
    assert_eq 'one two' "$(paste -sd ' ' "$lower/log")" "after what was refused"
    chattr -a "$lower/log"
else
    say "not shown: this file system knows no append-only files"
fi

# ---- A file made below behind a name that the kernel knows to be missing: as long as it was, or cut
number=0
for flags in O_CREAT 'O_CREAT | os.O_TRUNC'; do
    late=late-$((number += 1))
    ! stat "$mnt/$late" 2>/dev/null || fail "there is a file"
    echo 'long text' >"$lower/$late"
    sizes=$(python3 -c "
import os
fd = os.open('$mnt/$late', os.O_RDWR | os.$flags)
print(os.fstat(fd).st_size, os.stat('$mnt/$late').st_size, len(os.read(fd, 100)))")
    size=$(stat -c %s "$lower/$late")
    assert_eq "$size $size $size" "$sizes" "sizes after opening with $flags"
done

# ---- chown to nobody changes no owner, but takes set-id bits and sets the change time
cp /usr/bin/true "$lower/program"
chown "$user_uid" "$lower/program"
chmod 6755 "$lower/program"
before=$(stat -c %Z "$lower/program")
sleep 1.1
as_user python3 -c "import os; os.chown('$mnt/program', -1, -1)"
assert_eq 755 "$(stat -c %a "$lower/program")" "the mode after a change of nothing"
[ "$(stat -c %Z "$lower/program")" -gt "$before" ] || fail "the change time stays"
assert_eq "$(stat -c '%a %z' "$lower/program")" "$(stat -c '%a %z' "$mnt/program")" "attributes"

# ---- What the kernel has opened by itself outlives its last name
mkfifo "$lower/fifo"
mknod "$lower/zero" c 1 5
python3 - "$mnt" <<'PYTHON'
import os, socket, sys
os.chdir(sys.argv[1])
socket.socket(socket.AF_UNIX).bind("socket")
held = [os.open(name, flags) for name, flags in
        (("fifo", os.O_RDWR), ("zero", os.O_RDONLY), ("fifo", os.O_PATH), ("zero", os.O_PATH), ("socket", os.O_PATH))]
for name in ("fifo", "zero"):
    os.unlink(name)
os.mkfifo("other")
os.rename("other", "socket")
for fd in held:
    attributes = os.fstat(fd)
    assert attributes.st_nlink == 0, attributes
os.fchmod(held[0], 0o600)
assert os.fstat(held[0]).st_mode & 0o777 == 0o600
PYTHON

unmount_osproffs "$mnt"
