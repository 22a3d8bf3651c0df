#!/bin/bash
# osprof report: a page of HTML whose numbers are the profile's, whose sentences are those of osprof show, and in which no
# text of a profile is anything but text.
. "$(dirname "$0")/lib.sh"

need python3

says() {
    python3 "$tests_dir/../cli/report_page.py" "$@"
}

# ---- Numbers and sentences

# agrees PROFILE PICTURES: the page says what osprof show says
agrees() {
    expect 0 report -o page.html "$1"
    assert_eq "" "$(cat out err)" "what it prints with -o"
    "$OSPROF" show --json "$1" >profile.json
    assert_eq "$2" "$(says same page.html profile.json)" "pictures of $1"
    says sentences page.html >first
    COLUMNS=1000 "$OSPROF" show "$1" | tr -s ' \n' ' ' >shown
    while read -r sentence; do
        grep -qF -e "$sentence" shown || fail "osprof show $1 does not say: $sentence"
    done <first
    [ "$(wc -l <first)" -ge "${3:-1}" ] || fail "few sentences: $(<first)"
}
agrees "$data/show-answer.osprof" 6 6
agrees "$data/plot-sampled.osprof" 4
agrees "$data/show-dimensions.osprof" 4
agrees "$data/show-bare.osprof" 1
expect 0 report -o - "$data/show-empty.osprof"
says text out | grep -q '1.50 ms elapsed; no calls' || fail "of a profile without calls: $(says text out)"

# The shares are of the latency, not of the elapsed time in the headline.
expect 0 report -o - "$data/show-answer.osprof"
says text out | grep -q ' % of latency spent in calls ' || fail "a share of what: $(says text out | head -c 500)"

sed "s/^# host: .*/# bytes_kernel: read 1024 written 10/" "$data/show-answer.osprof" >sum.osprof
expect 0 report -o - sum.osprof
says text out | grep -qF "kernel 1.00 KiB read, 10 B written, by the kernel's count, less the start of programs" || fail "an amount: $(says text out | grep -o 'What was profiled, and where.*')"

# Of whom: what most of the time is, in a column for any name
expect 0 report -o - "$data/show-answer.osprof"
says text out | grep -q 'compile-everything 10,000 .* READ 100 %' || fail "what programs do: $(says text out)"
sed 's/_READ\b/_COPY_FILE_RANGES_OF_ALL/' "$data/show-answer.osprof" | sed 's/^\(# bytes: \)READ /\1COPY_FILE_RANGES_OF_ALL /' >wide.osprof
expect 0 report -o - wide.osprof
says text out | grep -q 'compile-everything 10,000 .* COPY_FILE_RANGES_OF_ALL 100 %' || fail "what programs do, of a long name: $(says text out)"

# ---- Where the time went

# parts HEADER...: the bar of a profile with these lines, of 1 GHz. Its calls: $calls, lines of a name and a total in ns
parts() {
    {
        printf '# osprof 1\n# resolution: 1\n# clock: tsc 1000000000 Hz\n'
        printf '# %s\n' "$@"
        while read -r name total; do
            printf 'OP_%s 1 %s\n' "$name" "$total"
            for ((rest = total; rest > 1; rest /= 2)); do printf ' 0'; done
            echo ' 1'
        done <<<"$calls"
    } >parts.osprof
    expect 0 report -o parts.html parts.osprof
    "$OSPROF" show --json parts.osprof >profile.json
    says bar parts.html profile.json >parts
    cat parts
}
# bar_says WHAT LINE...: the bar that was made last has these parts, and this is said of it
bar_says() {
    local what=$1
    shift
    assert_eq "$(printf '%s\n' "$@")" "$(<parts)" "$what"
}
calls=$'READ 3000000000\nWRITE 1000000000'
one_thread=('layer: user' 'elapsed: 10000000000' 'user_time: 2000000000' 'system_time: 0')

