#!/bin/bash
# osprof run: what the command sees and returns, what is counted, where the profile goes, and that nothing is left.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=run_lib.sh
. "$tests_dir/../cli/run_lib.sh"

need_fuse
unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"

# ---- Bad input is one line, and status 125

expect_failure() {
    local message=$1
    shift
    expect 125 run --layers fs "$@"
    assert_eq "$message" "$(<"$scratch/err")" "message of: osprof run $*"
    [ ! -s "$scratch/out" ] || fail "prints something: osprof run $*"
}

expect_failure "osprof run: no command given; see 'osprof help run'"
expect_failure "osprof run: unknown option '-x'; see 'osprof help run'" -x true
expect_failure "osprof run: --repeat must be a number from 1 to 1000000 or auto, not '0'; see 'osprof help run'" --repeat 0 true
expect_failure "osprof run: --warmup must be a number from 0 to 1000000, not '-1'; see 'osprof help run'" --warmup=-1 true
expect_failure "osprof run: standard output takes one profile, not 2; see 'osprof help run'" -o - -d lower -d mnt true
expect_failure "osprof run: --resolution takes 1, 2, 4 or 8, not '3'; see 'osprof help run'" --resolution 3 true
expect_failure "osprof run: --slow 10: the unit is missing: such as 10ms, or 10s; see 'osprof help run'" --slow 10 true
expect_failure "osprof run: --by filesystem: a mount is of one file system; leave it out, or profile the layer user; see 'osprof help run'" \
    --by filesystem true
expect_failure $'osproffs: joint=x: must be OP:VALUE, such as read:size\nosprof: cannot profile . (see the line above)' --joint x true
expect_failure "osprof: cannot profile none: No such file or directory" -d none true
expect_failure "osprof: cannot profile /: /proc, /dev and whatever else is mounted there would be seen through it; name the directories that matter, as -d /usr -d /home" -d / true
expect_failure "osprof: cannot profile /proc: it shows the kernel's state, and no storage" -d /proc true
expect_failure "osprof: cannot profile $lower twice: lower and mnt/../lower are the same directory" -d lower -d mnt/../lower true
expect_failure "osprof: cannot take --mount-option profile=x: osprof run says where the profile goes: -o FILE" --mount-option profile=x true
expect_failure "osprof: cannot write profile none/x: No such file or directory" -o none/x true
expect_failure "osprof: cannot write profile lower: Is a directory" -o lower true
touch file
expect_failure "osprof: cannot profile file: Not a directory" -d file true
expect_failure $'osproffs: cache=bad: must be auto, none or always\nosprof: cannot profile . (see the line above)' --mount-option cache=bad true
OSPROFFS=$scratch/none expect_failure "osprof: cannot run $scratch/none: No such file or directory
osprof: cannot profile . (see the line above)" true
expect_failure "osprof: cannot start the profile of lower afresh: Read-only file system; leave out --mount-option ro" --mount-option ro -d lower true
assert_nothing_left

# ---- Exit statuses

expect 0 run --layers fs -q -o profile true
expect 7 run --layers fs -q -o profile -- sh -c 'exit 7'
expect 137 run --layers fs -q -o profile sh -c 'kill -KILL $$'
[ -s profile ] || fail "no profile of a command that was killed"
rm profile
expect 127 run --layers fs -q -o profile no-such-command
assert_eq "osprof: cannot run no-such-command: No such file or directory" "$(<err)" "command not found"
expect 126 run --layers fs -q -o profile ./file
assert_eq "osprof: cannot run ./file: Permission denied" "$(<err)" "file that is no program"
[ ! -e profile ] || fail "there is a profile of nothing"
assert_nothing_left

# ---- What the command gets

printf 'one\ntwo\n' >lines
mkdir -p "$lower/deep/er"
exec 7>seen-by-command
# shellcheck disable=SC2016 # for the shell inside
look='pwd; umask; echo "$MARK"; id; grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs|SigBlk|SigIgn)" /proc/self/status
    cut -d " " -f 5,6 /proc/$$/stat; cat; ls /proc/self/fd; stat -f -c %T . >&2; echo through >&7'
