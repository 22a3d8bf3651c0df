#!/bin/bash
# A PostgreSQL cluster is made in the mount by the second user, loses its server to SIGKILL in the middle of its work,
# recovers, and passes its checksums below the mount.
. "$(dirname "$0")/lib.sh"
need_root # the server refuses to run as root, so that two users are needed

for directory in /usr/lib/postgresql/*/bin; do
    PATH=$PATH:$directory
done
need initdb pg_ctl psql pg_checksums

server() {
    as_user pg_ctl -D "$mnt/data" -s -w -l "$scratch/run-user/server.log" \
        -o "-k $scratch/run-user -c listen_addresses='' -c shared_buffers=1MB" "$@"
}

before_cleanup() {
    [ ! -e "$lower/data/postmaster.pid" ] || server -m immediate stop
}

# The new server refuses its place until the processes of the killed one have noticed.
server_start_again() {
    local attempts_left=60
    until server start >"$scratch/start.log" 2>&1; do
        [ $((attempts_left -= 1)) -gt 0 ] || fail "no recovery: $(tail -n 20 "$scratch/run-user/server.log")"
        sleep 0.5
    done
}

query() {
    as_user psql -h "$scratch/run-user" -d postgres -v ON_ERROR_STOP=1 -qAt -c "$1"
}

chown "$user_uid:$user_gid" "$lower"
mount_osproffs -o allow_other "$lower" "$mnt"
as_user initdb -D "$mnt/data" -A trust -N --data-checksums >"$scratch/initdb.log"

server start
query 'CREATE TABLE t AS SELECT n, repeat(md5(n::text), 10) AS text FROM generate_series(1, 20011) AS n'
query 'CREATE INDEX ON t (text)'
query 'UPDATE t SET n = n + 1'
kill -KILL "$(head -n 1 "$lower/data/postmaster.pid")"
server_start_again
assert_eq "20011|200250077" "$(query 'SELECT count(*), sum(n) FROM t')" "rows after recovery"
query 'VACUUM FULL t'
server stop

as_user pg_checksums --check -D "$mnt/data" >/dev/null
unmount_osproffs "$mnt"
assert_profiled READ WRITE FSYNC UNLINK
as_user pg_checksums --check -D "$lower/data" >/dev/null
