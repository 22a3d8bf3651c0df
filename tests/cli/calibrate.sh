#!/bin/bash
# osprof doctor --calibrate: what it keeps, and where; files that cannot be used; labels of 'osprof show', and the estimate of
# preemption with a calibrated quantum. What is measured is this machine's business: only that it is something is tested.
. "$(dirname "$0")/lib.sh"

export XDG_STATE_HOME=$scratch/state
host=$(hostname)
file=$XDG_STATE_HOME/osprof/$host.calibration

# ---- Measuring

expect_trouble "osprof: no calibration of this machine: there is no $file; 'osprof doctor --calibrate' makes it" doctor --calibrate --print
[ ! -e "$XDG_STATE_HOME" ] || fail "--print makes $XDG_STATE_HOME"

umask 000
expect 0 doctor --calibrate --quick
umask 022
[ ! -s "$scratch/err" ] || fail "complains: $(<"$scratch/err")"
assert_eq "700 700 600" "$(stat -c %a "$XDG_STATE_HOME" "$XDG_STATE_HOME/osprof" "$file" | paste -sd ' ')" "modes"
assert_eq "Saved in $file" "$(tail -n 1 "$scratch/out")" "where it is kept"
assert_eq "$host.calibration" "$(ls -A "$XDG_STATE_HOME/osprof")" "files left"
assert_eq "# osprof calibration 1" "$(head -n 1 "$file")" "first line"
for key in system_call cache_read sleep; do
    awk -v key="$key" '$1 == key && $2 > 0 && $2 <= $3 && $3 <= $4 && $5 > 0 { found = 1 } END { exit !found }' "$file" ||
        fail "no $key in $(<"$file")"
done
expect 0 doctor --calibrate --print
grep -Eq "^system call +[0-9.]+ (ns|µs) " "$scratch/out" || fail "--print shows: $(<"$scratch/out")"

# A refused connection on the loopback is a round trip, too; what is not measured again stays.
cp "$file" before
expect 0 doctor --calibrate --quick --network 127.0.0.1:1
grep -q "^round_trip .* 127.0.0.1:1$" "$file" || fail "no round trip in $(<"$file")"
expect 0 doctor --calibrate --quick
grep -q "^round_trip .* 127.0.0.1:1$" "$file" || fail "a round trip is gone that was not measured again"
! cmp -s before "$file" || fail "not measured again"

# Of a directory: past the page cache, or told that it is not; nothing is left in it.
mkdir dir
status=0
"$OSPROF" doctor --calibrate --quick dir >out 2>err || status=$?
device=$(sed -n 's/^device_read [^ ]* [^ ]* [^ ]* [^ ]* [^ ]* //p' "$file")
case $status in
0) grep -qxF "$device" out || fail "the device '$device' is not printed" ;;
1) grep -q "^  device read  *not measured: " out || fail "status 1 without a reason: $(<out)" ;;
*) fail "$(<err)" ;;
esac
[ -z "$(ls -A dir)" ] || fail "leaves $(ls -A dir) in the directory"

# Times are printed for terminals that know ASCII only, too.
expect 0 doctor --calibrate --print --ascii
! LC_ALL=C grep '[^ -~]' "$scratch/out" || fail "--ascii prints other characters"

# ---- What cannot be measured, or kept

see="see 'osprof help doctor'"
for option in quick print network=127.0.0.1:1; do
    expect_trouble "osprof doctor: --${option%=*} goes with --calibrate; $see" doctor "--$option"
done
expect_trouble "osprof doctor: unexpected argument 'dir'; directories go with --calibrate; $see" doctor dir
for argument in --quick --network=127.0.0.1:1 dir; do
    expect_trouble "osprof doctor: --print measures nothing: it goes with --calibrate alone; $see" \
        doctor --calibrate --print "$argument"