cd "$lower/deep/er"
umask 027
MARK=mark sh -c "$look" <"$scratch/lines" >"$scratch/expected" 2>/dev/null
MARK=mark "$OSPROF" run --layers fs -d "$lower" -q -o "$scratch/profile" -- sh -c "$look" <"$scratch/lines" >"$scratch/out" 2>"$scratch/err"
umask 022
cd "$scratch"
diff -u expected out >&2 || fail "the command sees something else"
assert_eq fuseblk "$(sed 's/^fuse$/fuseblk/' err)" "the file system that the command is on"
assert_eq $'through\nthrough' "$(<seen-by-command)" "an open file of the caller's"
exec 7>&-

# Standard files that are closed stay closed.
# shellcheck disable=SC2016
(exec "$OSPROF" run --layers fs -d "$lower" -q -o profile -- sh -c 'ls /proc/$$/fd >listed') <&- >&- 2>&-
assert_eq 1 "$(grep -x '[012]' listed)" "standard files that were closed, but for where the list goes"
rm listed

# Ignored signals stay ignored, SIGCHLD too.
(trap '' INT CHLD && exec "$OSPROF" run --layers fs -d "$lower" -q -o profile -- grep SigIgn /proc/self/status) >out
(trap '' INT CHLD && exec grep SigIgn /proc/self/status) >expected
cmp out expected || fail "ignored signals: $(<out), not $(<expected)"

# ---- Counts

load() { # made of prime numbers; in the directory that osprof runs in
    # shellcheck disable=SC2016
    echo 'mkdir known-1 known-2 known-3 known-4 known-5 known-6 known-7; rmdir known-1 known-2 known-3 known-4 known-5
        for i in 1 2 3 4 5 6 7 8 9 10 11; do dd if=file of=/dev/null bs=512 count=1 iflag=direct status=none; done; '"$*"
}

clear_load() {
    rm -rf "$1"/known-*
}

head -c 4096 /dev/zero >"$lower/file"
cd "$lower"
expect 0 run --layers fs --mount-option cache=none -q -o "$scratch/profile" -- sh -c "$(load)"
clear_load .
assert_known_load "$scratch/profile"
assert_eq "11 11 11" "$(profile_calls READ "$scratch/profile") $(profile_calls OPEN "$scratch/profile") $(profile_calls RELEASE "$scratch/profile")" \
    "READ, OPEN and RELEASE"
assert_eq "# cache: none" "$(grep cache: "$scratch/profile")" "option of osproffs"
assert_eq "# resolution: 4" "$(grep resolution: "$scratch/profile")" "resolution that nobody asked for"

expect 0 run --layers fs --warmup 2 --repeat 3 --mount-option cache=none --resolution 2 -q -o "$scratch/profile" -- sh -c "$(load 'rmdir known-*')"
assert_eq "21 21 33" "$(profile_calls MKDIR "$scratch/profile") $(profile_calls RMDIR "$scratch/profile") $(profile_calls READ "$scratch/profile")" \
    "MKDIR, RMDIR and READ of 3 runs"
assert_eq "# resolution: 2 # runs: 3" "$(grep -E 'runs:|resolution:' "$scratch/profile" | paste -sd ' ')" "header of 3 runs"

# Labels, also such as a list of options would cut.
expect 0 run --layers fs --label rack=7 --mount-option cache=none --label 'note=a, b \ "c",profile=x' -q -o "$scratch/profile" -- true
assert_eq '# label rack: 7|# label note: a, b \134 "c",profile=x' "$(grep '^# label' "$scratch/profile" | paste -sd '|')" \
    "labels of --label"
expect 125 run --layers fs --label $'rack=\e' -q -o "$scratch/profile" -- true
assert_eq "osprof run: --label rack=?: the value must be one line of printable text in UTF-8; see 'osprof help run'" \
    "$(<"$scratch/err")" "message about a label"
expect 125 run --layers fs --label a=1 --mount-option label=a=2 -q -o "$scratch/profile" -- true

# All runs are made, the first failure is reported; a signal ends them.
# shellcheck disable=SC2016
expect 3 run --layers fs --repeat 5 -q -o "$scratch/profile" -- sh -c 'echo >>runs; case $(wc -l <runs) in 2) exit 3 ;; 4) exit 4 ;; esac'
assert_eq 5 "$(wc -l <runs)" "runs"
# shellcheck disable=SC2016
expect 143 run --layers fs --repeat 5 -q -o "$scratch/profile" -- sh -c 'echo >>runs; [ $(wc -l <runs) -lt 7 ] || kill $$'
assert_eq 7 "$(wc -l <runs)" "runs up to the signal"
rm runs

