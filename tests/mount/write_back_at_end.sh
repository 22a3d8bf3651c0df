#!/bin/bash
# What a program has written through a mapping, and still has mapped, is written below when osproffs is told to end.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need python3

size=$((1024 * 1024))
cat >"$scratch/map.py" <<'PYTHON'
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o666)
size = int(sys.argv[2])
os.ftruncate(fd, size)
pages = mmap.mmap(fd, size)
pages[:] = b"q" * size
print("mapped", flush=True)
sys.stdin.read()
os._exit(0)
PYTHON

writer=
before_cleanup() {
    exec 8>&- || true
    [ -z "$writer" ] || wait "$writer" || true
}

mkfifo "$scratch/hold"
for cache in auto none; do
    mount_osproffs -o cache="$cache" "$lower" "$mnt"
    : >"$scratch/out"
    python3 "$scratch/map.py" "$mnt/file" "$size" <"$scratch/hold" >"$scratch/out" &
    writer=$!
    exec 8>"$scratch/hold"
    wait_until 30 grep -q mapped "$scratch/out" || fail "the program does not begin"
    kill -TERM "$daemon_pid"
    assert_status 0 "told to end while a file is mapped"
    assert_eq "$size" "$(tr -dc q <"$lower/file" | wc -c)" "bytes below, cache=$cache"
    assert_eq 1 "$(profile_calls CREATE "$final_profile")" CREATE
    exec 8>&-
    wait "$writer" || true
    writer=
    umount "$mnt" 2>/dev/null || true
    rm "$lower/file"
done
