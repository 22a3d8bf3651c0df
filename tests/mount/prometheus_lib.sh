# shellcheck shell=bash
# A real Prometheus, for the tests that have it scrape osprof serve. Source after lib.sh and helpers.sh, whose variables and
# functions it uses; what it starts is ended by its before_cleanup().
# shellcheck disable=SC2154 # assigned there

need_part serve protobuf
need prometheus promtool
python=$(python_with http.server) || skip "python3 is not installed"

processes=()

before_cleanup() {
    local pid
    for pid in ${processes[@]+"${processes[@]}"}; do
        kill -TERM "$pid" 2>/dev/null
        wait_for_end "$pid" 10 || kill -KILL "$pid"
    done
}

# serve_metrics MOUNT...: sets scraped, the address at which Prometheus finds them
serve_metrics() {
    rm -f served
    "$OSPROF" serve --listen 127.0.0.1:0 "$@" >served 2>served.err &
    processes+=("$!")
    wait_until 10 test -s served || fail "nobody serves the metrics: $(<served.err)"
    scraped=$(<served)
    scraped=${scraped#http://}
    scraped=${scraped%/metrics}
}

# start_prometheus [OPTION]...: with the file prometheus.yml; sets api. It cannot choose a free port by itself, and a port
# that was free may be taken by now.
# shellcheck disable=SC2120 # options are rare
start_prometheus() {
    local port attempt pid
    for attempt in 1 2 3; do
        port=$("$python" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
        prometheus --config.file=prometheus.yml --storage.tsdb.path="tsdb-$attempt" --log.level=warn \
            --web.listen-address="127.0.0.1:$port" "$@" >prometheus.log 2>&1 &
        pid=$!
        processes+=("$pid")
        api=http://127.0.0.1:$port/api/v1
        ! wait_until 20 answers_or_ended "$pid" || ! kill -0 "$pid" 2>/dev/null || return 0
    done
    fail "prometheus does not start: $(<prometheus.log)"
}

answers_or_ended() {
    ! kill -0 "$1" || query 'vector(1)'
}

# query EXPRESSION: the one value that Prometheus answers; fails if it has none
query() {
    "$python" -c 'import json, sys, urllib.parse, urllib.request
answer = json.load(urllib.request.urlopen(sys.argv[1] + "/query?" + urllib.parse.urlencode({"query": sys.argv[2]}), timeout=5))
[result] = answer["data"]["result"]
print(result["value"][1])' "$api" "$1" 2>/dev/null
}

# is_answer VALUE EXPRESSION
is_answer() {
    [ "$(query "$2")" = "$1" ]
}
