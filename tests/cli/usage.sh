#!/bin/bash
# Wrong arguments and unreadable profiles: one clear line, status 2. Help: on standard output, status 0.
. "$(dirname "$0")/lib.sh"

# ---- The list of commands

# A screen: what one may want, and its commands
expect 0 help
cp out help
assert_eq "Measure: run attach fuse doctor
Read: show why top compare report plot events save
Mounts of osproffs: ctl unmount
Fleet: serve outliers" "$(awk '/^[A-Z].*:$/ { group = $0; next } !/^  [a-z]/ { group = "" } group { names[group] = names[group] " " $1 }
    group && !seen[group]++ { order[++count] = group } END { for (i = 1; i <= count; i++) print order[i] names[order[i]] }' help)" \
    "groups of commands"
grep -q '^  help  *explains a command: osprof help COMMAND$' help || fail "help is not listed"
grep -q '^  --version  *shows the version$' help || fail "--version is not listed"
[ "$(wc -l <help)" -le 40 ] || fail "more than a screen: $(<help)"
[ "$(wc -L <help)" -le 80 ] || fail "wider than a screen: $(<help)"
for command in $("$OSPROF" --complete); do
    assert_eq 1 "$(grep -c "^  $command  *[a-z]" help)" "lines about $command"
done
for words in --help -h "help help"; do
    # shellcheck disable=SC2086 # words
    expect 0 $words
    cmp help out
done
expect 0 --version
grep -Eq '^osprof [0-9]+\.[0-9]+\.[0-9]+$' out || fail "no version"
expect 2
cmp help err
[ ! -s out ] || fail "prints usage on standard output without arguments"

# ---- Names that are no commands

expect_trouble "osprof: 'nonsense' is not a command; 'osprof help' lists them" nonsense
expect_trouble "osprof: 'nonsense' is not a command; 'osprof help' lists them" help nonsense
expect_trouble "osprof: '' is not a command; 'osprof help' lists them" ''
expect_trouble "osprof: 'all' is not a command; 'osprof help' lists them" help all
# The nearest is named, where one is near.
for typed in shwo:show plto:plot comapre:compare cmpare:compare tpo:top hlep:help runn:run outlier:outliers sav:save ct:ctl; do
    expect_trouble "osprof: '${typed%:*}' is not a command (did you mean '${typed#*:}'?); 'osprof help' lists them" "${typed%:*}"
done
for typed in shxx rn2 toxx; do
    expect_trouble "osprof: '$typed' is not a command; 'osprof help' lists them" "$typed"
done
expect_trouble "osprof: 'shwo' is not a command of osprof events (did you mean 'show'?); 'osprof help events' lists them" events shwo
expect_trouble "osprof: 'plot' is not a command of osprof events; 'osprof help events' lists them" events plot
expect_trouble "osprof: 'plot' is not a command of osprof events; 'osprof help events' lists them" help events plot

# Earlier names: no alias is left.
for old in check recover dump rotate reset groups calibrate; do
    for words in "$old" "help $old" "$old --help" "$old a b" "--complete $old"; do
        # shellcheck disable=SC2086 # words
        expect_trouble "osprof: '$old' is not a command; 'osprof help' lists them" $words
    done
done
for words in merge "help merge" "merge -o sum a b"; do
    # shellcheck disable=SC2086 # words
    expect 2 $words
    grep -qx "osprof: 'merge' is not a command.*; 'osprof help' lists them" err || fail "$(<err)"
done
for old in merge record stop; do
    for words in "events $old" "help events $old" "events $old a b"; do
        # shellcheck disable=SC2086 # words
        expect_trouble "osprof: '$old' is not a command of osprof events; 'osprof help events' lists them" $words
    done
done

# ---- What each command has

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

# expect_wrong COMMAND MESSAGE ARGUMENT...: the command must say MESSAGE about its arguments in one line, and print nothing. The status
# of those that run programs is another.
expect_wrong() {
    local words message="osprof $1: $2; see 'osprof help $1'" status=2
    read -ra words <<<"$1"
    shift 2
    case ${words[0]} in
    run | fuse) status=125 ;;
    esac
    expect "$status" "${words[@]}" "$@"
    [ "$message" = "$(<err)" ] || skip_if_without
    assert_eq "$message" "$(<err)" "message of: osprof ${words[*]} $*"
    [ ! -s out ] || fail "prints something: osprof ${words[*]} $*"
}

