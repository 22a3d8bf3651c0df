#!/bin/bash
# osprof run of root's, with a command of another user that writes whatever it likes into the live file (--user), or cuts it
# short, and with a daemon whose worker has given up its rights: the worst that it can do is to spoil its own profile. The
# command's exit status is passed on, and what is printed is true.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

[ "$(id -u)" = 0 ] || skip "needs root, whose osprof runs a command of another user"
chmod 755 "$scratch"
cp "$TEST_PROGRAMS/overwrite_live" "$scratch/overwrite"
chmod 755 "$scratch/overwrite"
cd /

# run_hostile HOW OPTION...: its exit status is passed on, in time; the page is in $scratch/out
run_hostile() {
    local how=$1 status=0
    shift
    timeout -s KILL 100 "$OSPROF" run -o "$scratch/profile" "$@" -- "$scratch/overwrite" "$how" >"$scratch/out" 2>"$scratch/err" || status=$?
    [ "$status" = 7 ] || {
        cat "$scratch/out" "$scratch/err" >&2
        fail "exit status $status, not the command's 7: $how $*"
    }
}

# A profile can be shown, or it is said that there is none.
assert_profile_or_words() {
    if [ -e "$scratch/profile" ]; then
        "$OSPROF" show "$scratch/profile" >"$scratch/shown" || fail "the profile cannot be shown: $1"
    else
        grep -q 'the layer user\|the profile' "$scratch/err" || fail "neither a profile nor a word: $1"
    fi
    rm -f "$scratch/profile"
}

for how in all header cut; do
    for _ in 1 2; do
        run_hostile "$how" --user nobody
        assert_profile_or_words "$how"
    done
done

# What is overwritten in the header is not read by the maker: the profile has the calls.
run_hostile header --user nobody
grep -q '^OP_OPEN ' "$scratch/profile" || fail "no calls though only the header was overwritten"
! grep -q 'overwritten' "$scratch/profile" || fail "counters are said to be overwritten, and are not"

# What is overwritten there is no mount's for others either: neither a profile of the mount, nor a socket to talk to.
mkfifo "$scratch/stay"
"$OSPROF" run -q --user nobody --label "filler=$(printf '%064d' 0)" -o "$scratch/profile" -- \
    "$scratch/overwrite" labels <"$scratch/stay" >"$scratch/out" 2>"$scratch/err" &
run=$!
exec 7>"$scratch/stay"
wait_until 30 grep -q overwritten "$scratch/out" || fail "the labels are not overwritten: $(<"$scratch/err")"
! "$OSPROF" show /srv >"$scratch/shown" 2>&1 || fail "a file that another user writes is shown as a mount's: $(<"$scratch/shown")"
grep -q '^osprof: /srv is a directory, and nothing profiles it: ' "$scratch/shown" || fail "show /srv: $(<"$scratch/shown")"
"$OSPROF" save --list >"$scratch/listed"
grep -Eq '^ +-  active     - .*-user-0\.live +-$' "$scratch/listed" || fail "listed: $(<"$scratch/listed")"
exec 7>&-
status=0
wait "$run" || status=$?
assert_eq 7 "$status" "status of the command with other labels"

# A worker of a daemon. Root's calls after that count, where the worker's numbers leave room for that, or are said to be lost.
for _ in 1 2; do
    run_hostile worker
    "$OSPROF" show "$scratch/profile" >"$scratch/shown"
    grep -q '^# not_seen:.* broken [1-9]' "$scratch/profile" ||
        fail "nothing is said of counters that were overwritten: $(grep '^# not_seen' "$scratch/profile")"
done
