#!/bin/bash
# osprof show: what it prints of given profiles, to the character.
. "$(dirname "$0")/lib.sh"

ln -s "$data"/show-*.osprof . # the page names them as they were given
expect_golden show-grep show show-grep.osprof
expect_golden show-longest show show-longest.osprof
expect_golden show-grep-charts show --charts show-grep.osprof
expect_golden show-grep-ascii show --ascii --op lookup --op OP_READ show-grep.osprof
expect_golden show-grep-buckets show --buckets --op READ show-grep.osprof
expect_golden show-grep-narrow show --width 40 --op READDIRPLUS show-grep.osprof
expect_golden show-hung show --charts --width 200 show-hung.osprof
expect_golden show-hung-merged show --width 40 --op READ show-hung.osprof
expect_golden show-groups show --by all show-groups.osprof
# With --op, of these operations alone: READ is all of cc1's calls, and OPEN none of them.
expect 0 show --op read --by process show-groups.osprof
grep -qx 'only      calls of READ' out || fail "not said of what: $(<out)"
assert_eq "cc1 4711 60 60.0 % other 40 40.0 %" "$(sed -n '/^process/,$p' out | awk 'NR > 1 { $NF=""; print }' | sed 's/\(%\) .*/\1/' | paste -sd ' ')" "groups of READ"
expect 0 show --op OPEN --by all show-groups.osprof
! grep -q '^cc1\|^other' out || fail "groups without such calls: $(<out)"
grep -q '^kernel .* 10 .*100.0 %' out || fail "the kernel's calls are missing: $(<out)"
expect 1 show --op FSYNC --by all show-groups.osprof
grep -q '^osprof: no call of FSYNC in this profile' err || fail "$(<err)"
[ ! -s out ] || fail "prints tables: $(<out)"
expect_golden show-groups-of show --by cgroup --of /user.slice --op READ --buckets show-groups.osprof
expect_golden show-groups-file show --of src --ascii show-groups.osprof
expect_golden show-empty show show-empty.osprof
expect_golden show-bare show show-bare.osprof
expect_golden show-outcomes show --charts show-outcomes.osprof
expect_golden show-outcomes-narrow show --width 40 --ascii --op LOOKUP show-outcomes.osprof

# ---- The page that answers

# answer: what of the last output it is, without the empty line at its end
answer() {
    sed '/^\(layer\|mount\|clock\|calls of\) /,$d' "$scratch/out" | sed '$d'
}

# Of a profile with all that there can be it has no more than 24 lines of 80 columns.
expect_golden show-answer show show-answer.osprof

# plant NAME LINE...: a profile of 1 GHz
plant() {
    printf '%s\n' '# osprof 1' "${@:2}" >"$scratch/$1.osprof"
}
first_calls="OP_OPEN 1 600
$(printf '0 %.0s' {1..9}) 1"

# The longest call has the article of its operation. After the peaks there is one empty line, whatever follows.
plant open '# clock: tsc 1000000000 Hz' '# longest: OPEN 600 object 3 path /srv/a' "$first_calls"
expect 0 show --ascii "$scratch/open.osprof"
grep -qx "The longest call, an OPEN, was on /srv/a" "$scratch/out" || fail "article: $(<"$scratch/out")"
plant read '# clock: tsc 1000000000 Hz' '# longest: READ 600 object 3 path /srv/a' "${first_calls/OPEN/READ}"
expect 0 show --ascii "$scratch/read.osprof"
grep -qx "The longest call, a READ, was on /srv/a" "$scratch/out" || fail "article: $(<"$scratch/out")"
plant long '# clock: tsc 1000000000 Hz' "${first_calls/OPEN/WRITE_SUPER_SLOW_JOURNAL}"
for profile in open long; do # no command about the latter fits on a narrow screen
    for columns in 40 80; do
        expect 0 show --ascii --width "$columns" "$scratch/$profile.osprof"
        [ "$(uniq -D "$scratch/out" | grep -c '^$')" -eq 0 ] || fail "two empty lines: $(<"$scratch/out")"
        [ "$profile $columns" = "long 40" ] || grep -q '^next' "$scratch/out" || fail "no command: $(<"$scratch/out")"
    done
done

# Why calls are timed in nanoseconds is said where the machine has a counter of cycles, as layers that programs are in use.
for layer in fs user daemon block; do
    plant clock "# layer: $layer" '# clock: monotonic 1000000000 Hz' "$first_calls"
    expect 0 show --ascii --width 120 "$scratch/clock.osprof"
    sed -n 's/^clock *//p' "$scratch/out"
done >"$scratch/clocks"
assert_eq "3 monotonic, in nanoseconds: no cycle counter that the kernel trusts; a bucket per power of two
1 monotonic, in nanoseconds; a bucket per power of two" "$(uniq -c "$scratch/clocks" | sed 's/^ *//')" "clocks"

# p50 is what half of the calls of a peak took at most, whatever its bucket is: 5 calls of 0.8 s, in a bucket up to 1.07 s;
# and of 2 calls the shorter one.
# p50_of OP: of the first peak of an op
p50_of() {
    sed -n "s/^ *[0-9.]* %  $1  *[0-9,]*  *\([^ ]* [mun]*s\).*/\1/p" "$scratch/out" | head -n 1
}
printf '%s\n' '# osprof 1' '# clock: tsc 1000000000 Hz' '# longest: FSYNC 800000000 object 3' '# longest: READ 2500000000 object 4' \
    'OP_FSYNC 5 4000000000' "$(printf '0 %.0s' {1..29}) 5" 'OP_READ 2 2500006000' \
    "$(printf '0 %.0s' {1..12}) 1 $(printf '0 %.0s' {1..18}) 1" >"$scratch/few.osprof"
expect 0 show --ascii "$scratch/few.osprof"
assert_eq "800 ms" "$(p50_of FSYNC)" "p50 of five calls of 800 ms"
assert_eq "6.00 us" "$(p50_of READ)" "p50 of two calls"
[ "$(answer | wc -l)" -le 24 ] || fail "$(answer | wc -l) lines, not 24"
[ "$(answer | wc -L)" -le 80 ] || fail "wider than 80 columns: $(answer | wc -L)"
for width in 40 60 100; do
    expect 0 show --width "$width" --ascii show-answer.osprof
    [ "$(answer | wc -L)" -le "$width" ] || fail "wider than $width columns: $(answer)"
    ! LC_ALL=C grep -q '[^ -~]' "$scratch/out" || fail "not only ASCII with --ascii"
