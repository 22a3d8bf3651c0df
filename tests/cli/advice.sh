#!/bin/bash
# Advice: each rule is provoked, and is the first, with a bound that has room for its calls; once it is followed it is not
# advised any more. Ordinary jobs get none.
. "$(dirname "$0")/lib.sh"

need python3
# shellcheck disable=SC2154 # set by meson
advised=$TEST_PROGRAMS/advised
mkdir "$scratch/job"
cd "$scratch/job" || exit 1

# job NAME COMMAND...: its profile is $scratch/NAME
job() {
    local name=$1
    shift
    expect 0 run -q -o "$scratch/$name" -- "$@"
}

# page NAME: the page of osprof show, in one line
page() {
    "$OSPROF" show --width 200 "$scratch/$1" | sed '/^% of latency/,$d' | tr '\n' ' '
}

# looks NAME: how often the recorder has looked at the job; a job that was short has no such line
looks() {
    awk '/^# busy: / { for (i = 3; i < NF; i++) if ($i == "looks") looks = $(i + 1) } END { print looks + 0 }' "$scratch/$1"
}

# long_job NAME WHAT N EACH FILE: a job of $items items, N of them or more: there is no advice to what is looked at too seldom
long_job() {
    items=$3
    while job "$1" "$advised" "$2" "$items" "$4" "$5" && [ "$(looks "$1")" -lt 250 ]; do
        items=$((items * 2))
    done
}

# bounded BEFORE AFTER RULE: the first advice to BEFORE is RULE, whose bound has room for the calls that it is about; AFTER
# has not got it. What following it gains is for bench/advice.
bounded() {
    "$OSPROF" show --json "$scratch/$1" >before.json
    "$OSPROF" show --json "$scratch/$2" >after.json
    python3 - "$3" >&2 <<'END' || fail "$3: $(page "$1")"
import json, sys
rule = sys.argv[1]
before, after = (json.load(open(name)) for name in ("before.json", "after.json"))
first = before.get("advice", [{"rule": "none"}])[0]
if first["rule"] != rule:
    sys.exit(f"the first advice is {first['rule']}")
if any(advice["rule"] == rule for advice in after.get("advice", [])):
    sys.exit(f"{rule} is advised after it has been followed")
about = [op for op in before["ops"] if op["op"] == first.get("op", op["op"])]
share = sum(op["total_seconds"] for op in about) / before["elapsed_seconds"] * first["calls"] / first["of_calls"]
if not 0.98 * share <= first["bound"] <= 1:
    sys.exit(f"the calls took {share:.3f} of the time, and {first['bound']:.3f} is the bound")
END
}

# says NAME PATTERN...: the words of the first advice
says() {
    local text
    text=$(page "$1")
    shift
    # a bound on the work between calls is less than all of the rest
    if [[ $text =~ "can save at most "([0-9]+)" % in calls and "([0-9]+)" % between them" ]]; then
        [ "$((BASH_REMATCH[1] + BASH_REMATCH[2]))" -lt 100 ] || fail "no bound: $text"
    else
        [[ $text == *" % in calls, besides the work between them"* || $text == *" % in calls "* ]] || fail "no bound: $text"
    fi
    for pattern; do
        [[ $text =~ $pattern ]] || fail "the page does not say '$pattern': $text"
    done
}

# ---- The rules

long_job commits commits 400 1 data
job batches "$advised" commits "$items" 4096 data
bounded commits batches commits
say=$(printf '%s' "$items" | sed ':a; s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; ta')
says commits "FDATASYNC by advised on .*/job/data: $say calls, one at a time in .* of .*: committing more at once can save at most [0-9]+ % in calls"

# What a job sleeps, nothing saves: then the work between calls has a bound. On a busy machine it may have waited for a CPU
# as long as it slept. On a slow disk it sleeps longer, so that percentages tell both from the rest.
seconds=$(python3 -c 'import json; print(1 + int(json.load(open("before.json"))["elapsed_seconds"] / 4))')
ASAN_OPTIONS=detect_leaks=0 job slept "$advised" commits "$items" 1 data "$seconds" # which has a thread
sed -i 's/^# queue_time: .*/# queue_time: 0/' "$scratch/slept"
says slept "committing more at once can save at most [0-9]+ % in calls and [0-9]+ % between them"

long_job tiny writes 150000 1 data
job large "$advised" writes "$items" 1024 data
bounded tiny large tiny_writes
says tiny "WRITE by advised on .*/job/data: [0-9,]+ calls of 64 B each, .*: writing more at once can save at most [0-9]+ % in calls"

