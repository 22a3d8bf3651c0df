#!/bin/bash
# osprof save: one profile stays as it is; sums are exact at one clock rate whatever the resolutions, calls are kept at any
# rate, and the header says what the sum is of; what is there already is not lost. Live files are in live.sh.
. "$(dirname "$0")/lib.sh"

# expect_sum EXPECTED ARGUMENT...: the summed profile, which must be consistent, too
expect_sum() {
    local expected=$1
    shift
    expect 0 save "$@"
    assert_eq "$expected" "$(<"$scratch/out")" "sum of: $*"
    [ ! -s "$scratch/err" ] || fail "complains: osprof save $*"
    "$OSPROF" show --check - <"$scratch/out" >/dev/null || fail "inconsistent sum of: $*"
}

# profile NAME RATE RESOLUTION LINE...: makes a profile of layer fs
profile() {
    local file=$1.osprof rate=$2 resolution=$3
    shift 3
    printf '%s\n' '# osprof 1' '# layer: fs' "# clock: monotonic $rate Hz" "# resolution: $resolution" "$@" >"$file"
}

# numbers_of FILE: the lines below the header
numbers_of() {
    grep -v '^#' "$1"
}

# ---- One rate

profile one 1000000000 1 '# host: a' 'OP_READ 3 30' ' 0 0 0 3' 'OP_WRITE 5 10' ' 0 5'
profile two 1000000000 1 '# host: a' 'OP_READ 4 70' ' 0 0 0 1 3' 'OP_FSYNC 1 1000' ' 0 0 0 0 0 0 0 0 0 1'
expect_sum '# osprof 1
# layer: fs
# host: a
# clock: monotonic 1000000000 Hz
# resolution: 1
# merged: 2
OP_FSYNC 1 1000
 0 0 0 0 0 0 0 0 0 1
OP_READ 7 100
 0 0 0 4 3
OP_WRITE 5 10
 0 5' one.osprof two.osprof

# Failures and bytes add up, also at other rates and resolutions; who tells none has none.
profile failing 1000000000 1 '# failed: READ ENOENT 2 other 1' '# bytes: READ asked 4096 moved 100' 'OP_READ 3 30' ' 0 0 0 3'
profile failing_too 2000000000 8 '# failed: READ ENOENT 1 EIO 4' '# bytes: READ asked 5 moved 5' 'OP_READ 5 30' ' 0 0 0 5'
expect 0 save failing.osprof one.osprof failing_too.osprof
assert_eq '# failed: READ ENOENT 3 EIO 4 other 1
# bytes: READ asked 4101 moved 105' "$(grep -E '^# (failed|bytes): ' "$scratch/out")" "failures and bytes of a sum"

# Two buckets of resolution 1 are the first sixteen of resolution 8, in either order.
profile fine 1000000000 8 'OP_READ 4 8' " 1 0 0 0 0 0 0 1 2 0 0 0 0 0 0 0"
profile coarse 1000000000 1 'OP_READ 6 9' ' 2 4'
for order in "fine coarse" "coarse fine"; do
    read -r first second <<<"$order"
    expect_sum '# osprof 1
# layer: fs
# clock: monotonic 1000000000 Hz
# resolution: 1
# merged: 2
OP_READ 10 17
 4 6' "$first.osprof" "$second.osprof"
done

# A real profile with itself: all numbers are doubled. One alone stays as it is.
cp "$data/show-grep.osprof" grep.osprof
expect 0 save grep.osprof grep.osprof
assert_eq "$(numbers_of grep.osprof | awk '{ for (i = 1 + /^OP_/; i <= NF; i++) $i = sprintf("%.0f", 2 * $i) } 1')" \
    "$(numbers_of out | sed 's/^ //')" "the doubled profile"
expect 0 save - <grep.osprof
assert_eq "$(numbers_of grep.osprof)" "$(numbers_of out)" "one profile saved"
expect_sum "$(<grep.osprof)" grep.osprof

