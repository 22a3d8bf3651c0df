#!/bin/bash
# Wrong arguments and unreadable profiles: one clear line, status 2. Help: on standard output, status 0.
. "$(dirname "$0")/lib.sh"

# A command's own commands, if it has any
own_commands() {
    "$OSPROF" --complete "$1" | sed -n 's/^\* word//p' | tr ' ' '\n' | while read -r own; do
        ! "$OSPROF" help "$1" "$own" 2>/dev/null | grep -q "^Usage: osprof $1 $own " || echo "$own"
    done
}
has_own() {
    "$OSPROF" help "$1" | grep -q "^Usage: osprof $1 COMMAND"
}
all_commands() {
    local command
    for command in $("$OSPROF" --complete); do
        if has_own "$command"; then
            own_commands "$command" | sed "s/^/$command /"
        else
            echo "$command"
        fi
    done
}

expect 0 help help
all_commands | grep -vx -e run -e fuse >commands # whose status for wrong arguments is another
while read -ra words; do
    command=${words[*]}
    expect 0 help "${words[@]}"
    grep -q "^Usage: osprof $command " "$scratch/out" || fail "no help for $command"
    cp "$scratch/out" help
    expect 0 "${words[@]}" --help
    cmp help "$scratch/out"
    expect_trouble "osprof $command: unknown option '-x'; see 'osprof help $command'" "${words[@]}" -x
    expect_trouble "osprof $command: unknown option '--no-such'; see 'osprof help $command'" \
        "${words[@]}" --no-such
    expect_trouble "osprof $command: option '--help=x' takes no argument; see 'osprof help $command'" \
        "${words[@]}" --help=x
done <commands
"$OSPROF" help events | sed -n 's/^  \([a-z]\+\)  .*/events \1/p' >listed
grep -qx 'events show' listed
! grep -qvxFf commands listed || fail "these do not say their names: $(grep -vxFf commands listed)"
# Names are not abbreviated: --op, an option of show, would be --options of run.
expect_trouble "osprof show: unknown option '--b' (did you mean --buckets or --by?); see 'osprof help show'" show --b
expect_trouble "osprof show: unknown option '--bu' (did you mean --buckets?); see 'osprof help show'" show --bu
expect_trouble "osprof show: unknown option '--widt=90' (did you mean --width?); see 'osprof help show'" show --widt=90
expect_trouble "osprof show: unknown option '--widt' (did you mean --width?); see 'osprof help show'" show --widt 90
for arguments in "--op by=file true" "--op=by=file true" "--op"; do
    # shellcheck disable=SC2086 # words
    expect 125 run $arguments
    grep -q "^osprof run: unknown option '--op[^ ]*' (did you mean --options?); see 'osprof help run'$" err || fail "$(<err)"
done
expect_trouble "osprof show: unknown option '--hel=x' (did you mean --help?); see 'osprof help show'" show --hel=x
expect_trouble "osprof show: option '--width' needs an argument; see 'osprof help show'" show --width

# Each command has a page, which --help names. It describes the options of the command's table and no other, and so does its
# synopsis, by their letters if they have one.
described() { # the options in lines of a page
    { grep -oE '(Fl|\|) -?[a-z0-9][-a-z0-9]*' || true; } | sed -n 's/^Fl //p; s/^| -/-/p'
}
expect_options() {
    diff -u options <(LC_ALL=C sort -u) >&2 || fail "the $1 of $page has other options than the table of osprof $command"
}
# The table of a command, or of all its own commands
table_of() {
    local own
    if ! has_own "$1"; then
        "$OSPROF" --complete "$1"
        return
    fi
    for own in $(own_commands "$1"); do
        "$OSPROF" --complete "$1" "$own"
    done
}
for command in $("$OSPROF" --complete); do
    page=$tests_dir/../../man/osprof-$command.1
    expect 0 help "$command"
    grep -q "osprof-$command(1)" "$scratch/out" || fail "help of $command does not name its page"
    grep -qx "\.It Xr osprof-$command 1" "$tests_dir/../../man/osprof.1" || fail "osprof(1) does not list $command"
    table_of "$command" >table
    sed -n '/^-h\|^--help/d; s/^-\([^ ]*\) .*/\1/p' table | LC_ALL=C sort -u >options
    sed -n 's/^\.It //p' "$page" | described | expect_options "list"
    sed -n '/^-h\|^--help/d; /^-[^-]/ { s/^-\(.\).*/\1/p; N; d; }; s/^-\([^ ]*\) .*/\1/p' table | LC_ALL=C sort -u >options
    sed '/^\.Sh DESCRIPTION/,$d' "$page" | described | expect_options "synopsis"
done

