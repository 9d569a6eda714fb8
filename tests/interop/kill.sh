#!/usr/bin/env bash
# Kills a build repeatedly, resumes it, and compares its Parquet files with those of an uninterrupted run. No answer that is in the
# journal may be requested again.
#
#   tests/interop/kill.sh [KILLS] [SEED]
#
# The default is 25 kills. The server is tests/interop/slow.py with at least 80 ms per reply; it plays scene characters, sources and
# base of pipelines/demo.toml, 32 calls at a time. Each kill comes at a random moment after a random number of further requests; SEED
# makes the numbers reproducible. Runs target/release/dramaturg or $DRAMATURG in a temporary folder. Needs Python 3.9 or later and curl.
# Exits with 1 if the bytes differ or an answer was requested twice.
set -euo pipefail
cd "$(dirname "$0")/../.."

kills=${1:-25}
RANDOM=${2:-1}
concurrency=32
program=$(realpath "${DRAMATURG:-target/release/dramaturg}")
server=$PWD/tests/interop/slow.py
work=$(mktemp -d)
build=
trap 'kill ${build:+"$build"} $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cp -r books pipelines "$work"
cd "$work"

# Starts a server and sets `url` and the program's environment variables.
serve() {
    python3 "$server" 0.08 >address &
    until [ -s address ]; do sleep 0.05; done
    url=$(cat address)
    export OPENAI_BASE_URL="$url/v1" OPENAI_API_KEY=none
}
build() {
    exec "$program" build pipelines/demo.toml --quiet --json --out "$1" \
        --set 'models.slow={provider="openai",model="slow",concurrency='$concurrency'}' \
        --set 'cast.scene="slow"' --set 'cast.sources=["slow"]' --set 'cast.base="slow"' --set simulate.tau=10
}
stat() { curl -s "$url/stats" | sed "s/.*\"$1\": \([0-9]*\).*/\1/"; }
kept() { "$program" journal export broken --model slow 2>/dev/null | wc -l; }
hashes() { (cd "$1/dataset" && find . -name '*.parquet' | sort | xargs sha256sum); }

serve
(build whole) >whole.json
total=$(stat answered)
echo "uninterrupted: $total answers, at most $(stat most_open) in flight; $(cat whole.json)"

: >address
serve
lost=0
worst=0
for kill in $(seq "$kills"); do
    until=$(($(stat asked) + 1 + RANDOM % (total / (kills + 1) + 1)))
    (build broken) >/dev/null 2>&1 &
    build=$!
    while [ "$(stat asked)" -lt "$until" ] && kill -0 "$build" 2>/dev/null; do sleep 0.01; done
    sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
    if ! kill -9 "$build" 2>/dev/null; then
        echo "error: the build ended before kill $kill" >&2
        exit 1
    fi
    wait "$build" 2>/dev/null || true
    build=
    # Requests in flight end and are not counted as answers.
    sleep 0.2
    answered=$(stat answered)
    kept=$(kept)
    now=$((answered - kept - lost))
    lost=$((answered - kept))
    worst=$((now > worst ? now : worst))
    echo "kill $kill: $(stat asked) requests, $answered answers, $kept in the journal; $now lost by this kill"
done
(build broken) >broken.json
again=$(stat again)
echo "finished: $(stat asked) requests, $(stat answered) answers, $again of them repeated; $(cat broken.json)"

failed=0
if ! diff <(hashes whole) <(hashes broken); then
    echo "error: the Parquet files differ" >&2
    failed=1
fi
if [ "$worst" -gt "$concurrency" ] || [ "$again" -gt "$lost" ] || [ "$(stat answered)" -ne $((total + again)) ]; then
    echo "error: $again answers were requested again; $lost were in flight at kills, at most $worst at one" >&2
    failed=1
fi
[ "$failed" -ne 0 ] || echo "same bytes after $kills kills; $again of $total answers requested again, at most $worst per kill"
exit "$failed"