# What is printed: the command's own output stays by itself.
expect 0 run --layers fs -v -- sh -c 'sum file >x; echo output'
rm x
assert_eq output "$(<"$scratch/out")" "standard output"
grep -q '^command   sh -c sum file >x; echo output$' "$scratch/err" || fail "no command in the heading"
grep -Eq '^READ +1 ' "$scratch/err" || fail "no READ in the table"
[[ $(sed -n '2,/^$/p' "$scratch/err" | tr '\n' ' ') == *" elapsed; "*"/lower"* ]] || fail "does not begin with the answer: $(head -n 3 "$scratch/err")"
! grep -q '[│└]' "$scratch/err" || fail "charts that nobody asked for"
grep -Eq '^read      4.00 KiB, .* overall(, .* within calls)?$' "$scratch/err" || fail "no bytes: $(<"$scratch/err")"
next='next      osprof show --op [A-Z]*'
grep -qx "$next" <(sed 's/  #.*//' "$scratch/err") || fail "what is next: $(grep -A 2 ^next "$scratch/err")"
# How much FUSE added at most depends on the machine; that it is not counted is said only where nothing is known of it.
[ "$is_preloaded" = no ] || ! grep -q 'FUSE not included\|FUSE and waiting' <(tr '\n' ' ' <"$scratch/err") || fail "not known what FUSE added: $(<"$scratch/err")"
OSPROF_LIBRARIES=$scratch expect 0 run --layers fs -- cat file
! grep -q '^FUSE\|libosprof' "$scratch/err" || fail "without the library something is said of FUSE: $(<"$scratch/err")"
grep -q ', FUSE and waiting for locks not included' <(sed '/^$/d' "$scratch/err" | head -n 4 | paste -sd ' ') || fail "not told that FUSE is not known: $(<"$scratch/err")"
expect 0 run --layers fs --charts -- sh -c 'cat file >/dev/null'
grep -q '[│└]' "$scratch/err" || fail "no charts"
expect_failure "osprof run: --charts is about what is printed, and --quiet prints nothing; see 'osprof help run'" --charts -q true
expect_failure "osprof run: --verbose is about what is printed, and --quiet prints nothing; see 'osprof help run'" -v -q true
expect_failure "osprof run: --verbose is about a profile, and --vs prints a comparison; see 'osprof help run'" -v --vs true true
expect 0 run --layers fs -v --joint read:size -- sh -c 'cat file >/dev/null'
grep -q 'size' "$scratch/err" || fail "a joint profile that was asked for is not shown"
# Files, directories and programs are told apart unless somebody says otherwise, but not each of them printed.
# So many reads take more time than looking the file up, whatever comes between. The column of files needs more than 80 columns
# beside that of causes.
expect 0 run --width 120 --layers fs --mount-option cache=none -- sh -c 'for i in 1 2 3 4; do dd if=file of=/dev/null bs=1 count=4000 status=none; done; exec cat file >/dev/null'
for line in '^file      .*/file [0-9]' '^directory / [0-9]' '^program   .*dd [0-9]' '^ .*  READ .* /file$'; do
    grep -q "$line" "$scratch/err" || fail "no '$line' on the first page: $(<"$scratch/err")"
done
! grep -q '^ *calls  *share' "$scratch/err" || fail "a table of files that nobody asked for"
# Lines of groups that were asked for never give way, others do.
# shellcheck disable=SC2016 # for the shell inside
expect 0 run --layers fs --by process+program+file+directory+uid+cgroup -- sh -c 'for i in 1 2 3; do cat file; cat none; mkdir a; rmdir a; rmdir no; ln -s x a; rm a; done; exit 0' >/dev/null
for grouping in process program file directory user cgroup; do
    grep -q "^$grouping  *[^ ].* %" "$scratch/err" || fail "$grouping, which was asked for, gives way: $(<"$scratch/err")"
