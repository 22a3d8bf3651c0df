#!/bin/bash
# osprof plot: every kind of figure in every format, scripts that say the same, names that are no commands, and nothing
# half done.
. "$(dirname "$0")/lib.sh"

recorder_pid=

before_cleanup() {
    [ -z "$recorder_pid" ] || kill -KILL "$recorder_pid" 2>/dev/null
}

cp "$data/show-grep.osprof" grep.osprof
cp "$data/plot-sampled.osprof" sampled.osprof
blue='rgb(  0, 114, 178)'

# profile NAME LINE...: makes a profile
profile() {
    local file=$1.osprof
    shift
    printf '%s\n' '# osprof 1' "$@" >"$file"
}

# expect_not_so MESSAGE ARGUMENT...: osprof must say MESSAGE, write nothing, and end with 1
expect_not_so() {
    local message=$1
    shift
    expect 1 "$@" -o not-so.svg
    assert_eq "$message" "$(<err)" "message of: osprof $*"
    if [ -s out ] || [ -e not-so.svg ]; then
        fail "writes something: osprof $*"
    fi
}

# block NAME: the numbers of a data block in the script that osprof has just printed
block() {
    awk -v begin="\$$1 << EOD" '$0 == "EOD" { inside = 0 } inside && NF > 0; $0 == begin { inside = 1 }' out
}

# bars COLOUR FILE: how many of this colour an SVG has
bars() {
    grep -c "<polygon fill = '$1'" "$2" || true
}

# ---- Scripts, which need no gnuplot

expect_golden plot-histograms plot --gnuplot --title "" sampled.osprof
expect_golden plot-overlay plot --gnuplot --op READ --by-latency -o x.pdf sampled.osprof sampled.osprof
expect_golden plot-timeline plot --gnuplot --timeline -o x.png sampled.osprof
expect_golden plot-landscape plot --gnuplot --timeline --3d --op READ --op write sampled.osprof
expect_golden plot-joint plot --gnuplot --joint sampled.osprof
if [ -e osprof.svg ] || [ -e x.pdf ]; then
    fail "--gnuplot draws"
fi

# Each bucket lies between its own bounds: at resolution 8 a power of two is eight of them.
profile fine '# clock: tsc 1000000000 Hz' '# resolution: 8' 'OP_A 3 2048' "$(printf ' 0%.0s' {0..71}) 1 2"
expect 0 plot --gnuplot fine.osprof
assert_eq '5.12e-07 5.58339959e-07 1|5.58339959e-07 6.08874043e-07 2' \
    "$(block op1_1 | paste -sd '|')" "bounds at resolution 8"
# Beside a profile of resolution 1 it is one of resolution 1.
profile coarse '# clock: tsc 2000000000 Hz' 'OP_A 1 600' "$(printf ' 0%.0s' {0..8}) 1"
expect 0 plot --gnuplot coarse.osprof fine.osprof
assert_eq '2.56e-07 5.12e-07 1' "$(block op1_1)" "a bucket at 2 GHz"
assert_eq '5.12e-07 0.5|5.12e-07 3|1.024e-06 3|1.024e-06 0.5' \
    "$(block op1_2 | paste -sd '|')" "the outline at 1 GHz"
! grep -q "'bucket'" out || fail "one numbering for buckets of two clock rates"
expect 0 plot --gnuplot fine.osprof fine.osprof
grep -q "'bucket'" out || fail "no bucket numbers over two profiles of one clock"

# Without a clock rate latencies are cycles.
profile bare 'OP_A 2 3000' ' 0 0 0 0 0 0 0 0 0 0 2'
expect 0 plot --gnuplot bare.osprof
grep -q "'latency in cycles'" out || fail "no cycles"
assert_eq '1024 2048 2' "$(block op1_1)" "a bucket in cycles"
expect 0 plot --gnuplot --by-latency bare.osprof
assert_eq '1024 2048 3072' "$(block op1_1)" "estimated latency: 2 times 3/2 * 2^10"

# A million intervals are merged to what can be seen, and none of their calls is lost.
{
    printf '# osprof 1\n# clock: tsc 1000000000 Hz\n# interval: 1000000\nOP_A 3000008 3000080\n'
    seq 999999 | sed 's|.*| 3|'
    echo ' 3 0 8'
} >million.osprof
expect 0 plot --gnuplot --timeline million.osprof
read -r cells calls end < <(block op1 |
    awk '{ calls += $5; end = $2 } END { print NR, calls, end }')
