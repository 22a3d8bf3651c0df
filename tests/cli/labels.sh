#!/bin/bash
# Names of peaks in 'osprof compare' and 'osprof plot', by the rule of the first page and of 'osprof show', which
# calibrate.sh tests: on the peaks and for the profiles that they belong to, and nowhere else.
. "$(dirname "$0")/lib.sh"

export XDG_STATE_HOME=$scratch/state
mkdir -p "$XDG_STATE_HOME/osprof"

# calibrate_as HOST LINE...: plants a calibration of a machine with a clock of 1 GHz
calibrate_as() {
    printf '%s\n' '# osprof calibration 1' "# host: $1" '# clock: tsc 1000000000 Hz' "${@:2}" \
        >"$XDG_STATE_HOME/osprof/$1.calibration"
}

# Times of a device are for profiles of what lies on it.
source=$(awk '$2 == "/proc" { print $1; exit }' /proc/self/mounts)

# profile NAME HOST LINE...: of such a machine, of a directory on that device
profile() {
    printf '%s\n' '# osprof 1' "# host: $2" '# clock: tsc 1000000000 Hz' '# lower: /proc/self' "${@:3}" >"$1.osprof"
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

# expect_labels EXPECTED ARGUMENT...: of the peaks that a comparison names, each operation's after its name
expect_labels() {
    local expected=$1 status=0
    shift
    "$OSPROF" compare --all --ascii "$@" >out 2>err || status=$?
    [ "$status" -le 1 ] || fail "$(<err)"
    assert_eq "$expected" \
        "$(awk '/^[A-Z]+: / { name = $1 } /^  peak / { name = name " " $2 } /^    (A: |B: )?(may be|one|page) / { print name $0 }' out)" "labels"
}

# ---- osprof compare

"$OSPROF" compare --all a.osprof b.osprof >plain || [ $? -eq 1 ] || fail "cannot compare"
"$OSPROF" compare --json a.osprof b.osprof >plain.json || [ $? -eq 1 ] || fail "cannot compare"
expect_labels "" a.osprof b.osprof
times=("device_read 150000 190000 200000 9 5 $source on /proc" "device_write 1 190000 200000 9 5 $source on /proc"
    "device_flush 1 6200 9000 9 5 $source on /proc" 'sleep 1 24000 24000 9 5')
calibrate_as node1 "${times[@]}"
expect_labels "READ: stayed    may be page cache hits
READ: stayed appeared    may be one disk read
FSYNC: moved    A: may be one disk flush
OPEN: moved    may be in memory
WRITE: stayed    may be one disk write" a.osprof b.osprof
expect_labels "" --no-labels a.osprof b.osprof
"$OSPROF" compare --all --no-labels a.osprof b.osprof >out || [ $? -eq 1 ] || fail "cannot compare"
cmp plain out || fail "--no-labels changes more than labels"
"$OSPROF" compare --json a.osprof b.osprof >out || [ $? -eq 1 ] || fail "cannot compare"
cmp plain.json out || fail "labels in JSON"
"$OSPROF" compare --all a.osprof b.osprof >out || [ $? -eq 1 ] || fail "cannot compare"
diff <(grep -v '^    \(A: \|B: \)\?may be ' out) plain >&2 || fail "labels change other lines"

# Each profile has the times of its own host, also where that has another clock.
calibrate_as node2 "device_read 1 5000 5000 9 5 $source on /proc"
sed -i 's/1000000000/2000000000/' "$XDG_STATE_HOME/osprof/node2.calibration"
profile one node1 'OP_READ 100 614400' "$(zeros 12) 100"
profile two node2 'OP_READ 100 1228800' "$(zeros 13) 100"
sed -i 's/1000000000/2000000000/' two.osprof
expect_labels "READ: stayed    A: may be page cache hits
READ: stayed    B: may be one disk read" one.osprof two.osprof
rm "$XDG_STATE_HOME/osprof/node2.calibration"
expect_labels "READ: stayed    A: may be page cache hits" one.osprof two.osprof

# A peak that is gone has the label of the profile that had it.
profile only-a node1 'OP_READ 100 19660800' "$(zeros 17) 100"
profile only-b node1 'OP_OPEN 100 76800' "$(zeros 9) 100"
expect_labels "READ: vanished    may be one disk read
OPEN: appeared    may be in memory" only-a.osprof only-b.osprof

# ---- The first page, the histograms and comparisons say the same, of each peak at most one thing

calibrate_as node1 "${times[@]}" "round_trip 1 6000000 9000000 9 5 server:1"
profile mixed node1 'OP_READ 400 1' "$(zeros 9) 100 0 0 0 0 0 0 0 100 0 0 0 0 100 0 0 0 0 100" 'OP_WRITE 100 1' \
    "$(zeros 22) 100" 'OP_MKDIR 100 1' "$(zeros 15) 100"
expect 0 show --ascii mixed.osprof
sed -n 's/^ *[0-9.]* %  \([A-Z]*\)  *100  *\([0-9.]* [mun]*s\) *\(.*\)/\1 \2: \3/p' out | grep ': .' | sort >first
[ -s first ] || fail "the first page names nothing: $(<out)"
expect 0 show --ascii --charts mixed.osprof
awk '/^[A-Z]+$/ { name = $1 } sub(/^  peak at /, "") { sub(/: may be /, ": "); print name " " $0 }' out | sort >charts
"$OSPROF" compare --all --ascii mixed.osprof mixed.osprof >out || fail "cannot compare"
awk '/^[A-Z]+: / { name = $1 } sub(/^    may be /, "") { print name " " $0 }' out | sort >compared
[ -z "$(comm -23 first charts)" ] || fail "the first page contradicts the histograms: $(diff first charts)"
assert_eq "$(sed 's/ .*: /: /' charts | sort)" "$(sort compared)" "labels of comparisons and of histograms"
assert_eq "$(sort -u charts)" "$(<charts)" "a label a peak"

# What was seen of the disk is said without "may be", everywhere: on the first page others have a question mark.
calibrate_as node1 "device_read 150000 190000 200000 9 5 $source on /proc"
profile seen node1 '# storage_read: 100000000' 'OP_READ 200 20000000' "$(zeros 9) 100 0 0 0 0 0 0 0 100" \
    'OP_LOOKUP 100 19660800' "$(zeros 17) 100"
expect 0 show --ascii seen.osprof
assert_eq "READ one disk read,LOOKUP one disk read?,READ page cache hits?" \
    "$(sed -n 's/^ *[0-9.]* %  \([A-Z]*\)  *100\( of 200\)\{0,1\}  *[0-9.]* [mun]*s  */\1 /p' out | paste -sd ,)" "names on the first page"
grep -q ' their p50  cause' out || fail "what was seen is not a cause: $(<out)"
expect_labels "READ: stayed    may be page cache hits
READ: stayed stayed    one disk read
LOOKUP: stayed    may be one disk read" seen.osprof seen.osprof
expect 0 plot --gnuplot seen.osprof
grep -q "'one disk read'" out || fail "a chart does not say what was seen"
grep -q "'may be one disk read'" out || fail "a chart says what was not seen"

# READs of which nothing came from storage are page cache hits, without any times; none of a slower peak, nor above a daemon.
rm "$XDG_STATE_HOME/osprof/node1.calibration"
# cached FSTYPE STORAGE_READ: a profile of READs of 4 KiB, 100 of 768 ns and 80 of 197 us
cached() {
    profile cached node1 "# fstype: $1" '# cache: auto' "# storage_read: $2" '# bytes: READ asked 737280 moved 737280' \
        'OP_READ 180 15805440' "$(zeros 9) 100 0 0 0 0 0 0 0 80"
}
# names_of_cached: on the first page, with the heading of their column; in the histograms
names_of_cached() {
    expect 0 show --ascii "$@" cached.osprof
    sed -n 's/^% of latency .*  //p; s/^.* READ  *\(100\|80\) of 180  *[0-9.]* [nu]s *//p' out | paste -sd ,
    expect 0 show --ascii --op READ "$@" cached.osprof
    sed -n 's/^  peak at //p' out
}
cached ext4 0
assert_eq "cause,,page cache hits
722 ns: page cache hits" "$(names_of_cached | sed 's/their p50$//')" "names of READs that nothing was read from storage for"
expect_labels "READ: stayed    page cache hits" cached.osprof cached.osprof
expect 0 plot --gnuplot cached.osprof
assert_eq 1 "$(grep -c "'page cache hits'" out)" "labels of READs that nothing was read from storage for"
expect 0 plot --gnuplot --no-labels cached.osprof
! grep "page cache" out >&2 || fail "--no-labels leaves a label"
assert_eq "their p50,," "$(names_of_cached --no-labels)" "names that nobody wants"
expect_labels "" --no-labels cached.osprof cached.osprof
expect 0 show --ascii --explain --op READ cached.osprof
assert_eq "  peak at 722 ns: page cache hits, as 100.0 % of its calls take less than 116 us, the most for a copy of their bytes, and nothing was read from storage" \
    "$(sed -n '/^  peak at/,/storage$/p' out | paste -sd ' ' | sed 's/  */ /g; s/^/ /')" "the reason"
grep -q '^  other peaks have no names: ' out || fail "says nothing of the other peak: $(<out)"
cached ext4,fuse.sshfs 0
assert_eq "may be,,page cache hits
722 ns: may be page cache hits" "$(names_of_cached)" "names of READs that a daemon may have answered"
expect 0 show --ascii --explain cached.osprof
paste -sd ' ' out | sed 's/  */ /g' | grep -q "the most for a copy of their bytes; nothing was read from storage, but a FUSE daemon or a server below may have sent the data" ||
    fail "does not say why it is uncertain: $(<out)"
cached ext4 512
assert_eq "their p50,," "$(names_of_cached)" "names of READs while something was read from storage"

# What cannot be used is reported once.
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
    sed -n "s/^set label [0-9]* 'may be \(page cache hits\|in memory\|one [a-z ]*\)' at screen \([0-9.]*\),.*/\1 \2/p" out
}