# expect_unknown COMMAND OPTION: the command has no such option; another may be near
expect_unknown() {
    local words status=2
    read -ra words <<<"$1"
    case ${words[0]} in
    run | fuse) status=125 ;;
    esac
    expect "$status" "${words[@]}" "$2"
    grep -qxE "osprof $1: unknown option '$2'( \(did you mean [a-z0-9 ,-]+\?\))?; see 'osprof help $1'" err || fail "$(<err)"
    [ ! -s out ] || fail "prints something: osprof ${words[*]} $2"
}

all_commands >commands
while read -ra words; do
    command=${words[*]}
    expect 0 help "${words[@]}"
    grep -q "^Usage: osprof $command " out || fail "no help for $command"
    cp out help
    expect 0 "${words[@]}" --help
    cmp help out
    expect 0 "${words[@]}" -h
    cmp help out
    expect_wrong "$command" "unknown option '-x'" -x
    expect_wrong "$command" "unknown option '--no-such'" --no-such
    expect_wrong "$command" "option '--help=x' takes no argument" --help=x
done <commands
"$OSPROF" help events | sed -n 's/^  \([a-z]\+\)  .*/events \1/p' >listed
grep -qx 'events show' listed
! grep -qvxFf commands listed || fail "these do not say their names: $(grep -vxFf commands listed)"
expect 2 events
grep -q '^Usage: osprof events COMMAND' err || fail "no usage of osprof events: $(<err)"
for words in "events --help" "events -h" "events help" "help events"; do
    # shellcheck disable=SC2086 # words
    expect 0 $words
    grep -q '^Usage: osprof events COMMAND' out || fail "osprof $words: $(<out)"
done
expect_wrong events "unknown option '--no-such'" --no-such

# Names are not abbreviated: --op, an option of show, would be --output of run.
expect_wrong show "unknown option '--b' (did you mean --buckets or --by?)" --b
expect_wrong show "unknown option '--bu' (did you mean --buckets?)" --bu
expect_wrong show "unknown option '--widt=90' (did you mean --width?)" --widt=90
expect_wrong show "unknown option '--widt' (did you mean --width?)" --widt 90
expect_wrong show "unknown option '--hel=x' (did you mean --help?)" --hel=x
expect_wrong run "unknown option '--outp=a' (did you mean --output?)" --outp=a true
expect_wrong run "unknown option '--outp' (did you mean --output?)" --outp a true
expect_wrong run "unknown option '--op'" --op read true
expect_wrong run "unknown option '--l' (did you mean --layers or --label?)" --l
expect_wrong show "unknown option '--chrats' (did you mean --charts?)" --chrats
expect_wrong show "unknown option '--widht=9' (did you mean --width?)" --widht=9
expect_wrong show "unknown option '--curtains'" --curtains
for option in --width --op --by --color --quantum; do
    expect_wrong show "option '$option' needs an argument" "$option"
done
expect_wrong run "option '-o' needs an argument" -o
expect_wrong save "option '-o' needs an argument" -o
expect_wrong run "--vs can be given once" --vs a --vs b true

# Earlier options: no alias is left.
for command in run attach fuse; do
    expect_wrong "$command" "unknown option '-p'" -p x
    expect_wrong "$command" "unknown option '--profile'" --profile x
    expect_wrong "$command" "unknown option '--options'" --options by=file
done
expect_wrong run "unknown option '--max-time'" --max-time 5
expect_wrong fuse "unknown option '--attach'" --attach .
for command in show profile export; do
    expect_wrong "events $command" "unknown option '--slower' (did you mean --slow?)" --slower 10ms
done

# ---- Options in common: each is taken where help has it, by all that need it, and refused elsewhere

