#!/bin/bash
# What programs, files, control groups and disks are called changes no sentence and no advice: the page of a profile with such
# names is that of one with plain names, except for the names themselves.
. "$(dirname "$0")/lib.sh"

# named_profile PROGRAM FILE CGROUP: a profile in which they did everything, and the program was not seen either
named_profile() {
    printf '%s\n' '# osprof 1' '# layer: user' '# clock: tsc 1000000000 Hz' '# resolution: 1' "# disk: $1" "# disk_place: $2" \
        "# disk_other: $1" '# disk_other_process: 4711' '# elapsed: 1000000000' '# busy: 800 looks 1000 most 1' '# busy_ops: FSYNC 800' '# not_seen: static 2 go 1' \
        "# unseen_program: static runs 1 least 1200000000 most 1200000000 name $1" '# not_told: of_machine 37 failed 2' \
        '# disk_bytes: written 318767104 own 4194304' '# disk_time: busy 93 watched 100' '# disk_other_bytes: 314572800' \
        'OP_FSYNC 400 800000000' ' 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 400'
    for group in "program: $1" "file: 0 $2" "cgroup: $3"; do
        printf '%s\n' "# $group" 'OP_FSYNC 400 800000000' ' 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 400'
    done
}

# sentences: those of the page, and its advice, with N for each name as it is shown there
sentences() {
    local name
    local -a names=()
    "$OSPROF" show --width 300 - >page || fail "not shown"
    for name; do
        names+=(-e "s/${name//\//\\/}/N/g")
    done
    sed '/^$/,$d' page | sed "${names[@]}"
    sed -n 's/^next .*# /next N # /p' page
}

named_profile plain /srv/plain /slice/plain | sentences /srv/plain plain >expected
for what in "Not measured: 2 statically linked programs (N 1.20 s and 1 other), 1 program of Go; 37 calls by name" "Meanwhile 304 MiB" "A mount over their files sees them: osprof run --layers fs -d DIR$" "FSYNC by N on N: 400 calls"; do
    grep -q "^$what" expected || fail "no sentence '$what': $(<page)"
done
for name in io_uring-cp set-id-test 'foreign' 'waiting.for.the.disk' '...'; do
    named_profile "$name" "/srv/$name" "/slice/$name" | sentences "/srv/${name//./\\.}" "${name//./\\.}" >found
    diff expected found >&2 || fail "names that say $name change what is said"
done
# Those that would end a sentence, or a line, or move the cursor
named_profile 'x), 5 set-id (y;\033[1m' '/srv/x), 5\012Not measured: (y;' '/slice/\012not_seen: set_id 9' |
    sentences '/srv/x), 5?Not measured: (y;' 'x???5?set-id??y??\[1m' 'x), 5 set-id (y;?\[1m' >found
diff expected found >&2 || fail "names that would end a sentence change what is said"