done

# What the kernel reads and writes by itself is not said to be nothing; what it leaves to the daemon is there as ever.
kernels="the kernel's (data=passthrough): not profiled here; the layer user sees them"
passthrough() {
    printf '%s\n' '# osprof 1' '# clock: tsc 1000000000 Hz' '# data: passthrough' "$@" 'OP_OPEN 4 12' ' 0 4'
}
# bytes_of WIDTH: what the page of the profile on standard input says of bytes
bytes_of() {
    expect 0 show --width "$1" -
    sed -n '/^bytes/,/^[^ b]/p' "$scratch/out" | grep '^[b ]' | tr -s ' \n' ' '
}
assert_eq "bytes $kernels " "$(bytes_of 100 < <(passthrough))" "bytes with data=passthrough"
assert_eq "bytes $kernels " "$(bytes_of 60 < <(passthrough))" "the same on a narrow screen"
assert_eq "bytes $kernels " "$(bytes_of 100 < <(passthrough '# bytes: READ asked 4096 moved 4096' 'OP_READ 1 3' ' 0 1'))" "bytes of files that the kernel does not take"
grep -q '^read  *4.00 KiB' "$scratch/out" || fail "bytes of such files are missing: $(<"$scratch/out")"
passthrough >passed
passthrough '# bytes: READ asked 4096 moved 4096' 'OP_READ 1 3' ' 0 1' | sed '/^# data/d' >copied
for order in 'passed copied' 'copied passed'; do
    # shellcheck disable=SC2086 # two files
    expect 0 save -o merged $order
    assert_eq "bytes $kernels " "$(bytes_of 100 <merged)" "bytes of both kinds of mounts, merged"
done
for op in READ write; do
    expect 1 show --op "$op" passed
    assert_eq "osprof: no call of $op in this profile: $kernels" "$(<"$scratch/err")" "operation that the kernel makes"
    expect 1 show --op "$op" <(sed '/^# data/d' passed)
    ! grep -q passthrough "$scratch/err" || fail "speaks of the kernel where it does not: $(<"$scratch/err")"
done

# A sync is on a file: its directory is no answer, unless it is known to be several.
syncs() {
    printf '%s\n' '# osprof 1' '# clock: tsc 1000000000 Hz' "OP_FSYNC $1 $((3 * $1))" " 0 $1" "${@:2}"
}
# place [WIDTH]: where most syncs of the profile on standard input are
place() {
    expect 0 show --width "${1:-80}" -
    sed -n 's/^ *100.0 %  FSYNC  *[0-9]*  *[0-9.]* ns *//p' "$scratch/out"
}
directory=('# directory: 0 /' 'OP_FSYNC 4 12' ' 0 4')
assert_eq "(file not known: by=file)" "$(place < <(syncs 4 "${directory[@]}"))" "place of syncs with directories alone"
assert_eq "(file not know..." "$(place 60 < <(syncs 4 "${directory[@]}"))" "the same on a narrow screen"
assert_eq "/" "$(place < <(syncs 4 '# file: 0 /a' 'OP_FSYNC 1 3' ' 0 1' '# file: 0 /b' 'OP_FSYNC 1 3' ' 0 1' "${directory[@]}"))" \
    "place of syncs of several files"
assert_eq "/a" "$(place < <(syncs 4 '# file: 0 /a' 'OP_FSYNC 3 9' ' 0 3' "${directory[@]}"))" "place of syncs of a file"

# first_line LINE...: the first line of the page of such a profile
first_line() {
    printf '%s\n' '# osprof 1' '# clock: tsc 1000000000 Hz' "$@" 'OP_READ 100 150000' ' 0 0 0 0 0 0 0 0 0 0 100' >sentence
    expect 0 show --width 200 sentence
    head -n 1 "$scratch/out"
}
assert_eq "Calls took 150 µs, summed over threads" "$(first_line)" "nothing known"
assert_eq "1.00 ms elapsed; calls to /srv took 150 µs (15.0 %), summed over threads" \
    "$(first_line '# lower: /srv' '# elapsed: 1000000')" "elapsed time known"
assert_eq "1.00 ms elapsed; in 200 µs of them (20 % ± 2) calls to /srv were in flight, up to 4 at a time" \
    "$(first_line '# lower: /srv' '# elapsed: 1000000' '# busy: 300 looks 1500 most 4')" "looked at"
assert_eq "1.00 ms elapsed; in 200 µs of them (20.0 % ± 0.2) calls were in flight, up to 2 at a time" \
    "$(first_line '# elapsed: 1000000' '# busy: 30000 looks 150000 most 2')" "looked at often"
assert_eq "1.00 ms elapsed; in 150 µs of them (15.0 %) a call to /srv was in flight" \
    "$(first_line '# lower: /srv' '# elapsed: 1000000' '# busy: 30000 looks 150000 most 1')" "never two at once: the sum is exact"
assert_eq "1.00 ms elapsed; in 150 µs of them (15.0 %) the job was in file system calls" \
    "$(first_line '# layer: user' '# lower: /' '# elapsed: 1000000' '# busy: 100 looks 500 most 1')" "of a program, on all files"
assert_eq "1.00 ms elapsed; in 200 µs of them (20 % ± 2) the job was in file system calls on /srv, up to 4 at a time" \
    "$(first_line '# layer: user' '# lower: /srv' '# elapsed: 1000000' '# busy: 300 looks 1500 most 4')" "of threads, below a directory"
assert_eq "1.00 ms elapsed; calls took 150 µs (15.0 %), summed over threads" \
    "$(first_line '# elapsed: 1000000' '# busy: 0 looks 3 most 0')" "nothing seen"
assert_eq "3 runs, 1.00 ms elapsed in all; calls took 150 µs (15.0 %), summed over threads" \
    "$(first_line '# elapsed: 1000000' '# runs: 3')" "runs"

