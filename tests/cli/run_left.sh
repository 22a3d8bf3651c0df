#!/bin/bash
# osprof run: processes that outlive the command are named, in a message and in the profile, whatever the layers are that
# they would have been counted in; where none does, nothing is said of any.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"

! grep -q '__[at]san_init' "${OSPROF_LIBRARIES:?}/libosprof_posix.so" || skip "built with a sanitizer"

before_cleanup() {
    end_outliving
}

end_outliving() {
    local pid
    while read -r pid; do
        kill -KILL "$pid" 2>/dev/null
    done < <(cat "$scratch"/pids/* 2>/dev/null)
    rm -f "$scratch"/pids/*
}

mkdir "$scratch/pids"
cd "$lower"

# A command that leaves a process behind, which writes once it may. With $2 as its name, which anything may be.
cat >"$scratch/leave" <<'END'
#!/bin/bash
{
    printf '%s' "$2" >/proc/self/comm
    echo $BASHPID >"$1/pids/$BASHPID"
    read -r _ <"$1/go-on"
    echo x >later
} >/dev/null 2>&1 &
until [ -s "$1/pids/$!" ]; do
    sleep 0.01
done
END
chmod +x "$scratch/leave"
mkfifo "$scratch/go-on"

# left_by LAYERS NAME: runs it; the message and the header line are to name it
left_by() {
    local layers=$1 name=$2 shown=${3:-$2} pid
    expect 0 run --layers "$layers" -q -o "$scratch/profile" -- "$scratch/leave" "$scratch" "$name"
    pid=$(cat "$scratch"/pids/*)
    grep -qxF "osprof: the command has ended, but not what it started: $shown $pid; what that does from here on is not in the profile: let the command wait for it" \
        "$scratch/err" || fail "not named, with the layers $layers: $(<"$scratch/err")"
    assert_eq "$shown $pid" "$(sed -n 's/^# still_running: //p' "$scratch/profile" | sort -u)" "header line, with the layers $layers"
    assert_eq 0 "$(awk '$1 == "OP_WRITE" { calls += $2 } END { print calls + 0 }' "$scratch/profile")" "its calls, later"
    [ ! -e later ] || fail "it has not outlived the command"
    end_outliving
}

# none_by LAYERS COMMAND...: nothing is said
none_by() {
    local layers=$1
    shift
    expect 0 run --layers "$layers" -q -o "$scratch/profile" -- "$@"
    ! grep -E 'has ended|still' "$scratch/err" "$scratch/profile" || fail "said of: $*"
}

left_by user outliving
# shellcheck disable=SC2016 # for the shell below
none_by user sh -c 'sleep 0.05 & echo x >file; wait'
none_by user true
left_by user $'a\e[31m b' 'a?[31m b'

# A program that becomes a daemon: what it leaves first only starts what stays. On a busy machine that may take longer
# than is waited for.
# shellcheck disable=SC2016 # for the shell below
names_the_daemon() {
    expect 0 run --layers user -q -o "$scratch/profile" -- bash -c '
        { sleep 0.05; sleep 60 & echo $! >"$0/pids/daemon"; } >/dev/null 2>&1 &' "$scratch"
    wait_until 10 test -s "$scratch/pids/daemon"
    local named=1
    [ "sleep $(<"$scratch/pids/daemon")" = "$(sed -n 's/^# still_running: //p' "$scratch/profile")" ] || named=0
    end_outliving
    [ "$named" = 1 ]
}
names_the_daemon || names_the_daemon || names_the_daemon ||
    fail "a daemon that is left: $(grep still_running "$scratch/profile")"

# Many are counted; and the whole page has them too.
# shellcheck disable=SC2016 # for the shell below
expect 0 run --layers user -v -- bash -c 'for i in {1..11}; do "$0" "$1" many; done' "$scratch/leave" "$scratch"
assert_eq 11 "$(cat "$scratch"/pids/* | wc -l)" "processes left"
grep -Eq '^osprof: .* not what it started: (many [0-9]+, ){7}many [0-9]+ and 3 others; what they do from here on is not in the profile: let the command wait for them$' "$scratch/err" ||
    fail "not all are told of: $(<"$scratch/err")"
grep -q '^still_running many [0-9]*, many' "$scratch/err" || fail "the page does not name them: $(<"$scratch/err")"
end_outliving

# Another run's are not this one's.
expect 0 run --layers user -q -o "$scratch/profile" -- "$scratch/leave" "$scratch" other
none_by user true
end_outliving

# ---- Below a mount

[ -e /dev/fuse ] && unshare --mount true 2>/dev/null || exit 0
left_by fs outliving
left_by user,fs outliving
none_by fs sh -c 'sleep 0.05 & echo x >file; wait'
# Who has cleared its environment is still in the namespace.
expect 0 run --layers user,fs -q -o "$scratch/profile" -- env -i "PATH=$PATH" "$scratch/leave" "$scratch" bare
grep -q 'not what it started: bare ' "$scratch/err" || fail "not named without its environment: $(<"$scratch/err")"
end_outliving
