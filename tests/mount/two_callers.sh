# shellcheck shell=bash
# A load of two callers, for tests that count exactly. Source after lib.sh and helpers.sh; it needs tar, $scratch/tree and
# $lower/copy, and goes on until $scratch/go-on is gone.
# shellcheck disable=SC2154 # assigned there

# What they say when the other removes something does not matter.
read_on() {
    while [ -e "$scratch/go-on" ]; do
        grep -rs nothing "$mnt" || true
    done
}

write_on() {
    while [ -e "$scratch/go-on" ]; do
        tar -C "$scratch/tree" -cf - . | tar -C "$mnt/copy" -xf -
        find "$mnt/copy" -mindepth 1 -delete
    done
}
