#!/bin/sh
# Once, when the volume is new: the owner of the tables, its database, and pgvector in it. `cordon migrate` makes the rest.
set -eu
psql --username "$POSTGRES_USER" --set ON_ERROR_STOP=1 --set password="$CORDON_OWNER_PASSWORD" <<'SQL'
CREATE ROLE cordon_owner LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE cordon OWNER cordon_owner;
\connect cordon
CREATE EXTENSION vector;
SQL
