#!/bin/bash
# Labels of peaks near calibrated times in 'osprof compare' and 'osprof plot': on the peaks and for the profiles that
# they belong to, and nowhere else. Those of 'osprof show' are tested in calibrate.sh.
. "$(dirname "$0")/lib.sh"

export XDG_STATE_HOME=$scratch/state
mkdir -p "$XDG_STATE_HOME/osprof"

# calibrate_as HOST LINE...: plants a calibration of a machine with a clock of 1 GHz
calibrate_as() {
    printf '%s\n' '# osprof calibration 1' "# host: $1" '# clock: tsc 1000000000 Hz' "${@:2}" \
        >"$XDG_STATE_HOME/osprof/$1.calibration"
}

# profile NAME HOST LINE...: of such a machine
profile() {
    printf '%s\n' '# osprof 1' "# host: $2" '# clock: tsc 1000000000 Hz' "${@:3}" >"$1.osprof"
}

# zeros COUNT: buckets without calls
zeros() {
    printf ' 0%.0s' $(seq "$1")
}

# The middle of bucket 9 is 768 ns, of 11 3.07 us, of 12 6.14 us, of 14 24.6 us, of 17 197 us.
profile a node1 'OP_READ 100 76800' "$(zeros 9) 100" 'OP_OPEN 100 76800' "$(zeros 9) 100" \
    'OP_WRITE 100 19660800' "$(zeros 17) 100" 'OP_FSYNC 100 614400' "$(zeros 12) 100"
profile b node1 'OP_READ 180 15805440' "$(zeros 9) 100 0 0 0 0 0 0 0 80" 'OP_OPEN 100 307200' "$(zeros 11) 100" \
    'OP_WRITE 300 58982400' "$(zeros 17) 300" 'OP_FSYNC 100 2457600' "$(zeros 14) 100"

# expect_labels EXPECTED ARGUMENT...: of the peaks that a comparison tells of, each operation's after its name
expect_labels() {
    local expected=$1 status=0
    shift
    "$OSPROF" compare --all --ascii "$@" >out 2>err || status=$?
    [ "$status" -le 1 ] || fail "$(<err)"
    assert_eq "$expected" \
        "$(awk '/^[A-Z]+: / { name = $1 } /^  peak / { name = name " " $2 } /^    (A |B )?~ / { print name $0 }' out)" "labels"
}

# ---- osprof compare

"$OSPROF" compare --all a.osprof b.osprof >plain || [ $? -eq 1 ] || fail "cannot compare"
"$OSPROF" compare --json a.osprof b.osprof >plain.json || [ $? -eq 1 ] || fail "cannot compare"
expect_labels "" a.osprof b.osprof
times=('system_call 1 768 900 9 5' 'cache_read 1 3000 3000 9 5' 'context_switch 1 6200 9000 9 5'
    'timer_interrupt 1 24000 24000 9 5' 'sleep 1 190000 200000 9 5')
calibrate_as node1 "${times[@]}"
expect_labels "READ: stayed    ~ system call 768 ns
READ: stayed appeared    ~ shortest sleep 190 us
FSYNC: moved    A ~ context switch 6.20 us
FSYNC: moved    B ~ timer interrupt 24.0 us
WRITE: stayed    ~ shortest sleep 190 us
OPEN: moved    A ~ system call 768 ns
OPEN: moved    B ~ page cache read 3.00 us" a.osprof b.osprof
expect_labels "" --no-labels a.osprof b.osprof
"$OSPROF" compare --all --no-labels a.osprof b.osprof >out || [ $? -eq 1 ] || fail "cannot compare"
cmp plain out || fail "--no-labels changes more than labels"
"$OSPROF" compare --json a.osprof b.osprof >out || [ $? -eq 1 ] || fail "cannot compare"
cmp plain.json out || fail "labels in JSON"
"$OSPROF" compare --all a.osprof b.osprof >out || [ $? -eq 1 ] || fail "cannot compare"
diff <(grep -v '^    \(A \|B \)\?≈ ' out) plain >&2 || fail "labels change other lines"

# Each profile has the times of its own host, also where that has another clock.
calibrate_as node2 'timer_interrupt 1 5000 5000 9 5' 'system_call 1 300000 300000 9 5'
sed -i 's/1000000000/2000000000/' "$XDG_STATE_HOME/osprof/node2.calibration"
profile one node1 'OP_READ 100 614400' "$(zeros 12) 100"
profile two node2 'OP_READ 100 1228800' "$(zeros 13) 100"
sed -i 's/1000000000/2000000000/' two.osprof
expect_labels "READ: stayed    A ~ context switch 6.20 us
READ: stayed    B ~ timer interrupt 5.00 us" one.osprof two.osprof
rm "$XDG_STATE_HOME/osprof/node2.calibration"
expect_labels "READ: stayed    A ~ context switch 6.20 us" one.osprof two.osprof

