#!/bin/bash
# osprof on a real mount: shown and reset through its control file or its live file, whatever their names.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"

before_cleanup() { # a daemon that is stopped could not end
    [ -z "$daemon_pid" ] || kill -CONT "$daemon_pid" 2>/dev/null
}

# reads COUNT: so many calls of READ for the profile
reads() {
    local number
    for number in $(seq "$1"); do
        dd if="$mnt/file" of=/dev/null bs=512 count=1 iflag=direct status=none || fail "read $number failed"
    done
}

# shown_reads ARGUMENT
shown_reads() {
    expect 0 show "$1"
    awk '$1 == "READ" && NF > 1 { calls = $2 } END { print calls + 0 }' "$scratch/out"
}

head -c 4096 /dev/urandom >"$lower/file"
ln -s mnt link

try_mount() {
    reads 13
    assert_eq 13 "$(shown_reads mnt)" "reads before the reset"
    assert_eq 13 "$(shown_reads link)" "reads through a symbolic link"
    expect 0 show --check mnt
    expect 0 ctl "$1" reset
    [ ! -s "$scratch/out" ] || fail "reset prints something"
    assert_eq 0 "$(shown_reads mnt)" "reads after the reset"
    reads 7
    assert_eq 7 "$(shown_reads mnt)" "reads since the reset"
}

mount_osproffs "$lower" "$mnt"
try_mount mnt
assert_eq 7 "$(shown_reads mnt/.osprof)" "reads in the control file"
expect_trouble "osprof: lower is not the mount point of an osproffs: there is no lower/.osprof" ctl lower reset
unmount_osproffs "$mnt"
assert_eq 7 "$(profile_calls READ "$final_profile")" "reads in the final profile"

# What is saved, and by whom it is named. The daemon was started elsewhere.
try_saving() {
    reads 5
    expect 0 save --rotate mnt -o first.osprof
    [ ! -s "$scratch/out" ] || fail "rotate prints something"
    reads 3
    expect 0 save mnt -o "far/so far.osprof"
    expect 0 save --rotate link -o way/second.osprof
    assert_eq "5 3 3" "$(profile_calls READ first.osprof) $(profile_calls READ "far/so far.osprof") \
$(profile_calls READ far/second.osprof)" "reads in spans and a dump"
    reads 2
    expect 0 ctl mnt dump
    assert_eq 2 "$(profile_calls READ final.osprof)" "reads in a dump to the place of the final profile"
    echo text >text
    expect_trouble "osprof: cannot write text: it is there, and is no result of osprof; --force replaces it" \
        save --rotate mnt -o text
    assert_eq text "$(<text)" "a text of somebody"
    expect 2 save --rotate mnt -o final.osprof
    # The process shortens long names.
    grep -Exq "osprof: mnt: rotate .* failed: the final profile goes there; name another file" err || fail "message: $(<err)"
    expect_trouble "osprof: mnt: rotate: the file is missing: only mounts with -o rotate name their files; osprof save --rotate \
MOUNT -o FILE names one" save --rotate mnt
    expect_trouble "osprof: mnt: rotate $mnt/x: the file lies in the mount itself" save --rotate mnt -o mnt/x
    expect_trouble "osprof: cannot write far: Is a directory" save mnt -o far
    assert_eq 2 "$(shown_reads mnt)" "reads since the last rotation"
    expect 0 save -o sum.osprof first.osprof far/second.osprof final.osprof
    assert_eq 10 "$(profile_calls READ sum.osprof)" "reads in the sum"
    # An earlier result is kept, and both are whole.
    expect 0 save --rotate mnt -o first.osprof
    assert_eq "2 5" "$(profile_calls READ first.osprof) $(profile_calls READ first.osprof.old)" "reads in both"
    expect 0 save --force --rotate mnt -o text
    assert_eq 0 "$(profile_calls READ text)" "reads in a text that was replaced"
    # osprof ctl writes no file, and names the command that does.
    see="see 'osprof help ctl'"
    expect_trouble "osprof ctl: 'osprof save --rotate mnt -o x' writes the profile to a file; $see" ctl mnt rotate x
    expect_trouble "osprof ctl: 'osprof save mnt -o x' writes the profile to a file; $see" ctl mnt dump x
    reads 2
}

mkdir far
ln -s far way
cd far
mount_osproffs -o profile="$scratch/final.osprof" "$lower" "$mnt"
cd ..
try_saving
unmount_osproffs "$mnt"
assert_eq 2 "$(profile_calls READ final.osprof)" "reads in the final profile"