# What cannot be added up: times that one does not tell.
profile timed 1000000000 1 '# start: 2026-11-21T02:30:00.000000000Z' '# elapsed: 50' '# clamped: 1' 'OP_A 1 0' ' 1'
profile earlier 1000000000 1 '# start: 2026-11-20T02:30:00.000000000Z' '# elapsed: 70' 'OP_A 1 1' ' 1'
expect 0 save timed.osprof earlier.osprof
assert_eq "2026-11-20T02:30:00.000000000Z 120 1" "$(awk '/^# (start|elapsed|clamped)/ { print $3 }' out | paste -sd ' ')" \
    "start, elapsed and clamped"
expect 0 save timed.osprof one.osprof
! grep -E '^# (start|elapsed)' out || fail "start or elapsed of profiles that do not all tell it"

# Calls in flight are kept: they explain calls without a bucket.
profile hung 1000000000 1 '# call: READ age 3 inode 1 pid 2 link process 2 waits_for disk' 'OP_READ 1 0' ' 0'
expect 0 save hung.osprof one.osprof hung.osprof
assert_eq 2 "$(grep -c '^# call: READ age 3 inode 1 pid 2 link process 2 waits_for disk$' out)" "calls in flight"
"$OSPROF" show --check - <out >/dev/null || fail "calls in flight are lost"

# ---- Other rates

# Half the rate is a bucket less, exactly, except bucket 0; the first one's rate counts.
profile half 500000000 1 'OP_READ 3 30' ' 0 0 0 3'
expect_sum '# osprof 1
# layer: fs
# host: a, ...
# clock: monotonic 1000000000 Hz
# resolution: 1
# approximate: buckets and totals of 1 of the profiles are rescaled from other clock rates
# lists: host
# merged: 2
OP_READ 6 90
 0 0 0 3 3
OP_WRITE 5 10
 0 5' one.osprof half.osprof
expect 0 save half.osprof one.osprof
assert_eq '# clock: monotonic 500000000 Hz' "$(grep '^# clock' out)" "rate of the sum"

# Each rate is rescaled as a whole: a quarter of 100 single calls belongs to the upper bucket, and none would one by one.
profile single 1000 1 'OP_READ 1 4' ' 0 0 1'
profile base 1150 1 'OP_READ 1 4' ' 0 0 1'
seq 100 | sed 's/.*/single.osprof/' >singles
expect 0 save base.osprof @singles
read -r _ _ low high < <(awk '/^ / { print $1, $2, $3, $4 }' out)
assert_eq 101 $((low + high)) "calls after rescaling"
[ "$high" -gt 10 ] || fail "rounded one by one: $low and $high calls"

# More rates than are kept apart, each a few percent from the next: all calls are there.
number=0
for rate in $(seq 1000 100 4900); do
    number=$((number + 1))
    profile "rate-$number" "$rate" 1 'OP_READ 7 490' ' 0 0 0 0 0 0 7'
done
expect 0 save rate-?.osprof rate-??.osprof
assert_eq $((7 * number)) "$(profile_calls READ out)" "calls of $number rates"
grep -q "^# approximate: buckets and totals of $((number - 1)) of the profiles" out || fail "not told as approximate"
assert_eq $((7 * number)) "$(awk '/^ / { for (i = 1; i <= NF; i++) sum += $i } END { print sum }' out)" "calls in buckets"

# Without any rate cycles are cycles; but not together with seconds.
sed '/^# clock/d' one.osprof >no-rate.osprof
expect 0 save no-rate.osprof no-rate.osprof
expect_trouble "osprof: cannot sum up no-rate.osprof: it does not tell its clock's rate, as those before it do" \
    save one.osprof no-rate.osprof
expect_trouble "osprof: cannot sum up one.osprof: it tells its clock's rate, which those before it do not" \
    save no-rate.osprof one.osprof

# ---- Labels

for host in a b c d e f; do
    profile "host-$host" 1000 1 "# host: $host" "# lower: /srv/$host" '# cache: auto' 'OP_A 1 1' ' 1'
done
expect 0 save host-[ab].osprof -o ab.osprof
assert_eq "# host: a, b|# lower: /srv/a, /srv/b|# cache: auto|# lists: host lower|# merged: 2" \
    "$(grep -E '^# (host|lower|cache|lists|merged)' ab.osprof | paste -sd '|')" "labels of two"
