#!/bin/bash
# osprof attach of a database that is at work: what its processes call equals what its client, pgbench, has counted, and
# what the database itself has.
# shellcheck disable=SC2119 # "watched" takes options of osprof attach
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need setpriv
for directory in /usr/lib/postgresql/*/bin; do
    PATH=$directory:$PATH
done
need initdb pg_ctl psql pgbench

mkdir fs
mount -t tmpfs tmpfs fs
fs=$scratch/fs
chmod 755 "$scratch"
mkdir fs/postgres database
chown "$user_uid:$user_gid" fs/postgres database
before_cleanup() {
    exec 9>&-
    [ ! -s "$fs/postgres/data/postmaster.pid" ] || as_database pg_ctl -D "$fs/postgres/data" -m immediate stop >/dev/null || true
    kill_watchers
}

# as_database COMMAND...
as_database() {
    (cd "$scratch/database" && exec setpriv --reuid "$user_uid" --regid "$user_gid" --clear-groups env HOME="$PWD" \
        PGHOST="$fs/postgres" PGUSER=postgres PGDATABASE=postgres "$@")
}

# ask SQL
ask() {
    as_database psql -XAtqc "$1"
}

as_database initdb -D "$fs/postgres/data" -U postgres -A trust >said 2>&1 || fail "no database: $(<said)"
as_database pg_ctl -D "$fs/postgres/data" -t 200 -w start -l "$fs/postgres/log" \
    -o "-k $fs/postgres -c listen_addresses= -c autovacuum=off -c wal_sync_method=fdatasync -c full_page_writes=off -c jit=off \
        -c wal_level=minimal -c max_wal_senders=0 -c wal_writer_delay=10s" \
    >said 2>&1 || fail "it does not start: $(<said)"
ask 'create table counted (client int, number int)' >said

# Each transaction that writes is committed by one fdatasync(2). The client stands still after a hundred, until it may go on.
cat >transactions.sql <<'END'
\set n :n + 1
\if :n = 101
select pg_advisory_lock_shared(7);
\endif
\if :n > :reads
insert into counted values (:client_id, :n);
\else
select count(*) from counted;
\endif
END

waiting() {
    [ "$(ask "select count(*) from pg_stat_activity where wait_event = 'advisory'")" = "$1" ]
}

is_held() {
    grep -q held held
}

# begins CLIENTS TRANSACTIONS READS: pgbench, of which each client has made 100 transactions, and does not write in the first READS
begins() {
    ask 'select pg_switch_wal()' >/dev/null
    ask checkpoint
    rm -f hold held
    mkfifo hold
    : >held
    as_database psql -XAtq <hold >held &
    others=("$!")
    exec 9>hold
    printf '%s\n' 'select pg_advisory_lock(7);' "select 'held';" >&9
    wait_until 60 is_held || fail "the lock is not held"
    as_database pgbench -n -c "$1" -j 1 -t "$2" -D n=0 -D reads="$3" -f "$scratch/transactions.sql" >client 2>&1 &
    client=$!
    others+=("$client")
    wait_until 100 waiting "$1" || fail "the clients do not wait: $(<client)"
}

# goes_on CLIENTS TRANSACTIONS: all the rest, and what the client says
goes_on() {
    echo '\q' >&9
    exec 9>&-
    wait "${others[@]}" || fail "pgbench fails: $(<client)"
    others=()
    grep -q "^number of transactions actually processed: $(($1 * $2))/$(($1 * $2))\$" client || fail "pgbench has made others: $(<client)"
}

stops_watching() {
    kill -INT "$watcher"
    ended 0
    "$OSPROF" show --check profile >&2 || fail "osprof show --check finds fault"
}

# calls_of OP PROCESS
calls_of() {
    expect 0 show --by process --of "$2" profile
    awk -v op="$1" '$1 == op { gsub(",", "", $2); print $2 }' out
}

# ---- One client

begins 1 317 0
backend=$(ask "select pid from pg_stat_activity where wait_event = 'advisory'")
watched
goes_on 1 317
stops_watching
assert_eq 217 "$(calls_of FDATASYNC "$backend")" "FDATASYNC of the client's process, of 217 transactions after osprof attached"
[ 217 -le "$(awk '/^# [a-z]*: / { here = /^# file: .*\/pg_wal\/[0-9A-F]*$/ } here && $1 == "OP_FDATASYNC" { n += $2 } END { print n + 0 }' profile)" ] ||
    fail "they are not on the files of the write-ahead log: $("$OSPROF" show --by file profile)"
"$OSPROF" show --by program profile | grep -q '^postgres ' || fail "postgres is not among the programs"

# ---- Several, whose commits share calls: as many as the database has counted. A process of it tells what it has counted when
# it is idle, and another one may write at any time: so none has anything to tell or to write when both begin to count, and
# both are looked at until they agree.

# as_counted: what the database has is in the profile
as_counted() {
    syncs=$(ask 'select wal_sync from pg_stat_wal')
    "$OSPROF" save "$fs" -o now && [ "$syncs" -ge 207 ] && [ "$syncs" = "$(calls FDATASYNC now)" ]
}

if [ "$(ask "select count(*) from information_schema.columns where table_name = 'pg_stat_wal' and column_name = 'wal_sync'")" = 1 ]; then
    begins 3 307 100
    watched
    ask "select pg_stat_reset_shared('wal')" >/dev/null
    "$OSPROF" ctl "$fs" reset
    goes_on 3 307
    wait_until 60 as_counted || fail "FDATASYNC: pg_stat_wal has $syncs, the profile $(calls FDATASYNC now)"
    stops_watching
else
    echo "this database does not count its syncs in pg_stat_wal"
fi
as_database pg_ctl -D "$fs/postgres/data" -m fast -w stop >said 2>&1 || fail "it does not stop: $(<said)"
wait_until 60 umount fs || fail "a process of the database does not end"
