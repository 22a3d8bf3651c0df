#!/bin/bash
# The preloaded objects can be loaded into programs with an older C library: they need no symbol that is newer than
# glibc 2.17 (riscv: 2.27, its first), and no other library.
. "$(dirname "$0")/lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

have objdump || skip "objdump is not installed"
[ "$(uname -m)" = riscv64 ] && most=GLIBC_2.27 || most=GLIBC_2.17
tried=0
for library in "$OSPROF_LIBRARIES/libosprof_posix.so" "$OSPROF_LIBRARIES/../fuse/libosprof_fuse.so"; do
    [ -e "$library" ] || continue
    tried=$((tried + 1))
    objdump -T "$library" | grep -F '*UND*' >symbols
    grep -Eo '\(?GLIBC_[0-9.]+\)?' symbols | tr -d '()' | sort -u >versions
    grep -qx GLIBC_2.17 versions || fail "no versions found for $library: $(<symbols)"
    echo "$most" >>versions
    newest=$(sort -V versions | tail -n 1)
    assert_eq "$most" "$newest" "newest version that $library needs, for: $(grep -F "$newest" symbols)"
    assert_eq "" "$(objdump -p "$library" | awk '$1 == "NEEDED" && $2 !~ /^(libc\.so|ld-linux)/')" "libraries that $library needs"
done
[ "$tried" -ge 1 ] || fail "nothing tried"
