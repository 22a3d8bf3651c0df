# shellcheck shell=bash
# Harness of the mount tests. A test begins with
#
#     . "$(dirname "$0")/lib.sh"
#
# and then runs in a private directory $scratch with two empty directories, $lower and $mnt. When it exits, for whatever
# reason, its mounts there and its daemons are ended. A test fails if a command fails that is not part of a condition, if
# a daemon does not end by itself after unmounting, if a sanitizer has written to a daemon's log, or if a mount is left
# over. A test that starts processes of its own in the mount defines before_cleanup() to end them.
#
# Given by meson: OSPROFFS and OSPROF (the programs under test), TEST_PROGRAMS (directory of the C helpers), OSPROF_WITHOUT
# (the parts that osprof is built without).

set -Eeuo pipefail
trap 'printf "FAIL: %s line %s: status %s of: %s\n" "${BASH_SOURCE[0]##*/}" "$LINENO" "$?" "$BASH_COMMAND" >&2' ERR
# Nothing else of the environment in which tests are run reaches them: not the width of a terminal, a language, or a wish for
# no colours.
for variable in $(compgen -e); do
    case $variable in
    PATH | TMPDIR | TEST_PROGRAMS | OSPROF* | IN_* | MESON* | MALLOC_* | *SAN_OPTIONS | milliseconds_per_second) ;;
    SIZE | ROUNDS | MKFS_OPTIONS | PERMISSIONS_* | GOLDEN_WRITE | SHOW_STACKS) ;;
    *) unset "$variable" ;;
    esac
done
export LC_ALL=C TERM=xterm PYTHONDONTWRITEBYTECODE=1
umask 022

tests_dir=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")")
this_test=$(realpath -- "$0")
# shellcheck source=../../scripts/lib.sh
. "$tests_dir/../../scripts/lib.sh"

: "${OSPROFFS:?path of the osproffs under test}" "${OSPROF:?path of the osprof under test}"
: "${TEST_PROGRAMS:=}"

# The second user. "nobody" has an entry in every /etc/passwd, which fusermount3 asks for.
# shellcheck disable=SC2034 # for the tests
user_uid=65534 user_gid=65534

daemon_count=0      # daemons started so far
daemon_pid=         # of the latest: its process,
daemon_log=         # its messages
final_profile=      # and its standard output, where it prints its profile in the end
declare -A pid_of=() # by mount point
children=()         # daemons that are children of this shell
strangers=()        # daemons that have put themselves in the background

# Time limits are in seconds of a usual machine. On a slow one wait_until and the like, and timeout(1), which a program of
# ours replaces, multiply them by OSPROF_TIMEOUT_SCALE (a number such as 10 or 2.5).
milliseconds_per_second=$(awk -v scale="${OSPROF_TIMEOUT_SCALE:-1}" 'BEGIN { printf "%d", 1000 * scale }')
if [ "$milliseconds_per_second" -ne 1000 ]; then
    export milliseconds_per_second PATH=$tests_dir/scaled:$PATH
fi

# ---- Verdicts

fail() {
    printf 'FAIL: %s\n' "$*" >&2
    exit 1
}

skip() {
    printf 'SKIP: %s\n' "$*" >&2
    exit 77
}

# assert_eq EXPECTED FOUND [WHAT]
assert_eq() {
    [ "$1" = "$2" ] || fail "${3:-values differ}: expected '$1', found '$2'"
}

# need COMMAND...: skips the test if one of them is missing
need() {
    local tool
    for tool; do
        have "$tool" || skip "$tool is not installed"
    done
}

# is_without PART: true if osprof is built without it; the parts are options of meson
is_without() {
    [[ " ${OSPROF_WITHOUT:-} " = *" $1 "* ]]
}

# need_part PART...
need_part() {
    local part
    for part; do
        ! is_without "$part" || skip "this osprof is built without the part $part"
    done
}

# python_with MODULE: prints a python3 that has it. The first in the PATH may be one without the system's modules.
python_with() {
    local python
    for python in python3 /usr/bin/python3; do
        ! "$python" -c "import $1" 2>/dev/null || {
            echo "$python"
            return
        }
    done
    return 1
}

# kernel_is_from VERSION
kernel_is_from() {
    [ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]
}

need_root() {
    is_root || skip "needs root"
}

need_fuse() {
    ! fuse_missing >/dev/null || skip "$(fuse_missing)"
}

