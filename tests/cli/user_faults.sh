#!/bin/bash
# osprof run --layers user where something fails: a full disk, osprof killed, processes of other users. Programs are never
# changed in what they do.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

calls=$TEST_PROGRAMS/user_calls
echo line >"$lower/file"

# ---- osprof is killed: the live file has what was counted, and the command lives

mkfifo ready
# shellcheck disable=SC2016 # for the shell inside
(cd "$lower" && exec "$OSPROF" run --layers user -d . -q -o "$scratch/profile" -- sh -c 'cat file; echo $$ >../ready; exec sleep 60') >out &
run_pid=$!
before_cleanup() {
    kill -KILL "$run_pid" ${command_pid:+"$command_pid"} 2>/dev/null || true
}
read -r command_pid <ready
live=$(find "$XDG_RUNTIME_DIR/osprof" -name "$run_pid-user-*.live")
expect 0 show "$live"
grep -q '^layer  *user' out || fail "a live file that is written is not shown: $(<out)"
kill -KILL "$run_pid"
wait "$run_pid" || true
gone() {
    ! kill -0 "$command_pid" 2>/dev/null
}
! gone || fail "the command is gone with it"
kill -KILL "$command_pid"
wait_until 10 gone || fail "the command is left"
expect 0 save "$live"
mv out profile
assert_eq 1 "$(calls OPEN)" "calls that were counted before the end"
rm "$live"

# ---- Nothing can be printed: the status is the command's all the same, unless the profile cannot be written where -o says

# status_of ARGUMENT...: of osprof, with standard error as it is
status_of() {
    local status=0
    (cd "$lower" && exec "$OSPROF" run "$@") || status=$?
    echo "$status"
}
mkfifo unread
for layers in user fs; do
    [ "$layers" = user ] || [ -w /dev/fuse ] || continue
    for asked in "" "-o profile" "--vs true"; do
        # shellcheck disable=SC2086 # words
        set -- --layers "$layers" -d . $asked -- sh -c 'cat file >/dev/null; exit 7'
        assert_eq 7 "$(status_of "$@" 2>&-)" "status with a closed standard error: $*"
        assert_eq 7 "$(status_of "$@" 2>/dev/full)" "status with a full one: $*"
        # shellcheck disable=SC2094 # a FIFO
        assert_eq 7 "$(exec 3<>unread 4>unread 3>&-; status_of "$@" 2>&4)" "status with one that nobody reads: $*"
    done
    # shellcheck disable=SC2016 # for the shell inside
    set -- --layers "$layers" -d . -q -o "$scratch/lost" -- sh -c 'mkdir "$1"; exit 7' sh "$scratch/lost"
    assert_eq 125 "$(status_of "$@" 2>&-)" "status of a profile that is lost: $*"
    rmdir "$scratch/lost"
    # A device is refused before the command runs.
    set -- --layers "$layers" -d . -q -o /dev/full -- sh -c 'echo runs; exit 7'
    assert_eq 125 "$(status_of "$@" 2>&-)" "output and status of a profile for a device: $*"
done
rm -f "$lower/profile"*

need_root
need setpriv

# ---- Processes that have become somebody else's: they count nothing, and nothing is printed

chmod 755 "$scratch" "$lower"
user_run 0 sh -c "cat file; exec setpriv --reuid $user_uid --regid $user_gid --clear-groups cat file file"
assert_eq $'line\nline\nline' "$(<out)" "output of commands of two users"
assert_eq "" "$(<err)" "messages"
assert_eq 1 "$(calls OPEN)" "calls of the first user"

# ---- An ordinary user needs neither FUSE nor namespaces

provide_programs
provide_libraries() {
    local build=${OSPROF%/src/cli/osprof}
    OSPROF_LIBRARIES=$build/src/interpose/posix
    export OSPROF_LIBRARIES
}
provide_libraries
chown "$user_uid:$user_gid" "$lower"
as_user env XDG_RUNTIME_DIR="$scratch/run-user" "$OSPROF" run --layers user -d "$lower" -q -o "$lower/profile" -- cat "$lower/file" >out
assert_eq line "$(<out)" "output of a user's command"
mv "$lower/profile" .
assert_eq 1 "$(calls OPEN)" "calls of an ordinary user"

# ---- A full disk

unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"
# on_small_disk SIZE COMMAND...: with live files on a disk of that size
on_small_disk() {
    # shellcheck disable=SC2016 # for the shell inside
    unshare --mount --propagation private sh -c 'mkdir -p small && mount -t tmpfs -o size="$1" tmpfs small && shift &&
        cd lower && XDG_RUNTIME_DIR=$(dirname "$PWD")/small exec "$@"' sh "$@" >out 2>err
}
rm -f profile
on_small_disk 100k "$OSPROF" run --layers user -d . -q -o ../profile -- cat file
assert_eq line "$(<out)" "output without room for a live file"
assert_eq "osprof: the layer user is not profiled: no live file can be made in $scratch/small/osprof: No space left on device" \
    "$(<err)" "message without room for a live file"
[ ! -e profile ] || fail "there is a profile of nothing"

# With room for all but groups.
on_small_disk 4m "$OSPROF" run -d . -q -o ../profile -- cat file
assert_eq line "$(<out)" "output without room for groups"
assert_eq "osprof: there will be no shares of files, directories and programs: No space left on device" "$(<err)" \
    "message without room for groups"
assert_eq 1 "$(calls OPEN)" "calls without room for groups"
rm profile

# With room for one thread.
# shellcheck disable=SC2016 # for the shell inside
user_run 0 sh -c 'cat file; cd /; stat -c "%b * %B" "$XDG_RUNTIME_DIR"/osprof/*-user-*.live'
one_thread_bytes=$(($(tail -n 1 out))) # that are taken: the file has holes
rm -f "$lower"/* profile
on_small_disk "$one_thread_bytes" "$OSPROF" run --layers user -d . -q -o ../profile -- "$calls" threads
grep -q '^# incomplete' profile || fail "nobody is told of what was not counted: $(grep '^#' profile)"
[ "$(calls PREAD)" -lt $((7 * 1009)) ] || fail "nothing was lost, so the disk was not full"
