#!/usr/bin/env bash
# Makes the golden captures anew: starts a PostgreSQL of its own in a temporary folder (a unix
# socket, no TCP), runs scenario.sql and records what both output plugins send.
#
#   make_captures.sh CAPTURE_FRAMES [BINDIR]
#
# CAPTURE_FRAMES is the program built from capture_frames.cpp (CMake target capture_frames). The
# .expected files beside the captures come from the tests: see tests/unit/wal/captures_test.cpp.
set -euo pipefail

capture_frames=$(realpath "${1:?usage: make_captures.sh CAPTURE_FRAMES [BINDIR]}")
bindir=${2:-/usr/lib/postgresql/15/bin}
here=$(cd "$(dirname "$0")" && pwd)
major=$("$bindir/postgres" --version | sed -E 's/.* ([0-9]+)\..*/\1/')
target=$here/postgresql-$major
folder=$(mktemp -d /tmp/captures.XXXXXX)

# PostgreSQL refuses to run as root.
as_server() {
    if [[ $(id -u) == 0 ]]; then
        runuser -u postgres -- "$@"
    else
        "$@"
    fi
}

finish() {
    as_server "$bindir/pg_ctl" --pgdata="$folder/data" --mode=immediate stop >/dev/null 2>&1 || true
    rm -rf "$folder"
}
trap finish EXIT

start_server() {
    if [[ $(id -u) == 0 ]]; then
        chown postgres: "$folder"
    fi
    as_server "$bindir/initdb" --pgdata="$folder/data" --username=postgres --encoding=UTF8 \
        --locale=C.UTF-8 --auth=trust >"$folder/initdb.log"
    cat >>"$folder/data/postgresql.conf" <<EOF
listen_addresses = ''
unix_socket_directories = '$folder'
wal_level = logical
autovacuum = off
output_plugin_libraries = 'pgoutput, test_decoding, wal2json'
EOF
    as_server "$bindir/pg_ctl" --pgdata="$folder/data" --log="$folder/server.log" --wait start \
        >/dev/null
}

export PGHOST=$folder PGUSER=postgres PGDATABASE=postgres PGCLIENTENCODING=UTF8
query() { psql --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 --command "$1"; }

create_slots() {
    query "CREATE PUBLICATION inserts FOR ALL TABLES
           WITH (publish = 'insert', publish_via_partition_root = true)"
    query "CREATE PUBLICATION everything FOR ALL TABLES"
    local slot
    for slot in pgoutput:pgoutput pgoutput_everything:pgoutput wal2json:wal2json \
        wal2json_everything:wal2json; do
        query "SELECT pg_create_logical_replication_slot('${slot%:*}', '${slot#*:}')" >/dev/null
    done
}

# capture SLOT OPTIONS
capture() {
    local session="-c datestyle=ISO -c intervalstyle=postgres -c extra_float_digits=3"
    session+=" -c bytea_output=hex -c timezone=UTC"
    "$capture_frames" "replication=database options='$session'" \
        "START_REPLICATION SLOT $1 LOGICAL 0/0 ($2)" "$end" "$target/$1.frames"
}

start_server
create_slots
PATH=$bindir:$PATH psql --no-psqlrc --quiet --file="$here/scenario.sql" >/dev/null
end=$(query "SELECT pg_current_wal_insert_lsn()")
mkdir -p "$target"

json="\"format-version\" '2', \"include-lsn\" '1', \"include-timestamp\" '1'"
json+=", \"include-type-oids\" '1', \"include-transaction\" '1'"
capture pgoutput "proto_version '1', publication_names 'inserts', messages 'true'"
capture wal2json "$json, \"include-types\" '0', \"actions\" 'insert',
    \"add-msg-prefixes\" 'walrelay,walrelay.retry'"
capture pgoutput_everything "proto_version '1', publication_names 'everything', messages 'true'"
capture wal2json_everything "$json, \"include-xids\" '1', \"include-pk\" '1'"
ls -l "$target"
