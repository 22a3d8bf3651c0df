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
every=${PERMISSIONS_EVERY:-23} # of all calls on all objects only one in so many; 1 takes some minutes
image_mib=$((150 + 1000 / every))
[ -z "${ASAN_OPTIONS:-}" ] || image_mib=$((4 * image_mib)) # programs are larger then
image_inodes=$((30000 + 400000 / every))

# Where the mount may differ: scenario, line, reason, all but the last as extended regular expressions. A line is
# "IDENTITY | OBJECT | CALL -> BELOW || THROUGH THE MOUNT". A row that no line needs any more is an error.
exceptions=(
    nosuid '[^W] -> (.*)10[2467]([0-7]{3} [0-9]+:[0-9]+.*) \|\| \1100\2$'
    'FUSE knows nosuid of whole mounts only: set-id bits of files are not shown where a submount has it'
    nosuid '\| getxattr capability -> OK .* \|\| ENODATA$'
    'the same for security.capability'
    nosuid '[^W] -> (.*)10[67]([0-7]{3} [0-9]+:[0-9]+.*) \|\| \1102\2$'
    'the same for set-uid bits beside set-gid ones without x, which mark files for locking'
    nodev '\| (device|directory)-[^|]* \| .* -> (.*) [0-9]+:[0-9]+ \|\| \2 0:0$'
    'FUSE knows nodev of whole mounts only: devices have no numbers where a submount has it'
    nodev '\| device-[^|]* \| (open|mmap)[^>]* -> EACCES.* \|\| E[A-Z]+'
    'the same: so the kernel refuses to open them, with an error of its own'
    noexec '\| mmap PROT_EXEC -> EPERM \|\| OK$'
    'FUSE does not tell that memory is to be executed'
    noexec.*/default '\| access X_OK.* -> EACCES \|\| OK$'
    'with default_permissions the kernel answers access(2) by the mode alone'
    '[/,]ro/default' '\| access .* -> EROFS \|\| (OK|EACCES)$'
    'the same for W_OK'
    '[/,]ro/' ' -> EROFS.* \|\| E(ACCES|PERM|NOENT|EXIST|ISDIR)'
    'refused either way, but the kernel looks at names, kinds and modes before anybody asks whether it is read-only'
    '/default' '\| [^|]*-immutable \| access .* -> EPERM \|\| (OK|EACCES)$'
    'with default_permissions the kernel answers access(2), and FUSE does not tell it of immutable files'
    '' '\| [^|]*-(append|immutable) \| .* -> EPERM.* \|\| EACCES'
    'the same: it has judged by mode before'
    '' '\| unlink( directory/)? -> E(PERM|ACCES).* \|\| EISDIR'
    'the kernel knows that it is a directory before anybody else is asked'
    '/no_default' '\| (fifo|socket)-[^|]* \| .* \|\| (OK \| |)EACCES'
    'the kernel opens these without asking, so only who may read and write them finds them'
    '/no_default' '\./(moved )?(fifo|socket)-[^|]*\| BELOW -> '
    'the same: what could not be done with them'
    '/no_default_permissions$' '\| device-[^|]* \| (open O_|mmap)[^>]* -> .* \|\| EACCES( to open)?( |$)'
    'the mount is nodev there, so that the kernel does not open devices: nobody can'
    '/no_default_permissions,dev$' '\| device-[^|]* \| .* \|\| (OK \| |)EACCES'
    'with dev the kernel opens devices without asking, so only who may read and write them finds them'
    '/no_default_permissions,dev$' '\./(moved )?device-[^|]*\| BELOW -> '
    'the same: what could not be done with them'
    '/no_default' '\| directory[^|]* \| orphan O_PATH fifo/ -> .* \|\| EACCES'
    'the same'
    '/no_default' '\./directory[^|]*\| BELOW -> \(nothing\) \|\| 010'
    'the same: it is left'
    '/no_default' '\| fsuid \| .*BELOW -> .*security.capability.* \|\| '
    'the kernel takes a capability away before it is known that the owner may not be changed, here by who may do that too'
    '/no_default' '\| \+dac_[^|]*\| [^|]* \| access .* -> EACCES.* \|\| OK'
    'access(2) counts no capabilities of who is not really root, and FUSE does not tell it from chdir(2), which does'
    '/no_default' '\| (owner|root)-in-namespace[^|]*\| .* -> .* \|\| .*E(ACCES|PERM)'
    'capabilities of another user namespace count where the kernel checks'
    '/no_default' '\| (owner|root)-in-namespace[^|]*\| \..* \| BELOW -> '
    'the same: what could not be done'
    '/default' '\| root-in-namespace-of-all \| [^|]* \| (flags|setxattr|removexattr) [^|]* -> OK.* \|\| EPERM'
    'the kernel leaves it to the file system to check flags and ACLs'
    '' '\| (owner|root)-in-namespace[^|]*\| [^|]* \| (creat|open|mkdir|mknod|symlink|link|rename|unlink|rmdir|bind|orphan|access|setxattr|removexattr)[^>]* -> OK.* \|\| .*E(ACCES|PERM|NOENT)'
    'capabilities of another user namespace do not count where names are made, since what the kernel knows may be old'
    '' '\| (owner|root)-in-namespace[^|]*\| \..* \| BELOW -> '
    'the same: what could not be done'
    '' '\| root-in-namespace-of-all \| .* 10[26]([0-7]{3}.*) \|\| .* 100\1$'
    'writing through FUSE takes set-id bits away unless one has CAP_FSETID in the first user namespace'
    '' '\| [^|]* \| orphan O_PATH/ -> OK then stat OK.* \|\| OK then stat ESTALE'
    'a removed regular file is not held for who has it open with O_PATH alone'
    'memory|ramfs' '\| getxattr acl -> EOPNOTSUPP \|\| ENODATA'
    'the kernel must be told that there is no ACL'
    'memory|ramfs' ' -> EOPNOTSUPP.* \|\| E(PERM|ACCES|NODATA)'
    'refused either way, but the kernel asks first who the owner is'
    '/no_default' ' -> EACCES.* \|\| EPERM'
    'refused either way, but the kernel asks first for what it knows itself: owners, capabilities, protected_hardlinks'
)

