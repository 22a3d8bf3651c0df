#!/bin/sh
# The example counts its own system calls exactly: 101 rounds of open, three reads and one at the end of the file, close.
# Usage: test_syscalls.sh PROGRAM
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
head -c 10007 /dev/zero >"$directory/input"

"$1" "$directory/input" 2>"$directory/profile"
cat "$directory/profile"
grep -q '^# osprof 1$' "$directory/profile"
grep -Eq '^OP_OPEN 101 [0-9]+$' "$directory/profile"
grep -Eq '^OP_READ 404 [0-9]+$' "$directory/profile"
grep -Eq '^OP_CLOSE 101 [0-9]+$' "$directory/profile"
