#!/bin/bash
# Directories that change while they are read, of up to 20,000 files: what stays is seen once, a stream that is rewound shows
# what is there now, and a place leads back to its entry; all as below, whether they are changed here or below.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/behaviour_lib.sh"

need_root
need mkfs.ext4
topics=(remove_while_reading change_while_reading rewind places streams)

on_tmpfs() {
    compare allow_other "" "${topics[@]}"
    compare allow_other,no_default_permissions as_user "${topics[@]:1}"
}

on_ext4() {
    compare allow_other as_user "${topics[@]}"
    compare allow_other,cache=none "" "${topics[@]:1}"
}

on tmpfs on_tmpfs
MKFS_OPTIONS='-N 65536' on ext4 on_ext4
end_comparison
