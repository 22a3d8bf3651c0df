# shellcheck shell=bash
# What the scripts and the mount tests share: messages, unmounting everything below a directory, and what meson's log of
# tests says.
# To be sourced; it only defines functions.

say() {
    printf '%s\n' "$*"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# print_help SCRIPT: the comment that it begins with
print_help() {
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$1"
}

is_root() {
    [ "$EUID" -eq 0 ]
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# debian_mirror SUFFIX: where apt has this release from, or with -security its security fixes
debian_mirror() {
    # shellcheck disable=SC2016 # apt replaces these
    apt-get indextargets --format '$(CODENAME) $(SITE)' "Created-By: Packages" "Component: main" |
        awk -v codename="$(. /etc/os-release && echo "$VERSION_CODENAME")$1" '$1 == codename { print $2; found = 1; exit } END { exit !found }' ||
        die "apt has no mirror of Debian$1 configured: see sources.list(5)"
}

# build_quietly NAME [DIRECTORY [OPTION]...]: builds without tests, in ./build or that directory; OPTION: of meson, where it is
# new. What ninja prints is in its NAME.log, and is shown if it fails
build_quietly() {
    local directory=${2:-build}
    [ -e "$directory/build.ninja" ] || meson setup "$directory" -Dtests=false "${@:3}" >/dev/null
    ninja -C "$directory" >"$directory/$1.log" || {
        cat "$directory/$1.log" >&2
        die "the build failed"
    }
}

# Why FUSE file systems cannot be mounted here, in one line; fails if they can.
fuse_missing() {
    if [ ! -e /dev/fuse ]; then
        say "/dev/fuse does not exist (try: modprobe fuse; in a container: --device /dev/fuse --cap-add SYS_ADMIN)"
    elif ! { : <>/dev/fuse; } 2>/dev/null && is_root; then
        say "/dev/fuse cannot be opened (in a container: --device /dev/fuse --cap-add SYS_ADMIN)"
    elif ! { : <>/dev/fuse; } 2>/dev/null; then
        say "/dev/fuse is for root only here (as root: chmod 666 /dev/fuse)"
    elif ! is_root && ! have fusermount3; then
        say "fusermount3 is not installed, and only root can mount without it (Debian: apt-get install fuse3)"
    else
        return 1
    fi
}

# Sets mounts_found to "DEVICE TYPE PATH" of every mount at or below a directory, in the order they were mounted. The
# path must be canonical. Tests ask this all the time, so it starts no process.
find_mounts() {
    local dir=$1 mountinfo line path type
    mapfile -t mountinfo </proc/self/mountinfo # in large pieces: others change the table
    mounts_found=()
    set -f
    for line in "${mountinfo[@]}"; do
        type=${line#* - }
        # shellcheck disable=SC2086 # split into fields on purpose; mountinfo has blanks only between them
        set -- $line
        printf -v path '%b' "$5" # blanks and backslashes are octal escapes there
        case $path in
        "$dir" | "$dir"/*) mounts_found+=("$3 ${type%% *} $path") ;;
        esac
    done
    set +f
}

# Prints them, of any directory.
mounts_below() {
    local mounts_found
    find_mounts "$(realpath -m -- "$1")"
    [ "${#mounts_found[@]}" -eq 0 ] || printf '%s\n' "${mounts_found[@]}"
}

# Unmounts one path: as is proper, and if that fails within some seconds, by force.
unmount_path() {
    local device=$1 type=$2 path=$3 attempt
    for attempt in 1 2 3 4 5 6 7 8; do
        try_unmount "$path" && return 0
        sleep 0.25
    done
    say "cannot unmount $path after $attempt attempts; detaching it" >&2
    local connection=/sys/fs/fuse/connections/${device#*:}
    case $type in
    fuse*) [ ! -w "$connection/abort" ] || echo 1 >"$connection/abort" ;;
    esac
    try_unmount "$path" lazily
}

# Root has umount (-c: without asking the file system anything, which would be counted, and hang where it hangs);
# others own only FUSE mounts, which fusermount3 unmounts for them.
try_unmount() {
    local path=$1 lazily=${2:-}
    if is_root; then
        timeout -k 5 10 umount -c ${lazily:+-l} -- "$path" 2>/dev/null
    else
        timeout -k 5 10 fusermount3 -u ${lazily:+-z} -- "$path" 2>/dev/null
    fi
}

# Unmounts everything at or below a directory, the last mount first. Fails if something stayed.
unmount_below() {
    local dir device type path mounts_found
    dir=$(realpath -m -- "$1")
    while find_mounts "$dir" && [ "${#mounts_found[@]}" -gt 0 ]; do
        read -r device type _ <<<"${mounts_found[-1]}"
        path=${mounts_found[-1]#"$device $type "} # which may end in blanks
        unmount_path "$device" "$type" "$path" || return 1
    done
}

# Of what meson wrote: one JSON object a line, each with a test's result.
# count_results LOG: prints how many passed, failed and were skipped
count_results() {
    local passed skipped
    passed=$(grep -Ec '"result": "(OK|EXPECTEDFAIL)"' "$1" || true)
    skipped=$(grep -c '"result": "SKIP"' "$1" || true)
    say "$passed $(($(wc -l <"$1") - passed - skipped)) $skipped"
}

# failed_tests LOG: prints their names, without suites, one a line
failed_tests() {
    grep -Ev '"result": "(OK|EXPECTEDFAIL|SKIP)"' "$1" | sed -E 's/.*"name": "[^"]* ([^" ]*)".*/\1/' | sort -u
}

# explain_skips LOG: prints why tests were skipped
explain_skips() {
    grep '"result": "SKIP"' "$1" |
        sed -E 's/.*"name": "([^"]*)".*"stderr": "([^"]*)".*/    skipped: \1: \2/; s/\\n"?$//' || true
}
