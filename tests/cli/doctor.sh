#!/bin/bash
# osprof doctor: which layers work here, and why not others; for root, an ordinary user, and without /dev/fuse or libraries.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"

need_root
need setpriv

# answers: "LAYER yes|no" lines
answers() {
    awk '/^[a-z]/ { print $1, $2 }' out
}

# reason LAYER: the line below it
reason() {
    awk -v layer="$1" 'found { print; exit } $1 == layer { found = 1 }' out | sed 's/^ *//'
}

# diagnose STATUS: in out
diagnose() {
    local wanted=$1 status=0
    shift
    "$@" "$OSPROF" doctor >out 2>err || status=$?
    assert_eq "$wanted" "$status" "exit status: $(<out)"
    assert_eq "" "$(<err)" "messages"
    assert_eq "user syscall fuse daemon fs block causes" "$(awk '/^[a-z]/ { print $1 }' out | xargs)" "layers"
    ! awk 'length > 100' out | grep . || fail "lines are long"
}

libraries=$scratch/libraries
mkdir "$libraries"
touch "$libraries/libosprof_posix.so" "$libraries/libosprof_fuse.so"
export OSPROF_LIBRARIES=$libraries

status=0
"$OSPROF" doctor >out || status=$?
if grep -q 'no$' <(answers); then
    assert_eq 1 "$status" "exit status where some do not work"
else
    assert_eq 0 "$status" "exit status where all work"
fi
answers >of_root
grep -qx 'user yes' of_root || fail "the library is there: $(<out)"

# Where attaching works, so does the layer, and the other way round.
if "$OSPROF" attach -q --for 100ms / 2>err; then
    grep -qx 'syscall yes' of_root || fail "attach works, and doctor says no: $(<out)"
else
    grep -qx 'syscall no' of_root || fail "attach says $(<err), and doctor yes"
fi

provide_programs
diagnose 1 as_user env OSPROF_LIBRARIES="$libraries"
grep -qx 'user yes' <(answers) || fail "a user has no layer user: $(<out)"
assert_eq "syscall no,fuse no,block no,causes no" "$(answers | grep -E '^(syscall|fuse|block|causes) ' | paste -sd ,)" "layers for root"
why="this takes root, or the capabilities CAP_BPF and CAP_PERFMON"
! grep -q 'built without libbpf' out || why="this osprof is built without libbpf"
for layer in syscall fuse block; do
    assert_eq "$why" "$(reason "$layer")" "reason of $layer"
done

rm "$libraries"/*
diagnose 1
assert_eq "user no,daemon no" "$(answers | grep -E '^(user|daemon) ' | paste -sd ,)" "layers without libraries"
assert_eq "libosprof_posix.so is missing; OSPROF_LIBRARIES names the directory where it is" "$(reason user)" \
    "reason of user"

# /dev/fuse that is root's alone
if [ -c /dev/fuse ] && [ "${IN_OWN_NAMESPACE:-}" ]; then
    touch closed
    chmod 000 closed
    mount --bind closed /dev/fuse
    diagnose 1 as_user env OSPROF_LIBRARIES="$libraries"
    assert_eq "fs no" "$(answers | grep '^fs ')" "the layer fs without the right to open /dev/fuse"
    assert_eq "/dev/fuse is not for this user; as root, chmod 666 /dev/fuse" "$(reason fs)" "reason of fs"
    umount /dev/fuse
fi
