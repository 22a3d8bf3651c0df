#!/bin/bash
# Names of one directory are looked up by several callers at a time: none waits in the kernel for another's answer.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/slow_calls.sh"

need_root

before_cleanup() {
    resume
}

mount_slow_lower
mount_osproffs -o cache=none,slow=50ms "$lower" "$mnt"
# shellcheck disable=SC2034 # for be_slow
live=$(live_file)
be_slow 7
unmount_osproffs "$mnt"
unmount_osproffs "$lower"
