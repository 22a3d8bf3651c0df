#!/bin/bash
# Recordings: which layer each command takes, and files that are none.
. "$(dirname "$0")/lib.sh"

# layer NAME COUNT [LINE...]: makes a file of that name, the profile of that layer with so many reads of a bucket
layer() {
    local name=$1 count=$2
    shift 2
    printf '%s\n' '# osprof 1' "# layer: $name" '# host: node1' '# clock: monotonic 1000000000 Hz' '# resolution: 1' "$@" \
        "OP_READ $count $((count * 3000))" " 0 0 0 0 0 0 0 0 0 0 0 $count" >"$name"
}
layer user 131
layer fs 17 '# slow: 1000' '# cause: READ calls 2 total 9000 longest 5000 cause_id disk_read cause_class disk_read cause reading\040from\040the\040disk'
layer block 13
cat user fs >run.osprof
cat block user >no-fs.osprof

# ---- One layer: fs, or the outermost, or the one that is asked for

# expect_layer CALLS MESSAGE ARGUMENT...: CSV is of the layer with that many calls
expect_layer() {
    local calls=$1 message=$2
    shift 2
    expect 0 show --csv "$@"
    assert_eq "$calls" "$(sed 1d "$scratch/out" | cut -d , -f 7 | sort -u)" "calls of: $*"
    assert_eq "$message" "$(<"$scratch/err")" "message of: $*"
}
expect_layer 17 "osprof: run.osprof has the layers user and fs: this is fs; --layer chooses another" run.osprof
expect_layer 131 "osprof: no-fs.osprof has the layers user and block: this is user; --layer chooses another" no-fs.osprof
expect_layer 13 "" --layer block no-fs.osprof
expect_layer 17 "" fs
expect_layer 17 "" --layer fs fs
grep -v '^# layer' fs >unnamed
expect_layer 17 "" --layer fs unnamed
expect_layer 131 "" --layer user - <run.osprof
expect_trouble "osprof: no layer block in run.osprof, which has user and fs" show --layer block run.osprof
expect_trouble "osprof: no layer user in fs, which has fs" show --layer user fs
expect_trouble "osprof: no layer user in unnamed, which has fs" show --layer user unnamed

expect 0 show --ascii --width 60 run.osprof
grep -q '^operation  layer' out || fail "no table: $(<out)"
for option in --charts --buckets --no-labels --explain --op=READ --csv --metrics; do
    expect 0 show "$option" run.osprof
    assert_eq "osprof: run.osprof has the layers user and fs: this is fs; --layer chooses another" "$(<err)" "message of $option"
done
# What to type next names the layer, also of a profile of some callers' calls, and works as it stands.
{
    cat fs
    printf '%s\n' '# process: 4711 cc1' 'OP_READ 17 51000' ' 0 0 0 0 0 0 0 0 0 0 0 17'
    cat user
} >grouped.osprof
expect 0 show --of cc1 --width 200 grouped.osprof
grep -qF "next      osprof show --layer fs --of cc1 --op READ grouped.osprof" out || fail "what is next: $(<out)"
expect 0 show --layer fs --of cc1 --op READ grouped.osprof

expect 0 why run.osprof
grep -q 'reading from the disk' out || fail "osprof why: $(<out)"
expect 2 why --layer user run.osprof
expect 0 plot --gnuplot --layer user run.osprof
grep -q 131 out || fail "osprof plot: $(<out)"

# Two profiles, and sets of them: it is said once.
cat user fs block >again.osprof
expect 0 compare run.osprof again.osprof
assert_eq "osprof: run.osprof has the layers user and fs: this is fs; --layer chooses another" "$(<err)" "message of compare"
cp again.osprof third.osprof
expect 0 compare --brief run.osprof again.osprof -- third.osprof fs
assert_eq "osprof: run.osprof has the layers user and fs: this is fs; --layer chooses another" "$(<err)" "message of sets"
expect 0 compare --layer user --brief run.osprof no-fs.osprof -- third.osprof user
[ ! -s err ] || fail "osprof compare --layer: $(<err)"
expect_trouble "osprof: no layer user in fs, which has fs" compare --layer user run.osprof fs

# ---- All layers

expect 0 show --check run.osprof fs
assert_eq $'run.osprof, layer user: consistent: 1 ops, 131 calls\nrun.osprof, layer fs: consistent: 1 ops, 17 calls\nfs: consistent: 1 ops, 17 calls' \
    "$(<out)" "osprof show --check"
