#!/bin/bash
# osprof serve: clients that behave badly do not keep others from being answered, and pages of other sites get nothing.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
need_part serve
need curl python3

server_pid=
recorder_pid=
clients_pid=

before_cleanup() {
    local pid
    for pid in $clients_pid $server_pid $recorder_pid; do
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
}

# start_server [OPTION]...: sets server_pid, url, host and port
start_server() {
    local address
    rm -f url
    "$OSPROF" serve --listen 127.0.0.1:0 "$@" >url 2>server.err &
    server_pid=$!
    wait_until 20 test -s url || fail "does not serve: $(<server.err)"
    url=$(<url)
    address=${url#http://}
    address=${address%/metrics}
    host=${address%:*}
    port=${address##*:}
}

end_server() {
    local status=0
    kill -TERM "$server_pid"
    wait_for_end "$server_pid" 10 || fail "does not end when it is told to"
    wait "$server_pid" || status=$?
    server_pid=
    assert_eq "0 " "$status $(<server.err)" "how the server ends"
}

# start_clients KIND COUNT SECONDS [HOST]: as another user if that can be, until end_clients
start_clients() {
    rm -f clients.out
    local as=()
    ! { is_root && as_user true; } || as=(exec_as "$user_uid" "$user_gid" "")
    ${as[@]+"${as[@]}"} python3 "$scripts/slow_clients.py" "$1" "$2" "$3" "${4:-$host}" "$port" >clients.out 2>clients.err &
    clients_pid=$!
    wait_until 30 grep -q ready clients.out || fail "clients do not get in: $(<clients.err)"
}

end_clients() {
    kill -TERM "$clients_pid"
    wait "$clients_pid" 2>/dev/null || true
    clients_pid=
}

# assert_scrapes COUNT WHAT: one each second, all of which are answered
assert_scrapes() {
    local number seconds
    for ((number = 1; number <= $1; number++)); do
        seconds=$(curl -sgS --max-time 5 -o metrics -w '%{time_total}' "$url" 2>curl.err) ||
            fail "$2: scrape $number of $1 is not answered: $(<curl.err)"
        grep -q '^osprof_up{.*} 1$' metrics || fail "$2: no metrics in scrape $number"
        echo "$2: scrape $number took $seconds s" >&2
        nap 1000
    done
}

mkdir -m 0700 "$XDG_RUNTIME_DIR/osprof"
"$TEST_PROGRAMS/record" "$XDG_RUNTIME_DIR/osprof/1.live" /srv/one .osprof >recorder.out &
recorder_pid=$!
wait_until 20 grep -q ready recorder.out || fail "no recorder"
scripts=$scratch/scripts # where another user reads them
mkdir "$scripts"
cp "$(dirname "$0")/slow_clients.py" "$scripts"
chmod -R a+rX "$scripts"

# ---- Floods

start_server
start_clients trickle 200 60
assert_scrapes 8 "200 connections that send a byte a second"
end_clients
start_clients idle 33 60
assert_scrapes 2 "33 connections that say nothing"
end_clients
start_clients hasty 100 60
assert_scrapes 3 "100 connections that ask again and again"
end_clients
# none of them stays: the server has its descriptors back
are_descriptors_few() {
    [ "$(find "/proc/$server_pid/fd" -mindepth 1 | wc -l)" -lt 20 ]
}
wait_until 30 are_descriptors_few || fail "descriptors stay open after the floods"
assert_scrapes 1 "nobody else"
end_server
start_server --listen 0.0.0.0:0
start_clients trickle 200 60 127.9.8.7
assert_scrapes 3 "200 connections to another loopback address"
end_clients
end_server

# Where descriptors are few, connections give way to each other all the same.
printf '#!/bin/bash\nulimit -n 40\nexec "%s" "$@"\n' "$OSPROF" >few_descriptors
chmod +x few_descriptors
OSPROF=./few_descriptors start_server
start_clients trickle 200 60
assert_scrapes 3 "few descriptors"
end_clients
end_server

# ---- Names

# status_for HOST: what a client gets that asks for this host
status_for() {
    curl -sg --max-time 8 -o body -w '%{http_code}' -H "Host: $1" "$url"
}

assert_statuses() { # STATUS HOST...
    local status=$1 name
    shift
    for name; do
        assert_eq "$status" "$(status_for "$name")" "status for the host '$name'"
    done
}

two_hosts() {
    exec 5<>"/dev/tcp/$host/$port"
    printf 'GET /metrics HTTP/1.1\r\nHost: %s\r\nHost: %s\r\n\r\n' "$1" "$2" >&5
    head -c 12 <&5
    exec 5>&-
}

own_name=$(uname -n)
wrong="osprof serve: --name must be the name of a host, without a port, not"
for name in "" . a:1 127.0.0.1 '[::1]' 'a b' 'a/b' "$(printf 'a%.0s' {1..300})"; do
    expect_trouble "$wrong '$name'; see 'osprof help serve'" serve --name "$name"
done

start_server --name metrics.example --name Other.Example.
assert_statuses 200 "$host:$port" "$host" 192.0.2.7 '[::1]' "[::1]:$port" '[fe80::1%eth0]:80' localhost "localhost:$port" \
    LocalHost localhost. "$own_name" "${own_name%%.*}:$port" metrics.example METRICS.example. "other.example:$port"
assert_statuses 421 rebound.example "rebound.example:$port" localhost.example example a.metrics.example metrics metrics.example.. \
    127.0.0.1.rebound.example 127.0.0.1x '[::1' '[::1].rebound.example' '[rebound.example]' ::1 "x$own_name" \
    "$own_name.rebound.example" "rebound.example:80:80" "user@localhost"
grep -q 'start osprof serve with --name$' body || fail "does not say what to do: $(<body)"
! grep -q osprof_up body || fail "tells another site"
assert_eq "HTTP/1.1 421" "$(two_hosts localhost rebound.example)" "status of two hosts"
assert_eq "HTTP/1.1 200" "$(two_hosts localhost 127.0.0.1)" "status of two hosts that are both ours"
assert_eq 421 "$(curl -sg --max-time 8 -o body -w '%{http_code}' -H 'Host: rebound.example' "${url%/metrics}/")" \
    "status of another path"
assert_eq 200 "$(curl -sg --max-time 8 -0 -o body -w '%{http_code}' -H 'Host:' "$url")" "status without a host"
assert_eq 200 "$(curl -sg --max-time 8 -o body -w '%{http_code}' --request-target "http://metrics.example/metrics" \
    -H 'Host: rebound.example' "$url")" "status of a target that names us"
assert_eq 421 "$(curl -sg --max-time 8 -o body -w '%{http_code}' --request-target "http://rebound.example:80/metrics" \
    "$url")" "status of a target that names another"
end_server

# Over a socket in the file system no page of a site gets anywhere: what a proxy passes on is answered.
start_server --listen ./socket
assert_eq 200 "$(curl -s --max-time 8 -o body -w '%{http_code}' --unix-socket socket http://public.example/metrics)" \
    "status over a socket"
end_server

# The machine's own names: as it calls itself, and those beside it in /etc/hosts.
own_names() {
    hostname node1.cluster.example
    printf '%s\n' '127.0.0.1 localhost' '127.0.1.1 node1.cluster.example node1 alias1 # comment1' '0.0.0.0 blocked.example' \
        >hosts
    mount --bind hosts /etc/hosts
    start_server
    assert_statuses 200 node1.cluster.example node1 ALIAS1 alias1:80
    assert_statuses 421 blocked.example comment1 node2 "$own_name" node1.cluster
    end_server
}
if is_root && have unshare && unshare --mount --uts true 2>/dev/null; then
    export -f own_names start_server end_server assert_statuses status_for fail assert_eq wait_until wait_a_little \
        wait_for_end nap explain_running
    export scratch milliseconds_per_second OSPROF own_name url
    unshare --mount --uts --propagation private -- bash -euc own_names
fi
