#!/bin/bash
# Nobody may do through the mount what he may not do below it, and whatever works below works through the mount: some
# thousand calls by many identities, in two directories that root has prepared alike, one reached below and one through
# the mount. Each call's result must be the same, and what is below afterwards. In both permission modes, over submounts
# with every flag, also while flags change, and over file systems that lack much.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need_fuse
probe=$TEST_PROGRAMS/permissions
every=${PERMISSIONS_EVERY:-11} # of the calls on files and directories; 1 takes some minutes
image_mib=$((150 + 1000 / every))
image_inodes=$((30000 + 400000 / every))

# Where the mount may differ: scenario, line, reason, all but the last as extended regular expressions. A line is
# "IDENTITY | OBJECT | CALL -> BELOW || THROUGH THE MOUNT". A row that no line needs any more is an error.
exceptions=(
    'nosuid' '-> (.*)10[2467]([0-7]{3} [0-9]+:[0-9]+.*) \|\| \1100\2$'
    'FUSE knows nosuid of whole mounts only: set-id bits of a submount that has it are not shown'
    'nosuid' '-> (.*)10[357]([0-7]{3} [0-9]+:[0-9]+.*) \|\| \1101\2$'
    'the same for sticky files'
    'nosuid' '(xattr capability|listxattr) -> '
    'the same for security.capability'
    'nodev' '\| device-.* -> (.*) [0-9]+:[0-9]+ \|\| \1 0:0$'
    'FUSE knows nodev of whole mounts only: devices of a submount that has it have no numbers'
    'nodev' '\| device-.* (open|creat|access|truncate)[^>]* -> EACCES( .*)? \|\| E[A-Z]+'
    'the same: opening them fails, with another error'
    'noexec' 'mmap PROT_EXEC -> EPERM \|\| OK$'
    'FUSE is not told that memory is to be executed'
)

# ---- Comparing

scenario=
differences=$scratch/differences
lines=0
: >"$differences"

# differing BELOW ABOVE: the lines that differ or are in one file only, as one
differing() {
    awk -v scenario="$scenario" '
        function key() { return substr($0, 1, index($0, " -> ") - 1) }
        function value() { return substr($0, index($0, " -> ") + 4) }
        function show(name, a, b) { print scenario " | " name " -> " a " || " b }
        NR == FNR { below[key()] = value(); next }
        !(key() in below) { show(key(), "(nothing)", value()); next }
        below[key()] != value() { show(key(), below[key()], value()) }
        { delete below[key()] }
        END { for (name in below) show(name, below[name], "(nothing)") }' "$1" "$2"
}

# run_in DIRECTORY LOWER-DIRECTORY IDENTITY OUTPUT
run_in() {
    timeout 120 "$probe" run "$1" "$3" "$every" ${brief:+brief} >"$4" 2>"$4.messages" ||
        fail "permissions run $1 $3 ($scenario): status $?: $(cat "$4.messages")"
    "$probe" manifest "$2" "$3" >>"$4"
}

# compare_in PLACE IDENTITY: PLACE is a directory of $lower, in which two have been prepared
compare_in() {
    run_in "$lower/$1/below.$2" "$lower/$1/below.$2" "$2" "$scratch/below" &
    run_in "$mnt/$1/above.$2" "$lower/$1/above.$2" "$2" "$scratch/above"
    wait "$!" || fail "permissions did not run below the mount"
    differing "$scratch/below" "$scratch/above" >>"$differences"
    lines=$((lines + $(wc -l <"$scratch/below")))
}

# prepare PLACE IDENTITY...
prepare() {
    local identity place=$1
    shift
    for identity; do
        "$probe" prepare "$lower/$place/below.$identity" "$identity" "$every" ${brief:+brief}
        "$probe" prepare "$lower/$place/above.$identity" "$identity" "$every" ${brief:+brief}
    done
}

# compare NAME OPTIONS PLACE IDENTITY...: with a mount of its own, in what has been prepared
compare() {
    local options=$2 place=$3 identity
    scenario=$1
    shift 3
    mount_osproffs -o "$options" "$lower" "$mnt"
    for identity; do
        compare_in "$place" "$identity"
    done
    unmount_osproffs "$mnt"
}

# ---- File systems

# mount_image PLACE OPTIONS: a new file system there, in a file that goes with it
mount_image() {
    local image=$scratch/image
    truncate -s "${image_mib}M" "$image"
    mkfs.ext4 -q -F -b 1024 -N "$image_inodes" -O ^has_journal -E nodiscard "$image" 2>"$scratch/messages" ||
        fail "mkfs.ext4: $(cat "$scratch/messages")"
    mount -o "loop,$2" "$image" "$1" 2>"$scratch/messages" || skip "no loop mount: $(cat "$scratch/messages")"
    rm "$image"
}

