#!/bin/bash
# A real Prometheus scrapes a mount, and tells the counts and quantiles that the profile tells.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
# shellcheck source=prometheus_lib.sh
. "$tests_dir/prometheus_lib.sh"

# has_scraped CALLS: it knows of so many MKDIRs
has_scraped() {
    [ "$(query 'osprof_op_latency_seconds_count{op="MKDIR"}')" = "$1" ]
}

# assert_quantile QUANTILE: it lies in the bucket that the profile, as CSV, has there
assert_quantile() {
    local found
    found=$(query "histogram_quantile($1, osprof_op_latency_seconds_bucket{op=\"MKDIR\",mount=\"$mnt\"})")
    "$OSPROF" show --csv --op MKDIR profile | awk -F, -v quantile="$1" -v found="$found" '
        NR > 1 { lower[NR] = $5; upper[NR] = $6; count[NR] = $7; total += $7 }
        END {
            for (row = 2; (seen += count[row]) < quantile * total; row++);
            printf "quantile %s: %s, expected %s to %s\n", quantile, found, lower[row], upper[row]
            exit !(found >= lower[row] * (1 - 1e-9) && found <= upper[row] * (1 + 1e-9))
        }' >&2 || fail "not in its bucket"
}

mkdir "$lower/directory"
mount_osproffs -o resolution=2 "$lower" "$mnt"
mkdir "$mnt/directory"/{1..211}
rmdir "$mnt/directory/211"
serve_metrics "$mnt"
printf 'global: {scrape_interval: 500ms, scrape_timeout: 500ms}\nscrape_configs:\n' >prometheus.yml
printf -- '- {job_name: osprof, static_configs: [{targets: ["%s"]}]}\n' "$scraped" >>prometheus.yml
# shellcheck disable=SC2119
start_prometheus
wait_until 20 has_scraped 211 || fail "Prometheus has not scraped 211 MKDIRs: $(<prometheus.log)"
cat "$mnt/.osprof" >profile # no MKDIR since then

assert_eq 1 "$(query 'up{job="osprof"}')" "up"
assert_eq 1 "$(query "osprof_up{mount=\"$mnt\"}")" "osprof_up"
assert_eq 1 "$(query 'osprof_op_latency_seconds_count{op="RMDIR"}')" "RMDIR"
assert_eq 211 "$(query 'osprof_op_latency_seconds_bucket{op="MKDIR",le="+Inf"}')" "MKDIR up to any latency"
assert_eq 0 "$(query 'osprof_op_calls_in_flight{op="MKDIR"}')" "MKDIR in flight"
assert_eq 1 "$(query "osprof_info{mount=\"$mnt\",lower=\"$lower\",resolution=\"2\"}")" "info"
for quantile in 0.01 0.5 0.9 0.99; do
    assert_quantile "$quantile"
done

# The same series go on: none ends, none is new.
series=$(query 'count(osprof_op_latency_seconds_bucket{op="MKDIR"})')
mkdir "$mnt/directory/211"
wait_until 20 has_scraped 212 || fail "Prometheus has not scraped the 212th MKDIR: $(<prometheus.log)"
assert_eq "$series" "$(query 'count(osprof_op_latency_seconds_bucket{op="MKDIR"})')" "series of MKDIR"
assert_eq "$series" "$(query 'count(count_over_time(osprof_op_latency_seconds_bucket{op="MKDIR"}[1m]) >= 2)')" \
    "series of MKDIR with two samples"
unmount_osproffs "$mnt"