expect 0 save host-*.osprof
assert_eq "# host: a, b, c, d, ...|# merged: 6" "$(grep -E '^# (host|merged)' out | paste -sd '|')" "labels of six"
# What was merged can be merged again.
expect 0 save ab.osprof host-b.osprof host-c.osprof
assert_eq "# host: a, b, c|# merged: 4" "$(grep -E '^# (host|merged)' out | paste -sd '|')" "labels of a sum of sums"
# A value with a comma is one; keys of labels that the user gave have a blank.
for number in 1 2; do
    profile "comma-$number" 1000 1 '# lower: /srv/b, a' "# label rack: $number" 'OP_A 1 1' ' 1'
done
expect 0 save comma-[12].osprof -o commas
assert_eq '# lower: /srv/b, a|# label rack: 1, 2|# lists: label\040rack' "$(grep -E '^# (lower|lists|label)' commas | paste -sd '|')" "a comma in a value"
expect 0 save commas comma-2.osprof host-a.osprof
assert_eq '# lower: /srv/a, /srv/b, a|# label rack: 1, 2, ...|# lists: lower label\040rack host cache' \
    "$(grep -E '^# (lower|lists|label)' out | paste -sd '|')" "a comma in a value of a list"

# Which is first does not matter.
expect 0 save host-f.osprof host-a.osprof host-c.osprof host-e.osprof host-b.osprof
mv out one-way
expect 0 save host-c.osprof host-b.osprof host-e.osprof host-a.osprof host-f.osprof
diff one-way out >&2 || fail "the order of profiles matters"
expect 0 save host-a.osprof ./host-a.osprof
assert_eq "osprof: ./host-a.osprof has been read already: its calls are in the sum once more" "$(<"$scratch/err")" \
    "message about a file that is given twice"
ln -s host-a.osprof another-name
expect 0 save host-a.osprof another-name
grep -q 'another-name has been read already' "$scratch/err" || fail "nothing is said of another name of a file"
expect 0 save host-a.osprof host-b.osprof
[ ! -s "$scratch/err" ] || fail "complains of different files: $(<"$scratch/err")"

# ---- Groups: by name, users by number, those of profiles without are the others'

# group_lines: of the last output: kind, who, and the calls of each operation
group_lines() {
    awk '/^# (process|program|uid|file|directory|cgroup): / { kind = $2; sub(/^# [a-z]*: /, ""); who = $0; named = 1; next }
        named && /^OP_/ { print kind " " who " " $1 " " $2 " " $3 }' out
}
profile grouped-a 1000 1 'OP_READ 9 90' ' 0 0 0 9' 'OP_OPEN 2 20' ' 0 0 0 2' '# file: 5 /src/a.c' 'OP_READ 4 40' ' 0 0 0 4' \
    '# file: 7 /src/b.c' 'OP_READ 3 30' ' 0 0 0 3' '# file: other' 'OP_READ 2 20' ' 0 0 0 2' 'OP_OPEN 2 20' ' 0 0 0 2' \
    '# process: 11 cc1' 'OP_READ 5 50' ' 0 0 0 5' '# process: 12 cc1' 'OP_READ 4 40' ' 0 0 0 4' '# process: kernel' \
    'OP_OPEN 2 20' ' 0 0 0 2'
profile grouped-b 1000 1 'OP_READ 6 60' ' 0 0 0 6' '# file: 1 /src/a.c' 'OP_READ 5 50' ' 0 0 0 5' '# file: other' \
    'OP_READ 1 10' ' 0 0 0 1' '# program: cc1' 'OP_READ 6 60' ' 0 0 0 6'
expect 0 save grouped-a.osprof grouped-b.osprof
assert_eq "program: cc1 OP_READ 15 150
program: kernel OP_OPEN 2 20
file: 6 /src/a.c OP_READ 9 90
file: other OP_READ 3 30
file: other OP_OPEN 2 20
file: 17 /src/b.c OP_READ 3 30" "$(group_lines)" "groups of a sum"
mv out one-way
"$OSPROF" show --check one-way >&2 || fail "inconsistent groups"
expect 0 save grouped-b.osprof grouped-a.osprof
diff one-way out >&2 || fail "the order of profiles with groups matters"
# Of a profile without groups, first or last, and of a sum.
profile ungrouped 1000 1 'OP_READ 8 80' ' 0 0 0 8' 'OP_MKDIR 1 10' ' 0 0 0 1'
for order in "ungrouped.osprof one-way" "one-way ungrouped.osprof"; do
    # shellcheck disable=SC2086 # two names
    expect 0 save $order
    "$OSPROF" show --check out >&2 || fail "inconsistent groups: $order"
    assert_eq "file: other OP_READ 11 110