assert_eq "3000008 1000" "$calls $end" "calls and end of the timeline"
[ "$cells" -le 501 ] || fail "$cells cells"
expect 0 plot --gnuplot --timeline --3d million.osprof
[ "$(wc -l <out)" -lt 200 ] || fail "a landscape of $(wc -l <out) lines"

# ---- Pictures

need gnuplot
python=$(python_with xml.dom.minidom) || skip "python3 is not installed"

# expect_picture FILE: of the type that its suffix tells; that what is called SVG can be parsed is checked in the end
mkdir to-be-parsed
pictures=0
mark='made by osprof plot'
expect_picture() {
    local magic
    case $1 in
    *.svg)
        pictures=$((pictures + 1))
        cp -- "$1" "to-be-parsed/$pictures.svg"
        ;;
    *.png)
        magic=$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')
        assert_eq 89504e470d0a1a0a "$magic" "the beginning of $1"
        assert_eq 49454e44ae426082 "$(tail -c 8 "$1" | od -An -tx1 | tr -d ' \n')" "the end of $1"
        ;;
    *.pdf)
        assert_eq '%PDF' "$(head -c 4 "$1")" "the beginning of $1"
        assert_eq '%%EOF' "$(grep -avx "% $mark" "$1" | tail -n 1)" "the end of $1"
        ;;
    esac
    [ "$(wc -c <"$1")" -gt 3000 ] || fail "$1 has $(wc -c <"$1") bytes only"
}

png_size() {
    "$python" -c 'import struct, sys; print(*struct.unpack(">II", open(sys.argv[1], "rb").read(24)[16:]))' "$1"
}

# unmarked FILE FORMAT: prints what gnuplot has drawn, without what osprof adds, by which it knows its results again
unmarked() {
    case $2 in
    svg)
        assert_eq "<!-- $mark -->" "$(tail -n 1 "$1")" "the last line"
        head -n -1 "$1"
        ;;
    png)
        "$python" -c 'if True:
            import sys, zlib
            picture = open(sys.argv[1], "rb").read()
            chunk = picture[33:73]
            assert chunk[:36] == b"\0\0\0\x1ctEXtSoftware\0" + sys.argv[2].encode(), chunk
            assert chunk[36:] == zlib.crc32(chunk[4:36]).to_bytes(4, "big")
            sys.stdout.buffer.write(picture[:33] + picture[73:])' "$1" "$mark"
        ;;
    esac
}

for format in svg png pdf; do
    number=0
    for figure in "" --by-latency --joint "--joint --by-latency" --timeline "--timeline --by-latency" \
        "--timeline --3d" "--timeline --3d --by-latency"; do
        number=$((number + 1))
        read -ra options <<<"$figure"
        expect 0 plot "${options[@]}" -o "figure$number.$format" sampled.osprof
        assert_eq "" "$(<out)$(<err)" "what is said of $figure"
        expect_picture "figure$number.$format"
        # Drawn by hand the script gives the same; a PDF tells when it was made.
        mv "figure$number.$format" drawn
        expect 0 plot "${options[@]}" --gnuplot -o "figure$number.$format" sampled.osprof
        mv out figure.gp
        gnuplot figure.gp
        if [ "$format" = pdf ]; then
            assert_eq "% $mark" "$(tail -n 1 drawn)" "the last line of a PDF"
        else
            unmarked drawn "$format" | cmp - "figure$number.$format"
        fi
        expect_picture "figure$number.$format"
    done
    expect 0 plot -o "overlay.$format" grep.osprof sampled.osprof
    expect_picture "overlay.$format"
done

# What the pictures show: each op's name, a bar for each bucket that has calls, the number of the buckets.
for op in READ WRITE; do
    grep -q "<text>$op</text>" figure1.svg || fail "no $op"
done
assert_eq 4 "$(bars "$blue" figure1.svg)" "bars of READ and WRITE"
grep -q '<text>20</text>' figure1.svg || fail "no bucket numbers"
grep -q '<text>1 ms</text>' figure1.svg || fail "no seconds"
expect 0 plot -o read.svg --op OP_read sampled.osprof
assert_eq 3 "$(bars "$blue" read.svg)" "bars of READ"
! grep -q '<text>WRITE</text>' read.svg || fail "WRITE is there too"
expect 0 plot grep.osprof -o all.svg
assert_eq "$(awk '/^ / { for (i = 1; i <= NF; i++) n += $i > 0 } END { print n }' grep.osprof)" "$(bars "$blue" all.svg)" \
    "bars of all operations"
