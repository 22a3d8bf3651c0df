#!/bin/bash
# Calls that wait for a disk: for reading, for metadata, past the cache, for pages, and for the journal.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/causes_lib.sh"

need_root

before_cleanup() {
    end_causes
}

make_disk
serve
for name in read metadata direct writeback flush journal; do
    "provoke_$name"
done
