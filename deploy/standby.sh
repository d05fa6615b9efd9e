#!/bin/bash
# Copies the primary at the first start, and follows it from then on.
set -eu
PGDATA=/var/lib/postgresql/data
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # A base backup commits nothing, so it does not wait for the standby that it makes.
  pg_basebackup -h primary -U bp -D "$PGDATA" --write-recovery-conf --wal-method=stream
  cat >>"$PGDATA/postgresql.auto.conf" <<SETTINGS
primary_conninfo = 'host=primary user=bp password=$PGPASSWORD application_name=standby'
synchronous_standby_names = ''
SETTINGS
  chmod 700 "$PGDATA"
fi
exec postgres -D "$PGDATA"
