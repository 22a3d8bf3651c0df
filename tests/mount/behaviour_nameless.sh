#!/bin/bash
# Files that are made without a name (O_TMPFILE): used so, named later, elsewhere, twice, or never; all as below.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/behaviour_lib.sh"

need_root
need mkfs.ext4
topics=(nameless nameless_many nameless_named)

all() {
    compare allow_other "" "${topics[@]}"
    compare allow_other,cache=none as_user "${topics[@]}"
    compare allow_other,no_default_permissions as_user "${topics[@]}"
}

on tmpfs all
on ext4 all
end_comparison
