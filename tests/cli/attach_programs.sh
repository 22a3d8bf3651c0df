#!/bin/bash
# osprof attach beside a whole trace of strace -f, program by program: what counts is what the trace shows, operation by
# operation.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need strace tar sqlite3 python3 git rsync make xz

mkdir fs
mount -t tmpfs tmpfs fs
fs=$scratch/fs
device=$(mountpoint -d "$fs")
chmod 777 "$fs"

# ---- The programs

mkdir inputs
for i in {1..23}; do seq "$i" "$((i * 101))" >"inputs/$i"; done
cp -r inputs "$fs/files"
printf 'all: %s\n%%.out: files/%%\n\tcp $< $@\n' "$(echo {1..9}.out)" >"$fs/Makefile"
cat >load.sql <<'END'
pragma journal_mode = wal;
create table t (a, b);
insert into t values (1, randomblob(9000)), (2, randomblob(9000));
update t set b = randomblob(5000) where a = 1;
pragma wal_checkpoint;
vacuum;
select a from t;
END
cat >threads.py <<'END'
import os, threading
def work(number):
    fd = os.open(f"of-{number}", os.O_RDWR | os.O_CREAT, 0o600)
    for i in range(50):
        os.pwrite(fd, b"x" * 100, i * 100)
        os.pread(fd, 100, i * 50)
        os.utime(fd)
    os.rename(f"of-{number}", f"is-{number}")
    os.close(fd)
threads = [threading.Thread(target=work, args=(number,)) for number in range(7)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
END
cat >early.py <<'END'
import os, sys
sys.stdin.readline()
for i in range(7):
    os.write(3, b"12345")
os.fsync(3)
os.stat("files")
os.unlink("early")
END
cp "$(type -P dd)" set-id-dd
chown "$user_uid" set-id-dd
chmod u+s,a+rx set-id-dd
cat >files.go <<'END'
package main

import (
	"os"
	"sync"
)

func main() {
	var group sync.WaitGroup
	for _, name := range []string{"go-a", "go-b", "go-c"} {
		group.Add(1)
		go func(name string) {
			defer group.Done()
			os.WriteFile(name, make([]byte, 100000), 0600)
			os.ReadFile(name)
			os.Rename(name, name+".new")
			os.Stat("nosuch")
			os.ReadDir(".")
			os.Remove(name + ".new")
		}(name)
	}
	group.Wait()
}
END

# in_fs COMMAND...: in a shell that is traced too
in_fs() {
    # shellcheck disable=SC2016 # for the shell inside
    PATH=/usr/bin:/bin HOME=$scratch strace -ff -y -v -o "$traces/t" sh -c 'cd "$1" && shift && exec "$@"' sh "$fs" "$@" >printed 2>&1 &
    tracer=$!
    wait "$tracer" || fail "$* fails: $(<printed)"
}

run_git() {
    in_fs sh -c 'git init -q repository && cd repository && cp -r ../files . && git add . &&
        git -c user.name=a -c user.email=a@b commit -qm "message" && git mv files/1 one && git status && git log --stat && git gc -q'
}
run_make() { in_fs make -j2; }
run_rsync() { in_fs rsync -a files/ copied; }
run_tar() { in_fs sh -c 'tar -cf files.tar files && mkdir out && tar -xf files.tar -C out'; }
run_sqlite3() { in_fs sqlite3 db ".read $scratch/load.sql"; }
run_threads() { in_fs /usr/bin/python3 "$scratch/threads.py"; }
run_xz() { in_fs xz -k -0 -T2 --block-size=16KiB files.tar; }
run_cp() { in_fs cp -a files other; }
run_find() { in_fs sh -c 'find . -ls && grep -r 77 files && rm -r other'; }
run_set_id() { in_fs "$scratch/set-id-dd" if=/dev/zero of=set-id bs=10 count=13; }
run_static() { in_fs "$TEST_PROGRAMS/unseen_calls_static" run 1 "$TEST_PROGRAMS/unseen_calls_static" run 1; }
run_go() { in_fs "$scratch/files-go"; }
programs=(git make rsync tar sqlite3 threads xz cp find set_id)
[ ! -x "$TEST_PROGRAMS/unseen_calls_static" ] || programs+=(static)
if type -P go >/dev/null && GOCACHE=$scratch/go-cache GOFLAGS=-mod=mod go build -o files-go files.go 2>go-says; then
    programs+=(go)
fi
rm -rf go-cache

# ---- Each beside its trace

mkdir traces
# begin PROGRAM
begin() {
    traces=$scratch/traces/$1
    mkdir "$traces"
    watched --by process
}

# counts_but PROCESS: counts of the profile, as by counts(), less those of the process
counts_but() {
    awk -v process="$1" '/^# (process|program|file|directory): / { is_group = 1; is_own = $2 == "process:" && $3 == process }
        /^OP_/ { n[substr($1, 4)] += is_group ? (is_own ? -$2 : 0) : $2 }
        END { for (op in n) if (n[op] > 0 && op != "SYNCFS") print op, n[op] }' profile | sort
}

# compare PROGRAM: strace itself looks whether files are deleted
compare() {
    local not_told failed told_of told_of_failed
    kill -INT "$watcher"
    ended 0
    python3 "$tests_dir/../cli/strace_counts.py" "$fs" "$device" "$traces"/* >expected
    [ -s expected ] || fail "$1 makes no calls there"
    counts_but "$tracer" >counted
    diff expected counted >&2 || fail "what is counted of $1 (>) is not what strace shows"
    # other programs of this machine make such calls too
    read -r not_told failed < <(python3 "$tests_dir/../cli/strace_counts.py" --not-told "$fs" "$device" "$traces"/*)
    read -r told_of told_of_failed < <(sed -n '/^# not_told: of_machine /{s// /; s/ failed / /; t; s/\( [0-9]*\).*/\1 0/; p}' profile) || told_of=0 told_of_failed=0
    awk -v program="$1" '{ n += $2 } END { print program ": " n " calls of " NR " operations" }' expected
    echo "    not told: $not_told, of which $failed failed; on all of this machine $told_of and $told_of_failed"
    if [ "$not_told" -gt "$told_of" ] || [ "$failed" -gt "$told_of_failed" ]; then
        fail "calls of $1 are missing among those not told"
    fi
}

for program in "${programs[@]}"; do
    begin "$program"
    "run_$program"
    compare "$program"
done

# ---- One that ran before

mkfifo go
(cd "$fs" && exec /usr/bin/python3 "$scratch/early.py" <"$scratch/go" 3>"$fs/early") &
early=$!
exec 7>go
mkdir before
strace -ff -y -v -o before/t -p "$early" 2>attached &
tracer=$!
others=("$early" "$tracer")
wait_until 30 grep -q attached attached || fail "strace does not attach: $(<attached)"
begin early
traces=before
echo >&7
exec 7>&-
wait "$early" "$tracer"
others=()
compare early