long_job tiny reads "$items" 1 data
job large "$advised" reads "$items" 1024 data
bounded tiny large tiny_reads
says tiny "READ by advised on .*/job/data: [0-9,]+ calls of 64 B each, .*: reading more at once can save at most [0-9]+ % in calls"

long_job many missing 12000 8 data
job few "$advised" missing "$items" 1 data
bounded many few missing
says many "STAT by advised in .*/job: [0-9]*[1-9][0-9,]* of [0-9,]+ calls for what is not there, .*: looking in fewer places can save at most [0-9]+ % in calls"
expect 0 show --json "$scratch/many"
python3 -c 'import json, sys
first = json.load(open(sys.argv[1]))["advice"][0]
assert (first["calls"], first["of_calls"]) == (7 * int(sys.argv[2]), 8 * int(sys.argv[2])), first' "$scratch/out" "$items"

long_job again open 50000 0 data
job once "$advised" open "$items" 1 data
bounded again once reopened
says again "OPEN by advised on .*/job/data: opened [0-9,]+ times, .*: keeping it open, or what it holds, can save at most [0-9]+ % in calls"

# With all that a page may have, advice leaves it its 24 lines.
# shellcheck disable=SC2016 # the inner shell expands them
expect 0 run -- bash -c '"$1" commits 200 1 data; "$1" open "$2" 0 data; "$1" missing 12000 8 data' bash "$advised" "$items"
cat "$scratch/out" "$scratch/err" >page
[ "$(wc -l <page)" -le 24 ] || fail "the page has $(wc -l <page) lines: $(<page)"
grep -q 'can save' page || fail "no advice on a full page: $(<page)"

# ---- FUSE in the way: seen by the program, and of the mount itself

mkdir "$scratch/below" "$scratch/through"
cp data "$scratch/below/data"
if [ -w /dev/fuse ] && "$OSPROFFS" "$scratch/below" "$scratch/through" 2>/dev/null; then
    long_job fuse writes 400000 64 "$scratch/through/data"
    fusermount3 -u "$scratch/through" || umount "$scratch/through"
    job direct "$advised" writes "$items" 64 "$scratch/below/data"
    bounded fuse direct fuse
    says fuse "Files of .*/through fuse.osproffs: .* calls, .*: reading and writing them where they are can save at most [0-9]+ % in calls"
    expect 0 run -q --layers fs -d "$scratch/below" -o "$scratch/mounted" -- "$advised" open 4000 0 "$scratch/below/data"
    says mounted "FUSE of this mount: a run without the mount can save at most [0-9]+ % in calls"
    says mounted "FUSE, the page cache and copying added at most [0-9.]+ .*s to these calls \([0-9,]+ requests\)"
fi

# ---- Was it the disk? A file that is not in the page cache, and the same again

# reads_through: the jobs "cold" and "warm" read the same file
reads_through() {
    job cold dd if=large of=/dev/null bs=64k status=none
    job warm dd if=large of=/dev/null bs=64k status=none
}

head -c 32M /dev/zero >large
sync large
python3 -c 'import os; os.posix_fadvise(os.open("large", os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)'
kind=$(findmnt -nro FSTYPE -T .)
case $kind in
ext4 | xfs | btrfs)
    dd if=/dev/null of=/dev/null status=none # so that its own pages are in memory
    with_caches reads_through
    [[ $(page cold) =~ " "3[2-4](.[0-9])?" MiB came from the disk; calls read 32.0 MiB " ]] || fail "of the disk: $(page cold)"
    [[ $(page warm) =~ " "(Nothing|"Less than 1 %")" of the 32.0 MiB that calls read came from the disk: it was in the page cache " ]] ||
        fail "of the page cache: $(page warm)"
    ;;
*) echo "nothing is said of the disk: $scratch is on $kind" ;;
esac
rm large

# ---- Ordinary jobs

mkdir tree
for i in {1..60}; do
    for _ in {1..40}; do printf 'a line of file %s\n' "$i"; done >"tree/$i.txt"
done
printf 'all: a b\na b:\n\tcat tree/1.txt tree/2.txt >$@\n' >Makefile

# healthy COMMAND...
healthy() {
    job healthy bash -c 'for _ in 1 2 3; do "$@" >out; done' bash "$@"
    "$OSPROF" show --json "$scratch/healthy" >healthy.json
    python3 -c 'import json, sys; sys.exit(json.load(open("healthy.json")).get("advice"))' >&2 || fail "advice to: $*"
}

healthy tar cf tree.tar tree
healthy grep -r 'file 7' tree
healthy find tree -name '*.txt' -newer Makefile
healthy cp -r tree copy
! have make || healthy make -B
healthy python3 -c 'import json, subprocess'
if command -v git >/dev/null; then
    git -c init.defaultBranch=main init -q . && git add tree
    healthy git status
fi
