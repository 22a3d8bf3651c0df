#!/bin/bash
# Several mounts whose final profiles go to one place: none takes the place of another, and each says where it is.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

# mount_of PROFILE: which mount it is of
mount_of() {
    sed -n "s|^# mount: $scratch/here/||p" "$1"
}

# all_there: the mounts whose profiles are there, with the number of calls of MKDIR of each, in order
all_there() {
    local file
    for file in osprof.out*; do
        case $file in
        *.old) ;;
        *) echo "$(mount_of "$file"):$(profile_calls MKDIR "$file")" ;;
        esac
    done | sort | paste -sd ' '
}

mkdir here
cd here
mkdir one two three

# start NAME CALLS [OPTION]...: a mount with so many calls of MKDIR
start() {
    local number
    "$OSPROFFS" "${@:3}" "$lower" "$1"
    for ((number = 0; number < $2; number++)); do
        mkdir "$1/$1$number" && rmdir "$1/$1$number"
    done
}

# end_together NAME...: prints what each says
end_together() {
    local name
    for name; do
        "$OSPROF" unmount "$name" >"$scratch/out-$name" 2>&1 &
    done
    wait
}

# assert_told NAME: where it says the profile is, that of this mount is
assert_told() {
    local file
    file=$(sed -n 's/^The profile is in \(.*\)\.$/\1/p' "$scratch/out-$1")
    assert_eq "$1" "$(mount_of "$file")" "whose profile is in '$file', after: $(<"$scratch/out-$1")"
}

for calls in 3 5; do
    start one "$calls"
    start two "$((calls + 1))"
    start three "$((calls + 2))"
    end_together one two three
    for name in one two three; do
        assert_told "$name"
    done
    assert_eq "one:$calls three:$((calls + 2)) two:$((calls + 1))" "$(all_there)" "profiles"
done
# those before are kept, once
assert_eq "one:3 three:5 two:4" "$(for file in osprof.out*.old; do
    echo "$(mount_of "$file"):$(profile_calls MKDIR "$file")"
done | sort | paste -sd ' ')" "profiles before"

# the same where the place is named, except .old; what is no profile is replaced, as it was asked for
echo notes >place
start one 7 -o profile=place
end_together one
assert_told one
assert_eq "one 7" "$(mount_of place) $(profile_calls MKDIR place)" "in the named place"
start two 11 -o profile=place
end_together two
assert_told two
assert_eq "one 7" "$(mount_of place) $(profile_calls MKDIR place)" "still in the named place"
assert_eq "two 11" "$(mount_of place.1) $(profile_calls MKDIR place.1)" "beside it"
start one 13 -o profile=place
end_together one
assert_eq "one 13" "$(mount_of place) $(profile_calls MKDIR place)" "a later one in its place"
[ ! -e place.old ] || fail "a copy that nobody asked for"

# of two mounts on one place that began later stays
start one 2 -o profile=late
sleep 0.01
exec 9<"$lower"
lower=/proc/self/fd/9 start one 17 -o profile=late # over the first, which is refused without a descriptor
exec 9<&-
umount one
wait_until 30 test -s late || fail "no profile of the second"
assert_eq 17 "$(profile_calls MKDIR late)" "of the second"
end_together one
assert_told one
assert_eq "17 2" "$(profile_calls MKDIR late) $(profile_calls MKDIR late.1)" "the second, and the first"
