# shellcheck shell=bash
# What the tests of the layers fuse and block of osprof run share. Source after lib.sh and helpers.sh.
# shellcheck disable=SC2154 # variables set by the harness

# need_tracepoints TRACEPOINT...: skips the test where bpftrace cannot trace them, such as fuse/fuse_request_send
need_tracepoints() {
    need_root
    need bpftrace unshare csplit
    unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"
    # shellcheck disable=SC2016 # for the shell inside
    unshare --mount --propagation private sh -c 'mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null; cd /sys/kernel/tracing/events && ls -d "$@"' \
        sh "$@" >/dev/null 2>&1 || skip "this kernel has no tracepoints, or not all of $*"
    trace_briefly >"$scratch/tried" 2>&1 || skip "bpftrace cannot trace here: $(tail -n 1 "$scratch/tried")"
}

trace_briefly() {
    # shellcheck disable=SC2016 # for the shell inside
    unshare --mount --propagation private sh -c 'mount -t tracefs tracefs /sys/kernel/tracing; exec "$@"' \
        sh timeout 60 bpftrace -e 'BEGIN { exit(); }'
}

# split_layers RECORDING: its profiles, as layer.user, layer.fuse and so on
split_layers() {
    local part
    rm -f layer.*
    csplit -s -f part. "$1" '/^# osprof /' '{*}'
    rm part.00
    for part in part.*; do
        mv "$part" "layer.$(sed -n 's/^# layer: //p' "$part")"
    done
}

# layer_calls LAYER: "OP CALLS" lines, not of groups
layer_calls() {
    awk '/^# [a-z]*: / && !/^# (layer|longest|failed|bytes): / && seen { exit } /^OP_/ { seen = 1; print substr($1, 4), $2 }' "layer.$1" | sort
}

# layer_total OP LAYER: ns
layer_total() {
    awk -v op="OP_$1" '/^# clock: / { hz = $4 } $1 == op { print int($3 * 1e9 / hz); exit }' "layer.$2"
}

# assert_nested OP OUTER INNER: the outer layer's calls took longer in total. Their clocks differ by 1/1000 at most.
assert_nested() {
    local outer inner
    outer=$(layer_total "$1" "$2")
    inner=$(layer_total "$1" "$3")
    [ $((outer + outer / 1000)) -ge "$inner" ] || fail "$1 took $outer ns at layer $2, but $inner at $3"
}

# own_bpftraces: those that trace for an osprof of this test, which is an ancestor or was
own_bpftraces() {
    local pid
    for pid in $(pgrep -x bpftrace || true); do
        ! tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qxF "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" || echo "$pid"
    done
}

no_bpftraces() {
    [ -z "$(own_bpftraces)" ]
}

# make_bpftrace DIRECTORY: a bpftrace in there that traces nothing, and in the end prints $PRINTED. The arguments of the script
# are in $scratch/arguments.
make_bpftrace() {
    cat >"$1/bpftrace" <<END
#!/bin/sh
while [ "\$1" != -o ]; do
    shift
done
output=\$2
shift 5 # -o OUTPUT -c COMMAND SCRIPT
echo "\$*" >"$scratch/arguments"
exec 3<&0
trap 'kill \$!; echo "\$PRINTED" >"\$output"; exit 0' INT
cat <&3 &
wait
END
    chmod +x "$1/bpftrace"
}
