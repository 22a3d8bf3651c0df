#!/bin/bash
# osprof events of several files: recordings of hosts whose clocks are shifted and drift by known amounts come on one time
# line; what is nearer than their clocks err is not called ordered.
. "$(dirname "$0")/lib.sh"

# Calls of two hosts, by true time: on near at 0, 20, 40... ms, on far 10 ms later; a last one on both 0.5 ms apart.
calls() { # calls FIRST_MS: 50 LOOKUPs and as many READs
    local first=$1 i
    for ((i = 0; i < 50; i++)); do
        echo "call 4711 $(((first + 20 * i) * 1000)) 30 LOOKUP 1 entry=5 name=f"
        echo "call 4711 $(((first + 20 * i) * 1000 + 100)) $((100 + i)) READ 5 file=3 size=4096 offset=0 result=$((4000 + first))"
    done
}
program=$TEST_PROGRAMS/events_from_script
{
    printf '%s\n' 'host near' 'boot a' 'error 1000000' 'ahead 300000' 'path 5 /f'
    calls 0
    echo "call 4711 1500000 30 LOOKUP 1 errno=2 name=last"
} | "$program" >near
{
    printf '%s\n' 'host far' 'boot b' 'error 2000000' 'ahead -1900000' 'drift 120' 'path 5 /g'
    calls 10
    echo "call 4711 1502500 30 LOOKUP 1 errno=2 name=last"
    echo "call 4711 1600000 30 GETATTR 77"
} | "$program" >far

clocks="osprof: near: its times may be off by 1.00 ms
osprof: far: its times may be off by 2.00 ms"

# ---- Order

expect 0 events show --width 200 --op LOOKUP near far
assert_eq "$clocks" "$(<"$scratch/err")" "what is said of clocks"
hosts() { grep LOOKUP "$scratch/out" | grep -o 'near\|far'; }
assert_eq 102 "$(grep -c LOOKUP "$scratch/out")" "calls of both"
hosts | head -n 100 | awk '{ want = NR % 2 ? "near" : "far"; if ($1 != want) exit 1 }' || fail "not by true time: $(hosts)"
# 0.3 ms more, 1.9 ms less: 2.5 ms apart have become 0.3 ms; their clocks may err by 3 ms
assert_eq 1 "$(grep -c ' ~ ' "$scratch/out")" "calls without a known order"
tail -n 2 "$scratch/out" | head -n 1 | grep -q ' ~ .*last' || fail "not the last is marked: $(tail -n 2 "$scratch/out")"
grep -q '^22:13:20.00\(8099\|8100\) *far *30.0 µs  LOOKUP *4711 .*f$' "$scratch/out" || fail "far's first call is not where its clock says"
expect 0 events show --pid 4711 --path /g near far
grep -q 'far .*READ' "$scratch/out" || fail "far's file has lost its path"
! grep near "$scratch/out" || fail "paths of hosts are not kept apart"

expect 0 events show --width 200 --op GETATTR near far
grep -q 'far .*(node 77)$' "$scratch/out" || fail "a node without a path: $(<"$scratch/out")"

# ---- What others make of it

expect 0 events profile -o both.osprof near far
assert_eq "$clocks" "$(<"$scratch/err")" "what is said of clocks beside a profile"
expect 0 show --check both.osprof
for host in near far; do
    expect 0 events profile -o "$host.osprof" "$host"
done
expect 0 save -o sum.osprof near.osprof far.osprof
buckets() { grep -v '^#' "$1"; }
assert_eq "$(buckets sum.osprof)" "$(buckets both.osprof)" "the profile of both"

# What is reset on one host stays of the other.
"$TEST_PROGRAMS/make_events" >reset
expect 0 events profile near reset
assert_eq "OP_LOOKUP 53 OP_READ 130 OP_RENAME 1" "$(awk '/^OP_/ { print $1, $2 }' "$scratch/out" | sort | xargs)" "a reset of one host"

expect 0 events export near far
head -n 1 "$scratch/out" | grep -q ',host,unordered$' || fail "no column says whose calls they are"
assert_eq 102 "$(grep -c ',"far",[01]$' "$scratch/out")" "rows of far"
for format in chrome perfetto; do
    expect 0 events export --format "$format" -o "both.$format" near far
done

# ---- In any order, one of them twice; one from standard input

expect 0 events show --width 200 --op LOOKUP near far
cp "$scratch/out" shown
expect 0 events show --width 200 --op LOOKUP far near
assert_eq "51 far 51 near" "$(hosts | sort | uniq -c | xargs)" "calls, the other way round"
assert_eq "$(grep -o '^[0-9:.]\{15\}' shown)" "$(grep -o '^[0-9:.]\{15\}' "$scratch/out")" "times, the other way round"
expect 0 events show --op LOOKUP far near far
assert_eq 153 "$(grep -c LOOKUP "$scratch/out")" "calls of a file that is named twice"
expect 0 events show --width 200 --op LOOKUP near - <far
cmp shown "$scratch/out" || fail "of standard input other calls are shown"

# ---- What cannot be merged; nothing that is as asked for in all of them

for command in show "profile -o x" "export -o x"; do
    # shellcheck disable=SC2086 # words
    expect_trouble "osprof: cannot read events nothing: No such file or directory" events $command near nothing
    # shellcheck disable=SC2086 # words
    expect 1 events $command --op RMDIR near far
    assert_eq "$clocks
osprof: no call in the merged files is as asked for" "$(<"$scratch/err")" "message of osprof events $command"
done
[ ! -e x ] || fail "something was written all the same"
head -c 3000 far >torn
expect 0 events show near torn
grep -q 'osprof: torn: its end is missing' "$scratch/err" || fail "no word of it: $(<"$scratch/err")"
! grep -q 'osprof: near: its end' "$scratch/err" || fail "it is said of the whole one, too: $(<"$scratch/err")"
