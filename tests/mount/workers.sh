#!/bin/bash
# One caller that shares a CPU with the workers, in a session of its own, is served by few of them, though it calls again
# before the one that has answered gets the CPU back. None is bound: it takes CAP_SYS_NICE.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need taskset setpriv
cpu=$(taskset -cp $$ | sed -E 's/.*: ([0-9]+).*/\1/') # the first that is allowed
most=10

worker_count() {
    find /proc/"$daemon_pid"/task -mindepth 1 -maxdepth 1 | wc -l
}

touch "$lower/file"
start_daemon setsid taskset -c "$cpu" setpriv --bounding-set -sys_nice --inh-caps -sys_nice "$OSPROFFS" -f -o cache=none "$lower" "$mnt"
pid_of[$mnt]=$daemon_pid
wait_for_mount "$mnt"

files=()
for _ in $(seq 5000); do
    files+=("$mnt/file")
done
for _ in 1 2 3; do
    taskset -c "$cpu" stat --printf= "${files[@]}"
done
count=$(worker_count)
[ "$count" -le "$most" ] || fail "$count threads for one caller"

unmount_osproffs "$mnt"
assert_profiled LOOKUP
