#!/bin/bash
# osprof serve --why: counters of what threads wait for, which only grow, are bounded, and take names of any kind.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"

need_root
need_part serve bpf
need curl flock python3
"$OSPROF" why -a --for 100ms >/dev/null 2>"$scratch/err" || skip "$(cat "$scratch/err")"

started=()
many=() # children, which their parent waits for
before_cleanup() {
    [ ${#many[@]} = 0 ] || kill -KILL "${many[@]}" 2>/dev/null || true
    [ ${#many[@]} = 0 ] || wait "$forking" 2>/dev/null || true
    [ ${#started[@]} = 0 ] || kill -KILL "${started[@]}" 2>/dev/null || true
    exec 7>&-
    wait 2>/dev/null || true
}

scrape() {
    curl -sgS --max-time 20 -o metrics "$@" "$url" || fail "no answer"
}

# value_of FAMILY CAUSE PROGRAM: of the cause that begins so; program: as written. 0: it is not there
value_of() {
    awk -v begin="$1{" -v cause="cause=\"$2" -v program="program=\"$3\"}" \
        'index($0, begin) == 1 && index($0, cause) && index($0, program) { value = $NF } END { print value + 0 }' metrics
}

# compares EXPRESSION: of numbers
compares() {
    awk "BEGIN { exit !($1) }"
}

echo >locked
exec 7>locked
flock 7
own=locking$$ # a name that no other program of this machine has
cp "$(command -v flock)" "$own"
"./$own" locked true 7>&- &
started+=("$!")
# shellcheck disable=SC1003 # no quote
python3 -c '
import ctypes, fcntl
ctypes.CDLL(None).prctl(15, b"a\"b\\c\nd\x1b\xff")
open("named", "w")
fcntl.flock(open("locked"), fcntl.LOCK_SH)' 7>&- &
started+=("$!")
wait_until 30 test -e named || fail "nobody has the name"
sleep 1000 7>&- &
started+=("$!")
lock='waiting for a lock of a file that another holds (flock)'

"$OSPROF" serve --why --listen 127.0.0.1:0 >url 2>server.err 7>&- &
server=$!
started+=("$server")
wait_until 60 test -s url || fail "does not serve: $(<server.err)"
url=$(<url)

# ---- A wait that goes on counts, and once

scrape
before=$(value_of osprof_wait_seconds_total "$lock" "$own")
waits=$(value_of osprof_waits_total "$lock" "$own")
began=$(date +%s%N)
nap 2500
scrape
ended=$(date +%s%N)
after=$(value_of osprof_wait_seconds_total "$lock" "$own")
elapsed=$(((ended - began) / 1000000))
compares "$after - $before > 2.4" || fail "a wait does not count while it goes on: $before, $after"
compares "$after - $before < $elapsed / 1000 + 1" || fail "counts too much: $before, $after in $elapsed ms"
grep -q "^osprof_wait_seconds_total{host=\"[^\"]*\",cause=\"$lock\",class=\"held up\",program=\"$own\"} " metrics ||
    fail "other labels: $(grep locking metrics)"
grep -q '^osprof_wait_seconds_total{.*cause="sleeping",class="work",program="' metrics || fail "no waits for work"
flock -u 7
has_ended() {
    scrape
    [ "$(value_of osprof_waits_total "$lock" "$own")" -gt "$waits" ]
}
wait_until 30 has_ended || fail "the end of a wait is not counted"
total=$(value_of osprof_wait_seconds_total "$lock" "$own")
compares "$total >= $after" || fail "a counter decreases: $after, $total"
nap 1100
scrape
assert_eq "$total" "$(value_of osprof_wait_seconds_total "$lock" "$own")" "seconds after the end"

# ---- Names of any kind, and many

grep -c '^osprof_wait_seconds_total' metrics >few
python3 - <<'END' &
import ctypes, os, time
libc = ctypes.CDLL(None)
names = [b"many%d" % i for i in range(300)]
for name in names:
    if os.fork() == 0:
        libc.prctl(15, name)
        for _ in range(1000):
            time.sleep(0.3)
        os._exit(0)
open("forked", "w")
for _ in names:
    os.wait()
END
forking=$!
wait_until 60 test -e forked || fail "no children"
mapfile -t many < <(tr ' ' '\n' <"/proc/$forking/task/$forking/children" | grep .)
cp metrics earlier
sees_many() {
    scrape
    [ "$(value_of osprof_waits_total sleeping other)" -gt 300 ]
}
wait_until 60 sees_many || fail "programs without a series of their own are not counted"
for family in osprof_wait_seconds_total osprof_waits_total; do
    [ "$(grep -c "^$family{" metrics)" -le 200 ] || fail "$(grep -c "^$family{" metrics) series of $family"
done
[ "$(grep -c '^osprof_waits_total{' metrics)" -gt "$(<few)" ] || fail "no program gets a series of its own"
# shellcheck disable=SC1003 # no quote
grep -qF 'program="a\"b\\c\nd?' metrics || fail "a name is not escaped: $(grep 'flock' metrics)"
! LC_ALL=C grep -q $'\x1b' metrics || fail "a name has characters that a terminal obeys"
python3 -c 'open("metrics", encoding="utf-8").read()' || fail "not UTF-8"
# shellcheck disable=SC2094 # the word is no file
! have promtool || promtool check metrics <metrics >&2 || fail "promtool finds fault"
# A series of a program that has waited for less than others ends, and its time is in that of other programs; it may begin
# anew.
awk '{ value = $NF; $NF = ""; sum = $0; sub(/,program="([^"\\]|\\.)*"/, "", sum) }
    !/^osprof_wait/ { next }
    NR == FNR { before[$0] = value; before_of_all[sum] += value; next }
    { of_all[sum] += value }
    /program="other"/ && $0 in before && value + 0 < before[$0] + 0 { print "decreases:", $0; bad = 1 }
    END { for (sum in before_of_all) if (of_all[sum] < before_of_all[sum] - 1e-6) { print "decreases:", sum; bad = 1 } exit bad }' \
    earlier metrics || fail "counters are not kept"
scrape -H 'Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited'
grep -qa osprof_wait_seconds_total metrics || fail "no waits in protobuf"

kill "$server"
wait "$server" || fail "status $? of osprof serve"
[ ! -s server.err ] || fail "complains: $(<server.err)"

# ---- Without the option, and without the right

rm url
"$OSPROF" serve --listen 127.0.0.1:0 >url 2>server.err 7>&- &
server=$!
started+=("$server")
wait_until 60 test -s url || fail "does not serve: $(<server.err)"
url=$(<url)
scrape
! grep -q osprof_wait_seconds metrics || fail "waits without --why"
as_user timeout 20 "$OSPROF" serve --why --listen 127.0.0.1:0 >out 2>err && fail "anybody sees what threads wait for"
assert_eq 1 "$(wc -l <err)" "lines"
grep -q "cannot see what threads wait for: this takes root, or the capabilities CAP_BPF and CAP_PERFMON" err ||
    fail "$(cat err)"
[ ! -s out ] || fail "serves: $(cat out)"
