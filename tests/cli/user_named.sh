#!/bin/bash
# osprof run: programs and calls that were not seen are named, and how long they ran, on the page and in the profile; a
# mount over their files sees them, as the page says.
. "$(dirname "$0")/lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

calls=$TEST_PROGRAMS/unseen_calls
static=$TEST_PROGRAMS/unseen_calls_static
[ -x "$static" ] || skip "no static C library to link with"
cp "$static" "$scratch/alone"
cp "$static" "$scratch/other"

# named: what the profile says that was not seen; numbers of milliseconds are in $milliseconds, without the word
named() {
    "$OSPROF" show --width 1000 "$scratch/profile" | sed -n 's/^not_seen  //p'
}

# assert_ran LEAST MOST WORDS: the only time that is named is within these ms; WORDS have T in its place
assert_ran() {
    local text ms
    text=$(named)
    ms=$(sed -nE 's/.* ([0-9.]+) (ms|s)\b.*/\1 \2/p' <<<"$text" | awk '{ print int($1 * ($2 == "s" ? 1000 : 1)) }')
    assert_eq "$3" "$(sed -E 's/ [0-9.]+ (ms|s)\b/ T/' <<<"$text")" "what was not seen"
    (( ms >= $1 && ms <= $2 )) || fail "'$ms' ms, not $1 to $2: $text"
}

# ---- Which, and how long. The upper bounds are wide, as the machine may be busy

user_run 0 sh -c "$scratch/alone run 300; true"
assert_ran 300 2000 "1 statically linked program (alone T)"
user_run 0 sh -c "$scratch/alone run 200; $scratch/alone run 200; true"
assert_ran 400 2500 "2 statically linked programs (alone T in 2 runs)"
user_run 0 "$calls" spawn "$scratch/alone" run 300
assert_ran 300 2000 "1 statically linked program (alone T)"
user_run 0 "$scratch/alone" run 300
assert_ran 300 2000 "1 statically linked program (alone T)"
# A program that is seen takes its place: from then on it is not counted.
user_run 0 sh -c "$scratch/alone run 300 $(type -P sleep) 2; true"
assert_ran 300 1900 "1 statically linked program (alone T)"
# The longest comes first. What cannot be executed did not run.
user_run 0 sh -c "$scratch/alone run 1; $scratch/other run 400; true"
[[ $(named) =~ ^"2 statically linked programs (other "[0-9]+" ms, alone"( [0-9.]+ [mu]s| at least [0-9.]+ [mu]s)?")"$ ]] || fail "order: $(named)"
head -c 100 "$static" >"$scratch/broken"
chmod +x "$scratch/broken"
user_run 1 "$calls" run 0 "$scratch/broken"
assert_eq "" "$(named)" "a program that cannot be executed"
# Each run is one, and what warm-ups ran is none.
options="$options --warmup 1 --repeat 3" user_run 0 "$scratch/alone" run 100
assert_ran 300 2000 "3 statically linked programs (alone T in 3 runs)"

# Names are bounded, in number and length, and harmless.
for i in {1..11}; do
    ln -f "$scratch/alone" "$scratch/alone$i"
done
user_run 0 sh -c "for i in 1 2 3 4 5 6 7 8 9 10 11; do $scratch/alone\$i run 20; done"
[[ $(named) =~ ^"11 statically linked programs ("(alone[0-9]*[^,]*", "){7}alone[^,]*" and 3 others)"$ ]] || fail "many names: $(named)"
evil=$scratch/$'a\e[31m\n,b(c) \377\303\244;'
ln "$scratch/alone" "$evil"
user_run 0 "$calls" spawn "$evil" run 300
assert_ran 300 2000 "1 statically linked program (a?[31m??b?c????? T)"
expect 0 show --width 200 "$scratch/profile"
grep -q '^Not measured: 1 statically linked program (a?\[31m??b?c????? ' "$scratch/out" || fail "the page: $(<"$scratch/out")"
long=$scratch/$(printf 'n%.0s' {1..200})
ln "$scratch/alone" "$long"
user_run 0 "$calls" spawn "$long" run 300
assert_ran 300 2000 "1 statically linked program ($(printf 'n%.0s' {1..32}) T)"
user_run 0 "$calls" run 0 "$(type -P true)"
assert_eq "" "$(named)" "a program that is seen"

# More programs than there are names for.
user_run 0 sh -c "i=0; while [ \$i -lt 1031 ]; do i=\$((i + 1)); $scratch/alone; done; true"
[[ $(named) =~ ^"1031 statically linked programs (alone"( at least [0-9.]+ m?s)?" in 1024 runs and 7 others)"$ ]] || fail "more than there is room for: $(named)"

# ---- io_uring