assert_eq "READ READDIRPLUS OPEN OPENDIR FLUSH RELEASE LOOKUP RELEASEDIR READDIR LSEEK GETATTR STATFS" \
    "$(grep -oE '<text>[A-Z]{3,}</text>' all.svg | sed 's/<[^>]*>//g' | paste -sd ' ')" "the order of operations"
grep -q '<text>READ by past_eof</text>' figure3.svg || fail "no joint profile"
grep -q '<text>yes</text>' figure3.svg || fail "no values"
grep -q '<text>calls in 1.00 s</text>' figure5.svg || fail "no intervals"
grep -q '<text>grep.osprof</text>' overlay.svg || fail "no key"

# Sizes
expect 0 plot grep.osprof --size 640x480 -o size.png --op READ --title "a title"
assert_eq "640 480" "$(png_size size.png)" "size"
expect 0 plot grep.osprof -o size.png
assert_eq 1000 "$(png_size size.png | cut -d ' ' -f 1)" "default width"

# Without -o there is a default, which is printed; - is SVG.
rm -f osprof.svg
keep_result grep.osprof
expect 0 plot
assert_eq osprof.svg "$(<out)" "what is told"
expect_picture osprof.svg
expect 0 plot -o - grep.osprof
cmp out all.svg
expect 0 plot -o UPPER.PNG - <grep.osprof
assert_eq 89504e47 "$(head -c 4 UPPER.PNG | od -An -tx1 | tr -d ' \n')" "a suffix in capitals"

# One call only, of 0 cycles; and the longest there are.
profile one '# clock: tsc 1000000000 Hz' '# interval: 5' 'OP_A 1 0' ' 1' JOINT_A_ERROR '0: 1'
last=$(printf ' 0%.0s' {0..510})' 1'
profile longest '# clock: tsc 1 Hz' '# resolution: 8' '# interval: 18446744073709551615' 'OP_A 1 18446744073709551615' \
    "$last" 'OP_B 2 2' ' 2' JOINT_A_OFFSET "9223372036854775808:$last"
for name in one longest; do
    for figure in "" --by-latency --joint --timeline "--timeline --by-latency" "--timeline --3d"; do
        read -ra options <<<"$figure"
        expect 0 plot "${options[@]}" -o extreme.svg "$name.osprof"
        expect_picture extreme.svg
    done
done

# ---- Texts are no commands

# shellcheck disable=SC2016 # gnuplot and shells must not see anything in these either
evil='"'"'"'; system("touch pwned"); `touch pwned` $(touch pwned) %s {/Bold a}_b^c @d \n <&>]]>'
profile evil "# lower: $evil" '# clock: tsc 1000000000 Hz' '# interval: 100' 'OP_A-b_c.d 4 40' ' 0 0 0 4' \
    JOINT_A-b_c.d_SIZE '1: 0 0 0 4'
expect 0 plot --gnuplot -o evil.svg evil.osprof
mv out evil.gp
gnuplot evil.gp
rm evil.svg # drawn by hand, it is no result of osprof
for figure in "" --timeline "--timeline --3d" --joint; do
    read -ra options <<<"$figure"
    expect 0 plot "${options[@]}" -o evil.svg evil.osprof
    "$python" -c '
import sys, xml.dom.minidom as xml
texts = [t.firstChild.data for t in xml.parse("evil.svg").getElementsByTagName("text") if t.firstChild]
sys.exit(not (sys.argv[1].replace("]]>", "]] >") in texts and any(t.startswith("A-b_c.d") for t in texts)))' "$evil" ||
        fail "not as it is: $evil"
    for format in png pdf; do
        expect 0 plot "${options[@]}" -o "evil.$format" evil.osprof
    done
done
# shellcheck disable=SC2016
name=$'it\'s `touch pwned`\n|touch pwned"\\.svg'
expect 0 plot -o "$name" --title "$name" evil.osprof "$PWD/evil.osprof"
expect_picture "$name"
rm "$name"
expect 0 plot --gnuplot -o "$name" evil.osprof
gnuplot <out
expect_picture "$name"
for name in '|touch pwned;.svg' '~root.svg'; do
    expect 0 plot --gnuplot -o "$name" evil.osprof
    gnuplot <out
    expect_picture "$name"