parts "${one_thread[@]}" 'queue_time: 0' >/dev/null
bar_says "one thread" "READ: 3.00 s" "WRITE: 1.00 s" "on a CPU outside of calls: 2.00 s" "other waits: 4.00 s" \
    "The bar is the wall time, 10.0 s, of which 4.00 s (40.0 %) were in file system calls."
parts "${one_thread[@]}" 'queue_time: 1000000000' >/dev/null
bar_says "one thread that waited for a CPU" "READ: 3.00 s" "WRITE: 1.00 s" "on a CPU outside of calls: 2.00 s" \
    "waiting for a CPU: at most 1.00 s" "other waits: at least 3.00 s" \
    "The bar is the wall time, 10.0 s, of which 4.00 s (40.0 %) were in file system calls."
parts 'layer: user' 'elapsed: 10000000000' 'user_time: 2000000000' 'system_time: 2000000000' 'queue_time: 1000000000' >/dev/null
bar_says "one thread with system time that may be within calls" "READ: 3.00 s" "WRITE: 1.00 s" \
    "on a CPU outside of calls: at least 2.00 s" "on a CPU, or waiting: 3.00 s" "other waits: at least 1.00 s" \
    "The bar is the wall time, 10.0 s, of which 4.00 s (40.0 %) were in file system calls. Waiting for a CPU: at most 1.00 s."
parts "${one_thread[@]}" >/dev/null
bound="The time of an operation is its latency summed over threads: an upper bound, because calls may overlap."
bar_says "several threads" "READ: at most 3.00 s" "WRITE: at most 1.00 s" "on a CPU outside of calls: at most 2.00 s" \
    "waiting for a CPU, and other waits: at least 4.00 s" \
    "The bar is the wall time, 10.0 s, of which at most 4.00 s (40.0 %) were in file system calls. $bound"
parts "${one_thread[@]}" 'queue_time: 0' 'not_seen: static 1' >/dev/null
bar_says "calls that were not measured" "READ: 3.00 s" "WRITE: 1.00 s" "outside of measured calls: 6.00 s" \
    "The bar is the wall time, 10.0 s, of which 4.00 s (40.0 %) were in file system calls. Outside of measured calls are also those that were not measured, or have not ended."
parts 'layer: user' 'elapsed: 4000000000' >/dev/null
bar_says "latency that is all of the wall time" "READ: at most 3.00 s" "WRITE: at most 1.00 s" \
    "The bar is the wall time, 4.00 s, of which at most 4.00 s (100.0 %) were in file system calls. $bound"
parts 'layer: user' 'elapsed: 3999999999' 'user_time: 2000000000' 'system_time: 0' >/dev/null
bar_says "latency beyond the wall time" "READ: 3.00 s" "WRITE: 1.00 s" \
    "The bar is latency summed over threads, 4.00 s within 4.00 s of wall time: calls overlap."
parts 'layer: user' >/dev/null
bar_says "an unknown wall time" "READ: 3.00 s" "WRITE: 1.00 s" "The bar is latency summed over threads, 4.00 s; the wall time is not known."
parts 'layer: fs' 'elapsed: 10000000000' 'busy: 40 looks 100 most 1' >/dev/null
bar_says "a mount" "READ: 3.00 s" "WRITE: 1.00 s" "outside of the lower file system: 6.00 s" \
    "The bar is the wall time, 10.0 s, of which 4.00 s (40.0 %) were in calls to the lower file system."
