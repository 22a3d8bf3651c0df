#!/bin/bash
# osprof run on a terminal: Ctrl-C reaches the command once and is its own business, Ctrl-Z stops both, the profile has
# the terminal's width.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=run_lib.sh
. "$tests_dir/../cli/run_lib.sh"

need_fuse
need script
unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"

# on_terminal SCRIPT: bash runs it in a terminal of its own in the background; what it prints is in $scratch/typed.out,
# what is written to descriptor 8 is typed
on_terminal() {
    rm -f typed
    mkfifo typed
    printf '%s\n' "$1" >script.sh
    SHELL=/bin/bash "${interruptible[@]}" script -qec "bash script.sh" /dev/null <typed >typed.out 2>&1 &
    run_pid=$!
    exec 8>typed
}

end_terminal() {
    exec 8>&-
    wait_for_end "$run_pid" 60 || fail "the terminal does not end: $(<typed.out)"
    run_pid=
    assert_nothing_left
}

printed() {
    tr -d '\r' <typed.out | grep -q "$1"
}

cat >patient.sh <<'END'
trap 'echo caught >>caught' INT
touch ready
while [ ! -e stop ]; do
    sleep 0.1
done
exit 9
END

# Ctrl-C: the terminal sends it to both. The command gets it once, and may go on; osprof waits for it.
on_terminal "'$OSPROF' run --layers fs -d lower -q -o profile -- bash patient.sh; echo status \$?"
wait_until 60 test -e ready || fail "the command does not begin: $(<typed.out)"
printf '\003' >&8
wait_until 20 test -s caught || fail "Ctrl-C does not reach the command"
touch stop
wait_until 20 printed 'status 9$' || fail "osprof did not wait for the command: $(<typed.out)"
end_terminal
assert_eq caught "$(<caught)" "how often the command got Ctrl-C"
"$OSPROF" show --check profile >&2 || fail "bad profile"

# One that does not handle it dies of it.
rm -f ready stop
on_terminal "trap : INT; '$OSPROF' run --layers fs -d lower -q -o profile -- sh -c 'touch ready; exec sleep 1000'; echo status \$?"
wait_until 60 test -e ready || fail "the command does not begin: $(<typed.out)"
printf '\003' >&8
wait_until 20 printed 'status 130$' || fail "Ctrl-C does not end the command: $(<typed.out)"
end_terminal

# Ctrl-Z stops both as one job of a shell, which can continue it.
rm -f ready stop caught
on_terminal "set -m; '$OSPROF' run --layers fs -d lower -q -o profile -- bash patient.sh; echo stopped \$?; touch stop; fg; echo status \$?"
wait_until 60 test -e ready || fail "the command does not begin: $(<typed.out)"
printf '\032' >&8
wait_until 20 printed 'stopped 148$' || fail "Ctrl-Z does not stop it: $(<typed.out)"
wait_until 20 printed 'status 9$' || fail "it does not go on in the foreground: $(<typed.out)"
end_terminal

# The table is as wide as the terminal.
rm -f stop
on_terminal "stty cols 60; '$OSPROF' run --layers fs -d lower -- mkdir lower/made; echo status \$?"
wait_until 20 printed 'status 0$' || fail "no end: $(<typed.out)"
end_terminal
printed 'MKDIR' || fail "nothing is shown on the terminal"
! printed 'p99' || fail "the table is wider than the terminal"
