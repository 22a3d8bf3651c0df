#!/bin/bash
# osprof import: histograms of bpftrace, as JSON and as text, and of bcc become the same profiles, exactly; what cannot
# be a profile is refused with a line.
. "$(dirname "$0")/lib.sh"

# expect_profile EXPECTED ARGUMENT...: what is imported, which must be consistent, too
expect_profile() {
    local expected=$1
    shift
    expect 0 import "$@"
    assert_eq "$expected" "$(<"$scratch/out")" "profile of: $*"
    [ ! -s "$scratch/err" ] || fail "complains: osprof import $*"
    "$OSPROF" check - <"$scratch/out" >/dev/null || fail "inconsistent profile of: $*"
}

# expect_refusal MESSAGE TEXT [OPTION]...: from standard input; nothing may be written
expect_refusal() {
    local message=$1 text=$2
    shift 2
    echo precious >target
    printf '%s' "$text" >text
    expect_trouble "osprof: cannot import text: $message" import -o target "$@" text
    assert_eq precious "$(<target)" "the file after: $message"
}

# ---- bpftrace

cat >both.json <<'EOF'
{"type": "attached_probes", "data": {"probes": 2}}
{"type": "printf", "data": "hello"}


{"type": "map", "data": {"@c": 1}}
{"type": "hist", "data": {"@un": [{"min": 4, "max": 7, "count": 1}]}}
{"type": "hist", "data": {"@usecs": {"read": [{"min": 4, "max": 7, "count": 3}, {"min": 8, "max": 15, "count": 0}, {"min": 16, "max": 31, "count": 5}], "a,b": [{"max": -1, "count": 2}, {"min": 0, "max": 0, "count": 4}, {"min": 1, "max": 1, "count": 8}, {"min": 2, "max": 3, "count": 0}, {"min": 1048576, "max": 2097151, "count": 7}, {"min": -2147483648, "max": 0, "count": 1}], "none": []}}}
{"type": "map", "data": {"@usecs_total": {"read": 115, "stack": "x"}}}
{"type": "stats", "data": {"@usecs_stats": {"a,b": {"count": 20, "average": 5, "total": 2155905027}}}}
{"type": "hist", "data": {"@l": [{"max": -1, "count": 1}, {"min": 0, "max": 9, "count": 1}, {"min": 100, "count": 1}]}}
EOF
cat >both.txt <<'EOF'
Attaching 2 probes...
hello


@c: 1

@un:
[4, 8)                 1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|

@usecs[read]: 
[4, 8)                 3 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@                     |
[8, 16)                0 |                                                    |
[16, 32)               5 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|

@usecs[a,b]: 
(..., 0)               2 |@                                                   |
[0]                    4 |@@                                                  |
[1]                    8 |@@@@                                                |
[2, 4)                 0 |                                                    |
[1M, 2M)               7 |@@@                                                 |
[2G, 4G)               1 |                                                    |

@usecs_stats[a,b]: count 20, average 5, total 2155905027

@usecs_total[read]: 115
@usecs_total[stack]: x
@l:
(..., 0)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
[0, 10)                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
[100, ...)             1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
EOF
sed 's/$/\r/' both.txt >crlf.txt
expected='# osprof 1
# layer: user
# clock: monotonic 1000000 Hz
# resolution: 1
# source: @usecs
# clamped: 2
OP_A_B 22 2155905027
 14 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 7 0 0 0 0 0 0 0 0 0 0 1
OP_READ 8 115
 0 0 3 0 5'
for text in both.json both.txt crlf.txt; do
    expect_profile "$expected" --layer user --map @usecs "$text"
    expect_profile "$expected" --layer user --map usecs - <"$text"
    # no unit in the name of the map; its name is that of the operation
    expect_profile '# osprof 1
# clock: monotonic 1000000000 Hz
# resolution: 1
# source: @un
# approximate: totals are estimated from the middles of the buckets
OP_UN 1 6
 0 0 1' --unit ns --map @un "$text"
    line=$(grep -n '@un\b' "$text" | cut -d: -f1)
    [ "$text" = both.json ] || line=$((line + 1))
    expect_trouble "osprof: cannot import $text: line $line: the unit of @un is not known: its name has no ns, us or \
usecs; give --unit" import --map @un "$text"
    expect_trouble "osprof: cannot import $text: several histograms, choose one with --map: @un, @usecs, @l" \
        import "$text"
    expect_trouble "osprof: cannot import $text: no histogram is named @x; there are: @un, @usecs, @l" \
        import --map @x "$text"
    expect 2 import --unit us --map @l "$text"
    grep -Eq "^osprof: cannot import $text: line [0-9]+: a bucket of @l is not within a power of two; hist\(\) can be \
imported, not lhist\(\)$" err || fail "$(<err)"
done

