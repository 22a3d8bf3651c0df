#!/bin/bash
# Files that were removed below, which only the kernel's memory of names keeps: where it can be asked to forget, their
# descriptors go to others, and what programs hold without having it open stays.
. "$(dirname "$0")/lib.sh"
need_root
. "$tests_dir/helpers.sh"
. "$tests_dir/descriptors_lib.sh"

need python3
[ "$(printf '%s\n' 6.18 "$(uname -r)" | sort -V | head -n 1)" = 6.18 ] || skip "the kernel cannot be asked to forget"

# Holds those that are named by O_PATH, says so, and tells in the end how many of them it can still look at.
hold='
import os, sys
held = [os.open(path, os.O_PATH) for path in sys.argv[1:]]
print("held", flush=True)
sys.stdin.read()
found = 0
for fd in held:
    try:
        found += os.fstat(fd).st_nlink == 0
    except OSError:
        pass
print(found)
'

descriptors_of() { # NAME
    find "/proc/$daemon_pid/fd" -lname "*/$1*" | wc -l
}

# have_none NAME: walking a tree takes descriptors from what has not been used for longest.
have_none() {
    ls -l "$mnt/tree" >/dev/null
    [ "$(descriptors_of "$1")" -eq 0 ]
}

before_cleanup() {
    [ -z "$holder" ] || kill -KILL "$holder"
}

holder=
kind=overlay
begin_kind "$kind"
mkdir "$shown/tree" "$shown/d"
touch "$shown"/tree/{1..200} "$shown"/d/held-{1..10}
mount_limited 128
mkfifo "$scratch/end"
python3 -c "$hold" "$mnt"/d/held-{1..10} <"$scratch/end" >"$scratch/found" &
holder=$!
exec {end}>"$scratch/end"
wait_until 20 grep -q held "$scratch/found" || fail "nothing is held"
rm "$shown"/d/held-*
for round in {1..6}; do
    touch "$shown"/d/gone-"$round"-{1..30}
    ls -l "$mnt/d" >/dev/null
    rm "$shown"/d/gone-*
    wait_until 30 have_none "gone-$round-" || fail "$(descriptors_of gone-) descriptors are left in round $round"
done
exec {end}>&-
wait "$holder"
holder=
assert_eq 10 "$(tail -n 1 "$scratch/found")" "removed files that are held"
end_kind
