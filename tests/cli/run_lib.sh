# shellcheck shell=bash
# What the tests of osprof run share. Source after lib.sh.

# With a sanitizer the library does not run in programs without one: these are observed at their mounts alone.
# shellcheck disable=SC2034 # for the tests
is_preloaded=yes
if grep -q '__[at]san_init' "${OSPROF_LIBRARIES:?}/libosprof_posix.so"; then
    # shellcheck disable=SC2034 # for the tests
    is_preloaded=no
    # shellcheck disable=SC2154 # set by the harness
    export OSPROF_LIBRARIES=$scratch
fi

# What a shell starts in the background ignores SIGINT and SIGQUIT, as may this shell, and after nohup(1) SIGHUP too; with
# this before it does not.
# shellcheck disable=SC2034 # for the tests
interruptible=(env --default-signal=INT --default-signal=QUIT --default-signal=HUP)

# Prints the processes that run the osproffs under test over something in $scratch.
own_daemons() {
    # shellcheck disable=SC2154 # set by the harness
    grep -lsaP "^osproffs\0.*\0\Q$scratch\E" /proc/[0-9]*/cmdline | cut -d / -f 3 || true
}

no_daemons() {
    [ -z "$(own_daemons)" ]
}

# assert_nothing_left: no daemon, no mount, no live file, no temporary file
assert_nothing_left() {
    wait_until 20 no_daemons || fail "daemons are left: $(own_daemons)"
    assert_eq "" "$(mounts_below "$scratch" | grep fuse || true)" "mounts left"
    assert_eq "" "$(find "$scratch"/run*/osprof -type f 2>/dev/null)" "live files left"
    assert_eq "" "$(find "$scratch" -name '.osprof.*' 2>/dev/null)" "temporary files left"
}

before_cleanup() {
    local pid
    for pid in ${run_pid:-} $(own_daemons); do
        kill -KILL "$pid" 2>/dev/null
    done
}