expect 0 plot --gnuplot a.osprof b.osprof
cp out plain
assert_eq "" "$(labels)" "labels without times"
calibrate_as node1 "${times[@]}"
expect 0 plot --gnuplot --op READ b.osprof
assert_eq "one disk read page cache hits" "$(labels | sed 's/ [0-9.]*$//' | paste -sd ' ')" "labels of READ, most latency first"
labels | awk '{ x[NR] = $NF } END { exit !(x[2] < x[1]) }' || fail "the label of shorter calls is not left of the other"
# Where two profiles have a peak of the same place and label, it is there once.
expect 0 plot --gnuplot a.osprof b.osprof
assert_eq "in memory,in memory,one disk flush,one disk read,one disk write,page cache hits" \
    "$(labels | sed 's/ [0-9.]*$//' | sort | paste -sd ,)" "labels of two profiles"
expect 0 plot --gnuplot --no-labels a.osprof b.osprof
cmp plain out || fail "--no-labels changes more than labels"

# Where there is no room there is no label.
expect 0 plot --gnuplot --size 300x300 a.osprof b.osprof
assert_eq "" "$(labels)" "labels of low histograms"

# Of many peaks three at most; none lies over another.
calibrate_as node1 "device_read 50000000 98304000 99000000 9 5 $source on /proc" \
    "round_trip 1 6291456 7000000 9 5 server:1"
profile many node1 'OP_READ 600 10738923600' "$(zeros 6) 100 0 0 0 100 0 0 0 100 0 0 0 100 0 0 0 100 0 0 0 100"
expect 0 plot --gnuplot --size 1600x600 many.osprof
assert_eq "one disk read one network round trip page cache hits" "$(labels | sed 's/ [0-9.]*$//' | sort | paste -sd ' ')" \
    "labels of those with most latency"
expect 0 plot --gnuplot --size 220x400 many.osprof
labels | awk '{ x = $NF * 220; if (NR > 1 && (x - last) ^ 2 < 60 ^ 2) bad = 1; last = x } END { exit bad }' ||
    fail "labels over each other: $(labels)"

for figure in --timeline --joint --layers; do
    expect_trouble "osprof plot: --no-labels is about histograms: $figure has no labels; see 'osprof help plot'" \
        plot --no-labels "$figure" a.osprof
done
command -v gnuplot >/dev/null || exit 0
for format in svg png pdf; do
    expect 0 plot -o "many.$format" many.osprof
    [ -s "many.$format" ] || fail "no picture"
done
grep -q 'may be one disk read' many.svg || fail "no label in the picture"
