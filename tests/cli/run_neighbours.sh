#!/bin/bash
# Others at the disk of a command are mentioned: how much was written to it or read from it meanwhile, and by whom, if that may
# be known. What the command itself does, and what others do on other disks, is not taken for theirs. The disks are loop
# devices that nobody else uses; a lock, which the command waits for until its neighbour is ready, keeps both together.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=run_lib.sh
. "$tests_dir/../cli/run_lib.sh"

need_root
need flock mkfs.ext4 losetup perl setsid pkill
[ "$is_preloaded" = yes ] || skip "built with a sanitizer: the calls of programs are not counted"

written=67108864
least=$written
most=$((written + written / 4)) # with metadata
loops=()
run_pid='' neighbour_pid='' earlier_pid=''

end_neighbour() {
    [ -z "$neighbour_pid" ] || kill "$neighbour_pid" 2>/dev/null || true
    [ -z "$neighbour_pid" ] || wait "$neighbour_pid" || true
    neighbour_pid=
}

before_cleanup() {
    local loop
    end_neighbour
    [ -z "$run_pid" ] || kill -KILL "$run_pid" 2>/dev/null
    [ -z "$earlier_pid" ] || kill "$earlier_pid"
    pkill -KILL -f "$scratch/job" || true
    [ ! -e "$scratch/begun/left" ] || kill "$(<"$scratch/begun/left")"
    for loop in "$lower" "$mnt"; do
        ! mountpoint -q "$loop" || umount -l "$loop"
    done
    for loop in ${loops[@]+"${loops[@]}"}; do
        losetup -d "$loop"
    done
}

# make_disk IMAGE DIRECTORY
make_disk() {
    truncate -s 512M "$1"
    mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$1"
    loops+=("$(losetup -f --show "$1")") || skip "no loop devices"
    mount -o noatime "${loops[-1]}" "$2"
    chmod 777 "$2"
}

# program NAME: an executable of that name, so that its process has it, too
program() {
    { echo "#!$(realpath "$(command -v perl)") -w" && cat; } >"$scratch/$1"
    chmod 755 "$scratch/$1"
}

program job <<END
use IO::Handle;
open(my \$own, "+>", "own") or die;
for (1 .. 13) {
    syswrite(\$own, "x" x 4096) == 4096 && \$own->sync or die;
}
!@ARGV || system(@ARGV) == 0 or die;
open(my \$started, ">", "$scratch/begun/started") or die;
open(my \$lock, "+<", "lock") or die;
flock(\$lock, 2) or die;
END
program backupd <<END
use IO::Handle;
open(my \$file, "+>", \$ARGV[0]) or die;
for (1 .. $written >> 20) {
    syswrite(\$file, "y" x (1 << 20)) == 1 << 20 or die;
}
\$file->sync or die;
open(my \$ready, ">", "$scratch/ready") or die;
sleep(600);
END
program small_files <<END
use IO::Handle;
for (1 .. 2000) {
    open(my \$file, "+>", "small-\$_") or die;
    syswrite(\$file, "x") == 1 && \$file->sync or die;
}
unlink("small-\$_") or die for 1 .. 2000;
exec("sync");
END
program empty_files <<END
for (1 .. 20000) {
    open(my \$file, ">", "empty-\$_") or die;
}
exec("sync");
END

# in_place WHOM COMMAND...: of this shell, as root or as the other user
in_place() {
    [ "$1" = root ] || exec_as "$user_uid" "$user_gid" "" "${@:2}"
    exec "${@:2}"
}

# run_job WHOM OPTIONS NEIGHBOUR [JOB'S COMMAND]: the job holds until its neighbour, a command, has made the file ready;
# the profile is in $scratch/profile
run_job() {
    local whom=$1 options=$2
    rm -f "$scratch/begun/started" "$scratch/ready" "$scratch/out/profile" "$lower/own"
    touch "$lower/lock"
    chmod 666 "$lower/lock"
    exec 9<"$lower/lock"
    flock 9
    # shellcheck disable=SC2086 # several
    (cd "$lower" && in_place "$whom" "$OSPROF" run $options -q -o "$scratch/out/profile" -- "$scratch/job" ${4:+bash -c "$4"}) 9<&- 2>"$scratch/err" &
    run_pid=$!
    wait_until 60 test -e "$scratch/begun/started" || fail "the job does not start: $(<"$scratch/err")"
    bash -c "$3" 9<&- &
    neighbour_pid=$!
    wait_until 120 test -e "$scratch/ready" || fail "the neighbour is not ready"
    nap 1000 # a command that is shorter than a tenth of a second is not looked at
    exec 9<&-
    wait "$run_pid" || fail "the run fails: $(<"$scratch/err")"
    run_pid=
    end_neighbour
    cp "$scratch/out/profile" "$scratch/profile"
}

# label KEY
label() {
    sed -n "s/^# $1: //p" "$scratch/profile" | sort -u
}

# Prints what the page says, in one line. How busy a loop device is depends on the machine.
told() {
    sed 's/^# disk_time: .*/# disk_time: busy 1 watched 2/' "$scratch/profile" | "$OSPROF" show - | sed -n '/^Meanwhile/,/^$/p' | tr '\n' ' '
}

# assert_between LEAST NUMBER MOST WHAT
assert_between() {
    (($1 <= $2 && $2 <= $3)) || fail "$4: $2, not from $1 to $3: $(grep '^# disk' "$scratch/profile")"
}

