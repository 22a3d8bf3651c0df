#!/bin/bash
# osprof outliers: what it says of profiles that are not like their peers, where it finds them, how it ends.
. "$(dirname "$0")/lib.sh"

# profile FILE READ-CALLS STALLED [LINE]...: a profile with four operations, whose clock is of 1 GHz. READ takes 2.8 us, and
# so many calls of it 0.7 ms; all vary a little from file to file
made=0
profile() {
    local file=$1 calls=$2 stalled=$3
    shift 3
    made=$((made + 1))
    local more=$((made * 37 % 100))
    {
        printf '%s\n' '# osprof 1' '# layer: fs' '# clock: monotonic 1000000000 Hz' "$@"
        printf 'OP_READ %d %d\n' $((calls + stalled)) $((calls * (2800 + more) + stalled * 700000))
        printf ' 0 0 0 0 0 0 0 0 0 0 %d %d %d 0 0 0 0 0 0 %d\n' $((calls / 4 + more)) $((calls / 2)) \
            $((calls - calls / 4 - calls / 2 - more)) "$stalled"
        printf 'OP_OPEN 1000 %d\n 0 0 0 0 0 0 0 0 0 0 0 500 500\n' $((4000000 + more * 5000))
        printf 'OP_CREATE 500 %d\n 0 0 0 0 0 0 0 0 0 0 0 0 0 0 500\n' $((12000000 + more * 6000))
        printf 'OP_WRITE 1000 %d\n 0 0 0 0 0 0 0 0 0 0 0 0 500 500\n' $((8000000 - more * 7000))
    } >"$file"
}

# found: the outliers in words, without the names of directories
found() {
    sed -n '/: [A-Z]* /p; /: [A-Z]*: /p' out | sed 's|.*/||'
}

mkdir rack
for number in $(seq 40); do
    profile "rack/node$number.osprof" $((number * 1000)) 0
done
expect 0 outliers rack
assert_eq "judged    160 operations of 40 profiles|outliers  0" "$(paste -sd '|' out)" "profiles that are alike"
[ ! -s err ] || fail "complains: $(<err)"

# ---- What is found

mkdir odd
cp rack/* odd
profile odd/node7.osprof 20000 200
sed -i '/^OP_WRITE/ { s/ [0-9]*$/ 24000000/; n; s/.*/ 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1000/ }' odd/node8.osprof
expect 1 outliers odd
assert_eq "node8.osprof: WRITE takes 3.05 times as long as that of its peers: 24.0 µs, theirs 7.69 µs (median of 39)
node7.osprof: READ: 0.99 % of calls beyond 23.1 µs, most around 741 µs; peers 0 % (median of 39)" \
    "$(found | sort -r)" "outliers"
for directory in rack odd; do
    "$OSPROF" outliers -q "$directory" >out 2>err && status=0 || status=$?
    assert_eq "$([ "$directory" = rack ] && echo 0 || echo 1) " "$status $(cat out err)" "status, and what is printed, with -q, of $directory"
done
expect 1 outliers --ascii odd
grep -q ' 24.0 us, ' out || fail "not in ASCII"
expect 1 outliers --at-least 1000 odd
assert_eq "node7.osprof" "$(found | sed 's/:.*//')" "outliers that matter"

# Files, a list, and standard input name the same; a list may name directories.
expect 1 outliers odd
cp out expected
find odd -name '*.osprof' >list
for arguments in "odd/*.osprof" "@list" "@-"; do
    # shellcheck disable=SC2086 # patterns
    expect 1 outliers $arguments <list
    diff -u expected out >&2 || fail "found otherwise: $arguments"
done
echo odd >list
expect 1 outliers @list
cmp expected out
touch odd/.hidden.osprof odd/notes.txt # neither is a profile
# A file that is named again, by whatever name, is judged once.
expect 1 outliers odd odd/node7.osprof
cmp expected out
assert_eq "osprof: odd/node7.osprof has been read already: it is judged once" "$(<"$scratch/err")" "message about a file given twice"

# Large factors are whole numbers, as everywhere.
mkdir far
cp odd/* far
slower_by_thousands() {
    awk -v op="OP_$2" '$1 == op { $3 = sprintf("%.0f", 4096 * $3); print; if (getline) { for (i = 0; i < 12; i++) printf " 0"; print; next } } 1' "$1" >longer &&
        mv longer "$1"
}
slower_by_thousands far/node3.osprof READ
expect 1 outliers far
grep -qE '^far/node3.osprof: READ (usually )?takes [1-9],[0-9]{3} times as long as that of its peers: ' out || fail "a large factor: $(<out)"

# ---- Few profiles

# slower FILE OP OCTAVES: its calls take longer.
slower() {
    awk -v op="OP_$2" -v octaves="$3" '
        $1 == op { $3 *= 2 ^ octaves; print; if (getline) { for (i = 0; i < octaves; i++) printf " 0"; print; next } } 1' \
        "$1" >longer && mv longer "$1"
}

# READ of one of them takes 16 times as long: found among eight others, and among two, by what all operations vary.
for profiles in 9 3; do
    rm -rf few
    mkdir few
    for number in $(seq "$profiles"); do
        profile "few/node$number.osprof" 10000 0
    done
    expect 0 outliers few
    assert_eq "judged    $((4 * profiles)) operations of $profiles profiles|outliers  0" "$(paste -sd '|' out)" "few alike"
    slower few/node2.osprof READ 4
    expect 1 outliers few
    found | grep -qE '^node2.osprof: READ (usually )?takes 1[56].* times as long ' || fail "one of few that is slow: $(<out)"
    assert_eq 1 "$(found | wc -l)" "outliers among few"
done

# What is found among few that differ is said: only much more than was asked for, or nothing.
rm -rf few
mkdir few
for number in 1 2 3 4 5; do
    profile "few/node$number.osprof" 10000 0
done
for op in 1:READ 2:READ 2:OPEN 3:OPEN 4:WRITE 5:WRITE; do
    slower "few/node${op%:*}.osprof" "${op#*:}" 1
done
expect 0 outliers few
grep -qE '^limit     with so few profiles, or such different ones, only latencies that differ by a factor of [0-9.]* or more are found$' out ||
    fail "does not say what cannot be found: $(<out)"
octaves=0
for op in READ OPEN CREATE WRITE; do
    for number in 1 2 3; do
        slower "few/node$number.osprof" "$op" $((octaves++ * 2 % 7))
    done
done
expect 0 outliers few
grep -q '^limit     too few profiles, or too different ones, to find any outlier$' out ||
    fail "does not say that nothing can be found: $(<out)"

# ---- Peers

# Two racks with storage of different speed: apart, nothing is odd.
mkdir racks
for number in $(seq 14); do
    profile "racks/fast$number.osprof" 10000 0 '# label rack: 7' '# host: a'
    profile "racks/slow$number.osprof" 10000 0 '# label rack: 8' '# host: b'
    sed -i '/^OP_READ/ { s/ [0-9]*$/ 900000000/; n; s/.*/ 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 10000/ }' "racks/slow$number.osprof"
