#!/bin/bash
# Several writers share an SQLite database in the mount, with a rollback journal and with a write-ahead log; no row is
# lost and the integrity check is content, through the mount and below it.
. "$(dirname "$0")/lib.sh"
need sqlite3

writers=5 rows_each=31

sql() {
    sqlite3 -batch -bail -cmd '.timeout 60000' "$@"
}

write_rows() {
    local writer=$1 database=$2 row
    for row in $(seq "$rows_each"); do
        echo "BEGIN IMMEDIATE;"
        echo "INSERT INTO t VALUES ($writer, $row, hex(randomblob(2000)));"
        echo "UPDATE total SET rows = rows + 1;"
        echo "COMMIT;"
    done | sql "$database"
}

assert_whole() {
    local expected=$((writers * rows_each))
    assert_eq ok "$(sql "$1" 'PRAGMA integrity_check')" "integrity of $1"
    assert_eq "$expected|$expected|4000" "$(sql "$1" 'SELECT count(*), (SELECT rows FROM total), min(length(text)) FROM t')"
}

fill() {
    local mode=$1 database=$2 writer pid pids=()
    assert_eq "$mode" "$(sql "$database" "PRAGMA journal_mode=$mode")" "journal mode"
    sql "$database" 'CREATE TABLE t (writer, row, text); CREATE TABLE total (rows); INSERT INTO total VALUES (0);'
    for writer in $(seq "$writers"); do
        write_rows "$writer" "$database" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || fail "a writer in mode $mode failed"
    done
    assert_whole "$database"
    sql "$database" 'VACUUM; DELETE FROM t WHERE writer = 0;'
}

# exercise CACHE MODE...
exercise() {
    local cache=$1 mode
    shift
    mount_osproffs -o "cache=$cache" "$lower" "$mnt"
    for mode; do
        fill "$mode" "$mnt/$mode-$cache.db"
    done
    assert_same_view "$lower" "$mnt"
    unmount_osproffs "$mnt"
    assert_profiled READ WRITE FSYNC CREATE UNLINK
    for mode; do
        assert_whole "$lower/$mode-$cache.db"
    done
}

exercise auto delete wal
exercise always delete wal
exercise none delete # a write-ahead log needs shared mappings, which uncached files cannot have
