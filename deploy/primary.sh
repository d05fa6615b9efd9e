#!/bin/bash
# Run once, when the primary's folder is made: lets the standby follow, and has every commit wait for it.
set -eu
echo 'host replication bp all scram-sha-256' >>"$PGDATA/pg_hba.conf"
cat >>"$PGDATA/postgresql.conf" <<'SETTINGS'
wal_level = replica
max_wal_senders = 4
# A commit is acknowledged once the standby has it on its disk, too. With `ANY 1 (a, b)` over two standbys, one of them may be away.
synchronous_standby_names = 'standby'
SETTINGS
