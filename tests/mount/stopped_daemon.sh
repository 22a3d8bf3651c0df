#!/bin/bash
# A daemon that is stopped, or frozen, does not look idle: osprof top, why, show and serve say so, with how many requests
# wait, and afterwards the profile says for how long it did not run. Of daemons that are idle or busy nothing is said.
. "$(dirname "$0")/lib.sh"
# shellcheck source=helpers.sh
. "$tests_dir/helpers.sh"
need_root
need_fuse

connections=/sys/fs/fuse/connections
callers=()
server_pid=
freezer=

before_cleanup() {
    exec 5>&-
    local pid
    thaw_daemon
    for pid in $daemon_pid ${observer_pid:-}; do
        kill -CONT "$pid" 2>/dev/null || true
    done
    for pid in ${callers[@]+"${callers[@]}"} $server_pid; do
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    [ -z "$freezer" ] || rmdir "$freezer" 2>/dev/null || true
    ! mountpoint -q "$connections" || umount "$connections" 2>/dev/null || true
}

# ---- What is said

# assert_says TEXT COMMAND...
assert_says() {
    local text=$1
    shift
    "$@" >said 2>&1 || true
    grep -qE -- "$text" said || {
        cat said >&2
        fail "does not say '$text': $*"
    }
}

# assert_silent COMMAND...: nothing of the daemon
assert_silent() {
    "$@" >said 2>&1 || true
    ! grep -qiE 'daemon|stopped|stuck' said || {
        cat said >&2
        fail "says something of the daemon: $*"
    }
}

show() {
    "$OSPROF" show --width 200 "$mnt"
}

why() {
    "$OSPROF" why --width 200 "$mnt"
}

# Two snapshots, the second of which is shown.
top() {
    "$OSPROF" top --batch --count 1 --delay 0.5 "$mnt"
}

# metric NAME: its value, of the mount
metric() {
    if [ -n "$server_pid" ]; then
        curl -sgS --max-time 8 "$url" | sed -n "s|^$1{.*mount=\"$mnt\"[^}]*} ||p" | head -n 1
    fi
}

start_server() {
    have curl || return 0
    "$OSPROF" serve --listen 127.0.0.1:0 >url 2>server.err &
    server_pid=$!
    wait_until 20 test -s url || fail "does not serve: $(<server.err)"
    url=$(<url)
}

# assert_metrics UP WAITING
assert_metrics() {
    [ -n "$server_pid" ] || return 0
    assert_eq "$1" "$(metric osprof_up)" osprof_up
    assert_eq "$2" "$(metric osprof_waiting_requests)" osprof_waiting_requests
    [ -n "$(metric osprof_elapsed_seconds)" ] || fail "nothing else is told of the mount"
}

# ---- Requests that wait

# call_in_vain COUNT: as many callers, each of which asks for another name; waits until the kernel has their requests
call_in_vain() {
    local number
    for ((number = 0; number < $1; number++)); do
        stat "$mnt/name-$RANDOM-$number" >/dev/null 2>&1 &
        callers+=("$!")
    done
    wait_until 20 are_unanswered "$1" || fail "not $1 requests wait: $(unanswered)"
}

are_unanswered() {
    [ "$(unanswered)" = "$1" ]
}

unanswered() {
    cat "$connections/$device/waiting" 2>/dev/null || echo 0
}

end_callers() {
    local pid
    for pid in ${callers[@]+"${callers[@]}"}; do
        wait "$pid" || true
    done
    callers=()
}

freeze_daemon() {
    local root type
    for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
        type=$(stat -fc %T "$root" 2>/dev/null || true)
        [ "$type" = cgroup2fs ] || continue
        freezer=$root/osproffs-test-$$
        mkdir "$freezer" 2>/dev/null || continue
        if [ -e "$freezer/cgroup.freeze" ] && echo "$daemon_pid" >"$freezer/cgroup.procs" 2>/dev/null; then
            echo 1 >"$freezer/cgroup.freeze"
            wait_until 20 grep -q 'frozen 1' "$freezer/cgroup.events"
            return
        fi
        rmdir "$freezer"
        freezer=
    done
    return 1
}

thaw_daemon() {
    [ -z "$freezer" ] || [ ! -e "$freezer/cgroup.freeze" ] || {
        echo 0 >"$freezer/cgroup.freeze"
    }
}

mount_osproffs -o slow=1s,flock "$lower" "$mnt"
device=$(mountpoint -d "$mnt" | cut -d : -f 2)
ls "$mnt" >/dev/null

# ---- Without fusectl: it is stopped, and nobody knows how many wait