# Where the rest of the time went is divided for one thread; of several only sums and bounds are known.
second_lines() {
    first_line '# layer: user' '# elapsed: 1000000' '# busy: 100 looks 500 most 1' "$@" >/dev/null
    sed -n '1d; /^$/q; p' "$scratch/out" | paste -sd ' '
}
assert_eq "" "$(second_lines)" "no CPU times"
assert_eq "Outside of these calls it was on a CPU for 300 µs to 400 µs, waited for a CPU for at most 50.0 µs, and for other things for 400 µs to 550 µs" \
    "$(second_lines '# user_time: 300000' '# system_time: 100000' '# queue_time: 50000')" "one thread"
assert_eq "Outside of these calls it was on a CPU for 308 µs, and waited for other things for 542 µs" \
    "$(second_lines '# user_time: 300000' '# system_time: 15000' '# queue_time: 0')" "bounds that are close"
assert_eq "Outside of these calls it was on a CPU for 845 µs" \
    "$(second_lines '# user_time: 845000' '# system_time: 0' '# queue_time: 3000')" "nothing else that matters"
# Calls that compute do not wait: CPU time beyond the time outside of calls was within them.
assert_eq "It was on a CPU for at least 130 µs within these calls, and outside of them for 850 µs" \
    "$(second_lines '# user_time: 850000' '# system_time: 150000' '# queue_time: 0')" "calls that were on a CPU"
assert_eq "Outside of these calls it was on a CPU for 850 µs" \
    "$(second_lines '# user_time: 850000' '# system_time: 50000' '# queue_time: 0')" "little more CPU time than there was outside"
assert_eq "Its threads and processes were on CPUs for 1.50 ms, in these calls and outside" \
    "$(second_lines '# user_time: 1400000' '# system_time: 100000')" "several"
assert_eq "Its threads and processes were on CPUs for 300 µs, in these calls and outside; that leaves at least 550 µs of the elapsed time for other waits" \
    "$(second_lines '# user_time: 200000' '# system_time: 100000')" "several that waited for something else"
assert_eq "Its threads and processes were on CPUs for 300 µs, in these calls and outside" \
    "$(second_lines '# user_time: 200000' '# system_time: 100000' '# not_seen: static 1' | sed 's/ Not measured.*//')" \
    "several with calls that were not seen"
for more in '# still_running: make 4711' '# call: READ age 100 inode 3 pid 5'; do
    assert_eq "Its threads and processes were on CPUs for 300 µs, in these calls and outside" \
        "$(second_lines '# user_time: 200000' '# system_time: 100000' "$more" | sed 's/ In flight.*//')" "several that still do something"
done
printf '%s\n' '# osprof 1' '# layer: user' '# clock: tsc 1000000000 Hz' '# elapsed: 10000000' '# busy: 100 looks 500 most 1' \
    'OP_LOCK 1 3000000' "$(printf ' 0%.0s' {1..21}) 1" >locks
expect 0 show --width 200 locks
assert_eq "10.0 ms elapsed; in 3.00 ms of them (30.0 %) the job was in file system calls; 3.00 ms of that for locks" \
    "$(head -n 1 "$scratch/out")" "locks of files"
sed -i 's/most 1/most 3/' locks
expect 0 show --width 200 locks
assert_eq "10.0 ms elapsed; in 2.00 ms of them (20 % ± 4) the job was in file system calls, up to 3 at a time; calls for locks took 3.00 ms, summed over threads" \
    "$(head -n 1 "$scratch/out")" "locks of several"

assert_eq "Not measured: 1 statically linked program A mount over their files sees them: osprof run --layers fs -d DIR" \
    "$(second_lines '# user_time: 300000' '# system_time: 100000' '# queue_time: 50000' '# not_seen: static 1')" "calls not seen are in the rest"

# What was not seen makes the time a lower bound, and stands below with its remedy.
assert_eq "1.00 ms elapsed; in at least 150 µs of them (15.0 %) the job was in file system calls" \
    "$(first_line '# layer: user' '# elapsed: 1000000' '# busy: 100 looks 500 most 1' '# not_seen: static 2')" "a lower bound"
remedy="A mount over their files sees them: osprof run --layers fs -d DIR"
assert_eq "Not measured: 2 statically linked programs|$remedy" "$(sed -n 2,3p "$scratch/out" | paste -sd '|')" "programs that were not seen"
assert_eq "1.00 ms elapsed; calls took at least 150 µs (15.0 %), summed over threads" \
    "$(first_line '# layer: user' '# elapsed: 1000000' '# not_seen: async 3')" "a sum that is a lower bound"
assert_eq "Not measured: 3 asynchronous calls|$remedy" "$(sed -n 2,3p "$scratch/out" | paste -sd '|')" "calls that were not seen"
names=('# unseen_program: set_id runs 1 least 1200000000 most 1210000000 name sudo' '# unseen_program: set_id runs 1 least 0 most 0 name at'
    '# unseen_program: static runs 1 least 1200000000 most 1200000000 name a' '# unseen_program: static runs 1 least 0 most 0 name b'
    '# unseen_program: static runs 1 least 0 most 0 name e')
assert_eq "Not measured: 2 set-id programs (sudo 1.21 s, at)|$remedy, for set-id programs as root" \
    "$(second_lines '# not_seen: set_id 2' "${names[@]:0:2}" | sed 's/ A mount/|A mount/')" "programs that have names, and rights"
assert_eq "Not measured: 9 statically linked programs (a 1.20 s, b, ...), 2 set-id programs (sudo 1.21 s, at), 1 program of Go|$remedy, for set-id programs as root" \
    "$(second_lines '# not_seen: static 9 set_id 2 go 1' "${names[@]}" | sed 's/ A mount/|A mount/')" "many names"
grep -qx 'not_seen  9 statically linked programs (a 1.20 s, b, e and 6 others), 2 set-id programs (sudo 1.21 s, at), 1 program of Go' "$scratch/out" ||
    fail "all names, in the heading: $(<"$scratch/out")"