done
cp "$file" before
expected="a directory in which files can be made is expected"
expect_trouble "osprof: cannot measure the device of no/such: No such file or directory; $expected" \
    doctor --calibrate --quick no/such
expect_trouble "osprof: cannot measure the device of before: Not a directory; $expected" doctor --calibrate --quick before
for network in "" nonsense :1 127.0.0.1: ::1:22 127.0.0.1:no-such-port; do
    expect 2 doctor --calibrate --quick --network "$network"
    grep -q "^osprof: cannot measure the network to '$network': .*; HOST:PORT or \[ADDRESS\]:PORT is expected$" \
        "$scratch/err" || fail "of '$network': $(<"$scratch/err")"
    [ ! -s "$scratch/out" ] || fail "measures something before it finds fault with '$network'"
done
cmp before "$file" || fail "a failed run has changed the file"

if is_root && have setpriv; then
    # No such user is known.
    status=0
    setpriv --reuid=4000000011 --clear-groups env XDG_STATE_HOME='' HOME='' "$OSPROF" doctor --calibrate >out 2>err || status=$?
    assert_eq "2 osprof: cannot keep calibrations: this user has no home directory of his own; XDG_STATE_HOME can name a directory" \
        "$status $(<err)" "a user without a home"
fi
(
    unset XDG_STATE_HOME
    expect 0 doctor --calibrate --quick
    [ -f "$HOME/.local/state/osprof/$host.calibration" ] || fail "not kept in \$HOME"
)
touch not-a-directory
XDG_STATE_HOME=$scratch/not-a-directory expect_trouble \
    "osprof: cannot save calibration $scratch/not-a-directory/osprof/$host.calibration: Not a directory" doctor --calibrate
rm "$file"
mkdir "$file"
expect_trouble "osprof: cannot read calibration $file: Is a directory" doctor --calibrate
rmdir "$file"

# Results that cannot be printed are trouble.
status=0
"$OSPROF" doctor --calibrate --quick >/dev/full 2>err || status=$?
assert_eq "2 osprof: cannot write standard output: No space left on device" "$status $(<err)" "full disk"

if is_root; then
    mkdir ro full
    mount -t tmpfs -o size=2m,mode=0755 tmpfs full
    direct=yes
    dd if=/dev/zero of=full/probe bs=4k count=1 oflag=direct status=none 2>err || direct= # tmpfs before Linux 6.6
    rm -f full/probe
    if [ -n "$direct" ]; then
        expect_trouble "osprof: cannot measure the device of full: No space left on device; it needs 8 MiB for a while" \
            doctor --calibrate --quick full
    else
        expect 1 doctor --calibrate --quick full
        assert_eq 3 "$(grep -c '^  device .* not measured: the file system has no direct I/O$' out)" "reasons"
    fi
    [ -z "$(ls -A full)" ] || fail "leaves $(ls -A full) on a full disk"
    mkdir -p full/osprof
    echo older >"full/osprof/$host.calibration"
    fallocate -l 4M full/ballast 2>/dev/null || dd if=/dev/zero of=full/ballast bs=4k status=none 2>/dev/null || true
    rm "full/osprof/$host.calibration" # it is no calibration; a page is free now, and not more
    cp before "full/osprof/$host.calibration"
    XDG_STATE_HOME=$scratch/full expect 2 doctor --calibrate --quick
    assert_eq "osprof: cannot save calibration $scratch/full/osprof/$host.calibration: No space left on device" \
        "$(<"$scratch/err")" "message of a full disk"
    cmp before "full/osprof/$host.calibration" || fail "a full disk has damaged the file"
    mount -t tmpfs -o ro tmpfs ro
    XDG_STATE_HOME=$scratch/ro expect_trouble \
        "osprof: cannot save calibration $scratch/ro/osprof/$host.calibration: Read-only file system" doctor --calibrate
    HOME=$scratch/ro XDG_STATE_HOME='' expect_trouble \
        "osprof: cannot save calibration $scratch/ro/.local/state/osprof/$host.calibration: Read-only file system" \
        doctor --calibrate
    if ! fuse_missing >/dev/null; then
        mount_osproffs "$lower" "$mnt"
        expect_trouble "osprof: cannot measure the device of $mnt: it is in a mount of osproffs; give the directory below it" \
            doctor --calibrate "$mnt"
        unmount_osproffs "$mnt"
    fi
