#!/bin/bash
# osprof run --layers user: what real programs are seen to do is what strace(1) sees them do.
#
# libc makes some system calls of its own, which the layer does not see; the layers below show them.
. "$(dirname "$0")/lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

need strace awk
strace -o /dev/null true 2>/dev/null || skip "strace is not allowed here"

# Counts system calls of files below dir. fstat() is newfstatat() of an empty path.
# shellcheck disable=SC2016
count_lines='
function is_below(path) { return path == dir || index(path, dir "/") == 1 }
function of_fd(text) { return match(text, /<[^>]*>/) ? is_below(substr(text, RSTART + 1, RLENGTH - 2)) : 0 }
{
    sub(/^[0-9]+ +/, "")
    if (!match($0, /^[a-z0-9_]+\(/)) next
    name = substr($0, 1, RLENGTH - 1)
    rest = substr($0, RLENGTH + 1)
    if (name == "statx" && /AT_STATX_DONT_SYNC[A-Z_|]*, STATX_TYPE\|STATX_MNT_ID, /) next # what the preloaded library asks itself
    if (name !~ /read|write/ && match(rest, /^([0-9]+|AT_FDCWD)<[^>]*>, "/)) { # those two have data there, not a path
        base = substr(rest, 1, RLENGTH)
        path = substr(rest, RLENGTH + 1)
        sub(/".*/, "", path)
        sub(/>, "$/, "", base)
        sub(/^[^<]*</, "", base)
        is_counted = is_below(substr(path, 1, 1) == "/" ? path : path == "" ? base : base "/" path)
        if (path == "" && name == "newfstatat") name = "fstat"
    } else if (match(rest, /^"/)) {
        path = substr(rest, 2)
        sub(/".*/, "", path)
        is_counted = substr(path, 1, 1) != "/" || is_below(path)
    } else {
        sub(/[,)].*/, "", rest)
        is_counted = of_fd(rest)
        if (name == "mmap") is_counted = of_fd($0)
    }
    if (is_counted) calls[name]++
}
END { for (name in calls) print name, calls[name] }'

# traced NAME...: how many system calls of these names there were
traced() {
    local name sum=0
    for name; do
        sum=$((sum + $(awk -v name="$name" '$1 == name { found = $2 } END { print found + 0 }' "$scratch/traced")))
    done
    echo "$sum"
}

sum_of() {
    local op sum=0
    for op; do
        sum=$((sum + $(calls "$op")))
    done
    echo "$sum"
}

make_tree() {
    rm -rf "${lower:?}"
    mkdir "$lower"
    (
        cd "$lower"
        for i in 1 2 3; do
            mkdir "d$i"
            for j in 1 2 3 4 5; do
                printf 'def f%s_%s():\n    return %s\n' "$i" "$j" "$j" >"d$i/f$j.py"
            done
        done
        printf 'all: a b c\n%%: d1/f1.py\n\tcp $< $@\n\tcat $@ >$@.copy\n' >Makefile
    )
}

# compare COMMAND...: names of calls that libc makes by itself too are not compared, except those that open and close
compare() {
    local row
    # shellcheck disable=SC2119 # its parameters are its own
    make_tree
    user_run 0 strace -f -y -o "$scratch/log" "$@"
    awk -v dir="$lower" "$count_lines" "$scratch/log" >"$scratch/traced"
    # shellcheck disable=SC2086 # several names
    for row in 'access faccessat faccessat2:ACCESS' fsync:FSYNC fdatasync:FDATASYNC 'link linkat:LINK' \
        'mkdir mkdirat:MKDIR' 'newfstatat stat lstat:STAT' pread64:PREAD pwrite64:PWRITE \
        'rename renameat renameat2:RENAME' rmdir:RMDIR statx:STATX 'symlink symlinkat:SYMLINK' \
        'unlink unlinkat:UNLINK'; do
        assert_eq "$(traced ${row%:*})" "$(calls "${row#*:}")" "$1: ${row#*:}, system calls and calls"
    done
    if [ "$fdopendirs" = some ]; then
        fdopendirs=$(($(sum_of OPEN FOPEN OPENDIR) - $(traced openat open creat)))
        if [ "$fdopendirs" -lt 0 ] || [ "$fdopendirs" -gt "$(calls OPENDIR)" ]; then
            fail "$1: files opened: $fdopendirs too many"
        fi
        fdopendirs=some
    else
        assert_eq "$(traced openat open creat)" "$(($(sum_of OPEN FOPEN OPENDIR) - fdopendirs))" "$1: files opened"
    fi
    assert_eq "$(traced close)" "$(sum_of CLOSE FCLOSE CLOSEDIR)" "$1: files closed"
    [ "$(sum_of FOPEN FREAD FGETS)" -ne 0 ] || assert_eq "$(traced read)" "$(calls READ)" "$1: reads"
    [ "$(sum_of FOPEN FWRITE FPUTS)" -ne 0 ] || assert_eq "$(traced write)" "$(calls WRITE)" "$1: writes"
    [ "$(traced openat open creat)" -gt 0 ] || fail "$1: opens nothing"
    compared="$compared $1"
}

compared=
fdopendirs=0
! have git || compare git -c init.defaultBranch=main init -q .
! have git || compare sh -c 'git init -q . && git add . && git -c user.name=a -c user.email=b commit -qm all && git status --short'
! have sqlite3 || compare sqlite3 base 'create table t(a, b); insert into t values(1, 2); insert into t select a + 1, b from t; vacuum;'
! have make || compare make
# shellcheck disable=SC2016 # for perl
! have perl || compare perl -e 'opendir D, "d1"; while (readdir D) { open F, "<", "d1/$_"; <F>; close F } rename "d1/f1.py", "x"'
python=$(python_with compileall || true)
[ -z "$python" ] || compare "$("$python" -c 'import sys; print(sys.executable)')" -S -m compileall -q .
# shellcheck disable=SC2016 # for the programs
{
    compare bash -c 'for f in d1/*; do while read -r line; do :; done <$f; cat $f >>all; done; [ ! -e d2/f9.py ]; cd d1; exec 7<../all; mapfile -t -u 7 x'
    compare sh -c 'gzip -k d1/f1.py; gzip -dc d1/f1.py.gz >b; cat d1/* >c; tac c >t; sed -i s/def/fed/ d2/*; split -l1 c'
    ! have mawk || compare mawk '{ print >"o" NR } END { while ((getline line <"d2/f1.py") > 0) n++; system("cat d1/f1.py") }' d1/f1.py d1/f2.py
    ! have gawk || compare gawk '{ print >"o" NR } END { while ((getline line <"d2/f1.py") > 0) n++; system("cat d1/f1.py") }' d1/f1.py d1/f2.py
    ! have xz || compare sh -c 'xz -k d1/f1.py; xz -dc d1/f1.py.xz >b; xz -l d1/f1.py.xz'
    ! have gcc || compare sh -c 'echo "int main(void) { return 0; }" >a.c; gcc -c a.c; ar rcs liba.a a.o; ld -o a a.o liba.a -e main; strip a; nm a.o'
    ! have perl || compare perl -MFile::Find -e 'find(sub { -d or open my $f, "<", $_ and <$f> }, ".")'
    ! have tclsh || compare sh -c 'echo "foreach f [glob d1/*] { set c [open \$f]; gets \$c; seek \$c 0; read \$c; close \$c; file stat \$f a; file copy \$f d2/n; file delete d2/n }" | tclsh'
    ! have node || compare node -e '[1, 2, 3].forEach(i => { fs.statSync(`d1/f${i}.py`); fs.copyFileSync(`d1/f${i}.py`, "c"); fs.readFileSync("c"); fs.unlinkSync("c") }); fs.promises.readFile("d2/f1.py")'
}
fdopendirs=some # directories that they open by themselves, by version, and give libc the descriptors
! have rsync || compare rsync -a d1 d2 d3/
! have dpkg-deb || compare sh -c 'mkdir -p d1/DEBIAN && printf "Package: a\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b>\nDescription: a\n" >d1/DEBIAN/control && dpkg-deb -b d1 a.deb >/dev/null'
compare find . -name '*1.py' -exec cat {} \; -delete
compare cp -a d1 copy
fdopendirs=3 # tar opens the directories by itself, and gives libc the descriptors
! have tar || compare tar cf all.tar d1 d2 d3
[ -n "$compared" ] || skip "there is nothing to compare with"
