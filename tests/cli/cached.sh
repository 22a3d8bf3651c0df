#!/bin/bash
# How much of what read calls returned was in the page cache, as profiles have it: the sentence of the page, the column of
# files, sums, and other formats.
. "$(dirname "$0")/lib.sh"

# profile NAME READ MISSED UNJUDGED [GROUP_LINE]...: of the layer syscall
profile() {
    local name=$1
    printf '%s\n' '# osprof 1' '# layer: syscall' '# mount: /srv' '# clock: monotonic 1000000000 Hz' '# resolution: 1' \
        "# cache_read: $2" "# cache_missed: $3" "# cache_unjudged: $4" 'OP_READ 4 40' ' 0 0 0 4' "${@:5}" >"$name"
}

# cached_line PROFILE: the sentence of the page, in a line
cached_line() {
    COLUMNS=200 "$OSPROF" show "$1" | sed -n '/^cached  */{s///;p}'
}

# says SENTENCE READ MISSED UNJUDGED
says() {
    profile one "$2" "$3" "$4"
    assert_eq "$1" "$(cached_line one)" "sentence of $2 bytes, $3 missed, $4 not judged"
}

beside='(O_DIRECT, DAX, tmpfs, FUSE, overlayfs and the like)'
says '' 0 0 0
says 'all of the 1.00 MiB that read calls returned' 1048576 0 0
says 'more than 99.9 % of the 1.00 MiB that read calls returned' 1048576 1 0
says '99.9 % of the 1.00 MiB that read calls returned' 1048576 1049 0
says '50.0 % of the 1.00 MiB that read calls returned' 1048576 524288 0
says '0.1 % of the 1.00 MiB that read calls returned' 1048576 1047527 0
says 'less than 0.1 % of the 1.00 MiB that read calls returned' 1048576 1048575 0
says 'none of the 1.00 MiB that read calls returned' 1048576 1048576 0
says "not judged: 4.00 KiB $beside" 0 0 4096
says "25.0 % of the 4.00 KiB that read calls returned; not judged: 1 B $beside" 4096 3072 1
sed '/^# cache_/d' one >unknown
assert_eq '' "$(cached_line unknown)" "sentence of a profile that has none"

# ---- Files

profile files 4096 1024 512 \
    '# file: 0 /hot' '# cache_read: 3072' 'OP_READ 1 10' ' 0 0 0 1' \
    '# file: 0 /cold' '# cache_read: 1024' '# cache_missed: 1024' 'OP_READ 1 10' ' 0 0 0 1' \
    '# file: 0 /direct' '# cache_unjudged: 512' 'OP_READ 1 10' ' 0 0 0 1'
# column PROFILE: "FILE CACHED" lines
column() {
    COLUMNS=100 "$OSPROF" show --by file "$1" | sed -n 's|^.* ns  *\([0-9.]* %\)\{0,1\}  */\([a-z]*\)$|\2 \1|p' | sort
}
assert_eq 'cold 0.0 %
direct 
hot 100.0 %' "$(column files)" "column of files"
COLUMNS=100 "$OSPROF" show --by file files | grep -qx 'cached: of the bytes that read calls returned, those that were in the page cache.' ||
    fail "the column is not explained: $("$OSPROF" show --by file files)"
grep -v '^# cache_' files >none
! "$OSPROF" show --by file none | grep -q cached || fail "there is a column although nothing is known"
"$OSPROF" show --of /cold files | grep -qx 'cached    none of the 1.00 KiB that read calls returned' || fail "a file by itself"

# ---- Sums, text and JSON

expect 0 save files files
grep -v '^# merged: ' out >sum
assert_eq '# cache_read: 8192
# cache_missed: 2048
# cache_unjudged: 1024
# cache_read: 2048
# cache_missed: 2048
# cache_unjudged: 1024
# cache_read: 6144' "$(grep '^# cache_' sum)" "sums, of all and by file"
"$OSPROF" show --check sum >&2 || fail "osprof show --check finds fault"
expect 0 save files none
! grep -q '^# cache_' out || fail "a sum is known although a part is not: $(<out)"
expect 0 show --json files
if python3 -c 'import jsonschema' 2>/dev/null; then
    python3 "$tests_dir/../cli/validate.py" "$data/../../docs/profile.schema.json" out || fail "not by the schema"
fi
assert_eq '4096 1024 512 1024 1024 0' "$(python3 -c '
import json, sys
whole = json.load(open("out"))
cold = [group for group in whole["groups"] if group.get("name") == "/cold"][0]
print(*(of[f"cache_{kind}_bytes"] for of in (whole, cold) for kind in ("read", "missed", "unjudged")))')" "bytes in JSON"

# ---- What cannot be

profile wrong 1 0 0 '# file: 0 /hot' 'OP_READ 1 10' ' 0 0 0 1' '# cache_read: 3'
expect_trouble "osprof: wrong is not a profile: line 14: expected OP_<NAME> or the end of the file, found \"# cache_read\"" show wrong
profile wrong 1 0 0 '# cache_read: 3'
expect_trouble "osprof: wrong is not a profile: line 11: expected OP_<NAME> or the end of the file, found \"# cache_read\"" show wrong
profile wrong x 0 0
expect_trouble "osprof: wrong is not a profile: line 6: expected a number of bytes, found \"x\"" show wrong
