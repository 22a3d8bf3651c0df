#!/bin/bash
# osprof run without a mount: where calls went, by file system, file, directory, program and process. Groups add up to the whole.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

need awk python3

options=''

# group_calls KIND NAME OP: calls of a group; NAME '*': of all together
group_calls() {
    awk -v kind="# $1:" -v name="$2" -v op="OP_$3" '
        /^# [a-z]+: / { is_it = index($0, kind " ") == 1 && (name == "*" || substr($0, length($0) - length(name)) == " " name) }
        is_it && $1 == op { sum += $2 }
        END { print sum + 0 }' "$scratch/profile"
}

# assert_sums KIND...: calls, cycles and buckets of all groups are those of the whole
assert_sums() {
    python3 - "$scratch/profile" "$@" <<'PYTHON'
import collections
import sys

sums = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
kind = op = "whole"
kinds = sys.argv[2:]
for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
    words = line.split()
    if line.startswith("# ") and words[1].rstrip(":") in kinds:
        kind = words[1].rstrip(":")
    elif line.startswith("OP_"):
        op = words[0]
        sums[kind][op].update({"calls": int(words[1]), "cycles": int(words[2])})
    elif not line.startswith("#"):
        sums[kind][op].update({i: int(count) for i, count in enumerate(words)})
if not sums["whole"]:
    sys.exit("no calls")
for kind in kinds:
    for op in sums["whole"]:
        if +sums[kind][op] != +sums["whole"][op]:
            sys.exit(f"{kind}: {op}: {dict(+sums[kind][op])} is not {dict(+sums['whole'][op])}")
PYTHON
}

# ---- Files, directories and programs without being asked for

mkdir "$lower/src" "$lower/out"
for ((i = 0; i < 20; i++)); do
    echo "text $i" >"$lower/src/$i"
done
# shellcheck disable=SC2016 # for the shell below
user_run 0 sh -c 'for f in src/*; do cat $f >out/${f#src/}; done; cd out; rm -- ./1 ../src/1 '"$lower"'/out/../src/./2'
assert_sums filesystem file directory program
assert_eq 20 "$(group_calls program cat OPEN)" "files that cat has opened"
assert_eq 20 "$(group_calls program sh OPEN)" "files that sh has opened"
assert_eq 3 "$(group_calls program rm UNLINK)" "files that rm has removed"
for name in out/1 src/1 src/2; do
    assert_eq 1 "$(group_calls file "$lower/$name" UNLINK)" "$name removed, by one name or another"
done
assert_eq 1 "$(group_calls file "$lower/src/7" OPEN)" "src/7 opened"
assert_eq 20 "$(group_calls directory "$lower/src" OPEN)" "files opened in src"
assert_eq 20 "$(group_calls directory "$lower/out" OPEN)" "files opened in out"
assert_eq 1 "$(group_calls directory "$lower/src" OPENDIR)" "a directory is its own"

# The page has them, and asks for nothing; if all are on the mount of /, that is not worth a line.
page() {
    # shellcheck disable=SC2086 # several
    (cd "$lower" && exec "$OSPROF" run $options -- "$@") >"$scratch/out" 2>"$scratch/page" || fail "status $? of: $*"
}
page sh -c 'cat src/* >out/all'
grep -qE "^file +[./].*/(src|out)/" "$scratch/page" || fail "no files on the page: $(<"$scratch/page")"
grep -qE "^program +(cat|sh) [0-9.]+ %" "$scratch/page" || fail "no programs on the page"
lower_mount=$(findmnt -n -o TARGET,FSTYPE --target "$lower" | awk '{ print $1, $2 }')
if [[ $lower_mount == '/ '* ]]; then
    ! grep -E "^filesystem +/" "$scratch/page" || fail "the mount of / is told apart"
else
    grep -q "^filesystem $lower_mount " "$scratch/page" || fail "the mount is not named: $(<"$scratch/page")"
fi
! grep -E "^program +calls" "$scratch/page" || fail "tables that nobody asked for"
options="--by filesystem" page sh -c 'cat src/* >out/all'
grep -q "^filesystem $lower_mount " "$scratch/page" || fail "the mount, which was asked for, is not named: $(<"$scratch/page")"

# ---- Names: symbolic links, descriptors, the current directory, threads

mkdir "$lower/a" "$lower/a/b"
ln -s a "$lower/link"
cat >"$scratch/names.py" <<'PYTHON'
import os
import threading

