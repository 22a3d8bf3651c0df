#!/bin/bash
# Times of birth are those of the lower files, and what comes with them is no different from what is asked for without:
# for files of every kind, for root and others, and when the kernel has cached the rest.
. "$(dirname "$0")/lib.sh"

need_root
kernel_is_from 6.6 || skip "this kernel asks for no times of birth"

# Of all that is in the directory, sorted. stat asks for the time of birth if that is to be printed.
cat >"$scratch/script" <<'SCRIPT'
find . -print0 2>&1 | sort -z | xargs -0 stat -c '%n %w %x %y %z %i %s %b %B %F %a %u:%g %h %t:%T' 2>&1
SCRIPT

# what_is DIRECTORY [AS]
what_is() {
    # shellcheck disable=SC2086 # the function as_user, or nothing
    (cd "$1" && ${2:-} bash "$scratch/script") || true # not every directory is for everybody
}

# compare OPTIONS
compare() {
    local as
    mount_osproffs -o "allow_other,$1" "$lower" "$mnt"
    ls -lR "$mnt" >/dev/null
    for as in '' as_user; do
        what_is "$lower" "$as" >"$scratch/below"
        what_is "$mnt" "$as" >"$scratch/above"
        [ "$(wc -l <"$scratch/below")" -gt 300 ] || fail "nothing to compare: $(<"$scratch/below")"
        diff "$scratch/below" "$scratch/above" >&2 || fail "not what is below, with $1 ${as:+as another user}"
    done
    ! grep -q "^./many/7 -" "$scratch/below" || skip "the file system of $scratch knows no times of birth"
    assert_eq "$(stat -c %W "$lower/many/7")" "$(stat -c %W - <"$mnt/many/7")" "time of birth of an open file"
    [ "$(stat -c %W "$mnt/.osprof")" -gt 0 ] || fail "the control file has no time of birth"
    unmount_osproffs "$mnt"
    assert_profiled STATX
}

make_tree "$lower/tree"
mv "$lower"/tree/* "$lower"
compare cache=auto
compare cache=none
compare cache=always

# What was found out while asking is as new as the answer.
mount_osproffs "$lower" "$mnt"
stat "$mnt/many/7" >/dev/null
echo longer >>"$lower/many/7"
stat "$mnt/many/7" >/dev/null
sleep 1.1
stat -c %w "$mnt/many/7" >/dev/null
assert_eq "$(stat -c %s "$lower/many/7")" "$(stat -c %s "$mnt/many/7")" "size after it was asked for with the time of birth"
unmount_osproffs "$mnt"
