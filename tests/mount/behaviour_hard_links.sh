#!/bin/bash
# Several names of one file: they are made and removed here and below, the one by which the file was found goes, and one too
# many is refused; all as below.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/behaviour_lib.sh"

need_root
need mkfs.ext4 python3
topics=(link_many link_found link_shared)

on_tmpfs() {
    compare allow_other as_user "${topics[@]}"
    compare allow_other,cache=none "" "${topics[@]}"
    compare allow_other,no_default_permissions as_user "${topics[@]}"
}

# ext4 allows 65,000 links.
on_ext4() {
    mkdir "$lower/linked"
    python3 -c '
import os, sys
os.chdir(sys.argv[1])
open("file", "w").close()
for number in range(64989):
    os.link("file", str(number))' "$lower/linked"
    export LINKED=../../linked/file
    compare allow_other "" link_full link_shared
    grep -q '^link 10: EMLINK$' "$scratch/above" || fail "not refused: $(<"$scratch/above")"
    compare allow_other,no_default_permissions "" link_full "${topics[@]}"
}

on tmpfs on_tmpfs
on ext4 on_ext4
end_comparison
