#!/bin/sh
# A dump into a new, empty database of the same owner; then run `cordon migrate`, which makes the role of the workers where
# the server is new, and says what it may do: restore.sh DUMP
set -eu
pg_restore --no-comments --no-privileges --exit-on-error --single-transaction --dbname="$CORDON_DATABASE_OWNER_URL" "$1"
