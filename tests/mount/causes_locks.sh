#!/bin/bash
# Calls that wait for the kernel's locks of directories and files, and for locks that programs ask for.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/causes_lib.sh"

need_root

before_cleanup() {
    end_causes
}

make_disk
serve
for name in directory_lock file_lock flock lease fcntl; do
    "provoke_$name"
done
