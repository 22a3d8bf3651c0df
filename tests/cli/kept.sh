#!/bin/bash
# osprof run keeps its results without being asked, and osprof show, why, plot and compare find them again.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=run_lib.sh
. "$(dirname "$0")/run_lib.sh"

[ "$is_preloaded" = yes ] || skip "built with a sanitizer"

# shellcheck disable=SC2154 # set by the harness
cd "$scratch"
head -c 10000 /dev/zero >"$lower/file"
state=$XDG_STATE_HOME
kept=$state/osprof

# keep COMMAND...: a run with nothing on the screen
keep() {
    expect 0 run -q -- "$@"
    assert_eq "" "$(<err)" "messages of: osprof run -q $*"
}

# Prints the commands of what is kept, the last first.
commands() {
    local file
    for file in $(printf '%s\n' "$kept"/*.osprof | sort -r); do
        sed -n 's/^# command: //p' "$file"
    done
}

# ---- Nothing is kept

none="osprof: no result is kept yet: 'osprof run COMMAND' keeps what it measures; or name a profile"
for command in show why plot 'show @1' 'show @2' 'show --list' compare 'compare --within' 'show --json' 'show --check @1'; do
    # shellcheck disable=SC2086 # several words
    expect_trouble "$none" $command
done
expect 2 save -o sum @1 @2
grep -qxF "$none" err || fail "a missing result is merged: $(<err)"
: >osprof.out
expect_trouble "$none, such as osprof.out, which is here" show
rm osprof.out
[ ! -e "$state" ] || fail "looking for results makes directories"

# ---- One is kept, whole, for its owner alone

(umask 000 && keep cat "$lower/file")
assert_eq "700 600" "$(stat -c %a "$kept" "$kept"/*.osprof | paste -sd ' ')" "modes"
assert_eq "" "$(find "$kept" -type f ! -name '*.osprof')" "other files"
expect 0 show --check @1
expect 0 show --check
expect 0 save @1
cmp out "$kept"/*.osprof || fail "saved otherwise than it is kept"
expect 0 show
grep -qE "^osprof: @1 is the run of 20[0-9]{2}-[01][0-9]-[0-3][0-9] [0-9:]{8}: cat $lower/file\$" err || fail "not told which: $(<err)"
assert_eq 1 "$(wc -l <err)" "lines of messages"
grep -q '^OPEN ' out || fail "not the profile: $(<out)"
expect 0 show --json
python3 -c 'import json, sys; assert json.load(open("out"))["labels"]["command"].startswith("cat ")' || fail "no JSON"
expect 0 show @1 --csv
expect 0 plot --gnuplot
expect 2 why
grep -qE "^osprof: nobody looked for slow calls in @1: run the command again, with the directory of its files: osprof run --layers fs --slow 10ms -d /[^ ]+ -- cat $lower/file\$" err || fail "why does not take the last: $(<err)"
expect_trouble "osprof: there is no @2: one run is kept, @1; 'osprof show --list' says which" compare
expect_trouble "osprof: there is no @0: one run is kept, @1; 'osprof show --list' says which" show @0
expect_trouble "osprof: there is no @1.1: that run has not so many directories that it profiled one by one" show @1.1
# A file of that name
cp "$kept"/*.osprof ./@2
expect 0 show ./@2
assert_eq "" "$(<err)" "messages of a file"
expect_trouble "osprof: there is no @2: one run is kept, @1; 'osprof show --list' says which" show @2
expect 0 save -o sum ./@2 @1
expect 0 show --check sum
rm ./@2
if ! is_without statistics; then
    echo no/such >./1
    expect 2 outliers @1 @1 @1
    ! grep -q 'list\|no/such' err || fail "@1 is taken for a list: $(<err)"
    expect 2 outliers @./1
    grep -q 'no/such' err || fail "a list is not read: $(<err)"
    rm 1
fi

# ---- Several, the last ten; @2 is the one before

keep cat "$lower/file" "$lower/file"
expect 0 show @2
grep -q "^osprof: @2 is the run of .*: cat $lower/file$" err || fail "not the one before: $(<err)"
# shellcheck disable=SC2015
"$OSPROF" compare >out 2>err || [ $? = 1 ] || fail "compare: $(<err)"
assert_eq "@2 @1" "$(sed -n 's/^osprof: \(@[12]\) is the run of .*/\1/p' err | paste -sd ' ')" "what is compared without being named"
grep -q '^A  *@2' out || fail "not said which is which: $(<out)"
grep -q '^B  *@1' out || fail "not said which is which: $(<out)"
"$OSPROF" compare -q @1 @2 >out 2>err || [ $? = 1 ] || fail "compare -q: $(<err)"
assert_eq "" "$(<out)$(<err)" "what --quiet prints"
for number in 1 2 3 4 5 6 7 8 9 10 11; do
    keep sh -c "cat $lower/file; : $number"
done
assert_eq "$(printf "sh -c cat $lower/file; : %d\n" 11 10 9 8 7 6 5 4 3 2)" "$(commands)" "what is kept of many"
expect 0 show @10
grep -q ': 2$' err || fail "not the tenth: $(<err)"
expect_trouble "osprof: there is no @11: 10 runs are kept, @1 is the last, @10 the oldest; 'osprof show --list' lists them" show @11
# All in a list: those and no others, as they are found by name
COLUMNS=500 expect 0 show --list
assert_eq "" "$(<err)" "messages of a list"
assert_eq "$(for number in {1..10}; do echo "@$number sh -c cat $lower/file; : $((12 - number))"; done)" "$(sed 's/  *20[-0-9]* [0-9:]*  / /' out)" "what is listed"
while read -r name time_listed; do
    expect 0 show "$name"
    grep -qF "osprof: $name is the run of ${time_listed%%  *}: ${time_listed#*  }" err || fail "another than is listed as $name: $(<err)"
done < <(COLUMNS=500 "$OSPROF" show --list)
COLUMNS=40 "$OSPROF" show --list | awk 'length > 40' | grep -q . && fail "wider than the screen"
# The same for programs
COLUMNS=500 expect 0 show --list
cp out listed
expect 0 show --list --json
python3 - listed <<'END' || fail "JSON does not have what is listed: $(<out)"
import json
results = json.load(open("out"))["results"]
listed = [line.rstrip("\n") for line in open("listed")]
assert [f"{result['name']:4} {result['time']}  {result['run']}" for result in results] == listed and len(listed) == 10
END
if python=$(python_with jsonschema); then
    "$python" "$tests_dir/../cli/validate.py" "$data/../../docs/lists.schema.json" out || fail "not by the schema of lists"
fi
for arguments in @1 '--op READ' '--layer fs' '--json @1' --csv; do
    # shellcheck disable=SC2086 # words
    expect_trouble "osprof show: --list shows no profile: it goes alone, or with --json; see 'osprof help show'" show --list $arguments
done
expect 0 show --list --quiet
assert_eq "" "$(<out)$(<err)" "a list with --quiet"
# The clock is set back: a later run is later.
future=$kept/21990101T000000.000000000Z.osprof
mv "$(printf '%s\n' "$kept"/*.osprof | tail -n 1)" "$future"
keep cat "$lower/file"
assert_eq "cat $lower/file" "$(commands | sed -n 1p)" "the last after the clock was set back"
[ -e "$kept/21990101T000000.000000001Z.osprof" ] || fail "not after the last: $(ls "$kept")"
rm -r "$kept"

# Several runs at once
for number in 1 2 3 4 5 6; do
    "$OSPROF" run -q cat "$lower/file" >/dev/null 2>"err.$number" &
done
wait
assert_eq "" "$(cat err.?)" "messages of runs at once"
assert_eq 6 "$(find "$kept" -type f -name '*.osprof' | wc -l)" "results of runs at once"
rm -r "$kept"

# ---- The page: what is next looks at what is kept, and runs nothing

expect 3 run -- sh -c "echo ran >>ran; cat $lower/file; exit 3"
sed -n '/^next/,/^$/s/  #.*//p' err | sed 's/^next//; s/^ *//; /^$/d' >next
grep -qx 'osprof show --op [A-Z_]*' next || fail "what is next: $(<next)"
! grep -v '^osprof show ' next || fail "next is something else: $(<next)"
while read -r -a words; do
    assert_eq osprof "${words[0]}" "what is next"
    expect 0 "${words[@]:1}"
done <next
assert_eq ran "$(<ran)" "runs of the command"
expect 0 run -o page.osprof cat "$lower/file"
grep -q '^next  *osprof show --op [A-Z_]* page.osprof' err || fail "the page does not name the file: $(<err)"
expect 0 run -q -o page.osprof cat "$lower/file"
assert_eq "" "$(<err)" "a page in spite of -q"
expect 0 run -o - true
grep -q '^OSprof profile\|^# ' out || fail "no profile on standard output"
grep -q 'elapsed' err || fail "no page beside it: $(<err)"
"$OSPROF" show "$(printf '%s\n' "$kept"/*.osprof | tail -n 1)" >/dev/null || fail "what is kept is no profile"
rm -r "$kept"

# ---- It cannot be kept: the page is printed, and the status is the command's

# refused WHY COMMAND...: runs osprof by the command
refused() {
    local why=$1 status=0
    shift
    "$@" run sh -c 'exit 3' >out 2>err || status=$?
    assert_eq 3 "$status" "status when the result is not kept: $(<err)"
    assert_eq "osprof: this result is not kept in $why; XDG_STATE_HOME can name another directory" "$(grep '^osprof: this' err)" "message"
    grep -q elapsed err || fail "no page: $(<err)"
    ! grep -q '^next.*show' err || fail "told to look at what is not kept: $(<err)"
}

refused "$scratch/no/state/osprof: No such file or directory" env XDG_STATE_HOME="$scratch/no/state" "$OSPROF"
refused "$scratch/no/.local/state/osprof: No such file or directory" env -u XDG_STATE_HOME HOME="$scratch/no" "$OSPROF"
: >plain
refused "$scratch/plain/osprof: Not a directory" env XDG_STATE_HOME="$scratch/plain" "$OSPROF"
mkdir -p planted elsewhere
ln -s "$scratch/elsewhere" planted/osprof
refused "$scratch/planted/osprof: it is a symbolic link" env XDG_STATE_HOME="$scratch/planted" "$OSPROF"
assert_eq "" "$(ls elsewhere)" "what was written through a link"
XDG_STATE_HOME=relative HOME=$scratch/home keep true
[ ! -e relative ] || fail "a relative XDG_STATE_HOME is not ignored"
[ -e home/.local/state/osprof ] || fail "a relative XDG_STATE_HOME is not ignored"
# A home, and what is in it, may be symbolic links of its owner.
mkdir -p real/dots
ln -s real linked
ln -s dots real/.local
env -u XDG_STATE_HOME HOME="$scratch/linked" "$OSPROF" run -q true 2>err
assert_eq "" "$(<err)" "messages with links"
assert_eq 1 "$(find real/dots/state/osprof -type f | wc -l)" "results behind links"

if [ "$(id -u)" = 0 ]; then
    chmod 711 "$scratch"
    # What another user can exchange is not used, even if it may be written to: root's results are in root's home.
    mkdir -p home-user foreign victim foreign-root/osprof
    ln -s "$scratch/victim" foreign/link
    mkdir -m 777 foreign/open foreign/open/osprof
    chown -hR "$user_uid" foreign
    mkdir -m 777 everybody
    for foreign in foreign foreign/missing foreign/open foreign/link everybody; do
        rm -rf "$HOME/.local"
        before=$(find foreign everybody victim)
        XDG_STATE_HOME=$scratch/$foreign keep true
        assert_eq "$before" "$(find foreign everybody victim)" "what root makes in $foreign"
        assert_eq 755 "$(stat -c %a victim)" "mode of what a link of another user leads to"
        assert_eq 1 "$(find "$HOME/.local/state/osprof" -name '2*.osprof' | wc -l)" "results at home, of $foreign"
        XDG_STATE_HOME=$scratch/$foreign expect 0 show
    done
    for foreign in foreign foreign/link; do
        before=$(find foreign victim)
        XDG_STATE_HOME=$scratch/$foreign expect 0 doctor --calibrate --quick
        grep -qxF "Saved in $HOME/.local/state/osprof/$(uname -n).calibration" out || fail "not saved at home: $(<out)"
        assert_eq "$before" "$(find foreign victim)" "what root calibrates in $foreign"
    done
    rm -rf "$HOME/.local"
    # Nor does another user use what root has left in his directory.
    as_user env XDG_STATE_HOME="$scratch/foreign-root" "$OSPROF" run -q true 2>err || fail "as a user: $(<err)"
    assert_eq "" "$(<err)" "messages of a user"
    assert_eq 1 "$(find home-user/.local/state/osprof -name '2*.osprof' | wc -l)" "results at the user's home"
    refused "/nonexistent/.local/state/osprof: No such file or directory" \
        as_user env XDG_STATE_HOME="$scratch/foreign-root" HOME=/nonexistent "$OSPROF"
    # Two users
    mkdir -m 700 users
    chown "$user_uid:$user_gid" users
    chmod 755 "$lower" "$lower/file"
    as_user env XDG_STATE_HOME="$scratch/users" "$OSPROF" run -q -- cat "$lower/file" >out 2>err || fail "as a user: $(<err)"
    assert_eq "" "$(<err)" "messages of a user"
    keep cat "$lower/file"
    assert_eq "$user_uid" "$(stat -c %u users/osprof users/osprof/* | sort -u)" "owner of a user's results"
    as_user env XDG_STATE_HOME="$scratch/users" "$OSPROF" show >out 2>err || fail "a user's own: $(<err)"
    ! as_user env XDG_STATE_HOME="$state" "$OSPROF" show >out 2>err || fail "a user reads root's"
    # Not writable
    as_user chmod 500 users/osprof
    refused "$scratch/users/osprof: Permission denied" as_user env XDG_STATE_HOME="$scratch/users" "$OSPROF"
    refused "/nonexistent/.local/state/osprof: No such file or directory" \
        as_user env -u XDG_STATE_HOME HOME=/nonexistent "$OSPROF"
    # sudo(8) may leave HOME as it was: root's results are in root's home.
    if unshare --mount true 2>/dev/null; then
        mkdir home-foreign
        chown "$user_uid" home-foreign
        # shellcheck disable=SC2016 # for the shell inside
        kept_by_root=$(unshare --mount sh -c '
            mount -t tmpfs none /root && env -u XDG_STATE_HOME HOME="$PWD/home-foreign" "$1" run -q true && ls /root/.local/state/osprof' sh "$OSPROF")
        [[ $kept_by_root == 20*.osprof ]] || fail "not kept in the home of root: $kept_by_root"
        assert_eq "" "$(ls -A home-foreign)" "what root makes in the home of another"
    fi
    # A disk that is full
    mkdir disk
    if unshare --mount true 2>/dev/null; then
        # shellcheck disable=SC2016 # for the shell inside
        refused "$scratch/disk/osprof: No space left on device" unshare --mount sh -c '
            mount -t tmpfs -o size=64k none disk && mkdir disk/osprof
            cat /dev/zero >disk/fill 2>/dev/null
            exec env XDG_STATE_HOME="$PWD/disk" "$@"' sh "$OSPROF"
    fi
fi

# ---- With mounts, several layers, and several directories

if [ -w /dev/fuse ]; then
    rm -rf "$kept"
    mkdir -p one two "$kept"
    cp "$lower/file" one
    expect 0 run --layers user,fs -d one -- cat one/file
    grep -q '^next  *osprof show --layer ' err || fail "what is next of two layers: $(<err)"
    expect 0 show --layer user
    expect 0 show --layer fs
    grep -q '^OPEN' out || fail "the layer is not in what is kept: $(<out)"
    expect 0 run --layers fs -d one -d two -- cat one/file
    grep -q '^next  *osprof show --op [A-Z]* @1\.1' err || fail "what is next of two directories: $(<err)"
    expect_trouble "osprof: the run @1 has a profile for each directory: name one of @1.1 to @1.2" show
    COLUMNS=500 expect 0 show --list
    assert_eq "@1.1 cat one/file, in $scratch/one|@1.2 cat one/file, in $scratch/two|@2 cat one/file" "$(sed 's/  *20[-0-9]* [0-9:]*  / /' out | paste -sd '|')" "what is listed of several directories"
    expect 0 show @1.1
    grep -q "^osprof: @1.1 is the run of .*: cat one/file, in $scratch/one\$" err || fail "not told which directory: $(<err)"
    expect 0 show --layer user @2
    # Mounts over the place of what is kept do not see it, and it is not lost.
    expect 0 run --layers fs -q -d "$state" -o profile -- ls "$state"
    expect 0 show
    grep -q ': ls ' err || fail "not kept below a mount: $(<err)"
    ! grep -q '^OP_CREATE' profile || fail "keeping a result was counted"
fi
assert_nothing_left