expect 0 show --check --layer user run.osprof
assert_eq "run.osprof: consistent: 1 ops, 131 calls" "$(<out)" "osprof show --check of a layer"
sed 's/^OP_READ 17/OP_READ 18/' run.osprof >inconsistent
expect 1 show --check inconsistent
grep -qx 'inconsistent, layer fs: OP_READ: 18 calls, but 17 in buckets and 0 in flight' out || fail "osprof show --check: $(<out)"

for i in {1..8}; do
    cp again.osprof "host$i.osprof"
done
expect 0 outliers host*.osprof
assert_eq "judged    24 operations of 24 profiles" "$(head -n 1 out)" "all layers"
expect 0 outliers --layer block host*.osprof
assert_eq "judged    8 operations of 8 profiles" "$(head -n 1 out)" "one layer"
expect 2 outliers --layer daemon host1.osprof host2.osprof
assert_eq "osprof: no layer daemon in host1.osprof, which has user, fs and block" "$(head -n 1 err)" "message of osprof outliers"

# ---- Files that are no recordings

cat fs user fs >bad
expect_trouble "osprof: bad is no run of several layers: the layer fs is in it twice; 'osprof save' adds profiles up" show bad
cat fs unnamed >bad
expect_trouble "osprof: bad is no run of several layers: one of its profiles does not say of which layer it is; add a line \"# layer: NAME\"" show bad
sed 's/node1/node2/' user | cat - fs >bad
expect_trouble "osprof: bad is no run of several layers: its layers are of different hosts: user of node2, fs of node1" show --check bad
grep -v '^# host' user | cat - fs >hostless
expect 0 show --check hostless
for ((i = 0; i < 17; i++)); do layer "$i" 1; done
cat {0..16} >bad
expect_trouble "osprof: bad is no run of several layers: it holds more profiles than there are layers" show bad
head -c -1 run.osprof >bad
expect_trouble "osprof: bad is not a whole profile: it ends within a line, so it was cut short" show bad
{ printf '%s' "$(head -n 6 user)"; cat fs; } >bad # cut within a line, and another behind it
expect_trouble 'osprof: bad is not a profile: line 6: expected the total latency in cycles, found "393000#"' show bad
head -n 6 run.osprof | cat - fs >bad
expect_trouble 'osprof: bad is not a profile: line 7: expected bucket counts separated by blanks, or -, found "#"' show bad

# ---- The table of layers

cd "$data"
expect_golden layers show layers.osprof
expect_golden layers-narrow show --ascii --width 40 layers.osprof
expect_golden layers-json show --json layers.osprof
expect_golden layers-plain show --layer block layers.osprof
cd "$scratch"
for width in 40 41 47 53 59 61 67 71 73 79 80 83 89 97 200 1000; do
    expect 0 show --ascii --width "$width" "$data/layers.osprof"
    [ "$(wc -L <out)" -le "$width" ] || fail "wider than $width columns: $(<out)"
done

# ---- The figure of layers

cp "$data/layers.osprof" .
expect_golden plot-layers plot --gnuplot --layers --op READ --op open layers.osprof
expect 0 plot --gnuplot --layers layers.osprof
assert_eq 4 "$(grep -cE '^set label [0-9]+ .(FSYNC|OPEN|WRITE|READ). ' out)" "operations that took a hundredth of the costliest"
! grep -qE 'STAT|CLOSE|MMAP' out || fail "operations that took less"
expect 0 plot --gnuplot --layers --op mmap layers.osprof
assert_eq 1 "$(grep -c '^plot' out)" "histograms of an operation without counterpart"
expect 1 plot --layers --op IOCTX -o no.svg layers.osprof
assert_eq "osprof: no calls of these operations in layers.osprof; 'osprof show' has a table of its operations" "$(<err)" "message"
expect 1 plot --layers -o no.svg fs
assert_eq "osprof: no layers in fs: it is a profile of one layer; 'osprof run --layers' records several" "$(<err)" "message of one layer"
sed '/^# clock/d' fs | cat user - >two
expect_trouble "osprof: cannot plot the layers of two: the layer fs does not tell its clock's rate, so they have no common unit of time" \
    plot --layers two
expect_trouble "osprof: a picture of 1000x300 has no room for all of this; choose operations with --op, or a larger --size" \
    plot --layers --size 1000x300 layers.osprof
if command -v gnuplot >/dev/null; then
    expect 0 plot --layers --by-latency -o figure.svg layers.osprof
    grep -q '<text>block</text>' figure.svg || fail "no layer block in the picture"
fi

# The parts of an operation that are known make up all that its outermost layer took.
python=$(python_with jsonschema) || skip "no python3 that has jsonschema"
"$python" "$tests_dir/../cli/validate.py" "$data/../../docs/recording.schema.json" "$data/layers-json.txt" ||
    fail "not by the schema of recordings"