done
expect 0 run --layers fs -q -o "$scratch/profile" -- sh -c 'cat file >/dev/null'
grep -q '^# file: 0 /file$' "$scratch/profile" || fail "no file in a profile that is saved"
assert_eq 600 "$(stat -c %a "$scratch/profile")" "mode of a profile that has names of files"
for none in by=none timing=off; do
    expect 0 run --layers fs --mount-option $none -q -o "$scratch/profile" -- sh -c 'cat file >/dev/null'
    ! grep -qE '^# (file|directory|program): ' "$scratch/profile" || fail "groups with $none"
done
expect 0 run --layers fs -v --by program+uid -- sh -c 'cat file >/dev/null'
grep -q '^program  *calls' "$scratch/err" || fail "programs that were asked for are not shown"
grep -Eq '^cat  *[0-9]' "$scratch/err" || fail "cat is not among the programs"
grep -q '^user  *uid  *calls' "$scratch/err" || fail "users that were asked for are not shown"
# Of many the busiest are printed, on less than a screen, and how to see the others.
# shellcheck disable=SC2016 # for the shell inside
expect 0 run --layers fs -v --by file -- sh -c 'i=0; while [ $i -lt 61 ]; do i=$((i + 1)); : >many-$i; done; rm many-*'
table=$(sed -n '/^ *calls .*  file in .*$/,$p' "$scratch/err")
[ "$(wc -l <<<"$table")" -le 23 ] || fail "a table of files that is more than a screen: $table"
[ "$(grep -c '%' <<<"$table")" -ge 10 ] || fail "hardly a table of files: $table"
grep -q '^And [0-9]* more files: '"'osprof show --by all' lists all" <<<"$table" || fail "not told that there are more: $table"
# shellcheck disable=SC2016 # for the shell inside
expect 0 run --layers fs --by file -q -o "$scratch/profile" -- sh -c 'i=0; while [ $i -lt 61 ]; do i=$((i + 1)); : >many-$i; done; rm many-*'
expect 0 show --by all "$scratch/profile"
[ "$(grep -c '  /.*many-' "$scratch/out")" -ge 61 ] || fail "show leaves files out"
expect 0 run --layers fs -o - -- true
"$OSPROF" show --check - <"$scratch/out" >&2 || fail "no profile on standard output"
cd "$scratch"
assert_nothing_left

# The profile may lie in the directory itself, and is written there, not through the mount.
(cd "$lower" && expect 0 run --layers fs --mount-option cache=none -q -o ./out -- sh -c 'touch one' && expect 0 run --layers fs --mount-option cache=none -o out -- sh -c 'touch two')
assert_eq 1 "$(profile_calls CREATE "$lower/out")" "CREATE with the profile in the directory"
# As may the live files.
mkdir -m 0700 "$lower/run"
(cd "$lower" && XDG_RUNTIME_DIR=$lower/run expect 0 run --layers fs -q -o out -- sh -c 'touch three; ls run/osprof')
assert_eq 1 "$(grep -c live out)" "live file in the directory"
assert_eq "" "$(ls "$lower/run/osprof")" "live files left"
rm -r "$lower/run"

# An earlier profile is kept, another file is not replaced, nor is what is no file: the command does not begin.
cp "$data/compare-after.osprof" earlier
cp earlier there
expect 0 run --layers fs -d "$lower" -q -o there true
cmp earlier there.old || fail "an earlier profile is not kept"
"$OSPROF" show --check there >&2
rm there.old
echo precious >there
expect_failure "osprof: cannot write profile there: it is there, and is no result of osprof; --force replaces it" -o there touch began
assert_eq precious "$(<there)" "a text of somebody"
expect 0 run --layers fs -d "$lower" -q --force -o there true
"$OSPROF" show --check there >&2
[ ! -e there.old ] || fail "kept with --force: $(<there.old)"
ln -s "$scratch/target" link
for target in none there; do
    rm -f target
    [ $target = none ] || cp there target
    expect_failure "osprof: cannot write profile link: it is a symbolic link, which is not followed; name the file" -o link touch began
    [ -L link ] || fail "the link is replaced"
done
cmp there target || fail "written through a link"
mkfifo fifo # nobody reads it
for name in fifo /dev/null /dev/full; do
    expect_failure "osprof: cannot write profile $name: it is no regular file, and only such a file is replaced" -o "$name" touch began