# osproffs(1) describes each option of --help and of completion, once, and no other than those of mount(8). It is short enough to
# be read.
page=$tests_dir/../../man/osproffs.1
named() { # the names before the text of a line of options
    awk '{ for (i = 1; i <= NF; i++) {
               name = $i
               sub(/[,=].*/, "", name)
               if (name != "-o") print name
               if (name != "-o" && $i !~ /,$/) next } }'
}
"$OSPROFFS" --help | grep '^    -' | named >helped
[ "$(wc -l <helped)" -gt 40 ] || fail "few options in osproffs --help: $(<helped)"
"$OSPROFFS" --complete | sed '/^-o \|^\* /d' | named | cat - helped | LC_ALL=C sort -u >options
sed -n '/^\.It Fl o Cm ro /d; s/^\.It \(Fl .*\)/\1/p' "$page" | sed 's/Fl o Cm //g; s/ , /\n/g' |
    sed 's/^Fl /-/; s/ .*//' | LC_ALL=C sort >listed
diff -u options listed >&2 || fail "osproffs(1) has other options than osproffs --help and --complete"
[ "$(wc -l <"$page")" -le 700 ] || fail "osproffs(1) has more than 700 lines"

expect 0 --help
cp "$scratch/out" help
expect 0 help
cmp help "$scratch/out"
expect 0 --version
grep -Eq '^osprof [0-9]+\.[0-9]+\.[0-9]+$' "$scratch/out" || fail "no version"
expect 2
grep -q '^Usage: ' "$scratch/err" || fail "no usage without arguments"

expect_trouble "osprof: 'nonsense' is not a command; 'osprof help all' lists them" nonsense
expect_trouble "osprof: 'nonsense' is not a command; 'osprof help all' lists them" help nonsense
expect_trouble "osprof: '' is not a command; 'osprof help all' lists them" ''
# The nearest is named, where one is near.
for typed in shwo:show plto:plot comapre:compare cmpare:compare tpo:top hlep:help runn:run outlier:outliers; do
    expect_trouble "osprof: '${typed%:*}' is not a command (did you mean '${typed#*:}'?); 'osprof help all' lists them" "${typed%:*}"
done
for typed in shxx rn2 toxx; do
    expect_trouble "osprof: '$typed' is not a command; 'osprof help all' lists them" "$typed"
done
expect_trouble "osprof: 'shwo' is not a command of osprof events (did you mean 'show'?); 'osprof help events' lists them" events shwo
expect_trouble "osprof: 'plot' is not a command of osprof events; 'osprof help events' lists them" events plot
expect_trouble "osprof show: unknown option '--chrats' (did you mean --charts?); see 'osprof help show'" show --chrats
expect_trouble "osprof show: unknown option '--widht=9' (did you mean --width?); see 'osprof help show'" show --widht=9
expect_trouble "osprof show: unknown option '--curtains'; see 'osprof help show'" show --curtains
# Six commands for the beginning, and all.
expect 0 help
assert_eq "run show why top compare plot help" "$(sed -n 's/^  \([a-z]*\)  .*/\1/p' out | paste -sd ' ')" "commands for the beginning"
[ "$(wc -l <out)" -le 20 ] || fail "more than a screen: $(<out)"
others=$(sed -n "s/^'osprof help all' lists the other \([0-9]*\) commands\.$/\1/p" out)
expect 0 help all
assert_eq "$((7 + others))" "$(grep -c '^  [a-z][a-z]*  ' out)" "all commands"
! grep -q 'other' out || fail "there are others beside all: $(<out)"
expect_trouble "osprof show: one profile at a time, not 2; see 'osprof help show'" show a b
expect_trouble "osprof show: option '--op' needs an argument; see 'osprof help show'" show --op
for width in 39 1001 4x "" -1 99999999999999999999; do
    expect_trouble "osprof show: --width must be a number from 40 to 1000, not '$width'; see 'osprof help show'" \
        show --width "$width"
done
expect_trouble "osprof top: one mount at a time, not 2; see 'osprof help top'" top a b
expect_trouble "osprof top: --count goes with --batch only; see 'osprof help top'" top --count 3
for count in 0 -1 x 3x "" 99999999999999999999; do
    expect_trouble "osprof top: --count must be a number from 1 on, not '$count'; see 'osprof help top'" \
        top --batch --count "$count"
done
for delay in 0 0.09 -1 86401 x 1x "" nan inf; do
    expect_trouble "osprof top: --delay must be a number of seconds from 0.1 to 86400, not '$delay'; see 'osprof help top'" \
        top --delay "$delay"
done
expect_trouble "osprof top: --by must be process, program, cgroup, uid, file, directory, filesystem or thread, not 'name'; see 'osprof help top'" top --by name
expect_trouble "osprof top: --sort must be share, calls, mean, max or name, not 'size'; see 'osprof help top'" \
    top --sort size
