#!/bin/bash
# osprof run offers osprof attach in the lines on what was not seen: the command works as it is printed, and sees it; where it
# would not, it is not offered.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

need_root
need gcc setpriv
provide_programs

watcher=
before_cleanup() {
    [ -z "$watcher" ] || kill -KILL "$watcher" 2>/dev/null || true
    ! mountpoint -q "$scratch/a b" || umount -l "$scratch/a b"
}

cat >unseen.c <<'END'
#include <fcntl.h>
#include <unistd.h>
int main(int count, char **names) {
    char byte;
    for (int i = 0; i < 7; i++) {
        int fd = open(names[1], O_RDONLY);
        if (count != 2 || fd < 0 || read(fd, &byte, 1) < 0 || close(fd) < 0)
            return 1;
    }
    return 0;
}
END
gcc -static -o unseen unseen.c 2>/dev/null || skip "cannot link statically"
"$OSPROF" attach --for 100ms -q / 2>err || skip "$(<err)"

# offer [COMMAND]... : the line that offers it, of osprof run with these before; "" if there is none
offer() {
    "$@" 2>&1 | grep 'osprof attach' || true
}

mkdir "a b"
mount -t tmpfs tmpfs "a b"
echo text >"a b/file"
mkdir short
see=(sh -c "$scratch/unseen '$scratch/a b/file'; true")
tail="sees them while they run, on that file system"

# ---- What is offered works

# follow LINE PROGRAM [ARGUMENT]...: runs what it offers, and meanwhile the program; prints the calls of programs unseen* that
# were seen
follow() {
    local command=${1%" $tail"} status=0
    shift
    rm -f "$scratch/attached" attach.err # of the one before
    # shellcheck disable=SC2016 # for the shell inside
    env --default-signal=INT sh -c "osprof() { exec \"\$OSPROF\" \"\$@\" -o '$scratch/attached'; }; $command" >/dev/null 2>attach.err &
    watcher=$!
    wait_until 60 grep -qs 'are counted' "attach.err" || fail "does not begin: $command: $(<attach.err)"
    "$@"
    kill -INT "$watcher"
    wait "$watcher" || status=$?
    watcher=
    assert_eq 0 "$status" "exit status of: $command"
    awk '$1 == "#" && $2 == "program:" { found = $0 ~ /unseen/ } found && /^OP_/ { print $1, $2 }' "$scratch/attached"
}

export OSPROF
line=$(offer "$OSPROF" run -d "a b" -- "${see[@]}")
assert_eq "osprof attach 'a b' $tail" "$line" "what is offered for a directory"
seen=$(follow "$line" "$scratch/unseen" "$scratch/a b/file")
for op in OPEN READ CLOSE; do
    grep -qx "OP_$op 7" <<<"$seen" || fail "$op is not seen: $seen"
done
cd "a b"
line=$(offer "$OSPROF" run -- "${see[@]}")
assert_eq "osprof attach . $tail" "$line" "what is offered for all files"
seen=$(cd "$scratch/a b" && follow "$line" ../unseen file)
cd "$scratch"
grep -qx "OP_READ 7" <<<"$seen" || fail "READ is not seen: $seen"

# A program of 32 bits, which makes its calls without the C library.
cat >foreign.c <<'END'
static int call(int number, int first, int second, int third) {
    int result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(first), "c"(second), "d"(third) : "memory");
    return result;
}
void _start(void) {
    char byte;
    int fd = call(5, (int)"file", 0, 0);
    for (int i = 0; i < 11; i++)
        call(3, fd, (int)&byte, 1);
    call(1, 0, 0, 0);
}
END
if [ "$(uname -m)" = x86_64 ] && gcc -m32 -O -fno-pie -no-pie -nostdlib -static -o unseen-32 foreign.c 2>/dev/null &&
    (cd "a b" && ../unseen-32); then
    line=$(cd "a b" && offer "$OSPROF" run -- sh -c ../unseen-32)
    assert_eq "osprof attach . $tail" "$line" "what is offered for a program of 32 bits"
    seen=$(cd "a b" && follow "$line" ../unseen-32)
    grep -qx "OP_READ 11" <<<"$seen" || fail "READ of 32 bits is not seen: $seen"
fi

# Requests of io_uring are seen, where the kernel reports them.
if (cd short && "$TEST_PROGRAMS/unseen_calls" uring); then
    line=$(cd short && offer "$OSPROF" run -- "$TEST_PROGRAMS/unseen_calls" uring)
    "$OSPROF" doctor >verdicts || true
    if grep -q '^io_uring *yes' verdicts; then
        assert_eq "osprof attach . $tail" "$line" "what is offered for io_uring"
        seen=$(cd short && follow "$line" "$TEST_PROGRAMS/unseen_calls" uring)
        grep -q "^OP_URING_WRITE " <<<"$seen" || fail "a write is not seen: $seen"
    else
        assert_eq "" "$line" "what is offered for io_uring where it is not told"
    fi
fi

# Another user has to become root for it.
chmod 755 "$scratch"
mkdir users
chown "$user_uid" users
cp "$OSPROF_LIBRARIES/libosprof_posix.so" users
as_user_in_users=(env OSPROF_LIBRARIES="$scratch/users" XDG_STATE_HOME="$scratch/users" XDG_RUNTIME_DIR="$scratch/users")
cd users
assert_eq "sudo osprof attach . $tail" "$(offer as_user "${as_user_in_users[@]}" "$OSPROF" run -- "${see[@]}")" "what is offered to a user"
cd "$scratch"

# ---- Where it would not work, or not see it, it is not offered

assert_eq "" "$(offer "$OSPROF" run -- true)" "if all was seen"
assert_eq "" "$(offer "$OSPROF" run -d "a b" -d short -- "${see[@]}")" "for files in several places"
assert_eq "" "$(offer "$OSPROF" run -d "a b" -q -- "${see[@]}")" "without a page"
assert_eq "" "$(cd /proc && offer "$OSPROF" run -- "${see[@]}")" "in a directory of the kernel's"
assert_eq "" "$(offer setpriv --bounding-set -all "$OSPROF" run -- "${see[@]}")" "without the capabilities"
! unshare --user --map-root-user true 2>/dev/null ||
    assert_eq "" "$(offer unshare --user --map-root-user "$OSPROF" run -- "${see[@]}")" "in a user namespace"
assert_eq "" "$(offer "$OSPROF" show)" "later, maybe elsewhere"
long=$(printf 'x%.0s' {1..60})
mkdir "$long"
assert_eq "" "$(offer "$OSPROF" run -d "$long" -- "${see[@]}")" "if the command is longer than a line"
if [ "${IN_OWN_NAMESPACE:-}" ] && [ -d /sys/kernel/security ] && [ -d /sys/kernel/btf ]; then
    mount -t tmpfs tmpfs /sys/kernel/security
    echo 'none integrity [confidentiality]' >/sys/kernel/security/lockdown
    assert_eq "" "$(offer "$OSPROF" run -- "${see[@]}")" "of a kernel that is locked down"
    umount /sys/kernel/security
    mount --bind short /sys/kernel/btf
    assert_eq "" "$(offer "$OSPROF" run -- "${see[@]}")" "of a kernel that does not tell its types"
    umount /sys/kernel/btf
fi