parts 'layer: fs' 'elapsed: 10000000000' 'busy: 29 looks 100 most 1' >/dev/null
grep -qx 'READ: at most 3.00 s' parts || fail "few looks do not show that calls never overlap: $(<parts)"
parts 'layer: block' 'elapsed: 10000000000' >/dev/null
grep -qx 'outside of requests: at least 6.00 s' parts || fail "a disk: $(<parts)"
grep -q 'of which at most 4.00 s (40.0 %) were in requests to disks' parts || fail "a disk: $(<parts)"
parts 'layer: user' 'elapsed: 10000000000' 'runs: 5' >/dev/null
grep -q '^The bar is the wall time, 10.0 s of 5 runs, of which at most' parts || fail "several runs: $(<parts)"
calls=$'A 5000000\nB 4000000\nC 3000000\nD 2000000\nE 1000000\nF 900000\nG 800000'
parts 'layer: user' >/dev/null
assert_eq "A B C D E 2 other operations" "$(sed '$d; s/:.*//' parts | paste -sd ' ')" "operations that are named"
calls=${calls%$'\n'*}
parts 'layer: user' >/dev/null
assert_eq "A B C D E F" "$(sed '$d; s/:.*//' parts | paste -sd ' ')" "a single one that is left"
for profile in "$data"/{show-answer,show-grep,show-hung,plot-sampled,show-bare,compare-after,show-hostile}.osprof; do
    expect 0 report -o page.html "$profile"
    "$OSPROF" show --json "$profile" >profile.json
    says bar page.html profile.json >/dev/null
done

# The job's own layer says more of its wall time than that of its mount, which is chosen for the rest of the page.
expect 0 report -o page.html "$data/layers.osprof"
"$OSPROF" show --json --layer user "$data/layers.osprof" >profile.json
says bar page.html profile.json >parts
grep -q ' It is of the layer libc[.] ' parts || fail "which layer: $(<parts)"
expect 0 report --layer fs -o page.html "$data/layers.osprof"
"$OSPROF" show --json --layer fs "$data/layers.osprof" >profile.json
says bar page.html profile.json >parts
! grep -q 'of the layer' parts || fail "the layer of all of the page: $(<parts)"

# In this order: the bar, what to look at first, latency over time, tables.
expect 0 report -o page.html "$data/compare-after.osprof"
assert_eq "wall first time operations latency" "$(grep -oP '<section id="\K\w+' page.html | head -n 5 | paste -sd ' ')" "sections"
assert_eq "9 more operations over time" "$(grep -oP '<summary>\K[0-9]+ more [^<]*' page.html)" "maps that unfold"
says explained page.html >terms
[ "$(<terms)" -ge 8 ] || fail "few terms are explained: $(<terms)"

# ---- How the job ended

# ended HEADER...: what the head of the page says
ended() {
    { echo '# osprof 1'; printf '# %s\n' 'command: make' "$@"; printf 'OP_READ 1 1000\n 0 0 0 0 0 0 0 0 0 1\n'; } >ended.osprof
    expect 0 report -o page.html ended.osprof
    says about page.html | sed 's/.*file-system time went *//'
}
assert_eq "Exit: status 0" "$(ended 'exit: status 0 signal 0')" "a job that ended well"
! grep -q 'class="warning">Exit' page.html || fail "status 0 is a warning"
assert_eq "Exit: status 3" "$(ended 'exit: status 3 signal 0')" "a job that failed"
grep -q 'class="warning">Exit' page.html || fail "status 3 is no warning"
assert_eq "Exit: signal 9 (Killed)" "$(ended 'exit: status 0 signal 9')" "a job that was killed"
assert_eq "Exit: signal 18446744073709551615" "$(ended 'exit: status 0 signal 18446744073709551615')" "no signal"
assert_eq "Exit: status 3, in the first run that failed" "$(ended 'exit: status 3 signal 0' 'runs: 5')" "of several runs"
assert_eq "Exit: status 0, in all runs" "$(ended 'exit: status 0 signal 0' 'runs: 5')" "of several runs"
assert_eq "" "$(ended 'host: h')" "a profile that does not say"
ended 'exit: status 3 signal 0' >/dev/null
cp ended.osprof failed.osprof
ended 'exit: status 0 signal 0' >/dev/null
expect 0 report -o page.html failed.osprof -- ended.osprof
says about page.html | grep -q 'Exit of B: status 0$' || fail "of two: $(says about page.html)"
expect 0 report -o page.html ended.osprof failed.osprof
says about page.html | grep -q 'Exit: status 3, in the first run that failed$' || fail "of a sum: $(says about page.html)"

# ---- What it is about

