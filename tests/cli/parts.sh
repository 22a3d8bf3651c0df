#!/bin/bash
# A command that needs a part which osprof is built without says so, with Debian's packages.
. "$(dirname "$0")/lib.sh"

[ -n "${OSPROF_WITHOUT:-}" ] || skip "nothing is left out here; scripts/check bare leaves all out"

# refuses PART WHAT WHY ARGUMENT...
refuses() {
    ! is_without "$1" || expect_trouble "osprof: cannot $2: this osprof is built without $3" "${@:4}"
}

one=$data/show-grep.osprof
gsl="GSL (Debian: libgsl-dev)"
protobuf="protobuf-c (Debian: libprotobuf-c-dev protobuf-c-compiler)"

refuses serve serve "libmicrohttpd (Debian: libmicrohttpd-dev)" serve
refuses statistics "look for outliers" "$gsl" outliers "$one" "$one"
refuses statistics "compare sets of runs" "$gsl" compare "$one" "$one" -- "$one" "$one"
refuses statistics "compare sets of runs" "$gsl" report -o page.html "$one" "$one" -- "$one" "$one"
refuses protobuf "write protobuf" "$protobuf" show --protobuf "$one"
if is_without statistics; then
    expect 125 run --repeat 3 --vs true -- true
    assert_eq "osprof: cannot compare sets of runs: this osprof is built without $gsl" "$(<err)" "message of run --vs"
fi
if is_without protobuf; then
    "$TEST_PROGRAMS/make_events" >recorded
    refuses protobuf "write Perfetto's format" "$protobuf" events export --format perfetto -o calls.pb recorded
    [ ! -e calls.pb ] || fail "a file is left"
fi
if is_without top; then
    mount_osproffs "$lower" "$mnt"
    refuses top "draw on this terminal" "ncurses (Debian: libncurses-dev); with --batch text is printed instead" top "$mnt"
    expect 0 top --batch --count 1 --delay 0.1 "$mnt"
    unmount_osproffs "$mnt"
fi
if is_without bpf && is_root; then
    refuses bpf "watch /" "libbpf (Debian: libbpf-dev clang bpftool)" attach --for 100ms /
fi
if is_without containers && is_root && "$OSPROF" attach --for 100ms / >/dev/null 2>&1; then
    expect 2 attach --for 100ms --cgroup no-such-container
    grep -q '; containers are known by their ids alone: this osprof is built without jansson (Debian: libjansson-dev)$' err ||
        fail "nothing is said of names of containers: $(<err)"
fi

# Two profiles are compared all the same.
expect 0 compare "$one" "$one"
expect 0 compare --method chisquare "$one" "$one"
