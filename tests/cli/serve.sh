#!/bin/bash
# osprof serve: what a client gets, which mounts, that none of them can hold up a scrape, and how it ends.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
need_part serve
need curl

protobuf='application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited'
server_pid=
others=()

before_cleanup() {
    local pid
    for pid in ${others[@]+"${others[@]}"} $server_pid; do
        kill_process "$pid"
    done
    [ -z "$daemon_pid" ] || kill -CONT "$daemon_pid" 2>/dev/null || true
}

# start_server [ARGUMENT]...: any free port unless another is given; sets server_pid and url
start_server() {
    rm -f url
    "$OSPROF" serve --listen 127.0.0.1:0 "$@" >url 2>server.err &
    server_pid=$!
    wait_until 20 test -s url || fail "does not serve: $(<server.err)"
    url=$(<url)
}

# end_server [SIGNAL]: it must end at once, with status 0
end_server() {
    local status=0
    kill -"${1:-TERM}" "$server_pid"
    wait_for_end "$server_pid" 5 || fail "does not end when it is told to"
    wait "$server_pid" || status=$?
    server_pid=
    assert_eq 0 "$status" "exit status of the server"
    assert_eq "" "$(<server.err)" "messages of the server"
}

# scrape [OPTION]...: into the file metrics
scrape() {
    curl -sgS --max-time 8 -o metrics "$@" "$url" || fail "no answer: $*"
}

# status_of [OPTION]... URL
status_of() {
    curl -sg --max-time 8 -o body -w '%{http_code}' "$@"
}

# up_of MOUNT: 0 or 1, or nothing
up_of() {
    scrape
    sed -n "s|^osprof_up{.*mount=\"$1\"} ||p" metrics
}

# calls_of OP MOUNT
calls_of() {
    sed -n "s|^osprof_op_latency_seconds_count{.*mount=\"$2\",op=\"$1\"} ||p" metrics
}

# start_recorder LIVE MOUNT [AS]...: sets recorder_pid
start_recorder() {
    rm -f recorder.out
    "${@:3}" "$TEST_PROGRAMS/record" "$1" "$2" .osprof >recorder.out &
    recorder_pid=$!
    others+=("$recorder_pid")
    wait_until 20 grep -q ready recorder.out || fail "no recorder of $2"
}

# kill_process PID: a child
kill_process() {
    kill -KILL "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

# Mounts of others, whose live files are where root's are, are none of this test's.
[ -z "${IN_OWN_NAMESPACE:-}" ] || [ ! -d /run/osprof ] || mount -t tmpfs -o mode=0755 none /run/osprof

# ---- Arguments

wrong="osprof serve: --listen must be a numeric ADDRESS:PORT such as 127.0.0.1:19435, [ADDRESS]:PORT or the path of a socket, not"
for where in "" 9 :9 localhost:9 127.0.0.1 127.0.0.1: 127.0.0.1:x 127.0.0.1:65536 127.0.0.1:-1 ::1:9 '[::1]' '[::1:9' \
    '[127.0.0.1]:9' "$(printf '/%.0s' {1..200})"; do
    expect_trouble "$wrong '$where'; see 'osprof help serve'" serve --listen "$where"
done
expect_trouble "osprof serve: @1 is the result of a run, which has ended; give mount points or live files; see 'osprof help serve'" serve @1
expect_trouble "osprof serve: standard input cannot be served; give mount points or live files; see 'osprof help serve'" \
    serve -
expect_trouble "osprof: cannot listen on no/such/socket: No such file or directory; --listen chooses another address" \
    serve --listen no/such/socket
expect_trouble "osprof: cannot listen on 192.0.2.1:9: Cannot assign requested address; --listen chooses another address" \
    serve --listen 192.0.2.1:9

status=0
"$OSPROF" serve --listen 127.0.0.1:0 >/dev/full 2>err || status=$?
assert_eq "2 osprof: cannot write standard output: No space left on device" "$status $(<err)" "a full standard output"

# ---- What a client gets

mkdir -m 0700 "$XDG_RUNTIME_DIR/osprof"
start_recorder "$XDG_RUNTIME_DIR/osprof/1.live" /srv/one
one_pid=$recorder_pid
start_server
scrape -D head
grep -q '^HTTP/1.1 200 OK' head || fail "no 200"
grep -qi '^Content-Type: text/plain; version=0.0.4; charset=utf-8' head || fail "another type than the text's"
assert_eq 7 "$(calls_of READ /srv/one)" "reads"
[ "$(stat -c %s metrics)" = "$(sed -n 's/^Content-Length: \([0-9]*\).*/\1/Ip' head)" ] || fail "another length"
# shellcheck disable=SC2094 # the word is no file
! have promtool || promtool check metrics <metrics >&2 || fail "promtool finds fault"
# except ages, as what osprof show prints
"$OSPROF" show --metrics /srv/one | grep -v 'elapsed\|oldest\|_bucket\|_sum' >shown
grep -v 'elapsed\|oldest\|_bucket\|_sum\|osprof_up\|osprof_waiting' metrics | diff shown - >&2 || fail "not what osprof show tells"

scrape -D head -H "Accept: $protobuf;q=0.9,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
grep -q osprof_up metrics || fail "no family osprof_up for one who prefers protobuf"
if is_without protobuf; then
    grep -qi '^Content-Type: text/plain' head || fail "no text where there is no protobuf"
else
    grep -qi '^Content-Type: application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited' \
        head || fail "another type than protobuf's"
    ! grep -q '_bucket' metrics || fail "text in the place of protobuf"
fi
scrape -D head -H "Accept: $protobuf;q=0.4,text/plain;version=0.0.4;q=0.5"
grep -qi '^Content-Type: text/plain' head || fail "protobuf for one who prefers text"

assert_eq 200 "$(status_of --head "$url")" "status of HEAD"
grep -q '^Content-Length: [1-9]' body || fail "HEAD tells no length"
assert_eq 404 "$(status_of "${url%metrics}")" "status of /"
assert_eq 404 "$(status_of "${url}/")" "status of /metrics/"
assert_eq 404 "$(status_of --path-as-is "${url%metrics}../../etc/passwd")" "status of a file"
assert_eq 200 "$(status_of --request-target "$url" "$url")" "status of a server's name before the path"
assert_eq 200 "$(status_of --request-target "HTTP://localhost:80/metrics?query=x" "$url")" "status of another name"
for target in http:// http://localhost http://localhost/ http:///metrics/ http:/metrics https://localhost/metrics; do
    case $(status_of --request-target "$target" "$url") in
    404 | 400) ;;
    *) fail "answers $target: $(<body)" ;;
    esac
