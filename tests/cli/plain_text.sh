#!/bin/bash
# A profile is text that can be printed on a terminal, whatever others have called their files and programs; what reads it
# gets the names as they are.
. "$(dirname "$0")/lib.sh"
# shellcheck source=run_lib.sh
. "$(dirname "$0")/run_lib.sh"

[ "$is_preloaded" = yes ] || skip "built with a sanitizer"

# C0, C1, a right-to-left override, marks of direction, a character of no width, a byte order mark, bytes that are not UTF-8.
# shellcheck disable=SC2154 # set by the harness
name=$'a\e[31m\u009b\u202e\u200f\u2066\u200b\ufeff\xff\\b'
cat_here=$scratch/$'cat\u202e\u009b'
cp "$(command -v cat)" "$cat_here"
for i in 1 2 3; do echo "$i"; done >"$lower/$name"

# assert_plain FILE: no character is in it that a terminal obeys or nobody sees, and no byte that is not UTF-8
assert_plain() {
    iconv -f UTF-8 -t UTF-8 "$1" >/dev/null || fail "$1 is not UTF-8"
    ! LC_ALL=C.UTF-8 grep -qP '[\x{0}-\x{9}\x{b}-\x{1f}\x{7f}-\x{9f}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}\x{feff}]' "$1" ||
        fail "a terminal obeys $1: $(cat -v "$1")"
}

expect 0 run -q --layers user --by file+program -o profile -- "$cat_here" "$lower/$name"
assert_plain profile
grep -qF '# file: 0 '"$lower"'/a\033[31m\302\233\342\200\256\342\200\217\342\201\246\342\200\213\357\273\277\377\134b' profile ||
    fail "no file of that name: $(cat -v profile)"
expect 0 run -q --layers user -o labelled -- cat "$lower/$name"
assert_plain labelled
grep -q '^# command: cat .*\\302\\233' labelled || fail "the command: $(grep command labelled)"

# Copies are the same text.
expect 0 save -o merged profile profile
assert_plain merged

# Readers have the names.
python=$(python_with json) || skip "python3 is not installed"
"$OSPROF" show --json profile >profile.json
assert_plain profile.json
NAME="$lower/$name" PROGRAM=${cat_here##*/} PYTHONPATH=$tests_dir/../../python "$python" -c 'if True:
    import json, os, osprof
    profile = osprof.load("profile")
    assert os.environ["NAME"] in [group.name for group in profile.groups_of("file")], profile.groups_of("file")
    assert os.environ["PROGRAM"] in [group.name for group in profile.groups_of("program")], profile.groups_of("program")
    names = [group["name"] for group in json.load(open("profile.json"))["groups"] if group["grouping"] == "file"]
    shown = os.fsencode(os.environ["NAME"]).decode("utf-8", "replace")
    assert shown in names, names' || fail "a reader has other names"
