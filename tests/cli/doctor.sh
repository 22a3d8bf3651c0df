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

# diagnose STATUS: in out, a line for each text
diagnose() {
    local wanted=$1 status=0
    shift
    "$@" "$OSPROF" doctor --width 1000 >out 2>err || status=$?
    assert_eq "$wanted" "$status" "exit status: $(<out)"
    assert_eq "" "$(<err)" "messages"
    assert_eq "user syscall fuse daemon fs block causes waits locks btf bpf perfmon lockdown cgroup io_uring faults" \
        "$(awk '/^[a-z]/ { print $1 }' out | xargs)" "rows"
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
status_of_root=$status
grep -qx 'user yes' of_root || fail "the library is there: $(<out)"

# Texts go on in their column, as wide as is asked for.
one_line() {
    tr -s ' \n' ' ' <"$1"
}
for width in 40 80 1000; do
    "$OSPROF" doctor --width "$width" >wide || [ $? = "$status" ] || fail "another exit status: $(<wide)"
    [ "$(wc -L <wide)" -le "$width" ] || fail "lines of more than $width columns: $(<wide)"
    assert_eq "$(one_line out)" "$(one_line wide)" "the words in $width columns"
done
assert_eq "$((18 + $(grep -c 'no$' of_root || true)))" "$(wc -l <wide)" "lines where all texts have room: $(<wide)"
expect "$status_of_root" doctor -q
[ ! -s out ] || fail "prints something in spite of --quiet"
expect "$status_of_root" doctor --json
python3 - of_root <<'END' || fail "JSON is not what the page says: $(<out)"
import json, sys
said = json.load(open("out"))
rows = said["ways"] + said["needs_of_attach"]
assert [[row["name"], "yes" if row["works"] else "no"] for row in rows] == [line.split() for line in open("of_root")], rows
assert all(("why" in row) != row["works"] for row in rows), rows
END
if python=$(python_with jsonschema); then
    "$python" "$tests_dir/../cli/validate.py" "$data/../../docs/lists.schema.json" out || fail "not by the schema"
fi
expect_trouble "osprof doctor: --json does not go with --calibrate, which keeps its file for people and programs; see 'osprof help doctor'" \
    doctor --calibrate --json

# Where attaching works, so does the layer, and the other way round.
if "$OSPROF" attach -q --for 100ms / 2>err; then
    grep -qx 'syscall yes' of_root || fail "attach works, and doctor says no: $(<out)"
else
    grep -qx 'syscall no' of_root || fail "attach says $(<err), and doctor yes"
fi

# So for waits and locks.
for row in "waits -a" "locks -a --locks"; do
    read -r layer arguments <<<"$row"
    # shellcheck disable=SC2086 # words
    if "$OSPROF" why $arguments --for 100ms >out 2>err; then
        grep -qx "$layer yes" of_root || fail "osprof why $arguments works, and doctor says no: $(<of_root)"
    else
        grep -qx "$layer no" of_root || fail "osprof why $arguments says $(<err), and doctor yes"
    fi
done
if grep -qx 'waits yes' of_root && unshare --pid --fork --mount-proc true 2>/dev/null; then
    diagnose 1 unshare --pid --fork --mount-proc
    assert_eq "no: osprof must run outside of this PID namespace, where processes have other numbers" \
        "$(answers | sed -n 's/^waits //p'): $(reason waits)" "waits in a PID namespace"
    assert_eq no "$(answers | sed -n 's/^locks //p')" "locks in a PID namespace"
    assert_eq yes "$(answers | sed -n 's/^syscall //p')" "calls in a PID namespace"
fi

provide_programs
diagnose 1 as_user env OSPROF_LIBRARIES="$libraries"
grep -qx 'user yes' <(answers) || fail "a user has no layer user: $(<out)"
assert_eq "syscall no,fuse no,block no,causes no,waits no,locks no" \
    "$(answers | grep -E '^(syscall|fuse|block|causes|waits|locks) ' | paste -sd ,)" "layers for root"
why="this takes root, or the capabilities CAP_BPF and CAP_PERFMON"
! is_without bpf || why="this osprof is built without libbpf (Debian: libbpf-dev clang bpftool)"
for layer in syscall fuse block waits locks; do
    assert_eq "$why" "$(reason "$layer")" "reason of $layer"
done

# ---- What attach needs

# verdict ROW
verdict() {
    answers | sed -n "s/^$1 //p"
}

lacking="this user lacks it; sudo, or setcap cap_bpf,cap_perfmon+ep for a copy of osprof"
for capability in bpf perfmon; do
    assert_eq "no: $lacking" "$(verdict "$capability"): $(reason "$capability")" "the capability $capability of a user"
done
assert_eq "yes yes" "$(sed -n 's/^\(bpf\|perfmon\) //p' of_root | xargs)" "capabilities of root"
if unshare --user --map-root-user true 2>/dev/null; then
    diagnose 1 unshare --user --map-root-user
    why="it has no effect in a user namespace, such as a container's; start osprof outside"
    assert_eq "no: $why" "$(verdict bpf): $(reason bpf)" "capabilities of root in a user namespace"
    if ! is_without bpf; then
        why="capabilities have no effect in a user namespace; start osprof outside of it"
        assert_eq "no: $why" "$(verdict syscall): $(reason syscall)" "the layer syscall in a user namespace"
        assert_refused "cannot watch $scratch: $why" unshare --user --map-root-user "$OSPROF" attach --for 100ms "$scratch"
    fi
fi
one="setpriv --bounding-set -all,+bpf"
# shellcheck disable=SC2086 # words
if $one true 2>/dev/null; then
    diagnose 1 $one
    assert_eq "yes no" "$(verdict bpf) $(verdict perfmon)" "capabilities of root that has CAP_BPF alone"
fi

if [ "${IN_OWN_NAMESPACE:-}" ] && [ -d /sys/kernel/security ] && [ -d /sys/kernel/btf ]; then
    mount -t tmpfs tmpfs /sys/kernel/security
    echo 'none [integrity] confidentiality' >/sys/kernel/security/lockdown
    diagnose "$status_of_root"
    assert_eq "yes" "$(verdict lockdown)" "with lockdown=integrity"
    echo 'none integrity [confidentiality]' >/sys/kernel/security/lockdown
    diagnose 1
    assert_eq "no: /sys/kernel/security/lockdown is confidentiality; lockdown=integrity at boot lets it" \
        "$(verdict lockdown): $(reason lockdown)" "with lockdown=confidentiality"
    if ! is_without bpf; then
        why="the kernel is locked down (confidentiality); lockdown=integrity at boot lets it"
        assert_eq "no: $why" "$(verdict syscall): $(reason syscall)" "the layer syscall with lockdown=confidentiality"
        assert_refused "cannot watch $scratch: $why" "$OSPROF" attach --for 100ms "$scratch"
    fi
    umount /sys/kernel/security

    mkdir empty
    mount --bind empty /sys/kernel/btf
    diagnose 1
    umount /sys/kernel/btf
    missing="/sys/kernel/btf/vmlinux is missing; a kernel with CONFIG_DEBUG_INFO_BTF has it"
    assert_eq "no" "$(verdict syscall)" "the layer syscall of a kernel without types"
    if ! is_without bpf; then
        assert_eq "no: $missing" "$(verdict btf): $(reason btf)" "a kernel without types"
        assert_eq "no: $missing" "$(verdict io_uring): $(reason io_uring)" "io_uring of a kernel without types"
        assert_eq "no: $missing" "$(verdict faults): $(reason faults)" "page faults of a kernel without types"
    fi

    if [ -e /sys/kernel/btf/vmlinux ] && ! is_without bpf; then
        head -c 1000 /sys/kernel/btf/vmlinux >part-of-types
        damaged="/sys/kernel/btf/vmlinux (BTF) is empty or damaged; is something else mounted there?"
        for types in /dev/null part-of-types; do
            mount --bind "$types" /sys/kernel/btf/vmlinux
            diagnose 1
            for row in btf syscall waits block io_uring faults; do
                assert_eq "no: $damaged" "$(verdict "$row"): $(reason "$row")" "$row where $types is in the place of the types"
            done
            assert_refused "cannot watch $scratch: $damaged" "$OSPROF" attach --for 100ms "$scratch"
            assert_refused "$damaged" "$OSPROF" why -a --for 100ms
            umount /sys/kernel/btf/vmlinux
        done
    fi

    # unmount_all TYPE: here alone
    unmount_all() {
        awk -v type="$1" '$3 == type { print $2 }' /proc/self/mounts | tac | xargs -r umount -l
    }
    has_older=$(awk '$3 == "cgroup"' /proc/self/mounts)
    unmount_all cgroup2
    if [ "$has_older" ]; then
        diagnose 1
        assert_eq "no: they are of version 1 here; systemd.unified_cgroup_hierarchy=1 at boot makes that 2" \
            "$(verdict cgroup): $(reason cgroup)" "control groups of version 1"
        unmount_all cgroup
    fi
    diagnose 1
    assert_eq "no: none are mounted; as root, mount -t cgroup2 none /sys/fs/cgroup" \
        "$(verdict cgroup): $(reason cgroup)" "without control groups"
    mount -t cgroup2 none /sys/fs/cgroup
    "$OSPROF" doctor >out || true
    assert_eq "yes" "$(verdict cgroup)" "after what is said would help"
    umount /sys/fs/cgroup
fi

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