# A mount that hangs does not hang those who look at it.
mount_osproffs "$lower" "$mnt"
reads 11
hang_daemon "$daemon_pid"
timeout 20 "$OSPROF" show mnt >hung.out || fail "status $? of osprof show on a mount that hangs"
kill -CONT "$daemon_pid"
assert_eq 11 "$(awk '$1 == "READ" && NF > 1 { print $2 }' hung.out)" "reads of a mount that hangs"
unmount_osproffs "$mnt"

# Without a live file the control file answers, with its usual name.
mount_osproffs -o live=none "$lower" "$mnt"
try_mount "$mnt/"
unmount_osproffs "$mnt"

# With another name the live file tells it, also through a symbolic link.
mount_osproffs -o control=.profile "$lower" "$mnt"
try_mount link
unmount_osproffs "$mnt"

# Unmounting waits for the final profile, also where the daemon takes its time.
mount_osproffs -o profile="$scratch/unmounted" "$lower" "$mnt"
reads 5
hang_daemon "$daemon_pid"
"$OSPROF" unmount link >unmount.out 2>unmount.err &
unmounting=$!
while grep -q " $mnt fuse.osproffs " /proc/self/mounts; do sleep 0.01; done
kill -0 "$unmounting" || fail "does not wait: $(<unmount.err)"
cp "$data/show-bare.osprof" unmounted
expect 0 show unmounted # waits some seconds, and says that this is an older one
assert_eq "osprof: note: the mount whose profile goes to unmounted has not ended yet, so that this is not it" "$(<err)" \
    "message about a profile that is not written yet"
kill -CONT "$daemon_pid"
wait "$unmounting" || fail "status $? of osprof unmount: $(<unmount.err)"
assert_eq "The profile is in $scratch/unmounted." "$(<unmount.out)" "where the profile is"
assert_eq 5 "$(profile_calls READ unmounted)" "reads in the final profile"
wait "$daemon_pid"

mount_osproffs "$lower" "$mnt"
exec 3<"$mnt/file"
expect_trouble "osprof: cannot unmount $mnt: Device or resource busy; something still uses it ('fuser -vm' tells what)" \
    unmount mnt
exec 3<&-
expect 0 save --list
live=$(awk -v pid="$daemon_pid" '$1 == pid { print $5 }' out)
kill -KILL "$daemon_pid"
wait "$daemon_pid" || true
dead="osprof: the osproffs that served mnt was killed; its profile is in $live: 'osprof save' takes it from there, and \
'osprof unmount' takes the mount away"
expect_trouble "$dead" show mnt
expect_trouble "$dead" top --batch mnt
expect_trouble "$dead" ctl mnt reset
expect_trouble "osprof: $mnt is unmounted; its osproffs had been killed: its profile is in $live, and osprof save $live \
-o FILE saves it" unmount mnt
rm "$live"
expect_trouble "osprof: cannot unmount lower: no mount of osproffs is there; 'findmnt -t fuse.osproffs' lists them" unmount lower

# Of two on top of each other the upper one is unmounted, also if it is dead: the lower one is not waited for.
mount_osproffs -o profile="$scratch/below" "$lower" "$mnt"
below=$daemon_pid
mount_osproffs /proc/self/fd/9 "$mnt" 9<"$lower" # otherwise it is refused
kill -KILL "$daemon_pid"
wait "$daemon_pid" || true
status=0
timeout 20 "$OSPROF" unmount mnt 2>err || status=$?
assert_eq 2 "$status" "status of osprof unmount of the upper one"
live=$(sed -n "s|^osprof: $mnt is unmounted; its osproffs had been killed: its profile is in \(.*\), and .*|\1|p" err)
rm "$live"
expect 0 unmount mnt
assert_eq "The profile is in $scratch/below." "$(<out)" "where the profile of the lower one is"
wait "$below"

# -q leaves the status.
mount_osproffs -o profile="$scratch/unmounted" "$lower" "$mnt"
expect 0 unmount -q mnt
assert_eq "" "$(cat out err)" "what osprof unmount -q prints"
[ -s unmounted ] || fail "no profile after osprof unmount -q"
wait "$daemon_pid"