done
assert_eq 405 "$(status_of -d data -D head "$url")" "status of POST"
grep -qi '^Allow: GET, HEAD' head || fail "405 does not say what is allowed"
assert_eq 405 "$(status_of -X DELETE "$url")" "status of DELETE"
assert_eq 200 "$(status_of "$url?query=x")" "status of a query"
case $(status_of -H "X: $(printf 'x%.0s' {1..20000})" "$url") in
4?? | 000) ;;
*) fail "takes headers of any size" ;;
esac
scrape

address=${url#http://}
address=${address%/metrics}
expect_trouble "osprof: cannot listen on $address: Address already in use; --listen chooses another address" \
    serve --listen "$address"

# ---- Which mounts: those that there are

start_recorder "$XDG_RUNTIME_DIR/osprof/2.live" /srv/two
assert_eq 1 "$(up_of /srv/two)" "a mount that has come"
assert_eq 1 "$(grep -c '^# TYPE osprof_op_latency_seconds ' metrics)" "families of latencies"
kill -STOP "$recorder_pid"
assert_eq 1 "$(up_of /srv/two)" "a process that is stopped"
assert_eq 7 "$(calls_of READ /srv/two)" "reads of a process that is stopped"
kill_process "$recorder_pid"
assert_eq 0 "$(up_of /srv/two)" "a mount whose process was killed"
assert_eq "" "$(calls_of READ /srv/two)" "reads of one whose process was killed"
start_recorder "$XDG_RUNTIME_DIR/osprof/3.live" /srv/two
assert_eq 1 "$(up_of /srv/two)" "one that was mounted again, beside the dead one's live file"
kill_process "$recorder_pid"
rm "$XDG_RUNTIME_DIR"/osprof/[23].live
assert_eq "" "$(up_of /srv/two)" "a mount that is gone"
cp "$XDG_RUNTIME_DIR/osprof/1.live" "$XDG_RUNTIME_DIR/osprof/broken.live"
printf '\1' | dd of="$XDG_RUNTIME_DIR/osprof/broken.live" bs=1 seek=8 conv=notrunc status=none
assert_eq 0 "$(up_of "$XDG_RUNTIME_DIR/osprof/broken.live")" "a broken live file"
assert_eq 7 "$(calls_of READ /srv/one)" "reads beside a broken live file"
truncate -s 100 "$XDG_RUNTIME_DIR/osprof/broken.live"
assert_eq 1 "$(up_of /srv/one)" "beside one that is cut short"
rm "$XDG_RUNTIME_DIR/osprof/broken.live"

# Names of mounts hold any bytes, and each series is there once: what is the same in metrics is one, and the newest is taken.
long=$(printf '/%0.s' {1..9})$(printf 'a"b\\%.0s' {1..1000})
strange=("/srv/$(printf '\1')" "/srv/$(printf '\2')" $'/srv/\xff' $'/srv/\xfe' $'/srv/new\n# TYPE line gauge\nline 1' '/srv/"} 1 {' "$long")
strange_pids=()
for number in "${!strange[@]}"; do
    start_recorder "$XDG_RUNTIME_DIR/osprof/9$number.live" "${strange[number]}"
    strange_pids+=("$recorder_pid")
done
scrape
assert_eq "" "$(grep -av '^#' metrics | sed 's/[^ ]*$//' | sort | uniq -d)" "series that are told twice"
assert_eq "" "$(grep -aEv '^(# (HELP|TYPE|EOF)|osprof_[a-z_]*\{([a-z_]*="([^"\\]|\\["\\n])*",?)*\} [0-9.e+-]+$)' <(iconv -f UTF-8 -t UTF-8 metrics) || true)" "lines"
assert_eq 6 "$(grep -ac '^osprof_up{.*} 1$' metrics)" "mounts"
assert_eq 1 "$(grep -c '^osprof_up{.*mount="/srv/new\\n# TYPE line gauge\\nline 1"} 1$' metrics)" "mount with newlines"
assert_eq 1 "$(grep -c '^osprof_up{.*mount="/srv/?"} 1$' metrics)" "mounts whose names are control characters"
assert_eq 1 "$(grep -c '^osprof_up{.*mount="/srv/\\"} 1 {"} 1$' metrics)" "mount with quotes"
# shellcheck disable=SC2094 # the word is no file
! have promtool || promtool check metrics <metrics >&2 || fail "promtool finds fault with strange names"
scrape -H "Accept: $protobuf"
for pid in "${strange_pids[@]}"; do
    kill_process "$pid"