file: other OP_OPEN 2 20
file: other OP_MKDIR 1 10
file: 96 /src/a.c OP_READ 9 90
file: 107 /src/b.c OP_READ 3 30" "$(group_lines | grep file:)" "groups of a sum with calls of nobody known"
    assert_eq "8 1" "$(group_lines | awk '/program: other/ { calls[$3] = $4 } END { print calls["OP_READ"], calls["OP_MKDIR"] }')" \
        "calls of no program known"
done
# Of other resolutions and rates they add up too.
profile grouped-fast 2000 2 'OP_READ 6 720' ' 0 0 0 0 0 0 0 0 0 0 0 0 0 6' '# file: 1 /src/a.c' 'OP_READ 5 600' \
    ' 0 0 0 0 0 0 0 0 0 0 0 0 0 5' '# file: other' 'OP_READ 1 120' ' 0 0 0 0 0 0 0 0 0 0 0 0 0 1'
expect 0 save grouped-a.osprof grouped-fast.osprof
"$OSPROF" show --check out >&2 || fail "inconsistent groups of two rates"
assert_eq 9 "$(group_lines | awk '/a\.c OP_READ/ { print $5 }' FS=' ')" "calls of a file at two rates"
# There is a bound. What is beyond it is among the others, and no less than that is reported as missing.
many() {
    printf '%s\n' '# osprof 1' '# clock: tsc 1000000000 Hz' "OP_READ $1 $((10 * $1))" " 0 0 0 $1"
    seq "$2" $(($1 + $2 - 1)) | awk '{ print "# file: 0 /file-" $1 "\nOP_READ 1 10\n 0 0 0 1" }'
}
many 900 1 >many-a.osprof
many 900 801 >many-b.osprof
for order in "many-a.osprof many-b.osprof" "many-b.osprof many-a.osprof"; do
    # shellcheck disable=SC2086 # two names
    expect 0 save $order
    "$OSPROF" show --check out >&2 || fail "inconsistent groups beyond the bound"
    assert_eq "1024 1" "$(awk '/^# file: [0-9]/ { named++ } /^# file: other/ { others++ } END { print named, others }' out)" "groups"
    assert_eq 1800 "$(group_lines | awk '{ sum += $(NF - 1) } END { print sum }')" "calls in all groups"
done

# Labels of users are labels as any other.
profile rack-7 1000 1 '# label rack: 7' '# label row: a' 'OP_A 1 1' ' 1'
profile rack-8 1000 1 '# label rack: 8' '# label row: a' 'OP_A 1 1' ' 1'
expect 0 save rack-7.osprof rack-8.osprof
assert_eq "# label rack: 7, 8|# label row: a" "$(grep '^# label' out | paste -sd '|')" "labels of users"
expect 0 save rack-7.osprof rack-8.osprof one.osprof
assert_eq "# label rack: 7, 8, ...|# label row: a, ..." "$(grep '^# label' out | paste -sd '|')" "labels of users, not of all"

sed 's/^# layer: fs/# layer: block/' one.osprof >block.osprof
expect 0 save block.osprof one.osprof
mv out both.osprof
assert_eq "# merged: 1|# merged: 1" "$(grep '^# merged' both.osprof | paste -sd '|')" "profiles of each layer"
for name in one block; do "$OSPROF" save $name.osprof; done | diff -u - <(grep -v '^# merged' both.osprof) ||
    fail "the sum of two layers"
expect_sum "$(<both.osprof)" both.osprof
expect 0 save one.osprof both.osprof -o three.osprof
assert_eq "# layer: fs|# merged: 2|# layer: block|# merged: 1" "$(grep -E '^# (layer|merged):' three.osprof | paste -sd '|')" \
    "layer by layer"
