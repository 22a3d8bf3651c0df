#!/bin/bash
# osprof show --json, --csv, --metrics and --protobuf: what they print, to the character; what their readers make of it.
. "$(dirname "$0")/lib.sh"

schema=$data/../../docs/profile.schema.json

expect_golden show-hung-json show --json "$data/show-hung.osprof"
expect_golden show-longest-json show --json "$data/show-longest.osprof"
expect_golden show-bare-json show --json "$data/show-bare.osprof"
expect_golden show-hung-csv show --csv "$data/show-hung.osprof"
expect_golden show-bare-csv show --csv "$data/show-bare.osprof"
expect_golden show-grep-metrics show --metrics --op OPEN "$data/show-grep.osprof"
expect_golden show-empty-metrics show --metrics "$data/show-empty.osprof"

# As all of show: the default is the last result that is kept, - is standard input, the terminal changes nothing.
keep_result "$data/show-hung.osprof"
expect 0 show --json
cmp "$data/show-hung-json.txt" out || fail "another profile is shown by default"
expect_golden show-hung-csv show --csv - <"$data/show-hung.osprof"
COLUMNS=40 LC_ALL=C expect_golden show-hung-json show --json "$data/show-hung.osprof"

# Of a live file.
coproc RECORDER { exec "$TEST_PROGRAMS/record" "$scratch/4711.live" "$mnt" .osprof; }
# shellcheck disable=SC2153 # set by coproc
recorder_pid=$RECORDER_PID
before_cleanup() {
    kill -KILL "$recorder_pid" 2>/dev/null
}
read -r _ <&"${RECORDER[0]}"
expect 0 show --metrics 4711.live
grep -q "^osprof_op_latency_seconds_count{mount=\"$mnt\",op=\"READ\"} 7$" "$scratch/out" || fail "no READ of a live file"
grep -q "^osprof_op_calls_in_flight{mount=\"$mnt\",op=\"FSYNC\"} 1$" "$scratch/out" || fail "FSYNC is not in flight"
expect 0 show --json 4711.live
grep -q '"inode": 131074,' "$scratch/out" || fail "no call in flight in JSON"
expect 0 show --csv 4711.live

# Mistakes.
printf '# clock: 1 Hz\n# call: X age 18446744073709551615 inode 18446744073709551615 pid 1\n' >huge.osprof
printf '# call: X age 1 pid 1\n' >>huge.osprof
printf 'OP_X 18446744073709551615 18446744073709551615\n 18446744073709551614\n' >>huge.osprof
expect_trouble "osprof show: --json and --csv exclude each other: give one; see 'osprof help show'" show --json --csv
expect_trouble "osprof show: --metrics and --json exclude each other: give one; see 'osprof help show'" \
    show --metrics --op READ --json "$data/show-hung.osprof"
for option in --ascii --buckets --color=never --width=80; do
    expect_trouble "osprof show: --ascii, --buckets, --charts, --color, --explain, --joint, --no-labels and --width do not go with --csv; see 'osprof help show'" \
        show "$option" --csv
done
expect_trouble "osprof show: one profile at a time, not 2; see 'osprof help show'" show --json a b
expect_trouble "osprof: cannot show $data/show-bare.osprof as metrics: they are in seconds, and its clock's rate is not \
known; --json and --csv leave seconds out" show --metrics "$data/show-bare.osprof"
expect_trouble "osprof: cannot show huge.osprof as protobuf: it has a bucket of 2^63 calls or more; --metrics has room for \
them" show --protobuf huge.osprof
for view in --json --csv --metrics --protobuf; do
    expect 2 show "$view" "$data/should-fail-bad-start.osprof"
    [ ! -s "$scratch/out" ] || fail "prints something of a broken profile"
    status=0
    "$OSPROF" show "$view" "$data/show-grep.osprof" >/dev/full 2>err || status=$?
    assert_eq "2 osprof: cannot write standard output: No space left on device" "$status $(<err)" "full disk"
    expect 1 show "$view" --op NONE "$data/show-grep.osprof"
    [ ! -s "$scratch/out" ] || fail "prints something where there is nothing"
    expect 1 show "$view" --op read --op NONE "$data/show-grep.osprof"
    grep -q READ "$scratch/out" || fail "READ is not shown beside an op that is not there"
    ! grep -q OPEN "$scratch/out" || fail "shows ops that were not asked for"
