#!/bin/bash
# osprof events replay: what it makes of a recording whose calls are known, what it says of it, and what no file can make it
# do: leave the directory, fill the disk.
. "$(dirname "$0")/lib.sh"

make() { # make FILE <SCRIPT
    "$TEST_PROGRAMS/events_from_script" >"$1"
}
said() { # said LINE: a line of the page
    grep -qxF -- "$1" "$scratch/out" || fail "does not say '$1': $(<"$scratch/out")"
}
tree() { # tree DIR: names, types and sizes
    (cd "$1" && find . -mindepth 1 \( -type d -printf '%P %y\n' -o -printf '%P %y %s\n' \) | sort)
}

# ---- A recording of someone who reads what is there, and makes something

make recorded <<'END'
host alpha
path 3 /src/a.c
call 10 0 5 LOOKUP 1 entry=2 name=src
call 10 100 5 OPENDIR 2 file=100
call 10 200 5 READDIRPLUS 2 file=100 offset=0 result=3
call 10 300 5 RELEASEDIR 2 file=100
call 10 400 5 OPEN 3 file=100 flags=0
call 10 500 5 READ 3 file=100 size=131072 offset=0 result=70000
call 10 700 5 RELEASE 3 file=100
call 11 1000 5 MKDIR 1 entry=5 mode=0755 umask=022 name=out
call 11 1100 5 CREATE 5 entry=6 file=200 mode=0644 flags=0x42 umask=022 name=a.o
call 11 1200 5 WRITE 6 file=200 size=5000 offset=0 result=5000
call 11 1300 5 RELEASE 6 file=200
call 11 1400 5 RENAME2 5 parent=1 name=a.o new_name=b.o
call 10 1410 5 LOOKUP 1 entry=6 name=b.o
call 10 1420 5 LOOKUP 1 entry=0 errno=2 name=c.o
call 11 200000 5 UNLINK 1 name=old
END
mkdir one two
expect 0 events replay -p replayed.osprof recorded one
said "replay    recorded in one, with the recorded gaps"
said "made first directories: 1, files: 2, filled with 68.4 KiB of a pattern"
said "calls     15 recorded, 15 done, 0 not done; 0 came out otherwise"
said "threads   2 for 2 recorded"
for word in late rates; do
    grep -q "^$word " "$scratch/out" || fail "does not say how near it kept to the recorded times: $word"
done
grep -q '^B  *replayed: ' "$scratch/out" || fail "no comparison"
assert_eq "b.o f 5000
out d
src d
src/a.c f 70000" "$(tree one)" "what is there then"
expect 0 check replayed.osprof
assert_eq 2 "$(profile_calls RELEASE replayed.osprof)" "calls of RELEASE"
assert_eq 3 "$(profile_calls LOOKUP replayed.osprof)" "calls of LOOKUP"
grep -q '^# elapsed: [1-9]' replayed.osprof || fail "the profile does not tell how long it took"

expect 0 events replay --fast --sparse recorded two
said "made first directories: 1, files: 2, each a hole"
assert_eq "$(tree one)" "$(tree two)" "what is there when it was as fast as possible"
! grep -q '^rates ' "$scratch/out" || fail "rates are told though none were to be kept"

# ---- A directory that is not empty

expect_trouble "osprof: cannot replay in one: it is not empty; take an empty directory, or --existing, which may change and remove what is there" \
    events replay recorded one
expect_trouble "osprof: cannot replay in nowhere: No such file or directory" events replay recorded nowhere
expect_trouble "osprof: cannot replay in recorded: Not a directory" events replay recorded recorded
echo mine >one/mine
expect 1 events replay --fast --existing recorded one
said "  MKDIR                      1  recorded: done; now: File exists"
assert_eq mine "$(<one/mine)" "what the recording knows nothing of"

# ---- Hostile recordings

mkdir secret jail
ln -s "$PWD/secret" jail/out
make hostile <<'END'
path 9 /../secret/x
path 10 /out/y
call 1 0 5 CREATE 1 file=7 entry=3 mode=0644 flags=0x42 name=..%2Fsecret%2Fa
call 1 10 5 MKDIR 1 entry=4 mode=0755 name=..
call 1 20 5 LOOKUP 1 entry=5 name=out
call 1 30 5 CREATE 5 file=8 entry=6 mode=0644 flags=0x42 name=b
call 1 40 5 OPEN 9 file=9 flags=1
call 1 50 5 OPEN 10 file=10 flags=1
call 1 60 5 SYMLINK 1 entry=7 name=up target=..%2Fsecret
call 1 70 5 LOOKUP 1 entry=7 name=up
call 1 80 5 MKDIR 7 entry=8 mode=0755 name=c
call 1 90 5 RENAME2 1 parent=5 name=up new_name=d
call 1 100 5 IOCTL 1 file=3 command=1
call 1 110 5 CREATE 1 file=11 entry=11 mode=0644 flags=0x42 name=large
call 1 120 5 WRITE 11 file=11 size=65536 offset=0x7ffffffffff result=65536
call 1 130 5 WRITE 11 file=11 size=65536 offset=0 result=65536
call 1 140 5 WRITE 11 file=11 size=65536 offset=65536 result=65536
END
expect 1 events replay --fast --existing --max-bytes 100K hostile jail
assert_eq "" "$(ls -A secret)" "what is outside"
said "            1 symbolic link could lead out, and got other targets of the same length"
said "  CREATE                     1  the name is not a single component of a path"
said "  CREATE                     1  where it was is not known, or it is not there"
said "  WRITE                      2  files would hold more than --max-bytes, or a call would move more than 16 MiB"
said "  IOCTL                      1  what it was to do is not recorded"
assert_eq "large f 65536
out l $(printf %s "$PWD/secret" | wc -c)
up l 9" "$(tree jail)" "what is inside"
head -c 2500 hostile >torn
mkdir torn-jail
(expect 1 events replay --fast --max-bytes 1M torn torn-jail) || (expect 2 events replay --fast torn torn-jail) || fail "a file that is cut off"