done
rm "$XDG_RUNTIME_DIR"/osprof/9?.live
assert_eq 7 "$(scrape && calls_of READ /srv/one)" "reads after strange names"

# A clock's rate that is measured better and better moves no bound of the text.
bounds() {
    sed -n 's/^osprof_op_latency_seconds_bucket{.*op="READ",\(le=.*\)} .*/\1/p' "$1"
}
if python=$(python_with struct); then
    scrape
    bounds metrics >before
    "$OSPROF" show --json /srv/one | "$python" -c 'import json, struct, sys
rate = json.load(sys.stdin)["clock"]["frequency_hz"]
with open(sys.argv[1], "r+b") as live:
    at = live.read(65536).index(struct.pack("<Q", rate))
    live.seek(at)
    live.write(struct.pack("<Q", rate + 1000))' "$XDG_RUNTIME_DIR/osprof/1.live"
    "$OSPROF" show --metrics /srv/one >shown
    ! bounds shown | cmp -s before - || fail "the rate has not changed"
    scrape
    bounds metrics | diff before - >&2 || fail "bounds move with the rate"
fi

# ---- Clients that are slow: others are answered meanwhile, and they are sent away

slow_client() { # SECONDS: sends a byte of a header each half second; ends when it is sent away
    exec 5<>"/dev/tcp/${address%:*}/${address##*:}"
    printf 'GET /metrics HTTP/1.1\r\nHost: x\r\nX: ' >&5
    local status=200 number
    for ((number = 0; number < 2 * $1 && status > 128; number++)); do
        printf x >&5 || exit 0
        status=0
        read -rt 0.5 -u 5 _ || status=$?
    done
    [ "$status" -gt 128 ] || exit 0 # it is no timeout of read
    exit 1
}
trap '' PIPE
slow_client 60 2>/dev/null &
trickling_pid=$!
others+=("$trickling_pid")
exec 6<>"/dev/tcp/${address%:*}/${address##*:}" # says nothing at all
for _ in 1 2 3; do
    scrape --max-time 2
done
begun=$SECONDS
read -rt 20 -u 6 _ || [ $? -lt 128 ] || fail "one that says nothing is not sent away"
exec 6>&-
[ $((SECONDS - begun)) -lt 15 ] || fail "one that says nothing stays $((SECONDS - begun)) s"
clients=()
for _ in {1..40}; do # more answers than are sent at a time: all get theirs
    curl -sg --max-time 20 -o /dev/null "$url" &
    clients+=("$!")
done
for pid in "${clients[@]}"; do
    wait "$pid" || fail "one of 40 clients is not answered"
done
wait "$trickling_pid" || fail "one that sends a byte at a time is not sent away"

kill_process "$one_pid"
end_server

# ---- Other addresses

start_recorder "$XDG_RUNTIME_DIR/osprof/4.live" /srv/one
if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
    start_server --listen '[::1]:0'
    case $url in
    'http://[::1]:'*/metrics) ;;
    *) fail "says that it serves at $url" ;;
    esac
    assert_eq 1 "$(up_of /srv/one)" "a mount over IPv6"
    end_server INT