fi

# ---- Files of this host that cannot be used

# expect_unusable MESSAGE: told by calibrate, which leaves the file alone
expect_unusable() {
    cp "$file" before
    expect_trouble "osprof: $1" doctor --calibrate --quick
    cmp before "$file" || fail "has replaced $(<before)"
    expect_trouble "osprof: $1" doctor --calibrate --print
}

remove="remove it, then 'osprof doctor --calibrate' makes a new one"
echo nonsense >"$file"
expect_unusable "$file is not a calibration: line 1: expected # osprof calibration 1, found 'nonsense'; $remove"
printf '# osprof calibration 2\n' >"$file"
expect_unusable \
    "$file is not a calibration: line 1: expected # osprof calibration 1, found '# osprof calibration 2'; $remove"
: >"$file"
expect_unusable "$file is not a calibration: line 1: expected # osprof calibration 1, found nothing; $remove"
form="KIND LOWER MEDIAN UPPER SAMPLES TIME [PLACE]"
printf '# osprof calibration 1\n# host: x\n# clock: tsc 1 Hz\nquantum 1 2\n' >"$file"
expect_unusable "$file is not a calibration: line 4: expected $form, found 'quantum 1 2'; $remove"

# That of another machine with this one's name is replaced as a whole.
printf '# osprof calibration 1\n# host: %s\n# clock: tsc 1 Hz\nround_trip 1 2 3 4 5 elsewhere:1\n' "$host" >"$file"
expect 0 doctor --calibrate --quick
if grep -q '^# clock: tsc' "$file"; then
    ! grep -q elsewhere "$file" || fail "keeps times of another machine"
fi

# ---- Labels

# calibrate_as HOST CLOCK LINE...: plants a calibration
calibrate_as() {
    local name=$1
    printf '%s\n' '# osprof calibration 1' "# host: $1" "# clock: $2" "${@:3}" >"$XDG_STATE_HOME/osprof/$name.calibration"
}

# profile HOST CLOCK [LINE]: three reads of 2^17 cycles and more
profile() {
    printf '%s\n' '# osprof 1' "# host: $1" "# clock: $2" ${3:+"$3"} 'OP_READ 3 600000' \
        ' 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 3'
}

# expect_labels EXPECTED ARGUMENT...: of the profile on standard input
expect_labels() {
    local expected=$1
    shift
    expect 0 show --ascii --charts "$@" -
    assert_eq "$expected" "$(grep '^  peak at' "$scratch/out" || true)" "labels"
}

source=$(awk -v dir=/proc '$2 == dir { print $1; exit }' /proc/self/mounts)
below='# lower: /proc/self'
read_in() { echo "device_read 1 $1 $1 9 5 $source on /proc"; }

# Of 2^17 to 2^18 cycles of 1 GHz the mean is 196.608 us, p50 185 us, if it is not narrowed by the total.
calibrate_as node1 'tsc 1000000000 Hz' "$(read_in 390000)"
profile node1 'tsc 1000000000 Hz' "$below" >planted
expect_labels "  peak at 185 us: may be one disk read" <planted
[ ! -s "$scratch/err" ] || fail "complains: $(<"$scratch/err")"
expect_labels "  peak at 185 us: may be one disk read" --buckets <planted
expect_labels "" --no-labels <planted
calibrate_as node1 'tsc 1000000000 Hz' "$(read_in 394000)"
expect_labels "" <planted
# Times of the machine itself are no evidence, however near.
calibrate_as node1 'tsc 1000000000 Hz' 'sleep 1 196000 200000 9 5' 'quantum 1 200000.0 400000 9 5'
expect_labels "" <planted