# with OPTION: those whose help has it
with() {
    local words
    while read -ra words; do
        ! grep -q -- "^  $1 " <("$OSPROF" help "${words[@]}") || echo "${words[*]}"
    done <commands | paste -sd ,
}
printing="run,attach,doctor,show,why,top,compare,events show,save,outliers"
writing="run,attach,fuse,compare,report,plot,events profile,events export,save,ctl"
assert_eq "$printing" "$(with '--width N')" "commands with --width"
assert_eq "$printing" "$(with --ascii)" "commands with --ascii"
assert_eq "$printing" "$(with '--color WHEN')" "commands with --color"
assert_eq "$writing" "$(with --force)" "commands with --force"
assert_eq "run,attach,doctor,show,why,compare,unmount,outliers" "$(with '-q, --quiet')" "commands with --quiet"
assert_eq "run,attach,doctor,show,why,compare,save,outliers" "$(with --json)" "commands with --json"
while read -ra words; do
    command=${words[*]}
    if [[ ,$printing, == *,$command,* ]]; then
        for common in "--width 40 --ascii --color auto" "--width=1000 --color=always" "--color never"; do
            # shellcheck disable=SC2086 # words
            expect 0 "${words[@]}" $common --help
        done
        for width in 39 1001 4x "" -1 40.5 " 40" 99999999999999999999; do
            expect_wrong "$command" "--width must be a number from 40 to 1000, not '$width'" --width "$width"
        done
        for color in "" yes ALWAYS alway; do
            expect_wrong "$command" "--color must be auto, always or never, not '$color'" --color "$color"
        done
        expect_wrong "$command" "option '--ascii=yes' takes no argument" --ascii=yes
        expect_wrong "$command" "option '--width' needs an argument" --width
    else
        for option in --width=80 --ascii --color=never; do
            expect_unknown "$command" "$option"
        done
    fi
    if [[ ,$writing, == *,$command,* ]]; then
        expect 0 "${words[@]}" --force --help
        expect_wrong "$command" "option '--force=yes' takes no argument" --force=yes
    else
        expect_unknown "$command" --force
    fi
done <commands

# ---- Values that options do not take

# expect_values COMMAND,... OPTION MESSAGE VALUE...: none of the values is taken; {} in the message stands for it. Behind them
# are the $arguments.
arguments=()
expect_values() {
    local commands command option=$2 message=$3 value
    IFS=, read -ra commands <<<"$1"
    shift 3
    for command in "${commands[@]}"; do
        for value; do
            expect_wrong "$command" "${message//\{\}/"$value"}" "$option" "$value" "${arguments[@]}"
        done
    done
}

no_numbers=("" x 1x -1 1.5 0x10 " 1" 99999999999999999999)
number="must be a number"
expect_values run,attach,fuse --groups "--groups $number from 2 to 4096, not '{}'" "${no_numbers[@]}" 0 1 4097
expect_values run,attach,fuse --intervals "--intervals must be an even number from 2 to 1048576, not '{}'" \
    "${no_numbers[@]}" 0 1 3 1048578
expect_values run --repeat "--repeat $number from 1 to 1000000 or auto, not '{}'" "${no_numbers[@]}" 0 1000001 automatic
expect_values run --warmup "--warmup $number from 0 to 1000000, not '{}'" "${no_numbers[@]}" 1000001
expect_values run --max-repeat "--max-repeat $number from 3 to 1000, not '{}'" "${no_numbers[@]}" 2 1001
expect_values show --threads "--threads $number from 2 to 100000, not '{}'" "${no_numbers[@]}" 1 100001
expect_values top --count "--count $number from 1 on, not '{}'" "${no_numbers[@]}" 0
expect_values "events show,events profile,events export" --pid "--pid $number from 1 to 4194304, not '{}'" \
    "${no_numbers[@]}" 0 4194305
expect_values "events profile" --span "--span $number from 1 on, not '{}'" "${no_numbers[@]}" 0

no_decimals=("" x 1x -1 0x10 inf nan " 1" 1001)
expect_values compare --at-least "--at-least $number from 0.1 to 1000, not '{}'" "${no_decimals[@]}" 0
expect_values outliers --at-least "--at-least $number from 1.1 to 1000, not '{}'" "${no_decimals[@]}" 1
for option in --threshold --similar --min-share --apart --apart-latency --min-peak; do
    expect_values compare "$option" "$option $number from 0 to 100, not '{}'" "${no_decimals[@]}" 100.1
done

arguments=(true)
expect_values run,fuse --resolution "--resolution takes 1, 2, 4 or 8, not '{}'" "${no_numbers[@]}" 0 3 5 9
expect_values run,fuse -r "--resolution takes 1, 2, 4 or 8, not '{}'" 3 x
arguments=(.)
expect_values attach --resolution "--resolution takes 1, 2 or 4, not '{}'" "${no_numbers[@]}" 0 3 5 8
arguments=()
for resolution in "${no_numbers[@]}" 0 3 9; do
    expect 2 events profile --resolution "$resolution" none
    grep -qxE "osprof events profile: --resolution must be [^;]*8, not [^;]*; see 'osprof help events profile'" err || fail "$(<err)"
