#!/bin/bash
# The directory of live files is one that no other user can exchange: a runtime directory of another user is ignored, and who
# has made /tmp/osprof-UID first does not keep its user from profiling.
. "$(dirname "$0")/lib.sh"
# shellcheck source=run_lib.sh
. "$(dirname "$0")/run_lib.sh"

[ "$is_preloaded" = yes ] || skip "built with a sanitizer"
need_root
need setpriv unshare

# shellcheck disable=SC2154 # set by the harness
cd "$scratch"

# ---- Root, where XDG_RUNTIME_DIR is of another user, as with sudo -E

unshare --mount true 2>/dev/null || skip "no mount namespaces"
mkdir theirs victim
ln -s "$scratch/victim" theirs/link
mkdir -m 777 everybody theirs/osprof
chown -hR "$user_uid" theirs
for runtime_dir in theirs theirs/link theirs/missing everybody; do
    before=$(find theirs victim everybody)
    # shellcheck disable=SC2016 # for the shells inside
    XDG_RUNTIME_DIR=$scratch/$runtime_dir unshare --mount sh -c 'mount -t tmpfs none /run && exec "$@"' sh \
        "$OSPROF" run -q --layers user -- sh -c 'ls /run/osprof >live; "$0" save --list >listed' "$OSPROF" 2>err ||
        fail "with $runtime_dir: $(<err)"
    assert_eq "" "$(<err)" "messages with $runtime_dir"
    grep -q '^[0-9]*-user-0\.live$' live || fail "no live file of root's own: $(<live)"
    grep -q '  active .* /run/osprof/[0-9]*-user-0\.live ' listed || fail "it is not found: $(<listed)"
    assert_eq "$before" "$(find theirs victim everybody)" "what root makes in $runtime_dir"
done

# ---- Another user, who has kept root's XDG_RUNTIME_DIR, as with su(1)

uid=$((2000000000 + $$)) # nobody else has files of that user in /tmp
places=/tmp/osprof-$uid
before_cleanup() {
    rm -rf -- "$places" "$places".??????
}
mkdir -m 755 bare
mkdir -m 700 home-bare
chown "$uid" home-bare

# run_bare: a run of that user without a runtime directory; what it says is in said, and what it has found while it ran in listed
run_bare() {
    # shellcheck disable=SC2016 # for the shell inside
    setpriv --reuid="$uid" --regid="$uid" --clear-groups -- env -u XDG_STATE_HOME "$@" HOME="$scratch/home-bare" \
        "$OSPROF" run -q --layers user -o home-bare/profile -- sh -c '"$0" save --list >home-bare/listed' "$OSPROF" 2>said ||
        fail "a user's run: $(<said)"
    assert_eq "" "$(<said)" "messages of a user"
    grep -q '^OP_' home-bare/profile || fail "nothing is profiled"
    grep -Eo '/tmp/[^ ]*-user-0\.live' home-bare/listed || fail "the live file is not found: $(<home-bare/listed)"
}

before=$(find "$XDG_RUNTIME_DIR")
assert_eq "$places" "$(dirname "$(run_bare XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR")")" "place where the runtime directory is root's"
assert_eq "$before" "$(find "$XDG_RUNTIME_DIR")" "what is made in root's"
assert_eq "$uid 700" "$(stat -c '%u %a' "$places")" "the directory"
rmdir "$places"

# ---- /tmp/osprof-UID was made by another user

# made_first COMMAND...: after it the run gets another directory, and the next run the same
first=
made_first() {
    "$@"
    local place
    place=$(dirname "$(run_bare -u XDG_RUNTIME_DIR)")
    [[ $place =~ ^"$places"\.[A-Za-z0-9]{6}$ ]] || fail "the live file is in $place after: $*"
    assert_eq "$uid 700" "$(stat -c '%u %a' "$place")" "the directory"
    assert_eq "${first:=$place}" "$place" "the second one"
    assert_eq "" "$(ls -A bare)" "what is made behind a link"
    rm -rf -- "$places"
}
chown "$user_uid" bare
made_first as_user mkdir -m 777 "$places"
made_first as_user touch "$places"
made_first as_user mkfifo "$places"
made_first as_user ln -s "$scratch/bare" "$places"
made_first mkdir -m 755 "$places" # root's
rmdir "$first"
# What others call alike is not used.
as_user mkdir -m 777 "$places" "$places.aaaaaa"
as_user ln -s "$scratch/home-bare" "$places.bbbbbb"
place=$(dirname "$(run_bare -u XDG_RUNTIME_DIR)")
[[ $place =~ ^"$places"\. && $place != *.aaaaaa && $place != *.bbbbbb ]] || fail "the live file is in $place"
