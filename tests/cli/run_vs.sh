#!/bin/bash
# osprof run --vs: both commands are run in turn in mounts of their own, what is counted, compared and saved, and what
# happens if one of them fails or is killed.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=run_lib.sh
. "$tests_dir/../cli/run_lib.sh"

need_fuse
need pgrep
unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"
export XDG_STATE_HOME=$scratch/state

# calls FILE OP: of a saved profile
calls() {
    profile_calls "$2" "$scratch/$1"
}

# ---- Bad input

see="see 'osprof help run'"
expect 125 run --layers fs --vs ' ' true
assert_eq "osprof run: --vs needs a command; $see" "$(<err)" "no other command"
expect 125 run --layers fs --vs true --vs true true
assert_eq "osprof run: --vs can be given once; $see" "$(<err)" "two others"
expect 125 run --layers fs --vs true -o - true
assert_eq "osprof run: standard output takes one profile, not 2; $see" "$(<err)" "two profiles to standard output"
expect 125 run --layers fs --vs true
assert_eq "osprof run: no command given; $see" "$(<err)" "no command"
mkdir profile.b
expect 125 run --layers fs --vs true -o profile true
assert_eq "osprof: cannot write profile profile: Is a directory" "$(<err)" "a directory in the profile's place"
rmdir profile.b
echo precious >profile.b
expect 125 run --layers fs --vs true -o profile true
assert_eq "osprof: cannot write profile profile: it is there, and is no result of osprof; --force replaces it" "$(<err)" "a text in the profile's place"
rm profile.b

# ---- What is counted, saved and printed

# OTHER is for a shell; both are in the mounts, and each in its own.
cd "$lower"
expect 0 run --layers fs --mount-option cache=none -o "$scratch/profile" --vs 'mkdir one two three && stat -f -c %T .; echo "a  b" '"'x'" -- \
    sh -c 'rmdir one; mkdir four five six seven; stat -f -c %T .'
cd "$scratch"
assert_eq "fuseblk a b x fuseblk" "$(sed 's/^fuse$/fuseblk/; s/  */ /g' out | paste -sd ' ')" "output of both"
assert_eq "3 4" "$(calls profile.a MKDIR) $(calls profile.b MKDIR)" "MKDIR"
assert_eq 1 "$(calls profile.b RMDIR)" "RMDIR"
! grep -q '^OP_RMDIR' profile.a || fail "A's profile has what B did"
assert_eq "# command: mkdir one two three && stat -f -c %T .; echo \"a  b\" 'x'" "$(grep command: profile.a)" "A's command"
assert_eq "# command: sh -c rmdir one; mkdir four five six seven; stat -f -c %T ." "$(grep command: profile.b)" "B's command"
assert_eq "" "$(grep runs: profile.a profile.b || true)" "number of runs, if one"
"$OSPROF" show --check profile.a profile.b >&2 || fail "bad profiles"
# What is printed is what 'osprof compare' prints of the saved profiles, except their names.
"$OSPROF" compare profile.a profile.b >compared || [ $? -eq 1 ] || fail "cannot compare"
diff <(sed '1d; s/^A  .*: \([^:]* in \)/A \1/; s/^B  .*: \([^:]* in \)/B \1/' err) \
    <(sed 's/^A  .*: \([^:]* in \)/A \1/; s/^B  .*: \([^:]* in \)/B \1/' compared) >&2 || fail "prints another comparison"