done
printf '# osprof 1\n# lower: \033]0;x\a\xff\xc2\x9b\xef\xbf\xbf\xed\xa0\x80 \xe6\xbc\xa2\nOP_A 1 1\n 1\n' >bytes.osprof
expect 0 plot -o bytes.svg bytes.osprof
expect_picture bytes.svg
grep -q '漢</text>' bytes.svg || fail "a character is lost"
[ ! -e pwned ] || fail "a text was run"

# The user's own settings change nothing.
echo 'set title "mine"; set logscale x 2; set terminal dumb' >"$HOME/.gnuplot"
expect 0 plot -o settings.svg grep.osprof
cmp settings.svg all.svg
rm "$HOME/.gnuplot"

# ---- Nothing to plot

expect_not_so "osprof: nothing to plot: no call has ended in $data/show-empty.osprof" plot "$data/show-empty.osprof"
profile hung '# clock: tsc 1000 Hz' 'OP_A 1 0' ' 0'
expect_not_so "osprof: nothing to plot: no call has ended in hung.osprof" plot hung.osprof
expect_not_so "osprof: nothing to plot: no call has ended in these profiles" plot hung.osprof hung.osprof
expect_not_so "osprof: no call of NO has ended in grep.osprof; 'osprof show' lists the operations of a profile" \
    plot --op NO --op READ grep.osprof
expect_not_so "osprof: no intervals in grep.osprof; osprof run --interval TIME or osproffs -o interval=TIME records them" plot --timeline grep.osprof
expect_not_so "osprof: no joint profiles in grep.osprof; osproffs -o joint=OP:VALUE records them" plot --joint grep.osprof
expect_not_so "osprof: no joint profiles of these operations in sampled.osprof; osproffs -o joint=OP:VALUE records them" \
    plot --joint --op WRITE sampled.osprof

# A live file has histograms, but no more; what has not ended is not drawn.
coproc RECORDER { exec "$TEST_PROGRAMS/record" live /mnt control; }
# shellcheck disable=SC2153 # set by coproc
recorder_pid=$RECORDER_PID
read -r _ <&"${RECORDER[0]}"
expect 0 plot -o live.svg live
assert_eq READ "$(grep -oE '<text>(READ|FSYNC)</text>' live.svg | sed 's/<[^>]*>//g')" "operations of a live file"
expect_not_so "osprof: no intervals in live; live files have none" plot --timeline live
expect_not_so "osprof: no joint profiles in live; live files have none" plot --joint live
kill -KILL "$recorder_pid"
wait "$recorder_pid" 2>/dev/null || true
recorder_pid=

# ---- Trouble: the picture that was there stays

# The picture of somebody else is not replaced, one by osprof is kept.
echo precious >text.svg
expect_trouble "osprof: cannot write text.svg: it is there, and is no result of osprof; --force replaces it" plot grep.osprof -o text.svg
assert_eq precious "$(<text.svg)" "a text of somebody"
expect 0 plot grep.osprof --force -o text.svg
cmp all.svg text.svg
for format in svg png pdf; do
    expect 0 plot grep.osprof -o "kept.$format"
    mv "kept.$format" earlier
    cp earlier "kept.$format"
    expect 0 plot sampled.osprof -o "kept.$format"
    expect_picture "kept.$format"
    cmp earlier "kept.$format.old" || fail "an earlier picture is not kept: $format"
done
precious='<?xml version="1.0"?><precious/><!-- made by osprof plot -->'
echo "$precious" >precious.svg
# expect_untouched MESSAGE ARGUMENT...: trouble, and nothing is changed or left behind
expect_untouched() {
    local message=$1
    shift
    expect_trouble "$message" "$@" -o precious.svg
    assert_eq "$precious" "$(<precious.svg)" "the picture after: $message"
    [ ! -e precious.svg.old ] || fail "the picture is moved after: $message"
    [ -z "$(find . -name '.osprof*')" ] || fail "a temporary file is left after: $message"
}

mkdir bin empty
status=0
env PATH="$scratch/empty" "$OSPROF" plot -o precious.svg grep.osprof 2>err || status=$?
assert_eq "2 osprof: cannot plot: there is no gnuplot in the PATH (Debian: apt-get install gnuplot-nox); --gnuplot writes \
the script for one elsewhere" "$status $(<err)" "without gnuplot"
assert_eq "$precious" "$(<precious.svg)" "the picture without gnuplot"