# Where it takes long, since the mount is in another place too, a message says so.
if is_root; then
    mkdir elsewhere
    mount_osproffs -o profile="$scratch/unmounted" "$lower" "$mnt"
    mount --bind "$mnt" elsewhere
    "$OSPROF" unmount mnt >elsewhere.out 2>elsewhere.err &
    unmounting=$!
    wait_until 20 grep -q "lsns.*)$" elsewhere.err || fail "does not say what it waits for"
    assert_eq "osprof: $mnt is unmounted; waiting until osproffs (process $daemon_pid) has written the profile; if it takes long: \
it hangs, or is also mounted elsewhere ('findmnt -t fuse.osproffs', 'lsns -t mnt')" "$(<elsewhere.err)" "what it waits for"
    umount elsewhere
    wait "$unmounting" || fail "status $? of osprof unmount: $(<elsewhere.err)"
    assert_eq "The profile is in $scratch/unmounted." "$(<elsewhere.out)" "where the profile is"
    wait "$daemon_pid"
fi

# Whose mount it is, is not said to its user (to others: unmount_user.sh).
expect_owner() { # EXPECTED PROFILE...
    local profile
    for profile in "${@:2}"; do
        expect 0 show "$profile"
        assert_eq "$1" "$(sed -n 's/^owner  *//p' out)" "owner of $profile"
    done
}
mount_osproffs "$lower" "$mnt"
expect 0 save --list
live=$(awk -v pid="$daemon_pid" '$1 == pid { print $5 }' out)
expect_owner "" mnt mnt/.osprof "$live"
cp mnt/.osprof copy
unmount_osproffs "$mnt"
expect_owner "" copy
# Others may look, not reset, and not unmount.
if is_root && have setpriv && as_user true; then
    mount_osproffs -o allow_other "$lower" "$mnt"
    assert_eq 2 "$(as_user "$OSPROF" ctl "$mnt" reset 2>err >&2 || echo $?)" "status of another user's reset"
    assert_eq "osprof: cannot write $mnt/.osprof: Permission denied; permitted: the user who mounted it, and processes with CAP_SYS_ADMIN" "$(<err)" \
        "message to another user"
    as_user "$OSPROF" show "$mnt" >/dev/null || fail "others cannot look"
    ! as_user "$OSPROF" unmount "$mnt" 2>err || fail "others can unmount"
    grep -q "^osprof: cannot unmount $mnt: " err || fail "message to another user: $(<err)"
    mountpoint -q "$mnt" || fail "another user has unmounted it"
    unmount_osproffs "$mnt"
fi

# osprof run says that a directory is in a mount already, which its times contain, and runs.
mkdir -p "$lower/deep" beside
mount_osproffs "$lower" "$mnt"
expect_note() { # EXPECTED DIR ARGUMENT...
    expect 0 run -d "$2" "${@:3}" -- sh -c 'echo ran >>ran'
    assert_eq "$1" "$(grep '^osprof: note: .* is in a mount' err || true)" "what is said of $2, of: run ${*:3}"
}
note="is in a mount of osproffs, $mnt: times contain what that mount takes; 'osprof show $mnt' shows what it has counted"
for layers in user fs; do
    expect_note "osprof: note: mnt/deep $note" mnt/deep --layers "$layers"
    expect_note "osprof: note: link $note" link --layers "$layers"
    expect_note "" beside --layers "$layers"
    expect_note "" "$lower/deep" --layers "$layers"
    expect_note "" mnt/deep --layers "$layers" -q
done
assert_eq 10 "$(wc -l <ran)" "runs"
if is_root; then
    mount -t tmpfs none "$mnt/deep"
    expect_note "" mnt/deep --layers user
    umount "$mnt/deep"
fi
unmount_osproffs "$mnt"

# Whatever bytes a mount point's name has, its live file is found, and nothing of it reaches a terminal.
strange=$scratch/$'new\nline\e[31m \\ \xff'
mkdir "$strange"
"$OSPROFFS" -o profile="$scratch/strange.osprof" "$lower" "$strange"
dd if="$strange/file" of=/dev/null bs=512 count=1 iflag=direct status=none
assert_eq 1 "$(shown_reads "$strange")" "reads of a mount with a newline in its name"
grep -qF "new?line?[31m" out || fail "it is not named: $(head -n 3 out)"
! grep -q $'\e' out || fail "its name reaches the terminal"
expect 0 save --list
grep -qF "new?line?[31m" out || fail "save --list does not name it: $(<out)"
expect 0 top --batch --count 1 --delay 0.1 "$strange"
expect 0 ctl "$strange" reset
assert_eq 0 "$(shown_reads "$strange")" "reads after the reset"
expect 0 unmount "$strange"
assert_eq "The profile is in $scratch/strange.osprof." "$(<out)" "where the profile is"
assert_eq '# mount: '"$scratch"'/new\012line\033[31m \134 \377' "$(grep mount: strange.osprof)" "the name in the profile"