grep -q "^A         mkdir one two three && .* 'x': .* in [0-9]* calls, taken for" err || fail "A is not named by its command: $(<err)"
grep -q "^B         sh -c rmdir one; mkdir .*: .* in [0-9]* calls, taken for" err || fail "B is not named by its command: $(<err)"
rmdir "$lower"/*
rm profile.a profile.b
assert_nothing_left

# Without -o the comparison is all there is.
expect 0 run --layers fs -d "$lower" --vs 'ls lower' -- true
assert_eq "" "$(compgen -G "profile*" || true)" "files written"
grep -q '^A         ls lower: ' err || fail "no comparison"

# ---- Several runs

# kept_calls SIDE OP: of all runs of a side, in the directory profile
kept_calls() {
    "$OSPROF" save "$scratch/profile/$1"-*.osprof >"$scratch/kept" || fail "bad profiles"
    profile_calls "$2" "$scratch/kept"
}

# In turn, and in each round a throw decides which is first; warm-ups are not counted. What one changes the other sees at
# once, whatever the cache.
echo 0 >"$lower/n"
cd "$lower"
# shellcheck disable=SC2016 # for the shells inside
expect 0 run --layers fs --warmup 2 --repeat 3 --mount-option cache=always -o "$scratch/profile" \
    --vs 'n=$(cat n); echo "A $n" >&2; mkdir a-$n; echo $((n + 1)) >n' -- \
    sh -c 'n=$(cat n); echo "B $n" >&2; mkdir b-$n c-$n; echo $((n + 1)) >new; mv new n'
cd "$scratch"
assert_eq "0,1,2,3,4,5,6,7,8,9" "$(sed -n 's/^[AB] \([0-9]*\)$/\1/p' err | paste -sd ,)" "order"
assert_eq "AB,AB,AB,AB,AB" "$(sed -n 's/^\([AB]\) [0-9]*$/\1/p' err | paste -sd '\0\n' | sed 's/BA/AB/' | paste -sd ,)" "turns"
assert_eq "a-01.osprof a-02.osprof a-03.osprof b-01.osprof b-02.osprof b-03.osprof" "$(echo profile/* | sed 's|profile/||g')" "files"
assert_eq "3 6" "$(kept_calls a MKDIR) $(kept_calls b MKDIR)" "MKDIR of 3 runs"
assert_eq 3 "$(cat profile/b-* | grep -c '^# command: sh -c n=')" "headers"
grep -q '^A         3 runs: n=' err || fail "A is not named by its command: $(<err)"
# Each run begins with empty caches, so that every run looks up what it uses.
lookups=$(kept_calls a LOOKUP)
[ "$lookups" -ge 6 ] || fail "$lookups lookups in 3 runs that use 2 names each"
# What is printed is what 'osprof compare' says of the directory, except the names.
"$OSPROF" compare profile >compared || [ $? -eq 1 ] || fail "cannot compare"
diff <(sed -n '/^[0-9N].* operation/,$p' err | sed 's/^\([AB]  *3 runs: \).*/\1/') \
    <(sed 's/^\([AB]  *3 runs: \).*/\1/; s/^A run took /The job took /' compared) >&2 || fail "prints another comparison"
# --fail-on: the status is that of the comparison, and else that of the command.
mkdir few
for number in $(seq 24); do echo "$number" >"few/$number"; done
reads='cat few/1?'
if [ "$is_preloaded" = yes ]; then
    expect 1 run -d few --repeat 3 --fail-on calls --vs "$reads" -- sh -c "$reads few/2 few/3 few/4 few/5 few/6 few/7 few/8 few/9"
    grep -Eq '^OPEN  *([a-z (0-9)]*, )?more calls ' err || fail "more calls: $(<err)"
    expect 0 run -d few --repeat 3 --fail-on calls --vs "$reads few/2 few/3 few/4 few/5 few/6 few/7 few/8 few/9" -- sh -c "$reads"
    expect 0 run -d few --repeat 2 --vs "$reads" -- sh -c "$reads few/2 few/3 few/4 few/5 few/6 few/7 few/8 few/9"
    expect 0 run -d few --repeat 2 --fail-on calls --vs "$reads; exit 5" -- sh -c "$reads; exit 3"
    grep -qx 'osprof: B ended with status 3, in one run at least' err || fail "a command that fails is not told: $(<err)"
    expect 3 run -d few --repeat 2 --vs "$reads" -- sh -c "$reads; exit 3"
    expect 127 run -d few --repeat 2 --fail-on slower --vs "$reads" -- no-such-command
fi
for arguments in "--fail-on slower" "--fail-on slower --repeat 3" "--fail-on slower --vs true"; do
    # shellcheck disable=SC2086 # several words
    expect 125 run $arguments -- true
    assert_eq "osprof run: --fail-on needs --vs and --repeat: a single run of each proves nothing; see 'osprof help run'" "$(<err)" \
        "$arguments"
done
rm -r few
# A directory that holds something is not mixed with.
expect 125 run --layers fs -d "$lower" --repeat 2 -o profile --vs true -- true
assert_eq "osprof: cannot keep profiles in profile: it is not empty; name a new directory" "$(<err)" "a directory in use"
expect_trouble "osprof: $lower holds no runs to compare: files a-*.osprof and b-*.osprof, as osprof run --vs --repeat -o writes them" \
    compare "$lower"
