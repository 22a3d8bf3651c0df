#!/bin/bash
# The commands of docs/now.md work as they stand there.
# shellcheck disable=SC2119 # "watched" takes options of osprof attach
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need sqlite3 setpriv

mkdir fs
mount -t tmpfs tmpfs fs
fs=$scratch/fs
mkdir fs/orders
sqlite3 fs/orders/db 'create table t (a)'
(while [ -e "$fs/orders/db" ]; do
    sqlite3 "$fs/orders/db" 'insert into t values (1)'
    sleep 0.02
done) 2>/dev/null &
load=$!
others=("$load")

# The blocks of shell, with this test's directory and process
page() {
    # shellcheck disable=SC2016 # of Markdown
    sed -n '/^```sh$/,/^```$/ { /^```/d; p }' "$tests_dir/../../docs/now.md" |
        sed -e "s|/srv/data|$fs|g; s/--for [0-9]*s/--for 500ms/; s|--pid 4711|--pid $load|; s|osprof top|& --batch --count 1 --delay 0.2|"
}
page >commands
# a control group of that name would have to be made
sed -i '/--cgroup /d' commands
[ "$(grep -c 'osprof attach' commands)" -ge 4 ] || fail "the page has no commands"
[ "$(grep -c "osprof [a-z]* .*$fs" commands)" -ge 10 ] || fail "the page has too few commands"

provide_programs
mkdir bin
ln -s "$OSPROF" bin/osprof
export PATH=$scratch/bin:$PATH

# run COMMANDS: fails if one of them does. Status 1 is no failure: osprof compare has found a difference
run() {
    # shellcheck disable=SC2016 # for the shell inside
    bash -uo pipefail -c 'trap "status=\$?; [ \$status -le 1 ] || { echo \"status \$status: \$BASH_COMMAND\"; exit 1; }" ERR; . "$1"; exit 0' \
        bash "$1" >out 2>err || fail "a command of the page fails: $(tail -n 20 out err)"
    ! grep -E '^osprof: (cannot watch|cannot open|there is no|see )' err >&2 || fail "a command of the page fails: $(<err)"
}

# those that attach, and those to type meanwhile
split_at_attach() {
    awk '/osprof attach|setpriv|osprof why($| -a)/ { in_attach = 1 } { print >(in_attach ? "attaching" : "meanwhile") } !/\\$/ { in_attach = 0 }' commands
}
split_at_attach
watched --slow 10ms
cp err said
run "$PWD/meanwhile"
for file in before after; do
    [ -s "$file.osprof" ] || fail "$file.osprof is empty"
done
kill -INT "$watcher"
cp said err
ended 0
run "$PWD/attaching"
grep -c ' elapsed; calls ' out >pages
assert_eq 4 "$(<pages)" "pages that are printed"
rm -rf fs/orders
wait "$load" || true
others=()
umount fs