! mountpoint -q "$connections" || umount "$connections"
assert_silent show
assert_silent why
assert_silent top
hang_daemon "$daemon_pid"
assert_says "^The daemon \(process $daemon_pid\) is stopped: how many requests wait for it cannot be told\." show
assert_says "^The daemon \(process $daemon_pid\) is stopped: how many requests wait for it cannot be told\." top
kill -CONT "$daemon_pid"
mount -t fusectl fusectl "$connections" 2>/dev/null || skip "cannot mount fusectl"
[ -e "$connections/$device/waiting" ] || skip "fusectl does not have the mount"

# ---- Idle

start_server
assert_silent show
assert_silent why
assert_silent top
assert_says "none in flight" top
assert_metrics 1 0

# ---- Stopped, at first without callers

hang_daemon "$daemon_pid"
assert_says "^The daemon \(process $daemon_pid\) is stopped: no request waits for it now\." show
assert_metrics 0 0
call_in_vain 3
stopped="^The daemon \(process $daemon_pid\) is stopped: 3 requests wait for it\."
assert_says "$stopped" show
assert_says "$stopped" top
assert_says "$stopped" why
assert_says "What requests wait for the daemon is in no latency" top
assert_says '"daemon": "stopped"' "$OSPROF" show --json "$mnt"
assert_says '"waiting_requests": 3' "$OSPROF" show --json "$mnt"
assert_says '"daemon": "stopped"' "$OSPROF" why --json "$mnt"
assert_metrics 0 3
# what reads the control file waits, and says so
"$OSPROF" show --by uid "$mnt" >waited 2>waited.err &
callers+=("$!")
wait_until 20 grep -q "^osprof: The daemon (process $daemon_pid) is stopped: .* This waits for its answer, too\.$" waited.err ||
    fail "does not say that it waits: $(<waited.err)"
# what is saved is what the live file has, and that is said; a command is not answered, and that is said too
timeout 60 "$OSPROF" save "$mnt" -o saved 2>saved.err || fail "what a daemon has counted that is stopped is not saved: $(<saved.err)"
grep -qx "osprof: $mnt does not answer: this is what its live file $(live_file) has, without intervals, joint profiles and groups" saved.err ||
    fail "does not say where it is from: $(<saved.err)"
"$OSPROF" show --check saved >&2 || fail "osprof show --check finds fault with what is saved"
[ "$(profile_calls READDIRPLUS saved)" -gt 0 ] || fail "no calls in what is saved: $(<saved)"
assert_refused "osprof: $mnt: resume: Connection timed out" timeout 60 "$OSPROF" ctl "$mnt" resume
# who may read the live file, but not what the kernel tells root
cp "$(live_file)" copy.live
chmod 0644 "$(live_file)"
chmod 0755 "$XDG_RUNTIME_DIR" "$XDG_RUNTIME_DIR/osprof"
! user_sees_processes ||
    assert_says "is stopped: how many requests wait for it cannot be told" as_user "$OSPROF" show --width 200 "$(live_file)"
chmod 0700 "$XDG_RUNTIME_DIR" "$XDG_RUNTIME_DIR/osprof"
# a live file of a process that is no more is not one of a daemon that is stopped
assert_silent "$OSPROF" show copy.live

# ---- Afterwards

"$OSPROF" top --batch --count 3 --delay 1 "$mnt" >watched 2>&1 &
watcher=$!
callers+=("$watcher")
nap 4000 # the daemon looks every 2.6 s at least, and tells a second or more
kill -CONT "$daemon_pid"
end_callers
is_told() {
    "$OSPROF" show --width 200 "$mnt" >said && grep -qE '^stopped +[0-9.]+ s: the daemon did not run' said
}
wait_until 20 is_told || {
    cat said >&2
    fail "the profile does not say that the daemon did not run"
}
! grep -q '^The daemon' said || fail "still says that it is stopped"
assert_silent why
assert_metrics 1 0
assert_says 'osprof_stopped_seconds' "$OSPROF" show --metrics "$mnt"
assert_says '"stopped_seconds"' "$OSPROF" show --json "$mnt"
grep -q 'is stopped: ' watched || fail "top did not say that the daemon was stopped"

# top says it of the interval in which the daemon was stopped, and of no later one
"$OSPROF" top --batch --count 4 --delay 2 "$mnt" >watched 2>&1 &
watcher=$!
nap 500
hang_daemon "$daemon_pid"
nap 4500
kill -CONT "$daemon_pid"
ls "$mnt" >/dev/null
wait "$watcher"
assert_eq 1 "$(grep -c 'did not run for [0-9.]* s' watched)" "intervals in which the daemon did not run"
awk '/calls? ended/ { number++ } /did not run/ { told = number } END { exit !(told == 3 || told == 2) }' watched ||
    fail "tells it of another interval"