# explained ARGUMENT...: why, in a line
explained() {
    expect 0 show --ascii --explain "$@" planted
    awk '/^READ$/ { on = 1; next } /^$/ { on = 0 } on && !/[|+]/' "$scratch/out" | tr -s ' \n' ' '
}
why=" peak at 185 us: no name, as of the calibrated times none is one that this operation waits for;\
 as near, but no evidence: shortest sleep 196 us, scheduler quantum 200 us "
assert_eq "$why" "$(explained)" "why there is no name"
calibrate_as node1 'tsc 1000000000 Hz' "$(read_in 390000)"
near=" peak at 185 us: may be one disk read, as 100.0 % of its calls take between half and twice as long as a device read, 390 us"
assert_eq "$near; what was read from storage is not known " \
    "$(explained)" "why it may be a disk read"
[[ $(explained --op READ) = *"$near;"* ]] || fail "histograms are not explained"
calibrate_as node1 'tsc 1000000000 Hz' "$(read_in 400000)"
assert_eq " peak at 185 us: no name, as 0.0 % of its calls take between half and twice as long as a device read, 400 us; 50.0 % would be evidence " \
    "$(explained)" "how far evidence falls short"

# What was read from storage makes it certain, or refutes it.
calibrate_as node1 'tsc 1000000000 Hz' "$(read_in 390000)"
cp planted saved
# with_line LINE: it is in the header
with_line() {
    sed "/^# host/a$1" saved >planted
}
with_line '# storage_read: 1536'
expect_labels "  peak at 185 us: one disk read" <planted
assert_eq "${near/may be /}, and 1.50 KiB were read from storage " "$(explained)" "why it is a disk read"
with_line '# storage_read: 1535'
expect_labels "" <planted
refuted=${near/may be one disk read/no name}
assert_eq "$refuted, but no more than 1.50 KiB were read from storage " "$(explained)" "why it is none"
with_line '# storage_read: 0'
expect_labels "" <planted
assert_eq "$refuted, but nothing was read from storage " "$(explained)" "why it is none"
with_line '# bytes: READ asked 12288 moved 0'
expect_labels "" <planted
assert_eq "$refuted, but they read no bytes " "$(explained)" "why reads of no bytes are none"
with_line '# bytes: READ asked 12288 moved 12288'
expect_labels "  peak at 185 us: may be one disk read" <planted
with_line '# storage_read: 1000000'
echo 'OP_LOOKUP 3 600000
 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 3' >>planted
expect_labels "  peak at 185 us: may be one disk read
  peak at 185 us: one disk read" <planted
with_line '# storage_read: 500000'
echo 'OP_LOOKUP 3 600000
 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 3' >>planted
assert_eq "$near; 488 KiB were read from storage, maybe for something else " "$(explained)" "why others may have read it"

# Between these layers and the disk there is a FUSE daemon.
for layer in fuse queue daemon user; do
    with_line "# layer: $layer"
    expect_labels "" <planted
done
# A program has read what it executes and maps, too.
with_line '# layer: user\n# storage_read: 1536'
expect_labels "  peak at 185 us: may be one disk read" <planted
with_line '# layer: user\n# storage_read: 1535'
expect_labels "" <planted
with_line '# layer: block'
expect_labels "  peak at 185 us: one disk read" <planted
assert_eq "${near/may be /}, and they are requests to a disk " "$(explained)" "why a request is a disk read"
# The stacks of slow calls tell, too.
# with_wait WORDS CLASS: of all three calls
with_wait() {
    with_line "# slow: 1000\\n# cause: READ calls 3 total 600000 longest 200000 cause_class $2 cause ${1// /\\\\040}\\n# cause_buckets: 1 17:3"
}
with_wait "reading from the disk" disk_read
expect_labels "  peak at 185 us: of its 3 calls 100.0 % reading from the disk
  peak at 185 us: one disk read" <planted