# may_strip_capabilities: whether anybody may take a file's capability away, as on Debian 12 (Linux 6.1): the BPF LSM
# answers there before CAP_SETFCAP is asked for.
may_strip_capabilities() {
    cp /usr/bin/true "$scratch/capable"
    setcap cap_net_raw+p "$scratch/capable" && as_user setfattr -x security.capability "$scratch/capable" 2>/dev/null
}

kernel_is_from 6.2 || exceptions+=(
    '/default' '-in-namespace \| directory-.* \| setxattr (default )?acl -> EPERM .*\|\| EINVAL'
    'refused either way, but the kernel looks at the ids in it first'
)
! may_strip_capabilities || exceptions+=(
    '/no_default' 'BELOW -> .*security.capability.* \|\| '
    'the kernel takes a capability away before it is known that the owner may not be changed, here by who may do that too'
)

# ---- Comparing

scenario=
differences=${PERMISSIONS_DIFFERENCES:-$scratch/differences} # all of them,
unexpected=$scratch/unexpected                               # and what no exception takes
lines=0
: >"$differences"

# differing BELOW ABOVE: the lines that differ or are in one file only, as one
differing() {
    awk -v scenario="$scenario" '
        function key() { return substr($0, 1, index($0, " -> ") - 1) }
        function value() { return substr($0, index($0, " -> ") + 4) }
        function show(name, a, b) { print scenario " | " name " -> " a " || " b }
        NR == FNR { below[key()] = value(); next }
        / [|] [.] [|] run -> / { show(key(), "status 0", value()); ended = 1; next }
        !(key() in below) { show(key(), "(nothing)", value()); next }
        below[key()] != value() { show(key(), below[key()], value()) }
        { delete below[key()] }
        END { if (!ended) for (name in below) show(name, below[name], "(nothing)") }' "$1" "$2"
}

