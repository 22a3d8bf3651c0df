#!/bin/bash
# 256 descriptors, 7,001 files in 211 directories, and a lower file system that gives no file handles to be opened by, to
# an ordinary user or at all: everything can be walked, read, renamed, made and removed as below, and afterwards every other
# name is found as before. Inodes never hold all the descriptors.
. "$(dirname "$0")/lib.sh"
need_user_mounts "$@"
. "$tests_dir/helpers.sh"
. "$tests_dir/descriptors_lib.sh"
provide_programs

files=7001
limit=256

make_tree_of_files() {
    mkdir -p "$1/tree"/d{0..6}/e{0..29} "$1/other"
    (cd "$1/tree" && seq "$files" | awk '{ file = "d" $1 % 7 "/e" $1 % 30 "/f" $1; print >file; close(file) }')
    echo data >"$1/other/file"
    chown -R "$user_uid:$user_gid" "$1/tree" "$1/other"
}

# Some are left for opening files and for saving.
assert_descriptors_left() {
    local held
    held=$(find "/proc/$daemon_pid/fd" -type l | wc -l)
    [ "$held" -le $((limit - 32)) ] || fail "$held of $limit descriptors are in use after $1 ($kind)"
}

walk() {
    in_silence "find" find "$mnt/tree" -type f
    assert_eq "$files" "$(wc -l <"$scratch/out")" "files found ($kind)"
    assert_descriptors_left "find"
    in_silence "ls -lR" ls -lR "$mnt/tree"
    assert_eq "$files" "$(grep -c '^-' "$scratch/out")" "files listed ($kind)"
    assert_descriptors_left "ls -lR"
    in_silence "reading" grep -rc . "$mnt/tree"
    assert_eq "$files" "$(grep -c ':1$' "$scratch/out")" "files read ($kind)"
    assert_descriptors_left "reading"
}

use_other_names() {
    in_silence "cat of another file" cat "$mnt/other/file"
    assert_eq data "$(<"$scratch/out")"
    in_silence "touch" touch "$mnt/other/new"
    in_silence "mkdir" mkdir "$mnt/other/directory"
    in_silence "stat" stat "$mnt/other" "$mnt/other/directory" "$mnt/other/file"
    in_silence "rm" rm -r "$mnt/other/new" "$mnt/other/directory"
}

# shellcheck disable=SC2016 # for perl
rename_and_remove() {
    in_silence "renaming files" perl -e '
        for (glob "$ARGV[0]/tree/d*/e*/f*1") { my $new = s{/f(\d+)$}{/g$1}r; rename $_, $new or die "$_: $!\n" }' "$mnt"
    [ "$kind" = overlay ] || in_silence "renaming directories" perl -e '
        for (glob "$ARGV[0]/tree/d*/e*") { rename $_, "$_.new" or die "$_: $!\n" }
        for (glob "$ARGV[0]/tree/d*") { rename $_, "$_.new" or die "$_: $!\n" }' "$mnt"
    in_silence "reading after renaming" grep -rc . "$mnt/tree"
    assert_eq "$files" "$(grep -c ':1$' "$scratch/out")" "files read after renaming ($kind)"
    assert_eq "$(find "$shown/tree" -name 'g*' | wc -l)" "$(grep -c '/g[0-9]*:1$' "$scratch/out")" "renamed ($kind)"
    in_silence "rm -r" rm -r "$mnt/tree"
    [ ! -e "$shown/tree" ] || fail "rm -r has left files ($kind)"
    assert_descriptors_left "rm -r"
}

create_many() {
    in_silence "creating" python3 -c '
import os, sys
for number in range(3001):
    os.close(os.open("%s/other/%d" % (sys.argv[1], number), os.O_CREAT | os.O_EXCL | os.O_WRONLY))' "$mnt"
    use_other_names
    assert_eq 3002 "$(find "$shown/other" -type f | wc -l)" "files made ($kind)"
    assert_descriptors_left "creating"
}

need perl python3
for kind in "${descriptor_kinds[@]}"; do
    begin_kind "$kind"
    make_tree_of_files "$lower/shown"
    mount_limited "$limit"
    walk
    use_other_names
    rename_and_remove
    create_many
    end_kind
    assert_profiled READDIRPLUS LOOKUP OPEN CREATE UNLINK
done