assert_eq "${near/may be /}, and most were seen to wait for it " "$(explained | sed 's/READ.*//')" "why it is a disk read"
with_wait "waiting for a lock of a file" lock
expect_labels "  peak at 185 us: of its 3 calls 100.0 % waiting for a lock of a file" <planted
assert_eq "$refuted, but most were seen to wait for something else " "$(explained)" "why it is none"
mv saved planted

rm "$XDG_STATE_HOME/osprof/node1.calibration"
expect 0 show --explain planted
assert_eq 1 "$(grep -c '^  peaks have no names: ' "$scratch/out")" \
    "why, without times"
expect_trouble "osprof show: --explain is about the names of peaks, and --no-labels leaves them out; see 'osprof help show'" \
    show --explain --no-labels planted

# Another host, no host, no rate, several hosts: no labels, and no word of it.
calibrate_as node1 'tsc 1000000000 Hz' "$(read_in 197000)"
for header in "node2|tsc 1000000000 Hz" "../osprof/node1|tsc 1000000000 Hz" "node1, node2|tsc 1000000000 Hz" "node1|tsc"; do
    expect_labels "" < <(profile "${header%|*}" "${header#*|}" "$below")
    [ ! -s "$scratch/err" ] || fail "complains: $(<"$scratch/err")"
done
expect_labels "  peak at 185 us: may be one disk read" < <(profile node1 'monotonic 1000000000 Hz' "$below")

# A file that is there and cannot be used is reported, and the profile is shown all the same.
expect_labels "" < <(profile node1 'tsc 1100000000 Hz' "$below")
own=$XDG_STATE_HOME/osprof/node1.calibration
rates="with a clock of 1000.000 MHz, the profile with one of 1100.000 MHz"
assert_eq "osprof: no labels: $own was taken $rates" "$(<"$scratch/err")" "message"
calibrate_as node1 'tsc 1000000000 Hz'
sed -i 's/^# host: .*/# host: node3/' "$own"
expect_labels "" <planted
makes="'osprof doctor --calibrate' there makes a new one"
assert_eq "osprof: no labels: $own was taken on another host, not on node1; $makes" "$(<"$scratch/err")" "message"
echo nonsense >"$own"
expect_labels "" <planted
assert_eq "osprof: $own is not a calibration: line 1: expected # osprof calibration 1, found 'nonsense'; $remove" \
    "$(<"$scratch/err")" "message"
expect_labels "" --no-labels <planted
[ ! -s "$scratch/err" ] || fail "complains without labels: $(<"$scratch/err")"
rm "$own"
mkfifo "$own"
expect_labels "" <planted
rm "$own"

# Times of a device are for profiles of what lies on it, and round trips for those of no device of this machine.
calibrate_as node1 'tsc 1000000000 Hz' "device_read 1 197000 200000 9 5 $source on /proc" \
    "round_trip 1 300000 300000 9 5 server:1"
expect_labels "  peak at 185 us: may be one disk read" \
    < <(profile node1 'tsc 1000000000 Hz' '# lower: /proc/self')
# expect_cause EXPECTED ARGUMENT...: what the page that answers takes the peak of the profile on standard input for
expect_cause() {
    local expected=$1
    shift
    expect 0 show "$@" -
    assert_eq "$expected" "$(sed -n 's/^ *100.0 %  READ  *3  *185 µs *//p' "$scratch/out")" "cause"
}
expect_cause "one disk read" < <(profile node1 'tsc 1000000000 Hz' '# lower: /proc/self')
expect_cause "" --no-labels < <(profile node1 'tsc 1000000000 Hz' '# lower: /proc/self')
calibrate_as node1 'tsc 1000000000 Hz' "device_read 1 1970000 200000 9 5 $source on /proc"
expect_cause "" < <(profile node1 'tsc 1000000000 Hz' '# lower: /proc/self')
calibrate_as node1 'tsc 1000000000 Hz' "device_read 1900000 1970000 2000000 9 5 $source on /proc"
expect_cause "page cache hits" < <(profile node1 'tsc 1000000000 Hz' '# lower: /proc/self')
calibrate_as node1 'tsc 1000000000 Hz' "device_read 1 197000 200000 9 5 $source on /proc" \
    "round_trip 1 300000 300000 9 5 server:1"