done
[ ! -e began ] || fail "the command has begun"
rm there target link fifo
# What cannot be written is not lost.
"$OSPROF" run --layers fs -d "$lower" -q -o - true > >(cat >piped)
wait_until 20 "$OSPROF" show --check piped || fail "no profile in a pipe"
# lost_at COMMAND...: a run whose profile cannot be written, by that command
lost_at() {
    local status=0
    "$@" "$OSPROF" run --layers fs -d "$lower" -q -o - true 2>err >/dev/full || status=$?
    assert_eq 125 "$status" "status when the profile is not written"
}
lost_at env
assert_eq "osprof: cannot write profile -: No space left on device; it is kept: osprof show @1" "$(<err)" "message"
expect 0 show --check @1
lost_at env XDG_STATE_HOME="$scratch/no/state"
grep -q '^osprof: cannot write profile -: No space left on device; it follows$' err || fail "no message: $(<err)"
sed '/^osprof: /d' err | "$OSPROF" show --check - >&2 || fail "the profile that could not be written is lost"

# Options of osproffs that matter to osprof itself.
expect 0 run --layers fs --joint read:size --mount-option control=.other --mount-option "live=$mnt" -d "$lower" -q -o profile -- \
    sh -c "test -e lower/.other && ! test -e lower/.osprof && ls mnt && cat lower/file >/dev/null"
assert_eq 1 "$(grep -c '^[0-9]*[.]live$' out)" "live file in its place"
assert_eq "1 1" "$(grep -c '^JOINT_READ_SIZE' profile) $(profile_calls READ profile)" "joint profile and READ"
assert_eq "" "$(listed "$mnt")" "live files left"
expect 0 run --layers fs --mount-option live=none -d "$lower" -q -o profile -- sh -c "$(load | sed "s#known#lower/known#g; s#if=file#if=lower/file#")"
assert_known_load profile
clear_load "$lower"

# ---- Several directories

mkdir -p many/a/within many/b
expect 0 run --layers fs --mount-option cache=none -d many/a/within -d many/b -d many/a -q -o many.osprof -- \
    sh -c 'mkdir many/a/1 many/a/2 many/a/within/1 many/a/within/2 many/a/within/3 many/b/1 many/b/2 many/b/3 many/b/4 many/b/5'
for number in 1:3:many/a/within 2:5:many/b 3:2:many/a; do
    IFS=: read -r index count name <<<"$number"
    assert_eq "$count" "$(profile_calls MKDIR "many.osprof.$index")" "MKDIR in $name"
    assert_eq "# mount: $scratch/$name" "$(grep mount: "many.osprof.$index")" "its mount"
done
expect 0 run --layers fs -v -d many/a -d many/b true
assert_eq "mount $scratch/many/a mount $scratch/many/b" "$(awk '$1 == "mount" { print $1, $2 }' err | paste -sd ' ')" "profiles shown"
rm many.osprof.*

# One within another.
expect 0 run --layers fs -o outer -d "$lower" -- "$OSPROF" run --layers fs -o inner -d "$lower" -- mkdir "$lower/known-1" "$lower/known-2"
assert_eq "2 2" "$(profile_calls MKDIR outer) $(profile_calls MKDIR inner)" "MKDIR of both"
rm -r "$lower"/known-*

# While it runs, it can be looked at by others, and is seen by nobody else.
mkfifo go went
"$OSPROF" run --layers fs -d "$lower" -o profile -- sh -c "mkdir '$lower/known-1'; echo >go; read go <go" &
run_pid=$!
read -r _ <go
expect 0 show --op MKDIR "$lower"
grep -Eq '^MKDIR +1 ' out || fail "no MKDIR while it runs"
assert_eq "$mounts_at_start" "$(mounts_below "$scratch")" "mounts that others see"
echo >go
wait "$run_pid"
rmdir "$lower/known-1"
assert_nothing_left