# title LABEL...: of the page of a profile with these labels
title() {
    { echo '# osprof 1'; printf '# %s\n' "$@"; printf 'OP_READ 1 1000\n 0 0 0 0 0 0 0 0 0 1\n'; } >about.osprof
    expect 0 report -o - about.osprof
    sed -n 's|.*<title>\(.* - osprof report\)</title>.*|\1|p' out
}
assert_eq "/mnt - osprof report" "$(title 'mount: /mnt')" "a mount"
assert_eq "/lower - osprof report" "$(title 'mount: /mnt' 'lower: /lower')" "the directory below it"
assert_eq "about.osprof - osprof report" "$(title 'host: h')" "a profile that does not say"

# ---- How to get it again

# again LABEL...: what the page says of a profile with these labels
again() {
    {
        echo '# osprof 1'
        printf '# %s\n' "$@"
        printf 'OP_READ 1 100\n 0 0 0 0 0 0 1\n'
    } >again.osprof
    "$OSPROF" report -o - again.osprof >out || fail "no page of $*"
    says text out | sed 's/.*How to get this again //; s/ This page, from what was recorded.*//'
}
assert_eq "Again, as far as this profile tells: osprof run -- make -j2" "$(again 'layer: user' 'command: make -j2')" "a command"
assert_eq "Again, as far as this profile tells: osprof run --layers fs -- make" "$(again 'layer: fs' 'lower: /a' 'command: make')" "of a mount"
for command in "sh -c ls" "touch a;reboot" "echo \$(ls)" "a..."; do
    assert_eq "Again, with quotes as they were, which this profile does not have: osprof run -- $command" \
        "$(again 'layer: user' "command: $command")" "a command that cannot be typed"
done
assert_eq "" "$(again 'layer: user' 'command: make, make -j2' 'lower: /a, /b' 'lists: command' 'merged: 2' | sed -n '/Again/p')" "commands of a sum"
assert_eq "" "$(again 'layer: fs' 'lower: /a, /b' 'lists: lower' 'merged: 2' | sed -n '/Again/p')" "directories of a sum"
assert_eq "Again, as far as this profile tells: osproffs '/a, b' MOUNTPOINT" "$(again 'layer: fs' 'lower: /a, b' 'merged: 2')" "one directory of a sum, which has a comma"
assert_eq "Again, as far as this profile tells: osprof attach -d /a" "$(again 'layer: fs' 'attached: -d /a')" "of the kernel"
assert_eq "Again, as far as this profile tells: osproffs '/a b;c' /mnt" "$(again 'layer: fs' 'lower: /a b;c' 'mount: /mnt')" "a mount"
assert_eq "Again, as far as this profile tells: osproffs /a MOUNTPOINT" "$(again 'layer: fs' 'lower: /a')" "a mount at an unknown place"

# ---- What a recording of layers adds
expect 0 report -o page.html "$data/layers.osprof"
says text page.html >whole
grep -q 'Layers.* self: total minus that of the next layer below' whole || fail "no layers: $(<whole)"
expect 0 report --layer user -o page.html "$data/layers.osprof"
says text page.html >other
! cmp -s whole other || fail "--layer changes nothing"
expect_trouble "osprof: no layer nothing in $data/layers.osprof, which has user, fuse, fs and block" \
    report --layer nothing -o page.html "$data/layers.osprof"

# ---- Its pictures are those of osprof plot
cp "$data/compare-after.osprof" sampled.osprof
expect 0 report -o page.html sampled.osprof
"$OSPROF" plot --gnuplot sampled.osprof >bars.gp
"$OSPROF" plot --gnuplot --timeline sampled.osprof >cells.gp
assert_eq "$(grep -cE '^[0-9.e-]+ [0-9.e-]+ [0-9]+$' bars.gp)" "$(says bars page.html bars.gp)" "bars"
assert_eq "$(grep -cE '^([0-9.e-]+ ){4}[0-9]+$' cells.gp)" "$(says cells page.html cells.gp)" "cells"

# Intervals of any length stand where they were: a short first one, a long last one.
sed 's/^# borders: .*/# borders: 50000000 2000000000 7300000000/; s/^# elapsed: .*/# elapsed: 7300000000/' \
    "$data/plot-sampled.osprof" >uneven.osprof
