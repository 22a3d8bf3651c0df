#!/bin/bash
# osprof run --layers user beside what else is preloaded or linked in: other allocators, sanitizers, other preloaded
# objects; and in programs of another C library. Each is tried if it is installed.
. "$(dirname "$0")/lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

# told: what the profile says that was not seen
told() {
    not_seen
}

# find_library NAME: its path, if the loader can load it
find_library() {
    local found
    found=$(find /usr/lib /usr/lib64 /usr/local/lib -name "$1" 2>/dev/null | head -n 1)
    [ -n "$found" ] && [ "$(LD_PRELOAD=$found sh -c 'echo works' 2>&1)" = works ] && echo "$found"
}

skipped() {
    echo "not tried, as it is not installed: $*" >&2
}

echo line >"$lower/file"

# ---- Preloaded before and after ours

user_run 0 cat file
sed -n 's/^OP_\([A-Z_]*\) \([0-9]*\) .*/\1=\2/p' "$scratch/profile" | sort >alone
for name in libjemalloc.so.2 libtcmalloc_minimal.so.4 libeatmydata.so; do
    library=$(find_library "$name") || { skipped "$name"; continue; }
    LD_PRELOAD=$library user_run 0 cat file
    assert_eq line "$(<out)" "output with $name behind ours"
    sed -n 's/^OP_\([A-Z_]*\) \([0-9]*\) .*/\1=\2/p' "$scratch/profile" | sort >beside
    diff alone beside >&2 || fail "other calls with $name"
    # shellcheck disable=SC2016 # for the shell inside
    user_run 0 sh -c 'LD_PRELOAD=$1:$LD_PRELOAD exec cat file' sh "$library"
    assert_eq line "$(<out)" "output with $name before ours"
    assert_eq 1 "$(calls OPEN)" "files opened with $name before ours"
done

# Ours finds the functions of the others whichever kind of symbol table they have.
cat >others.c <<'END'
int access(const char *path, int mode) {
    (void)mode;
    return path[0] == 'f' ? 7 : 0;
}
END
cat >asks.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void) {
    return printf("%d\n", access("file", R_OK)) < 0;
}
END
for style in gnu sysv; do
    if ! { gcc -shared -fPIC -Wl,--hash-style=$style -o "$style.so" others.c && gcc -o asks asks.c; } 2>/dev/null; then
        skipped "gcc -Wl,--hash-style=$style"
        continue
    fi
    LD_PRELOAD=$scratch/$style.so user_run 0 "$scratch/asks"
    assert_eq "7 1" "$(<out) $(calls ACCESS)" "answer of a function behind ours (--hash-style=$style), and calls counted"
done

if have fakeroot; then
    user_run 0 fakeroot sh -c 'chown 1234:1234 file && stat -c %u:%g file && tar cf all.tar file && tar tvf all.tar'
    assert_eq "1234:1234" "$(head -n 1 out)" "owner with fakeroot"
    grep -q 1234/1234 out || fail "tar sees another owner: $(<out)"
    [ "$(calls OPEN)" -ge 3 ] || fail "calls with fakeroot: $(calls OPEN)"
    rm "$lower/all.tar"
else
    skipped fakeroot
fi

# ---- Sanitizers

cat >program.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char bytes[8] = "";
    volatile char *memory = malloc(4);
    int fd = open("file", O_RDONLY);
    if (read(fd, bytes, 4) != 4 || close(fd) < 0)
        return 2;
    puts(bytes);
    if (argc > 1)
        memory[atoi(argv[1])] = 1;
    free((void *)memory);
    return 4;
}
END
unset ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS # newer mesons set some
for sanitizer in address thread undefined; do
    gcc -fsanitize="$sanitizer" -o "sane-$sanitizer" program.c 2>/dev/null || { skipped "gcc -fsanitize=$sanitizer"; continue; }
    user_run 4 "$scratch/sane-$sanitizer"
    assert_eq line "$(<out)" "output of a program with -fsanitize=$sanitizer"
    assert_eq "" "$(<err)" "messages of a program with -fsanitize=$sanitizer"
    assert_eq "1 1 1" "$(calls OPEN) $(calls READ) $(calls CLOSE)" "calls of a program with -fsanitize=$sanitizer"
done

# The sanitizer of addresses looks for its library among the first, or for a second one of itself where it is linked in,
# whatever its variable says.
for how in "gcc" "gcc -static-libasan" "clang" "clang -shared-libasan"; do
    # shellcheck disable=SC2086 # words
    $how -fsanitize=address -o sane program.c 2>/dev/null || { skipped "$how -fsanitize=address"; continue; }
    status=0
    (cd "$lower" && "$scratch/sane") >plain 2>&1 || status=$?
    [ "$status" = 4 ] || { skipped "$how -fsanitize=address: $(<plain)"; continue; }
    user_run 4 sh -c "ASAN_OPTIONS=detect_leaks=0 exec $scratch/sane"
    assert_eq line "$(<out)$(<err)" "output of a program made by $how whose ASAN_OPTIONS are set"
    assert_eq "" "$(told)" "what is told of a program made by $how"
