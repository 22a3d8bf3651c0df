#!/bin/bash
# What slow calls wait for on a file system that osprof attach watches: each cause is provoked, and osprof why DIR names it.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
# shellcheck source=../cli/attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"
. "$tests_dir/causes_lib.sh"
. "$tests_dir/causes_attached_lib.sh"

make_disk
mnt=$lower fs=$lower
watched --slow 50ms
# As long as a call is in flight it looks.
start flock --no-fork "$lower/dir-0/2" sleep 600
wait_until 20 is_locked "$lower/dir-0/2" || fail "nobody holds the lock"
start flock "$lower/dir-0/2" true
for name in frozen read metadata direct writeback flush journal flock fcntl; do
    "provoke_$name"
done
hold_directory dir-1 new
with_directory CREATE touch "$mnt/dir-1/new"
with_file WRITE dd if=/dev/zero of="$mnt/file" bs=100 count=1 conv=notrunc

# A call that waited for several things is in a row of each with its part, and counts in that of its main cause.
"$OSPROF" why --json "$fs" >why.json
"$python" - <<'END' || fail "causes: $("$OSPROF" why "$fs" 2>&1)"
import collections, json
profile = json.load(open("why.json"))
totals, longest = collections.Counter(), collections.Counter()
for row in profile["causes"]:
    totals[row["op"]] += row["total_cycles"]
    longest[row["op"]] = max(longest[row["op"]], row["longest_cycles"])
for op in totals:
    assert totals[op] >= longest[op] > 0, (op, totals[op], longest[op])
END
end_started
kill -INT "$watcher"
ended 0
[ "${#causes[@]}" -ge 12 ] || fail "only ${#causes[@]} causes were provoked"
echo "${#causes[@]} causes provoked"
