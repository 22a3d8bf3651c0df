#!/bin/bash
# What slow calls through a mount wait for: its disk and journal, locks of the kernel and of programs, a frozen file system,
# another FUSE daemon, a copy of overlayfs, memory, and a CPU. Each is provoked, and must be named.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/causes_lib.sh"

need_root

before_cleanup() {
    end_causes
}

make_disk
serve
for name in read metadata direct writeback flush journal directory_lock file_lock flock lease fcntl \
    frozen fuse fuse_page overlay dirty memory cpu; do
    with_caches_alone "provoke_$name"
done
