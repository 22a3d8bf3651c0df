#!/bin/bash
# Files that earlier versions wrote (tests/corpus) can be read, with the figures that these versions showed; live files, which
# belong to the version that wrote them, are refused in words.
. "$(dirname "$0")/lib.sh"

need python3

# Fails unless all that the first document tells the second tells too: members may have come since, and nothing else; but
# percentiles are estimates, within a bucket, which later versions may know better.
tells_as_much='
import json, sys
def compare(old, new, where):
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old:
            if key not in new:
                sys.exit(f"{where}.{key} is not told any more")
            compare(old[key], new[key], f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, member in enumerate(old):
            compare(member, new[index], f"{where}[{index}]")
    elif ".percentiles." in where and isinstance(old, float):
        if not old / 2 < new < old * 2:
            sys.exit(f"{where} was {old!r}, and is {new!r}")
    elif old != new:
        sys.exit(f"{where} was {old!r}, and is {new!r}")
old, new = (json.load(open(name)) for name in sys.argv[1:])
compare(old, new, "")
'

# Each column of the first table is in the second.
has_columns='
import csv, sys
old, new = (list(csv.DictReader(open(name))) for name in sys.argv[1:])
if not old or len(old) != len(new):
    sys.exit(f"{len(new)} of {len(old)} rows")
for number, (before, after) in enumerate(zip(old, new)):
    for column in before:
        if before[column] != after.get(column):
            sys.exit(f"row {number}, {column}: was {before[column]!r}, and is {after.get(column)!r}")
'

read_version() { # DIR
    local packed name
    for packed in "$1"/*.gz; do
        gzip -dc "$packed" >"$(basename "$packed" .gz)"
    done
    for name in profile recording; do
        "$OSPROF" show --json "$name" >now.json || fail "osprof show fails with the $name of $1"
        python3 -c "$tells_as_much" "$name.json" now.json >&2 || fail "the $name of $1"
        "$OSPROF" show "$name" >page || fail "no page of the $name of $1"
        [ -s page ] || fail "an empty page of the $name of $1"
    done
    "$OSPROF" show --check profile >&2 || fail "osprof show --check finds fault with the profile of $1"
    for command in show "show --check" save; do
        status=0
        # shellcheck disable=SC2086 # words
        "$OSPROF" $command live >page 2>said || status=$?
        assert_eq 2 "$status" "osprof $command of the live file of $1: status"
        [ ! -s page ] || fail "osprof $command prints something of the live file of $1"
        grep -q "live file has version [0-9]*, expected [0-9]*: use the osprof that came with what wrote it" said ||
            fail "osprof $command of the live file of $1 says: $(cat said)"
    done
    "$OSPROF" events export -o now.csv events || fail "osprof events fails with the events of $1"
    python3 -c "$has_columns" events.csv now.csv >&2 || fail "the events of $1"
}

versions=0
for version in "$tests_dir"/../corpus/*/; do
    read_version "$version"
    versions=$((versions + 1))
done
[ "$versions" -gt 0 ] || fail "there is no corpus"