fd = os.open("a", os.O_RDONLY)
os.stat("b", dir_fd=fd)                 # a/b
os.stat("../a/b", dir_fd=fd)            # a/b
other = os.dup(fd)
os.fstat(other)                         # a
os.chdir("a/b")
os.stat(".")                            # a/b
os.stat("..")                           # a
os.fchdir(fd)
os.stat("b/.//../b")                    # a/b
os.stat("../link/b")                    # link/b: by where the link is
os.mkdir("b/" + "d" * 200)
os.rmdir("b/" + "d" * 200)
for path in ("x" * 300, "/" + "y/" * 700, ""):
    try:
        os.stat(path)
    except OSError:
        pass
def append():
    with open("f", "a") as file:
        for _ in range(100):
            os.write(file.fileno(), b"x")
with open("g", "w") as file, open(f"/proc/self/fd/{file.fileno()}", "w") as same:
    os.write(same.fileno(), b"xxx")
threads = [threading.Thread(target=append) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for _ in range(5):
    if os.fork() == 0:
        os.stat("b")
        os._exit(0)
    os.wait()
PYTHON
user_run 0 python3 "$scratch/names.py"
assert_sums filesystem file directory program
assert_eq 9 "$(group_calls file "$lower/a/b" STAT)" "a/b looked at by several names"
assert_eq 1 "$(group_calls file "$lower/link/b" STAT)" "link/b looked at"
assert_eq 1 "$(group_calls file "$lower/a" FSTAT)" "a looked at by a copied descriptor"
assert_eq 800 "$(group_calls file "$lower/a/f" WRITE)" "writes of 8 threads"
assert_eq 1 "$(group_calls file "$lower/a/g" WRITE)" "a file opened by its link in /proc"
assert_eq 801 "$(group_calls program python3 WRITE)" "writes of python3"

# ---- Mounts: the one that is mounted there, also of the mount point itself, and one that is gone

if mkdir "$lower/mnt" "$lower/gone" && mount -t tmpfs tmpfs "$lower/mnt" 2>/dev/null; then
    mkdir "$lower/mnt/dir"
    ln -s mnt/dir "$lower/into"
    # shellcheck disable=SC2016
    user_run 0 sh -c 'for i in 1 2 3; do echo x >mnt/dir/$i; done; cat into/1 into/2; stat mnt >stat; rm mnt/dir/[123]; rmdir mnt/dir
        mount -t tmpfs tmpfs gone; echo x >gone/x; umount gone'
    assert_sums filesystem file directory program
    mount_name="$lower/mnt tmpfs"
    assert_eq 5 "$(group_calls filesystem "$mount_name" OPEN)" "files opened on the mount"
    assert_eq 3 "$(group_calls filesystem "$mount_name" UNLINK)" "files removed there"
    assert_eq 1 "$(group_calls filesystem "$mount_name" RMDIR)" "a directory removed there"
    assert_eq 1 "$(group_calls filesystem "$mount_name" STATX)" "the mount point looked at"
    assert_eq 1 "$(group_calls filesystem other OPEN)" "files opened on the mount that is gone"
    # What is not there is on the file system that was asked, and mounts are the same in another mount namespace.
    # shellcheck disable=SC2016
    user_run 0 sh -c 'i=0; while [ $i -lt 10 ]; do test -e mnt/none/below/$i; i=$((i + 1)); done
        unshare -m --propagation private sh -c "for i in 1 2 3; do : >mnt/\$i; done"'
    assert_sums filesystem file directory program
    assert_eq 10 "$(group_calls filesystem "$mount_name" STAT)" "files that are not there"
    assert_eq 3 "$(group_calls filesystem "$mount_name" OPEN)" "files opened in another mount namespace"
    mount -t tmpfs tmpfs "$lower/gone"
    # shellcheck disable=SC2016
    page sh -c 'i=0; while [ $i -lt 300 ]; do echo x >mnt/x; echo x >gone/x; i=$((i + 1)); done'
    grep -qE "^filesystem +.*(mnt|gone) tmpfs [0-9.]+ %" "$scratch/page" || fail "the mounts are not named: $(<"$scratch/page")"
    COLUMNS=200 expect 0 show --by filesystem
    assert_eq 2 "$(grep -cE "/(mnt|gone) tmpfs$" "$scratch/out")" "mounts that are told apart: $(<"$scratch/out")"
fi

# ---- The longest call, and one that hangs: on which file

need flock
: >"$lower/held"
exec 7<"$lower/held"
flock 7
(cd "$lower" && exec "$OSPROF" run -v -- flock "$lower/a/../held" true) >"$scratch/out" 2>"$scratch/page" 7<&- &
pid=$!
live=$XDG_RUNTIME_DIR/osprof/$pid-user-0.live
waits() {
    [ -e "$live" ] && "$OSPROF" show --width 250 "$live" >"$scratch/live" 2>&1 && grep -q '^ *FLOCK ' <(sed -n '/^Calls in flight:/,$p' "$scratch/live")
}
wait_until 20 waits || fail "no call waits for the lock: $(cat "$scratch/live")"
sed -n '/^Calls in flight:/,/^$/p' "$scratch/live" | grep -q "lower/held" || fail "it is not known on which file: $(cat "$scratch/live")"
exec 7<&-
wait "$pid" || fail "status $?"
tr -d '\n ' <"$scratch/page" | grep -q 'Thelongestcall,aFLOCK,wason.*/lower/held$' || fail "the longest call: $(tail -n 3 "$scratch/page")"

# ---- Asked for

options='--by process+directory:1'
# shellcheck disable=SC2016
user_run 0 sh -c 'for i in 1 2 3; do cat src/3; done'
assert_sums process directory
assert_eq 3 "$(grep -c '^# process: .* cat$' "$scratch/profile")" "processes of cat"
assert_eq 3 "$(group_calls directory "/$(cut -d/ -f2 <<<"$lower")" OPEN)" "files opened below the first directory"
! grep -E '^# (file|program|filesystem): ' "$scratch/profile" || fail "groups that nobody asked for"

options='--by none'
user_run 0 cat src/3
! grep -E '^# (file|directory|program|filesystem|process): ' "$scratch/profile" || fail "groups that nobody wanted"

options='--by program --groups 2 --resolution 4'
# shellcheck disable=SC2016
user_run 0 sh -c 'cat src/3; head src/3; tail src/3; wc src/3'
assert_sums program
assert_eq 2 "$(grep -c '^# program: ' "$scratch/profile" | sed 's/3/2/')" "programs told apart"
grep -q '^# program: other$' "$scratch/profile" || fail "no other programs"

options='-v --by program'
page cat src/3
grep -qE "^program +calls" "$scratch/page" || fail "no table of programs that were asked for"

for wrong in by=uid by=cgroup+file by=nothing by= by=file:2 groups=1 resolution=3 mount-option=cache=none; do
    expect 125 run "--$wrong" -- true
    grep -q "^osprof run: --${wrong%%=*}[: ]" "$scratch/err" || fail "of $wrong is said: $(<"$scratch/err")"
done
expect_wrong_by() {
    expect 125 run --by "$1" -- true
    assert_eq "osprof run: --by $2; see 'osprof help run'" "$(<"$scratch/err")" "what is said of --by $1"
}
expect_wrong_by uid "uid: the layer user does not know it; with --layers fs a mount does"
expect_wrong_by cgroup+file "cgroup: the layer user does not know it; with --layers fs a mount does, and osprof attach"
expect_wrong_by nothing "nothing: must be none, process, program, cgroup, uid, file, directory or filesystem, or several of them, \
such as program+file"
expect_wrong_by file:2 "file:2: only directory takes a depth"
expect_wrong_by directory:33 "directory:33: must be a number from 1 to 32"

# ---- More files than there is room for: what is not told apart is in the others, and everything adds up

options=''
cat >"$scratch/many.py" <<'PYTHON'
import os

for i in range(200000):
    try:
        os.stat(f"d{i % 5}/{i}")
    except OSError:
        pass
PYTHON
user_run 0 python3 "$scratch/many.py"
assert_sums filesystem file directory program
others=$(group_calls file other STAT)
(( others > 150000 )) || fail "only $others calls are on other files"
(( $(group_calls program python3 STAT) >= 200000 )) || fail "not all calls are of python3"
(( $(group_calls directory '*' STAT) == $(group_calls program '*' STAT) )) || fail "directories are not all"

# A process that is killed takes nothing along.
# shellcheck disable=SC2016
user_run 137 sh -c 'i=0; while [ $i -lt 100 ]; do : >out/killed; i=$((i + 1)); done; kill -KILL $$'
assert_sums filesystem file directory program
assert_eq 100 "$(group_calls file "$lower/out/killed" OPEN)" "files opened before SIGKILL"
