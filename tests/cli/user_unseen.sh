#!/bin/bash
# osprof run --layers user of programs that cannot be observed where they are executed: they do what they do without
# osprof, the loader does not complain of the library, and the profile has how many there were, and why.
. "$(dirname "$0")/lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

# same STATUS TOLD COMMAND...: in $lower, first without osprof, then with it, which tells TOLD, a regular expression
same() {
    local wanted=$1 told=$2 status=0 found
    shift 2
    (cd "$lower" && exec "$@") >"$scratch/plain" 2>"$scratch/plain.err" || status=$?
    assert_eq "$wanted" "$status" "exit status without osprof of: $*"
    user_run "$wanted" "$@"
    diff "$scratch/plain" "$scratch/out" >&2 || fail "prints something else: $*"
    diff "$scratch/plain.err" "$scratch/err" >&2 || fail "complains about something else: $*"
    found=$(not_seen)
    [[ $found =~ ^($told)$ ]] || fail "what is told of: $*: expected '$told', found '$found'"
    ! grep -q '^# incomplete' "$scratch/profile" || fail "memory or disk space ran out: $*"
}

skipped() {
    echo "not tried, as it is not installed, or not allowed: $*" >&2
}

# Libraries that this test may change.
use_copies() {
    rm -rf "$scratch/libraries"
    mkdir -p "$scratch/libraries"
    cp -P "$build_libraries"/libosprof_posix*.so "$scratch/libraries"
    export OSPROF_LIBRARIES=$scratch/libraries
}

echo line >"$lower/file"
build_libraries=$OSPROF_LIBRARIES

# ---- Each program that is executed is expected to be seen, and is

same 0 "" "$TEST_PROGRAMS/hard_calls" execute
same 0 "" "$TEST_PROGRAMS/hard_calls" execute_on_small_stack
same 0 "" sh -c 'true; env true; sh -c "exec true"; cat file | cat; no-such-program 2>&1 || :'
# shellcheck disable=SC2016 # for the shell inside
same 0 "" sh -c 'PATH=/nowhere:/nothing:$PATH; env true; ./file 2>/dev/null || :'
same 127 "" sh -c 'exec ./no-such-program'

# ---- The loader itself, and where it only lists what it loads

loader=$(readelf -l "$(command -v cat)" 2>/dev/null | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
if [ -x "$loader" ]; then
    same 0 "" sh -c "exec $loader $(command -v cat) file"
    assert_eq 1 "$(calls OPEN)" "files opened by a program that the loader is told to load"
    same 0 "" sh -c 'LD_TRACE_LOADED_OBJECTS=1 cat | sed "s/0x.*//"'
else
    skipped readelf
fi

# ---- The library is gone, is another one, or is of another version

use_copies
export LIBRARY=$scratch/libraries/libosprof_posix.so
same 0 "12 programs in another root directory or mount namespace" "$TEST_PROGRAMS/hard_calls" execute_without_library
use_copies
if echo 'int nothing;' >empty.c && gcc -shared -o empty.so empty.c 2>/dev/null; then
    # shellcheck disable=SC2016 # for the shell inside
    same 0 "1 program for an unknown reason" sh -c '[ -z "$LD_PRELOAD" ] || cp --remove-destination "$1" "$LIBRARY"; exec cat file' \
        sh "$scratch/empty.so"
else
    skipped gcc
fi
use_copies
sed -i 's/osprof \([0-9]*\) OPEN/osprof \1 OPEM/' "$LIBRARY"
status=0
"$OSPROF" run --layers user -q -o profile -- cat file >out 2>err || status=$?
assert_eq "125 osprof: cannot preload $scratch/libraries/libosprof_posix.libasan.so: it is of another version than osprof" \
    "$status $(<out)$(<err)" "what is said of a library of another version"
export OSPROF_LIBRARIES=$build_libraries

# ---- Limits

for limit in "-v 6000" "-d 500"; do
    same 0 "1 program that lacked descriptors or memory" sh -c "ulimit $limit; exec cat file"
done
if [ -e empty.so ]; then # is all that is preloaded then
    cp empty.so other.so
    # shellcheck disable=SC2016 # for the shell inside
    LD_PRELOAD="$scratch/empty.so $scratch/other.so" same 0 "2 programs that lacked descriptors or memory" \
        sh -c 'ulimit -v 8000; exec env | grep ^LD_PRELOAD'
fi
same 127 "1 program that lacked descriptors or memory" sh -c 'ulimit -n 3; cat file'

# ---- A program for another architecture, without a compiler's files for it

cat >foreign.c <<'END'
int puts(const char *);
int fflush(void *);
void _exit(int);
void _start(void) {
    puts("line");
    fflush(0);
    _exit(4);
}
END
if [ "$(uname -m)" = x86_64 ] && gcc -w -m32 -nostdlib -o foreign foreign.c /lib32/libc.so.6 2>/dev/null &&
    { status=0; ./foreign >/dev/null 2>&1 || status=$?; [ "$status" = 4 ]; }; then
    same 4 "1 foreign program" sh -c "$scratch/foreign"
else
    skipped gcc -m32, or a kernel for its programs
fi

# ---- Other users, root directories and namespaces

[ "$(id -u)" = 0 ] || exit 0
chmod 755 "$scratch" "$lower"
if have setpriv; then
    same 0 "1 program of another user" setpriv --reuid 65534 --regid 65534 --clear-groups cat file
    use_copies
    chmod 700 "$scratch/libraries"
    same 0 "1 program of another user" setpriv --reuid 65534 --regid 65534 --clear-groups cat file
    export OSPROF_LIBRARIES=$build_libraries
else
    skipped setpriv
fi
# The program, and the process that becomes another user, if it makes calls then.
if have runuser && runuser -u nobody -- true 2>/dev/null; then
    same 0 "(1 program|2 programs) of another user" runuser -u nobody -- cat file
else
    skipped runuser
fi

# Named by the loader: what it lists for cat.
root=$scratch/root
mkdir -p "$root/bin"
LD_TRACE_LOADED_OBJECTS=1 cat | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root${library%/*}"
    cp "$library" "$root$library"
done
cp "$(command -v cat)" "$root/bin"
echo inside >"$root/file"
# The process itself, with its names in another directory, unless all files count; and the program.
options='' same 0 "" chroot / cat /etc/passwd
options='' same 0 "1 program in another root directory or mount namespace" chroot "$root" /bin/cat /file
same 0 "2 programs in another root directory or mount namespace" chroot "$root" /bin/cat /file
if unshare --mount true 2>/dev/null; then
    same 0 "1 program in another root directory or mount namespace" \
        unshare --mount sh -c "mount -t tmpfs none $XDG_RUNTIME_DIR && exec cat file"
else
    skipped unshare
fi
if have bwrap && bwrap --ro-bind / / true 2>/dev/null; then
    same 0 "1 sandboxed program" bwrap --bind "$root" / /bin/cat /file
    [ "$(uname -m)" != x86_64 ] || printf '\6\0\0\0\0\0\377\177' >filter # allows everything
    [ ! -e filter ] || same 0 "1 sandboxed program" sh -c "exec bwrap --seccomp 9 --bind $root / /bin/cat /file 9<$scratch/filter"
    same 0 "1 program of another user" setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "bwrap --ro-bind $root / /bin/cat /file || :"
    same 0 "1 sandboxed program, 1 program in another root directory or mount namespace" bwrap --unshare-all --ro-bind / / cat file
else
    skipped bwrap
fi