# A total that the buckets cannot have is not believed; of what 2^31 and more took only the total knows.
bucket='{"min": 4, "max": 7, "count": 3}'
printf '%s\n' "{\"type\":\"hist\",\"data\":{\"@ns\":[$bucket]}}" '{"type":"map","data":{"@ns_total":25}}' >wrong.json
expect 0 import wrong.json
assert_eq "OP_ALL 3 18" "$(grep OP_ out)" "total of buckets that contradict the sum"
sed -i 's/25/23/' wrong.json
expect 0 import wrong.json
assert_eq "OP_ALL 3 23" "$(grep OP_ out)" "total of buckets that allow the sum"
printf '%s\n' '{"type":"hist","data":{"@ns":[{"min":-2147483648,"max":0,"count":1}]}}' \
    '{"type":"map","data":{"@ns_total":30000000000}}' >long.json
expect 0 import long.json
assert_eq "OP_ALL 1 30000000000" "$(grep OP_ out)" "a latency of 30 s"

# All that hist() can hold, up to its last bucket; finer buckets lie within those of a profile.
printf '@ns:\n[1E, 2E) 1 |@|\n[4E, 8E) 1 |@|\n[5, 6) 2 |@|\n[6, 8) 1 |@|\n' >large.txt
expect 0 import large.txt
assert_eq "1 0 3 60:1 62:1" "$(awk '/^OP_/ { next } /^ / { for (i = 4; i <= NF; i++) if ($i) more = more " " i - 1 ":" $i
    print 1, $2, $3 more }' out)" "the largest buckets"

# Names of operations.
printf '@ns[tracepoint:syscalls:sys_exit_pread64]:\n[4, 8) 1 |@|\n@ns[kprobe:vfs_read]:\n[4, 8) 1 |@|
@ns[9, a "b" [c]]:\n[4, 8) 1 |@|\n' >names.txt
expect 0 import names.txt
assert_eq "9_A_B_C PREAD64 VFS_READ" "$(sed -n 's/^OP_\([^ ]*\) .*/\1/p' out | sort | paste -sd ' ')" names

# ---- bcc

cat >bcc.txt <<'EOF'
Tracing ext4 operation latency... Hit Ctrl-C to end.
^C
12:00:01

operation = 'read'
     usecs               : count     distribution
         0 -> 1          : 1023     |****************************************|
         2 -> 3          : 0        |                                        |
         4 -> 7          : 12       |*                                       |

operation = 'write'
     usecs               : count     distribution
         4 -> 7          : 3        |****************************************|

avg = 4 usecs, total: 12 usecs, count: 3
EOF
expect_profile '# osprof 1
# layer: ext4
# clock: monotonic 1000000 Hz
# resolution: 1
# source: table
# approximate: totals are estimated from the middles of the buckets
OP_READ 1035 1095
 1023 0 12
OP_WRITE 3 18
 0 0 3' --layer ext4 bcc.txt
sed '/operation = .write/,$d; /operation/d' bcc.txt >alone.txt
expect 0 import alone.txt
assert_eq "OP_ALL 1035 1095" "$(grep OP_ out)" "a table without a name"
sed 's/usecs  /nsecs  /' bcc.txt >nsecs.txt
expect 0 import nsecs.txt
assert_eq "# clock: monotonic 1000000000 Hz" "$(grep clock out)" "clock of nanoseconds"

# Shown, compared in the same unit, and merged like ours.
expect 0 import --layer fs bcc.txt
cp out imported.osprof
expect 0 show --ascii imported.osprof
grep -Eq '^READ +1,035 ' out || fail "READ is not shown"
expect 0 merge "$data/show-grep.osprof" imported.osprof
calls=$(profile_calls READ "$data/show-grep.osprof")
assert_eq $((calls + 1035)) "$(profile_calls READ out)" "calls of READ of both"
"$OSPROF" check - <out >/dev/null || fail "what was imported and merged is inconsistent"

# ---- Refused

expect_refusal "no histogram in it; expected those of bpftrace (text or -f json) or bcc" ""
expect_refusal "no histogram in it; expected those of bpftrace (text or -f json) or bcc" $'@x: 5\n\nfoo\n'
expect_refusal "no histogram in it; expected those of bpftrace (text or -f json) or bcc" \
    '{"type": "map", "data": {"@x": 5}}'
