#!/usr/bin/env bash
# Kills one build against a slow server again and again, lets it go on, and compares its Parquet files with those of an unkilled
# run. No answer that is in the journal may be asked for again.
#
#   tests/interop/kill.sh [KILLS] [SEED]
#
# 25 kills when silent. The server is tests/interop/slow.py, 80 ms or more a reply; scene characters, sources and base of
# pipelines/demo.toml are played by it, 32 calls at once. A kill comes a random moment after the server has been asked a random
# number of times more; SEED repeats the numbers. The program is taken from target/release, or from DRAMATURG. Works in a temporary
# folder; needs Python 3.9 or later and curl; exits 1 when the bytes differ or an answer was paid again.
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

# Starts a server; leaves its address in `url`, which the program is given as well.
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
echo "unkilled: $total answers, at most $(stat most_open) at once; $(cat whole.json)"

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
        echo "the build ended before kill $kill" >&2
        exit 1
    fi
    wait "$build" 2>/dev/null || true
    build=
    # What is on its way ends by itself, and is no answer any more.
    sleep 0.2
    answered=$(stat answered)
    kept=$(kept)
    now=$((answered - kept - lost))
    lost=$((answered - kept))
    worst=$((now > worst ? now : worst))
    echo "kill $kill: $(stat asked) asked, $answered answered, $kept kept; $now lost with this kill"
done
(build broken) >broken.json
again=$(stat again)
echo "at last: $(stat asked) asked, $(stat answered) answered, $again of them again; $(cat broken.json)"

failed=0
if ! diff <(hashes whole) <(hashes broken); then
    echo "the bytes differ" >&2
    failed=1
fi
if [ "$worst" -gt "$concurrency" ] || [ "$again" -gt "$lost" ] || [ "$(stat answered)" -ne $((total + again)) ]; then
    echo "answers were paid again: $again, where $lost were in flight at a kill, $worst at most" >&2
    failed=1
fi
[ "$failed" -ne 0 ] || echo "the same bytes after $kills kills; $again of $total answers paid again, at most $worst at a kill"
exit "$failed"