done

# What is not ours reads it. A profile of every resolution, of hostile labels, of numbers of 64 bits.
printf '# mount: a"b\\134c\\012d\xff\n# clock: monotonic 1000000000 Hz\n# resolution: 8\nOP_READ 9 99\n' >hostile.osprof
printf ' 0 0 0 0 0 0 0 0 9\n' >>hostile.osprof

python=$(python_with csv) || skip "python3 is not installed"
for profile in "$data"/show-*.osprof hostile.osprof huge.osprof 4711.live; do
    "$OSPROF" show --json "$profile" >view.json
    "$OSPROF" show --csv "$profile" >view.csv
    "$python" "$data/../cli/same_buckets.py" view.json view.csv || fail "--json and --csv of $profile differ"
done
"$OSPROF" show --json huge.osprof | "$python" -c 'if True:
    import json, sys
    profile = json.load(sys.stdin)
    assert [call.get("inode") for call in profile["in_flight"]] == [2**64 - 1, None]
    assert profile["ops"][0]["calls"] == profile["ops"][0]["total_cycles"] == 2**64 - 1
    assert profile["ops"][0]["buckets"][0]["count"] == 2**64 - 2' || fail "JSON loses bits"

"$OSPROF" show --json "$data/show-dimensions.osprof" | "$python" -c 'if True:
    import json, sys
    profile = json.load(sys.stdin)
    assert [border["end_cycles"] for border in profile["borders"]] == [100, 210, 350]
    read = profile["ops"][0]
    for bucket in read["buckets"]:
        samples = [sample["count"] for sample in read["samples"] if sample["bucket"] == bucket["bucket"]]
        assert sum(samples) == bucket["count"]
    assert profile["joints"][0]["value"] == "SIZE"
    assert profile["joints"][0]["cells"][2] == {"number": 8192, "bucket": 3, "count": 3}' || fail "JSON of other dimensions"

"$OSPROF" show --json "$data/show-groups.osprof" | "$python" -c 'if True:
    import json, sys
    profile = json.load(sys.stdin)
    assert profile["groupings"] == ["process", "uid", "program", "cgroup", "file"]
    calls = {}
    for group in profile["groups"]:
        assert ("id" in group) == (group["who"] == "id" and group["grouping"] in ("process", "uid"))
        assert ("missed_cycles_max" in group) == (group["who"] == "id" and group["grouping"] == "file")
        calls[group["grouping"]] = calls.get(group["grouping"], 0) + sum(op["calls"] for op in group["ops"])
    assert calls == dict.fromkeys(profile["groupings"], 110)' || fail "JSON of groups"

need promtool
for profile in "$data"/show-{grep,hung,empty,hostile}.osprof hostile.osprof huge.osprof 4711.live; do
    "$OSPROF" show --metrics "$profile" | promtool check metrics || fail "promtool finds fault with $profile"
done

python=$(python_with jsonschema) || skip "no python3 that has jsonschema"
mkdir right wrong
for profile in "$data"/show-*.osprof hostile.osprof huge.osprof 4711.live; do
    "$OSPROF" show --json "$profile" >"right/${profile##*/}.json"
done
"$python" "$data/../cli/validate.py" "$schema" right/*.json || fail "a profile as JSON does not follow the schema"
for wrong in '"calls": 13.5' '"calls": -1' '"calls": "13"' '"cals": 13'; do
    sed "s/\"calls\": 14/$wrong/" "$data/show-bare-json.txt" >"wrong/$wrong.json"
done
! "$python" "$data/../cli/validate.py" "$schema" wrong/*.json 2>err || fail "the schema allows everything"
for wrong in wrong/*.json; do
    grep -qF "$wrong: " err || fail "the schema allows $wrong"
done
