# shellcheck shell=bash
# What the tests of the layer user share. Source after lib.sh.
# shellcheck disable=SC2154 # variables set by the harness

: "${OSPROF_LIBRARIES:?directory of the preloaded libraries under test}"

# A library with a sanitizer cannot be preloaded into programs without.
if [ "${is_preloaded:-yes}" = no ] || grep -q '__[at]san_init' "$OSPROF_LIBRARIES/libosprof_posix.so"; then
    skip "built with a sanitizer"
fi

# user_run STATUS COMMAND...: in $lower, with the options, which say which files count; the profile is in
# $scratch/profile, the output in $scratch/out
options='-d .'
user_run() {
    local wanted=$1 status=0
    shift
    rm -f "$scratch/profile"
    # shellcheck disable=SC2086 # several
    (cd "$lower" && exec "$OSPROF" run --layers user $options -q -o "$scratch/profile" -- "$@") >"$scratch/out" 2>"$scratch/err" || status=$?
    [ "$status" = "$wanted" ] || {
        cat "$scratch/err" >&2
        fail "exit status $status, not $wanted, of: $*"
    }
}

# not_seen: what the profile says that was not seen, without names
not_seen() {
    "$OSPROF" show --width 1000 "$scratch/profile" | sed -n '/^not_seen  /{s///; s/ ([^()]*)//g; p}'
}

# Prints the profile without its groups.
whole() {
    sed -E '/^# (filesystem|file|directory|program|process): /,$d' "$scratch/profile"
}

# calls OP: how many the profile has
calls() {
    whole | awk -v op="OP_$1" '$1 == op { found = $2 } END { print found + 0 }'
}

# ended OP: how many of them have ended
ended() {
    awk -v op="OP_$1" '/^OP_/ { is_it = $1 == op; next } is_it { for (i = 1; i <= NF; i++) sum += $i } END { print sum + 0 }' < <(whole)
}

# assert_calls OP=NUMBER...: these and no others, and all have ended
assert_calls() {
    local one expected found
    expected=$(printf '%s\n' "$@" | sort)
    found=$(whole | sed -n 's/^OP_\([A-Z_]*\) \([0-9]*\) .*/\1=\2/p' | sort)
    assert_eq "$expected" "$found" "calls"
    for one; do
        assert_eq "${one#*=}" "$(ended "${one%=*}")" "ended calls of ${one%=*}"
    done
}
