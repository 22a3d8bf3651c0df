#!/bin/bash
# scripts/check and scripts/demo: wrong arguments are refused at once, and --help does nothing else. scripts/words: what it
# finds.
. "$(dirname "$0")/lib.sh"

scripts=$tests_dir/../../scripts

# refused MESSAGE SCRIPT [ARGUMENT]...
refused() {
    local status=0
    timeout 20 "$scripts/$2" "${@:3}" >out 2>err || status=$?
    assert_eq "1 $2: $1" "$status $(<err)" "scripts/$2 ${*:3}"
    [ ! -s out ] || fail "scripts/$2 ${*:3} does something: $(<out)"
}

# helps SCRIPT OPTION TEXT
helps() {
    timeout 20 "$scripts/$1" "$2" >out 2>err || fail "scripts/$1 $2: status $?"
    grep -qF -e "$3" out || fail "scripts/$1 $2 does not tell $3: $(<out)"
    [ ! -s err ] || fail "scripts/$1 $2: $(<err)"
}

steps=$("$scripts/check" --help | sed -n 's/^Steps: //p')
[[ $steps == "format contracts shell "*" newer bare" ]] || fail "steps: $steps"
refused "no such step: ''; there are: $steps" check ''
refused "no such step: 'nosuch'; there are: $steps" check python nosuch
refused "no such step: 'python format'; there are: $steps" check 'python format'
helps check --help "scripts/check [STEP]..."
helps check -h "Steps: "
refused "takes no arguments, not ''; see scripts/demo --help" demo ''
refused "takes no arguments, not 'fast'; see scripts/demo --help" demo fast
helps demo --help "scripts/demo [--help]"
helps demo -h "builds it, runs grep over a source tree"

# found TEXT EXPECTED FILE: of a file that holds TEXT
found() {
    local status=0
    printf '%s\n' "$1" >"$3"
    "$scripts/words" "$3" >out 2>err || status=$?
    assert_eq "${2:+1 }${2:-0}" "$status$(sed -n 's/": .*/"/; s/^/ /p' out)" "scripts/words of '$1'"
}

found '/* Whoever asks. */' 'a.c:1: "Whoever"' a.c
found $'/* A call that\n * is\n * told. */' 'a.c:2: "is told"' a.c
found $'int whoever; /* the user */\nconst char *text = "/* whoever */"; // but for me' 'a.c:2: "but for"' a.c
found '/* The looks are told apart, and it is told to end. */' '' a.c
found $'#!/bin/bash\nwhoever by turns \x23 of few calls' 'words:2: "of few"' words
found $'#!/usr/bin/env python3\nwhoever = "tells of" \x23 tells of\n"""One that it is"""' \
    $'words:2: "tells of"\n words:3: "One that it is"' words
found $'.Sh NOTES\nA line tells\nmore.' 'page.1:2: "tells more"' page.1
found 'Of more than three calls, if need be' 'page.md:1: "if need be"' page.md

# ---- Terms, in what is printed and what users read

mkdir src docs
found 'puts("the job was in a file call"); /* in a file call */' 'src/a.c:1: "in a file call"' src/a.c
found 'puts("the job was in file system calls");' '' src/a.c
found 'Latencies are overlapping ones added up.' 'docs/a.md:1: "overlapping ones added up"' docs/a.md
found 'They are summed over threads.' '' docs/a.md

# ---- Samples that are older than the code

mkdir -p tree/docs/cases tree/docs/internals tree/scripts/docs tree/src/analysis tree/src/cli/text tree/src/cli/read/{pages,waits,top,report}
cp "$scripts/docs/stale" tree/scripts/docs/
echo 'int a;' >tree/src/cli/read/pages/page.c
printf '    $ osprof show\n' | tee tree/docs/one.md >tree/docs/two.md
echo 'Without samples' | tee tree/docs/three.md tree/docs/cases/four.md >tree/README.md
assert_eq $'docs/one.md\ndocs/two.md' "$(tree/scripts/docs/stale)" "documents that were never noted"
tree/scripts/docs/stale --note docs/one.md
assert_eq docs/two.md "$(tree/scripts/docs/stale)" "the one that is not noted"
tree/scripts/docs/stale --note
assert_eq "" "$(tree/scripts/docs/stale)" "after all are noted"
echo 'int b;' >tree/src/cli/read/pages/page.c
assert_eq $'docs/one.md\ndocs/two.md' "$(tree/scripts/docs/stale)" "documents older than the code"
