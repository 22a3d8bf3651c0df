#!/bin/bash
# osprof events: what it prints of a file whose calls are known, to the character; profiles made of it; what other programs
# read of what is exported; broken files.
. "$(dirname "$0")/lib.sh"

"$TEST_PROGRAMS/make_events" >recorded

# ---- Calls

expect_golden events-show events show recorded
expect_golden events-show-narrow events show --width 80 --slow 39.5ms recorded
lines() { # lines COUNT ARGUMENT...: so many calls are shown
    local wanted=$1
    shift
    expect 0 events show "$@" recorded
    assert_eq "$wanted" "$(grep -c '^[0-9:.]* .*[^-]$' "$scratch/out")" "calls of: $*"
}
lines 123 --op READ --op lookup
lines 1 --op RENAME
lines 82 --pid 4711
lines 6 --failed
lines 120 --path /sub
lines 1 --path '/f*'
lines 41 --to +1s
lines 83 --from 2025-11-25T18:20:01.5Z
lines 83 --from '2025-11-25 18:20:01.5'
expect 1 events show --from 2025-11-25T18:20:01Z --to 2025-11-25T18:20:02Z recorded
expect 1 events show --op WRITE recorded
assert_eq "osprof: no call in recorded is as asked for" "$(<"$scratch/err")" "message"
expect 0 events show - <recorded

# ---- Profiles

expect 0 events profile -o made recorded
assert_eq "osprof: note: resets and rotations make 2 spans in recorded, and this is the last one; --span N makes a profile of \
another, --all of all calls" "$(<"$scratch/err")" "message about spans"
grep -qx 'OP_READ 80 1640000000' made || fail "after the reset: $(<made)"
expect 0 show --check made
assert_eq 644 "$(stat -c %a made)" "mode of what has no paths"
expect 0 events profile --all recorded
assert_eq "" "$(<"$scratch/err")" "message about spans with --all"
grep -qx 'OP_READ 120 2460000000' "$scratch/out" || fail "of all: $(<"$scratch/out")"
expect 0 events profile --span 1 --by program+file --interval 100ms --joint read:offset --resolution 4 -o made recorded
assert_eq "" "$(<"$scratch/err")" "message about spans with --span"
expect 0 show --check made
assert_eq 600 "$(stat -c %a made)" "mode of what has paths"
expect 0 show --by file made
grep -q '/sub/file' "$scratch/out" || fail "files: $(<"$scratch/out")"
expect 0 show --joint made
expect 0 events profile --path /sub --from +2s --to +2.5s recorded
grep -qx '# elapsed: 500000000' "$scratch/out" || fail "a part of the time: $(<"$scratch/out")"

# A file that is there: a profile is kept as .old, anything else stays as it is.
cp made first
expect 0 events profile --all -o made recorded
cmp first made.old || fail "the profile that was there is not in made.old"
assert_eq 600 "$(stat -c %a made.old)" "mode of what has paths, and is old"
echo text >text
kept="it is there, and is no result of osprof; --force replaces it"
expect_trouble "osprof: cannot write text: $kept" events profile --all -o text recorded
expect_trouble "osprof: cannot write text: $kept" events export -o text recorded
assert_eq text "$(<text)" "a file that is no result"
expect 0 events export --force -o text recorded
grep -q READ text || fail "--force does not replace the file: $(<text)"
[ ! -e text.old ] || fail "the file that --force replaces is kept"
expect 0 events export --format chrome -o text recorded
grep -q '^start_ns,' text.old || fail "exported calls are no result, and are not kept"

# Without a call that is as asked for there is no file.
for command in "profile --op WRITE" "export --op WRITE" "export --format chrome --pid 1"; do
    # shellcheck disable=SC2086 # words
    expect 1 events $command -o none recorded
    assert_eq "osprof: no call in recorded is as asked for" "$(<"$scratch/err")" "message of osprof events $command"
    [ ! -e none ] || fail "osprof events $command writes a file"
done

# ---- Other programs

expect 0 events export recorded
cp "$scratch/out" calls.csv
expect 0 events export --format chrome -o calls.json recorded
assert_eq 600 "$(stat -c %a calls.json)" "mode of what has names"
expect 0 events export --format perfetto -o calls.pb recorded
if have python3; then
    python3 - <<'END' || fail "what is exported is not what other programs read"