done

# A time is a number, and us, ms, s, m or h.
no_times=("" x s 1x -1s inf nans 1e3s 0x1s .s 1.5.5s " 1s" "1s " "1 s" 1S 5min 10ns 25h 1d)
expect_values run,attach,fuse --interval "--interval {}: must be a time from 10ms to 24h, such as 100ms or 0.5s" "${no_times[@]}" 9ms 0
expect_values run,attach,why --for "--for {}: must be a time from 100ms to 24h, such as 10s or 5m" "${no_times[@]}" 99ms 0
expect_values top --delay "--delay {}: must be a time from 100ms to 24h, such as 10s or 5m" "${no_times[@]}" 0.09 99ms 0 86401
arguments=(--check --preemption a)
expect_values show --quantum "--quantum {}: must be a time from 1us to 1h, such as 4ms" "${no_times[@]}" 0us 0.4us 61m 3601s 99999s
arguments=()
for time in 100ms 0.1s 1.5s .2m 3000000us 24h 1440m; do
    expect_wrong top "--count goes with --batch only" --delay "$time" --count 3
done
# How long a slow call takes needs the unit: 10 may be meant as seconds or as milliseconds.
expect_values run,attach,fuse --slow "--slow {}: must be a time from 1ms to 24h, such as 10ms or 0.5s, or off" "${no_times[@]}" 0.9ms 0ms
expect_values "events show,events profile,events export" --slow "--slow {}: must be a time such as 10ms or 1.5s" \
    "" x s 1x -1s inf nans 1e3s 0x1s .s 1.5.5s " 1s" "1s " "1 s" 1S 5min 10ns 1d off
expect_values "run,attach,fuse,events show,events profile,events export" --slow \
    "--slow {}: the unit is missing: such as 10ms, or 10s" 10 0.5 0 86401

kinds="process, program, cgroup, uid, file, directory"
expect_values attach --layers "--layers must be syscall or fuse, not '{}'" "" user syscall,fuse
arguments=(true)
expect_values run --layers "--layers takes user, fuse, daemon, fs and block, with commas between, or all, not '{}'" \
    disk user, ,fs "" user+fs
arguments=()
expect_values run --by "--by {}: must be none, $kinds or filesystem, or several of them, such as program+file" x "" uid+x program,file
expect_values attach --by "--by {}: must be of ${kinds/ uid,/} and filesystem, with + between" x "" uid file+uid
expect_values fuse --by "--by {}: must be of process, program, cgroup, uid, file and directory, with + between" x "" uid+x filesystem
expect_values "events profile" --by "--by {}: must be of process, program, uid, file and directory, with + between" x "" cgroup
expect_values show --by "--by must be all, $kinds or filesystem, not '{}'" "" name process+file
expect_values why --by "--by must be process, program, uid, thread or cgroup, not '{}'" "" file
expect_values top --by "--by must be $kinds, filesystem or thread, not '{}'" "" name
expect_values top --sort "--sort must be share, calls, mean, max or name, not '{}'" "" size
expect_values compare --method "--method must be FARMOVER, EARTHMOVER, TOTOPS, TOTLAT, CHISQUARE, GROUPOPS or GROUPLAT, not '{}'" "" FAR
expect_values run,compare --fail-on "--fail-on {}: must be change, slower, calls, total or elapsed, or several of them with commas between" \
    "" faster change,
expect_values "events export" --format "--format must be csv, chrome or perfetto, not '{}'" "" json

expect_values attach,why,top --pid "--pid {}: must be numbers of processes, such as 4711,4712" "" x 0 -1 1,,2 1.5
arguments=(true)
expect_values run,fuse --label "--label {}: must be KEY=VALUE, such as rack=7" "" x
expect_values run,fuse --label "--label {}: profiles have a header line of this name already; choose another key" host=1
expect_values run,fuse --label "--label {}: the key must be a lower-case letter and at most 30 lower-case letters, digits and _" =1 Rack=1 "a b=1"
expect_values fuse --joint "--joint {}: must be OP:VALUE, such as read:size" READ
expect_values fuse --joint "--joint {}: the value must be size, result, offset or error" read:x read:blocked
arguments=("$data/show-grep.osprof")
expect_values plot --size "--size must be two numbers from 200 to 20000, as in 1000x600, not '{}'" \
    "" x 1000 1000x 1000x1 199x600 1000x20001 1000X600 1000x600x