grep -qx '# borders: 50000000 2000000000 7300000000' uneven.osprof || fail "no uneven intervals"
expect 0 report -o page.html uneven.osprof
"$OSPROF" plot --gnuplot --timeline uneven.osprof >cells.gp
assert_eq "$(grep -cE '^([0-9.e-]+ ){4}[0-9]+$' cells.gp)" "$(says cells page.html cells.gp)" "cells of uneven intervals"

# ---- What has changed

# compares PAGE OPERATIONS ARGUMENT...: the page says what osprof compare ARGUMENT... says, and that these have changed
compares() {
    local page=$1 operations=$2
    shift 2
    { COLUMNS=1000 "$OSPROF" compare "$@" || [ $? = 1 ]; } | tr -s ' \n' ' ' >shown
    "$OSPROF" compare --json "$@" >comparison.json || [ $? = 1 ]
    assert_eq "$operations" "$(says changed "$page" comparison.json)" "what has changed in $page"
    says changes "$page" >sentences
    while read -r sentence; do
        grep -qF -e "$sentence" shown || fail "osprof compare $* does not say: $sentence"
    done <sentences
    [ "$(wc -l <sentences)" -ge 6 ] || fail "few sentences: $(<sentences)"
}
cp "$data/compare-before.osprof" before.osprof
cp "$data/compare-after.osprof" after.osprof
expect 0 report -o page.html before.osprof -- after.osprof
compares page.html "READ READDIRPLUS" before.osprof after.osprof
says about page.html | grep -q 'what has changed, and where the file-system time of B went' || fail "$(says about page.html)"
"$OSPROF" show --json after.osprof >profile.json
assert_eq 24 "$(says same page.html profile.json)" "pictures of B"
says text page.html | grep -qF 'osprof report before.osprof -- after.osprof; as text: osprof compare before.osprof after.osprof' ||
    fail "how to get it again: $(says text page.html | grep -o 'This page.*')"
expect 0 report -o page.html before.osprof -- before.osprof
says changes page.html 2>/dev/null >sentences || true
says text page.html >whole
grep -q '^What has changed from A to B A and B are identical: ' whole || fail "of one profile twice: $(head -c 200 whole)"
! grep -q 'Each operation that changed' whole || fail "something has changed between a profile and itself"
for runs in "old 3" "new 4 WRITE=1.3 READ=0.7"; do
    # shellcheck disable=SC2086 # are words
    python3 "$tests_dir/../cli/make_runs.py" $runs
done
expect 0 report -o page.html old?.osprof -- new?.osprof
compares page.html "WRITE READ" old?.osprof -- new?.osprof
says text page.html | grep -qE '^What has changed from A to B [0-9]+ of 9 operations slower, .*[.] ?A run took ' || fail "the first line: $(says text page.html | head -c 200)"
for run in old?.osprof new?.osprof; do sed 's/^# layer: .*/# layer: user\n# command: make/' "$run" >"job-$run"; done
expect 0 report -o job.html job-old?.osprof -- job-new?.osprof
compares job.html "WRITE READ" job-old?.osprof -- job-new?.osprof
says text job.html | grep -qE '^What has changed from A to B The job took .* as long: .*[0-9]+ of 9 operations slower, ' ||
    fail "the first line, of a job: $(says text job.html | head -c 200)"
says about page.html | grep -q ', of 4 profiles, added up$' || fail "of how many: $(says about page.html)"
"$OSPROF" save new?.osprof | "$OSPROF" show --json - >profile.json
says same page.html profile.json >/dev/null
expect_trouble "osprof: new0.osprof is given twice: a run counts once, and on one side" \
    report -o page.html old?.osprof -- new0.osprof new0.osprof
expect 2 report -o page.html before.osprof --