# osprof fuse, whose status for wrong arguments is that of osprof run
expect_wrong_fuse() {
    local message=$1 status=0
    shift
    "$OSPROF" fuse "$@" true 2>"$scratch/err" || status=$?
    assert_eq "125 osprof fuse: $message; see 'osprof help fuse'" "$status $(<"$scratch/err")" "message of: osprof fuse $*"
}
expect_wrong_fuse "--by uid+x: must be of process, program, cgroup, uid, file and directory, with + between" --by uid+x
expect_wrong_fuse "--interval 1h: must be a time from 10ms to 86400s, such as 100ms or 0.5s" --interval 1h
expect_wrong_fuse "--joint READ: must be OP:VALUE, such as read:size" --joint READ
expect_trouble "osprof check: no profile given; see 'osprof help check'" check
for quantum in "" 4 4m ms -4ms 0ms nan 99999s; do
    message="osprof check: --quantum must be a time from 1us to 3600s, such as 4ms, not '$quantum'"
    expect_trouble "$message; see 'osprof help check'" check --preemption --quantum "$quantum" a
done
for threads in "" 1 -2 2x 100001; do
    message="osprof check: --threads must be a number from 2 to 100000, not '$threads'"
    expect_trouble "$message; see 'osprof help check'" check --preemption --threads "$threads" a
done
expect_trouble "osprof check: --quantum and --threads go with --preemption only; see 'osprof help check'" \
    check --quantum 4ms a
expect_trouble "osprof calibrate: --print measures nothing: it goes alone; see 'osprof help calibrate'" \
    calibrate --print .
expect_trouble "osprof calibrate: --print measures nothing: it goes alone; see 'osprof help calibrate'" \
    calibrate --print --quick
expect_trouble "osprof merge: no profile given; see 'osprof help merge'" merge
expect_trouble "osprof merge: option '-o' needs an argument; see 'osprof help merge'" merge -o
expect_trouble "osprof recover: one live file at a time, not 2; see 'osprof help recover'" recover a b
expect_trouble "osprof recover: --remove needs -o FILE, so that the profile is safe first; see 'osprof help recover'" \
    recover --remove a
expect_trouble "osprof recover: no live file given; 'osprof recover' alone lists them; see 'osprof help recover'" \
    recover -o a
expect_trouble "osprof reset: exactly one mount point must be given; see 'osprof help reset'" reset
expect_trouble "osprof reset: exactly one mount point must be given; see 'osprof help reset'" reset a b
for arguments in "" "a b c"; do
    # shellcheck disable=SC2086 # words
    expect_trouble "osprof rotate: a mount point and a new file must be given; see 'osprof help rotate'" rotate $arguments
done
for arguments in "" "a b c"; do
    # shellcheck disable=SC2086 # words
    expect_trouble "osprof dump: a mount point must be given, and at most one file; see 'osprof help dump'" dump $arguments
done

expected="a profile file, a mount point, a live file, - or @1 is expected"
expect_trouble "osprof: cannot open profile no/such: No such file or directory; $expected" show no/such
expect_trouble "osprof: cannot open profile : No such file or directory; $expected" show ""
expect_trouble "osprof: . is a directory, but not the root of an osproffs mount: it has no control file .osprof" show .
expect_trouble 'osprof: standard input is not a profile: expected "# osprof 1" or OP_<NAME>, found nothing' \
    show - </dev/null

# A broken profile: its name and the line at fault.
for broken in "$data"/should-fail-*.osprof; do
    expect 2 show "$broken"
    assert_eq 1 "$(wc -l <"$scratch/err")" "lines about $broken"
    grep -Eq "^osprof: $broken is not a profile: (line [0-9]+: )?expected .*" "$scratch/err" ||
        fail "$(<"$scratch/err")"
    [ ! -s "$scratch/out" ] || fail "shows $broken"
done

expect_trouble "osprof: no/such is not the mount point of an osproffs: there is no no/such/.osprof" reset no/such
mkdir plain
expect_trouble "osprof: plain is not the mount point of an osproffs: there is no plain/.osprof" reset plain
echo precious >plain/.osprof
expect_trouble "osprof: plain is not the mount point of an osproffs: plain/.osprof is an ordinary file" reset plain
expect_trouble "osprof: plain is not the mount point of an osproffs: plain/.osprof is an ordinary file" rotate plain x
expect_trouble "osprof: plain is not the mount point of an osproffs: plain/.osprof is an ordinary file" dump plain
expect_trouble "osprof: cannot save the profile in no/such/x: No such file or directory" rotate plain no/such/x
expect_trouble "osprof: cannot save the profile in plain/: Is a directory" dump plain plain/
expect_trouble "osprof: cannot save the profile in x : its name ends in a blank" dump plain "x "
expect_trouble "osprof: cannot save the profile in x?y: its name has a newline" rotate plain x$'\n'y
assert_eq precious "$(<plain/.osprof)" "an ordinary file named .osprof"
