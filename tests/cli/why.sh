#!/bin/bash
# osprof why: what it prints of given profiles, to the character; merging and JSON keep causes.
. "$(dirname "$0")/lib.sh"

expect_golden why why "$data/why.osprof"
expect_golden why-read why --op read --ascii "$data/why.osprof"
expect_golden why-none why --op WRITE "$data/why.osprof"

expect 1 why "$data/show-grep.osprof"
assert_eq "osprof: nobody looked for slow calls in $data/show-grep.osprof: mount with -o slow=10ms, or write slow 10ms to \
the control file" "$(<"$scratch/err")" "message"
expect_trouble "osprof why: one profile at a time, not 2; see 'osprof help why'" why a b

expect 0 merge -o sum "$data/why.osprof" "$data/why.osprof"
expect 0 why sum
grep -Eq '^ +96.9 % +2.40 s +22 +210 ms  FSYNC' "$scratch/out" || fail "the sum of causes: $(<"$scratch/out")"

expect 0 show --json "$data/why.osprof"
cp "$scratch/out" json
if have python3; then
    python3 - json <<'END' || fail "what JSON has of slow calls: $(<json)"
import json, sys
profile = json.load(open(sys.argv[1]))
assert [cause["calls"] for cause in profile["causes"]] == [11, 1, 0]
assert profile["slow_calls"][0]["path"] == "/srv/data/file" and profile["slow_calls"][0]["error"] == 5
assert profile["slow_calls"][0]["program"] == "dd" and profile["slow_calls"][0]["process"] == 6
assert profile["slow_calls"][0]["stack"].startswith("io_schedule < folio_wait_bit_common < ")
assert "stack" not in profile["slow_calls"][1]
assert profile["in_flight"][0]["cause"] == "waiting for the ext4 journal to commit"
assert profile["in_flight"][0]["stack"].startswith("jbd2_log_wait_commit < ")
assert "cause" not in profile["in_flight"][1]
END
fi