# A peak that is gone has the label of the profile that had it.
profile only-a node1 'OP_READ 100 614400' "$(zeros 12) 100"
profile only-b node1 'OP_OPEN 100 76800' "$(zeros 9) 100"
expect_labels "READ: vanished    ~ context switch 6.20 us
OPEN: appeared    ~ system call 768 ns" only-a.osprof only-b.osprof

# What cannot be used is told of once.
echo nonsense >"$XDG_STATE_HOME/osprof/node1.calibration"
expect_labels "" a.osprof b.osprof
assert_eq 1 "$(grep -c 'is not a calibration' err)" "messages"
expect_labels "" --no-labels a.osprof b.osprof
[ ! -s err ] || fail "complains without labels: $(<err)"
expect 0 plot --gnuplot a.osprof b.osprof
assert_eq 1 "$(grep -c 'is not a calibration' err)" "messages of plot"
rm "$XDG_STATE_HOME/osprof/node1.calibration"

# ---- osprof plot

# labels: of the script that osprof has just printed, text and distance from the left
labels() {
    sed -n "s/^set label [0-9]* '≈ \([^']*\)' at screen \([0-9.]*\),.*/\1 \2/p" out
}

expect 0 plot --gnuplot a.osprof b.osprof
cp out plain
assert_eq "" "$(labels)" "labels without times"
calibrate_as node1 "${times[@]}"
expect 0 plot --gnuplot --op READ b.osprof
assert_eq "shortest sleep system call" "$(labels | sed 's/ [0-9.]*$//' | paste -sd ' ')" "labels of READ, most latency first"
labels | awk '{ x[NR] = $NF } END { exit !(x[2] < x[1]) }' || fail "the label of shorter calls is not left of the other"
# Where two profiles have a peak of the same place and label, it is there once.
expect 0 plot --gnuplot a.osprof b.osprof
assert_eq "context switch,page cache read,shortest sleep,shortest sleep,system call,system call,timer interrupt" \
    "$(labels | sed 's/ [0-9.]*$//' | sort | paste -sd ,)" "labels of two profiles"
expect 0 plot --gnuplot --no-labels a.osprof b.osprof
cmp plain out || fail "--no-labels changes more than labels"

# Of a device of which several times are near, only that it is the device. Where there is no room there is no label.
source=$(awk '$2 == "/proc" { print $1; exit }' /proc/self/mounts)
calibrate_as node1 "device_read 1 190000 200000 9 5 $source on /proc" "device_write 1 180000 200000 9 5 $source on /proc" \
    'sleep 1 197000 200000 9 5'
profile proc node1 '# lower: /proc/self' 'OP_WRITE 100 19660800' "$(zeros 17) 100"
expect 0 plot --gnuplot proc.osprof
assert_eq "device" "$(labels | sed 's/ [0-9.]*$//')" "label of a device"
calibrate_as node1 "device_read 1 190000 200000 9 5 $source on /proc" 'sleep 1 197000 200000 9 5'
expect 0 plot --gnuplot proc.osprof
assert_eq "device read" "$(labels | sed 's/ [0-9.]*$//')" "label of a device's reads"
expect 0 plot --gnuplot --size 300x300 a.osprof b.osprof
assert_eq "" "$(labels)" "labels of low histograms"

# Of many peaks three at most; none lies over another.
calibrate_as node1 'system_call 1 96 900 9 5' 'cache_read 1 1536 2000 9 5' 'context_switch 1 24576 30000 9 5' \
    'timer_interrupt 1 393216 400000 9 5' 'sleep 1 6291456 7000000 9 5'
profile many node1 'OP_READ 500 672460800' "$(zeros 6) 100 0 0 0 100 0 0 0 100 0 0 0 100 0 0 0 100"
expect 0 plot --gnuplot many.osprof
assert_eq "context switch shortest sleep timer interrupt" "$(labels | sed 's/ [0-9.]*$//' | sort | paste -sd ' ')" \
    "labels of those with most latency"
expect 0 plot --gnuplot --size 220x400 many.osprof
labels | awk '{ x = $NF * 220; if (NR > 1 && (x - last) ^ 2 < 60 ^ 2) bad = 1; last = x } END { exit bad }' ||
    fail "labels over each other: $(labels)"

for figure in --timeline --joint; do
    expect_trouble "osprof plot: --no-labels is about histograms: --timeline and --joint have no labels; see 'osprof help plot'" \
        plot --no-labels "$figure" a.osprof
done
command -v gnuplot >/dev/null || exit 0
for format in svg png pdf; do
    expect 0 plot -o "many.$format" many.osprof
    [ -s "many.$format" ] || fail "no picture"
done
grep -q '≈ shortest sleep' many.svg || fail "no label in the picture"
