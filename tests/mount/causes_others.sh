#!/bin/bash
# Calls that wait for a frozen file system, another FUSE daemon, a copy of overlayfs, memory, and a CPU.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/causes_lib.sh"

need_root

before_cleanup() {
    end_causes
}

make_disk
serve
for name in frozen fuse fuse_page overlay dirty memory cpu; do
    "provoke_$name"
done