# ---- Pages of other commands
expect 1 compare --report pair.html before.osprof after.osprof
COLUMNS=80 "$OSPROF" compare before.osprof after.osprof >shown || [ $? = 1 ]
cmp -s shown out || fail "compare --report prints something else: $(<out)"
expect 0 report -o page.html before.osprof -- after.osprof
cmp pair.html page.html || fail "not the page of osprof report"
expect 1 compare -q --report sets.html old?.osprof -- new?.osprof
assert_eq "" "$(<out)" "what compare -q --report prints"
compares sets.html "WRITE READ" old?.osprof -- new?.osprof
expect 1 compare -q --report - before.osprof after.osprof
cmp out page.html || fail "another page on standard output"
expect 2 compare --report - before.osprof after.osprof
expect 2 compare --report - old?.osprof -- new?.osprof
expect 2 compare --within --report none.html before.osprof
expect_trouble "osprof: cannot write none/page.html: No such file or directory" \
    compare -q --report none/page.html before.osprof after.osprof

"$OSPROF" run -q --report run.html -o run.osprof -- sh -c 'echo one >some; cat some' >out 2>err || fail "run --report: $(<err)"
assert_eq "one" "$(paste -sd " " out err)" "what run -q --report prints"
"$OSPROF" show --json run.osprof >profile.json
says same run.html profile.json >/dev/null
assert_eq 600 "$(stat -c %a run.html)" "mode of a page with paths"
"$OSPROF" run -q --report idle.html -- true 2>err || fail "run --report: $(<err)"
says text idle.html | grep -q ' elapsed; no calls' || fail "of a job without calls: $(says text idle.html)"
assert_eq "wall first machine again" "$(grep -oP '<section id="\K\w+' idle.html | paste -sd ' ')" "sections of a job without calls"
"$OSPROF" run -q --report vs.html -o vs --vs 'cat some' -- sh -c 'cat some some; sync some' >/dev/null 2>err || fail "run --vs --report: $(<err)"
"$OSPROF" compare --json vs.a vs.b >comparison.json || [ $? = 1 ]
says changed vs.html comparison.json >operations
grep -q FSYNC operations || fail "what has changed: $(<operations)"
says text vs.html | grep -qF 'A cat some: ' || fail "the older command is not there: $(says text vs.html | head -c 300)"
expect 125 run --report none/page.html -- true
assert_eq "osprof: cannot write page none/page.html: No such file or directory" "$(<err)" "a page that cannot be written"
expect 125 run --layers fs -d . -d "$data" --report page.html -- true
expect 125 run --report - -o - -- true

# ---- Several, added up
expect 0 report -o page.html old?.osprof
says about page.html | grep -q 'where its file-system time went, of 3 profiles, added up$' || fail "of how many: $(says about page.html)"
! says text page.html | grep -q 'has changed' || fail "a sum is compared with nothing"
"$OSPROF" save old?.osprof | tee sum.osprof | "$OSPROF" show --json - >profile.json
assert_eq 9 "$(says same page.html profile.json)" "pictures of a sum"
says text page.html | grep -qF 'as text: osprof save old0.osprof old1.osprof old2.osprof | osprof show -' ||
    fail "how to get a sum again: $(says text page.html | grep -o 'This page.*')"
printf '%s\n' old?.osprof >list
expect 0 report -o listed.html @list
says same listed.html profile.json >/dev/null
cp "$data/layers.osprof" twice.osprof
expect 0 report --layer user -o page.html "$data/layers.osprof" twice.osprof
"$OSPROF" save "$data/layers.osprof" twice.osprof | "$OSPROF" show --layer user --json - >profile.json
says same page.html profile.json >/dev/null
says text page.html | grep -q 'Layers.* self: total minus that of the next layer below' || fail "no layers of a sum"
expect 0 report -o page.html twice.osprof twice.osprof
grep -q 'twice.osprof has been read already: its calls are in the sum once more' err || fail "a file twice: $(<err)"

# ---- Names of others

