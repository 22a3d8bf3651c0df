#!/bin/bash
# A row of FS_OPS in which a field is missing, stands in another's place or names what is not there does not compile.
#
#     test_fs_ops.sh SOURCE COMPILER...
set -euo pipefail
source=$1
compiler=("${@:2}")
layers=$source/src/fuse/layers
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$layers/prof.c" "$layers/include/prof.h" "$scratch"

row='OP(ACCESS, access, PARAMS((int, mask)), VALUES(), COLUMNS((mask, mask)), MORE(), TEXTS())'
grep -qF "$row" "$layers/include/fs_ops.h" || { echo "no such row: $row" && exit 1; }

# compiles WITH: with that in place of the row
compiles() {
    table=$(<"$layers/include/fs_ops.h")
    echo "${table/"$row"/"$1"}" >"$scratch/fs_ops.h"
    "${compiler[@]}" -std=gnu17 -D_GNU_SOURCE -w -fsyntax-only -I"$source/src/base/include" -I"$source/src/events/include" \
        -I"$source/src/aggstats/include" -I"$source/src/aggstats/internal" "$scratch/prof.c" 2>"$scratch/said"
}

compiles "$row" || { cat "$scratch/said" && exit 1; }
for change in 'ACCESS, :' 'access, :' 'PARAMS((int, mask)), :' 'VALUES(), :' 'COLUMNS((mask, mask)), :' 'MORE(), :' \
        ', TEXTS():' 'VALUES():VALUES((taste, mask))' 'VALUES():VALUES((error))' 'COLUMNS(:TEXTS(' 'MORE():TEXTS()' \
        'VALUES(), COLUMNS((mask, mask)):COLUMNS((mask, mask)), VALUES()' 'PARAMS((int, mask)):PARAMS()' \
        'MORE(), TEXTS():TEXTS(), MORE()'; do
    changed=${row/"${change%%:*}"/"${change#*:}"}
    [ "$changed" != "$row" ] || { echo "nothing changed: $change" && exit 1; }
    ! compiles "$changed" || { echo "compiles: $changed" && exit 1; }
done