# What programs, disks and files are called changes neither a sentence nor the advice: a name is cut out of the sentence
# it stands in, and there is nothing else in it.
assert_named() { # NAME SHOWN
    assert_eq "Not measured: 1 statically linked program ($2)|$remedy" \
        "$(second_lines '# not_seen: static 1' "# unseen_program: static runs 1 least 0 most 0 name $1" | sed 's/ A mount/|A mount/')" "a program called $1"
}
assert_named io_uring-cp io_uring-cp
assert_named set-id-test set-id-test
assert_named 'x), 5 set-id programs (y' 'x???5?set-id?programs??y'
assert_named 'a\012Not measured: b;\033[1m' 'a?Not?measured:?b??[1m'
assert_named '' ''
# Page faults are mentioned where files were mapped, and they may have taken a share of the time.
lines_of() {
    first_line '# layer: user' "$@" >/dev/null
    sed -n '1d; /^$/q; p' "$scratch/out" | paste -sd '|'
}
faults() {
    lines_of "$@" 'OP_MMAP 1 100' ' 0 0 0 0 0 0 1'
}
assert_eq "Not measured: page faults of mapped files (1,234 major in all)|$remedy" "$(faults '# elapsed: 99000000' '# page_faults: minor 5 major 1234')" "page faults of mapped files"
assert_eq "Not measured: 1 program with io_uring, page faults of mapped files (10 major in all)|$remedy" \
    "$(faults '# elapsed: 99000000' '# page_faults: minor 5 major 10' '# not_seen: io_uring 1')" "the same, and a program"
assert_eq "" "$(faults '# elapsed: 99000000' '# page_faults: minor 5 major 9')" "few page faults"
one_thread=('# elapsed: 100000000' '# busy: 1 looks 500 most 1' '# queue_time: 0' '# page_faults: minor 5 major 10')
assert_eq "Outside of these calls it was on a CPU for 99.0 ms" "$(faults "${one_thread[@]}" '# user_time: 99000000' '# system_time: 0')" \
    "page faults of a thread that waited for less than 1 % of the time"
assert_eq "Outside of these calls it was on a CPU for 98.0 ms, and waited for other things for 1.85 ms|Not measured: page faults of mapped files (10 major in all)|$remedy" \
    "$(faults "${one_thread[@]}" '# user_time: 98000000' '# system_time: 0')" "page faults of a thread that waited"
assert_eq "" "$(lines_of '# elapsed: 99000000' '# page_faults: minor 5 major 1234')" "page faults where nothing was mapped"

# Whether it is the disk: what came from it, beside what calls read; from 1 MiB on.
disk() { # STORAGE-BYTES READ-BYTES LINE-BEHIND-THE-CALLS...
    printf '%s\n' '# osprof 1' '# clock: tsc 1000000000 Hz' '# layer: user' '# elapsed: 99000000' "# storage_read: $1" \
        '# page_faults: minor 5 major 6' "# bytes: READ asked 67108864 moved $2" 'OP_READ 100 150000' "$(zeros 10) 100" "${@:3}" |
        expect 0 show --width 200 -
    sed -n '1d; /^$/q; p' "$scratch/out" | paste -sd '|'
}
zeros() {
    printf ' 0%.0s' $(seq "$1")
}
on_ext4=('# filesystem: 0 / ext4' 'OP_READ 100 150000' "$(zeros 10) 100")
assert_eq "Nothing of the 32.0 MiB that calls read came from the disk: it was in the page cache, or came from a FUSE daemon or a server" \
    "$(disk 0 33554432)" "a page cache, as far as anybody knows"
assert_eq "Nothing of the 32.0 MiB that calls read came from the disk: it was in the page cache" "$(disk 0 33554432 "${on_ext4[@]}")" "a page cache"
assert_eq "Nothing of the 32.0 MiB that calls read came from the disk: it was in the page cache, or came from a FUSE daemon or a server" \
    "$(disk 0 33554432 "${on_ext4[@]/ext4/fuse.sshfs}")" "a daemon"
assert_eq "Less than 1 % of the 32.0 MiB that calls read came from the disk: it was in the page cache" \
    "$(disk 335544 33554432 "${on_ext4[@]}")" "less than 1 % from the disk"
assert_eq "328 KiB came from the disk; calls read 32.0 MiB" "$(disk 335545 33554432)" "1 % from the disk"
assert_eq "34.0 MiB came from the disk; calls read 32.0 MiB" "$(disk 35651584 33554432)" "the disk"
assert_eq "64.0 MiB came from the disk, at most 32.0 MiB of it by read calls: the rest by mapped files and programs (6 major page faults), read-ahead or metadata" \
    "$(disk 67108864 33554432)" "more than calls read"
assert_eq "64.0 MiB came from the disk, none of it by read calls: the rest by mapped files and programs (6 major page faults), read-ahead or metadata" \
    "$(disk 67108864 0)" "mapped files"
assert_eq "" "$(disk 1048575 1048575)" "less than 1 MiB"
assert_eq "1.00 MiB came from the disk; calls read 1.00 MiB" "$(disk 1048576 1048576)" "1 MiB"
assert_eq "" "$(lines_of '# elapsed: 99000000' '# bytes: READ asked 67108864 moved 33554432')" "what came from the disk is not known"

# Where only files in a directory count, and the bytes are elsewhere.
elsewhere() {
    lines_of '# lower: /srv' "$@"
}
assert_eq "Hardly any of the bytes that programs read and wrote were of files in /srv: 10.0 MiB were of others, pipes, sockets or terminals; without -d all files count" \
    "$(elsewhere '# elapsed: 100000000' '# bytes_seen: read 100 written 0' '# bytes_kernel: read 100 written 0' '# bytes_elsewhere: read 10485760 written 0')" "bytes elsewhere"
assert_eq "None of the bytes that programs read and wrote were of files in /srv: 10.0 MiB were of others, pipes, sockets or terminals; without -d all files count" \
    "$(elsewhere '# elapsed: 100000000' '# bytes_seen: read 0 written 0' '# bytes_kernel: read 0 written 0' '# bytes_elsewhere: read 10485760 written 0')" "all bytes elsewhere"
assert_eq "" "$(elsewhere '# elapsed: 100000000' '# bytes_seen: read 0 written 0' '# bytes_kernel: read 0 written 0' '# bytes_elsewhere: read 1000000 written 0')" "few bytes elsewhere"
assert_eq "" "$(elsewhere '# elapsed: 100000000' '# bytes_seen: read 200000 written 0' '# bytes_kernel: read 200000 written 0' '# bytes_elsewhere: read 10485760 written 0')" "2 % of the bytes inside"
assert_eq "" "$(elsewhere '# elapsed: 1000000' '# bytes_seen: read 0 written 0' '# bytes_kernel: read 0 written 0' '# bytes_elsewhere: read 10485760 written 0')" "calls took time that matters"