expect_values plot -o "the format is told by the suffix, .svg, .png or .pdf; '{}' has none of them" x.jpg x
for command in run attach fuse report plot "events profile" "events export" save; do
    read -ra words <<<"$command"
    status=0
    "$OSPROF" "${words[@]}" -o "" "${arguments[@]}" >out 2>err || status=$?
    [ "$status" = 2 ] || [ "$status" = 125 ] || fail "status $status of: osprof $command -o ''"
    grep -qxE "osprof $command: --output.* the name is missing.*; see 'osprof help $command'" err || fail "message of osprof $command -o '': $(<err)"
done
expect_values report -o "a page of HTML is written: name it FILE.html, not '{}'" x.pdf x.svg
arguments=()
expect_values serve --listen "--listen must be a numeric ADDRESS:PORT such as 127.0.0.1:19435, [ADDRESS]:PORT or the path of a socket, not '{}'" \
    "" x :80 localhost:19435 127.0.0.1: 0
expect_values serve --name "--name must be the name of a host, without a port, not '{}'" "" host:80
[ -z "$(find . -newer commands -name 'x*')" ] || fail "files were written: $(find . -newer commands -name 'x*')"

# ---- Options and arguments that do not go together

expect_wrong run "no command given"
expect_wrong run "no command given" --
expect_wrong run "--vs needs a command" --vs " " true
expect_wrong fuse "the daemon must be given"
expect_wrong attach "a directory, --pid or --cgroup must be given" --for 1s
expect_wrong attach "at most one directory may be given" . .
expect_wrong show "one profile at a time, not 2" a b
expect_wrong show "--list shows no profile: it goes alone, or with --json" --list a
expect_wrong show "--check shows nothing else: leave out --op" --check --op READ a
expect_wrong show "--check shows nothing else: leave out --json" --check --json a
expect_wrong show "--preemption goes with --check" --preemption a
expect_wrong show "--quantum and --threads go with --check --preemption" --check --quantum 4ms a
expect_wrong show "--quantum and --threads go with --check --preemption" --check --threads 4 a
expect_wrong why "one profile at a time, not 2" a b
expect_wrong top "one mount at a time, not 2" a b
expect_wrong top "--count goes with --batch only" --count 3
expect_wrong plot "one profile, or two to compare, not 3" a b c
expect_wrong compare "--within takes one profile, not 2" --within a b
expect_wrong outliers "no profile given"
expect_wrong unmount "exactly one mount point must be given"
expect_wrong unmount "exactly one mount point must be given" a b
for command in show profile export; do
    expect_wrong "events $command" "an events FILE is expected, or several"
done
expect_wrong doctor "unexpected argument '.'; directories go with --calibrate" .
for option in --quick --print; do
    expect_wrong doctor "$option goes with --calibrate" "$option"
done
expect_wrong doctor "--network goes with --calibrate" --network localhost:80
expect_wrong doctor "--print measures nothing: it goes with --calibrate alone" --calibrate --print .
expect_wrong doctor "--print measures nothing: it goes with --calibrate alone" --calibrate --print --quick
expect_wrong doctor "--print measures nothing: it goes with --calibrate alone" --calibrate --print --network localhost:80
expect_wrong save "nothing to save is given: a mount, a live file, a profile or @1"
expect_wrong save "nothing to save is given: a mount, a live file, a profile or @1" -o a
expect_wrong save "nothing to save is given: a mount, a live file, a profile or @1" --rotate
expect_wrong save "--rotate takes one mount, not 2" --rotate -o x a b
expect_wrong save "--rotate goes with -o alone" --rotate --remove -o x a
expect_wrong save "--rotate goes with -o alone" --rotate --layer fs -o x a
expect_wrong save "--rotate needs a file: -o FILE, or the next of the mount's series" --rotate -o - a
expect_wrong save "--remove takes one live file, not 2" --remove -o x a b
expect_wrong save "--remove needs -o FILE, so that the profile is safe first" --remove a
expect_wrong save "--remove needs -o FILE, so that the profile is safe first" --remove -o - a
for others in a "-o x" "--layer fs" --remove --rotate; do
    # shellcheck disable=SC2086 # words
    expect_wrong save "--list saves nothing: it goes alone, or with --json" --list $others