# run_in DIRECTORY LOWER-DIRECTORY IDENTITY OUTPUT: fails if it did not run to its end, which is a line of the output too
run_in() {
    if timeout 300 "$probe" run "$1" "$3" "${selection[@]}" >"$4" 2>"$4.messages"; then
        "$probe" manifest "$2" "$3" >>"$4"
    else
        printf '%s | . | run -> status %s: %s\n' "$3" "$?" "$(sed 's|/[^:]*|DIRECTORY|' "$4.messages")" >>"$4"
        return 1
    fi
}

# compare_in PLACE IDENTITY: PLACE is a directory of $lower, in which two have been prepared
compare_in() {
    local below
    run_in "$lower/$1/below.$2" "$lower/$1/below.$2" "$2" "$scratch/below" &
    run_in "$mnt/$1/above.$2" "$lower/$1/above.$2" "$2" "$scratch/above" || true # a difference
    wait "$!" || fail "permissions did not run below the mount: $(tail -n 1 "$scratch/below")"
    differing "$scratch/below" "$scratch/above" >>"$differences"
    mapfile -t below <"$scratch/below"
    lines=$((lines + ${#below[@]}))
}

# prepare PLACE IDENTITY...
prepare() {
    local identity place=$1
    shift
    for identity; do
        "$probe" prepare "$lower/$place/below.$identity" "$identity" "${selection[@]}"
        "$probe" prepare "$lower/$place/above.$identity" "$identity" "${selection[@]}"
    done
}

# compare NAME MODE PLACE IDENTITY...: with a mount of its own, in what has been prepared
compare() {
    local mode=$2 place=$3 identity
    scenario=$1/$mode
    shift 3
    mount_osproffs -o "allow_other,$mode" "$lower" "$mnt"
    for identity; do
        compare_in "$place" "$identity"
    done
    unmount_osproffs "$mnt"
}

# ---- File systems

# mount_TYPE PLACE OPTIONS: a new file system there; that of an image is ext4, in a file that goes with it.
mount_image() {
    local image=$scratch/image
    truncate -s "${image_mib}M" "$image"
    mkfs.ext4 -q -F -b 1024 -N "$image_inodes" -O ^has_journal -E nodiscard "$image" 2>"$scratch/messages" ||
        fail "mkfs.ext4: $(cat "$scratch/messages")"
    mount -o "loop,$2" "$image" "$1" 2>"$scratch/messages" || skip "no loop mount: $(cat "$scratch/messages")"
    rm "$image"
}

mount_ramfs() {
    mount -t ramfs -o "mode=0755,$2" ramfs "$1"
}

mount_tmpfs() {
    mount -t tmpfs -o "mode=0755,size=800m,$2" tmpfs "$1"
}

# ---- Scenarios

need mkfs.ext4 losetup unshare setcap setfattr
modes=(default_permissions no_default_permissions)
mapfile -t everybody < <("$probe" list)
mapfile -t some < <("$probe" list brief)
unshare --user true 2>/dev/null || skip "cannot make a user namespace"
selection=("$every")

in_both_modes() {
    local mode
    for mode in "${modes[@]}"; do
        mount_image "$lower" suid,dev
        prepare . "${everybody[@]}"
        compare plain "$mode" . "${everybody[@]}"
        umount "$lower"
    done
}

with_devices() {
    mount_image "$lower" suid,dev
    prepare . "${everybody[@]}"
    compare plain no_default_permissions,dev . "${everybody[@]}"
    umount "$lower"
}

# over_submount TYPE FLAGS MODE; what is read-only must be prepared before.
over_submount() {
    mount_"$1" "$lower/sub" suid,dev
    prepare sub "${some[@]}"
    mount -o "remount,$2" "$lower/sub"
    compare "submount/$1,$2" "$3" sub "${some[@]}"
    umount "$lower/sub"
}

over_submounts() {
    local flags mode
    selection=("$(((every + 2) / 3))" brief)
    mkdir "$lower/sub"
    for flags in suid,dev nosuid nodev noexec ro nosuid,nodev,noexec; do
        for mode in "${modes[@]}"; do
            over_submount image "$flags" "$mode"
        done
    done
    over_submount ramfs suid,dev default_permissions # without ACLs, where the rest has them
    rmdir "$lower/sub"
}

while_flags_change() {
    local mode
    for mode in "${modes[@]}"; do
        while_flags_change_in "$mode"
    done
}

# The same directories again and again: what was allowed, and is cached, must not be any more.
while_flags_change_in() {
    local flags identity
    selection=("$(((every + 2) / 3))" brief)
    mkdir "$lower/sub"
    mount_image "$lower/sub" "suid,dev"
    prepare sub root stranger
    mount_osproffs -o "allow_other,$1" "$lower" "$mnt"
    for flags in suid,dev,exec,rw nosuid,nodev,noexec,rw suid,dev,exec,ro suid,dev,exec,rw; do
        mount -o "remount,$flags" "$lower/sub"
        scenario=remount/$flags/$1
        sleep 1.1 # for so long the kernel may answer from its caches
        for identity in root stranger; do
            compare_in sub "$identity"
        done
    done
    unmount_osproffs "$mnt"
    umount "$lower/sub"
    rmdir "$lower/sub"
}

over_memory() {
    local type mode
    selection=("$(((every + 2) / 3))" brief)
    for type in tmpfs ramfs; do
        for mode in "${modes[@]}"; do
            mount_"$type" "$lower" suid,dev
            prepare . "${some[@]}"
            compare "$type" "$mode" . "${some[@]}"
            umount "$lower"
        done
    done
}

# ---- Verdict

# Takes from the differences what the table excepts.
except() {
    local row where line
    for ((row = 0; row < ${#exceptions[@]}; row += 3)); do
        where=${exceptions[row]} line=${exceptions[row + 1]}
        awk -F ' [|] ' -v where="$where" '$1 ~ where' "$unexpected" | grep -E -- "$line" >"$scratch/excepted" || true
        if [ ! -s "$scratch/excepted" ]; then
            printf 'stale exception: nothing in %s is like %s (%s)\n' "$where" "$line" "${exceptions[row + 2]}" >&2
            stale=$((stale + 1))
        fi
        grep -Fxv -f "$scratch/excepted" "$unexpected" >"$scratch/rest" || true
        mv "$scratch/rest" "$unexpected"
    done
}

# Differences that are alike, most frequent first: how many, scenario, kind of object, call, results, some identities.
# What an object is like afterwards is left out, unless only that differs.
grouped() {
    awk -F ' -> ' '
        function outcome_of(result) { return index(result, " | ") ? substr(result, 1, index(result, " | ") - 1) : result }
        { split($1, part, " [|] "); call = part[4]; for (i = 5; i in part; i++) call = call "|" part[i]
          split(substr($0, index($0, " -> ") + 4), result, " [|][|] ")
          if (outcome_of(result[1]) != outcome_of(result[2])) { result[1] = outcome_of(result[1]); result[2] = outcome_of(result[2]) }
          sub(/-.*/, "", part[3])
          group = part[1] " | " part[3] " | " call " -> " result[1] " || " result[2]
          if (++count[group] < 99 && !index(who[group] " ", " " part[2] " ")) who[group] = who[group] " " part[2] }
        END { for (group in count) print count[group] "\t" group "\t[" who[group] " ]" }' "$1" | sort -k1,1nr -k2
}

stale=0
parts=("$@") # by hand one may ask for some of them
[ $# -gt 0 ] || parts=(in_both_modes with_devices over_submounts while_flags_change over_memory)
for part in "${parts[@]}"; do
    "$part"
done
printf '%d lines compared, %d differ' "$lines" "$(wc -l <"$differences")"
cp "$differences" "$unexpected"
except
printf ', %d of them unexpectedly\n' "$(wc -l <"$unexpected")"
grouped "$unexpected" >"$scratch/groups"
head -n 300 "$scratch/groups" >&2
[ ! -s "$unexpected" ] || fail "$(wc -l <"$unexpected") lines differ"
[ "$stale" -eq 0 ] || [ $# -gt 0 ] || fail "$stale exceptions are stale"
