#!/bin/bash
# Labels that are given to osproffs: in the profile at each of its stages, whatever characters they hold, and the same when
# it is read, merged and viewed.
. "$(dirname "$0")/lib.sh"
# shellcheck source=helpers.sh
. "$tests_dir/helpers.sh"

value='quotes "x", a \ and = in Köln'
escaped=${value//\\/\\\\}
options="label=rack=7,label=note=${escaped//,/\\,}"
header='# label rack: 7
# label note: quotes "x", a \134 and = in Köln'

labels_of() {
    grep '^# label ' "$1"
}

mount_osproffs -o "$options" -o label=town=Bonn "$lower" "$mnt"
expected=$header$'\n# label town: Bonn'
assert_eq "$expected" "$(labels_of "$mnt/.osprof")" "labels of the control file"
# shellcheck disable=SC1003 # one backslash
grep -qF ',label_rack="7",label_note="quotes \"x\", a \\ and = in Köln",label_town="Bonn",resolution="1"' "$mnt/.osprof.metrics" ||
    fail "labels in the metrics: $(grep ^osprof_info "$mnt/.osprof.metrics")"
grep -qF '"label note": "quotes \"x\", a \\ and = in Köln"' "$mnt/.osprof.json" || fail "labels in JSON"
LC_ALL=C.UTF-8 "$OSPROF" show "$mnt" | grep -qxF "label     note=$value" || fail "osprof show of the live file"
known_load "$mnt"
unmount_osproffs "$mnt"
assert_eq "$expected" "$(labels_of "$final_profile")" "labels of the final profile"
assert_profiled MKDIR

# A killed daemon's live file has them too.
mount_osproffs -o label=rack=7 "$lower" "$mnt"
live=$(live_file)
kill -KILL "$daemon_pid"
wait_for_end "$daemon_pid" 30
unmount_below "$mnt"
"$OSPROF" save "$live" -o recovered
assert_eq "# label rack: 7" "$(labels_of recovered)" "label of the recovered profile"

# What is no label mounts nothing, and is one line.
for label in host=a Rack=7 rack rack= $'rack=\e[31m' $'rack=\xff'; do
    start_daemon "$OSPROFFS" -f -o "label=$label" "$lower" "$mnt"
    assert_status 2 "label=$label"
    assert_eq 1 "$(grep -ac '^osproffs: label=' "$daemon_log")" "messages about $label"
    ! grep -qaP '\e|\xff$' "$daemon_log" || fail "raw bytes in the message"
done
