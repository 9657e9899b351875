#!/bin/sh
# A dump into a new, empty database of the same owner; then run `cordon migrate`: restore.sh DUMP
set -eu
pg_restore --no-comments --exit-on-error --single-transaction --dbname="$CORDON_DATABASE_OWNER_URL" "$1"
