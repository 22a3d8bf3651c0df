#!/bin/bash
# Calls that failed, by errno, and bytes asked and moved: the profile has exactly those that a program made, and strace saw.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

threads=3

prepare() {
    rm -rf "${lower:?}"/*
    for ((i = 1; i <= threads; i++)); do
        mkdir -p "$lower/$i/full/of"
        head -c 10007 /dev/zero >"$lower/$i/data"
        touch "$lower/$i/out" "$lower/$i/copy"
    done
}

# counted PROFILE: what its header says, a line for each operation and error, and for each with bytes. Not for extended
# attributes read: before a write the kernel asks of itself for security.capability.
counted() {
    awk '/^# failed: / && $3 != "GETXATTR" { for (i = 4; i < NF; i += 2) print $3, $i, $(i + 1) }
        /^# bytes: / { print $3, $5, $7 }' "$1" | LC_ALL=C sort
}

# seen_by_strace LOG...: the same of the system calls in these
seen_by_strace() {
    sed -nE -e 's/^(newfstatat|statx)\(.* = -1 (E[A-Z0-9]*) .*/LOOKUP \2/p' \
        -e 's/^unlinkat\(.* = -1 (E[A-Z0-9]*) .*/RMDIR \1/p' \
        -e 's/^f(set|remove)xattr\(.* = -1 (E[A-Z0-9]*) .*/\U\1xattr \2/p' \
        -e 's/^lseek\(.* = -1 (E[A-Z0-9]*) .*/LSEEK \1/p' \
        -e 's/^fallocate\(.* = -1 (E[A-Z0-9]*) .*/FALLOCATE \1/p' \
        -e 's/^pread64\(.*, ([0-9]+), [0-9]+\) += ([0-9]+)$/READ \1 \2/p' \
        -e 's/^pwrite64\(.*, ([0-9]+), [0-9]+\) += ([0-9]+)$/WRITE \1 \2/p' \
        -e 's/^copy_file_range\(.*, ([0-9]+), 0\) += ([0-9]+)$/COPY_FILE_RANGE \1 \2/p' "$@" |
        awk 'NF == 2 { failures[$0]++ } NF == 3 { asked[$1] += $2; moved[$1] += $3 }
            END { for (f in failures) print f, failures[f]; for (op in asked) print op, asked[op], moved[op] }' |
        LC_ALL=C sort
}

# check_exactly EXPECTED [OPTION]...: with these options the profile has what the program says
check_exactly() {
    local what=$1
    shift
    prepare
    mount_osproffs "$@" "$lower" "$mnt"
    "$TEST_PROGRAMS/fail_and_move" "$mnt" "$threads" | LC_ALL=C sort >"$scratch/expected"
    cat "$mnt/.osprof" >"$scratch/profile"
    "$OSPROF" show --check "$scratch/profile" >&2 || fail "osprof show --check: $*"
    counted "$scratch/profile" >"$scratch/counted"
    "check_$what" "$*"
    command_control reset
    assert_eq "" "$(counted "$mnt/.osprof")" "counts after a reset: $*"
    unmount_osproffs "$mnt"
    assert_eq "" "$(counted "$final_profile")" "counts of the final profile: $*"
}

check_all() {
    assert_eq "$(<"$scratch/expected")" "$(<"$scratch/counted")" "all counts: $1"
}

# Reads go through the page cache: what is asked for are pages, and nothing is moved twice.
check_all_but_reads() {
    assert_eq "$(grep -v '^READ ' "$scratch/expected")" "$(grep -v '^READ ' "$scratch/counted")" "counts: $1"
    assert_eq "$((threads * 10007))" "$(awk '$1 == "READ" { print $3 }' "$scratch/counted")" "bytes read: $1"
    awk '$1 == "READ" && $2 >= $3 { found = 1 } END { exit !found }' "$scratch/counted" || fail "more moved than asked"
}

check_exactly all -o cache=none
for line in "LOOKUP ENOENT $((threads * 101))" "RMDIR ENOTEMPTY $((threads * 7))" "LSEEK ENXIO $((threads * 3))" \
    "READ $((threads * 17 * 4096)) $((threads * 10007))" "WRITE $((threads * 19 * 1003)) $((threads * 19 * 1003))" \
    "COPY_FILE_RANGE $((threads * 5 * 1999)) $((threads * 5 * 1999))"; do
    grep -qxF "$line" "$scratch/expected" || fail "the program did not make: $line"
done
check_exactly all -o cache=none,joint=read:size+lookup:error+rmdir:error
check_exactly all -o cache=none,by=process
check_exactly all -o cache=none -s
check_exactly all_but_reads

# The final profile has them, as the control file had; and so has the live file of a daemon that was killed.
prepare
mount_osproffs -o cache=none "$lower" "$mnt"
"$TEST_PROGRAMS/fail_and_move" "$mnt" "$threads" | LC_ALL=C sort >"$scratch/expected"
unmount_osproffs "$mnt"
assert_eq "$(<"$scratch/expected")" "$(counted "$final_profile")" "counts of the final profile"
prepare
mount_osproffs -o cache=none "$lower" "$mnt"
"$TEST_PROGRAMS/fail_and_move" "$mnt" "$threads" | LC_ALL=C sort >"$scratch/expected"
live=$(live_file)
kill -KILL "$daemon_pid"
wait_until 30 test ! -e "/proc/$daemon_pid/fd/0" || fail "osproffs does not die"
"$OSPROF" save -o "$scratch/recovered" "$live"
assert_eq "$(<"$scratch/expected")" "$(counted "$scratch/recovered")" "counts in the live file"
umount -l "$mnt"
rm "$live"

# strace sees the same system calls; those of the first thread are of starting the program.
if strace -o /dev/null true 2>/dev/null; then
    prepare
    mount_osproffs -o cache=none "$lower" "$mnt"
    ASAN_OPTIONS=detect_leaks=0 strace -ff -s 0 -o "$scratch/strace" "$TEST_PROGRAMS/fail_and_move" "$mnt" "$threads" >/dev/null
    mapfile -t logs < <(grep -L execve "$scratch"/strace.*)
    assert_eq "$threads" "${#logs[@]}" "threads that strace saw"
    seen_by_strace "${logs[@]}" >"$scratch/expected"
    counted "$mnt/.osprof" >"$scratch/counted"
    check_all "as strace counts"
    unmount_osproffs "$mnt"
fi

# Over rings, where there are any.
if "$OSPROFFS" -V | grep -q +io_uring && grep -qs Y /sys/module/fuse/parameters/enable_uring; then
    check_exactly all -o cache=none,io_uring
fi