# What osprof run has found of others at the disk is a sentence; a sum of several runs has none.
others() {
    lines_of "$@" | sed 's/|/ /g'
}
written=('# disk_bytes: written 318767104 own 4194304' '# disk: sda' '# disk_place: /srv/a b')
other=('# disk_other_bytes: 314572800' '# disk_other_process: 4711' '# disk_other: backupd')
assert_eq "Meanwhile 304 MiB were written to /dev/sda, the disk of /srv/a b, mostly for others: the command wrote 4.00 MiB; the disk was busy for 93 % of the time; backupd (4711) wrote 300 MiB into files, of this or other disks" \
    "$(others "${written[@]}" '# disk_time: busy 930 watched 1000' "${other[@]}")" "another program"
assert_eq "Meanwhile 304 MiB were written to /dev/sda, the disk of /srv/a b, mostly for others: the command wrote 4.00 MiB; a, with its (4711) with its children wrote 300 MiB into files, of this or other disks" \
    "$(others "${written[@]}" '# disk_other_bytes: 314572800' '# disk_other_parent: 4711' '# disk_other: a, with its')" "children of another program"
assert_eq "Meanwhile 100 MiB were read from /dev/sda, the disk of /, mostly for others: the command read 0 B" \
    "$(others '# disk_bytes: read 104857600' '# disk: sda' '# disk_place: /' '# disk_other: many')" "what was read, by nobody who is known"
assert_eq "" "$(others "${written[@]:0:2}" '# disk_time: busy 930 watched 1000')" "no disk"
assert_eq "" "$(others '# merged: 2' "${written[@]}")" "a sum"
assert_eq "" "$(others "${written[@]}" '# disk_time: busy 194 watched 1000')" "a disk that was idle most of the time"
[[ $(others "${written[@]}" '# disk_time: busy 200 watched 1000') == Meanwhile* ]] || fail "not told of others at a disk that was busy"

# So do bytes that the kernel has moved and nobody has seen.
assert_eq "1.00 ms elapsed; calls took at least 150 µs (15.0 %), summed over threads" \
    "$(first_line '# layer: user' '# elapsed: 1000000' '# bytes_seen: read 5000000 written 0' '# bytes_kernel: read 10000000 written 0')" "half of the bytes"
grep -q '^Only 50.0 % of the bytes that the kernel read for these programs were measured; ' "$scratch/out" || fail "bytes are missing: $(<"$scratch/out")"
assert_eq "1.00 ms elapsed; calls took 150 µs (15.0 %), summed over threads" \
    "$(first_line '# layer: user' '# elapsed: 1000000' '# bytes_seen: read 9500000 written 0' '# bytes_kernel: read 10000000 written 0')" "nearly all of the bytes"
! grep -q '^Only' "$scratch/out" || fail "bytes are said to be missing: $(<"$scratch/out")"

assert_eq "1.00 ms elapsed; calls took at least 150 µs (15.0 %), summed over threads" \
    "$(first_line '# layer: user' '# elapsed: 1000000' '# bytes_seen: read 90000000 written 2000000' '# bytes_kernel: read 10000000 written 10000000')" "what was written, and too much read"
grep -q '^Only 20.0 % of the bytes that the kernel wrote for these programs were measured; ' "$scratch/out" || fail "written bytes are missing: $(<"$scratch/out")"
first_line '# layer: user' '# elapsed: 1000000' '# bytes_seen: read 5000000 written 2000000' '# bytes_kernel: read 10000000 written 10000000' >/dev/null
grep -q '^Only 50.0 % of the bytes that the kernel read, and of those that it wrote 20.0 %, for these programs were measured; ' "$scratch/out" || fail "both are missing: $(<"$scratch/out")"

# The heading says of which calls sums of bytes are.
first_line '# layer: user' '# bytes_seen: read 1333989 written 0' '# bytes_kernel: read 1331143 written 5000000' \
    '# bytes_elsewhere: read 10 written 0' >/dev/null
assert_eq "bytes     1.27 MiB read, 0 B written, in the calls below|kernel    1.27 MiB read, 4.77 MiB written, by the kernel's count, less the start of programs|elsewhere 10 B read, 0 B written, of files that do not count here, pipes, sockets and terminals" \
    "$(grep '^bytes .*calls\|^kernel\|^elsewhere' "$scratch/out" | paste -sd '|')" "sums of bytes"

# A disk serves everybody, wherever the job was.
assert_eq "100 ms elapsed; requests of all programs to vda took 150 µs (0.1 %), summed over threads" \
    "$(first_line '# layer: block' '# lower: /srv' '# devices: vda' '# elapsed: 100000000')" "of a disk"
assert_eq "100 ms elapsed; calls to /srv took 150 µs (0.1 %), summed over threads" \
    "$(first_line '# layer: daemon' '# lower: /srv' '# devices: vda' '# elapsed: 100000000')" "of a daemon"

# What FUSE adds is at most what programs waited beyond the operations; of a mount alone it is not known.
of_mount() {
    first_line '# layer: fs' '# elapsed: 100000000' "$@" >/dev/null
    sed '/^$/,$d' "$scratch/out" | paste -sd '|'
}
assert_eq "100 ms elapsed; calls took 150 µs (0.1 %), summed over threads, FUSE and waiting for locks not included" \
    "$(of_mount)" "a mount"
assert_eq "100 ms elapsed; calls took 150 µs (0.1 %), summed over threads, FUSE not included" \
    "$(of_mount '# locks: record, flock')" "a mount that forwards locks"
assert_eq "100 ms elapsed; calls took 150 µs (0.1 %), summed over threads|FUSE, the page cache and copying added at most 900 µs to these calls (100 requests)" \
    "$(of_mount '# program_time: 900000' '# locking_time: 0')" "with what programs waited"
grep -q '^FUSE, .* at most 100 ms ' <(of_mount '# program_time: 100000000' '# locking_time: 0' | tr '|' '\n') || fail "a bound of less than 1 ms a request"
assert_eq "100 ms elapsed; calls took 150 µs (0.1 %), summed over threads" \
    "$(of_mount '# program_time: 101000000' '# locking_time: 0')" "a bound of more than 1 ms a request"