# ---- Recordings of several hosts, each in a directory of its own

for host in alpha beta; do
    make "$host" <<END
host $host
boot $host
error 1000
call 1 0 5 CREATE 1 file=7 entry=3 mode=0644 flags=0x42 name=$host
call 1 10 5 WRITE 3 file=7 size=77 offset=0 result=77
END
done
expect 0 events merge -o both alpha beta
mkdir both-dir
expect 0 events replay both both-dir
assert_eq "host-0 d
host-0/alpha f 77
host-1 d
host-1/beta f 77" "$(tree both-dir)" "what two hosts made"

# ---- Times that no call can have: of 10^18 ns, in the far future and past; and hours that it can

make times <<'END'
end 1000000
call 10 0 5 MKDIR 1 entry=2 mode=0755 name=first
call 11 100 1e15 MKDIR 1 entry=3 mode=0755 name=long
call 12 1e13 5 MKDIR 1 entry=4 mode=0755 name=late
call 13 200 5 MKDIR 1 entry=5 mode=0755 name=last
call 14 300 3e9 MKDIR 1 entry=6 mode=0755 name=hour
END
mkdir times-dir times-fast
expect 1 events replay times times-dir
said "calls     5 recorded, 3 done, 2 not done; 0 came out otherwise"
said "  MKDIR                      2  it lies more than an hour apart from all other times of the recording"
assert_eq "first d
hour d
last d" "$(tree times-dir)" "what was done at times that are possible"
assert_eq "osprof: times: 2 calls have impossible times: more than an hour before or after all else in it" "$(<"$scratch/err")" \
    "what is said of impossible times"
expect 1 events replay --fast times times-fast
assert_eq "$(tree times-dir)" "$(tree times-fast)" "what is done as fast as possible"
expect 0 events show times
assert_eq 5 "$(grep -c MKDIR "$scratch/out")" "calls that are shown"
for command in show profile "profile --interval 1ms" export "export --format chrome" "export --format perfetto" "merge -o merged"; do
    status=0
    # shellcheck disable=SC2086 # words
    timeout 20 "$OSPROF" events $command times >"$scratch/out" 2>"$scratch/err" || status=$?
    [ "$status" -le 2 ] || fail "status $status of osprof events $command"
    grep -q '2 calls have impossible times' "$scratch/err" || fail "osprof events $command says nothing of impossible times"
done
make only <<'END'
end 1000000
call 10 1e13 5 MKDIR 1 entry=4 mode=0755 name=late
END
mkdir only-dir
expect 2 events replay only only-dir
assert_eq "osprof: cannot replay only: all its calls have impossible times" "$(tail -n 1 "$scratch/err")" "a file of impossible times only"
# All times of the file together may be absurd.
make years <<'END'
call 10 0 5 MKDIR 1 entry=2 mode=0755 name=first
call 11 1e14 5 MKDIR 1 entry=4 mode=0755 name=late
END
mkdir years-dir
expect 2 events replay years years-dir
assert_eq "osprof: cannot replay years: with the recorded gaps that takes 1157.4 days, which --fast leaves out" "$(<"$scratch/err")" \
    "a recording of years"
expect 0 events replay --fast years years-dir

# ---- Users, arguments

if is_root && have setpriv; then
    mkdir -m 777 user-dir
    chmod 644 recorded
    as_user "$OSPROF" events replay --fast recorded user-dir >"$scratch/out" || fail "as another user: $(<"$scratch/out")"
    assert_eq "$(tree two)" "$(tree user-dir)" "what another user's replay made"
    assert_eq "$user_uid" "$(stat -c %u user-dir/b.o)" "whose it is"
fi
# Why nothing could be made is said.
if is_root && have setpriv; then
    mkdir -m 755 roots-dir
    status=0
    as_user "$OSPROF" events replay --fast recorded roots-dir >"$scratch/out" || status=$?
    assert_eq 1 "$status" "exit status in a directory that may not be written to"
    grep -q ' names that must have been there could not be made; the first: Permission denied$' "$scratch/out" ||
        fail "no reason is given: $(<"$scratch/out")"
fi
mkdir small-dir
expect 1 events replay --fast --max-bytes 4K recorded small-dir
grep -q 'could not be made; the first: files would hold more than --max-bytes$' "$scratch/out" || fail "no reason: $(<"$scratch/out")"
expect 2 events replay --max-bytes 1X recorded two
grep -q "^osprof events replay: --max-bytes takes a number of bytes" "$scratch/err" || fail "1X is taken: $(<"$scratch/err")"
expect 2 events replay recorded
grep -q 'FILE and DIR are expected' "$scratch/err" || fail "no word of DIR: $(<"$scratch/err")"
