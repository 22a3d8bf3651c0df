#!/bin/bash
# osprof run answers on one screen: 20 lines of 80 columns, whatever there is to say; what gives way, and what does not.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=run_lib.sh
. "$(dirname "$0")/run_lib.sh"

[ "$is_preloaded" = yes ] || skip "built with a sanitizer"

# shellcheck disable=SC2154 # set by the harness
cd "$scratch"
export COLUMNS=80

# on_one_screen WHAT: err has a page, no longer than a screen
on_one_screen() {
    [ "$(wc -l <err)" -le 20 ] || fail "$1 takes $(wc -l <err) lines: $(<err)"
    [ "$(wc -L <err)" -le 80 ] || fail "$1 takes $(wc -L <err) columns: $(<err)"
    grep -q ' elapsed' err || fail "no page of $1: $(<err)"
}

# has_groupings GROUPING...: those that were asked for do not give way
has_groupings() {
    local grouping
    for grouping in "$@"; do
        grep -q "^$grouping " err || fail "no line of $grouping: $(<err)"
    done
}

# Many failures of many kinds, on many files with long names in many directories, by many programs and processes.
deep=$lower/$(printf 'a-long-name-of-a-directory-%d/' 1 2 3 4)
mkdir -p "$deep"
for number in 1 2 3 4 5 6 7 8; do
    cp "$(type -P cat)" "program-$number"
    mkdir -p "$deep/directory-$number"
    head -c 300000 /dev/zero >"$deep/directory-$number/a-long-name-of-a-file-$number"
done
cat >load.sh <<'END'
for number in 1 2 3 4 5 6 7 8; do
    ./program-$number "$1/directory-$number"/* "$1/none" "$1/directory-$number/a-long-name-of-a-file-$number/x" >/dev/null
    cp "$1/directory-$number"/* "$1/copy" && rm "$1/copy"
    mkdir "$1" 2>/dev/null; rmdir "$1" 2>/dev/null; rm "$1/none" 2>/dev/null; ln -s x "$1/link"; readlink "$1/none"; rm "$1/link"
    cat "$1" "$1/directory-$number" >/dev/null
done 2>/dev/null
[ ! -x /sbin/ldconfig ] || /sbin/ldconfig -p >/dev/null
exit 3
END
expect 3 run -- sh load.sh "$deep"
on_one_screen "a run without a mount"
for key in 'spent in' '^file \|^directory below ' '^program ' '^failed ' '^next '; do
    grep -q "$key" err || fail "nothing of '$key' on the screen: $(<err)"
done
! grep -q '^operation \|^clock ' err || fail "a table or a heading on the screen: $(<err)"
if [ -x /sbin/ldconfig ] && ! readelf -l /sbin/ldconfig | grep -q INTERP; then
    grep -q '^Not measured: ' err || fail "not told what was not seen: $(<err)"
fi
expect 3 run --by process+program+file+directory -- sh load.sh "$deep"
on_one_screen "a run with all groups"
has_groupings process program file directory
# What gave way is in what is kept.
expect 0 show
grep -q '^directory ' out || fail "show lacks something: $(<out)"
grep -q '^operation ' out || fail "show lacks something: $(<out)"
expect 3 run -v -- sh load.sh "$deep"
grep -q '^operation ' err || fail "no table with -v: $(<err)"
grep -q '^clock ' err || fail "no table with -v: $(<err)"
expect 3 run --charts -- sh load.sh "$deep"
grep -q '[│└]' err || fail "no charts: $(<err)"
! grep -q '^clock ' err || fail "charts bring a heading: $(<err)"
expect 3 run --repeat 2 -- sh load.sh "$deep"
on_one_screen "two runs"
# With little to say there is no more.
expect 0 run -- true
on_one_screen "nothing"

# Runs that are compared
expect 0 run --repeat 3 --vs 'cat load.sh' -- cat load.sh load.sh
! grep -q 'all runs' err || fail "charts that nobody asked for: $(<err)"
expect 0 run --repeat 3 --charts --vs "cat load.sh" -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do cat load.sh; done'
! grep -q ' slower$' err || grep -q 'all runs' err || fail "no charts: $(<err)"

# With mounts
if [ -w /dev/fuse ] && unshare --mount true 2>/dev/null; then
    expect 3 run --layers fs --by process+program+file+directory+uid+cgroup -d "$lower" -- sh load.sh "$deep"
    on_one_screen "a run with a mount"
    has_groupings process program file directory user cgroup
    expect 3 run --layers user,fs -d "$lower" -- sh load.sh "$deep"
    on_one_screen "two layers"
    grep -qE '^[0-9.]+ m?s elapsed; libc took [0-9.]+ [mµ]?s in [0-9,]+ calls, lower ' err || fail "no sum of layers: $(<err)"
    grep -qE '^[A-Z]+: .*% of [0-9.]+ ' err || fail "no sentence on two layers: $(<err)"
    mkdir d-1 d-2 d-3 d-4 d-5
    cp load.sh d-4
    for count in 2 3 4 5; do
        directories=()
        for number in $(seq "$count"); do
            directories+=(-d "d-$number")
        done
        for layers in fs user,fs; do
            # shellcheck disable=SC2016 # for the shell below
            expect 0 run --layers $layers "${directories[@]}" -- sh -c 'for i in 1 2 3 4 5; do cp load.sh d-$i/x; cat d-$i/x; cat d-$i/none; done; exit 0' >/dev/null
            sed -i '/^cat: /d; /^cp: /d' err
            on_one_screen "$count directories at the layers $layers"
        done
        for number in 1 2; do
            grep -q "d-$number" err || fail "nothing of d-$number: $(<err)"
        done
        case $count in
        [23]) ! grep -q ' more director' err || fail "more directories than there are: $(<err)" ;;
        4) grep -qx "osprof: 1 more directory: 'osprof show @1.4'" err || fail "not told of the fourth: $(<err)" ;;
        5) grep -qx "osprof: 2 more directories: 'osprof show @1.4' and so on" err || fail "not told of others: $(<err)" ;;
        esac
    done
    expect 0 show @1.4
fi
assert_nothing_left