assert_eq "100 ms elapsed; calls took 150 µs (0.1 %), summed over threads|FUSE, the page cache and copying added at most 900 µs to these calls (100 requests)|Programs waited 20.0 ms in all for locks of files; the mount does not forward them (-o posix_lock,flock does), so that is in no operation" \
    "$(of_mount '# program_time: 20900000' '# locking_time: 20000000')" "with locks that are not forwarded"

# Where p50 does not explain the total the mean and the longest call stand beside it; of a peak below others only a bound is known.
# rows LINE...: the table of operations, its blanks as one
rows() {
    printf '%s\n' '# osprof 1' '# clock: tsc 1000000000 Hz' '# resolution: 1' "$@" | expect 0 show --width 80 -
    sed -n '/^% of latency/,/^$/{/^$/d; s/^ *//; s/  */ /g; p}' "$scratch/out" | paste -sd '|'
}
assert_eq "% of latency spent in calls p50 mean max|100.0 % FSYNC 40 6.40 ms 34.8 ms 160 ms" \
    "$(rows '# longest: FSYNC 160000000 object 0' 'OP_FSYNC 40 1390000000' "$(zeros 22) 32 2 1 2 2 1")" "a tail that takes the time"
assert_eq "% of latency spent in calls p50|100.0 % FSYNC 40 5.75 ms" \
    "$(rows '# longest: FSYNC 8000000 object 0' 'OP_FSYNC 40 240000000' "$(zeros 22) 40")" "calls that are alike"
assert_eq "% of latency spent in calls p50 mean max|100.0 % FSYNC 40 6.40 ms 34.8 ms <268 ms" \
    "$(rows 'OP_FSYNC 40 1390000000' "$(zeros 22) 32 2 1 2 2 1")" "a longest call that nobody has noted"
assert_eq "% of latency spent in calls their p50|99.9 % LOCK 47 of 96 2.97 ms|0.1 % LOCK 49 of 96 2.90 µs" \
    "$(rows 'OP_LOCK 96 140000000' "$(zeros 11) 49$(zeros 9) 47")" "two peaks of an operation"

# The rate within calls says nothing where they overlap: 1 MiB in 1 s, by calls that took 0.5 s, and 2 s.
rates() {
    printf '%s\n' '# osprof 1' '# clock: tsc 1000000000 Hz' '# resolution: 1' '# elapsed: 1000000000' '# bytes: READ asked 1048576 moved 1048576' \
        "OP_READ 4 $1" "$(zeros "$2") 4" | expect 0 show --width 80 -
    grep '^read' "$scratch/out"
}
assert_eq "read      1.00 MiB, 1.00 MiB/s overall, 2.00 MiB/s within calls" "$(rates 500000000 26)" "calls one after the other"
assert_eq "read      1.00 MiB, 1.00 MiB/s overall" "$(rates 2000000000 28)" "calls that overlap"

# Paths of a mount begin in its lower directory, those of programs in /.
titles() {
    printf '%s\n' '# osprof 1' '# clock: tsc 1000000000 Hz' "$@" 'OP_READ 100 150000' "$(zeros 10) 100" '# file: 0 /mine' \
        'OP_READ 90 140000' "$(zeros 10) 90" >based
    expect 0 show --width 80 based
    sed -n 's/^% of latency.*p50  //p; s/^ *100.0 .*  //p' "$scratch/out"
    expect 0 show --by file --width 80 based
    sed -n 's/^ *calls .*  //p' "$scratch/out"
}
assert_eq "top file, in /srv|/mine|file in /srv" "$(titles '# layer: fs' '# lower: /srv' '# mount: /mnt' | paste -sd '|')" "paths of a mount"
assert_eq "top file, in /mnt|/mine|file in /mnt" "$(titles '# layer: daemon' '# lower: host:/srv' '# mount: /mnt' | paste -sd '|')" "paths of a daemon"
assert_eq "top file|/mine|file" "$(titles '# layer: user' '# lower: /srv' | paste -sd '|')" "paths of programs"
assert_eq "top file|/mine|file" "$(titles '# layer: fs' '# lower: /' | paste -sd '|')" "paths of a mount of /"

# What failed is always answered, if it is known.
printf '%s\n' '# osprof 1' '# failed: LOOKUP ENOENT 1234' 'OP_LOOKUP 2000 2000000' ' 0 0 0 0 0 0 0 0 0 2000' >asked
expect 0 show asked
assert_eq "failed    nothing but 1,234 queries for what is not there" "$(grep '^failed' "$scratch/out")" "look-ups alone"
assert_eq "bytes     none read or written" "$(grep '^bytes' "$scratch/out")" "no bytes"
sed -i 's/ENOENT 1234/ENOENT 1234 EIO 2/' asked
expect 0 show asked
assert_eq "failed    LOOKUP EIO 2" "$(grep '^failed' "$scratch/out")" "failures beside look-ups"
# Loaders and interpreters try one directory after the other: that stands behind what is a failure for certain.
failed() {
    printf '%s\n' '# osprof 1' '# layer: user' "# failed: STAT ENOENT 1800" "$@" 'OP_STAT 2000 2000000' "$(zeros 9) 2000" \
        'OP_OPEN 20 20000' "$(zeros 9) 20" 'OP_WRITE 20 20000' "$(zeros 9) 20" 'OP_READLINK 9 9000' "$(zeros 9) 9" |
        expect 0 show --width 100 -
    sed -n 's/^failed *//p' "$scratch/out"
}
assert_eq "nothing but names that are not there: STAT 1,800" "$(failed)" "searches"
assert_eq "nothing but names that are not there: STAT 1,800, OPEN 3" "$(failed '# failed: OPEN ENOENT 3')" "searches of two kinds"
assert_eq "WRITE ENOSPC 2, OPEN EACCES 1, not there: STAT 1,800, OPEN 3" \
    "$(failed '# failed: WRITE ENOSPC 2' '# failed: OPEN ENOENT 3 EACCES 1')" "failures among searches"
assert_eq "nothing but names that are not there: STAT 1,800" "$(failed '# failed: READLINK EINVAL 9')" "files that are no links"
assert_eq "READLINK EACCES 9, not there: STAT 1,800" "$(failed '# failed: READLINK EACCES 9')" "links that may not be read"
sed -i '/^# failed/d' asked
expect 0 show asked
! grep -q '^failed\|^bytes' "$scratch/out" || fail "tells of failures that nobody counted"