expect 0 save --layer block both.osprof three.osprof
assert_eq "# layer: block|# merged: 2" "$(grep -E '^# (layer|merged):' out | paste -sd '|')" "one layer"
expect_trouble "osprof: no layer user in both.osprof, which has fs and block" save --layer user both.osprof one.osprof
sed '/^# layer/d' one.osprof >no-layer.osprof
expect 0 save no-layer.osprof one.osprof block.osprof
assert_eq "# layer: fs|# merged: 2|# layer: block|# merged: 1" "$(grep -E '^# (layer|merged):' out | paste -sd '|')" \
    "the layer of one that does not tell it"
sed 's/^# host: a/# host: b/' block.osprof >other-host.osprof
expect_trouble "osprof: cannot sum these profiles: they are no run of several layers: its layers are of different hosts: fs of a, block of b" \
    save one.osprof other-host.osprof
for ((i = 0; i < 17; i++)); do sed "s/^# layer: fs/# layer: $i/" one.osprof >layer$i.osprof; done
expect_trouble "osprof: cannot sum up layer16.osprof: there are more than 16 layers" save layer{0..16}.osprof

# ---- Trouble: nothing is written

expect_untouched() {
    local message=$1
    shift
    cp two.osprof target
    expect_trouble "$message" save -o target "$@"
    cmp two.osprof target || fail "the file is another after: $message"
    [ ! -e target.old ] || fail "the file is moved after: $message"
}

huge=18446744073709551615
profile huge 1000000000 1 "OP_READ 1 $huge" ' 0'
cp huge.osprof huge-too.osprof
expect_untouched "osprof: cannot sum up huge-too.osprof: the sum does not fit 64 bits" huge.osprof huge-too.osprof
profile huge-half 500000000 1 "OP_READ 1 $huge" ' 0'
expect_untouched "osprof: cannot sum up: the sum does not fit 64 bits" one.osprof huge-half.osprof
expect_untouched "osprof: cannot open profile no/such: No such file or directory; a profile file, a mount point, a \
live file, - or @1 is expected" one.osprof no/such
for broken in "$data"/should-fail-*.osprof; do
    echo precious >target
    expect 2 save --force -o target one.osprof "$broken" two.osprof
    assert_eq precious "$(<target)" "the file after $broken"
    grep -q "^osprof: $broken is not a profile: " err || fail "$(<err)"
done
expect_trouble "osprof: cannot write no/such/file: No such file or directory" save -o no/such/file one.osprof
for number in 1 2 3; do
    profile "ops-$number" 1000 1
    seq -f "OP_N${number}_%g 1 1" 2000 | sed 'a\ 1' >>"ops-$number.osprof"
done
expect 0 save ops-1.osprof ops-2.osprof
expect_untouched "osprof: cannot sum up ops-3.osprof: too many different operations" ops-[123].osprof

# ---- A file that is there

# saved FILE: what -o FILE must have written over another
saved() {
    expect 0 save one.osprof -o "$1"
    assert_eq "" "$(<out)$(<err)" "what is printed"
    cmp one.canonical "$1" || fail "not written: $1"
}
"$OSPROF" save one.osprof >one.canonical