# fake_gnuplot LINE...: a script in its place
fake_gnuplot() {
    printf '%s\n' '#!/bin/sh' "$@" >bin/gnuplot
    chmod +x bin/gnuplot
}
real_path=$PATH
PATH=$scratch/bin:$PATH
fake_gnuplot 'printf "half a picture"' 'printf "\ngnuplot> plot\n         ^\n         line 0: \033[1mout of ideas\n\n" >&2' 'exit 3'
expect_untouched "osprof: cannot plot: gnuplot failed: line 0: ?[1mout of ideas" plot grep.osprof
fake_gnuplot 'exit 0'
expect_untouched "osprof: cannot plot: gnuplot failed: it does not say why" plot grep.osprof
# shellcheck disable=SC2016
fake_gnuplot 'printf "half a picture"' 'kill -KILL $$'
expect_untouched "osprof: cannot plot: gnuplot failed: Killed" plot grep.osprof
PATH=$real_path

expect_trouble "osprof: cannot write no/such/dir.svg: No such file or directory" plot grep.osprof -o no/such/dir.svg
mkdir directory.svg
expect_trouble "osprof: cannot write directory.svg: Is a directory" plot grep.osprof -o directory.svg
status=0
"$OSPROF" plot grep.osprof -o - >/dev/full 2>err || status=$?
assert_eq "2 osprof: cannot write standard output: No space left on device" "$status $(<err)" "a full standard output"
status=0
"$OSPROF" plot grep.osprof -o closed.svg <&- >&- 2>&- || status=$?
expect_picture closed.svg
"$python" -c 'if True:
    import sys, xml.dom.minidom
    for path in sys.argv[1:]:
        xml.dom.minidom.parse(path)' to-be-parsed/*.svg || fail "a picture is no XML"
if is_root; then
    mkdir full
    mount -t tmpfs -o size=64k tmpfs full
    echo "$precious" >full/x.svg
    head -c 60000 /dev/zero >full/ballast || true
    expect_trouble "osprof: cannot write full/x.svg: No space left on device" plot grep.osprof -o full/x.svg
    assert_eq "$precious ballast x.svg" "$(<full/x.svg) $(find full -type f -printf '%f\n' | sort | paste -sd ' ')" \
        "a full disk"
    umount full
fi

expected="a profile file, a mount point, a live file, - or @1 is expected"
expect_untouched "osprof: cannot open profile no/such: No such file or directory; $expected" plot grep.osprof no/such
for broken in "$data"/should-fail-*.osprof; do
    expect 2 plot -o precious.svg "$broken"
    assert_eq "$precious" "$(<precious.svg)" "the picture after $broken"
done
expect_untouched "osprof: cannot plot bare.osprof over grep.osprof: only one of them tells its clock's rate, so they have \
no common unit of time" plot grep.osprof bare.osprof
expect_untouched "osprof: a picture of 1000x300 has no room for all of this; choose operations with --op, or a larger \
--size" plot --size 1000x300 grep.osprof
{
    printf '# osprof 1\n'
    seq -f 'OP_N_%g 1 1' 2000 | sed 'a\ 1'
} >ops.osprof
expect_untouched "osprof: a picture of 20000 pixels has no room for all of this; choose operations with --op" \
    plot ops.osprof

see="; see 'osprof help plot'"
expect_trouble "osprof plot: one profile, or two to compare, not 3$see" plot a b c
expect_trouble "osprof plot: --timeline and --joint exclude each other: give one$see" plot --timeline --joint
expect_trouble "osprof plot: --timeline is of one profile, not of two$see" plot --timeline a b
expect_trouble "osprof plot: --layers is of one profile, not of two$see" plot --layers a b
expect_trouble "osprof plot: --layers draws all layers, and --layer one$see" plot --layers --layer fs a
expect_trouble "osprof plot: --3d is a view of --timeline$see" plot --3d grep.osprof
expect_trouble "osprof plot: --gnuplot writes the script to standard output; -o names the script's picture, which needs a \
file$see" plot --gnuplot -o - grep.osprof
for name in x x.jpg svg .svg/x; do
    expect_trouble "osprof plot: the format is told by the suffix, .svg, .png or .pdf; '$name' has none of them$see" \
        plot -o "$name" grep.osprof
done
expect 2 plot -o "" grep.osprof
grep -q "^osprof plot: --output.* the name is missing.*$see$" err || fail "message about an empty name: $(<err)"
for size in 1000 1000x 199x600 1000x20001 -1x600 1000x600x2 99999999999999999999x600 "" ax600 "1000x 600"; do
    expect_trouble "osprof plot: --size must be two numbers from 200 to 20000, as in 1000x600, not '$size'$see" \
        plot --size "$size" grep.osprof
done