done
if [ -x sane-address ]; then
    user_run 1 "$scratch/sane-address" 6
    grep -q 'AddressSanitizer: heap-buffer-overflow' err || fail "the sanitizer is silent: $(<err)"
fi

# ---- valgrind, which checks what the kernel is given

cat >checked.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static char *copy(const char *text) { /* of which no byte more is the program's */
    return strcpy(malloc(strlen(text) + 1), text);
}
int main(void) {
    struct stat attr;
    char part[16]; /* of which the rest has no value */
    char *name = copy("f"), *variable = copy("A=1"), *variables[] = {variable, NULL}, *arguments[] = {"true", NULL};
    strcpy(part, "f");
    int fd = open(name, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || close(fd) < 0 || stat(name, &attr) < 0 || unlink(part) < 0 || syscall(SYS_getpid) != getpid())
        return 1;
    printf("%d\n", unlink((char *)8)); /* is answered EFAULT */
    fflush(stdout);
    if (vfork() == 0)
        _exit(execve("/bin/true", arguments, variables));
    wait(NULL);
    free(name);
    free(variable);
    return 0;
}
END
if have valgrind && gcc -w -o checked checked.c; then
    for tool in memcheck none; do
        valgrind --tool="$tool" --quiet --log-file=plain "$scratch/checked" >/dev/null
        user_run 0 valgrind --tool="$tool" --quiet --log-file="$scratch/with" "$scratch/checked"
        assert_eq -1 "$(<out)" "output with valgrind --tool=$tool"
        sed -i 's/^[=-]*[0-9]*[=-]* //' plain with # numbers of processes
        sed -i '/by 0x.*(calls\.c/d; / 0x/s/0x[0-9A-F]*//' plain with # our frames, addresses
        diff plain with >&2 || fail "valgrind --tool=$tool says something else"
        assert_eq 1 "$(calls UNLINK)" "names deleted with valgrind --tool=$tool"
    done
else
    skipped valgrind
fi

# ---- Another C library, static programs: each works, and is reported

for how in "musl-gcc:1 foreign program" "gcc -static:1 statically linked program" "musl-gcc -static:1 statically linked program"; do
    # shellcheck disable=SC2086 # words
    ${how%:*} -w -o program program.c 2>/dev/null || { skipped "${how%:*}"; continue; }
    user_run 4 sh -c "exec $scratch/program"
    assert_eq line "$(<out)" "output of a program made by ${how%:*}"
    assert_eq "" "$(<err)" "messages of a program made by ${how%:*}"
    assert_eq "${how#*:}" "$(told)" "what is told of a program made by ${how%:*}"
    user_run 4 "$scratch/program"
    assert_eq line "$(<out)" "output of a command made by ${how%:*}"
    assert_eq 1 "$(wc -l <err)" "messages of a command made by ${how%:*}: $(<err)"
done

# ---- Go, also where it is dynamically linked

if have rclone && readelf -l "$(command -v rclone)" 2>/dev/null | grep -q INTERP; then
    user_run 0 sh -c 'rclone version >/dev/null'
    assert_eq "1 program of Go" "$(told)" "what is told of a program of Go"
    user_run 0 rclone version
    assert_eq "osprof: the layer user does not see rclone: it is written in Go, and makes most of its system calls by itself" \
        "$(<err)" "message of a command of Go"
else
    skipped rclone
fi

# ---- libaio

cat >program.c <<'END'
#include <libaio.h>
#include <fcntl.h>
int main(void) {
    char bytes[2];
    io_context_t context = 0;
    struct iocb one, two, *list[] = {&one, &two};
    struct io_event events[2];
    int fd = open("file", O_RDONLY);
    io_prep_pread(&one, fd, bytes, 1, 0);
    io_prep_pread(&two, fd, bytes + 1, 1, 1);
    return io_setup(2, &context) != 0 || io_submit(context, 2, list) != 2 || io_getevents(context, 2, 2, events, 0) != 2;
}
END
if gcc -o program program.c -laio 2>/dev/null; then
    user_run 0 "$scratch/program"
    assert_eq "2 asynchronous calls" "$(told)" "what is told of calls of libaio"

    # The same in an object that loads libaio for itself alone.
    sed 's/main(void)/run(void)/' program.c >object.c
    gcc -shared -fPIC -o object.so object.c -laio
    cat >program.c <<'END'
#include <dlfcn.h>
int main(int argc, char **argv) {
    int (*run)(void) = dlsym(dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL), "run");
    return run();
}
END
    gcc -o program program.c -ldl
    user_run 0 "$scratch/program" "$scratch/object.so"
    assert_eq "2 asynchronous calls" "$(told)" "what is told of calls of an object of its own"
else
    skipped libaio
fi