"$python" - "$data/layers-json.txt" <<'PYTHON' || fail "the table does not add up"
import json, sys
whole = 0
for row in json.load(open(sys.argv[1]))["table"]:
    cells = row["layers"]
    for cell, below in zip(cells, cells[1:]):
        difference = cell["total_seconds"] - below["total_seconds"]
        if cell["calls"] == 0 and below["calls"] > 0:
            assert "here_seconds" not in cell, row
            continue
        assert ("asynchronous_below" in cell) == (difference < 0), row
        assert "asynchronous_below" in cell or abs(cell["here_seconds"] - difference) < 1e-12, row
    if all("here_seconds" in cell for cell in cells):
        assert abs(sum(cell["here_seconds"] for cell in cells) - cells[0]["total_seconds"]) < 1e-12, row
        whole += 1
assert whole > 3
PYTHON

# expect_line LINE ARGUMENT...: osprof prints this line, however it is wrapped
expect_line() {
    local line=$1
    shift
    expect 0 "$@"
    paste -sd ' ' "$scratch/out" | grep -qF -- "$line" || fail "not \"$line\": $(<"$scratch/out")"
}
layer user 131
layer fs 17
cat user fs >two
expect_line "READ: the kernel's cache, or the end of a file, answered at least 87.0 % of 131 calls; at least 87.0 % of 393 µs that these calls took were in the kernel and FUSE (page cache, queues, waking up, what the mount adds)." show two
layer fs 1000
cat user fs >two
expect_line "READ: lower took longer (3.00 ms) than libc (393 µs): reading ahead goes on while nobody waits for it." show two
# two_reads LAYER TOTAL ZEROS: two calls of READ, one bucket higher for each of the zeros
two_reads() {
    printf '# osprof 1\n# layer: %s\n# clock: monotonic 1000000000 Hz\n# resolution: 1\n' "$1"
    printf 'OP_READ 2 %s\n 0 0 0 0 0 0 0 0 0 0 0%s 2\n' "$2" "$3"
}
{ two_reads fuse 9000 ' 0'; two_reads queue 6000 ''; two_reads fs 4000 ''; } >three
expect_line "READ: queue and lower took longer (10.0 µs) than FUSE (9.00 µs): they are not of the same calls." show three
{ two_reads user 9000 ' 0'; two_reads fuse 4100 ''; two_reads queue 40000 ' 0 0 0'; } >three
expect_line "; queue took longer (40.0 µs) than FUSE (4.10 µs): they are not of the same calls." show three
layer fs 17 '# start: 2026-11-25T10:00:00Z' '# elapsed: 1000000000'
layer user 131 '# start: 2026-11-25T09:00:00Z' '# elapsed: 1000000000'
cat user fs >two
expect_line "libc and lower were taken at different times, so nothing is said of what stays between them." show two
! grep -q 'that these calls took' out || fail "says something of layers of different times: $(<out)"
layer user 131 '# start: 2026-11-25T10:00:00Z' '# elapsed: 60000000000'
cat user fs >two
expect_line "libc and lower were not taken for equally long: what one has more may be of the time that it has more." show two
sed '/^# clock/d' fs | cat user - >two
expect_line "51.0k cycles of unknown rate in 17 calls" show two
printf '%s\n' '# osprof 1' '# layer: user' '# osprof 1' '# layer: fs' >two
expect_line "libc      0 cycles of unknown rate in 0 calls lower     0 cycles of unknown rate in 0 calls" show two
expect 0 show --json two
"$python" "$tests_dir/../cli/validate.py" "$data/../../docs/recording.schema.json" out || fail "not by the schema of recordings"
layer user 131
layer ext4 17
cat user ext4 >two
expect_line "(at no other layer)" show two

# ---- Requests that no call of a program has made

# Page faults of a mapped file: they took nearly all the time, so they come first.
{
    printf '# osprof 1\n# layer: user\n# clock: monotonic 1000000000 Hz\nOP_OPEN 1 523000\n-\nOP_MMAP 1 7000\n-\n'
    printf '# osprof 1\n# layer: fuse\n# clock: monotonic 1000000000 Hz\nOP_OPEN 1 40000\n-\nOP_READ 64 52300000\n-\n'
    printf '# osprof 1\n# layer: fs\n# clock: monotonic 1000000000 Hz\nOP_OPEN 1 20000\n-\nOP_READ 64 43000000\n-\n'
} >mapped
expect 0 show mapped
assert_eq $'READ\nOPEN\nMMAP' "$(sed -n '/^operation/,/^self/s/^\([A-Z]\+\) .*/\1/p' out)" "the order of operations"
expect_line "82.2 % of 52.3 ms at the layer FUSE were in the lower file system and below it" show mapped