fi
over_socket() {
    curl -s --max-time 8 -o metrics --unix-socket socket http://localhost/metrics && grep -q "$1" metrics
}
start_server --listen ./socket
assert_eq "unix:./socket" "$url" "what it says of a socket"
assert_eq 600 "$(stat -c %a socket)" "mode of the socket"
over_socket '^osprof_up{.*mount="/srv/one"} 1$' || fail "no metrics over a socket"
expect_trouble "osprof: cannot listen on ./socket: Address already in use; --listen chooses another address" \
    serve --listen ./socket
kill_process "$server_pid"
[ -S socket ] || fail "who was killed has removed its socket"
start_server --listen ./socket
over_socket '^osprof_up' || fail "does not listen in the place of one that was killed"
end_server
[ ! -e socket ] || fail "the socket stays"
echo precious >socket
expect_trouble "osprof: cannot listen on ./socket: Address already in use; --listen chooses another address" \
    serve --listen ./socket
assert_eq precious "$(<socket)" "a file in the place of a socket"

# ---- Other users

if is_root && have setpriv && as_user true; then
    provide_programs
    start_server
    as_user curl -sS --max-time 8 -o /dev/null "$url" || fail "another user cannot connect to the loopback address"
    end_server
    rm socket
    chmod 0755 "$scratch"
    start_server --listen ./socket
    ! as_user curl -s --max-time 8 --unix-socket "$scratch/socket" -o /dev/null http://localhost/metrics ||
        fail "another user can connect to the socket"
    end_server
    # he serves what is his own, and nothing of root's
    mkdir -p "$scratch/run-user/osprof" && chown -R "$user_uid:$user_gid" "$scratch/run-user"
    chmod 0700 "$scratch/run-user/osprof"
    start_recorder "$scratch/run-user/osprof/5.live" /srv/his exec_as "$user_uid" "$user_gid" ""
    rm url
    exec_as "$user_uid" "$user_gid" "" "$OSPROF" serve --listen 127.0.0.1:0 >url 2>server.err &
    server_pid=$!
    wait_until 20 test -s url || fail "does not serve: $(<server.err)"
    url=$(<url)
    assert_eq 1 "$(up_of /srv/his)" "the user's own mount"
    assert_eq "" "$(up_of /srv/one)" "root's mount, of the user's server"
    end_server
fi

# ---- Real mounts, by their names

need_fuse
echo 1 >"$lower/file-that-nobody-should-hear-of"
mkdir mnt-without
mount_osproffs -o live=none "$lower" "$scratch/mnt-without"
without_pid=$daemon_pid
mount_osproffs -o by=process "$lower" "$mnt"
cat "$mnt/file-that-nobody-should-hear-of" mnt-without/file-that-nobody-should-hear-of >/dev/null
ln -s "$mnt" link
start_server mnt "$scratch/mnt-without" link /no/such/mount
scrape
for mount in "$mnt" "$scratch/mnt-without"; do
    assert_eq 1 "$(up_of "$mount")" "osprof_up of $mount"
    [ "$(calls_of LOOKUP "$mount")" -ge 1 ] || fail "no LOOKUP of $mount"
done
assert_eq 0 "$(up_of /no/such/mount)" "a mount that is not there"
assert_eq 3 "$(grep -c '^osprof_up{' metrics)" "mounts, one of which has two names"
! grep -q 'nobody-should-hear\|pid\|process' metrics || fail "tells names of files, or who called"

# Mounts that hang. One that must be asked is waited for in one scrape alone.
hang_daemon "$daemon_pid"
hang_daemon "$without_pid"
scrape --max-time 4
assert_eq 0 "$(up_of "$scratch/mnt-without")" "a mount that hangs, and has no live file"
scrape --max-time 0.9
assert_eq 0 "$(up_of "$mnt")" "a mount that hangs"
[ "$(calls_of LOOKUP "$mnt")" -ge 1 ] || fail "no LOOKUP of a mount that hangs"
kill -CONT "$daemon_pid" "$without_pid"
is_up_again() {
    [ "$(up_of "$scratch/mnt-without")" = 1 ]
}
wait_until 20 is_up_again || fail "a mount that goes on is not up again"

# One whose process was killed: the mount is there, but dead.
kill_process "$daemon_pid"
assert_eq 0 "$(up_of "$mnt")" "a mount whose daemon was killed"
assert_eq 1 "$(up_of "$scratch/mnt-without")" "another mount"

# It ends while mounts hang, too.
hang_daemon "$without_pid"
scrape --max-time 4
end_server
kill -CONT "$without_pid"
unmount_osproffs "$scratch/mnt-without"