rm -r "${lower:?}"/* profile
mkdir profile
ln -s profile link
expect 125 run --layers fs -d "$lower" --repeat 2 -o link --vs true -- true
grep -q '^osprof: cannot keep profiles in link: ' err || fail "says: $(<err)"
rm link
expect 125 run --layers fs -d "$lower" --repeat 1001 -o profile --vs true -- true
expect 125 run --layers fs -d "$lower" --repeat 2 -o /no/such/profile --vs true -- true
rmdir profile
assert_nothing_left

# ---- As many runs as are needed

# Nothing is done, so that nothing is left to decide after the first look.
expect 0 run --layers fs -d "$lower" --repeat auto -o profile --vs true -- true
assert_eq "osprof: after 3 rounds no operation is inconclusive" "$(head -n 1 err)" "the first look"
assert_eq 6 "$(find profile -type f | wc -l)" "profiles of 3 rounds"
rm -r profile
# What each run does twice as often as the one before is never decided.
# shellcheck disable=SC2016 # for the shells inside
doubling='n=$(($(cat "$0") * 2)); echo $n >"$0"; cd lower; while [ $n -gt 0 ]; do mkdir d; rmdir d; n=$((n - 1)); done'
echo 10 >a-count
echo 10 >b-count
expect 0 run --layers fs -d "$lower" --mount-option cache=none --repeat auto --max-repeat 4 --vs "sh -c '$doubling' a-count" -- sh -c "$doubling" b-count
assert_eq "after 3 rounds,after 4 rounds,no more rounds than 4 (--max-repeat)" \
    "$(sed -n 's/^osprof: \(after . rounds\|no more .*\).*/\1/p' err | paste -sd ,)" "looks"
grep -q '^  MKDIR: ' err || fail "MKDIR is decided: $(<err)"
grep -q '^A         4 runs: ' err || fail "no comparison of 4 runs: $(<err)"
rm a-count b-count
# The time is looked at between rounds.
expect 0 run --layers fs -d "$lower" --repeat auto --for 1s --vs 'sleep 1' -- true
assert_eq "osprof: no more rounds than 1: the time is up (--for)" "$(head -n 1 err)" "time"
expect 125 run --layers fs --repeat auto true
assert_eq "osprof run: --repeat auto needs --vs: a single command has nothing to decide; $see" "$(<err)" "auto alone"
expect 125 run --layers fs --repeat 3 --for 1s --vs true true
assert_eq "osprof run: --for is for --repeat auto; $see" "$(<err)" "a limit alone"
expect 125 run --layers fs --repeat often true
assert_eq "osprof run: --repeat must be a number from 1 to 1000000 or auto, not 'often'; $see" "$(<err)" "a word"
assert_nothing_left

# ---- Exit statuses

# It is that of COMMAND; that of OTHER is reported.
expect 7 run --layers fs -d "$lower" --vs true -- sh -c 'exit 7'
expect 0 run --layers fs -d "$lower" --vs 'exit 3' -- true
assert_eq "osprof: A (--vs) ended with status 3" "$(head -n 1 err)" "A's status"
expect 4 run --layers fs -d "$lower" --vs 'exit 3' -- sh -c 'exit 4'
# shellcheck disable=SC2016
expect 5 run --layers fs -d "$lower" --repeat 4 -o profile --vs 'echo >>as; [ $(wc -l <as) -ne 2 ]' -- \
    sh -c 'echo >>bs; [ $(wc -l <bs) -ne 3 ] || exit 5'
assert_eq "osprof: A (--vs) ended with status 1, in one run at least" "$(head -n 1 err)" "A's status in one run of four"
assert_eq "4 4 8" "$(wc -l <as) $(wc -l <bs) $(find profile -type f | wc -l)" "failures end no runs"
rm -r as bs profile

# Nothing is compared with what was never run, or never got an answer.
expect 127 run --layers fs -d "$lower" -o profile --vs 'no-such-command' -- touch b-ran
grep -qx "osprof: A (--vs) ended with status 127, which says that its command was not found" err || fail "says: $(<err)"
grep -qx "osprof: nothing is compared: the two commands have not both been run" err || fail "says: $(<err)"
[ ! -e b-ran ] || fail "B is run after A was not found"
touch no-program
expect 126 run --layers fs -d "$lower" -o profile --vs './no-program' -- touch b-ran
expect 127 run --layers fs -d "$lower" -o profile --vs true -- no-such-command
assert_eq "osprof: cannot run no-such-command: No such file or directory
osprof: nothing is compared: the two commands have not both been run" "$(<err)" "messages"
# shellcheck disable=SC2016
expect 143 run --layers fs -d "$lower" -o profile --vs 'kill -TERM $$' -- touch b-ran
assert_eq "osprof: A (--vs) was killed by signal 15 (Terminated): no more runs
osprof: nothing is compared: the two commands have not both been run" "$(<err)" "messages"
[ ! -e b-ran ] || fail "B is run after A was killed"
assert_eq "" "$(compgen -G "profile*" || true)" "profiles of nothing"