root=$(awk '$2 == "/" { source = $1 } END { print source }' /proc/self/mounts)
case $root in
/dev/*) expect_labels "" < <(profile node1 'tsc 1000000000 Hz' '# lower: /') ;;
esac

# ---- Preemption: the quantum is the calibrated one, or that of the option.

expect 2 show --check --preemption planted
assert_eq "planted: consistent: 1 ops, 3 calls" "$(<"$scratch/out")" "output without a quantum"
quantum="run 'osprof doctor --calibrate' there, or give --quantum"
assert_eq "osprof: cannot estimate preemption in planted: the scheduler's quantum of its host is not known; $quantum" \
    "$(<"$scratch/err")" "message"
calibrate_as node1 'tsc 1000000000 Hz' 'quantum 1 4000000 5000000 9 5'
expect 0 show --check --preemption planted
assert_eq "planted: consistent: 1 ops, 3 calls
planted: preemption, if 2 threads take turns of 4.00 ms (calibrated) on a CPU:
  READ: negligible: 0.15 of 3 calls expected to be preempted" "$(<"$scratch/out")" "output"

# 2^20 calls of 1.5 * 2^10 cycles are 24 quanta of 2^26 ns.
long() { # long CALLS: of the bucket where preempted ones show
    printf '%s\n' '# clock: monotonic 1000000000 Hz' "OP_READ $((1048576 + $1)) $((1610612736 + $1 * 70000000))" \
        " 0 0 0 0 0 0 0 0 0 0 1048576 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 $1"
}
expect_preemption() {
    expect 0 show --check --preemption --quantum 67108.864us "${@:2}" -
    assert_eq "$1" "$(tail -n +3 "$scratch/out")" "estimate"
}
expect_preemption "  READ: up to 24 (16 to 32) of 1,048,600 calls expected to be preempted
    67.1 ms .. 134 ms: up to 24 expected, 24 there: all may be preempted ones" < <(long 24)
expect_preemption "  READ: up to 24 (16 to 32) of 1,048,577 calls expected to be preempted
    67.1 ms .. 134 ms: up to 24 expected, 1 there: it may be a preempted one" < <(long 1)
expect_preemption "  READ: up to 24 (16 to 32) of 1,048,624 calls expected to be preempted
    67.1 ms .. 134 ms: up to 24 expected, 48 there: 50.0 % may be preempted ones" < <(long 48)
expect_preemption "  READ: up to 24 (16 to 32) of 1,048,576 calls expected to be preempted
    67.1 ms .. 134 ms: up to 24 expected, none is there: fewer were preempted" < <(long 0)
expect_preemption "  READ: up to 24 (16 to 32) of 1,048,600 calls expected to be preempted
    134 ms .. 268 ms: up to 24 expected, none is there: fewer were preempted" --threads 3 < <(long 24)

# The exit status is about consistency; of what is inconsistent nothing is estimated.
expect 1 show --check --preemption --quantum 4ms "$data/show-inconsistent-total.osprof"
! grep -q preemption "$scratch/out" || fail "estimates preemption in an inconsistent profile"
expect 2 show --check --preemption --quantum 4ms - < <(printf 'OP_READ 1 5\n 0 0 1\n')
assert_eq "osprof: cannot estimate preemption in -: it does not tell its clock's rate" "$(<"$scratch/err")" "message"
