#!/bin/bash
# Descriptors are the daemon's, so one user who opens as many files as he can must leave some to others.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need setpriv python3

holder=
before_cleanup() {
    [ -z "$holder" ] || kill "$holder" 2>/dev/null || true
}

# Opens the file until that is refused, says how often and why, and keeps all open until its input ends.
open_many='
import errno, os, sys
count = 0
try:
    while count < 100000:
        os.open(sys.argv[1], os.O_RDONLY)
        count += 1
except OSError as error:
    print(count, errno.errorcode[error.errno], flush=True)
sys.stdin.read()
'

# hold_many AS FILE: in the background, until end_holding; prints how many it got
hold_many() {
    rm -f "$scratch/end" "$scratch/opened"
    mkfifo "$scratch/end"
    "$1" python3 -c "$open_many" "$2" <"$scratch/end" >"$scratch/opened" &
    holder=$!
    exec {end}>"$scratch/end"
    wait_until 60 test -s "$scratch/opened" || fail "opening many times does not end"
}

end_holding() {
    exec {end}>&-
    wait "$holder"
    holder=
}

in_user() {
    exec_as "$user_uid" "$user_gid" "" "$@"
}

echo text >"$lower/file"
mkdir -m 0777 "$lower/everybodys"
start_daemon bash -c 'ulimit -n 256; exec "$@"' - "$OSPROFFS" -f -o allow_other "$lower" "$mnt"
wait_for_mount "$mnt"
hold_many in_user "$mnt/file"
read -r opened why <"$scratch/opened"
assert_eq ENFILE "$why" "why opening ends"
[ "$opened" -ge 64 ] || fail "the user opens $opened files of 256 descriptors"
[ "$opened" -le 128 ] || fail "the user opens $opened files of 256 descriptors"
assert_refused 'Too many open files in system' as_user cat "$mnt/file"
assert_refused 'Too many open files in system' as_user ls "$mnt/everybodys"
assert_refused 'Too many open files in system' as_user bash -c ": >$mnt/everybodys/new"
[ ! -e "$lower/everybodys/new" ] || fail "a file is made that could not be opened"
assert_eq text "$(cat "$mnt/file")" "read by root"
assert_eq text "$(as_ids 1234 1234 "" cat "$mnt/file")" "read by a third user"
as_ids 1234 1234 "" bash -c "echo own >$mnt/everybodys/third && ls $mnt >/dev/null"
end_holding
assert_eq text "$(as_user cat "$mnt/file")" "when all are closed"
umount "$mnt"
assert_status 0 "many open files"