# ---- Busy: calls in flight are no requests that wait

busy_pids=()
for _ in 1 2 3 4; do
    while :; do
        find "$mnt" >/dev/null
        echo x >"$mnt/file-$BASHPID"
        rm "$mnt/file-$BASHPID"
    done &
    busy_pids+=("$!")
    callers+=("$!")
done
for _ in 1 2 3 4 5; do
    "$OSPROF" show --width 200 "$mnt" >said
    ! grep -q '^The daemon' said || fail "takes a busy daemon for one that hangs: $(<said)"
    [ -z "$server_pid" ] || assert_eq 1 "$(metric osprof_up)" "osprof_up of a busy daemon"
done
"$OSPROF" top --batch --count 3 --delay 0.5 "$mnt" >said
! grep -q '^The daemon' said || fail "top takes a busy daemon for one that hangs"
for pid in "${busy_pids[@]}"; do
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
done
callers=()

# A call that waits below is in flight, and no request waits for the daemon.
echo >"$lower/locked"
exec 5<"$lower/locked"
flock 5
flock -x "$mnt/locked" true 5<&- &
callers+=("$!")
is_in_flight() {
    "$OSPROF" top --batch --count 1 --delay 0.1 "$mnt" | grep -q '1 in flight'
}
wait_until 20 is_in_flight || fail "a call that waits for a lock is not in flight: $("$OSPROF" top --batch --count 1 "$mnt")"
"$OSPROF" show --width 200 "$mnt" >said
! grep -q '^The daemon' said || fail "takes a call that waits below for a daemon that hangs"
exec 5>&-
end_callers

# ---- Frozen, which no state of a process tells

if freeze_daemon; then
    call_in_vain 2
    assert_says "^The daemon does not get on: 2 requests wait for it; none was begun or ended for [0-9.]+ s\." show
    assert_says "^The daemon does not get on: 2 requests wait for it" why
    "$OSPROF" top --batch --count 2 --delay 0.5 "$mnt" >said
    grep -q '^The daemon does not get on: 2 requests wait' said || fail "top does not say it: $(<said)"
    metric osprof_up >/dev/null
    nap 400
    assert_metrics 0 2
    thaw_daemon
    end_callers
    assert_metrics 1 0
fi

unmount_osproffs "$mnt"
assert_profiled READDIRPLUS
grep -q '^# stopped: [0-9]*$' "$final_profile" || fail "the final profile does not say that the daemon did not run"

# ---- A daemon that 'osprof fuse' profiles: it counts beside the daemon, and goes on when that is stopped

! grep -q '__[at]san_init' "$OSPROF_LIBRARIES/libosprof_fuse.so" || exit 0 # a sanitizer's cannot be preloaded
mkdir "$scratch/fused"
start_daemon "$OSPROF" fuse -o fused.profile -- "$OSPROFFS" -f -o profile=/dev/null,live=none "$lower" "$scratch/fused"
command_pid=$daemon_pid
wait_for_mount "$scratch/fused"
child_of() {
    tr ' ' '\n' <"/proc/$1/task/$1/children" | head -n 1
}
observer_pid=$(child_of "$command_pid")
daemon_pid=$(child_of "$observer_pid")
assert_eq osproffs "$(</proc/"$daemon_pid"/comm)" "the daemon below osprof fuse"
mnt=$scratch/fused
device=$(mountpoint -d "$mnt" | cut -d : -f 2)
ls "$mnt" >/dev/null
is_seen() {
    "$OSPROF" show "$mnt" | grep -q READDIR
}
wait_until 20 is_seen || fail "the daemon below osprof fuse is not profiled"
assert_says "none in flight" top
! grep -q '^The daemon' said || fail "says something of a daemon that is idle: $(<said)"
hang_daemon "$daemon_pid"
call_in_vain 2
assert_says "^The daemon \(process $daemon_pid\) is stopped: 2 requests wait for it\." show
assert_says "^The daemon \(process $daemon_pid\) is stopped: 2 requests wait for it\." top
kill -CONT "$daemon_pid"
end_callers
assert_says "none in flight" top
hang_daemon "$observer_pid"
assert_says "^Process $observer_pid, which counts the calls, is stopped" show
assert_says '"daemon": "unseen"' "$OSPROF" show --json "$mnt"
ls "$mnt" >/dev/null
kill -CONT "$observer_pid"
unmount_below "$mnt" || fail "cannot unmount $mnt"
wait_for_end "$command_pid" 60 || fail "osprof fuse does not end"
daemon_pid=
