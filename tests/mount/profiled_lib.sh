# shellcheck shell=bash
# FUSE daemons that osprof fuse profiles. Source after lib.sh and helpers.sh, whose variables it uses.
# shellcheck disable=SC2154 # assigned there

: "${OSPROF_LIBRARIES:?directory of the preloaded libraries under test}"
! grep -q '__[at]san_init' "$OSPROF_LIBRARIES/libosprof_fuse.so" || skip "built with a sanitizer"

profile=$scratch/profile
front=     # osprof fuse, where it stays in the foreground
stay_behind() { # the processes beside daemons: their numbers are in the names of their files
    find "$XDG_RUNTIME_DIR/osprof" -name '*.ring' -printf '%f\n' 2>/dev/null | sed 's/-.*//'
}

before_cleanup() {
    local pid
    ! mountpoint -q "$mnt" || umount -l "$mnt"
    for pid in $front $(stay_behind); do
        kill -KILL "$pid" 2>/dev/null || true
    done
    ! declare -F cleanup_more >/dev/null || cleanup_more
}

nobody_stays() {
    [ -z "$(stay_behind)" ]
}

# Without asking the mount, which would count.
is_recorded() {
    [ -n "$(find "$XDG_RUNTIME_DIR/osprof" -name '*.live')" ]
}

# profiled OPTION... -- DAEMON...: in the foreground, with $mnt mounted
profiled() {
    rm -f "$profile"
    "$OSPROF" fuse -o "$profile" "$@" >"$scratch/daemon.out" 2>"$scratch/daemon.err" &
    front=$!
    wait_until 20 is_recorded || fail "not profiled: $(<"$scratch/daemon.err")"
}

# ended STATUS: the daemon has ended, and the profile is there
ended() {
    local status=0
    wait "$front" || status=$?
    front=
    assert_eq "$1" "$status" "exit status of the daemon"
    wait_until 20 test -s "$profile" || fail "no profile is written"
    wait_until 20 nobody_stays || fail "a process is left beside the daemon"
}

# calls OP [PROFILE]
calls() {
    awk -v op="OP_$1" '$1 == op { found = $2 } END { print found + 0 }' "${2:-$profile}"
}
