#!/bin/bash
# Listing a directory costs what is asked for: attributes go up with names for programs that use them, and for others not, so that
# these cost a LOOKUP each where they are used after all.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need python3

names=5003
mkdir "$lower/flat" "$lower/tree"
(cd "$lower/flat" && seq -f 'name-%05.0f' "$names" | xargs touch)
for number in $(seq 211); do
    mkdir "$lower/tree/$number"
    (cd "$lower/tree/$number" && touch a b c d e f g h i j k l m n)
done

# Lists the directory and all below, and asks for the attributes of so many of a hundred files meanwhile.
list='
import os, sys
share, number = int(sys.argv[2]), 0

def walk(directory):
    global number
    below = []
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir():
                below.append(entry.path)
                continue
            number += 1
            if number * share % 100 < share:
                os.lstat(entry.path)
    for path in below:
        walk(path)

walk(sys.argv[1])
print(number)
'

# lookups DIRECTORY SHARE: LOOKUPs that listing it so takes, on a fresh mount
lookups() {
    mount_osproffs "$lower" "$mnt"
    python3 -c "$list" "$mnt/$1" "$2" >"$scratch/listed"
    unmount_osproffs "$mnt"
    assert_profiled READDIRPLUS
    echo $(($(profile_calls LOOKUP "$final_profile") + 0))
}

# assert_between LEAST MOST FOUND WHAT
assert_between() {
    [[ $3 -ge $1 && $3 -le $2 ]] || fail "$4: $3 LOOKUPs, not $1 to $2"
}

# One in ten: looked up by itself. All: with the names. None: neither.
assert_between $((names * 8 / 100)) $((names * 12 / 100)) "$(lookups flat 10)" "one in ten"
assert_eq "$names" "$(<"$scratch/listed")" "names"
assert_between 1 $((names * 12 / 100)) "$(lookups flat 100)" "all"
assert_eq "$names" "$(<"$scratch/listed")" "names"
assert_between 0 20 "$(lookups flat 0)" "none"

# The same where directories are small.
files=$((211 * 14))
assert_between $((files * 8 / 100)) $((files * 15 / 100 + 211)) "$(lookups tree 10)" "one in ten of a tree"
assert_eq "$files" "$(<"$scratch/listed")" "files"
assert_between 1 $((files * 12 / 100 + 211)) "$(lookups tree 100)" "all of a tree"
assert_eq "$files" "$(<"$scratch/listed")" "files"
assert_between 0 230 "$(lookups tree 0)" "none of a tree"
