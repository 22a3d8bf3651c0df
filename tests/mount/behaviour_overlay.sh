#!/bin/bash
# overlayfs and a mount: over overlayfs, a mount is as what is below; as a lower directory of overlayfs, it is as its own lower
# directory; as the upper one, which Linux allows, it differs in what docs/internals/mounts.md says, and in nothing else.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need setfacl getfacl setfattr getfattr
probe=$TEST_PROGRAMS/posix_probe
topics=$("$probe" --list | grep -v lock) # overlayfs has no part in locks
mkdir "$scratch/tmpfs" "$scratch/changed" "$scratch/empty" "$scratch/merged"
mount -t tmpfs tmpfs "$scratch/tmpfs"
mount -t tmpfs tmpfs "$scratch/changed" # another file system, as the mount is to overlayfs

# overlay LOWER DIRECTORY PLACE: at PLACE, with upper/ and work/ in DIRECTORY, and with overlay_options
overlay() {
    mkdir -p "$2/upper" "$2/work"
    mount -t overlay -o "${overlay_options:-}lowerdir=$1,upperdir=$2/upper,workdir=$2/work" overlay "$3" 2>"$scratch/refused"
}

mkdir "$scratch/tmpfs/tried"
overlay "$scratch/empty" "$scratch/tmpfs/tried" "$scratch/merged" || skip "overlayfs cannot be mounted: $(<"$scratch/refused")"
umount "$scratch/merged"

# run_topics DIRECTORY AS TOPIC...: in a fresh directory. Numbers in listings are not compared: on overlayfs they may be
# others than those of stat.
run_topics() {
    local directory=$1 as=$2
    shift 2
    rm -rf "$directory"
    mkdir "$directory"
    mkdir -m 0777 "${@/#/$directory/}"
    # shellcheck disable=SC2086 # the function as_user, or nothing
    ($as "$probe" "$directory" "$@" 2>&1 || echo "exit status $?") | grep -v '^inode numbers that differ'
}

# ---- A mount over overlayfs

compare_over() { # OPTIONS AS
    mount_osproffs -o "$1" "$lower" "$mnt"
    # shellcheck disable=SC2086 # a list
    run_topics "$lower/direct" "$2" $topics >"$scratch/direct"
    # shellcheck disable=SC2086
    run_topics "$mnt/mounted" "$2" $topics >"$scratch/mounted"
    unmount_osproffs "$mnt"
    diff "$scratch/direct" "$scratch/mounted" >&2 || fail "a mount over overlayfs differs ($1, ${2:-as root})"
}

over_overlayfs() {
    mkdir "$scratch/tmpfs/below"
    overlay "$scratch/empty" "$scratch/tmpfs/below" "$lower" || fail "cannot mount overlayfs"
    compare_over allow_other ""
    compare_over allow_other,no_default_permissions as_user
    umount "$lower"
}

# ---- A mount as lower directory of overlayfs

# change_tree DIR: what makes overlayfs copy what make_tree has made, or hide it
change_tree() (
    cd "$1"
    echo more >>sizes/4097
    chmod 0601 links/hard-too
    mv d/e moved
    mv many/7 empty/seven
    mv sizes/131073 sizes/0
    rm many/1 many/2 fifo links/dangling
    rm -r names
    mkdir names
    echo new >names/new
    ln links/long links/longer
    setfattr -n user.text -v "another value" sizes/1
    setfattr -x user.big many
    setfacl -m u:12345:rwx acls/file
    chown -h 4711 owners/link
    truncate -s 65M holes
    dd if=/dev/zero of=sizes/1048577 bs=1000 seek=77 count=3 conv=notrunc status=none
    touch -d '1969-07-20 20:17:40 UTC' links/hard modes/0711 d
)

# merged_manifest LOWER DIRECTORY: of a tree that is changed in an overlay, as it is found anew
merged_manifest() {
    overlay "$1" "$2" "$scratch/merged" || fail "cannot mount overlayfs over $1: $(<"$scratch/refused")"
    change_tree "$scratch/merged"
    umount "$scratch/merged"
    overlay "$1" "$2" "$scratch/merged"
    changed_times_aside "$scratch/merged"
    umount "$scratch/merged"
}

# Times of the change itself are not compared.
changed_times_aside() {
    tree_manifest "$1" | sed "s/ $(date +%s | cut -c 1-6)[0-9.]* / now /"
}

below_overlayfs() {
    local overlay_options=index=on, # else it does not follow what it has copied up from a file system without UUID
    make_tree "$scratch/tmpfs/tree"
    mkdir "$scratch/changed/direct"
    merged_manifest "$scratch/tmpfs/tree" "$scratch/changed/direct" >"$scratch/direct"
    for options in allow_other allow_other,no_default_permissions; do
        mkdir "$scratch/changed/mounted"
        mount_osproffs -o "$options" "$scratch/tmpfs/tree" "$mnt"
        merged_manifest "$mnt" "$scratch/changed/mounted" >"$scratch/mounted"
        unmount_osproffs "$mnt"
        diff "$scratch/direct" "$scratch/mounted" >&2 || fail "overlayfs over a mount differs ($options)"
        rm -r "$scratch/changed/mounted"
    done
    [ "$(grep -c ' now ' "$scratch/direct")" -lt 50 ] || fail "too many times are not compared"
}

# ---- A mount as upper directory of overlayfs

# What docs/internals/mounts.md says of it, as the topics that show it.
differing=(link tmpfile mmap_attributes set_id set_id_open times)

above_overlayfs() {
    local topic same=()
    for topic in $topics; do
        [[ " ${differing[*]} " == *" $topic "* ]] || same+=("$topic")
    done
    mkdir "$scratch/tmpfs/direct" "$scratch/tmpfs/mounted"
    overlay "$scratch/empty" "$scratch/tmpfs/direct" "$scratch/merged"
    run_topics "$scratch/merged/topics" "" "${same[@]}" >"$scratch/direct"
    umount "$scratch/merged"
    mount_osproffs -o allow_other "$scratch/tmpfs/mounted" "$mnt"
    if overlay "$scratch/empty" "$mnt" "$scratch/merged"; then
        run_topics "$scratch/merged/topics" "" "${same[@]}" >"$scratch/mounted"
        diff "$scratch/direct" "$scratch/mounted" >&2 || fail "overlayfs into a mount differs in what is not said"
        first_name_is_removed
        umount "$scratch/merged"
    else
        grep -q 'wrong fs type\|Invalid argument' "$scratch/refused" || fail "refused otherwise: $(<"$scratch/refused")"
    fi
    unmount_osproffs "$mnt"
}

# overlayfs asks for the name that it knows; once it has forgotten that, the other one is found.
first_name_is_removed() {
    echo text >"$scratch/merged/first"
    ln "$scratch/merged/first" "$scratch/merged/second"
    rm "$scratch/merged/first"
    [ "$(cat "$scratch/merged/second" 2>&1)" = text ] ||
        assert_refused 'Stale file handle' cat "$scratch/merged/second"
    umount "$scratch/merged"
    overlay "$scratch/empty" "$mnt" "$scratch/merged"
    assert_eq text "$(cat "$scratch/merged/second")" "the second name, found anew"
}

over_overlayfs
below_overlayfs
above_overlayfs
umount "$scratch/tmpfs" "$scratch/changed"
