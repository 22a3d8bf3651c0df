#!/bin/bash
# The views beside the control file: found by name and not listed, one snapshot for each open, read-only for everybody,
# never in the profile, their bounds the same at every open.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

views=(json metrics)

are_found_but_not_listed() {
    local view
    for view in "${views[@]}"; do
        assert_eq "444 $(id -u) $(id -g) regular empty file" "$(stat -c '%a %u %g %F' "$mnt/.osprof.$view")" "$view"
        [ ! -e "$mnt/directory/.osprof.$view" ] || fail "a view below the root"
    done
    assert_eq "directory file" "$(listed "$mnt")" "listed in the root"
    [ ! -e "$mnt/.osprof.csv" ] || fail "a view that nobody promised"
}

# calls_in_json OP FILE
calls_in_json() {
    sed -n "/\"op\": \"$1\"/,/calls/ s/.*\"calls\": \([0-9]*\),/\1/p" "$2"
}

# calls_in_metrics OP FILE
calls_in_metrics() {
    sed -n "s/^osprof_op_latency_seconds_count{.*op=\"$1\"} //p" "$2"
}

# assert_views OP CALLS: what both tell now
assert_views() {
    assert_eq "$2" "$(calls_in_json "$1" "$mnt/.osprof.json")" "$1 in JSON"
    assert_eq "$2" "$(calls_in_metrics "$1" "$mnt/.osprof.metrics")" "$1 in the metrics"
}

show_one_snapshot() {
    local early_json early_metrics
    command_control reset
    known_load "$mnt/directory"
    exec {early_json}<"$mnt/.osprof.json" {early_metrics}<"$mnt/.osprof.metrics"
    assert_views MKDIR 7
    mkdir "$mnt/directory/later"
    assert_views MKDIR 8
    cat <&"$early_json" >early.json
    cat <&"$early_metrics" >early.metrics
    exec {early_json}<&- {early_metrics}<&-
    assert_eq "7 5" "$(calls_in_json MKDIR early.json) $(calls_in_json RMDIR early.json)" "early JSON"
    assert_eq "7 5" "$(calls_in_metrics MKDIR early.metrics) $(calls_in_metrics RMDIR early.metrics)" "early metrics"
    grep -q "^osprof_info{layer=\"fs\",host=\"$(hostname)\",mount=\"$mnt\",lower=\"$lower\",.*} 1$" early.metrics ||
        fail "no info"
    assert_eq "# EOF" "$(tail -n 1 early.metrics)" "the end of the metrics"
    command_control pause
    dd if="$mnt/.osprof.metrics" bs=7 status=none | grep -v elapsed >by-7
    dd if="$mnt/.osprof.metrics" bs=1M status=none | grep -v elapsed >by-1M
    cmp by-7 by-1M || fail "reads of another size show something else"
    command_control resume
    rmdir "$mnt"/directory/*
}

# The mount's own root stays known, however long it takes: asking for it anew would be a call.
are_never_profiled() {
    local view
    remount_osproffs -o "$options,cache=always" "$lower" "$mnt"
    stat "$mnt" >/dev/null
    command_control reset
    for _ in {1..11}; do
        for view in "${views[@]}"; do
            cat "$mnt/.osprof.$view" >/dev/null
            stat "$mnt/.osprof.$view" >/dev/null
            ! test -w "$mnt/.osprof.$view" || is_root
            ! echo reset 2>/dev/null >"$mnt/.osprof.$view" || fail "$view can be written"
        done
    done
    assert_eq "" "$(grep '^OP_' "$mnt/.osprof" || true)" "the views' own traffic"
    remount_osproffs -o "$options" "$lower" "$mnt"
}

# Also to root, whom no mode stops.
refuse_to_be_changed() {
    local view file
    for view in "${views[@]}"; do
        file=$mnt/.osprof.$view
        assert_refused 'Permission denied' bash -c "echo reset >'$file'"
        assert_refused 'Permission denied' bash -c "echo reset >>'$file'"
        assert_refused 'Operation not permitted' rm -f "$file"
        assert_refused 'Operation not permitted' mv "$file" "$mnt/moved"
        assert_refused 'Operation not permitted' mv -T "$mnt/file" "$file"
        assert_refused 'Operation not permitted' ln "$file" "$mnt/linked"
        assert_refused 'Operation not permitted' chmod 0644 "$file"
        assert_refused 'File exists' mkdir "$file"
        assert_refused 'File exists' ln -s x "$file"
        ! is_root || as_user cat "$file" >/dev/null || fail "others may not read $view"
    done
    assert_eq "directory file" "$(listed "$lower")" "below"
}

bounds() {
    sed -n "s/^osprof_op_latency_seconds_bucket{.*op=\"$1\",le=\"\(.*\)\"} .*/\1/p" "$mnt/.osprof.metrics"
}

have_the_same_bounds_each_time() {
    mkdir "$mnt/directory/x"
    bounds MKDIR >known-bounds
    [ "$(wc -l <known-bounds)" -gt 200 ] || fail "$(wc -l <known-bounds) bounds at resolution 8"
    sleep 1.1 # a rate that was measured is measured anew after a second
    for _ in {1..3}; do
        rmdir "$mnt/directory/x"
        mkdir "$mnt/directory/x"
        diff known-bounds <(bounds MKDIR) >&2 || fail "other bounds than before"
        diff known-bounds <(bounds RMDIR) >&2 || fail "other bounds than MKDIR's"
    done
    rmdir "$mnt/directory/x"
}

hide_lower_files() {
    local view
    for view in "${views[@]}"; do
        echo secret >"$lower/.osprof.$view"
    done
    mount_osproffs "$lower" "$mnt"
    for view in "${views[@]}"; do
        ! grep -q secret "$mnt/.osprof.$view" || fail "shows the lower $view"
        grep -q "warning: $lower/.osprof.$view exists and is hidden" "$daemon_log" || fail "no warning of $view"
    done
    assert_eq "directory file" "$(listed "$mnt")" "listed with lower files of their names"
    unmount_osproffs "$mnt"
    mount_osproffs -o control=.profile "$lower" "$mnt"
    for view in "${views[@]}"; do
        assert_eq secret "$(cat "$mnt/.osprof.$view")" "$view under another name"
    done
    known_load "$mnt/directory"
    assert_eq 7 "$(calls_in_json MKDIR "$mnt/.profile.json")" "JSON of another name"
    assert_eq 7 "$(calls_in_metrics MKDIR "$mnt/.profile.metrics")" "metrics of another name"
    unmount_osproffs "$mnt"
}

mkdir "$lower/directory"
echo text >"$lower/file"
options=resolution=8
! is_root || options=$options,allow_other
mount_osproffs -o "$options" "$lower" "$mnt"
are_found_but_not_listed
show_one_snapshot
are_never_profiled
refuse_to_be_changed
have_the_same_bounds_each_time
unmount_osproffs "$mnt"
hide_lower_files