status=0
(cd "$lower" && "$calls" uring) || status=$?
if [ "$status" = 0 ]; then
    user_run 0 sh -c "$calls uring; $calls uring"
    assert_eq "2 programs with io_uring (unseen_calls in 2 runs)" "$(named)" "programs with io_uring"
    assert_eq 0 "$(calls WRITE)" "writes through a ring"
    if have fio; then
        user_run 0 fio --name=a --ioengine=io_uring --rw=write --size=64k --bs=4k --filename=by-fio
        assert_eq "1 program with io_uring (fio)" "$(named)" "fio"
    fi
else
    echo "io_uring is not tried, as the kernel has none" >&2
fi

# ---- Page faults of mapped files, unless the scratch directory is in memory, or too fast

user_run 0 "$calls" mapped 2003
majors=$(sed -n 's/^# page_faults: .* major \([0-9]*\)$/\1/p' "$scratch/profile")
grouped=$(sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<"$majors")
if (( majors > 2000 )); then
    expect 0 show --width 200 "$scratch/profile"
    grep -q "^Not measured: page faults of mapped files ($grouped major in all)$" "$scratch/out" || fail "page faults: $(<"$scratch/out")"
    user_run 0 "$calls" run 300
    expect 0 show "$scratch/profile"
    ! grep -q 'page faults' "$scratch/out" || fail "a program that maps nothing: $(<"$scratch/out")"
else
    echo "page faults of mapped files are not tried, as there were only $majors from storage" >&2
fi

# ---- Only in a directory: what is elsewhere is on the page

mkdir "$lower/empty"
dd if=/dev/zero of="$lower/large" bs=64k count=32 2>/dev/null
of_directory() {
    (cd "$lower" && "$OSPROF" run -d "$1" -q -o "$scratch/profile" -- sh -c 'cat large >copy; sleep 1') >"$scratch/out" 2>&1
    "$OSPROF" show --width 300 "$scratch/profile" | sed -n '/of the bytes/p'
}
[[ $(of_directory empty) == "None of the bytes that programs read and wrote were of files in "*"/empty: 4.00 MiB were of others, pipes, sockets or terminals; without -d all files count" ]] ||
    fail "bytes elsewhere: $(of_directory empty)"
assert_eq "" "$(of_directory .)" "bytes in the directory"

# ---- What helps: a mount sees each of them

[ -e /dev/fuse ] && unshare --mount true 2>/dev/null || exit 0
mounted_writes() {
    rm -f "$lower"/{ran,ringed} "$scratch/profile"
    (cd "$lower" && "$OSPROF" run --layers fs -d . -q -o "$scratch/profile" -- "$@") >"$scratch/out" 2>&1 || fail "with a mount: $* $(<"$scratch/out")"
    calls WRITE
}
assert_eq 7 "$(mounted_writes "$scratch/alone" run 0)" "writes of a static program, with a mount"
assert_eq 7 "$(mounted_writes env -i "$calls" run 0)" "writes of a program without the environment, with a mount"
[ "$status" != 0 ] || assert_eq 1 "$(mounted_writes "$calls" uring)" "writes through a ring, with a mount"
if have prlimit; then
    assert_eq 7 "$(mounted_writes prlimit --data=500000 "$calls" run 0)" "writes of a program that lacks memory, with a mount"
fi
mounted_writes "$calls" mapped 31 >/dev/null
[ "$(calls READ)" -ge 1 ] || fail "reads of a mapped file, with a mount: none"
[ "$(id -u)" = 0 ] || exit 0
# As root these keep their rights there.
chmod 755 "$scratch"
chmod 777 "$lower"
# The advice is about what programs are, not what they are called.
advice() {
    "$OSPROF" show --width 300 "$scratch/profile" | grep 'A mount over their files sees them'
}
ln -f "$scratch/alone" "$scratch/set-id-test"
user_run 0 sh -c "$scratch/set-id-test run 20; true"
[[ $(named) == "1 statically linked program (set-id-test"* ]] || fail "a program called set-id-test: $(named)"
assert_eq "A mount over their files sees them: osprof run --layers fs -d DIR" "$(advice)" "advice on a program called set-id-test"

cp "$calls" "$scratch/set-id"
chown 65534 "$scratch/set-id"
chmod 4755 "$scratch/set-id"
assert_eq 7 "$(mounted_writes "$scratch/set-id" run 0)" "writes of a set-id program, with a mount"
user_run 0 sh -c "$scratch/set-id run 20; true"
[[ $(named) == "1 set-id program (set-id"* ]] || fail "a set-id program: $(named)"
assert_eq "A mount over their files sees them: osprof run --layers fs -d DIR, for set-id programs as root" "$(advice)" "advice on a set-id program"
assert_eq 65534 "$(stat -c %u "$lower/ran")" "owner of its file"
if have setpriv; then
    assert_eq 7 "$(mounted_writes setpriv --reuid 65534 --regid 65534 --clear-groups "$scratch/alone" run 0)" "writes of another user, with a mount"
fi