done
for others in "" a; do
    # shellcheck disable=SC2086 # words
    expect_wrong ctl "a mount point, and a command for it, must be given, such as: osprof ctl /mnt reset" $others
done
expect_wrong ctl "'osprof save a -o x' writes the profile to a file" a dump x
expect_wrong ctl "'osprof save --rotate a -o x' writes the profile to a file" a rotate x
expect_wrong ctl "the mount point is empty" "" reset
for word in "" " " $' \t'; do
    expect_wrong ctl "the command is empty" a "$word"
done
expect_wrong ctl "events takes one file, not 'y' too; quote a name with blanks" a events x y

# ---- Profiles and mounts that are none

expected="a profile file, a mount point, a live file, - or @1 is expected"
for command in show save "show --check"; do
    # shellcheck disable=SC2086 # words
    expect_trouble "osprof: cannot open profile no/such: No such file or directory; $expected" $command no/such
    # shellcheck disable=SC2086 # words
    expect_trouble "osprof: cannot open profile : No such file or directory; $expected" $command ""
done
expect_trouble "osprof: . is a directory, and nothing profiles it: osprof attach ., or osproffs . MOUNTPOINT, does" show .
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

expect_trouble "osprof: no/such is not the mount point of an osproffs: there is no no/such/.osprof" ctl no/such reset
mkdir plain
expect_trouble "osprof: plain is not the mount point of an osproffs: there is no plain/.osprof" ctl plain reset
echo precious >plain/.osprof
ordinary="osprof: plain is not the mount point of an osproffs: plain/.osprof is an ordinary file"
for words in reset pause "groups uid" "slow 10ms" "joint READ size" dump rotate "events off" "events x" nonsense; do
    # shellcheck disable=SC2086 # words
    expect_trouble "$ordinary" ctl plain $words
done
expect_trouble "osprof: plain: one command at a time: 'reset?pause' has a new line" ctl plain $'reset\npause'
expect_trouble "$ordinary" save --rotate plain
expect_trouble "$ordinary" save --rotate plain -o x
expect_trouble "osprof: cannot write no/such/x: No such file or directory" save --rotate plain -o no/such/x
expect_trouble "osprof: cannot write no/such/x: No such file or directory" ctl plain events no/such/x
for words in "save plain" "save --rotate plain" "save $data/show-grep.osprof" "ctl plain events"; do
    name=-o
    [ "${words%% *}" = save ] || name=
    # shellcheck disable=SC2086 # words
    expect_trouble "osprof: cannot write plain/: Is a directory" $words $name plain/
    # shellcheck disable=SC2086 # words
    expect_trouble "osprof: cannot write plain/.osprof: it is there, and is no result of osprof; --force replaces it" \
        $words $name plain/.osprof
done
expect_trouble "osprof: cannot write $PWD/x : its name ends in a blank" save --rotate plain -o "x "
expect_trouble "osprof: cannot write $PWD/x?y: its name has a newline" save --rotate plain -o x$'\n'y
expect 2 save plain -o "x "
assert_eq 'osprof: plain/.osprof is not a profile: line 1: expected OP_<NAME> or the end of the file, found "precious"; osprof run -o FILE writes one' \
    "$(<err)" "message of an ordinary file named .osprof"
assert_eq precious "$(<plain/.osprof)" "an ordinary file named .osprof"
assert_eq "" "$(find . -name 'x*')" "files that are made of nothing"

# ---- Without a page: the exit status, and what went wrong

keep_result "$data/show-grep.osprof"
file=$data/show-grep.osprof
for words in "show $file" "show --charts $file" "show --by all $data/show-groups.osprof" "show --json $file" "show --csv $file" \
    "show --check $file" "show --list"; do
    for option in -q --quiet; do
        # shellcheck disable=SC2086 # words
        expect 0 $words "$option"
        assert_eq "" "$(cat out err)" "what osprof $words $option prints"
    done
done
expect_trouble "osprof: cannot open profile no/such: No such file or directory; $expected" show -q no/such

# ---- Manual pages

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