# A signal ends the runs; what was complete before is compared, each as often as the other.
# shellcheck disable=SC2016
expect 137 run --layers fs -d "$lower" --mount-option cache=none --repeat 5 -o profile --vs 'mkdir lower/a; rmdir lower/a; echo >>as; [ $(wc -l <as) -lt 3 ] || kill -KILL $$' -- \
    sh -c 'mkdir lower/b; rmdir lower/b'
assert_eq "2 2" "$(kept_calls a MKDIR) $(kept_calls b MKDIR)" "two whole rounds"
rm -r profile as
# shellcheck disable=SC2016
expect 137 run --layers fs -d "$lower" --mount-option cache=none --repeat 5 -o profile --vs 'mkdir lower/a; rmdir lower/a' -- \
    sh -c 'mkdir lower/b; rmdir lower/b; echo >>bs; [ $(wc -l <bs) -lt 3 ] || kill -KILL $$'
assert_eq "2 2" "$(kept_calls a MKDIR) $(kept_calls b MKDIR)" "two, for B's third was cut short"
rm -r profile bs

# If osproffs is killed, and its live file does not have what it counted, the whole rounds before are not lost.
# shellcheck disable=SC2016
expect 125 run --layers fs -d "$lower" --mount-option cache=none,live=none --repeat 5 -o profile --vs 'mkdir lower/a; rmdir lower/a' -- \
    sh -c 'echo >>bs; [ $(wc -l <bs) -lt 3 ] || kill -KILL $(pgrep -P $PPID -x osproffs)'
grep -q "^osprof: the profile of $lower is lost: " err || fail "says: $(<err)"
grep -q "^A         2 runs: mkdir" err || fail "no comparison: $(<err)"
assert_eq "2 4" "$(kept_calls a MKDIR) $(find profile -type f | wc -l)" "two whole rounds before osproffs was killed"
rm -r profile bs
assert_nothing_left

# ---- Signals to osprof

# begin_vs OTHER: in the background, until the file "ready" is there; B would make b-ran
begin_vs() {
    rm -f ready
    "${interruptible[@]}" "$OSPROF" run --layers fs -d "$lower" --vs "$1" -- touch b-ran >out 2>err &
    run_pid=$!
    wait_until 60 test -e ready || fail "A does not begin: $(<err)"
}

# end_vs STATUS
end_vs() {
    local status=0
    wait_for_end "$run_pid" 60 || fail "osprof run does not end"
    wait "$run_pid" || status=$?
    run_pid=
    assert_eq "$1" "$status" "exit status"
    [ ! -e b-ran ] || fail "B is run after a signal"
    assert_nothing_left
}

begin_vs 'touch ready; exec sleep 1000'
kill -INT "$run_pid"
end_vs 130

# While it waits for a process that A has left behind, for a second at least, nothing runs that could get the signal.
before_cleanup_of_runs=$(declare -f before_cleanup)
eval "${before_cleanup_of_runs/before_cleanup/end_runs}"
before_cleanup() {
    end_runs
    [ ! -s left ] || kill -KILL "$(<left)" 2>/dev/null
}
touch "$lower/file"
# shellcheck disable=SC2016 # for A's shell
begin_vs 'sleep 1000 <lower/file >/dev/null 2>&1 & echo $! >left; (sleep 0.3; kill -TERM $PPID) & touch ready'
end_vs 143
kill -KILL "$(<left)"
rm left "$lower/file"

# ---- Several directories, and what cannot be written

mkdir -p many/a many/b
expect 0 run --layers fs --mount-option cache=none -d many/a -d many/b -o profile --vs 'mkdir many/a/1 many/b/1 many/b/2' -- \
    sh -c 'mkdir many/a/3 many/a/4 many/a/5; mkdir many/b/3'
assert_eq "1 3 2 1" "$(calls profile.1.a MKDIR) $(calls profile.1.b MKDIR) $(calls profile.2.a MKDIR) $(calls profile.2.b MKDIR)" "MKDIR"
cp profile.2.a earlier
cp profile.2.a profile.2.b
expect 0 run --layers fs --mount-option cache=none -d many/a -d many/b -o profile --vs true -- true
cmp earlier profile.2.a.old || fail "an earlier profile is not kept"
cmp earlier profile.2.b.old || fail "an earlier profile of the other side is not kept"
assert_eq "directory many/a,A,B,directory many/b,A,B" \
    "$(awk '/^directory / { print } /^[AB]   / { print $1 }' err | paste -sd ,)" "comparisons"
rm profile.*

for repeat in 1 2; do
    status=0
    "$OSPROF" run --layers fs -d "$lower" --repeat "$repeat" --vs true -- sh -c 'exit 7' 2>/dev/full || status=$?
    assert_eq 7 "$status" "exit status with a full standard error, --repeat $repeat"
done
assert_nothing_left
