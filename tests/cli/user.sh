#!/bin/bash
# osprof run --layers user: which calls are counted, whatever processes do, and that nothing else changes for them.
. "$(dirname "$0")/lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

calls=$TEST_PROGRAMS/user_calls

# user_calls STATUS WHAT: a row of user_calls.c, in an empty directory
user_calls() {
    rm -rf "${lower:?}"/*
    user_run "$1" "$calls" "$2"
}

# ---- Bad input

expect_failure() {
    local message=$1
    shift
    expect 125 run "$@"
    assert_eq "$message" "$(<"$scratch/err")" "message of: osprof run $*"
}

expect_failure "osprof run: --layers takes user, fuse, daemon, fs and block, with commas between, or all, not 'disk'; see 'osprof help run'" --layers disk true
expect_failure "osprof run: --layers takes user, fuse, daemon, fs and block, with commas between, or all, not 'user,'; see 'osprof help run'" --layers user, true
expect_failure "osprof run: --vs compares one layer, user or fs; see 'osprof help run'" --layers user,fs --vs true true
expect_failure "osprof run: --mount-option needs a mount, as with --layers fs; see 'osprof help run'" --resolution 2 --mount-option ro true
expect_failure "osprof run: --joint needs a mount, as with --layers fs; see 'osprof help run'" --joint READ:size true
expect_failure "osprof run: --slow needs a mount, as with --layers fs; without one, as root, osprof attach --slow finds causes; see 'osprof help run'" --slow 10ms true
# The others are there without one, and so says the help.
while read -r name right; do
    expect 125 run "--$name" wrong true
    grep -q "^osprof run: --${name}[: ].*; see 'osprof help run'$" err || fail "--$name is not there: $(<err)"
    expect 0 run "--$name" "$right" -q true
done <<<$'resolution 2\ninterval 1h\nintervals 4\nby program\ngroups 3'
expect 0 run --help
tr -s ' \n' ' ' <out | grep -oE ' --[a-z-]+ [^ ]+ with --layers fs: ' | awk '{ print $1 }' | paste -sd ' ' >of_mounts
assert_eq "--slow --joint --mount-option" "$(<of_mounts)" "options that need a mount by the help"
expect_failure "osprof run: --resolution takes 1, 2, 4 or 8, not '3'; see 'osprof help run'" --resolution 3 true
expect_failure "osprof run: --interval 9ms: must be a time from 10ms to 24h, such as 100ms or 0.5s; see 'osprof help run'" --interval 9ms true
expect_failure "osprof run: --resolution is for the layers user and fs; see 'osprof help run'" --layers block --resolution 2 true
expect_failure "osprof: cannot profile none: No such file or directory" --layers user -d none true
expect_failure "osprof: cannot profile $OSPROF: Not a directory" --layers user -d "$OSPROF" true
expect_failure "osprof: cannot write profile none/x: No such file or directory" --layers user -o none/x true
OSPROF_LIBRARIES=$scratch expect_failure "osprof: cannot find libosprof_posix.so in $scratch; name its directory by the variable OSPROF_LIBRARIES" --layers user true

# ---- All names of a function

if have nm; then
    nm -D --defined-only "$OSPROF_LIBRARIES/libosprof_posix.so" | awk '{ print $3 }' | sort >visible
    for symbol in open open64 openat openat64 creat creat64 __open_2 __open64_2 __openat_2 __openat64_2 read __read_chk \
        readv pread pread64 __pread_chk __pread64_chk preadv preadv64 preadv2 preadv64v2 write writev pwrite \
        pwrite64 pwritev pwritev64 pwritev2 pwritev64v2 stat stat64 lstat lstat64 fstat fstat64 fstatat \
        fstatat64 __xstat __xstat64 __lxstat __lxstat64 __fxstat __fxstat64 __fxstatat __fxstatat64 statx close \
        fsync fdatasync sync_file_range lseek lseek64 ftruncate ftruncate64 truncate truncate64 rename renameat \
        renameat2 unlink unlinkat mkdir mkdirat rmdir link linkat symlink symlinkat readlink readlinkat \
        __readlink_chk __readlinkat_chk opendir fdopendir readdir readdir64 readdir_r readdir64_r closedir fopen \
        fopen64 freopen freopen64 fread fwrite fclose fflush copy_file_range sendfile sendfile64 splice \
        fallocate fallocate64 posix_fallocate posix_fallocate64 getxattr lgetxattr fgetxattr setxattr lsetxattr \
        fsetxattr listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr flock fcntl fcntl64 \
        lockf lockf64 mmap mmap64; do
        grep -qx "$symbol" visible || echo "$symbol"
    done >missing
    assert_eq "" "$(<missing)" "functions that are not wrapped"
fi

# ---- One process: an OPEN that fails is that of "constructor"

user_calls 0 results
assert_calls OPEN=3 FTRUNCATE=1 PWRITE=1 PREAD=2 PREADV=1 LSEEK=1 READ=2 UNLINK=1 FALLOCATE=1 CLOSE=1
assert_eq '# bytes: PREAD asked 101 moved 6' "$(grep '^# bytes: PREAD ' profile)" "bytes of pread()"
assert_eq '# bytes: PREADV asked 7 moved 7' "$(grep '^# bytes: PREADV ' profile)" "bytes of preadv()"
assert_eq '# failed: OPEN ENOENT 2' "$(grep '^# failed: OPEN ' profile)" "failures of open()"
assert_eq '# failed: FALLOCATE EINVAL 1' "$(grep '^# failed: FALLOCATE ' profile)" "failures of posix_fallocate()"
assert_eq user "$(sed -n 's/^# layer: //p' profile)" "the layer"
assert_eq "$lower" "$(sed -n 's/^# lower: //p' profile)" "the directory"

user_calls 0 by_number
assert_calls OPEN=2 WRITE=1 PREADV=1 STATX=2 CLOSE=1
assert_eq '# bytes: PREADV asked 4 moved 4' "$(grep '^# bytes: PREADV ' profile)" "bytes of preadv(2) by number"
user_calls 0 used_again_by_number
assert_calls OPEN=5 FTRUNCATE=3 PREAD=41 LOCK=1 STAT=1
user_calls 0 threads
assert_calls OPEN=2 FTRUNCATE=1 PREAD=$((7 * 1009))
user_calls 0 handlers
assert_calls OPEN=2 FTRUNCATE=1 PREAD="$(<out)"
options='-d . --everything' user_calls 0 cancelled # in a call on a FIFO
assert_calls MKNOD=1 OPEN=2 READ=1
user_calls 0 used_again
assert_calls OPEN=3 FTRUNCATE=2 PREAD=$((3 + 5 + 7)) CLOSE=1

rm -f "$lower"/*
echo constructor >"$lower/constructor"
user_run 0 "$calls" nothing
assert_calls OPEN=1 PREAD=7 CLOSE=1
rm "$lower/constructor"

# ---- Several processes, however they end

user_calls 0 child
assert_calls OPEN=2 FTRUNCATE=1 PREAD=$((3 + 13 + 17))
user_calls 0 threads_that_fork
assert_calls OPEN=2 FTRUNCATE=1 PREAD=$((1009 + 31 * 2))
user_calls 0 child_of_vfork
assert_calls OPEN=2 FTRUNCATE=1 PREAD=6 STAT=2 CLOSE=1
user_calls 137 killed
assert_calls OPEN=2 FTRUNCATE=1 PREAD=11
user_calls 0 sandboxed
assert_calls OPEN=2 FTRUNCATE=1 PREAD=3
assert_eq '1 sandboxed program' "$(not_seen)" "what is said of a program in a sandbox"
user_calls 0 executed
assert_calls OPEN=5 FTRUNCATE=2 PWRITE=1 PREAD=4 PREADV=1 LSEEK=1 READ=2 UNLINK=1 FALLOCATE=1 CLOSE=1
# shellcheck disable=SC2016
user_run 0 sh -c 'i=0; while [ $i -lt 211 ]; do '"$calls"' killed; i=$((i + 1)); done 2>/dev/null; :'
assert_eq $((211 * 11)) "$(calls PREAD)" "reads of processes that were killed"

# ---- Which files

mkdir -p "$lower/in/deep" out-side
echo inside >"$lower/in/file"
echo outside >out-side/file
ln -s "$scratch/out-side/file" "$lower/out-link"
ln -s "$lower/in/file" out-side/in-link
# A file counts where it is, a name that leads to none where it is written.
user_run 1 cat "$scratch/out-side/file" "$lower/in/../in/file" "$lower/../out-side/file" "$lower/out-link" \
    "$scratch/out-side/in-link" "$lower/in/deep/../../in/missing" "$lower/in/../../out-side/missing"
assert_eq 3 "$(calls OPEN)" "files that were opened"
assert_eq '# failed: OPEN ENOENT 1' "$(grep '^# failed: OPEN ' profile)" "files that were not found"

# Names that are relative, also after the directory has changed.
# shellcheck disable=SC2016
user_run 0 sh -c 'stat -c %n in . .. >/dev/null; cd in; stat -c %n file ../in ../../out-side/file >/dev/null
    cd /; stat -c %n "$1/in/file" . etc >/dev/null; cd "$1/.."; stat -c %n lower out-side lower/../lower/in >/dev/null' sh "$lower"
assert_eq $((2 + 2 + 1 + 2)) "$(calls STATX)" "names below the directory"

# Several directories, and everything.
user_run_in() {
    "$OSPROF" run --layers user "$@" >"$scratch/out" 2>"$scratch/err" || {
        cat "$scratch/err" >&2
        return 1
    }
}
user_run_in -d "$lower/in" -d out-side -q -o profile -- cat out-side/file "$lower/in/file" "$OSPROF" >/dev/null
assert_eq 2 "$(calls OPEN)" "files opened in two directories"
assert_eq "$lower/in, $scratch/out-side" "$(sed -n 's/^# lower: //p' profile)" "the directories"
ln -s out-side link
user_run_in -d out-side -d link -d "$lower/in" -d out-side -q -o profile -- cat out-side/file
assert_eq "# lower: $PWD/out-side, $lower/in" "$(grep '^# lower: ' profile)" "a directory under two names"
user_run_in -d / -d out-side -q -o profile -- cat out-side/file "$lower/in/file" /etc/passwd
[ "$(calls OPEN)" -ge 3 ] || fail "opened below /: $(calls OPEN)"

# The live file is below / too, and the library's own calls to get to it do not count.
rm -f "$lower/data"
(cd "$lower" && user_run_in -d / -q -o "$scratch/profile" -- "$calls" threads)
assert_eq $((7 * 1009)) "$(calls PREAD)" "reads of threads below /"
(cd "$lower" && user_run_in -d / -q -o "$scratch/profile" -- "$calls" child)
assert_eq $((3 + 13 + 17)) "$(calls PREAD)" "reads of a child below /"
assert_eq "0 0" "$(calls FALLOCATE) $(calls MMAP)" "calls of the library's own"
! grep '^# incomplete' profile || fail "calls below / are lacking"
rm -f "$lower/data"

# ---- What is run

user_run_in -d "$lower" --warmup 3 --repeat 2 --label rack=7 -q -o profile -- cat "$lower/in/file"
assert_eq 2 "$(calls OPEN)" "calls of two runs after three others"
assert_eq 7 "$(sed -n 's/^# label rack: //p' profile)" "a label"
assert_eq 2 "$(sed -n 's/^# runs: //p' profile)" "runs"

look='ls -l /proc/self/fd | grep -o "[0-9]* -> .*" | grep -v /proc; umask; pwd; echo error >&2; exit 5'
(cd "$lower" && sh -c "$look") >expected 2>&1 || true
user_run 5 sh -c "exec 2>&1; $look"
alike='s|pipe:.*|F|; s|-> .*/expected|-> F|; s|-> .*/out|-> F|'
diff -u <(sed "$alike" expected) <(sed "$alike" out) >&2 ||
    fail "the command sees something else"

# Two commands in turn, each counted by itself, after runs that do not count.
if ! is_without statistics; then
    user_run_in -d "$lower" --warmup 1 --repeat 3 -q -o sets --vs "cat '$lower/in/file' '$lower/in/file'" -- cat "$lower/in/file"
    for run in 1 2 3; do
        cp "sets/a-0$run.osprof" profile
        assert_eq 2 "$(calls OPEN)" "files that the other opens in round $run"
        cp "sets/b-0$run.osprof" profile
        assert_eq 1 "$(calls OPEN)" "files that the command opens in round $run"
    done
fi
user_run_in -d "$lower" --vs true -- cat "$lower/in/file"
grep -q '^B .*cat .* in [1-9][0-9]* calls' err || fail "the two are not compared: $(<err)"
XDG_RUNTIME_DIR=$scratch/none expect 125 run -d "$lower" --vs true -- true

# Four buckets per power of two, unless others are asked for
user_run_in -d "$lower" -q -o profile -- cat "$lower/in/file"
assert_eq 4 "$(sed -n 's/^# resolution: //p' profile)" "resolution of the layer user"
user_run_in -d "$lower" --resolution 1 -q -o profile -- cat "$lower/in/file"
assert_eq 1 "$(sed -n 's/^# resolution: //p' profile)" "resolution of the layer user, as asked for"
user_run_in -d "$lower" --resolution 8 -q -o profile -- cat "$lower/in/file"
assert_eq 1 "$(calls OPEN)" "files opened, in finer buckets"

# By default, which mounts nothing.
(cd "$lower" && "$OSPROF" run -q -o ../profile -- cat in/file ../out-side/file) >out 2>err
assert_eq user "$(sed -n 's/^# layer: //p' profile)" "the default layer"
[ "$(calls OPEN)" -ge 2 ] || fail "not all files count: $(calls OPEN)"

# All of it is shown on request.
user_run_in -v -d "$lower" -- cat "$lower/in/file"
grep -q '^OPEN  *1 ' err || fail "the page has no OPEN: $(<err)"

# ---- What is not seen is reported

if [ -x /sbin/ldconfig ] && ! readelf -l /sbin/ldconfig | grep -q INTERP; then
    user_run 0 sh -c '/sbin/ldconfig -V; exec /sbin/ldconfig -V'
    assert_eq '2 statically linked programs' "$(not_seen)" "programs that were not seen"
    # shellcheck disable=SC2016 # for sh
    user_run_in -d "$lower" -- sh -c 'cat "$1"; exec /sbin/ldconfig -V' sh "$lower/in/file"
    grep -q ' at least ' <(sed '/^$/d' err | head -n 2 | paste -sd ' ') || fail "the time is not said to be a lower bound: $(<err)"
    grep -q '^Not measured: 1 statically linked program (ldconfig' err || fail "not told what was not seen: $(<err)"
    user_run_in -- /sbin/ldconfig -V
    grep -q 'no calls were measured$' <(sed '/^$/d' err) || fail "a static command is said to make no calls: $(<err)"
    user_run 0 /sbin/ldconfig -V
    assert_eq '1 statically linked program' "$(not_seen)" "a command that was not seen"
    assert_eq "osprof: the layer user does not see /sbin/ldconfig: it is statically linked" "$(<err)" "message of a static program"
fi

# ---- Without a live file the command runs on

rm -f profile
XDG_RUNTIME_DIR=$scratch/none expect 3 run --layers user -d "$lower" -q -o profile -- sh -c 'echo runs; exit 3'
assert_eq runs "$(<out)" "output of a command that is not profiled"
assert_eq "osprof: the layer user is not profiled: no live file can be made in $scratch/none/osprof: No such file or directory" \
    "$(<err)" "message without a live file"
[ ! -e profile ] || fail "there is a profile of nothing"

assert_eq "" "$(find "$scratch"/run* -type f)" "live files left"
