#!/bin/bash
# A real Prometheus with native histograms: quantiles over several mounts are those of the merged profile, to a bucket;
# the rules and alerts of share/prometheus work there, and so does every query of the dashboard.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
# shellcheck source=prometheus_lib.sh
. "$tests_dir/prometheus_lib.sh"

share=$tests_dir/../../share/prometheus
mounts=("$scratch"/mnt-{1..5})
mkdir "$lower/directory" "${mounts[@]}"
mkdir "$lower"/directory/{1..5}

# make_load COUNT: so many mkdirs in each mount, by it times its number
make_load() {
    local number
    for number in 1 2 3 4 5; do
        mkdir -p "$scratch/mnt-$number/directory/$number/$1"
        (cd "$scratch/mnt-$number/directory/$number/$1" && seq $(($1 * number)) | xargs mkdir)
    done
}

# Somebody waits for the lock of another, in the first mount.
make_slow() {
    local holder
    flock "${mounts[0]}/lock" sleep 0.2 &
    holder=$!
    sleep 0.1
    flock "${mounts[0]}/lock" true
    wait "$holder"
}

# The rules by themselves.
cp "$share"/*.yml "$tests_dir/../data/prometheus-rules-test.yml" .
promtool check rules osprof.rules.yml osprof.alerts.yml >&2 || fail "promtool finds fault with the rules"
promtool test rules prometheus-rules-test.yml >&2 || fail "the rules do not as they should"

# Two servers, with mounts of different resolution.
mount_osproffs -o resolution=2,slow=10ms,flock "$lower" "${mounts[0]}"
for number in 2 3 4 5; do
    mount_osproffs -o resolution=4 "$lower" "${mounts[number - 1]}"
done
killed_pid=$daemon_pid
serve_metrics "${mounts[@]:0:2}"
first=$scraped
serve_metrics "${mounts[@]:2}"
cat >prometheus.yml <<EOF
global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
rule_files: [osprof.rules.yml, osprof.alerts.yml]
scrape_configs:
- {job_name: osprof, static_configs: [{targets: ["$first", "$scraped"]}]}
EOF
start_prometheus --enable-feature=native-histograms
wait_until 20 is_answer 5 'sum(osprof_up)' || fail "not all mounts are scraped: $(<prometheus.log)"
make_slow
make_load 101
wait_until 20 is_answer 5 'count(histogram_count(osprof_op_latency_seconds{op="MKDIR"}) > 101)' ||
    fail "no native histograms: $(<prometheus.log)"
make_load 211
for number in 1 2 3 4 5; do
    cat "${mounts[number - 1]}/.osprof" >"$number.osprof" # no MKDIR since then
done
calls=$(((101 + 211) * 15 + 10)) # and the directories for them
wait_until 20 is_answer "$calls" 'sum(histogram_count(osprof_op_latency_seconds{op="MKDIR"}))' ||
    fail "not $calls MKDIRs but $(query 'sum(histogram_count(osprof_op_latency_seconds{op="MKDIR"}))')"

# assert_quantile QUANTILE RESOLUTION FILE MATCHER: within a bucket of where the profile has it
assert_quantile() {
    local found
    found=$(query "histogram_quantile($1, sum(osprof_op_latency_seconds{op=\"MKDIR\",mount=~\"$4\"}))")
    "$OSPROF" show --json --op MKDIR "$3" | "$python" -c 'import json, sys
quantile, resolution, found = map(float, sys.argv[1:])
buckets = json.load(sys.stdin)["ops"][0]["buckets"]
seen, total = 0, sum(bucket["count"] for bucket in buckets)
for bucket in buckets:
    seen += bucket["count"]
    if seen >= quantile * total:
        break
width = 2 ** (1 / resolution)
print("quantile", quantile, "is", found, "and in the profile from", bucket["lower_seconds"], "to", bucket["upper_seconds"])
sys.exit(not bucket["lower_seconds"] / width <= found <= bucket["upper_seconds"] * width)' "$1" "$2" "$found" >&2 ||
        fail "quantile $1 of $3 is more than a bucket from there"
}
"$OSPROF" save -o two.osprof 1.osprof 2.osprof
"$OSPROF" save -o all.osprof ./?.osprof
"$OSPROF" save -o fine.osprof 4.osprof 5.osprof
for quantile in 0.01 0.25 0.5 0.9 0.99; do
    assert_quantile "$quantile" 2 two.osprof "${mounts[0]}|${mounts[1]}"
    assert_quantile "$quantile" 2 all.osprof ".*"
    assert_quantile "$quantile" 4 fine.osprof "${mounts[3]}|${mounts[4]}"
done
# Number and sum are exact, except for the rate of the clock, which is known better later. A series an operation.
assert_eq 5 "$(query 'count({__name__=~"osprof_op_latency_seconds.*",op="MKDIR"})')" "series of MKDIR in five mounts"
sum=$("$OSPROF" show --metrics --op MKDIR 3.osprof | sed -n 's/^osprof_op_latency_seconds_sum{.*} //p')
query "histogram_sum(osprof_op_latency_seconds{op=\"MKDIR\",mount=\"${mounts[2]}\"})" |
    awk -v sum="$sum" '{ exit !($1 > sum * (1 - 1e-4) && $1 < sum * (1 + 1e-4)) }' || fail "another sum than $sum"

# Rules: each has been evaluated without an error, and has what it should.
make_load 307
have_recorded() {
    make_slow
    query 'sum(op_cause:osprof_slow_busy:rate5m)' && is_answer 5 'count(op:osprof_calls:rate5m{op="MKDIR"})' &&
        query 'job_op:osprof_latency_seconds:p99_5m_median{op="MKDIR"}'
}
wait_until 20 have_recorded || fail "the rules record nothing: $(<prometheus.log)"
count_rules() {
    "$python" -c 'import json, sys, urllib.request
rules = [rule for group in json.load(urllib.request.urlopen(sys.argv[1] + "/rules"))["data"]["groups"] for rule in group["rules"]]
wrong = [rule["name"] + ": " + rule.get("lastError", "") for rule in rules if rule["health"] != "ok"]
print("\n".join(wrong), file=sys.stderr)
print(len(rules))
sys.exit(bool(wrong))' "$api"
}
assert_eq 12 "$(count_rules)" "rules, all of which work"

# The dashboard.
ask_dashboard() {
    "$python" "$tests_dir/ask_dashboard.py" "$api" "$share/osprof-dashboard.json"
}
wait_until 20 ask_dashboard || ask_dashboard >&2 || fail "a query of the dashboard fails"

# Alerts: one that is killed is reported.
kill -KILL "$killed_pid"
wait "$killed_pid" 2>/dev/null || true
wait_until 20 is_answer 1 "count(ALERTS{alertname=\"OsprofMountDown\",mount=\"${mounts[4]}\"})" ||
    fail "nobody hears that a mount is down"
assert_eq 4 "$(query 'sum(osprof_up)')" "mounts that are up"
for number in 1 2 3 4; do
    unmount_osproffs "${mounts[number - 1]}"
done
