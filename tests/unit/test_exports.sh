#!/bin/bash
# The shared libaggstats has the functions that its headers declare as visible symbols, and no others; its soname and the
# version of the symbols are the number in its headers.
#
#     test_exports.sh LIBRARY HEADERS    HEADERS: the directory of the public headers
set -euo pipefail
library=$1
headers=$2
failed=0

expect() {
    if [ "$2" != "$3" ]; then
        printf '%s:\n%s\n' "$1" "$(diff <(echo "$2") <(echo "$3"))"
        failed=1
    fi
}

abi=$(sed -n 's/^#define AGGSTATS_ABI //p' "$headers/abi.h")

# Declarations, in which a name is followed by its parameters; those that are inline are no symbols.
declared=$(cat "$headers"/*.h | grep -vE '^ \*|^static|^ |^#|^/\*' | grep -oE '\baggstats_[a-z_]+\(' | tr -d '(')
declared=$(printf '%s\naggstats_thread_cache\n' "$declared" | sort -u)
visible=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort)
expect 'declared, and visible' "$declared" "${visible//@@AGGSTATS_$abi/}"

soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
expect 'soname' "libaggstats.so.$abi" "$soname"
exit "$failed"
