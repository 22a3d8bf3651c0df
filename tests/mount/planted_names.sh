#!/bin/bash
# In a directory that all may write to (sticky, as /tmp), others make the names first that the profile would be saved
# under: it is neither lost nor written to where they want.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
need_user_mounts "$@"

stranger_uid=65533
shared=$scratch/shared
mkdir -m 1777 "$shared"
chmod 1777 "$shared"
chown "$user_uid:$user_gid" "$lower" "$mnt"
echo precious >"$scratch/home-user/precious"
chown "$user_uid:$user_gid" "$scratch/home-user/precious"

# plant KIND NAME: made by somebody else
plant() {
    local path=$shared/$2
    case $1 in
    file) as_ids "$stranger_uid" "$stranger_uid" "" sh -c ": >'$path'" ;;
    directory) as_ids "$stranger_uid" "$stranger_uid" "" mkdir "$path" ;;
    symlink) as_ids "$stranger_uid" "$stranger_uid" "" ln -s "$scratch/home-user/precious" "$path" ;;
    fifo) as_ids "$stranger_uid" "$stranger_uid" "" mkfifo -m 0666 "$path" ;;
    esac
}

# refused WHO...: osproffs in the background with the default name, and with the name given
refused() {
    local option status
    for option in rw "profile=$shared/osprof.out"; do
        status=0
        (cd "$shared" && "$@" timeout 20 "$OSPROFFS" -o "$option" "$lower" "$mnt") >out 2>err || status=$?
        assert_eq 2 "$status" "status, with $option: $(<err)"
        assert_eq 1 "$(wc -l <err)" "lines of the message: $(<err)"
        grep -qF "osprof.out: " err || fail "not named: $(<err)"
        assert_unmounted "$mnt"
    done
}

found_at_the_start() {
    local kind
    for kind in file directory symlink fifo; do
        plant "$kind" osprof.out
        [ "$kind" != fifo ] || exec 3<>"$shared/osprof.out" # somebody listens
        refused as_user
        [ "$kind" = file ] || refused env # not even root writes to there
        exec 3>&-
        rm -r "${shared:?}"/*
    done
    assert_eq precious "$(<"$scratch/home-user/precious")" "what the symbolic link leads to"
}

# Who comes too late for the start can still be in the way in the end.
found_at_the_end() {
    local kind live
    for kind in file directory symlink fifo; do
        mount_osproffs_as_user -o "profile=$shared/osprof.out" "$lower" "$mnt"
        live=$scratch/run-user/osprof/$daemon_pid.live
        as_user mkdir "$mnt"/known-{1..7}
        as_user rmdir "$mnt"/known-{1..7}
        plant "$kind" osprof.out
        ! as_user sh -c "echo dump >'$mnt/.osprof'" 2>/dev/null || fail "dumped over a planted $kind"
        as_user fusermount3 -u "$mnt"
        assert_status 2 "a planted $kind"
        assert_eq 1 "$(grep -c "cannot write profile $shared/osprof.out: .*; saved in $live (osprof save $live)\$" "$daemon_log")" \
            "messages: $(<"$daemon_log")"
        as_user "$OSPROF" save "$live" >recovered
        assert_eq 7:7 "$(profile_calls MKDIR recovered):$(profile_calls RMDIR recovered)" "recovered"
        assert_eq osprof.out "$(listed "$shared")" "names there, with a $kind"
        rm -r "$live" "$shared/osprof.out"
    done
    assert_eq precious "$(<"$scratch/home-user/precious")" "what the symbolic link leads to"
}

# Root can replace the file of another, wherever it lies.
root_replaces_files() {
    plant file osprof.out
    mount_osproffs -o "profile=$shared/osprof.out" "$lower" "$mnt"
    known_load "$mnt"
    rmdir "$mnt"/known-*
    umount "$mnt"
    assert_status 0 "a planted file"
    assert_eq 7:7 "$(profile_calls MKDIR "$shared/osprof.out"):$(profile_calls RMDIR "$shared/osprof.out")" "profile"
    assert_eq "0 644" "$(stat -c '%u %a' "$shared/osprof.out")" "whose it is now"
    rm "$shared/osprof.out"
}

# The other programs that write profiles.
other_writers() {
    local kind
    mount_osproffs "$lower" "$mnt"
    cp "$mnt/.osprof" "$scratch/profile"
    umount "$mnt"
    for kind in file directory symlink fifo; do
        plant "$kind" osprof.out
        ! as_user "$OSPROF" save -o "$shared/osprof.out" "$scratch/profile" 2>err || fail "saved into a planted $kind"
        ! as_user timeout 20 "$OSPROF" run --layers fs -d "$lower" -q -o "$shared/osprof.out" -- true 2>err || fail "run into a planted $kind"
        assert_eq osprof.out "$(listed "$shared")" "names there, with a $kind"
        rm -r "$shared/osprof.out"
    done
    assert_eq precious "$(<"$scratch/home-user/precious")" "what the symbolic link leads to"
}

# Nor is a result lost, if others have made the name that it is given when a new one replaces it.
others_have_the_old_name() {
    local kind
    for kind in file directory symlink fifo; do
        as_user "$OSPROF" save -o "$shared/osprof.out" "$scratch/profile"
        plant "$kind" osprof.out.old
        ! as_user "$OSPROF" save -o "$shared/osprof.out" "$scratch/profile" 2>err || fail "an older result goes to a planted $kind"
        cmp "$scratch/profile" "$shared/osprof.out" || fail "an older result is changed"
        assert_eq 'osprof.out osprof.out.old' "$(listed "$shared")" "names there, with a $kind"
        rm -r "$shared"/osprof.out*
    done
    assert_eq precious "$(<"$scratch/home-user/precious")" "what the symbolic link leads to"
}

found_at_the_start
found_at_the_end
root_replaces_files
other_writers
others_have_the_old_name
