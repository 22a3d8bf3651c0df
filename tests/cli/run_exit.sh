#!/bin/bash
# osprof run records how its command ended, at each layer; of several runs the first that failed. osprof show and the page of
# --report have it.
# shellcheck disable=SC2016 # what is in single quotes is for the shells of commands
. "$(dirname "$0")/lib.sh"
# shellcheck source=run_lib.sh
. "$tests_dir/../cli/run_lib.sh"

export XDG_STATE_HOME=$scratch/state
layers=user
[ "$is_preloaded" = yes ] || layers=fs
[ "$layers" = user ] || need_fuse
cd "$scratch"

# ended STATUS EXIT OPTION... COMMAND: osprof run ends with that status, and the profile has that exit
ended() {
    local status=$1 exit=$2
    shift 2
    rm -f profile
    expect "$status" run --layers $layers -d "$lower" -q -o profile "${@:1:$#-1}" -- sh -c "${!#}"
    assert_eq "$exit" "$(sed -n 's/^# exit: //p' profile)" "exit of: $*"
}
ended 0 "status 0 signal 0" 'cat /dev/null'
assert_eq "exit status 0" "$("$OSPROF" show profile | grep '^exit' | tr -s ' ')" "in the header"
ended 3 "status 3 signal 0" --report page.html 'exit 3'
assert_eq "exit status 3" "$("$OSPROF" show profile | grep '^exit' | tr -s ' ')" "in the header"
assert_eq '"exit": { "status": 3, "signal": 0 }' "$("$OSPROF" show --json profile | tr -s ' \n' ' ' | grep -o '"exit": {[^}]*}')" "JSON"
python3 "$tests_dir/../cli/report_page.py" about page.html | grep -q 'Exit: status 3$' || fail "no exit on the page"
ended 255 "status 255 signal 0" 'exit 255'
# A status beyond 128 is none of a signal, and a signal is no status.
ended 143 "status 143 signal 0" 'exit 143'
ended 143 "status 0 signal 15" 'kill -TERM $$'
assert_eq "exit signal 15 (Terminated)" "$("$OSPROF" show profile | grep '^exit' | tr -s ' ')" "in the header"

# ---- Several runs: the first that failed, without warm-ups

count='n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) >n; '
ended 2 "status 2 signal 0" --repeat 4 "$count"'exit $((n % 4 < 2 ? 0 : n))'
assert_eq "exit status 2, in the first run that failed" "$("$OSPROF" show profile | grep '^exit' | tr -s ' ')" "of several"
echo 0 >n
ended 0 "status 0 signal 0" --repeat 3 "$count"'exit 0'
assert_eq "exit status 0, in all runs" "$("$OSPROF" show profile | grep '^exit' | tr -s ' ')" "of several"
echo 0 >n
ended 1 "status 0 signal 0" --warmup 1 --repeat 2 "$count"'[ $n -gt 0 ]'
echo 0 >n
ended 137 "status 0 signal 9" --repeat 3 "$count"'[ $n -lt 1 ] || kill -KILL $$'

# ---- Two commands: each its own

echo 0 >n
expect 0 run --layers $layers -d "$lower" -q -o two --vs 'exit 5' -- sh -c 'exit 0'
assert_eq "status 5 signal 0|status 0 signal 0" "$(sed -n 's/^# exit: //p' two.a two.b | paste -sd '|')" "both commands"

# ---- Sums

"$OSPROF" save two.b two.a >sum
assert_eq "status 5 signal 0" "$(sed -n 's/^# exit: //p' sum)" "a sum"
sed '/^# exit/d' two.b >unknown
"$OSPROF" save two.b unknown >sum
assert_eq "" "$(sed -n 's/^# exit: //p' sum)" "a sum with a profile that does not say"
