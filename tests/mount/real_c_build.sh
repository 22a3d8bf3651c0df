#!/bin/bash
# A C project of 68 files is compiled and linked in the mount, in its own tree and out of it, with every linker there is
# (some write their output through a mapping); the programs run there and below, and make finds nothing left to do.
. "$(dirname "$0")/lib.sh"
need cc ar make

files=67

make_project() {
    local number
    mkdir "$1"
    cd "$1"
    echo '#define STEP 3' >step.h
    for number in $(seq "$files"); do
        printf '#include "step.h"\nint f%s(int x);\nint f%s(int x) {\n    return x + STEP;\n}\n' "$number" "$number" \
            >"f$number.c"
    done
    {
        echo '#include <stdio.h>'
        seq -f 'int f%g(int x);' "$files"
        echo 'int main(void) {'
        echo '    int x = 0;'
        seq -f '    x = f%g(x);' "$files"
        printf '%s\n' '    printf("%d\n", x);'
        echo '}'
    } >main.c
    make_makefile >Makefile
    cd "$scratch"
}

make_makefile() {
    cat <<'END'
SOURCES := $(dir $(lastword $(MAKEFILE_LIST)))
vpath %.c $(SOURCES)
vpath %.h $(SOURCES)
OBJECTS := $(patsubst $(SOURCES)%.c,%.o,$(wildcard $(SOURCES)f*.c))
program: main.o libf.a
	$(CC) $(LDFLAGS) -o $@ $^
shared: main.o libf.so
	$(CC) $(LDFLAGS) -o $@ main.o -L. -lf -Wl,-rpath,'$$ORIGIN'
libf.a: $(OBJECTS)
	ar rcs $@ $^
libf.so: $(OBJECTS)
	$(CC) $(LDFLAGS) -shared -o $@ $^
%.o: %.c step.h
	$(CC) -g -O1 -fPIC -pipe -c -o $@ $<
END
}

build() {
    local directory=$1 linker=$2
    mkdir -p "$directory"
    make -C "$directory" -f "$mnt/project/Makefile" -j2 --silent LDFLAGS="-fuse-ld=$linker" program shared
    make -C "$directory" -f "$mnt/project/Makefile" --question program shared || fail "make would build again"
    assert_runs "$directory"
}

assert_runs() {
    assert_eq $((files * 3)) "$("$1/program")" "output of $1/program"
    assert_eq $((files * 3)) "$("$1/shared")" "output of $1/shared"
}

linkers() {
    local linker
    for linker in bfd gold lld; do
        ! have "ld.$linker" || echo "$linker"
    done
}

relink() {
    local directory=$1 linker=$2
    rm "$directory/program" "$directory/shared" "$directory/libf.so"
    build "$directory" "$linker"
}

mount_osproffs "$lower" "$mnt"
make_project "$mnt/project"
build "$mnt/project" bfd
mkdir "$mnt/out"
cp -p "$mnt/project/"*.o "$mnt/out" # out of tree; compiling once is enough for the linkers
rm "$mnt/out/f7.o"
build "$mnt/out" bfd
for linker in $(linkers); do
    relink "$mnt/out" "$linker"
done
assert_same_view "$lower" "$mnt"
unmount_osproffs "$mnt"
assert_profiled LOOKUP CREATE WRITE READ GETATTR
assert_runs "$lower/project"
assert_runs "$lower/out"
