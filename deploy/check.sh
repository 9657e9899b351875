#!/bin/sh
# The image's steps without a container engine: what the Dockerfile copies, installed into an empty folder by the script
# it runs, started as it starts it, asked one question over HTTP. Prints "deployable" when all of it works.
set -eu
port=${1:-8791}
base=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$base"' EXIT
server=
mkdir "$base/build"
git ls-files graph nodes prompts requirements/serve.txt deploy/install.sh pyproject.toml README.md LICENSE |
    while IFS= read -r path; do mkdir -p "$base/build/$(dirname "$path")"; cp "$path" "$base/build/$path"; done
(cd "$base/build" && ./deploy/install.sh "$base/venv")
cp -r corpus "$base/corpus"
export CORDON_HOME="$base/data/home" CORDON_OUT="$base/data/out" PATH="$base/venv/bin:$PATH"
cd "$base"
cordon ingest --manifest corpus/manifest.csv --acl corpus/tenant_acl.csv >/dev/null
key=$(cordon keys add --tenant U1 2>/dev/null | head -n 1)
cordon serve --host 0.0.0.0 --port "$port" >"$base/log" 2>&1 &
server=$!
n=0
until python -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/readyz', timeout=4)" 2>/dev/null; do
    n=$((n + 1)); [ "$n" -lt 60 ] || { cat "$base/log"; exit 1; }; sleep 1
done
python - "$port" "$key" <<'PY'
import json, sys, urllib.request
body = json.dumps({"question": "Which freezer holds the whole blood samples?"}).encode()
head = {"Authorization": f"Bearer {sys.argv[2]}", "Content-Type": "application/json"}
with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{sys.argv[1]}/v1/ask", body, head)) as reply:
    assert json.load(reply)["decision"] == "answer"
PY
kill -TERM "$server"
wait "$server"
echo deployable