# ---- Scenarios

need mkfs.ext4 losetup
modes=(${PERMISSIONS_MODES:-allow_other allow_other,no_default_permissions})
mapfile -t everybody < <("$probe" list)
mapfile -t some < <("$probe" list brief)
brief=

in_both_modes() {
    local options
    for options in "${modes[@]}"; do
        mount_image "$lower" suid,dev
        prepare . "${everybody[@]}"
        compare "plain,$options" "$options" . "${everybody[@]}"
        umount "$lower"
    done
}

# What is read-only must be prepared before.
over_submount() {
    mount_image "$lower/sub" "suid,dev"
    prepare sub "${some[@]}"
    mount -o "remount,$1" "$lower/sub"
    compare "submount:$1,$2" "$2" sub "${some[@]}"
    umount "$lower/sub"
}

over_submounts() {
    local flags options
    brief=1
    mkdir "$lower/sub"
    for flags in suid,dev nosuid nodev noexec ro nosuid,nodev,noexec; do
        for options in "${modes[@]}"; do
            over_submount "$flags" "$options"
        done
    done
    rmdir "$lower/sub"
}

# The same directories again and again: what was allowed, and is cached, must not be any more.
while_flags_change() {
    local flags identity options=$1
    brief=1
    mkdir "$lower/sub"
    mount_image "$lower/sub" "suid,dev"
    prepare sub "${some[@]}"
    mount_osproffs -o "$options" "$lower" "$mnt"
    for flags in suid,dev,exec,rw nosuid,dev,exec,rw suid,nodev,exec,rw suid,dev,noexec,rw suid,dev,exec,ro suid,dev,exec,rw; do
        mount -o "remount,$flags" "$lower/sub"
        scenario=remount:$flags,$options
        sleep 1.1 # for so long the kernel may answer from its caches
        for identity in "${some[@]}"; do
            compare_in sub "$identity"
        done
    done
    unmount_osproffs "$mnt"
    umount "$lower/sub"
    rmdir "$lower/sub"
}

# over_memory TYPE MOUNT-OPTIONS
over_memory() {
    local options
    brief=1
    for options in "${modes[@]}"; do
        mount -t "$1" -o "mode=0755$2" "$1" "$lower"
        prepare . "${some[@]}"
        compare "$1,$options" "$options" . "${some[@]}"
        umount "$lower"
    done
}

# ---- Verdict

# Takes from the differences what the table excepts.
except() {
    local row where line
    for ((row = 0; row < ${#exceptions[@]}; row += 3)); do
        where=${exceptions[row]} line=${exceptions[row + 1]}
        awk -F ' [|] ' -v where="$where" '$1 ~ where' "$differences" | grep -E -- "$line" >"$scratch/excepted" || true
        if [ ! -s "$scratch/excepted" ]; then
            printf 'stale exception: nothing in %s is like %s (%s)\n' "$where" "$line" "${exceptions[row + 2]}" >&2
            stale=$((stale + 1))
        fi
        grep -Fxv -f "$scratch/excepted" "$differences" >"$scratch/rest" || true
        mv "$scratch/rest" "$differences"
    done
}

# Differences that are alike, most frequent first: scenario, call, results without attributes, then where.
grouped() {
    awk -F ' -> ' '
        { split($1, part, " [|] "); call = part[4]; for (i = 5; i in part; i++) call = call "|" part[i]
          results = substr($0, index($0, " -> ") + 4)
          if (part[3] ~ /^[.]/) call = "manifest"
          sub(/-.*/, "", part[3])
          group = part[1] " | " part[3] " | " call " -> " results
          if (!(group in example)) example[group] = $0
          count[group]++; if (index(who[group], part[2]) == 0 && count[group] < 8) who[group] = who[group] " " part[2] }
        END { for (group in count) print count[group] "\t" group "\t[" who[group] " ]" }' "$1" | sort -k1,1nr -k2
}

stale=0
in_both_modes
over_submounts
for options in "${modes[@]}"; do
    while_flags_change "$options"
done
over_memory tmpfs ,size=200m
over_memory ramfs ""
printf '%d lines compared, %d differ' "$lines" "$(wc -l <"$differences")"
cp "$differences" "${PERMISSIONS_DIFFERENCES:-/dev/null}"
except
printf ', %d of them unexpectedly\n' "$(wc -l <"$differences")"
grouped "$differences" | head -n 300 >&2
[ ! -s "$differences" ] || fail "$(wc -l <"$differences") lines differ"
[ "$stale" -eq 0 ] || fail "$stale exceptions are stale"
