#!/bin/bash
# osprof why: what it prints of given profiles, to the character; merging and JSON keep causes.
. "$(dirname "$0")/lib.sh"

expect_golden why why "$data/why.osprof"
expect_golden why-read why --op read --ascii "$data/why.osprof"
expect_golden why-stacks why --stacks --width 60 "$data/why.osprof"
expect_golden why-by-process why --by process "$data/why.osprof"
expect_golden why-by-program why --by program --op FSYNC --width 48 "$data/why.osprof"
expect_golden why-by-uid why --by uid "$data/why.osprof"
cp "$data/why.osprof" a
expect_golden why-show show --charts --no-labels --width 100 a
expect 0 show --no-labels --width 70 a
grep -Eq '^ +97.6 %  FSYNC +11 +98.3 ms +110 ms  waiting for th\.\.\.$' "$scratch/out" || fail "not in one line: $(<"$scratch/out")"

# Others at the disk may be why, where something waited for it.
written='# disk_bytes: written 318767104 own 4194304\
# disk: sda\
# disk_place: /srv'
sed "2i $written" "$data/why.osprof" >others
expect 0 why --op FSYNC --width 200 others
grep -q '^Waits for the disk may be because of others. Meanwhile 304 MiB were written to /dev/sda, the disk of /srv, mostly for others' "$scratch/out" ||
    fail "others at the disk: $(<"$scratch/out")"