# need_user_mounts "$@": for tests in which the second user mounts; call it first. If only root may use /dev/fuse, runs the
# test again in a mount namespace of its own with a /dev/fuse for everybody.
need_user_mounts() {
    need_root
    need_fuse
    need setpriv fusermount3 unshare
    if ! as_user test -r /dev/fuse -a -w /dev/fuse; then
        [ -z "${IN_PRIVATE_NAMESPACE:-}" ] || skip "cannot provide a /dev/fuse for the second user"
        unshare --mount --propagation private true 2>/dev/null || skip "cannot make a mount namespace"
        local status=0
        IN_PRIVATE_NAMESPACE=1 unshare --mount --propagation private -- bash "$this_test" "$@" || status=$?
        exit "$status"
    fi
}

# The second user must reach the programs. A build below a private directory prevents that, so it is also mounted at
# another place.
provide_programs() {
    local build=${OSPROFFS%/src/fuse/osproffs}
    ! as_user test -x "$OSPROFFS" || return 0
    [ "$build" != "$OSPROFFS" ] || fail "$OSPROFFS is not where a build puts it, and not for everybody"
    mkdir "$scratch/build"
    mount -o bind,ro "$build" "$scratch/build"
    OSPROFFS=$scratch/build/${OSPROFFS#"$build"/}
    OSPROF=$scratch/build/${OSPROF#"$build"/}
    TEST_PROGRAMS=$scratch/build/${TEST_PROGRAMS#"$build"/}
}

provide_fuse_device() {
    mkdir "$scratch/dev"
    mount -t tmpfs -o dev,mode=0755 tmpfs "$scratch/dev" # $scratch itself may be mounted nodev
    mknod -m 0666 "$scratch/dev/fuse" c 10 229
    mount --bind "$scratch/dev/fuse" /dev/fuse
}

# ---- Waiting

# The pause of a waiting loop: short at first, later 0.1 s. The caller has the variables milliseconds_left, its time limit,
# and pause, 10 at first. Fails when no time is left.
wait_a_little() {
    [ $((milliseconds_left -= pause)) -gt 0 ] || return 1
    nap "$pause"
    pause=$((pause < 50 ? pause * 2 : 100))
}

# nap MILLISECONDS: sleeps, without starting a process; nobody ever writes into the FIFO
nap() {
    local seconds
    printf -v seconds '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
    read -rt "$seconds" <>"$scratch/nap" || true
}

# ---- The machine's caches

# drop_caches WHAT: as /proc/sys/vm/drop_caches takes it, while no other test counts on them
drop_caches() {
    if [ -n "$caches_are_ours" ]; then
        echo "$1" >/proc/sys/vm/drop_caches
    else
        with_caches_alone drop_caches "$1"
    fi
}

caches_are_ours=

# with_caches_alone COMMAND...: meanwhile no other test drops them, or counts on them; the command may drop them
with_caches_alone() {
    caches_are_ours=yes
    with_caches_locked -x "$@"
    caches_are_ours=
}

# with_caches COMMAND...: meanwhile no other test drops them
with_caches() {
    with_caches_locked -s "$@"
}

# with_caches_locked -s|-x COMMAND...: a daemon that the command starts has the lock's descriptor, too
with_caches_locked() {
    local caches_fd
    exec {caches_fd}<"$tests_dir/lib.sh"
    flock -w $((120 * milliseconds_per_second / 1000)) "$1" "$caches_fd" || fail "other tests do not let go of the caches"
    "${@:2}"
    flock -u "$caches_fd"
    exec {caches_fd}<&-
}

# ---- Users

# as_user COMMAND...: runs it as the second user, in no group but its own
as_user() {
    as_ids "$user_uid" "$user_gid" "" "$@"
}

# Where /proc has the option hidepid, the second user sees no processes of others.
user_sees_processes() {
    as_user test -e "/proc/$$"
}

# as_ids UID GID GROUPS COMMAND...: runs it with these numeric ids; GROUPS is a comma-separated list or empty
as_ids() {
    need_root
    need setpriv
    (exec_as "$@")
}

# The same in place of this shell.
exec_as() {
    local ids=(--reuid="$1" --regid="$2" --clear-groups)
    [ -z "$3" ] || ids[2]=--groups=$3
    shift 3
    exec setpriv "${ids[@]}" -- env XDG_RUNTIME_DIR="$scratch/run-user" HOME="$scratch/home-user" \
        XDG_STATE_HOME="$scratch/home-user/state" "$@"
}

# ---- Mounting

# mount_osproffs [OPTION]... LOWER MOUNTPOINT: starts the daemon in the foreground mode and waits until it serves
mount_osproffs() {
    start_daemon "$OSPROFFS" -f "$@"
    pid_of[${*: -1}]=$daemon_pid
    wait_for_mount "${*: -1}"
}

# The same, run by the second user through fusermount3.
mount_osproffs_as_user() {
    need_root
    need setpriv fusermount3
    start_daemon exec_as "$user_uid" "$user_gid" "" "$OSPROFFS" -f "$@"
    pid_of[${*: -1}]=$daemon_pid
    wait_for_mount "${*: -1}"
}

# start_daemon COMMAND...: in the background; sets daemon_pid, daemon_log and final_profile
start_daemon() {
    need_fuse
    daemon_count=$((daemon_count + 1))
    daemon_log=$scratch/daemon-$daemon_count.log
    final_profile=$scratch/daemon-$daemon_count.profile
    find_mounts "$scratch"
    mounts_before=${#mounts_found[@]}
    "$@" </dev/null >"$final_profile" 2>"$daemon_log" &
    daemon_pid=$!
    children+=("$daemon_pid")
}

# A mount more than before start_daemon, or the daemon has given up.
wait_for_mount() {
    local path=$1 milliseconds_left=$((60 * milliseconds_per_second)) pause=10
    while find_mounts "$scratch" && [ "${#mounts_found[@]}" -le "$mounts_before" ]; do
        kill -0 "$daemon_pid" 2>/dev/null || fail "osproffs ended before it mounted $path"
        wait_a_little || fail "osproffs did not mount $path within a minute"
    done
}

# unmount_osproffs MOUNTPOINT: unmounts, waits for the daemon and returns its exit status
unmount_osproffs() {
    local pid=${pid_of[$1]}
    unmount_below "$1" || fail "cannot unmount $1"
    wait_for_end "$pid" 60 || fail "osproffs still runs a minute after $1 was unmounted"
    wait "$pid"
}

# remount_osproffs [OPTION]... LOWER MOUNTPOINT: a fresh daemon in place of the one there, so that nothing is cached
remount_osproffs() {
    unmount_osproffs "${*: -1}"
    mount_osproffs "$@"
}

# track_daemon PID: a daemon that went to the background by itself; ended at exit like the others
track_daemon() {
    strangers+=("$1")
}

# ---- Profiles

# profile_calls OP PROFILE: how many calls of OP (as in READ) a profile counts
profile_calls() {
    awk -v op="OP_$1" '$1 == op { calls = $2 } END { print calls + 0 }' "$2"
}

# assert_profiled OP...: the final profile is consistent and saw calls of each OP
assert_profiled() {
    local op
    "$OSPROF" show --check "$final_profile" >&2 || fail "osprof show --check finds fault with $final_profile"
    for op; do
        [ "$(profile_calls "$op" "$final_profile")" -gt 0 ] || fail "no call of $op in the final profile"
    done
}

# ---- Trees

# Prints everything of a tree that a copy must preserve: names, types, modes, owners, sizes, modification times (of all but
# directories' sizes), link targets, device numbers, which names are one file, contents, extended attributes, ACLs.
# The control file is not listed by readdir, hence not here either.
tree_manifest() {
    need getfattr getfacl
    (
        cd "$1"
        find . -printf '%p\t%y %#m %U:%G %n %T@ %l\n' | sort
        find . -type f -printf '%p\t%s\n' | sort
        find . \( -type b -o -type c \) -exec stat -c '%n %t:%T' {} + | sort
        find . -links +1 ! -type d -printf '%i %p\n' | sort -k2 | group_by_inode
        find . -type f -print0 | sort -z | xargs -0r sha256sum
        find . -print0 | xargs -0r getfattr --absolute-names -h -d -m - -e hex | name_before_each_line | sort
        find . ! -type l -print0 | sort -z | xargs -0r getfacl --absolute-names -n
    )
}

# "INODE PATH" lines in the order of paths -> "FIRST-PATH = PATH" lines
group_by_inode() {
    awk '{ inode = $1; sub(/^[0-9]+ /, ""); if (!(inode in first)) first[inode] = $0; print first[inode] " = " $0 }'
}

# getfattr's "# file: NAME" followed by "ATTRIBUTE=VALUE" lines (in no fixed order) -> "NAME<tab>ATTRIBUTE=VALUE" lines
name_before_each_line() {
    awk '/^# file: / { name = substr($0, 9); next } NF { print name "\t" $0 }'
}

# Prints what two views of the same tree also have in common: inode numbers, change times, sizes of directories,
# allocated blocks.
view_manifest() {
    (cd "$1" && find . -printf '%p\t%i %s %b %C@\n' | sort)
    tree_manifest "$1"
}

# make_tree DIR: a new tree of everything a file system can hold, the same each time down to the times
make_tree() {
    need setfattr setfacl
    mkdir "$1"
    (
        cd "$1"
        make_files
        make_links
        make_attributes
        ! is_root || make_what_root_can
        find . -depth -exec touch -h -d '2001-09-09 01:46:40.123456789 UTC' {} +
        touch -d @0 sizes/0
        touch -d '2100-01-01 00:00:00.000000001 UTC' sizes/1
    )
}

make_files() {
    local size number
    seq 200000 >"$scratch/numbers" # more than a MiB that never repeats
    mkdir -p sizes many empty names d/e/e/p/e/r/a/n/d/d/e/e/p/e/r
    for size in 0 1 4095 4096 4097 131071 131072 131073 1048577; do
        head -c "$size" "$scratch/numbers" >"sizes/$size"
    done
    for number in $(seq 1 307); do
        echo "file $number" >"many/$number"
    done
    echo deep >d/e/e/p/e/r/a/n/d/d/e/e/p/e/r/file
    echo blank >"names/with blanks and a \\"
    echo newline >"names/new"$'\n'"line"
    echo bytes >"names/"$'\xff\xfe'
    echo long >"names/$(printf 'n%.0s' {1..255})"
    truncate -s 64M holes
    echo island | dd of=holes bs=1M seek=33 conv=notrunc status=none
    mkfifo fifo
}

make_links() {
    local target
    target=$(printf 't/%.0s' {1..2000})
    [ "$(stat -fc %T "$scratch")" != xfs ] || target=${target:0:1000} # it takes 1,023 bytes
    mkdir links
    ln sizes/4097 links/hard
    ln links/hard links/hard-too
    ln -s ../sizes/1 links/relative
    ln -s /no/such/file links/dangling
    ln -s ../many links/directory
    ln -s "$target" links/long
}

make_attributes() {
    local mode
    mkdir modes acls
    for mode in 0000 0444 0600 0711 1755 2755 4755; do
        echo "$mode" >"modes/$mode"
        chmod "$mode" "modes/$mode"
    done
    mkdir -m 3777 modes/directory
    setfattr -n user.text -v "a value" sizes/1
    setfattr -n user.empty sizes/1
    setfattr -n user.binary -v 0x00ff00ff sizes/4096
    setfattr -n user.big -v "$(printf 'v%.0s' {1..2000})" many
    echo shared >acls/file
    setfacl -m u:12345:r--,g:23456:rw-,m::r-- acls/file
    setfacl -d -m u:12345:rwx,o::--- acls
}

make_what_root_can() {
    mkdir owners
    echo others >owners/file
    chown 12345:23456 owners/file
    ln -s file owners/link
    chown -h 34567:45678 owners/link
    mknod owners/null c 1 3
    mknod owners/block b 7 250
    setfattr -n trusted.note -v root owners/file
    setfattr -n security.note -v root owners
}

# assert_same_tree A B: B is a faithful copy of A
assert_same_tree() {
    tree_manifest "$1" >"$scratch/manifest-a"
    tree_manifest "$2" >"$scratch/manifest-b"
    diff "$scratch/manifest-a" "$scratch/manifest-b" >&2 || fail "$2 differs from $1"
}

# assert_same_view LOWER MOUNTPOINT: the mount shows the lower directory as it is
assert_same_view() {
    view_manifest "$1" >"$scratch/manifest-a"
    view_manifest "$2" >"$scratch/manifest-b"
    diff "$scratch/manifest-a" "$scratch/manifest-b" >&2 || fail "$2 shows $1 differently"
}

# ---- Set-up and clean-up

# wait_for_end PID SECONDS
wait_for_end() {
    local milliseconds_left=$(($2 * milliseconds_per_second)) pause=10
    while kill -0 "$1" 2>/dev/null; do
        wait_a_little || {
            explain_running "$1"
            return 1
        }
    done
}

# explain_running PID: where its threads are
explain_running() {
    local task
    for task in "/proc/$1/task"/*; do
        printf 'process %s, thread %s: %s\n' "$1" "${task##*/}" \
            "$(grep -hsE '^(Name|State|PPid):' "$task/status" | tr '\n\t' '  ')" >&2
        cat "$task/stack" >&2 2>/dev/null || true
    done
}

# Ends a daemon whose mount is gone: it should do so by itself.
end_daemon() {
    wait_for_end "$1" 10 && return 0
    printf 'osproffs (pid %s) did not end after unmounting\n' "$1" >&2
    kill -TERM "$1" 2>/dev/null || true
    wait_for_end "$1" 5 || kill -KILL "$1" 2>/dev/null || true
    return 1
}

# After a child has been waited for, another process may have its number.
is_child() {
    grep -qsx "PPid:[[:space:]]*$$" "/proc/$1/status"
}

end_daemons() {
    local pid status=0
    for pid in ${children[@]+"${children[@]}"}; do
        ! is_child "$pid" || end_daemon "$pid" || status=1
    done
    for pid in ${strangers[@]+"${strangers[@]}"}; do
        if [ "$(readlink "/proc/$pid/exe")" = "$(realpath -- "$OSPROFFS")" ]; then
            end_daemon "$pid" || status=1
        fi
    done
    return "$status"
}

show_daemon_logs() {
    local log
    for log in "$scratch"/daemon-*.log; do
        [ ! -s "$log" ] || sed "s|^|${log##*/}: |" "$log" >&2
    done
}

sanitizers_complained() {
    grep -Eqs 'runtime error:|(Address|Leak|Thread|UndefinedBehavior)Sanitizer' "$scratch"/daemon-*.log
}

cleanup() {
    local status=$?
    trap - EXIT ERR
    set +e
    cd /
    ! declare -F before_cleanup >/dev/null || before_cleanup
    unmount_below "$scratch" || status=1
    end_daemons || status=1
    if sanitizers_complained; then
        printf 'FAIL: a sanitizer complained\n' >&2
        status=1
    fi
    [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || show_daemon_logs
    if [ -n "$(mounts_below "$scratch")" ]; then
        printf 'FAIL: mounts are left below %s; the directory stays\n' "$scratch" >&2
        exit 1
    fi
    chattr -R -f -ia "$scratch" 2>/dev/null
    rm -rf --one-file-system -- "$scratch"
    exit "$status"
}

# As root each test has a mount namespace of its own. Otherwise a process that makes a mount namespace, in another test or a
# container, would copy this test's mounts, and the daemons would live as long as the copies. Shared mounts stay shared.
enter_own_namespace() {
    local shared=$'(^|\n)[0-9]+ [0-9]+ [0-9:]+ / / [^\n]* shared:'
    [ -z "${IN_OWN_NAMESPACE:-}" ] && is_root && have unshare && unshare --mount true 2>/dev/null || return 0
    export IN_OWN_NAMESPACE=private
    [[ ! $(</proc/self/mountinfo) =~ $shared ]] || IN_OWN_NAMESPACE=shared
    exec unshare --mount --propagation private -- bash "$this_test" "$@"
}

enter_own_namespace "$@"
[ "${IN_OWN_NAMESPACE:-}" != shared ] || [ -n "${IN_PRIVATE_NAMESPACE:-}" ] || mount --make-rshared /
# Other programs, such as strace, write other characters in their own ways.
[[ ${TMPDIR:-} =~ ^/[A-Za-z0-9/._-]*$ && -w $TMPDIR ]] || TMPDIR=/tmp
export TMPDIR
scratch=$(realpath -- "$(mktemp -d "$TMPDIR/osproffs-test.XXXXXX")")
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
chmod 0755 "$scratch" # for the second user
lower=$scratch/lower
mnt=$scratch/mnt
mkdir "$lower" "$mnt" "$scratch/home" "$scratch/home-user"
mkdir -m 0700 "$scratch/run" "$scratch/run-user"
mkfifo "$scratch/nap"
if is_root; then
    chown "$user_uid:$user_gid" "$scratch/run-user" "$scratch/home-user"
    ! have setpriv || provide_programs
fi
# live files, programs' settings and what they keep stay in here
export XDG_RUNTIME_DIR=$scratch/run HOME=$scratch/home XDG_STATE_HOME=$scratch/home/state
cd "$scratch"
[ -z "${IN_PRIVATE_NAMESPACE:-}" ] || provide_fuse_device
# shellcheck disable=SC2034 # for the tests
mounts_at_start=$(mounts_below "$scratch") # what the harness itself needs
