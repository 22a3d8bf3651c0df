#!/bin/bash
# File handles through the mount (name_to_handle_at, open_by_handle_at): they lead to what they were taken of, after the
# kernel has forgotten it, and it has moved, here or below; and never to a file that came later.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/behaviour_lib.sh"

need_root
need mkfs.ext4

on tmpfs compare allow_other "" handles
on ext4 compare allow_other,cache=none "" handles
on ext4 compare allow_other,no_default_permissions "" handles
end_comparison
