#!/usr/bin/env bash
# Postgres runs this script when it creates the database. It creates the login of the service, which
# is not the owner of the schema.
set -euo pipefail

psql --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<SQL
CREATE ROLE sealward_application;
CREATE ROLE sealward_retention;
CREATE ROLE sealward_service LOGIN PASSWORD '$(cat /secrets/database-password)';
GRANT sealward_application TO sealward_service;
SQL