import csv, json
rows = list(csv.DictReader(open("calls.csv", encoding="utf-8", newline="")))
assert len(rows) == 124
assert rows[0]["path"] == '/no "such", file\n' and rows[0]["error"] == "ENOENT" and rows[0]["size"] == ""
assert sum(int(row["latency_ns"]) for row in rows if row["op"] == "READ") == 2460000000
assert int(rows[0]["start_ns"]) == 1764094800000001000 and rows[-1]["new_name"] == "\ufffd\x1b[31mred"
trace = json.load(open("calls.json", encoding="utf-8"))
calls = [event for event in trace["traceEvents"] if event["ph"] == "X"]
assert len(calls) == 124 and trace["otherData"]["begun"].startswith("2025-11-25T18:20:00")
ends = {}
for call in calls:
    track = call["pid"], call["tid"]
    assert call["ts"] >= ends.get(track, 0) - 0.001, "calls of a track overlap"
    ends[track] = call["ts"] + call["dur"]
assert len(ends) == 2
END
fi
if have protoc-c; then
    protoc-c --decode=perfetto.Trace --proto_path="$tests_dir/../../src/export" perfetto.proto <calls.pb >decoded
    assert_eq 124 "$(grep -c 'type: TYPE_SLICE_BEGIN' decoded)" "slices that begin"
    assert_eq 124 "$(grep -c 'type: TYPE_SLICE_END' decoded)" "slices that end"
    grep -q 'process_name: "cat"' decoded || fail "processes have no names"
fi

# ---- What cannot be

expect_trouble "osprof: 'nonsense' is not a command of osprof events; 'osprof help events' lists them" events nonsense
expect_trouble "osprof: 'merge' is not a command of osprof events; 'osprof help events' lists them" events merge -o x recorded
for command in show profile export; do
    expect_trouble "osprof events $command: an events FILE is expected, or several; see 'osprof help events $command'" events "$command"
done
expect_trouble "osprof events show: --slow x: must be a time such as 10ms or 1.5s; see 'osprof help events show'" \
    events show --slow x recorded
expect_trouble "osprof events show: --slow 10: the unit is missing: such as 10ms, or 10s; see 'osprof help events show'" \
    events show --slow 10 recorded
expect_trouble "osprof events show: --from must be a time like 2026-11-25T18:20:00Z or +1.5s, not '25'; see 'osprof help \
events show'" events show --from 25 recorded
expect_trouble "osprof events profile: --joint 'WRITE:size': there is no such operation in the file; see 'osprof help events \
profile'" events profile --joint WRITE:size recorded
expect_trouble "osprof: recorded: there is no span 3: resets and rotations make 2" events profile --span 3 recorded
expect_trouble "osprof: cannot read events nosuch: No such file or directory" events show nosuch
status=0
timeout 20 "$OSPROF" events show /dev/zero >out 2>err || status=$?
assert_eq 2 "$status" "what has no end, and is no events file"
expect 2 events show "$data/show-grep.osprof"
assert_eq "osprof: cannot read events $data/show-grep.osprof: it is a profile: osprof show $data/show-grep.osprof" \
    "$(<"$scratch/err")" "message about a profile"
expect_trouble "osprof: recorded is no profile, but a file of events: osprof events profile recorded makes one" show recorded

# A file that is cut off anywhere: what is whole is read, and that something is missing is said.
size=$(stat -c %s recorded)
for cut in 7 40 500 4000 $((size - 1)); do
    head -c "$cut" recorded >cut-off
    status=0
    "$OSPROF" events show cut-off >out 2>err || status=$?
    [ "$status" -le 2 ] || fail "status $status of a file cut at $cut"
    [ -s err ] || fail "nothing is said of a file cut at $cut"
done
"$OSPROF" events profile cut-off >out 2>err
grep -qx '# incomplete: .*' out || fail "a profile of a file that is cut is complete: $(<out)"

# ---- Times that no call can have: of 10^18 ns, in the far future and past; and hours that it can

"$TEST_PROGRAMS/events_from_script" >odd_times <<'END'
end 1000000
call 10 0 5 MKDIR 1 entry=2 mode=0755 name=first
call 11 100 1e15 MKDIR 1 entry=3 mode=0755 name=long
call 12 1e13 5 MKDIR 1 entry=4 mode=0755 name=late
call 13 200 5 MKDIR 1 entry=5 mode=0755 name=last
call 14 300 3e9 MKDIR 1 entry=6 mode=0755 name=hour
END
expect 0 events show odd_times
assert_eq 5 "$(grep -c MKDIR "$scratch/out")" "calls that are shown"
assert_eq "osprof: odd_times: 2 calls have impossible times: more than an hour before or after all else in it" "$(<"$scratch/err")" \
    "what is said of impossible times"
for command in profile "profile --interval 1ms" export "export --format chrome" "export --format perfetto"; do
    status=0
    # shellcheck disable=SC2086 # words
    timeout 20 "$OSPROF" events $command odd_times >"$scratch/out" 2>"$scratch/err" || status=$?
    [ "$status" -le 2 ] || fail "status $status of osprof events $command"
    grep -q '2 calls have impossible times' "$scratch/err" || fail "osprof events $command says nothing of impossible times"
done