expect_refusal "line 2: not JSON: string or '}' expected near '1'" $'{"type": "a"}\n{1}'
expect_refusal "line 1: expected an object with \"type\", as bpftrace -f json prints" '{}'
expect_refusal "line 3: expected an object with \"type\", as bpftrace -f json prints" $'{"type": "a"}\n\n[]'
expect_refusal 'line 1: expected "data" to be an object' '{"type": "hist", "data": [1]}'
expect_refusal "line 1: expected the histogram @ns to be a list of buckets" '{"type": "hist", "data": {"@ns": 1}}'
buckets='expected buckets with "min", "max" and "count", whole numbers'
for bucket in 1 '{}' '{"min": 1, "max": 1}' '{"min": 1, "max": 1, "count": -1}' '{"min": 1, "max": 1, "count": 1.5}' \
    '{"count": 1}'; do
    expect_refusal "line 1: $buckets" "{\"type\": \"hist\", \"data\": {\"@ns\": [$bucket]}}"
done
expect_refusal "line 1: not JSON: too big integer near '99999999999999999999'" \
    '{"type": "hist", "data": {"@ns": [{"min": 1, "max": 1, "count": 99999999999999999999}]}}'
expect_refusal "line 1: not JSON: maximum parsing depth reached near '['" "{\"a\": $(printf '[%.0s' {1..5000})"
row='a whole row of a histogram: a range, a count and a bar between |'
for cut in '[1K, 2' '[1K, 2K)' '[1K, 2K)   12' '[1K, 2K)   12 |@@@' '[x, 2K) 12 |@|' '[1K, 17E) 12 |@|' '(..., 5) 1 |@|'; do
    expect_refusal "line 3: expected $row, found \"$cut\"" $'@ns:\n[1] 1 |@|\n'"$cut"
done
expect_refusal "line 2: expected $row, found \"0 -> 1 : 5\"" $'usecs : count distribution\n0 -> 1 : 5'
expect_refusal "line 2: a row without a heading before it" $'hello\n[4, 8)  1 |@|\n'
expect_refusal "line 1: a row without a heading before it" '0 -> 1 : 5 |*|'
expect_refusal "line 2: a bucket of @ns is not within a power of two; hist() can be imported, not lhist()" \
    $'@ns:\n[8, 8) 1 |@|'
expect_refusal "line 5: a second histogram of @ns read, after that in line 2; import one printing" \
    $'@ns[read]:\n[1] 1 |@|\n\n@ns[read]:\n[1] 2 |@|\n'
expect_refusal "line 4: a second histogram would be operation A_B" $'@ns[a,b]:\n[1] 1 |@|\n@ns[a b]:\n[1] 2 |@|\n'
expect_refusal "line 2: '123456789.123456789.123456789.12' is too long for the name of an operation" \
    $'@ns[123456789.123456789.123456789.12]:\n[1] 1 |@|\n'
expect_refusal "line 2: '+' does not name an operation" $'@ns[+]:\n[1] 1 |@|\n'
expect_refusal "line 2: 'Kbytes' is no unit of latency known here; give --unit" \
    $'Kbytes : count distribution\n0 -> 1 : 5 |*|\n'
expect_refusal "line 3: a table in nsecs after one in usecs" \
    $'usecs : count distribution\n0 -> 1 : 5 |*|\nnsecs : count distribution\n0 -> 1 : 5 |*|\n'
expect_refusal "line 3: the histogram's calls do not fit 64 bits" \
    $'@ns:\n[0] 18446744073709551615 |@|\n[1] 1 |@|\n'
expect_refusal "line 2: the total latency does not fit 64 bits" $'@ns:\n[8E, 16E) 2 |@|\n'
printf '@ns:\n[1] 1 |\0|\n' >nul.txt
expect_trouble "osprof: cannot import nul.txt: line 2: expected text, found a NUL byte" import nul.txt
head -c $((17 << 20)) /dev/zero | tr '\0' '\n' >huge.txt
expect_trouble "osprof: cannot import huge.txt: File too large" import huge.txt
expect_trouble "osprof: cannot import no/such: No such file or directory" import no/such
expect_trouble "osprof: cannot import .: Is a directory" import .
printf '@ns:\n[1 \033[2J |@|\n' >hostile.txt
expect 2 import hostile.txt
! grep -q $'\033' err || fail "a terminal's command is passed on"

# ---- The unit may be wrong: that is said, and imported nevertheless

# expect_remark EXPECTED UNIT MIN: of a bucket that begins at MIN
expect_remark() {
    printf '@x[read]:\n[%s, %s)   3 |@@@|\n' "$3" "$((2 * $3))" >absurd
    expect 0 import --unit "$2" absurd
    assert_eq "$1" "$(<err)" "remark about a bucket of $3 $2"
    grep -q '^OP_READ 3 ' out || fail "not imported: $(<out)"
}
expect_remark "osprof: note: a bucket of READ is of 571 years; is the unit right? --unit gives another" us $((1 << 54))
expect_remark "" ns $((1 << 49))
expect_remark "osprof: note: a bucket of READ is of 13 days; is the unit right? --unit gives another" ns $((1 << 50))
expect_remark "" us $((1 << 39))
expect_remark "" ms 1