hostile='</script><img src=x onerror=alert(1)>"><svg onload=alert(2)> & '"'"
{
    sed '/^OP_/,$d' "$data/show-answer.osprof"
    printf '# label_note: %s\n' "$hostile"
    sed -n '/^OP_/,$p' "$data/show-answer.osprof"
} >hostile.osprof
sed "s|^# command: .*|# command: $(printf '%s' "$hostile" | sed 's/[&|\\]/\\&/g')\xff|" hostile.osprof >named.osprof
expect 0 report -o page.html named.osprof
says text page.html | grep -qF -e "$hostile" || fail "the hostile name is not there as text"

# A newline or a tab in a name is no blank.
{
    printf '# osprof 1\nOP_READ 3 300\n 0 0 0 0 0 0 3\n'
    for name in '/a b' '/a\012b' '/a\011b'; do
        printf '# file: 0 %s\nOP_READ 1 100\n 0 0 0 0 0 0 1\n' "$name"
    done
} >blanks.osprof
expect 0 report -o page.html blanks.osprof
assert_eq $'1 /a b\n2 /a\xef\xbf\xbdb' "$(grep -oP '<th scope="row">\K/a[^<]*' page.html | LC_ALL=C sort | uniq -c | sed 's/^ *//')" "names with blanks"

# ---- Where it goes

cd "$scratch"
keep_result "$data/show-answer.osprof"
expect 0 report
assert_eq "osprof.html" "$(<out)" "what it prints"
says sentences osprof.html >/dev/null
expect 0 report -o bare.html "$data/show-bare.osprof"
assert_eq "600 644" "$(stat -c %a osprof.html bare.html | paste -sd ' ')" "modes of a page with paths, and of one without"
expect_trouble "osprof: cannot write none/page.html: No such file or directory" report -o none/page.html "$data/show-answer.osprof"
# An earlier page is kept, and so is a profile in its place; another file is not replaced.
for earlier in bare.html "$data/show-answer.osprof"; do
    cp "$earlier" kept.html
    expect 0 report -o kept.html "$data/show-answer.osprof"
    cmp "$earlier" kept.html.old || fail "an earlier result is not kept"
    grep -q '^<!doctype html>' kept.html || fail "no page over an earlier result"
done
echo '<!doctype html><title>precious</title>' >other.html
expect_trouble "osprof: cannot write other.html: it is there, and is no result of osprof; --force replaces it" \
    report -o other.html "$data/show-answer.osprof"
grep -q precious other.html || fail "the page of somebody is replaced"
expect 0 report --force -o other.html "$data/show-answer.osprof"
! grep -q precious other.html || fail "not replaced with --force"
cp bare.html kept.html
rm kept.html.old
expect 2 report -o kept.html "$data/should-fail-overflow.osprof"
cmp bare.html kept.html || fail "a page that is there is another, where another cannot be made"
[ ! -e kept.html.old ] || fail "a page that is there is moved, where another cannot be made"
expect 2 report "$data/show-answer.osprof" "$data/layers.osprof" nothing.osprof
expect 2 report nothing.osprof
ls .osprof* 2>/dev/null && fail "something is left"

# ---- Twenty operations over time: a page that can be sent

python3 - >many.osprof <<'END'
import random
random.seed(1)
print("# osprof 1\n# resolution: 4\n# clock: tsc 2000000000 Hz\n# elapsed: 80000000000\n# interval: 200000000")
for op in range(20):
    rows = [[random.randrange(3000) if 40 <= bucket < 100 and random.random() < .5 else 0 for bucket in range(100)] for _ in range(400)]
    total = sum(sum(row) * 100000 for row in rows)
    calls = sum(map(sum, rows))
    print(f"OP_X{op:02} {calls} {total}")
    for row in rows:
        print(*row)
END
expect 0 report -o page.html many.osprof
"$OSPROF" show --json many.osprof >profile.json
assert_eq 40 "$(says same page.html profile.json)" "pictures of many operations"
says text page.html | grep -qE 'from [0-9,]+ \(dark\) to [0-9]{1,3}(,[0-9]{3})+ \(bright\)' || fail "the colours of many calls: $(says text page.html | grep -o 'Colours: .*bright')"
size=$(stat -c %s page.html)
[ "$size" -le 310000 ] || fail "the page has $size bytes"