sed -E "2i $written
    s/(^# cause: .*)cause_id .* cause waiting.*/\\1cause_id file_lock cause_class lock cause waiting\\\\040for\\\\040a\\\\040lock\\\\040of\\\\040a\\\\040file/" "$data/why.osprof" >others-elsewhere
expect 0 why --op FSYNC --width 200 others-elsewhere
grep -q 'waiting for a lock of a file' "$scratch/out" || fail "no other cause: $(<"$scratch/out")"
! grep -q 'because of others' "$scratch/out" || fail "others at a disk that nothing waited for: $(<"$scratch/out")"

# A list has 12 calls at most, the longest, and a profile the last 32: above it stands which they are, and where the others are.
# heading KEPT CALLS: of so many calls, each shorter than the one before
heading() {
    {
        printf '%s\n' '# osprof 1' '# clock: tsc 1000000000 Hz' '# slow: 1000000' \
            "# cause: READ calls $2 total ${2}000000 longest 2000000 cause waiting\\040for\\040a\\040lock"
        for number in $(seq "$1"); do
            printf '%s\n' "# call: READ latency $((2000000 - number)) end_ns 17640384001234567$((10 + number)) cause waiting\\040for\\040a\\040lock inode 12 pid 4711 process 4 program dd uid 0 error 0 asked_bytes 1 moved_bytes 1 offset 0"
        done
        printf 'OP_READ %s %s\n' "$2" "${2}000000"
        printf ' 0%.0s' {1..20}
        echo " $2"
    } >listed
    expect 0 why --width 120 listed
    grep ', in UTC.*:$' "$scratch/out"
    assert_eq $(($1 < 12 ? $1 : 12)) "$(grep -c ' 4711 ' "$scratch/out")" "calls of $1 that are listed"
}
assert_eq "The call, in UTC:" "$(heading 1 1)" "the only call"
assert_eq "All, the longest first, in UTC:" "$(heading 12 12)" "all of them are listed"
assert_eq "The longest 12 of 14, in UTC (osprof why --json has 14):" "$(heading 14 14)" "two are not listed"
assert_eq "The longest 12 of the 32 that are kept, the last of 100, in UTC (osprof why --json has 32):" "$(heading 32 100)" "most are not kept"
assert_eq "The last 3 of 14, which are kept, the longest first, in UTC:" "$(heading 3 14)" "most are counted only"
assert_eq "The last 1 of 14, which is kept, in UTC:" "$(heading 1 14)" "one is kept"

# The longest of those kept, in this order: the first 14 of these 20 take 1 s and less, the later ones less than 200 ms. Of
# calls that took equally long the later one comes first.
{
    printf '%s\n' '# osprof 1' '# clock: tsc 1000000000 Hz' '# slow: 1000000' \
        '# cause: READ calls 20 total 20000000000 longest 1000000000 cause waiting\040for\040a\040lock'
    for number in {0..19}; do
        latency=$((number < 14 ? (number * 3 % 14 + 1) * 50000000 + 300000000 : 100000000 + number))
        [ "$number" -ne 13 ] || latency=1000000000
        printf '%s\n' "# call: READ latency $latency end_ns $((1764038400000000000 + number * 1000000000)) cause waiting\\040for\\040a\\040lock pid $((100 + number)) process 4 program dd uid 0 error 0 asked_bytes 1 moved_bytes 1 offset 0"
    done
    printf 'OP_READ 20 20000000000\n'
    printf ' 0%.0s' {1..29}
    echo " 20"
} >longest
expect 0 why longest
assert_eq "The longest 12 of 20, in UTC (osprof why --json has 20):" "$(grep ', in UTC' out)" "which calls are listed"
assert_eq "$(sed -n 's/^# call: READ latency \([0-9]*\) end_ns \([0-9]*\) .* pid \([0-9]*\) process.*/\1 \2 \3/p' longest | sort -k1,1nr -k2,2nr | sed -n '1,12s/.* //p' | paste -sd ' ')" \
    "$(awk '/READ/ && $1 ~ /:/ { print $4 }' out | paste -sd ' ')" "the longest calls, in their order"
assert_eq 113 "$(awk '/READ/ && $1 ~ /:/ { print $4; exit }' out)" "the longest call"

expect 1 why --op WRITE "$data/why.osprof"
assert_eq "osprof: no call of WRITE in this profile; 'osprof show' without --op lists its operations" "$(<"$scratch/err")" \
    "message"
expect 1 why --op write --op read "$data/why.osprof"
grep -q "READ  " "$scratch/out" || fail "the other operation is not shown: $(<"$scratch/out")"

# -q leaves the status, and what went wrong.
for option in -q --quiet "-q --json" "-q --by uid"; do
    # shellcheck disable=SC2086 # words
    expect 0 why $option "$data/why.osprof"
    assert_eq "" "$(cat out err)" "what osprof why $option prints"
done
expect_trouble "osprof: nobody looked for slow calls in $data/show-grep.osprof: mount with -o slow=10ms, or from now on: osprof \
ctl MOUNT slow 10ms" why "$data/show-grep.osprof"
for option in --ascii --by=uid --color=always --stacks --width=80; do
    expect_trouble "osprof why: --ascii, --by, --color, --stacks and --width do not go with --json; see 'osprof help why'" \
        why --json "$option" "$data/why.osprof"
done
expect_trouble "osprof why: --by and --stacks exclude each other: one tells of all calls, one of each; see 'osprof help why'" \
    why --by uid --stacks "$data/why.osprof"
sed 's/^# layer: fs/# layer: daemon/' "$data/show-grep.osprof" >daemon
expect_trouble "osprof: nobody looked for slow calls in daemon: start the daemon by 'osprof fuse --slow 10ms'" why daemon
# A plain run: the command to type next, as far as it is known.
# again LINE...: the command
again() {
    printf '%s\n' '# osprof 1' '# layer: user' '# clock: tsc 1000000000 Hz' "$@" >plain
    expect 2 why plain
    assert_eq 1 "$(wc -l <"$scratch/err")" "lines of the message"
    sed -n 's/.* files: //p' "$scratch/err"
}
read_row=$'OP_READ 100 150000\n 0 0 0 0 0 0 0 0 0 0 100'
assert_eq "osprof run --layers fs --slow 10ms -d /srv/data -- make -j2" \
    "$(again '# lower: /srv/data' '# command: make -j2' "$read_row")" "of a chosen directory"
assert_eq "osprof run --layers fs --slow 10ms -d '/srv/a b' -- COMMAND" \
    "$(again '# lower: /srv/a b' '# command: sh -c make install' "$read_row")" "of a command that had quotes"
assert_eq "osprof run --layers fs --slow 10ms -d DIR -- COMMAND" \
    "$(again '# lower: /' '# command: make a.o b...' "$read_row")" "of a command that was cut, on no known files"
assert_eq "osprof run --layers fs --slow 10ms -d /srv/x -- make" \
    "$(again '# lower: /' '# command: make' "$read_row" '# directory: 0 /usr' "${read_row//100/10}" '# directory: 1 /srv/x' "${read_row//100/90}")" \
    "of the directory with most of the time"
assert_eq "osprof run --layers fs --slow 10ms -d /srv -- make" \
    "$(again '# lower: /' '# command: make' "$read_row" '# filesystem: 0 /srv ext4' "${read_row//100/90}" '# directory: 1 /srv/x' "${read_row//100/90}")" \
    "of the file system"
assert_eq "osprof run --layers fs --slow 10ms --mount-option posix_lock,flock -d /srv -- make" \
    "$(again '# lower: /srv' '# command: make' "$read_row" "${read_row//READ 100 150000/FLOCK 100 190000}")" "of programs that wait for locks"
assert_eq "osprof run --layers fs --slow 10ms -d /srv -- make" \
    "$(again '# lower: /srv' '# command: make' "$read_row" "${read_row//READ 100 150000/FLOCK 100 110000}")" "of programs that hardly do"

# Locks that the mount does not forward are in no call.
locks() {
    printf '%s\n' '# osprof 1' '# layer: fs' '# clock: tsc 1000000000 Hz' '# slow: 10000000' '# elapsed: 100000000' "$@" "$read_row" >locked
    expect 1 why --width 200 locked # no call was slow
    cat "$scratch/out"
}
assert_eq "No call that has ended took 10.0 ms or longer
Programs waited 20.0 ms in all for locks of files; the mount does not forward them (-o posix_lock,flock does), so that is in no operation" \
    "$(locks '# program_time: 20900000' '# locking_time: 20000000')" "locks that are not forwarded"
assert_eq "No call that has ended took 10.0 ms or longer" "$(locks '# program_time: 1900000' '# locking_time: 900000')" "hardly any locks"
expect 1 why -q locked
assert_eq "" "$(cat out err)" "what osprof why -q prints if no call was slow"

grep -v '^# call: [A-Z]* latency' "$data/why.osprof" >no-calls
expect 1 why --by uid no-calls
assert_eq "osprof: cannot tell whose slow calls these were: no-calls has no calls one by one; they are for root and who mounted, \
and not in sums without paths" "$(<"$scratch/err")" "message"
grep -v '^# slow:' "$data/why.osprof" >off
expect 0 why --width 200 off
grep -q "^12 slow calls, until looking for them was switched off, 1.24 s in all, which is 99.9 % of" "$scratch/out" ||
    fail "what is said where nobody looks any more: $(<"$scratch/out")"
# A call that hangs has not ended, and the first line says of which calls it is.
printf '%s\n' '# osprof 1' '# clock: tsc 1000000000 Hz' '# slow: 100000000' \
    '# call: MKDIR age 1020000000 cause waiting\040for\040a\040frozen\040file\040system inode 3 pid 5' \
    'OP_MKDIR 1 0' '-' >hanging
expect 0 why hanging
assert_eq "No call that has ended took 100 ms or longer" "$(head -n 1 "$scratch/out")" "a call that hangs"
grep -q '^ *1.02 s *5  MKDIR' "$scratch/out" || fail "does not hang: $(<"$scratch/out")"
expect_trouble "osprof why: one profile at a time, not 2; see 'osprof help why'" why a b

expect 0 save -o sum "$data/why.osprof" "$data/why.osprof"
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
expect 0 why --json --op fsync "$data/why.osprof"
cp "$scratch/out" json
if have python3; then
    python3 -c 'import json, sys
profile = json.load(open(sys.argv[1]))
assert [cause["op"] for cause in profile["causes"]] == ["FSYNC", "FSYNC"] and profile["ops"] == []
assert [call["op"] for call in profile["slow_calls"] + profile["in_flight"]] == ["FSYNC", "FSYNC"]' json ||
        fail "what osprof why --json has: $(<json)"
fi

# Of a mount that was not root's less was seen, which is said.
sed 's/^\(# stack: [^ ]*\) < .*/\1/' "$data/why.osprof" >seen-less
expect 0 why seen-less
[ "$(tail -n 2 "$scratch/out" | tr '\n' ' ')" = "Of each wait only the innermost function was seen: the kernel shows all of them to \
root only, for whom more causes have names. " ] || fail "nothing is said of what was not seen: $(<"$scratch/out")"

# Nothing is wider than it may be however long paths and names are, and however large numbers.
path=$(printf '/a directory %s' {1..40})
cat >wide <<END
# osprof 1
# resolution: 1
# longest: READ 18446744073709551615 object 3 path $path
# slow: 10000000
# cause: READ calls 18446744073709551615 total 18446744073709551615 longest 9223372036854775808 cause waiting\\040$(seq -s '' 40)
# cause: AN_OPERATION_WITH_A_LONG_NAME_1 calls 1 total 1 longest 9223372036854775808 cause waiting\\040for\\040a\\040lock
# stack: $(seq -s ' < ' 100)
# call: AN_OPERATION_WITH_A_LONG_NAME_1 age 18446744073709551615 inode 3 pid 18446744073709551615 path ${path// /\\040} \
cause waiting\\040for\\040a\\040lock stack 1
# call: AN_OPERATION_WITH_A_LONG_NAME_1 latency 9223372036854775808 end_ns 9223372036854775807 cause waiting\\040for\\040a\\040lock \
inode 4 pid 18446744073709551615 uid 18446744073709551615 error 5 asked_bytes 0 moved_bytes 0 offset 0 stack 1 \
process 18446744073709551615 program $(seq -s '' 20) path ${path// /\\040}
OP_READ 18446744073709551615 18446744073709551615
$(printf ' 0%.0s' {1..63}) 18446744073709551614
OP_AN_OPERATION_WITH_A_LONG_NAME_1 9223372036854775809 9223372036854775808
$(printf ' 0%.0s' {1..62}) 9223372036854775808
END
sed 's/^# resolution/# clock: tsc 1000000000 Hz\n&/' wide >wide-seconds
for file in wide wide-seconds; do
    for width in {40..100..3} 200; do
        for arguments in "why" "why --stacks" "why --by process" "why --by uid"; do
            # shellcheck disable=SC2086 # several words
            expect 0 $arguments --ascii --width "$width" "$file"
            awk -v width="$width" 'length > width { print; wide = 1 } END { exit wide }' "$scratch/out" >"$scratch/beyond" ||
                fail "osprof $arguments --width $width prints $(<"$scratch/beyond")"
        done
    done
done