# Of whom it is, also in what to type next, which works as it stands.
expect 0 show --by process --of cc1 show-groups.osprof
assert_eq "5.00 ms elapsed; calls of cc1 took 90.0 µs (1.8 %), summed over threads" \
    "$(answer | head -n 1)" "whose calls"
assert_eq "next      osprof show --by process --of cc1 --op READ show-groups.osprof" "$(answer | grep ^next)" "what is next"

# next_commands ARGUMENT...: what osprof show's page says to type next
next_commands() {
    expect 0 show --width 200 "$@"
    answer | sed -n '/^next/,$s/^.\{10\}\([^#]*[^# ]\).*/\1/p'
}
for profile in show-{grep,groups,answer}.osprof "a 'quoted' name" ./-dash; do
    [ -e "$profile" ] || cp show-groups.osprof "$profile"
    next_commands "$profile" >commands
    [ -s commands ] || fail "nothing to type next for $profile"
    while read -r line; do
        PATH=$(dirname -- "$OSPROF"):$PATH bash -c "$line" >shown || fail "what the page says to type does not work: $line"
        [ -s shown ] || fail "prints nothing: $line"
    done <commands
done
# Names of groups are others' text: one that is no name for a shell is quoted, one that looks like a number is given as such.
# shellcheck disable=SC2016 # not to be expanded, that is the point
printf '%s\n' '# osprof 1' 'OP_READ 1 5' ' 0 0 1' '# process: 4711 $(touch it); 9' 'OP_READ 1 5' ' 0 0 1' >quoted
next_commands quoted >commands
grep -qxF "osprof show --by process --of '\$(touch it); 9' quoted" commands || fail "quoted as $(<commands)"
sed -i 's/4711 .*/4711 4712/' quoted
next_commands quoted >commands
grep -qxF "osprof show --by process --of 4711 quoted" commands || fail "a name that is a number: $(<commands)"
# A path that does not fit is what the manual calls it.
long=$(printf 'long%.0s' $(seq 20))
cp show-grep.osprof "$long"
expect 0 show "$long"
assert_eq "next      osprof show --op READ PROFILE  # its latencies as a chart" "$(answer | grep ^next)" "a long path"

expect 0 show - <show-grep.osprof
assert_eq "next      osprof show --op READ PROFILE  # its latencies as a chart" "$(answer | grep ^next)" "standard input"

# The default is the last result that is kept; - is standard input.
expect 0 show show-bare.osprof
sed '/^next/d' "$scratch/out" >bare
keep_result "$data/show-bare.osprof"
shown_bare() {
    expect 0 show "$@"
    diff bare <(sed '/^next/d' "$scratch/out") >&2 || fail "prints something else: osprof show $*"
}
shown_bare
shown_bare - <"$data/show-bare.osprof"
shown_bare <(cat "$data/show-bare.osprof")

# A file that ends within a line; of a pipe the last newline may be missing.
printf '# osprof 1\nOP_READ 1 1024\n 0 0 0 0 0 0 0 0 0 0 1' >cut.osprof
expect_trouble "osprof: cut.osprof is not a whole profile: it ends within a line, so it was cut short" show cut.osprof
# shellcheck disable=SC2002 # as a pipe
cat cut.osprof | "$OSPROF" show - | grep -q '^READ  *1 100.0 % ' || fail "a pipe whose last line has no newline"

# What never ends is no profile, and takes no memory.
within_memory expect_trouble "osprof: standard input is not a profile: line 1: expected text, found a NUL byte; osprof run -o FILE writes one" show - </dev/zero
within_memory expect_trouble "osprof: standard input is not a profile: line 1: expected lines of at most 32 MiB; osprof run -o FILE writes one" \
    show - < <(tr '\0' a </dev/zero || true)
within_memory expect_trouble "osprof: standard input is not a profile: line 65538: expected at most 65536 labels" \
    show - < <(echo "# osprof 1"; yes "# key: value" || true)
within_memory expect_trouble "osprof: standard input is not a profile: line 36: expected a text of at most 1024 MiB" \
    show - < <(printf '# osprof 1\n# interval: 1\nOP_READ 0 0\n'; printf '%33000000s' - >row; while cat row && echo; do :; done)

# The longest line that a profile can have.
{
    printf '# osprof 1\n# interval: 1\n# borders:'
    { yes 18446744073709551615 || true; } | head -n 1048576 | tr '\n' ' '
    printf '\nOP_READ 1 5\n 0 0 1\n'
} >borders
within_memory expect 0 show borders

# Without a terminal the width is $COLUMNS, else 80; nothing is wider.
COLUMNS=40 expect_golden show-grep-narrow show --op READDIRPLUS "$data/show-grep.osprof"
COLUMNS=nonsense expect_golden show-grep-charts show --charts show-grep.osprof
for width in 40 60 80; do
    expect 0 show --charts --width "$width" "$data/show-grep.osprof"
    widest=$(sed -n '1,/^layer/p; /^operation/,/^$/p; /[│└]/,/^$/p' "$scratch/out" | wc -L)
    [ "$widest" -le "$width" ] || fail "$widest columns, not $width"
done

# The same of numbers that are as long as they can be, and of long names, with all that can be asked for.
long=$(printf '/a directory with a long name%.0s' {1..9})
words='waiting\040for\040something\040that\040has\040as\040many\040words\040as\040the\040words\040of\040a\040cause\040can\040have,\040all\040in\040all'
{
    printf '%s\n' '# osprof 1' "# lower: $long" "# mount: /m${long// /_}" '# clock: monotonic' '# incomplete: yes' '# clamped: 9223372036854775807' \
        '# elapsed: 9223372036854775808' '# failed: READ EIO 100000000000000 EACCES 5 ENOSPC 7' \
        '# bytes: READ asked 18446744073709551615 moved 9223372036854775808' \
        "# longest: READ 18446744073709551615 object 5 path $long" \
        "# call: COPY_FILE_RANGE age 9223372036854775808 inode 5 pid 4294967295 path ${long// /_} cause $words"
    printf 'OP_READ 9223372036854775808 18446744073709551615\n 9223372036854775807%s 1\n' "$(printf ' 0%.0s' {1..62})"
    printf 'OP_COPY_FILE_RANGE 1 0\n 0\n'
} >wide
for width in 40 41 60 80; do
    for options in "" --charts --buckets "--explain --op READ"; do
        # shellcheck disable=SC2086 # options, split
        expect 0 show --width "$width" $options wide
        [ "$(grep -v ' │' "$scratch/out" | wc -L)" -le "$width" ] || fail "$(wc -L <"$scratch/out") columns, not $width: $(<"$scratch/out")"
    done
    for by in all file process; do
        expect 0 show --width "$width" --by $by show-groups.osprof
        [ "$(wc -L <"$scratch/out")" -le "$width" ] || fail "$(wc -L <"$scratch/out") columns, not $width: $(<"$scratch/out")"
    done
