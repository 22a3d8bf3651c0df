# shellcheck shell=bash
# What the tests of the layers fuse and block of osprof run share. Source after lib.sh and helpers.sh.
# shellcheck disable=SC2154 # variables set by the harness

# need_counting LAYER DIRECTORY: skips the test where the kernel does not count the layer, fuse or block
need_counting() {
    need_root
    need csplit
    local layers=$1
    [ "$1" != fuse ] || layers=fuse,fs
    "$OSPROF" run --layers "$layers" -d "$2" -q -- true 2>"$scratch/tried" || true
    ! grep -q 'not profiled' "$scratch/tried" || skip "$(<"$scratch/tried")"
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
