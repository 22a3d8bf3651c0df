#!/bin/bash
# Causes and holders are data: words of one's own, names of programs and of files that look like other causes, like the
# text between functions or like fields of a profile change neither what they are nor who is named.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/causes_lib.sh"
. "$tests_dir/slow_calls.sh"

need_root
before_cleanup() {
    end_started
}

sleep=$(type -P sleep)
cp "$sleep" "$scratch/disk"
cp "$sleep" "$scratch/link circle"
echo 'waiting for * journal: *_sys_flock' >"$scratch/causes"
mount_osproffs -o "flock,allow_other,slow=50ms,causes=$scratch/causes" "$lower" "$mnt"

# hold FILE PROGRAM: it has the file's lock, a call through the mount waits for it
hold() {
    touch "$lower/$1"
    start flock --no-fork "$lower/$1" "$scratch/$2" 600
    holder=$waiter
    wait_until 20 is_locked "$lower/$1" || fail "nobody holds '$1'"
    start flock "$mnt/$1" true
}

hold ' < ' disk
first=$holder
hold 'waiting for the disk: x' 'link circle'
second=$holder

shows() {
    "$OSPROF" why --width 300 "$mnt" >page && tr -s '[:space:]' ' ' <page >words &&
        grep -qF "SETLKW waiting for * journal" words &&
        grep -qF "the flock of $lower/ < , held by disk $first, which is sleeping" words &&
        grep -qF "the flock of $lower/waiting for the disk: x, held by link circle $second, which is sleeping" words
}

wait_until 30 shows || fail "calls in flight: $(cat page)"
end_started
shows || fail "calls that have ended: $(cat page)"
cat "$mnt/.osprof" >profile

# calls: of JSON and of the text, as one
cat >check.py <<'END'
import json, sys
import osprof
profile = osprof.load_recording("profile").layers[0]
document = json.load(open("json"))
first, second, lower = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
names = {first: ("disk", lower + "/ < "), second: ("link circle", lower + "/waiting for the disk: x")}
def check(cause_class, links):
    assert cause_class == "flock", cause_class
    assert len(links) == 2, links
    program, path = names.pop(links[0]["holder_process"])
    assert links[0]["waits_for"] == "flock" and links[0]["relation"] == "held", links
    assert (links[0]["holder_program"], links[0]["object"]) == (program, path), links
    assert links[1]["cause_id"] == "sleeping" and links[1]["cause_class"] == "work", links
kept = dict(names)
for call in document["slow_calls"]:
    if call.get("links"):
        check(call["cause_class"], call["links"])
assert not names, names
names = kept
for call in profile.slow_calls:
    if call.links:
        check(call.cause_class, [vars(link) for link in call.links])
assert not names, names
END
"$OSPROF" show --json profile >json
PYTHONPATH=$tests_dir/../../python python3 check.py "$first" "$second" "$lower" || fail "data: $(cat json)"
unmount_osproffs "$mnt"

# Of a class of one's own nobody is looked for, whatever the words are.
echo 'mine lock: waiting for a lock of a file that another holds (flock): *_sys_flock' >"$scratch/causes"
mount_osproffs -o "flock,allow_other,slow=50ms,causes=$scratch/causes" "$lower" "$mnt"
hold ' < ' disk
is_mine() {
    "$OSPROF" why --json "$mnt" >json && grep -qF '"cause_id": "mine", "cause_class": "lock"' <(tr -s '[:space:]' ' ' <json)
}
wait_until 20 is_mine || fail "the cause in flight: $(cat json)"
nap 300
end_started
"$OSPROF" show --json "$mnt" >json
! grep -q '"links"' json || fail "somebody is named: $(cat json)"
unmount_osproffs "$mnt"

# A class that is none, and an identifier that is none.
printf 'x journal: words: a\n' >"$scratch/causes"
assert_refused "causes=$scratch/causes: line 1: there is no such class of causes; share/osproffs/causes lists them" \
    "$OSPROFFS" -o causes="$scratch/causes" "$lower" "$mnt"
printf 'x: words: a\n' >"$scratch/causes"
assert_refused "causes=$scratch/causes: line 1: expected ID CLASS before the first of two colons, and as ID letters, digits, _, - and ." \
    "$OSPROFFS" -o causes="$scratch/causes" "$lower" "$mnt"