# It keeps no other mount in use: one that is unmounted meanwhile writes its profile at once.
mkdir kept-mnt
# shellcheck disable=SC2016 # for the shell inside
for propagation in shared private; do
    rm -f other
    unshare --mount --propagation "$propagation" -- bash -euc '
        "$OSPROFFS" -o profile=other,live=none lower mnt
        "$OSPROFFS" -o profile=kept,live=none lower kept-mnt
        "$OSPROF" run --layers fs -d many -q -o profile -- sh -c "echo >go
            for i in \$(seq 200); do [ ! -s other ] || break; sleep 0.1; done
            [ -s other ] && mountpoint -q kept-mnt && ! mountpoint -q mnt" &
        read -r _ <go
        umount mnt
        wait "$!"
        umount kept-mnt' || fail "a $propagation mount that was unmounted while it runs stays in use, or another does not"
    "$OSPROF" show --check other
    assert_nothing_left
done

# Another file system may have got the device number by then: it stays.
# shellcheck disable=SC2016 # for the shell inside
unshare --mount --propagation shared -- bash -euc '
    "$OSPROFFS" -o profile=other,live=none lower mnt
    device=$(stat -c %d mnt)
    "$OSPROF" run --layers fs -d many -q -o profile -- sh -c "echo >go; read -r _ <went; sleep 0.5; [ -e mnt/there ]" &
    read -r _ <go
    kill -STOP "$!"
    umount mnt
    mount -t tmpfs after mnt
    : >mnt/there
    [ "$(stat -c %d mnt)" = "$device" ] || echo "another device number: nothing is tested"
    kill -CONT "$!"
    echo >went
    wait "$!"
    umount mnt' || fail "what was mounted outside is unmounted, since something else was there before"
assert_nothing_left

# Its own mount stays where one below it was unmounted outside.
# shellcheck disable=SC2016 # for the shell inside
unshare --mount --propagation private -- bash -euc '
    "$OSPROFFS" -o profile=below,live=none lower mnt
    "$OSPROF" run --layers fs -d mnt -q -o profile -- sh -c "echo >go; read -r _ <went; mkdir mnt/known-2" &
    read -r _ <go
    umount mnt
    echo >went
    wait "$!"' || fail "its own mount is gone with one below it that was unmounted"
assert_eq 1 "$(profile_calls MKDIR profile)" "MKDIR through its own mount"
rmdir "$lower/known-2"
assert_nothing_left

# ---- Files that are open already

note="was opened before its directory was profiled, and what was done with it is not in the profile; it is if the command \
opens it, as in sh -c 'sort <in >out'"
"$OSPROF" run --layers fs -d "$lower" -q -o profile -- cat <"$lower/file" 2>err >"$lower/copy"
assert_eq "osprof: note: the file that is standard input $note
osprof: note: the file that is standard output $note" "$(<err)" "messages about standard files"
assert_eq "0 0" "$(profile_calls READ profile) $(profile_calls WRITE profile)" "READ and WRITE of files opened before"
"$OSPROF" run --layers fs -d "$lower" -q -o profile -- true <"$lower/file" 2>err >"$lower/copy"
assert_eq "" "$(<err)" "messages about standard files that were not used"
rm "$lower/copy"
mkdir "$lower-beside"
cp lines "$lower-beside"
"$OSPROF" run --layers fs -d "$lower" -q -o profile -- cat <"$lower-beside/lines" 2>err >/dev/null
assert_eq "" "$(<err)" "messages about files elsewhere"

# ---- Processes that are left behind

# elapsed_ms FILE: of a profile
elapsed_ms() {
    awk '$2 == "clock:" { hz = $4 } $2 == "elapsed:" { print int(1000 * $3 / hz) }' "$1"
}

# One that only holds a file open, one that goes on making calls, one that waits in a call: the time ends with the command,
# long before they do.
# shellcheck disable=SC2016 # for the shells inside
exec 8>"$lower/lock"
flock 8
for left in 'exec sleep 1000 <lower/file' 'while :; do cat lower/file; done' 'exec flock lower/lock true'; do
    expect 0 run --layers fs --mount-option flock -d "$lower" -q -o profile -- sh -c "($left) >/dev/null 2>&1 & echo \$! >left; cat lower/file" 8>&-
    kill -KILL "$(<left)" 2>/dev/null || true # or it has ended when its calls failed
    [ "$(elapsed_ms profile)" -lt 60000 ] || fail "$(elapsed_ms profile) ms have elapsed with this left behind: $left"
done
exec 8>&-
rm left "$lower/lock"
assert_nothing_left
