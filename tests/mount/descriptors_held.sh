#!/bin/bash
# What programs hold without having it open - by O_PATH, as a working directory, by inotify, by a bind mount - stays what it
# is, while the daemon has to close its descriptor and find it again: renamed, linked, replaced or removed, through the
# mount or below it. All that hold_names.py prints is compared with what it prints on the lower directory.
. "$(dirname "$0")/lib.sh"
need_user_mounts "$@"
. "$tests_dir/helpers.sh"
. "$tests_dir/descriptors_lib.sh"
provide_programs

# compare_held LIMIT [OPTION]...
compare_held() {
    mount_limited "$@"
    as mkdir "$shown/native" "$mnt/mounted"
    as python3 "$scratch/hold_names.py" "$shown/native" "$shown/native" >"$scratch/right" 2>&1
    as timeout 100 python3 "$scratch/hold_names.py" "$mnt/mounted" "$shown/mounted" >"$scratch/found" 2>&1 || true
    [ "$(wc -l <"$scratch/right")" -gt 30 ] || fail "the probe fails: $(tail -n 1 "$scratch/right")"
    diff "$scratch/right" "$scratch/found" >&2 || fail "differs ($kind, $*)"
}

# A mount of a directory below the mount is not asked for by name any more.
bind_mount_stays() {
    mkdir -p "$mnt/bound/inner" "$scratch/place"
    echo text >"$mnt/bound/inner/file"
    mount --bind "$mnt/bound/inner" "$scratch/place"
    mv "$mnt/bound/inner" "$mnt/elsewhere" 2>"$scratch/errors" || fail "mv of what is mounted elsewhere: $(<errors)"
    ls -lR "$mnt/mounted" >/dev/null
    assert_eq text "$(cat "$scratch/place/file")" "through the bind mount"
    mv "$shown/elsewhere" "$shown/below"
    ls -lR "$mnt/mounted" >/dev/null
    echo more >>"$scratch/place/file"
    assert_eq $'text\nmore' "$(cat "$shown/below/file")" "written through the bind mount"
    umount "$scratch/place"
}

need python3
cp "$tests_dir/hold_names.py" "$scratch/hold_names.py"
chmod 0644 "$scratch/hold_names.py"
for limit in 256 64; do
    for kind in "${descriptor_kinds[@]}"; do
        begin_kind "$kind"
        compare_held "$limit"
        end_kind
    done
done
begin_kind overlay
compare_held 64 -o allow_other,no_default_permissions
bind_mount_stays
end_kind
