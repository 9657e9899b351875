#!/bin/sh
# Cordon as a service, into a virtual environment of its own: install.sh VENV. The Dockerfile runs this, and so can you.
set -eu
venv=$1
python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps --require-hashes \
    -r requirements/serve.txt
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps --no-build-isolation .
"$venv/bin/cordon" --help >/dev/null