# An earlier result is kept as .old, of any kind and mode; the one before goes.
mkdir there
cp two.osprof there/profile
chmod 600 there/profile
saved there/profile
cmp two.osprof there/profile.old || fail "the earlier result is not kept"
assert_eq "644 600" "$(stat -c %a there/profile there/profile.old | paste -sd ' ')" "modes"
saved there/profile
cmp one.canonical there/profile.old || fail "the earlier result is not kept a second time"
(cd there && ln profile itself && expect 0 save itself -o itself) # what is read is written
cmp one.canonical there/itself.old
rm there/*
# What is empty was made for it.
: >there/empty
saved there/empty
assert_eq empty "$(ls there)" "what is there besides a file that was empty"
# What is no result is replaced with --force alone, and then not kept.
no_result="it is there, and is no result of osprof; --force replaces it"
for text in precious ' # osprof 1' '{"traceEvents":[]}'; do
    echo "$text" >there/text
    expect_trouble "osprof: cannot write there/text: $no_result" save one.osprof -o there/text
    assert_eq "$text" "$(<there/text)" "a text of somebody"
done
expect 0 save --force one.osprof -o there/text
cmp one.canonical there/text || fail "not replaced with --force"
assert_eq "empty text" "$(cd there && echo *)" "what is there after --force"
# Nor is it lost as .old.
echo precious >there/text.old
taken="it would be kept as .old, and that is there, and no result of osprof"
expect_trouble "osprof: cannot write there/text: $taken" save two.osprof -o there/text
assert_eq precious "$(<there/text.old)" "a text of somebody under the name of an older result"
expect 0 save --force two.osprof -o there/text
cmp one.canonical there/text.old || fail "the earlier result is not kept with --force"
rm there/text.old
mkdir there/text.old
expect_trouble "osprof: cannot write there/text: $taken" save --force two.osprof -o there/text
rm -r there/*
# What is no file is never replaced, with --force neither.
cp two.osprof there/target
ln -s target there/link
ln -s nowhere there/dangling
mkdir there/directory
mkfifo there/fifo # nobody is waited for
before=$(ls -l there)
for force in '' --force; do
    for name in link dangling; do
        expect_trouble "osprof: cannot write there/$name: it is a symbolic link, which is not followed; name the file" \
            save $force one.osprof -o there/$name
    done
    expect_trouble "osprof: cannot write there/directory: Is a directory" save $force one.osprof -o there/directory
    for name in there/fifo /dev/null /dev/full; do
        expect_trouble "osprof: cannot write $name: it is no regular file, and only such a file is replaced" \
            save $force one.osprof -o "$name"
    done
done
assert_eq "$before" "$(ls -l there)" "what is there"
cmp two.osprof there/target || fail "written through a link"
# Whether it may be written is known before anything is read.
expect_trouble "osprof: cannot write there/directory: Is a directory" save no/such -o there/directory

# ---- What does not go together

# refused MESSAGE ARGUMENT...
refused() {
    local message=$1
    shift
    expect_trouble "osprof save: $message; see 'osprof help save'" save "$@"
}
refused "nothing to save is given: a mount, a live file, a profile or @1"
for arguments in one.osprof '-o never' '--layer fs' --rotate --remove; do
    # shellcheck disable=SC2086 # words
    refused "--list saves nothing: it goes alone, or with --json" --list $arguments
done
refused "--rotate takes one mount, not 2" --rotate one.osprof two.osprof
refused "--remove takes one live file, not 2" --remove -o never one.osprof two.osprof
for arguments in '--remove -o never' '--layer fs'; do
    # shellcheck disable=SC2086 # words
    refused "--rotate goes with -o alone" --rotate $arguments one.osprof
done
refused "--rotate needs a file: -o FILE, or the next of the mount's series" --rotate -o - one.osprof
for arguments in '' '-o -'; do
    # shellcheck disable=SC2086 # words
    refused "--remove needs -o FILE, so that the profile is safe first" --remove $arguments one.osprof
done
expect_trouble "osprof: one.osprof is not the mount point of an osproffs: there is no one.osprof/.osprof" \
    save --rotate one.osprof -o never
[ ! -e never ] || fail "written all the same"

# ---- Many

tee many-{1..100}.osprof <one.osprof >/dev/null
for number in {1..100}; do
    printf 'many-%s.osprof\n' {1..100}
done >list
# A process that keeps what it has read, or even the names, would need more than this.
(
    [ -n "${ASAN_OPTIONS:-}" ] || ulimit -v 40000
    expect 0 save @list -o sum.osprof
)
assert_eq 10000 "$(sed -n 's/^# merged: //p' sum.osprof)" "profiles merged"
assert_eq "OP_READ 30000 300000|0 0 0 30000|OP_WRITE 50000 100000|0 50000" \
    "$(numbers_of sum.osprof | sed 's/^ //' | paste -sd '|')" "sum of 10,000"
expect 0 save one.osprof @- < <(printf '\none.osprof\n\ntwo.osprof')
assert_eq 3 "$(sed -n 's/^# merged: //p' out)" "profiles of an argument and a list"
# A result that is kept is no list, and a file may be called as if it were one.
expect_trouble "osprof: no result is kept yet: 'osprof run COMMAND' keeps what it measures; or name a profile" save @1
cp one.osprof @one
expect 0 save ./@one two.osprof
assert_eq 2 "$(sed -n 's/^# merged: //p' out)" "profiles, one of which is called as a list"
expect_trouble "osprof: cannot open the list of profiles no/such: No such file or directory" save @no/such
expect_trouble "osprof: nothing to save: the list names no profile" save @/dev/null
# A list on standard input cannot name standard input, which is at its end by then.
expect_trouble 'osprof: standard input is not a profile: expected "# osprof 1" or OP_<NAME>, found nothing' save @- <<<-
# A list that never ends takes no memory.
within_memory expect_trouble "osprof: /dev/zero is not a list of profiles: line 1: expected a name, found a NUL byte" \
    save @/dev/zero
within_memory expect_trouble "osprof: standard input is not a list of profiles: line 2: expected a name of at most 4095 bytes" \
    save @- < <(echo one.osprof; tr '\0' a </dev/zero || true)
expect_trouble "osprof: cannot read the list of profiles .: Is a directory" save @.

# ---- Amounts in the header are added up: equal ones too, and those of sums.

# with LABEL...: a profile with these
with() {
    {
        echo '# osprof 1'
        [ $# = 0 ] || printf '# %s\n' "$@"
        printf 'OP_READ 1 100\n 0 0 0 0 0 0 1\n'
    }
}

# label KEY: of $scratch/out
label() {
    sed -n "s/^# $1: //p" "$scratch/out"
}
with 'page_faults: minor 10 major 1' 'bytes_seen: read 4000000 written 5' 'bytes_kernel: read 4000000 written 5' >first.osprof
with 'page_faults: minor 20 major 1' 'bytes_seen: read 3000000 written 5' 'bytes_kernel: read 3000000 written 5' >second.osprof
with >without.osprof
with 'bytes_kernel: read 18446744073709551615 written 5' >most.osprof
expect 0 save first.osprof second.osprof
assert_eq "minor 30 major 2|read 7000000 written 10|read 7000000 written 10" \
    "$(label page_faults)|$(label bytes_seen)|$(label bytes_kernel)" "amounts of two"
"$OSPROF" show out >shown
! grep -q '^Only' shown || fail "bytes are missed by a sum: $(<shown)"
cp out sum.osprof
expect 0 save sum.osprof first.osprof
assert_eq "minor 40 major 3|read 11000000 written 15" "$(label page_faults)|$(label bytes_kernel)" "amounts of a sum and another"
expect 0 save first.osprof without.osprof
assert_eq "||2" "$(label page_faults)|$(label bytes_seen)|$(label merged)" "amounts of which some profiles have none"
expect_trouble "osprof: cannot sum up ./first.osprof: the sum does not fit 64 bits" save ./most.osprof ./first.osprof

# What was not seen is added by kind and name, what it cost is a mean of calls, and runs of a command are added.
with 'not_seen: static 5 go 1' 'unseen_program: static runs 2 least 200 most 300 name a b' 'cost_time: each 100 counted 1000' 'cost_calls: 100' 'runs: 3' \
    'disk_bytes: written 10 own 1' 'disk_time: busy 1 watched 2' >first.osprof
with 'not_seen: static 7' 'unseen_program: static runs 1 least 900 most 0 name io_uring-cp' 'unseen_program: static runs 3 least 50 most 60 name a b' \
    'cost_time: each 400 counted 4000' 'cost_calls: 200' 'runs: 2' 'disk_bytes: read 5 own 2' >second.osprof
expect 0 save first.osprof second.osprof
assert_eq 'static runs 1 least 900 most 0 name io_uring-cp|static runs 5 least 250 most 360 name a b' "$(label unseen_program | paste -sd '|')" "programs that were not seen"
assert_eq 'static 12 go 1|each 300 counted 3000|300|5|read 5 written 10 own 3' \
    "$(label not_seen)|$(label cost_time)|$(label cost_calls)|$(label runs)|$(label disk_bytes)" "what was not seen, and what it cost"
expect 0 save first.osprof without.osprof
assert_eq 'static 5 go 1|||' "$(label not_seen)|$(label cost_time)|$(label cost_calls)|$(label runs)" "what one of them does not know"

# Progress is for terminals.
if have script; then
    script -qec "'$OSPROF' save @list -o sum.osprof" /dev/null >typescript </dev/null
    grep -Eq 'osprof: [0-9,]+ profiles summed *.' typescript || fail "no progress on a terminal"
fi
