#!/bin/bash
# Names of every kind for what is mounted, where it is mounted, and where profiles go: with blanks, commas, backslashes,
# newlines, bytes that are no UTF-8, a dash in front, as long as they may be. The mount works, all commands find it, and its
# profile is where it was asked for.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_user_mounts "$@"
# shellcheck disable=SC2016 # nothing is to be expanded
names=(
    'with  blanks ' ' ' 'comma,comma' 'back\slash' 'both\,' 'oct\040al' $'new\nline' $'tab\ttab' 'ünïcode' $'bytes\xff\xfe'
    '-o ro' --help -- 'quote"'\' '#hash' '%s%n' '$(id)' '*' : '=x' "$(printf 'l%.0s' {1..255})"
)

# Commas and backslashes in a list of options
escaped() {
    local text=${1//\\/\\\\}
    printf '%s' "${text//,/\\,}"
}

# work_with NAME COMMAND...: COMMAND runs what the user who mounts runs
work_with() {
    local name=$1 profile=$place/profiles/${1:0:251} # there is room for ".old"
    shift
    "$@" mkdir -p -- "$place/lower/$name" "$place/mnt/$name"
    "$@" "$OSPROFFS" -o "profile=$(escaped "$profile")" -- "lower/$name" "mnt/$name" ||
        fail "does not mount on $name"
    "$@" mkdir -- "$place/mnt/$name/made"
    [ -d "$place/lower/$name/made" ] || fail "the mount does not lead to $name"
    (cd "$place/mnt" && "$@" "$OSPROF" show -- "$name") >"$scratch/shown" || fail "osprof show of $name"
    grep -q '^MKDIR  *1 ' "$scratch/shown" || fail "osprof show of $name: $(<"$scratch/shown")"
    "$@" "$OSPROF" save -o "$place/dumped" -- "$place/mnt/$name" || fail "osprof save of $name"
    assert_eq 1 "$(profile_calls MKDIR "$place/dumped")" "MKDIR dumped of $name"
    (cd "$place/mnt" && "$@" "$OSPROF" save --rotate -o "$place/span" -- "$name") || fail "osprof save --rotate of $name"
    assert_eq 1 "$(profile_calls MKDIR "$place/span")" "MKDIR in a span of $name"
    "$@" rmdir -- "$place/mnt/$name/made"
    "$@" "$OSPROF" unmount -- "$place/mnt/$name" >"$scratch/said" || fail "osprof unmount of $name"
    "$OSPROF" show --check "$profile" >/dev/null || fail "the profile of $name is inconsistent"
    assert_eq '0 1' "$(profile_calls MKDIR "$profile") $(profile_calls RMDIR "$profile")" \
        "MKDIR and RMDIR in the profile of $name"
    "$OSPROF" show -- "$profile" >"$scratch/shown" || fail "osprof show of the profile of $name"
    rm "$place/dumped" "$place/span"
}

# all_names COMMAND...
all_names() {
    place=$scratch/place-$1
    mkdir -m 1777 "$place"
    cd "$place"
    "$@" mkdir "$place/profiles"
    for name in "${names[@]}"; do
        work_with "$name" "$@"
    done
    cd "$scratch"
}

# ---- Names in the mount, by which nobody else may be led astray

control_files() {
    for name in 'a b' 'a,b' 'a\b' $'a\nb' $'\xff' -x "$(printf 'l%.0s' {1..247})"; do
        mount_osproffs -o "control=$(escaped "$name")" "$lower" "$mnt"
        mkdir "$mnt/made"
        rmdir "$mnt/made"
        assert_eq 1 "$(profile_calls MKDIR "$mnt/$name")" "MKDIR in the control file $name"
        "$OSPROF" show "$mnt" >"$scratch/shown" || fail "osprof show with the control file $name"
        grep -q '^MKDIR  *1 ' "$scratch/shown" || fail "osprof show with the control file $name: $(<"$scratch/shown")"
        unmount_osproffs "$mnt"
    done
}

# ---- Files that are written beside

other_files() {
    local odd=$'a, b\\c\nd\xff'
    mkdir "$scratch/$odd"
    mount_osproffs -o "events=$(escaped "$scratch/$odd/events"),slow=1ms,slowlog=$(escaped "$scratch/$odd/slow")" \
        -o "live=$(escaped "$scratch/$odd"),label=a=$(escaped 'b,c\d')" "$lower" "$mnt"
    mkdir "$mnt/made"
    [ -e "$scratch/$odd/$daemon_pid.live" ] || fail "the live file is elsewhere"
    rmdir "$mnt/made"
    unmount_osproffs "$mnt"
    "$OSPROF" events show "$scratch/$odd/events" >"$scratch/shown" || fail "osprof events show"
    grep -q ' MKDIR ' "$scratch/shown" || fail "no MKDIR in the events: $(<"$scratch/shown")"
    [ -f "$scratch/$odd/slow" ] || fail "no slow log"
    grep -qxF '# label a: b,c\134d' "$final_profile" || fail "label: $(grep '^# label' "$final_profile")"
}

all_names env
all_names as_user # by way of fusermount3
control_files
other_files
