#!/bin/bash
# A program has all the descriptors of the daemon open: profiles are saved all the same, by the clock and in the end. And who
# has a lower limit than the daemon meets that one, not the daemon's.
. "$(dirname "$0")/lib.sh"
need_user_mounts "$@"
. "$tests_dir/helpers.sh"
. "$tests_dir/descriptors_lib.sh"
provide_programs

holder=
before_cleanup() {
    [ -z "$holder" ] || kill "$holder" 2>/dev/null || true
}

# Opens the file until that is refused, says how often and why, and keeps all open until its input ends.
open_many='
import errno, os, sys
count = 0
try:
    while True:
        os.open(sys.argv[1], os.O_RDONLY)
        count += 1
except OSError as error:
    print(count, errno.errorcode[error.errno], flush=True)
sys.stdin.read()
'

hold_all() {
    rm -f "$scratch/end" "$scratch/opened"
    mkfifo "$scratch/end"
    as python3 -c "$open_many" "$mnt/file" <"$scratch/end" >"$scratch/opened" &
    holder=$!
    exec {end}>"$scratch/end"
    wait_until 60 test -s "$scratch/opened" || fail "opening many times does not end"
    read -r opened why <"$scratch/opened"
}

end_holding() {
    exec {end}>&-
    wait "$holder"
    holder=
}

begin_limited() {
    begin_kind "$1"
    echo text >"$lower/shown/file"
    mount_limited "${@:2}"
}

own_limit_is_met() {
    begin_limited "$1" 512
    # shellcheck disable=SC2016 # for the shell inside
    message=$(as bash -c 'ulimit -n 256; for ((i = 0; i < 300; i++)); do exec {fd}<"$1" || break; done; echo $i' - "$mnt/file" 2>&1)
    [[ $message == *'Too many open files'*$'\n'2[0-9][0-9] && $message != *'in system'* ]] ||
        fail "a program with a limit of 256 on a daemon with 512 ($1): $message"
    end_kind
}

final_profile_is_saved() {
    begin_limited "$1" 64 -o "profile=$scratch/profiles/out"
    hold_all
    assert_eq ENFILE "$why" "why opening ends ($1)"
    [ "$opened" -ge 24 ] || fail "only $opened files can be open with 64 descriptors ($1)"
    kill -TERM "$daemon_pid"
    assert_status 0 "all descriptors in use ($1): $(tail -n 2 "$daemon_log")"
    end_holding
    "$OSPROF" show --check "$scratch/profiles/out" >&2 || fail "the final profile ($1)"
    [ "$(profile_calls OPEN "$scratch/profiles/out")" -gt "$opened" ] || fail "OPEN in the final profile ($1)"
    rm "$scratch/profiles/out"
    unset "pid_of[$mnt]"
    [ "$kind" != overlay ] || umount "$scratch/merged"
    umount "$lower"
}

saved_by_the_clock() {
    mkdir -m 0777 "$scratch/profiles/series"
    begin_limited "$1" 64 -o "profile=$scratch/profiles/series/out,rotate=1"
    hold_all
    local before
    before=$(find "$scratch/profiles/series" -type f | wc -l)
    wait_until 30 more_than "$((before + 3))" || fail "no profiles by the clock ($1): $(tail -n 2 "$daemon_log")"
    end_holding
    end_kind
    rm -r "$scratch/profiles/series"
}

more_than() {
    [ "$(find "$scratch/profiles/series" -type f | wc -l)" -gt "$1" ]
}

need python3
mkdir -m 0777 "$scratch/profiles"
for kind in "${descriptor_kinds[@]}"; do
    own_limit_is_met "$kind"
    final_profile_is_saved "$kind"
    saved_by_the_clock "$kind"
done