done
for by in rack host; do
    expect 0 outliers --by $by racks
done
profile racks/odd.osprof 10000 1000 '# label rack: 8' '# host: b'
expect 1 outliers --by rack racks
assert_eq "odd.osprof: READ" "$(found | sed 's/\(READ\).*/\1/')" "outlier among its peers"
grep -q '(median of 14, layer fs, rack 8)' out || fail "$(<out)"
sed -i 's/^# layer: fs/# layer: user/' racks/slow*
expect 0 outliers racks/slow* racks/fast*

# Other clock rates: figures are in seconds.
sed 's/^# clock.*/# clock: monotonic 500000000 Hz/' rack/node3.osprof |
    awk '/^OP_/ { $3 = int($3 / 2); print; next } /^ / { sub(/^ 0/, "") } 1' >half.osprof
expect 0 outliers rack half.osprof

# ---- JSON, and hostile text

escape=$'\e'
profile "odd/e${escape}[31m\"\\.osprof" 20000 2000 "# host: x${escape}y\\012z"
expect 1 outliers --by host odd
! grep -q "$escape" out || fail "an escape character reaches the terminal"
expect 1 outliers --json odd
! grep -q "$escape" out || fail "an escape character in JSON"
grep -qF '"profile": "odd/e\u001b[31m\"\\.osprof"' out || fail "$(<out)"
python=$(python_with jsonschema) || skip "python3-jsonschema is not installed"
for arguments in "odd" "--by host odd" "rack"; do
    # shellcheck disable=SC2086 # options
    "$OSPROF" outliers --json $arguments >json || [ $? -eq 1 ] || fail "trouble: $arguments"
    "$python" "$tests_dir/../cli/validate.py" "$data/../../docs/outliers.schema.json" json || fail "JSON of $arguments"
done
expect 1 outliers --json odd
assert_eq "slow_calls" "$("$python" -c '
import json, sys
print(*[outlier["kind"] for outlier in json.load(sys.stdin)["outliers"] if outlier["profile"] == "odd/node7.osprof"])' <out)" \
    "what JSON says of node7"

# ---- Trouble: one line each, and the others are judged

cp "$data/should-fail-cut-short.osprof" rack/broken.osprof
sed '/^# clock/d' rack/node1.osprof >rack/unclocked.osprof
expect 2 outliers rack no/such
assert_eq "osprof: cannot judge rack/unclocked.osprof: it does not tell its clock's rate
osprof: cannot open profile no/such: No such file or directory; a profile file, a mount point, a live file, - or @1 is expected" \
    "$(grep -v broken err)" "messages"
assert_eq 1 "$(grep -c '^osprof: rack/broken.osprof is not a profile: ' err)" "messages about a broken profile"
assert_eq "judged    160 operations of 40 profiles|outliers  0" "$(paste -sd '|' out)" "the others"
expect_trouble "osprof outliers: no profile given; see 'osprof help outliers'" outliers
expect_trouble "osprof outliers: --at-least must be a number from 1.1 to 1000, not '1'; see 'osprof help outliers'" \
    outliers --at-least 1 odd
expect_trouble "osprof: cannot judge 2 profiles: at least 3 of one layer with the same operation are needed" \
    outliers racks/fast1.osprof racks/fast2.osprof
mkdir empty
expect 2 outliers empty odd
assert_eq "osprof: cannot find profiles in empty: no file there has a name like host.osprof" "$(<err)" "empty directory"
expect 2 outliers @no/list odd
assert_eq "osprof: cannot open the list of profiles no/list: No such file or directory" "$(<err)" "list that is not there"
expect 2 outliers odd @- <<<-
assert_eq "osprof: cannot judge -: standard input is the list of profiles already" "$(<err)" "list that names itself"

# What is no file is reported, and neither waited for nor opened.
cp -r odd mixed
expect 1 outliers odd
sed 's/odd/mixed/' out >expected
mkfifo mixed/a.osprof
ln -s /dev/zero mixed/b.osprof
run_limited() {
    timeout 60 "$OSPROF" "$@" >out 2>err
}
status=0
run_limited outliers mixed || status=$?
assert_eq 2 "$status" "exit status with a FIFO among the profiles"
for name in a b; do
    assert_eq "osprof: mixed/$name.osprof is not a profile: it is a FIFO, a socket or a device, which is read only if it is named" \
        "$(grep "mixed/$name.osprof" err)" "message of what is no file"
done
diff expected out >&2 || fail "the others are not judged"