# assert_others read|written: the disk's and the command's own bytes, all in that direction
assert_others() {
    local read written own
    [[ $(label disk_bytes) =~ ^read\ ([0-9]+)\ written\ ([0-9]+)\ own\ ([0-9]+)$ ]] || fail "disk_bytes is '$(label disk_bytes)'"
    read=${BASH_REMATCH[1]} written=${BASH_REMATCH[2]} own=${BASH_REMATCH[3]}
    assert_eq "${loops[0]#/dev/} $lower" "$(label disk) $(label disk_place)" "the disk"
    assert_between "$least" "${!1}" "$most" "bytes of the disk"
    assert_eq "${!1}" $((read + written)) "bytes in one direction"
    assert_between 0 "$own" $((4 << 20)) "bytes of the command"
    [[ $(label disk_time) =~ ^(busy\ [0-9]+\ )?watched\ [0-9]+$ ]] || fail "disk_time is '$(label disk_time)'"
}

# assert_nobody WHAT
assert_nobody() {
    ! grep '^# disk_' "$scratch/profile" >&2 || fail "others are told of: $1"
    assert_eq "" "$(told)" "the page, $1"
}

mkdir "$scratch/begun" "$scratch/out"
chmod 777 "$scratch/begun" "$scratch/out"
provide_programs
make_disk "$scratch/image" "$lower"
make_disk "$scratch/other-image" "$mnt"
touch_ready="touch $scratch/ready; exec sleep 600"

# ---- A neighbour

run_job root "-d ." "exec $scratch/backupd $lower/other"
assert_others written
[[ "$(label disk_other_process) $(label disk_other)" =~ ^[0-9]+\ backupd$ ]] || fail "who it was: '$(label disk_other_process) $(label disk_other)'"
assert_between "$least" "$(label disk_other_bytes)" "$most" "bytes of the neighbour"
page=$(told)
[[ $page =~ Meanwhile\ 6[4-9]\.?[0-9]*\ MiB\ were\ written\ to\ ${loops[0]},\ the\ disk\ of\  ]] || [[ $page == Meanwhile\ 7* ]] || fail "page: $page"
[[ $page =~ mostly\ for\ others:\ the\ command\ wrote\ .*B\;\ the\ disk\ was\ busy\ for\ [0-9]+\ %\ of\ the\ time\;\ backupd\ \([0-9]+\)\ wrote ]] ||
    fail "page: $page"
"$OSPROF" show --json "$scratch/profile" >"$scratch/json"
grep -A 2 '"disk_bytes": {' "$scratch/json" | grep -q '"written": [1-9]' || fail "not in JSON"

# One that wrote more, but before, is not meant.
rm "$scratch/ready"
ln "$scratch/backupd" "$scratch/earlier"
"$scratch/earlier" "$lower/earlier" &
earlier_pid=$!
wait_until 120 test -e "$scratch/ready" || fail "the earlier one is not ready"
run_job root "-d ." "dd if=/dev/zero of=$lower/other bs=1M count=48 conv=fsync status=none; cd $lower; touch $scratch/ready; read -r <>$scratch/nap"
[[ $(label disk_other) == bash ]] || fail "beside an earlier one: '$(label disk_other)'"
kill "$earlier_pid"
earlier_pid=

# Its child has written, and has ended.
run_job root "-d ." "cd $lower; dd if=/dev/zero of=other bs=1M count=64 conv=fsync status=none; touch $scratch/ready; read -r <>$scratch/nap"
assert_others written
[[ "$(label disk_other_parent) $(label disk_other)" =~ ^[0-9]+\ bash$ ]] || fail "a child: '$(label disk_other_parent) $(label disk_other)'"

# What is read
sync -f "$lower"
run_job root "-d ." "dd if=$lower/other of=/dev/null bs=1M iflag=direct status=none; $touch_ready"
assert_others read
[[ $(told) == *MiB\ were\ read\ from\ *the\ command\ read* ]] || fail "the page, of reading: $(told)"

# Who it was is not for this user.
run_job user "-d ." "exec $scratch/backupd $lower/other"
assert_others written
[[ $(label disk_other) != *backupd ]] || fail "another user's process: $(label disk_other)"
[[ $(told) == *"mostly for others"*"of the time"* && $(told) != *backupd* ]] || fail "page of another user: $(told)"

if ! fuse_missing >/dev/null; then
    run_job root "--layers fs --mount-option flock -d $lower" "exec $scratch/backupd $lower/other"
    assert_others written
    [[ $(label disk_other) == *backupd ]] || fail "beside a mount: '$(label disk_other)'"
fi

# ---- None

run_job root "-d ." "$touch_ready"
assert_nobody "nobody is there"

run_job root "-d ." "exec $scratch/backupd $mnt/other"
assert_nobody "the neighbour is at another disk"

# What the command has left behind may be at the disk as well.
run_job root "-d ." "exec $scratch/backupd $lower/other" "setsid sleep 600 & echo \$! >$scratch/begun/left"
kill "$(<"$scratch/begun/left")"
rm "$scratch/begun/left"
assert_nobody "a process is left behind"

# ---- The command itself

run_job root "-d ." "$touch_ready" "dd if=/dev/zero of=more bs=1M count=64 conv=fsync status=none"
assert_nobody "the command writes much"

# shellcheck disable=SC2016 # for a shell in the job
run_job root "-d ." "$touch_ready" '(setsid dd if=/dev/zero of=more bs=1M count=64 conv=fsync status=none; touch ended) & until [ -e ended ]; do sleep 0.1; done'
assert_nobody "a process writes that the command does not wait for"

run_job root "-d ." "$touch_ready" "$scratch/small_files"
assert_nobody "the journal is written for each of many small files"

run_job root "-d ." "$touch_ready" "dd if=/dev/zero of=more bs=4k count=2000 oflag=sync status=none"
assert_nobody "the journal is written for each write of O_SYNC"

run_job root "-d ." "$touch_ready" "$scratch/empty_files"
assert_nobody "many files without data"
