#!/bin/bash
# osprof run --interval TIME at the layer user: the profile is cut into intervals, which add up to the whole whatever
# processes do, and warm-ups are in none of them.
. "$(dirname "$0")/lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

calls=$TEST_PROGRAMS/user_calls
mkdir "$lower"/{1,2,3,4,5,6}
printf 'some data\n' >"$lower/data"

# rows OP: how many calls of OP ended in each interval, up to the last with any
rows() {
    awk -v op="OP_$1" '/^OP_/ { is_it = $1 == op; next }
        is_it { sum = 0; for (i = 1; i <= NF; i++) sum += $i; print sum }' < <(whole)
}

sum() {
    awk '{ sum += $1 } END { print sum + 0 }'
}

# value KEY: of the header
value() {
    sed -n "s/^# $1: //p" "$scratch/profile"
}

# assert_sampled: into intervals, of which the last ends with the profile
assert_sampled() {
    expect 0 show --check "$scratch/profile"
    [ -n "$(value interval)" ] || fail "the profile is not sampled: $1"
    assert_eq "$(value elapsed)" "$(value borders | awk '{ print $NF }')" "last border: $1"
    # The last may be short, and another by the difference of the clocks.
    (($(value borders | wc -w) <= $(value elapsed) / $(value interval) + 2)) || fail "intervals are too short: $1"
}

# ---- Several processes, forks and threads, also killed ones: each of their calls is in one interval

options='-d . --interval 10ms'
# shellcheck disable=SC2016 # for the shell below
user_run 0 sh -c 'for i in 1 2 3; do (cd $i && exec "$1" threads) & done
    (cd 4 && exec "$1" threads_that_fork); (cd 5 && exec "$1" child); (cd 6 && exec "$1" killed); wait' sh "$calls" 2>"$scratch/err"
assert_sampled "several processes"
processes=$((3 * 7 * 1009 + 1009 + 31 * 2 + 3 + 13 + 17 + 11))
assert_eq "$processes $processes" "$(calls PREAD) $(rows PREAD | sum)" "calls in all, and in all intervals"

# ---- What happened when

options='-d . --interval 100ms'
user_run 0 sh -c 'cat data; sleep 1; cat data data data'
assert_sampled "a silent second"
# Of the intervals with none in between, some may be longer on a busy machine.
rows OPEN | awk '{ if ($1 > 0 && zeros >= 5) { print before; before = 0 } zeros = $1 > 0 ? 0 : zeros + 1; before += $1 }
    END { print before }' >around
assert_eq "1 3" "$(paste -sd ' ' around)" "files that were opened before and after a second: $(rows OPEN | paste -sd ' ')"
expect 0 plot --gnuplot --timeline -o x.png "$scratch/profile"
expect 0 show --json "$scratch/profile"
grep -q '"interval' "$scratch/out" || fail "JSON has no intervals"

# A command of less than an interval
options='-d . --interval 30' user_run 0 cat data
assert_sampled "a short command"
assert_eq "1" "$(rows OPEN)" "files that were opened in the only interval"

# Calls that their process ended in are in no interval.
options='-d . --everything --interval 10ms' user_run 0 "$TEST_PROGRAMS/left_calls" ended
assert_sampled "calls left"
assert_eq "READ 3" "$(value left)" "calls left"
rm -f "$lower"/fifo

# ---- Warm-ups, and several runs

# Two warm-ups take long, and end in calls; while the last run goes on, its live file has what has been counted since.
cat >"$scratch/command" <<'COMMAND'
echo run >>"$2/runs"
case $(wc -l <"$2/runs") in
1 | 2) sleep 0.6; rm -f fifo; "$1" ended; exec cat data data data data data ;;
3) exec cat data data ;;
4) cat data data; : >"$2/ready"; while [ ! -e "$2/go" ]; do sleep 0.02; done; exec cat data ;;
esac
COMMAND
options='-d . --everything --warmup 2 --repeat 2 --interval 100ms'
mkdir control
user_run 0 sh "$scratch/command" "$TEST_PROGRAMS/left_calls" "$scratch/control" &
runs_pid=$!
for ((step = 0; step < 2000; step++)); do
    [ ! -e control/ready ] || break
    sleep 0.02
done
"$OSPROF" show --metrics "$XDG_RUNTIME_DIR"/osprof/*-user-0.live >while_running || true
: >control/go
wait "$runs_pid" || exit 1
assert_sampled "after warm-ups"
assert_eq "5 5" "$(calls OPEN) $(rows OPEN | sum)" "files that were opened in two runs"
[ "$(calls READ)" = "$(ended READ)" ] || fail "calls that warm-ups have left are counted in the runs"
! grep '^# left:' "$scratch/profile" || fail "calls that warm-ups have left are told of"
(($(rows OPEN | grep -n -m 1 -v '^0$' | cut -d : -f 1) <= 9)) || fail "1.2 s of warm-ups are in the intervals: $(rows OPEN | paste -sd ' ')"
assert_eq 4 "$(sed -n 's/^osprof_op_latency_seconds_count{.*op="OPEN"} //p' while_running)" \
    "files that were opened since the warm-ups, while the last run goes on"

# ---- At most so many, which then get longer

options='-d . --interval 10ms --intervals 4'
user_run 0 sh -c 'cat data; sleep 0.5; cat data'
assert_eq "$(value elapsed)" "$(value borders | awk '{ print $NF }')" "last border of few intervals"
assert_eq 2 "$(rows OPEN | sum)" "files opened in few intervals"
(($(value borders | wc -w) <= 5)) || fail "there are $(value borders | wc -w) borders, of at most 4 intervals"

# ---- Two commands in turn: each run has intervals of its own

if ! is_without statistics; then
    (cd "$lower" && "$OSPROF" run -d . --interval 50ms --warmup 1 --repeat 2 -q -o "$scratch/sets" \
        --vs 'cat data; sleep 0.3; cat data' -- cat data >"$scratch/out" 2>"$scratch/err") || fail "$(<err)"
    for run in 1 2; do
        cp "sets/a-0$run.osprof" profile
        assert_sampled "the other, round $run"
        assert_eq "1 1" "$(rows OPEN | grep -v '^0$' | paste -sd ' ')" "files that the other opens in round $run"
        cp "sets/b-0$run.osprof" profile
        assert_sampled "the command, round $run"
        assert_eq 1 "$(rows OPEN | sum)" "files that the command opens in round $run"
    done
fi

# ---- With a mount both layers are sampled

[ -w /dev/fuse ] || skip "no /dev/fuse: with a mount it is not tried"
(cd "$lower" && "$OSPROF" run --layers user,fs -d . --interval 0.05s --mount-option cache=none -q -o "$scratch/both" -- \
    sh -c 'cat data; sleep 0.3; cat data' >"$scratch/out" 2>"$scratch/err") || fail "$(<err)"
for layer in user fs; do
    expect 0 show --layer "$layer" --json both
    grep -q '"interval' out || fail "the layer $layer is not sampled beside another"
done
