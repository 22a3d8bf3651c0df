# shellcheck shell=bash
# What the tests of osprof attach share. Source after lib.sh and helpers.sh, and set fs: the directory that is watched, at
# $scratch/fs if it is mounted there.
# shellcheck disable=SC2154 # variables set by the harness

need_part bpf

watcher=
page=out said=err # where it goes what it prints; expect() has the same
others=()
kill_watchers() {
    local pid
    for pid in $watcher "${others[@]}"; do
        kill -KILL "$pid" 2>/dev/null || true
    done
    ! mountpoint -q "$scratch/fs" || umount -l "$scratch/fs"
}
before_cleanup() { kill_watchers; }

has_begun() {
    grep -qs 'are counted ' "$said" || ! kill -0 "$watcher" 2>/dev/null
}

# watched_by ARGUMENT...: when it counts
watched_by() {
    rm -f "$said" "$page"
    "$OSPROF" attach -o profile "$@" >"$page" 2>"$said" &
    watcher=$!
    wait_until 60 has_begun || fail "it does not begin"
    grep -q 'are counted ' "$said" || {
        grep -Eq 'no tracepoint|vmlinux is missing' "$said" && skip "$(<"$said")"
        fail "not attached: $(<"$said")"
    }
}

# watched [OPTION]...: the same of the directory
watched() {
    watched_by "$fs" "$@"
}

# ended STATUS
ended() {
    local status=0
    wait "$watcher" || status=$?
    watcher=
    assert_eq "$1" "$status" "exit status: $(<"$said")"
    assert_eq "" "$(find "$XDG_RUNTIME_DIR/osprof" -name '*-*.*' 2>/dev/null)" "what is left of it"
}

# counts PROFILE: "OP CALLS" lines, not of groups, and without SYNCFS: sync(2) by anybody on the machine is of this file system too
counts() {
    awk '/^# [a-z]*: / && !/^# (longest|failed|bytes): / && seen { exit }
        /^OP_/ { seen = 1; if ($1 != "OP_SYNCFS") print substr($1, 4), $2 }' "$1" | sort
}

# calls OP PROFILE
calls() {
    counts "$2" | awk -v op="$1" '$1 == op { found = $2 } END { print found + 0 }'
}

# of_group KIND NAME OP: its calls in the groups of that name in the profile: "file /a READ"
of_group() {
    awk -v head="# $1: " -v name="$2" -v op="OP_$3" '
        /^# (process|program|cgroup|file|directory): / {
            is_kind = index($0, head) == 1
            here = substr($0, length(head) + 1)
            if (head ~ /process|file|directory/) sub(/^[0-9]+ /, "", here)
        }
        is_kind && here == name && $1 == op { calls += $2 }
        END { print calls + 0 }' profile
}
