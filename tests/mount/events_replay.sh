#!/bin/bash
# osprof events replay: a recorded real load is done again on another file system, from nothing: all its operations, with
# the same results and errors, and the same names and sizes are there in the end.
. "$(dirname "$0")/lib.sh"

other=$scratch/other
mkdir "$other"
if is_root; then
    mount -t tmpfs -o size=256M other "$other"
    before_cleanup() { umount "$other"; }
fi

tree() { # tree DIR: names, types and sizes, of all but directories
    (cd "$1" && find . -mindepth 1 \( -type d -printf '%P %y\n' -o -printf '%P %y %s\n' \) | sort)
}

# What was there before; the directories listed by a search are large enough to be read in parts.
mkdir -p "$lower"/{src,headers/deep}
for ((i = 0; i < 307; i++)); do
    head -c $((i * 97)) /dev/zero | tr '\0' "$((i % 10))" >"$lower/headers/deep/header-$i.h"
    echo "int f$i(void) { return $i; }" >"$lower/src/f$i.c"
done
echo old >"$lower/old"

mount_osproffs -o "events=$scratch/recorded,events_names" "$lower" "$mnt"
(
    cd "$mnt"
    grep -rlq 777 headers || true
    mkdir build
    for ((worker = 0; worker < 4; worker++)); do # as make -j4 does
        (
            for ((i = worker; i < 60; i += 4)); do
                sed 's/int/long/' "src/f$i.c" >"build/f$i.tmp"
                mv "build/f$i.tmp" "build/f$i.o"
                cat "build/f$i.o" >>"build/log-$worker"
            done
        ) &
    done
    wait
    tar cf all.tar headers build
    mkdir copy
    tar xf all.tar -C copy
    rm -r copy/headers old
    ln all.tar build/hard
    ln -s hard build/symbolic
    mv build built
    truncate -s 1000000 built/log-0
    cat no-such-file 2>/dev/null || true
    mkdir built 2>/dev/null || true
    rmdir built 2>/dev/null || true
    chmod 600 built/log-1
    ! have sqlite3 || sqlite3 -batch -bail db 'CREATE TABLE t(a); INSERT INTO t VALUES (1), (2); UPDATE t SET a = a + 1;' >/dev/null
)
unmount_osproffs "$mnt"

# ---- As fast as possible, and with the recorded gaps; SQLite changes owners, as root

"$OSPROF" events profile -o "$scratch/recorded.osprof" "$scratch/recorded"
for how in --fast --sparse; do
    mkdir "$other/$how"
    status=0
    "$OSPROF" events replay "$how" --privileged -p "$scratch/replayed.osprof" "$scratch/recorded" "$other/$how" >"$scratch/out" || status=$?
    head -n 30 "$scratch/out" >&2
    assert_eq 0 "$status" "status of the replay, $how"
    grep -q ' 0 not done; 0 came out otherwise$' "$scratch/out" || fail "not all was done, or as recorded"
    "$OSPROF" check "$scratch/replayed.osprof"
    for op in CREATE WRITE MKDIR RENAME2 UNLINK RMDIR LINK SYMLINK OPEN READ LOOKUP READDIRPLUS RELEASE; do
        assert_eq "$(profile_calls "$op" "$scratch/recorded.osprof")" "$(profile_calls "$op" "$scratch/replayed.osprof")" \
            "calls of $op, $how"
    done
    diff <(tree "$lower" | grep -v '^src/f[0-9]*.c\|\.h f') <(tree "$other/$how" | grep -v '^src/f[0-9]*.c\|\.h f') >&2 ||
        fail "other names or sizes, $how"
    for i in 0 1 17 59; do
        assert_eq "$(stat -c %s "$lower/src/f$i.c")" "$(stat -c %s "$other/$how/src/f$i.c")" "size of what was read, $how"
    done
    for i in 0 1 17 306; do
        assert_eq "$(stat -c %s "$lower/headers/deep/header-$i.h")" "$(stat -c %s "$other/$how/headers/deep/header-$i.h")" \
            "size of what was searched, $how"
    done
    rm -rf "${other:?}/$how"
done