done

# Where no call has ended nobody can be told apart, whatever was recorded.
printf '# osprof 1\n# mount: /mnt\nOP_READ 1 0\n 0\n' >nobody
for by in file all; do
    expect 1 show --by $by nobody
    grep -q "^osprof: no calls by [a-z]* in nobody: no call has ended in its time\$" "$scratch/err" || fail "says: $(<"$scratch/err")"
done

# In a locale without UTF-8 all is ASCII, also what a profile says.
LC_ALL=C expect_golden show-grep-ascii show --op READ --op LOOKUP "$data/show-grep.osprof"
printf '# mount: /m\303\274ll\nOP_READ 1 5\n 0 0 1\n' >umlaut
LC_ALL=C expect 0 show umlaut
! LC_ALL=C grep -q '[^ -~]' "$scratch/out" || fail "not only ASCII in the C locale"
expect 0 show umlaut
grep -q '^mount     /müll$' "$scratch/out" || fail "UTF-8 of a profile is not shown"

# Colours and the width of a terminal: only there, and NO_COLOR takes the colours away.
need script
on_terminal() {
    TERM=xterm script -qec "stty cols 64; $1 '$OSPROF' show --charts '$data/show-grep.osprof'" /dev/null | tr -d '\r'
}
on_terminal "" >coloured
grep -q $'\033\[1mREAD\033\[0m' coloured || fail "no colours on a terminal"
on_terminal NO_COLOR=1 >plain
expect 0 show --charts --width 64 "$data/show-grep.osprof"
diff "$scratch/out" plain >&2 || fail "differs on a terminal without colours"
diff <(sed 's/\x1b\[[0-9]*m//g' coloured) plain >&2 || fail "colours change the text"
# --color decides, whatever the place.
NO_COLOR=1 expect 0 show --charts --width 64 --color always "$data/show-grep.osprof"
diff "$scratch/out" coloured >&2 || fail "--color always prints something else"
TERM=xterm script -qec "stty cols 64; '$OSPROF' show --charts --color never '$data/show-grep.osprof'" /dev/null | tr -d '\r' >uncoloured
diff uncoloured plain >&2 || fail "--color never prints something else"

# An operation that was never called: told, exit 1, and the others are shown all the same.
expect 1 show --op READ --op FSYNC "$data/show-grep.osprof"
grep -q '^READ' "$scratch/out" || fail "READ is not shown beside FSYNC"
grep -q "no call of FSYNC in this profile" "$scratch/err" || fail "FSYNC is not missed"
expect 1 show --op FSYNC "$data/show-grep.osprof"
[ ! -s "$scratch/out" ] || fail "prints something where there is nothing"

# Output that cannot be written is trouble.
status=0
"$OSPROF" show "$data/show-grep.osprof" >/dev/full 2>err || status=$?
assert_eq "2 osprof: cannot write standard output: No space left on device" "$status $(<err)" "full disk"

# ---- What a terminal obeys, in whatever text of a profile, reaches none, by whichever command

hostile=$data/show-hostile.osprof
sed 's/^# layer: fs/# layer: other/' "$hostile" >other-layer.osprof

# assert_harmless ARGUMENT...: osprof prints something, and no such character
assert_harmless() {
    "$OSPROF" "$@" >shown 2>&1 </dev/null || true
    [ -s shown ] || fail "prints nothing: osprof $*"
    # C0 but newlines, DEL; C1 and a right-to-left override in UTF-8
    ! LC_ALL=C grep -aqP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' shown || fail "a terminal obeys: osprof $*: $(cat -v shown)"
}

for view in "" --charts --buckets --metrics --json --csv --by=process --joint; do
    assert_harmless show ${view:+"$view"} "$hostile"
done
assert_harmless show --check "$hostile"
assert_harmless show --check $'no\e[31m'
assert_harmless show $'--no\e[31m'
assert_harmless compare "$hostile" "$data/show-grep.osprof"
assert_harmless compare --json "$hostile" other-layer.osprof
cat "$hostile" other-layer.osprof >layers.osprof
assert_harmless show layers.osprof
assert_harmless show --op READ layers.osprof
assert_harmless show --layer $'no\e[31m' layers.osprof
assert_harmless show --check layers.osprof
cat "$hostile" "$hostile" >twice.osprof
assert_harmless show twice.osprof
mkdir -m 0700 "$XDG_RUNTIME_DIR/osprof"
coproc RECORDER { exec "$TEST_PROGRAMS/record" "$XDG_RUNTIME_DIR/osprof/1.live" $'/m\e[31m\xc2\x9b' $'.\e[31m'; }
# shellcheck disable=SC2153 # set by coproc
recorder_pid=$RECORDER_PID
before_cleanup() {
    kill -KILL "$recorder_pid" 2>/dev/null
}
read -r _ <&"${RECORDER[0]}"
assert_harmless save --list
assert_harmless save $'no\e[31m'
assert_harmless ctl $'no\e[31m' $'re\e[31mset'
assert_harmless save --remove -o live.out "$XDG_RUNTIME_DIR/osprof/1.live"
assert_harmless show "$XDG_RUNTIME_DIR/osprof/1.live"
kill -KILL "$recorder_pid"
wait "$recorder_pid" 2>/dev/null || true
assert_harmless top "$XDG_RUNTIME_DIR/osprof/1.live"
expect 0 show --metrics "$hostile"
grep -qF '{layer="fs?[31m",host="h?[31m?",mount="/m?]0;title?\n??\"\\",op="READ"} 2' "$scratch/out" || fail "metrics: $(grep count "$scratch/out")"
