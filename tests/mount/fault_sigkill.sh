#!/bin/bash
# SIGKILL at twenty random moments under load: what the live file holds is every call that had finished, and at most the
# calls in flight on top.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

threads=5

# Neither `kill` nor the shell may say anything about it.
kill_daemon() {
    sleep "0.$(printf '%03d' $((RANDOM % 300 + 1)))"
    kill -KILL "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null || true
}

recovered_once() {
    local live finished recovered before
    mount_osproffs "$lower" "$mnt"
    live=$(live_file)
    before=$(profile_calls GETATTR "$mnt/.osprof")
    timeout 60 "$TEST_PROGRAMS/count_calls" "$mnt" "$threads" >"$scratch/finished" &
    local client=$!
    kill_daemon
    wait "$client" || fail "the client failed"
    try_unmount "$mnt" || fail "cannot unmount what is left"
    "$OSPROF" save "$live" >"$scratch/recovered" || fail "osprof save fails"
    "$OSPROF" show --check "$scratch/recovered" >/dev/null || fail "the recovered profile is inconsistent"
    finished=$((before + $(cat "$scratch/finished")))
    recovered=$(profile_calls GETATTR "$scratch/recovered")
    [ "$recovered" -ge "$finished" ] || fail "$finished calls had finished, $recovered are recovered"
    [ "$recovered" -le $((finished + threads)) ] || fail "only $finished calls had finished, $recovered are recovered"
    rm "$live"
    total=$((total + finished))
}

total=0
for _ in {1..20}; do
    recovered_once
done
[ "$total" -gt $((10000 / ${OSPROF_TIMEOUT_SCALE:-1})) ] || fail "hardly any load: $total calls"