# ---- What is in other rows, and bounds

# ns_layer LAYER OP CALLS NS...: a profile
ns_layer() {
    printf '# osprof 1\n# layer: %s\n# clock: monotonic 1000000000 Hz\n' "$1"
    shift
    while [ $# -gt 0 ]; do
        printf 'OP_%s %s %s\n-\n' "$1" "$2" "$3"
        shift 3
    done
}

# A daemon that cannot copy files: the kernel reads and writes in the call.
ns_layer user COPY_FILE_RANGE 2 9270000 >copied
ns_layer fuse COPY_FILE_RANGE 2 21000 READ 11 4000000 WRITE 320 5000000 GETXATTR 3 9000 >>copied
expect_line "COPY_FILE_RANGE: 99.8 % of 9.27 ms that these calls took were in the kernel, above FUSE (page cache, locks, waking the program), or in READs and WRITEs, which took 9.00 ms in all." show copied
# Each write asks whether the file has capabilities.
ns_layer user WRITE 512 9000000 LSEEK 31 900000 >written
ns_layer fuse WRITE 512 4000000 GETXATTR 512 3000000 GETATTR 31 700000 >>written
expect_line "WRITE: at least 55.6 % of 9.00 ms that these calls took were in the kernel, above FUSE (page cache, locks, waking the program), or in GETXATTRs, which took 3.00 ms in all," show written
expect_line "LSEEK: 100.0 % of 900 µs that these calls took were in the kernel, above FUSE, or in GETATTRs, which took 700 µs in all." show written
# Who has a disk flush its cache is not known: a write with O_SYNC does, too.
ns_layer user FSYNC 31 9000000 WRITE 31 9000000 >synced
ns_layer fs FSYNC 31 8000000 WRITE 31 8000000 >>synced
ns_layer block FLUSH 62 4000000 WRITE 94 5000000 WRITE_QUEUED 94 1000000 >>synced
expect_line "FSYNC: 88.9 % of 9.00 ms that these calls took were in the lower file system and below it, where disks took 10.0 ms for FLUSHs and WRITEs of these and all other calls." show synced
grep -q '^FLUSH  *block  *4.00 ms  *62  (at no other layer)' out || fail "flushes belong to somebody: $(<out)"
expect_line "block: of all programs, and of the kernel." show synced
ns_layer user FSYNC 31 9000000 >synced
ns_layer fs FSYNC 31 8000000 >>synced
ns_layer block FLUSH 31 1000 WRITE 94 5000000 >>synced
expect_line "FSYNC: 88.9 % of 9.00 ms that these calls took were in the lower file system and below it, where disks took 5.00 ms for WRITEs of these" show synced
ns_layer fs WRITE 31 9000000 >synced
ns_layer block FLUSH 31 4000000 WRITE 31 3000000 >>synced
expect_line "WRITE: at least 66.7 % of 9.00 ms at the layer lower were in the lower file system (its cache, locks, journal), or in FLUSHs, which took 4.00 ms in all" show synced
# RELEASEDIR is not waited for; and requests that are more than the calls are of others, too.
ns_layer user READDIR 9 9000000 GETXATTR 65 9000000 OPEN 9 9000000 >several
ns_layer fs READDIR 3 5000000 GETXATTR 71 5000000 OPEN 9 5000000 >>several
expect_line "READDIR: the C library's buffers and the kernel's cache answered at least 66.7 % of 9 calls; at most 55.6 % of 9.00 ms" show several
expect_line "GETXATTR: at most 55.6 % of 9.00 ms" show several
expect_line "OPEN: 55.6 % of 9.00 ms" show several

# Where calls are missing below, no cache is said to have answered them.
{
    ns_layer user READ 1600 9000000
    ns_layer block READ 400 5000000 | sed '2a # incomplete: yes'
} >lacking
expect_line "block is incomplete: some calls are missing there." show lacking
! grep -q answered out || fail "a cache has answered: $(<out)"
expect 0 show --json lacking
! grep -q answered_share out || fail "JSON: a cache has answered: $(<out)"

# What others have the disk do is neither first nor what little is measured by.
ns_layer user READ 7 900000 >busy
ns_layer fs READ 7 500000 >>busy
ns_layer block READ 7 400000 WRITE 1000 9000000000 DISCARD 12 9000000000 >>busy
expect_line "READ: at least 44.4 % of 900 µs that these calls took were in the kernel and FUSE (page cache, queues, waking up, what the mount adds), and at most 44.4 % at the disk." show busy
assert_eq $'READ\nWRITE\nDISCARD' "$(sed -n '/^operation/,/^self/s/^\([A-Z]\+\) .*/\1/p' out)" "the order of operations"

# What a disk alone has comes last, also if it took longer than what programs called.
ns_layer user FSYNC 40 1390000000 LSEEK 2 3000 >flushed
ns_layer fs FSYNC 40 1380000000 >>flushed
ns_layer block FLUSH 80 1500000000 >>flushed
expect 0 show flushed
assert_eq $'FSYNC\nLSEEK\nFLUSH' "$(sed -n '/^operation/,/^self/s/^\([A-Z]\+\) .*/\1/p' out)" "the order beside a disk"

# A read at the end of a file asks nobody: where bytes are known they are counted.
read_layer() {
    ns_layer "$1" READ "$2" "$3" | sed "2a # bytes: READ asked 262144 moved $4"
}
{ read_layer user 2 9000 4096; read_layer fs 1 4000 4096; } >ended
expect 0 show ended
! grep -q answered out || fail "a cache has answered the end of a file: $(<out)"
{ read_layer user 3 9000 8192; read_layer fs 1 4000 4096; } >again
expect_line "READ: the kernel's cache answered at least 50.0 % of 8.00 KiB that were read; " show again
{ read_layer user 3 9000 8192; ns_layer fuse READ 2 5000; read_layer fs 2 4000 2048; } >through
expect_line "READ: the kernel's cache answered at least 75.0 % of 8.00 KiB that were read; " show through
{ read_layer user 3 9000 8192; read_layer fs 2 4000 131072; } >ahead
expect 0 show ahead
! grep -q answered out || fail "a cache has answered what was read ahead: $(<out)"
{ read_layer user 129 9000000 8192; ns_layer fs GETATTR 2 2000; } >none
expect_line "READ: the kernel's cache answered 100.0 % of 8.00 KiB that were read" show none

# With data=passthrough the kernel reads by itself: that is no cache, and the rest of the row is not known.
ns_layer user READ 129 9000000 WRITE 129 9000000 STAT 31 9000 >passed
ns_layer fs GETATTR 2 2000 | sed '2a # data: passthrough' >>passed
for op in READ WRITE; do
    expect_line "$op: the kernel's (data=passthrough): not profiled here; the layer user sees them." show passed
done
! grep -E '^(READ|WRITE): .*(answered|waited)' out || fail "says more: $(<out)"
expect 0 show --json passed
assert_eq 1 "$(grep -c answered_share out)" "caches that have answered, of STAT alone"
sed -i '/^# data/d' passed
expect_line "READ: the kernel's cache, or the end of a file, answered 100.0 % of 129 calls" show passed

# Locks that a mount does not take are the kernel's, and it is neither the cache nor waking up; those that it takes are not.
ns_layer user LOCK 2 1210000000 OPEN 4 900000000 >locked
ns_layer fs OPEN 4 40000 >>locked
expect_line "LOCK: 1.21 s that these calls took were in the kernel: locks of files are not forwarded to the mount. OPEN: 100.0 % of 900 ms" show locked
ns_layer user LOCK 2 1210000000 >locked
ns_layer fs OPEN 4 40000 SETLKW 2 1200000000 >>locked
expect_line "LOCK: 99.2 % of 1.21 s that these calls took were in the lower file system and below it." show locked

# Not all that a layer has more is read ahead.
ns_layer user READ 3 289000 MMAP 1 1000 | sed '2a # not_seen: static 1' >unseen
ns_layer fuse READ 66 1830000 OPEN 14 263000 >>unseen
expect_line "READ: FUSE took longer (1.83 ms) than libc (289 µs): reading ahead goes on while nobody waits for it; files were mapped, too, which are read without a call; libc does not measure 1 statically linked program." show unseen
ns_layer user READ 3 289000 OPEN 1 100000 >unseen
ns_layer fuse READ 66 1830000 OPEN 14 263000 >>unseen
expect_line "READ: FUSE took longer (1.83 ms) than libc (289 µs): reading ahead goes on while nobody waits for it." show unseen

# A daemon may have a cache of its own, and there need not be a file system below it.
ns_layer daemon READ 71 9000000 >cached
ns_layer block READ 7 4000000 >>cached
expect_line "READ: the daemon, or the kernel's cache below it, or the end of a file, answered at least 90.1 % of 71 calls; " show cached
